"""CTCLoss against the sum over every path, spelled out."""

from __future__ import annotations

from itertools import groupby, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl.kernels.foundation.harness import Call


def spelled(path: tuple[int, ...], blank: int) -> list[int]:
    return [name for name, _ in groupby(path) if name != blank]


def by_paths(data: np.ndarray, label: list[int], blank: int) -> float:
    """Probability that a path spells the label."""
    shares = np.exp(data) / np.exp(data).sum(axis=1, keepdims=True)
    paths = product(range(data.shape[1]), repeat=len(data))
    return sum(
        float(np.prod([row[name] for row, name in zip(shares, path, strict=True)]))
        for path in paths if spelled(path, blank) == label
    )


@pytest.mark.clause("CTCLoss/loss", "CTCLoss/blank-first", "CTCLoss/blank-last", "CTCLoss/impossible")
@given(st.integers(1, 5), st.lists(st.integers(0, 1), max_size=3), st.booleans(), st.integers(0, 99))
def test_loss_sums_every_path(times: int, names: list[int], first: bool, seed: int) -> None:
    label = [name + first for name in names][:times]
    blank = 0 if first else 2
    data = np.random.default_rng(seed).uniform(-2, 2, (times, 3))
    row = np.array([[*label, *[0 if first else -1] * (times - len(label))]], np.float64)
    options = {"blank_label": "first" if first else "last"}
    (loss,) = Call("CTCLoss", [data[:, None, :], row], options).forward()[0]
    share = by_paths(data, label, blank)
    expected = -np.log(share) if share else 0.0
    np.testing.assert_allclose(loss, expected, rtol=1e-12, atol=1e-12)


# x = mx.nd.array(np.random.RandomState(0).uniform(-1, 1, (4, 2, 3))); x.attach_grad()
# with mx.autograd.record(): y = mx.nd.CTCLoss(x, mx.nd.array([[1, 2, 1], [1, 2, 1]]), mx.nd.array([3, 2]),
#                                              mx.nd.array([1, 2]), use_data_lengths=True, use_label_lengths=True)
# y.backward(); y, x.grad[0]
@pytest.mark.clause("CTCLoss/data-lengths", "CTCLoss/label-lengths")
def test_recorded_numbers() -> None:
    data = np.random.RandomState(0).uniform(-1, 1, (4, 2, 3)).astype(np.float32)
    label = np.array([[1, 2, 1], [1, 2, 1]], np.float32)
    lengths = np.array([3, 2], np.float32), np.array([1, 2], np.float32)
    call = Call("CTCLoss", [data, label, *lengths], {"use_data_lengths": True, "use_label_lengths": True})
    np.testing.assert_allclose(call.forward()[0], [1.261719, 2.57915], atol=2e-6)
    gradient = call.backward()[0]
    expected = [[-0.160832, -0.156643, 0.317475], [0.332384, -0.739179, 0.406796]]
    np.testing.assert_allclose(gradient[0], expected, atol=2e-6)
    assert not gradient[3].any()
