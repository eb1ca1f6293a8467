"""Metrics that count which class was predicted for which label: F1, Matthews' correlation, and its many-class form."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import decides, refusal
from .metric import EvalMetric, as_numpy, check_label_shapes, classes, register

Names = Sequence[str] | None


class Outcomes:
    """How often class 1 was right and wrongly found or missed."""

    def __init__(self) -> None:
        self.true_positives = self.false_positives = 0
        self.true_negatives = self.false_negatives = 0

    def add(self, wanted: np.ndarray, found: np.ndarray) -> None:
        """Count samples; every class but 1 is negative."""
        is_one, taken_for_one = wanted == 1, found == 1
        self.true_positives += int((is_one & taken_for_one).sum())
        self.false_positives += int((~is_one & taken_for_one).sum())
        self.true_negatives += int((~is_one & ~taken_for_one).sum())
        self.false_negatives += int((is_one & ~taken_for_one).sum())

    @property
    def total(self) -> int:
        """Number of samples."""
        return (
            self.true_positives + self.false_positives + self.true_negatives + self.false_negatives
        )

    @decides("Metric/f1")
    def f1(self) -> float:
        """Harmonic mean of precision and recall: 2 tp / (2 tp + fp + fn), 0 without any hit."""
        hits = self.true_positives
        if hits == 0:
            return 0.0
        precision = hits / (hits + self.false_positives)
        recall = hits / (hits + self.false_negatives)
        return 2 * precision * recall / (precision + recall)

    @decides("Metric/mcc")
    def matthews(self) -> float:
        """(tp tn - fp fn) / sqrt of the product of the four margins, empty margins taken for 1."""
        tp, fp = self.true_positives, self.false_positives
        tn, fn = self.true_negatives, self.false_negatives
        margins = (tp + fp, tp + fn, tn + fp, tn + fn)
        return (tp * tn - fp * fn) / math.sqrt(math.prod(margin or 1 for margin in margins))


class _BinaryMetric(EvalMetric):
    """A number out of Outcomes, averaged over batches (macro) or out of all samples (micro)."""

    _score: Callable[[Outcomes], float]

    def __init__(self, name: str, output_names: Names, label_names: Names, average: str) -> None:
        self.average = average
        self._local, self._overall = Outcomes(), Outcomes()
        super().__init__(name, output_names, label_names, average=average, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        """Count one batch; predictions have shape (samples, classes)."""
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        batch = Outcomes()
        for label, pred in zip(labels, preds, strict=True):
            wanted, found = _binary(as_numpy(label), as_numpy(pred))
            for outcomes in (batch, self._local, self._overall):
                outcomes.add(wanted, found)
        if self.average == "macro":
            self._add(self._score(batch), 1)
            return
        self.num_inst, self.global_num_inst = self._local.total, self._overall.total
        self.sum_metric = self._score(self._local) * self.num_inst
        self.global_sum_metric = self._score(self._overall) * self.global_num_inst

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self._local, self._overall = Outcomes(), Outcomes()

    def reset_local(self) -> None:
        """Forget the local sums; the global ones go on."""
        super().reset_local()
        self._local = Outcomes()


def _binary(label: np.ndarray, pred: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels and predicted classes as flat integers."""
    if pred.ndim < 2:
        raise refusal(
            "Metric/binary", f"predictions need an axis of classes, got shape {pred.shape}", ValueError
        )
    wanted, found = label.astype(np.int32), classes(pred, 1)
    check_label_shapes(wanted, pred)
    if np.unique(wanted).size > 2:
        raise refusal(
            "Metric/binary", "only binary classification is supported, the labels of this batch are"
            f" {np.unique(wanted).tolist()}", ValueError,
        )
    if wanted.size != found.size:
        check_label_shapes(wanted.ravel(), found.ravel())
    return wanted.ravel(), found.ravel()


@register
class F1(_BinaryMetric):
    """F1 score of class 1 against all others.

    Args:
        average: ``"macro"`` is the mean of the scores of the batches, anything else (``"micro"``) the
            score of all samples together.

    Raises:
        ValueError: the labels of a batch have more than two values.
    """

    _score = staticmethod(Outcomes.f1)

    def __init__(
        self, name: str = "f1", output_names: Names = None, label_names: Names = None,
        average: str = "macro",
    ) -> None:
        super().__init__(name, output_names, label_names, average)


@register
class MCC(_BinaryMetric):
    """Matthews correlation coefficient of class 1 against all others: 1 right, 0 chance, -1 wrong.

    ``average`` is as for F1.
    """

    _score = staticmethod(Outcomes.matthews)

    def __init__(
        self, name: str = "mcc", output_names: Names = None, label_names: Names = None,
        average: str = "macro",
    ) -> None:
        super().__init__(name, output_names, label_names, average)


@register
@decides("Metric/pcc")
class PCC(EvalMetric):
    """Matthews correlation of any number of classes, out of all samples; NaN where one class is all."""

    def __init__(
        self, name: str = "pcc", output_names: Names = None, label_names: Names = None,
        has_global_stats: bool = True,
    ) -> None:
        self._local: Counter = Counter()
        self._overall: Counter = Counter()
        super().__init__(name, output_names, label_names, has_global_stats=has_global_stats)

    def update(self, labels: Any, preds: Any) -> None:
        """Count one batch; predictions are scores (samples, classes) or classes of the labels' shape."""
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            wanted, found = as_numpy(label).astype(np.int64), as_numpy(pred)
            found = found if found.shape == wanted.shape else classes(found, 1)
            wanted, found = wanted.ravel(), found.astype(np.int64).ravel()
            check_label_shapes(wanted, found)
            pairs = Counter(zip(wanted.tolist(), found.tolist(), strict=True))
            self._local += pairs
            self._overall += pairs
            self.num_inst += 1
            self.global_num_inst += 1
        self.sum_metric = _correlation(self._local) * self.num_inst
        self.global_sum_metric = _correlation(self._overall) * self.global_num_inst

    def reset(self) -> None:
        """Forget everything."""
        super().reset()
        self._local, self._overall = Counter(), Counter()

    def reset_local(self) -> None:
        """Forget the local counts; the global ones go on."""
        super().reset_local()
        self._local = Counter()


def _correlation(pairs: Counter) -> float:
    """Correlation of the one-hot codes of both members of the pairs."""
    number = pairs.total()
    wanted: Counter = Counter()
    found: Counter = Counter()
    for (one, other), count in pairs.items():
        wanted[one] += count
        found[other] += count
    spread = [number**2 - sum(count**2 for count in margin.values()) for margin in (wanted, found)]
    if 0 in spread:
        return math.nan
    hits = sum(count for (one, other), count in pairs.items() if one == other)
    together = number * hits - sum(wanted[name] * found[name] for name in wanted)
    return together / math.sqrt(spread[0] * spread[1])


__all__ = ["F1", "MCC", "PCC"]
