"""How far a correct metric's value may be from ours: from the bounds of the labels and predictions that it was handed.

Metrics compute with NumPy, which keeps no bounds. Their values depend on few formulas, so the bound is found here from
what the same step of the trace shows: the arrays of every context, with their bounds.
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
        pairs = [each["prediction"] for each in handed if "prediction" in each]
        size = sum(values.size for values, _ in pairs)
        mass = sum(float(np.abs(values).sum()) for values, _ in pairs)
        return (sum(float(bounds.sum()) for _, bounds in pairs) + 2 * (size + 4) * UNIT * mass) / max(size, 1)
    parts = [BOUNDS[metric](each["label"][0], *each["prediction"]) for each in handed if len(each) == 2]
    with np.errstate(all="ignore"):
        if metric in ("acc", "ce"):  # of all rows
            return float(sum(bound * rows for bound, rows in parts) / max(sum(rows for _, rows in parts), 1))
        return float(sum(bound for bound, _ in parts) / max(len(parts), 1))  # the mean of the means


def _accuracy(label: np.ndarray, values: np.ndarray, bounds: np.ndarray) -> tuple[float, int]:
    """The share of rows whose largest score is not certain."""
    del label
    order = np.argsort(-values, axis=1, kind="stable")
    ahead = np.take_along_axis(values, order, 1)
    loose = np.take_along_axis(bounds, order, 1)
    exact = (bounds == 0).all(axis=1)
    undecided = ~exact & (ahead[:, :1] - loose[:, :1] <= ahead[:, 1:] + loose[:, 1:]).any(axis=1)
    return float(undecided.mean()) if len(values) else 0.0, len(values)


def _entropy(label: np.ndarray, values: np.ndarray, bounds: np.ndarray) -> tuple[float, int]:
    rows, columns = np.arange(len(values)), label.ravel().astype(int)
    with np.errstate(all="ignore"):
        p = values[rows, columns] + 1e-12
        wrong = bounds[rows, columns] + UNIT * np.abs(p)
        terms = np.abs(np.log(p))
        each = np.where(wrong < p, -np.log1p(-wrong / p), np.inf) + 8 * UNIT * terms
        return float(each.mean() + 2 * (len(values) + 4) * UNIT * terms.mean()), len(values)


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
    "acc": _accuracy, "ce": _entropy, "mae": _distance(1, root=False), "mse": _distance(2, root=False),
    "rmse": _distance(2, root=True),
}
"""Metric -> how far its value over one context may be off, and the rows of that context."""
METRICS = (*BOUNDS, "loss")
"""Names of all metrics whose values are compared."""
