"""Metrics made from a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy  # noqa: ICN001  # `np` is a function of this module

from ..base import decides, refusal
from .metric import EvalMetric, as_numpy, check_label_shapes, register

Function = Callable[[numpy.ndarray, numpy.ndarray], Any]


@register
@decides("Metric/custom")
class CustomMetric(EvalMetric):
    """The mean of what ``feval(label, prediction)`` returns for NumPy arrays.

    Args:
        feval: returns a number, counted as one sample, or a pair (sum, number of samples).
        name: shown in logs; the function's name without it.
        allow_extra_outputs: whether there may be more predictions than labels (or fewer); those
            without a partner are left out.
        output_names, label_names: as in EvalMetric.
    """

    def __init__(
        self, feval: Function, name: str | None = None, allow_extra_outputs: bool = False,
        output_names: Sequence[str] | None = None, label_names: Sequence[str] | None = None,
    ) -> None:
        if name is None:
            name = feval.__name__
            name = f"custom({name})" if "<" in name else name
        super().__init__(
            name, output_names, label_names, feval=feval, allow_extra_outputs=allow_extra_outputs,
            has_global_stats=True,
        )
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs

    def update(self, labels: Any, preds: Any) -> None:
        """Call the function for each pair of label and prediction."""
        if not self._allow_extra_outputs:
            labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=False):
            found = self._feval(as_numpy(label), as_numpy(pred))
            self._add(*(found if isinstance(found, tuple) else (found, 1)))

    def get_config(self) -> dict[str, Any]:
        """A function cannot be written down.

        Raises:
            NotImplementedError: always.
        """
        raise refusal(
            "Metric/custom-config", "a CustomMetric holds a function, which no text describes", NotImplementedError
        )


@decides("Metric/custom")
def np(
    numpy_feval: Function, name: str | None = None, allow_extra_outputs: bool = False
) -> CustomMetric:
    """Make a CustomMetric out of a function of two NumPy arrays."""

    def feval(label: numpy.ndarray, pred: numpy.ndarray) -> Any:
        return numpy_feval(label, pred)

    feval.__name__ = numpy_feval.__name__
    return CustomMetric(feval, name, allow_extra_outputs)


__all__ = ["CustomMetric", "np"]
