"""Metrics made of other metrics, and ``create``, which makes a metric from a name, a function or a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import registry
from ..base import decides, refusal
from .custom import CustomMetric
from .metric import EvalMetric, Result, alias, pairs_of, register

_create = registry.get_create_func(EvalMetric, "metric")


@register
@alias("composite")
@decides("Metric/composite")
class CompositeEvalMetric(EvalMetric):
    """Several metrics updated together.

    With ``output_names`` or ``label_names`` it hands only those on to its metrics.
    """

    def __init__(
        self, metrics: Sequence[Any] | None = None, name: str = "composite",
        output_names: Sequence[str] | None = None, label_names: Sequence[str] | None = None,
    ) -> None:
        self.metrics = [create(metric) for metric in metrics or ()]
        super().__init__(name, output_names, label_names)

    def add(self, metric: Any) -> None:
        """Append a metric, given as anything that ``create`` takes."""
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> EvalMetric:
        """Return a metric by position.

        Raises:
            ValueError: there is none at ``index``.
        """
        try:
            return self.metrics[index]
        except IndexError:
            raise refusal(
                "Metric/index", f"there is no metric {index}, there are {len(self.metrics)}",
                ValueError,
            ) from None

    def update_dict(self, labels: Mapping[str, Any], preds: Mapping[str, Any]) -> None:
        """Hand labels and predictions on, without those that this composite does not name."""
        if self.label_names is not None:
            labels = {name: value for name, value in labels.items() if name in self.label_names}
        if self.output_names is not None:
            preds = {name: value for name, value in preds.items() if name in self.output_names}
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def update(self, labels: Any, preds: Any) -> None:
        """Update each metric."""
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self) -> None:
        """Reset each metric."""
        for metric in self.metrics:
            metric.reset()

    def reset_local(self) -> None:
        """Reset the local sums of each metric."""
        for metric in self.metrics:
            metric.reset_local()

    def get(self) -> Result:
        """Lists of names and of values."""
        return _gathered([metric.get() for metric in self.metrics])

    def get_global(self) -> Result:
        """Lists of names and of values since the last ``reset``."""
        return _gathered([metric.get_global() for metric in self.metrics])

    def get_config(self) -> dict[str, Any]:
        """As for any metric, with the configurations of the parts under ``metrics``."""
        return {**super().get_config(), "metrics": [metric.get_config() for metric in self.metrics]}


def _gathered(results: Sequence[Result]) -> Result:
    pairs = [pair for result in results for pair in pairs_of(result)]
    return [name for name, _ in pairs], [value for _, value in pairs]


@decides("Metric/create")
def create(metric: Any, *args: Any, **kwargs: Any) -> EvalMetric:
    """Make a metric.

    Args:
        metric: a registered name, a function of (label, prediction) on NumPy arrays, a list of any of
            these, a configuration (dict or JSON), or a metric, which is returned as it is.
        args, kwargs: further arguments of the metric.

    Raises:
        AssertionError: the name is not registered or ``metric`` is of another type.
    """
    if callable(metric):
        return CustomMetric(metric, *args, **kwargs)
    if isinstance(metric, list):
        return CompositeEvalMetric([create(one, *args, **kwargs) for one in metric])
    return _create(metric, *args, **kwargs)


__all__ = ["CompositeEvalMetric", "create"]
