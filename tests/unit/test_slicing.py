"""The slice rule, and the helpers that copy a batch along it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl.cli.labs import LABS
from refimpl.executor_manager.slicing import (
    _check_arguments,
    _load_data,
    _load_general,
    _load_label,
    _split_input_slice,
)
from refimpl.oracle.strategies import HypothesisDraw

# MXNet 1.9.1: [s.stop for s in mxnet.executor_manager._split_input_slice(rows, weights)]
ENDS = [
    (5, [1, 1], [2, 5]),
    (7, [1, 1], [4, 7]),
    (9, [1, 1], [4, 9]),
    (11, [1, 1], [6, 11]),
    (1, [1], [1]),
    (3, [1, 1, 1], [1, 2, 3]),
    (3, [2, 2], [2, 3]),
    (5, [1] * 4, [1, 2, 3, 5]),
    (7, [1] * 5, [1, 2, 3, 4, 7]),
    (15, [1] * 6, [2, 4, 6, 8, 10, 15]),
    (18, [1] * 4, [4, 8, 12, 18]),
    (100, [1] * 3, [33, 66, 100]),
    (14, [1] * 4, [4, 8, 12, 14]),
    (21, [1] * 6, [4, 8, 12, 16, 20, 21]),
    (64, [1] * 8, [8, 16, 24, 32, 40, 48, 56, 64]),
    (1000, [1] * 7, [143, 286, 429, 572, 715, 858, 1000]),
    (8, [1, 3], [2, 8]),
    (9, (2, 1), [6, 9]),
    (10, [1, 2, 3], [2, 5, 10]),
    (10, [0.5, 0.25, 0.25], [5, 7, 10]),
    (12, [5, 1], [10, 12]),
    (13, [3, 2, 1], [6, 10, 13]),
    (4, [-1, -1], [2, 4]),
    (7.0, [1, 1], [4, 7]),
    (6.5, [1, 1], [3, 6]),
]

# likewise, by the exception they raise
REFUSED = [
    (6, [1] * 4, ValueError, "split/empty"),
    (2, [1] * 3, ValueError, "split/empty"),
    (0, [1], ValueError, "split/empty"),
    (4, [1, 0], ValueError, "split/empty"),
    (4, [2, -1], ValueError, "split/empty"),
    (10, [0.001, 1], ValueError, "split/empty"),
    (4, [0, 0], ZeroDivisionError, "split/zero-weights"),
    (4, [], IndexError, "split/no-device"),
]


@pytest.mark.clause("split/half-to-even", "split/shortfall", "split/excess")
@pytest.mark.parametrize(("rows", "weights", "ends"), ENDS)
def test_slices(rows, weights, ends):
    slices = _split_input_slice(rows, weights)
    assert [s.stop for s in slices] == ends
    assert [s.start for s in slices] == [0, *ends[:-1]]
    assert all(type(s.start) is int and type(s.stop) is int for s in slices)


@pytest.mark.clause("split/empty", "split/zero-weights", "split/no-device")
@pytest.mark.parametrize(("rows", "weights", "kind", "clause"), REFUSED)
def test_refused(rows, weights, kind, clause):
    with pytest.raises(kind) as caught:
        _split_input_slice(rows, weights)
    assert caught.value.clause == clause


@pytest.mark.clause("split/partition", "split/empty")
@pytest.mark.parametrize("law", LABS["slicing"].laws, ids=lambda law: law.clause)
@given(st.data())
def test_the_laws_of_slicing(law, data):
    """Those that judge a student's code: refimpl/cli/labs/slicing_lab.py."""
    law.holds(SimpleNamespace(split=_split_input_slice), HypothesisDraw(data.draw))


def test_equal_weights_are_fair():
    """With as many rows per device as weights divide evenly, every device gets the same."""
    assert {s.stop - s.start for s in _split_input_slice(48, [3] * 6)} == {8}


# --- arguments ------------------------------------------------------------------------------------


@pytest.mark.clause("ExecutorGroup/unique-arguments", "ExecutorGroup/unique-states")
def test_duplicate_names_are_refused():
    names = SimpleNamespace(list_arguments=lambda: ["data", "w", "w"], list_auxiliary_states=list)
    with pytest.raises(ValueError, match=r'two arguments have the name "w".*data') as caught:
        _check_arguments(names)
    assert caught.value.clause == "ExecutorGroup/unique-arguments"
    names = SimpleNamespace(
        list_arguments=lambda: ["data"], list_auxiliary_states=lambda: ["m", "m"]
    )
    with pytest.raises(ValueError, match=r'auxiliary states have the name "m".*data.*m') as caught:
        _check_arguments(names)
    assert caught.value.clause == "ExecutorGroup/unique-states"


def test_distinct_names_pass():
    _check_arguments(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc"))


# --- loading --------------------------------------------------------------------------------------


@pytest.mark.clause("split/load")
def test_load_whole_and_in_slices():
    source = mx.nd.array([[1, 2], [3, 4], [5, 6]])
    whole = mx.nd.zeros((3, 2))
    first, rest = mx.nd.zeros((1, 2)), mx.nd.zeros((2, 2), dtype="float64")
    batch = mx.io.DataBatch([source], [source])
    _load_data(batch, [whole])
    assert whole.asnumpy().tolist() == [[1, 2], [3, 4], [5, 6]]
    _load_label(batch, [[(slice(0, 1), first), (slice(1, 3), rest)]])
    assert first.asnumpy().tolist() == [[1, 2]]
    assert rest.asnumpy().tolist() == [[3, 4], [5, 6]]


@pytest.mark.clause("split/load")
def test_load_ignores_sources_without_a_target():
    target = mx.nd.zeros((2,))
    _load_general([mx.nd.array([1, 2]), mx.nd.ones((7,))], [target])
    assert np.array_equal(target.asnumpy(), [1, 2])


@pytest.mark.clause("split/batch-size")
def test_load_refuses_another_batch_size():
    with pytest.raises(
        AssertionError, match=r"the batch has 3 rows, the devices take 5"
    ) as caught:
        _load_general([mx.nd.ones((3,))], [[(slice(0, 5), mx.nd.zeros((5,)))]])
    assert caught.value.clause == "split/batch-size"


@pytest.mark.clause("split/load-list")
def test_load_refuses_a_batch_without_labels():
    with pytest.raises(TypeError) as caught:
        _load_label(mx.io.DataBatch([mx.nd.ones((2,))]), [mx.nd.zeros((2,))])
    assert caught.value.clause == "split/load-list"
