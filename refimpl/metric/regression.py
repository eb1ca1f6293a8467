"""Metrics of numbers: distances between labels and predictions, correlation, and plain means."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import decides, refusal
from ..quirks import declare
from .metric import EvalMetric, alias, as_numpy, check_label_shapes, register

Names = Sequence[str] | None
_PEARSON = declare(
    "pearson-micro", "Metric/macro-micro",
    "PearsonCorrelation(average='micro') ignores reset_local, and its global value is 0",
    "both are right",
)


def mean_absolute(difference: np.ndarray) -> float:
    """Mean of the absolute values."""
    return np.abs(difference).mean()


def mean_squared(difference: np.ndarray) -> float:
    """Mean of the squares."""
    return (difference**2).mean()


def root_mean_squared(difference: np.ndarray) -> float:
    """Root of the mean of the squares."""
    return np.sqrt((difference**2).mean())


@decides("Metric/distances")
class _Distance(EvalMetric):
    """Mean over batches of a distance between labels and predictions."""

    _distance: Callable[[np.ndarray], float]

    def __init__(self, name: str, output_names: Names, label_names: Names) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        """Add the distance of each pair of arrays; flat ones are taken for columns."""
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            wanted, found = _column(as_numpy(label)), _column(as_numpy(pred))
            try:
                difference = wanted - found
            except ValueError:
                raise refusal(
                    "Metric/shapes", f"labels of shape {label.shape} and predictions of shape"
                    f" {pred.shape} could not be broadcast together", ValueError,
                ) from None
            self._add(self._distance(difference), 1)


def _column(values: np.ndarray) -> np.ndarray:
    return values.reshape(-1, 1) if values.ndim == 1 else values


@register
class MAE(_Distance):
    """Mean absolute error: the mean of the means of the batches."""

    _distance = staticmethod(mean_absolute)

    def __init__(
        self, name: str = "mae", output_names: Names = None, label_names: Names = None
    ) -> None:
        super().__init__(name, output_names, label_names)


@register
class MSE(_Distance):
    """Mean squared error: the mean of the means of the batches."""

    _distance = staticmethod(mean_squared)

    def __init__(
        self, name: str = "mse", output_names: Names = None, label_names: Names = None
    ) -> None:
        super().__init__(name, output_names, label_names)


@register
class RMSE(_Distance):
    """Root mean squared error: the mean of the roots of the batches."""

    _distance = staticmethod(root_mean_squared)

    def __init__(
        self, name: str = "rmse", output_names: Names = None, label_names: Names = None
    ) -> None:
        super().__init__(name, output_names, label_names)


class Moments:
    """Number, means, and sums of squared and mixed deviations of pairs, joined piece by piece."""

    def __init__(self) -> None:
        self.number = 0
        self.means = np.zeros(2)
        self.products = np.zeros((2, 2))

    def add(self, pairs: np.ndarray) -> None:
        """Take in pairs of shape (2, n): Chan's update, in double."""
        number = pairs.shape[1]
        means = pairs.mean(axis=1)
        centred = pairs - means[:, None]
        step, total = means - self.means, self.number + number
        self.products += centred @ centred.T
        self.products += np.outer(step, step) * (self.number * number / total)
        self.means = self.means + step * (number / total)
        self.number = total

    @decides("Metric/pearson")
    def correlation(self) -> float:
        """Pearson's coefficient; NaN where a side does not vary."""
        spread = math.sqrt(self.products[0, 0]) * math.sqrt(self.products[1, 1])
        return float(self.products[0, 1] / spread) if spread else math.nan


@register
@alias("pearsonr")
class PearsonCorrelation(EvalMetric):
    """Pearson's correlation of labels and predictions of equal shape.

    Args:
        average: ``"macro"`` is the mean of the coefficients of the batches, anything else
            (``"micro"``) the coefficient of all samples together.
    """

    def __init__(
        self, name: str = "pearsonr", output_names: Names = None, label_names: Names = None,
        average: str = "macro",
    ) -> None:
        self.average = average
        self._local, self._overall = Moments(), Moments()
        super().__init__(name, output_names, label_names, average=average, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        """Take in one batch."""
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            check_label_shapes(label, pred, shape=True)
            pairs = np.stack([as_numpy(label).ravel(), as_numpy(pred).ravel()]).astype(np.float64)
            if self.average == "macro":
                batch = Moments()
                batch.add(pairs)
                self._add(batch.correlation(), 1)
                continue
            self._local.add(pairs)
            self._overall.add(pairs)
            self.num_inst += 1
            self.global_num_inst += 1
            self.sum_metric = self._local.correlation() * self.num_inst
            if not _PEARSON.active:
                self.global_sum_metric = self._overall.correlation() * self.global_num_inst

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self._local, self._overall = Moments(), Moments()

    def reset_local(self) -> None:
        """Forget the local sums; the global ones go on."""
        super().reset_local()
        if not _PEARSON.active:
            self._local = Moments()


@register
@decides("Metric/loss")
class Loss(EvalMetric):
    """Mean of all elements of the outputs, labels ignored: for networks whose output is a loss."""

    def __init__(
        self, name: str = "loss", output_names: Names = None, label_names: Names = None
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, _: Any, preds: Any) -> None:
        """Add up the outputs."""
        for pred in preds if isinstance(preds, (list, tuple)) else [preds]:
            values = as_numpy(pred)
            self._add(values.sum(), values.size)


@register
class Torch(Loss):
    """Loss under the name of an old criterion."""

    def __init__(
        self, name: str = "torch", output_names: Names = None, label_names: Names = None
    ) -> None:
        super().__init__(name, output_names, label_names)


@register
class Caffe(Loss):
    """Loss under the name of an old criterion."""

    def __init__(
        self, name: str = "caffe", output_names: Names = None, label_names: Names = None
    ) -> None:
        super().__init__(name, output_names, label_names)


__all__ = ["MAE", "MSE", "RMSE", "Caffe", "Loss", "PearsonCorrelation", "Torch"]
