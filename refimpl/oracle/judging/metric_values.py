"""The bound of a metric's value, from the bounds of the labels and predictions of its update.

Metrics compute with NumPy, which keeps no bounds. Their values follow from few formulas, so the bound is computed here
from the arrays of every context in the same step of the trace, with their bounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np

from ...base import decides

UNIT = 2.0**-24
"""Half the distance from 1 to the next number in single precision, in which metrics may add up."""
Pair = tuple[np.ndarray, np.ndarray]
"""Values and bounds."""
_PLACE = re.compile(r"(\d+)/(label|prediction)(\d+)@(\d+)")


@decides("oracle/metric")
def metric_bounds(expected: Mapping[str, Pair]) -> dict[str, float]:
    """The bounds of all metrics' values in a trace, by name.

    Args:
        expected: values and bounds of the whole trace.
    """
    handed: dict[str, dict[tuple[int, int], dict[str, Pair]]] = {}
    for name, pair in expected.items():
        place = _PLACE.fullmatch(name)
        if place is not None:
            step, what, position, call = place.groups()
            handed.setdefault(step, {}).setdefault((int(call), int(position)), {})[what] = pair
    found = {}
    for name in expected:
        step, _, metric = name.partition("/metric:")
        if metric:
            found[name] = _bound(metric, list(handed.get(step, {}).values()))
    return found


def _bound(metric: str, handed: list[dict[str, Pair]]) -> float:
    if metric == "loss":  # it has no use for labels
        alone = [each["prediction"] for each in handed if "prediction" in each]
        size = sum(values.size for values, _ in alone)
        mass = sum(float(np.abs(values).sum()) for values, _ in alone)
        return (sum(float(bounds.sum()) for _, bounds in alone) + 2 * (size + 4) * UNIT * mass) / max(size, 1)
    name, *arguments = metric.split()
    given = dict(argument.split("=") for argument in arguments)
    pairs = [(each["label"][0], *each["prediction"]) for each in handed if len(each) == 2]
    if name == "perplexity":
        return _perplexity(pairs, given["ignore_label"])
    if name == "top_k_acc":
        parts = [_accuracy(*pair, int(given["top_k"])) for pair in pairs]
    else:
        parts = [BOUNDS[name](*pair) for pair in pairs]
    with np.errstate(all="ignore"):
        if name in OF_ROWS:
            return float(sum(bound * rows for bound, rows in parts) / max(sum(rows for _, rows in parts), 1))
        return float(sum(bound for bound, _ in parts) / max(len(parts), 1))  # the mean of the means


def _accuracy(label: np.ndarray, values: np.ndarray, bounds: np.ndarray, first: int = 1) -> tuple[float, int]:
    """The share of rows of which it is not certain which scores are the ``first`` largest."""
    del label
    order = np.argsort(-values, axis=1, kind="stable")
    ahead = np.take_along_axis(values, order, 1)
    loose = np.take_along_axis(bounds, order, 1)
    exact = (bounds == 0).all(axis=1)
    least, most = (ahead - loose)[:, :first].min(axis=1), (ahead + loose)[:, first:].max(axis=1, initial=-np.inf)
    undecided = ~exact & (least <= most)
    return float(undecided.mean()) if len(values) else 0.0, len(values)


def _entropy(label: np.ndarray, values: np.ndarray, bounds: np.ndarray) -> tuple[float, int]:
    rows, columns = np.arange(len(values)), label.ravel().astype(int)
    with np.errstate(all="ignore"):
        p = values[rows, columns] + 1e-12
        wrong = bounds[rows, columns] + UNIT * np.abs(p)
        terms = np.abs(np.log(p))
        each = np.where(wrong < p, -np.log1p(-wrong / p), np.inf) + 8 * UNIT * terms
        return float(each.mean() + 2 * (len(values) + 4) * UNIT * terms.mean()), len(values)


def _perplexity(pairs: list[tuple[np.ndarray, np.ndarray, np.ndarray]], ignored: str) -> float:
    """Of exp of the mean of all rows, but for those whose label is ignored."""
    errors, terms = [np.zeros(0)], [np.zeros(0)]
    for label, values, bounds in pairs:
        kept = label.ravel() != float(ignored) if ignored != "None" else np.ones(label.size, bool)
        rows, columns = np.flatnonzero(kept), label.ravel()[kept].astype(int)
        p = np.maximum(values[rows, columns], 1e-10)
        wrong = bounds[rows, columns] + UNIT * p
        terms.append(-np.log(p))
        errors.append(np.log(p / np.maximum(p - wrong, 1e-10)) + 8 * UNIT * np.abs(terms[-1]))
    every, off = np.concatenate(terms), np.concatenate(errors)
    if not every.size:
        return 0.0
    apart = off.mean() + 2 * (every.size + 4) * UNIT * np.abs(every).mean()
    return float(np.exp(every.mean()) * (np.expm1(apart) + 4 * UNIT))


def _distance(power: int, root: bool) -> Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[float, int]]:
    def bound(label: np.ndarray, values: np.ndarray, bounds: np.ndarray) -> tuple[float, int]:
        with np.errstate(all="ignore"):
            apart = np.abs(label.reshape(values.shape) - values)
            each = bounds + UNIT * (apart + bounds)  # the difference is rounded too
            terms = apart**power
            wrong = (each if power == 1 else 2 * apart * each + each * each).mean()
            wrong += 2 * (values.size + 4) * UNIT * terms.mean()
            if root:
                middle = np.sqrt(terms.mean())
                wrong = min(wrong / middle, np.sqrt(wrong)) + 4 * UNIT * middle if middle else np.sqrt(wrong)
            return float(wrong), len(values)

    return bound


BOUNDS = {
    "acc": _accuracy, "ce": _entropy, "nll_loss": _entropy, "mae": _distance(1, root=False),
    "mse": _distance(2, root=False), "rmse": _distance(2, root=True),
}
"""Metric -> how far its value over one context may be off, and the rows of that context."""
OF_ROWS = frozenset({"acc", "ce", "nll_loss", "top_k_acc"})
"""Metrics that are means over all rows; others are means of the means of contexts."""
METRICS = (*BOUNDS, "loss", "top_k_acc top_k=2", "perplexity ignore_label=None", "perplexity ignore_label=0")
"""Names of all metrics whose values are compared."""
