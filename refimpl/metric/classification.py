"""Metrics of classifiers: how often the right class comes first, and how probable it was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import decides, refusal
from .metric import EvalMetric, Result, alias, as_numpy, check_label_shapes, classes, register

Names = Sequence[str] | None


@register
@alias("acc")
@decides("Metric/accuracy")
class Accuracy(EvalMetric):
    """Share of samples whose predicted class is the label.

    Predictions are scores with the classes along ``axis``; where they have the shape of the labels they
    are taken for classes already. Both are truncated to integers.
    """

    def __init__(
        self, axis: int = 1, name: str = "accuracy", output_names: Names = None,
        label_names: Names = None,
    ) -> None:
        super().__init__(name, output_names, label_names, axis=axis, has_global_stats=True)
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        """Count the hits of one batch."""
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            wanted, found = as_numpy(label), as_numpy(pred)
            if found.shape != wanted.shape:
                found = classes(found, self.axis)
            wanted, found = wanted.astype(np.int32).ravel(), found.astype(np.int32).ravel()
            check_label_shapes(wanted, found)
            self._add((wanted == found).sum(), found.size)


@register
@alias("top_k_accuracy", "top_k_acc")
class TopKAccuracy(EvalMetric):
    """Share of samples whose label is among the ``top_k`` largest scores; later ones of equals count.

    Raises:
        AssertionError: ``top_k`` is 1 or less, or predictions do not have two axes.
        ValueError: there are fewer than ``top_k`` classes.
    """

    def __init__(
        self, top_k: int = 1, name: str = "top_k_accuracy", output_names: Names = None,
        label_names: Names = None,
    ) -> None:
        if top_k <= 1:
            raise refusal(
                "Metric/top-k", f"top_k is 2 or more, not {top_k}; of one class Accuracy is the share",
                AssertionError,
            )
        super().__init__(
            f"{name}_{top_k}", output_names, label_names, top_k=top_k, has_global_stats=True
        )
        self.top_k = top_k

    def get_config(self) -> dict[str, Any]:
        """As for any metric; the name stands without the number that the constructor appends."""
        return {**super().get_config(), "name": self.name.removesuffix(f"_{self.top_k}")}

    def update(self, labels: Any, preds: Any) -> None:
        """Count the hits of one batch; predictions have shape (samples, classes)."""
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            scores, wanted = as_numpy(pred), as_numpy(label).astype(np.int32).ravel()
            if scores.ndim != 2:
                raise refusal(
                    "Metric/top-k", f"predictions are (samples, classes), not of shape {scores.shape}",
                    AssertionError,
                )
            if scores.shape[1] < self.top_k:
                raise refusal(
                    "Metric/top-k", f"top_k is {self.top_k} but there are {scores.shape[1]} classes",
                    ValueError,
                )
            check_label_shapes(wanted, scores)
            best = scores.argsort(axis=1, kind="stable")[:, -self.top_k:]
            self._add((best == wanted[:, None]).sum(), wanted.size)


@decides("Metric/cross-entropy")
class _LogLoss(EvalMetric):
    """Mean of -log(probability of the label + eps); predictions have shape (samples, classes)."""

    def __init__(self, eps: float, name: str, output_names: Names, label_names: Names) -> None:
        super().__init__(name, output_names, label_names, eps=eps, has_global_stats=True)
        self.eps = eps

    def update(self, labels: Any, preds: Any) -> None:
        """Add the losses of one batch. A negative label counts from the last class backwards."""
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            wanted, found = as_numpy(label).ravel().astype(np.int64), as_numpy(pred)
            if wanted.size != found.shape[0]:
                raise refusal(
                    "Metric/one-label-each",
                    f"{wanted.size} labels for {found.shape[0]} rows of predictions", AssertionError,
                )
            count = found.shape[1]
            beyond = wanted[(wanted >= count) | (wanted < -count)]
            if beyond.size:
                raise refusal(
                    "Metric/label-range", f"label {beyond[0]} is none of {count} classes",
                    IndexError,
                )
            probability = found[np.arange(wanted.size), wanted]
            self._add((-np.log(probability + self.eps)).sum(), wanted.size)


@register
@alias("ce")
class CrossEntropy(_LogLoss):
    """Mean of -log(probability of the label + eps), shown as ``cross-entropy``.

    Raises:
        AssertionError: there are not as many labels as rows of predictions.
        IndexError: a label is not one of the classes.
    """

    def __init__(
        self, eps: float = 1e-12, name: str = "cross-entropy", output_names: Names = None,
        label_names: Names = None,
    ) -> None:
        super().__init__(eps, name, output_names, label_names)


@register
@alias("nll_loss")
class NegativeLogLikelihood(_LogLoss):
    """The same number as CrossEntropy, shown as ``nll-loss``."""

    def __init__(
        self, eps: float = 1e-12, name: str = "nll-loss", output_names: Names = None,
        label_names: Names = None,
    ) -> None:
        super().__init__(eps, name, output_names, label_names)


@register
@decides("Metric/perplexity")
class Perplexity(EvalMetric):
    """exp of the mean of -log(probability of the label), probabilities below 1e-10 taken for 1e-10.

    Labels equal to ``ignore_label`` (unless None) count neither as loss nor as sample. A label outside
    the classes is taken for the nearest one. ``axis`` is the axis of classes.
    """

    def __init__(
        self, ignore_label: int | None, axis: int = -1, name: str = "perplexity",
        output_names: Names = None, label_names: Names = None,
    ) -> None:
        super().__init__(
            name, output_names, label_names, ignore_label=ignore_label, axis=axis,
            has_global_stats=True,
        )
        self.ignore_label = ignore_label
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        """Add the losses of one batch: all lists together count as one."""
        if len(labels) != len(preds):
            raise refusal(
                "Metric/one-label-each", f"{len(labels)} labels for {len(preds)} predictions",
                AssertionError,
            )
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            wanted = as_numpy(label).ravel()
            scores = np.moveaxis(as_numpy(pred), self.axis, -1)
            if wanted.size * scores.shape[-1] != scores.size:
                raise refusal(
                    "Metric/one-label-each",
                    f"labels of shape {label.shape} are not one for each row of scores {pred.shape}", AssertionError,
                )
            scores = scores.reshape(wanted.size, scores.shape[-1])
            chosen = wanted.astype(np.int64).clip(0, scores.shape[1] - 1)
            losses = -np.log(np.maximum(scores[np.arange(wanted.size), chosen], 1e-10))
            kept = np.ones(wanted.size, bool) if self.ignore_label is None else (
                wanted != self.ignore_label
            )
            self._add(losses[kept].sum(), kept.sum())

    def get(self) -> Result:
        """Name and perplexity since the last ``reset`` or ``reset_local``."""
        return self.name, math.exp(super().get()[1])

    def get_global(self) -> Result:
        """Name and perplexity since the last ``reset``."""
        number = self.global_num_inst
        return self.name, math.exp(self.global_sum_metric / number) if number else math.nan
