"""Batches and small helpers that the tests of metrics share."""

from __future__ import annotations

import pytest

from refimpl import ndarray as nd

LABELS = nd.array([1, 0, 0])
SCORES = nd.array([[0.3, 0.7], [0.6, 0.4], [0.2, 0.8]])
FIVE = nd.array([1, 0, 0, 1, 1]), nd.array([[0.3, 0.7], [0.6, 0.4], [0.2, 0.8], [0.9, 0.1], [0.4, 0.6]])
THREE = nd.array([1, 1, 0]), nd.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]])
WANTED, FOUND = nd.array([[1, 2], [3, 4]]), nd.array([[1.5, 2], [1, 8]])


def value(made, *batches):
    """The value after some batches of (labels, predictions); locally and globally it must be the same."""
    for labels, preds in batches:
        made.update(labels, preds)
    name, found = made.get()
    assert name == made.name
    assert made.get_global() == pytest.approx((name, found), nan_ok=True)
    assert isinstance(found, float)
    return found


def refused(clause, kind, function, *args, **kwargs):
    with pytest.raises(kind) as caught:
        function(*args, **kwargs)
    assert caught.value.clause == clause
