"""What all metrics have in common, metrics made of metrics, and making metrics by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import registry
from ..base import decides, described, refusal
from ..ndarray import NDArray

Result = tuple[Any, Any]


class EvalMetric:
    """A sum over samples divided by their number, kept twice: since ``reset_local`` and since ``reset``.

    A subclass overrides ``update`` and adds there to ``sum_metric`` and ``num_inst``; if it says
    ``has_global_stats=True``, also to ``global_sum_metric`` and ``global_num_inst`` (``_add`` does both).

    Args:
        name: shown in logs.
        output_names: outputs that ``update_dict`` picks; None for all.
        label_names: labels that ``update_dict`` picks; None for all.
        kwargs: further arguments of the subclass, which ``get_config`` repeats, except ``has_global_stats``.
    """

    _undo_follows = True

    def __init__(
        self, name: str, output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None, **kwargs: Any,
    ) -> None:
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = kwargs.pop("has_global_stats", False)
        self._kwargs = kwargs
        self.reset()

    def __str__(self) -> str:
        return f"EvalMetric: {dict(self.get_name_value())}"

    def __repr__(self) -> str:
        return described(self, lambda: ", ".join(f"{name} {value:g}" for name, value in self.get_name_value()))

    @decides("Metric/config")
    def get_config(self) -> dict[str, Any]:
        """Arguments from which ``create`` makes a metric like this one."""
        return {
            **self._kwargs, "metric": type(self).__name__, "name": self.name,
            "output_names": self.output_names, "label_names": self.label_names,
        }

    def update_dict(self, label: Mapping[str, Any], pred: Mapping[str, Any]) -> None:
        """Take labels and predictions by name and update with the wanted ones.

        Raises:
            KeyError: a wanted name is missing.
        """
        picked = []
        for what, values, names in (("label", label, self.label_names), ("output", pred, self.output_names)):
            for name in names or ():
                if name not in values:
                    raise refusal(
                        "Metric/names", f"{what} {name!r} is wanted by the metric, there are {list(values)}",
                        KeyError,
                    )
            picked.append([*(values.values() if names is None else map(values.__getitem__, names))])
        self.update(*picked)

    def update(self, labels: Any, preds: Any) -> None:
        """Take in the labels and predictions of one batch, as arrays or lists of arrays."""
        raise refusal(
            "Metric/abstract", f"{type(self).__name__} must override update", NotImplementedError
        )

    @decides("Metric/two-sums")
    def _add(self, total: Any, number: Any) -> None:
        """Add to the local and to the global sums. Python numbers, so that logs show plain ones."""
        total, number = float(total), np.asarray(number).item()
        self.sum_metric += total
        self.global_sum_metric += total
        self.num_inst += number
        self.global_num_inst += number

    def reset(self) -> None:
        """Forget everything."""
        self.num_inst = 0
        self.sum_metric = 0.0
        self.global_num_inst = 0
        self.global_sum_metric = 0.0

    @decides("Metric/two-sums")
    def reset_local(self) -> None:
        """Forget the local sums; the global ones go on."""
        self.num_inst = 0
        self.sum_metric = 0.0

    @decides("Metric/empty")
    def get(self) -> Result:
        """Name and value since the last ``reset`` or ``reset_local``; NaN before any sample."""
        return self.name, self.sum_metric / self.num_inst if self.num_inst else math.nan

    def get_global(self) -> Result:
        """Name and value since the last ``reset``; NaN before any sample."""
        if not self._has_global_stats:
            return self.get()
        number = self.global_num_inst
        return self.name, self.global_sum_metric / number if number else math.nan

    def get_name_value(self) -> list[tuple[str, float]]:
        """The result of ``get`` as a list of pairs."""
        return pairs_of(self.get())

    def get_global_name_value(self) -> list[tuple[str, float]]:
        """The result of ``get_global`` as a list of pairs."""
        return pairs_of(self.get_global())


def pairs_of(result: Result) -> list[tuple[str, float]]:
    """The names and values that a metric gives, as pairs."""
    names, values = result
    names = names if isinstance(names, list) else [names]
    return list(zip(names, values if isinstance(values, list) else [values], strict=True))


register = registry.get_register_func(EvalMetric, "metric")
alias = registry.get_alias_func(EvalMetric, "metric")


def check_label_shapes(
    labels: Any, preds: Any, wrap: bool = False, shape: bool = False
) -> tuple[Any, Any]:
    """Return both, each wrapped in a list if ``wrap`` and it is an array.

    Args:
        labels, preds: arrays, or lists of them.
        wrap: whether an array becomes a list of one.
        shape: whether shapes are compared, not lengths.

    Raises:
        ValueError: their lengths differ, or with ``shape`` their shapes.
    """
    of_labels, of_preds = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if of_labels != of_preds:
        raise refusal(
            "Metric/shapes",
            f"{of_labels} labels and {of_preds} predictions: give one for each", ValueError,
        )
    if wrap:
        labels = [labels] if isinstance(labels, NDArray) else labels
        preds = [preds] if isinstance(preds, NDArray) else preds
    return labels, preds


def as_numpy(value: Any) -> np.ndarray:
    """The values of an NDArray.

    Raises:
        AttributeError: ``value`` is something else, a NumPy array for example.
    """
    if not hasattr(value, "asnumpy"):
        raise refusal(
            "Metric/arrays", f"metrics take NDArrays, got a {type(value).__name__}; wrap it in nd.array",
            AttributeError,
        )
    return value.asnumpy()


def classes(pred: np.ndarray, axis: int) -> np.ndarray:
    """Position of the largest score along ``axis``; the first of equal ones.

    Raises:
        MXNetError: ``pred`` has no such axis.
    """
    if not -pred.ndim <= axis < pred.ndim:
        raise refusal(
            "Metric/axis", f"predictions of shape {pred.shape} have no axis {axis} to find the class on"
        )
    return pred.argmax(axis)
