"""Calls that go straight to their kernels: bits, errors and effects are those of the usual path, whatever happens."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import example as shown
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl.engine import fast_road, profiling_hook
from refimpl.kernels import distinct, get
from refimpl.kernels.foundation import Buffer, Loop, Op, as_buffer, buffer, items, loop, plain_kernels
from refimpl.kernels.foundation.loop import python_loops
from refimpl.ndarray import NDArray, dense, operators
from refimpl.oracle.pages.draws import Example, SeededDraw, example
from refimpl.replay import array_calls
from refimpl.replay.array_calls import CALLS, ArrayCall
from refimpl.replay.asking import Memory, repeatable_calls
from refimpl.replay.recorder import Recording

from .bound import WATCH, failed_array

pytestmark = [
    pytest.mark.skipif(fast_road.road is None, reason="there is machine code without checks only in the usual lane"),
    pytest.mark.usefixtures("nothing_has_failed"),  # after a failure nothing is replayed
]
OPERATORS = [op.name for op in distinct() if op.cases is not None]
DTYPES = ("float32", "float64", "float16")


def _bits(made: Any) -> list[tuple]:
    """Everything that can be seen of results."""
    arrays = made if isinstance(made, list) else [made]
    return [(a.shape, a.dtype, str(a.context), a.stype, a.writable, a.asnumpy().tobytes()) for a in arrays]


def _seen(call: Callable[[], Any]) -> Any:
    """What a call gives: its results, or its error."""
    try:
        return _bits(call())
    except Exception as error:  # noqa: BLE001  # errors of any type are compared
        return type(error), str(error)


# --- every operator ------------------------------------------------------------------------------


def _call(of: Example, *, turned: bool) -> Any:
    """The function of an operator on fresh arrays, with the elements in their order or ``turned`` around."""
    mx.random.seed(3)
    given_ = [a.reshape(-1)[::-1].reshape(a.shape) if turned else a for a in of.arrays]
    arrays = [mx.nd.array(a, dtype=a.dtype) for a in given_]
    return operators.make_function(of.op, of.op.name)(*arrays, **of.params)


def _agrees(op: Op, seed: int, dtype: str) -> bool:
    """Compare the usual path with a third call of the same key; returns whether that went straight to its kernels."""
    try:
        of = example(op, SeededDraw(seed), dtype)
    except mx.MXNetError:
        return False  # not every operator takes every type
    array_calls.forget()
    expected = _seen(lambda: _call(of, turned=True))
    array_calls.forget()
    for _ in range(2):
        _seen(lambda: _call(of, turned=False))
    with mock.patch.object(ArrayCall, "run", autospec=True, side_effect=ArrayCall.run) as straight:
        assert _seen(lambda: _call(of, turned=True)) == expected, f"{of}"
    return straight.called


@pytest.mark.heavy
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_gives_its_bits_again(name: str, dtype: str) -> None:
    for seed in range(4):
        _agrees(get(name), seed, dtype)


@pytest.mark.parametrize("name", [
    "broadcast_add", "elemwise_mul", "_plus_scalar", "exp", "sum", "max", "transpose", "dot", "FullyConnected",
    "Concat", "Activation", "clip", "Pooling", "Convolution", "take", "where", "Reshape", "Cast",
])
def test_what_programs_use_most_goes_straight(name: str) -> None:
    straight = [_agrees(get(name), seed, "float32") for seed in range(6)]
    assert True in straight


@pytest.mark.parametrize("name", [
    "Dropout", "BatchNorm", "_random_uniform_like", "sgd_mom_update", "sort", "argsort", "topk",
    "SliceChannel", "scatter_nd", "linalg_potrf",
])
def test_what_draws_changes_inputs_or_looks_at_values_never_goes_straight(name: str) -> None:
    straight = [_agrees(get(name), seed, "float32") for seed in range(4)]
    assert True not in straight


def test_operators_that_never_go_straight_need_no_keys() -> None:
    array_calls.forget()
    a = mx.nd.ones((4, 2))
    for _ in range(3):
        mx.nd.Dropout(a)
        mx.nd.split(a, num_outputs=2, axis=0)
        mx.nd.LayerNorm(a, mx.nd.ones((2,)), mx.nd.zeros((2,)))
        mx.nd.random.uniform(shape=(2,))
    assert not CALLS.made
    assert not CALLS._seen


# --- events between calls ------------------------------------------------------------------------


@contextlib.contextmanager
def _no_memory() -> Iterator[None]:
    with mock.patch.object(buffer, "aligned_empty", side_effect=MemoryError):
        yield


EVENTS: dict[str, Callable[[], Any]] = {
    "nothing": contextlib.nullcontext,
    "quirk": lambda: mx.quirks("activation-relu-nan"),
    "every quirk": lambda: mx.quirks("mxnet-1.9.1"),
    "no quirk": lambda: mx.quirks("intended"),
    "no twins": plain_kernels,
    "Python": python_loops,
    "threads": lambda: mx.engine.use("threaded"),
    "another order": lambda: mx.engine.use("shuffled", 7),
    "profiler": lambda: mock.patch.object(profiling_hook, "imperative", WATCH),
    "no memory": _no_memory,
    "failure": failed_array,
    "record": mx.autograd.record,
    "training": mx.autograd.train_mode,
}

WRITTEN: dict[str, Callable[[NDArray, NDArray], Any]] = {
    "a + b": lambda a, b: a + b,
    "a > b": lambda a, b: a > b,
    "a * 0.0": lambda a, b: a * 0.0,
    "a * -0.0": lambda a, b: a * -0.0,
    "a * NaN": lambda a, b: a * float("nan"),
    "a + 1": lambda a, b: a + 1,
    "a + True": lambda a, b: a + True,
    "1 - a": lambda a, b: 1 - a,
    "-a": lambda a, b: -a,
    "a += b": lambda a, b: a.__iadd__(b),
    "a + text": lambda a, b: a + "text",
    "relu": lambda a, b: mx.nd.Activation(a, act_type="relu"),
    "tanh": lambda a, b: mx.nd.Activation(a, act_type="tanh"),
    "exp": lambda a, b: a.exp(),
    "sum": lambda a, b: a.sum(axis=0),
    "sum of tuple": lambda a, b: a.sum(axis=(0,)),
    "sum of list": lambda a, b: a.sum(axis=[0]),
    "no such axis": lambda a, b: a.sum(axis=5),
    "no such parameter": lambda a, b: mx.nd.exp(a, no=1),
    "by name": lambda a, b: mx.nd.elemwise_add(lhs=a, rhs=b),
    "by name, turned around": lambda a, b: mx.nd.elemwise_sub(rhs=b, lhs=a),
    "half by name": lambda a, b: mx.nd.elemwise_sub(a, rhs=b),
    "softmax": lambda a, b: a.softmax(),
    "out": lambda a, b: mx.nd.exp(a, out=b),
    "cast": lambda a, b: mx.nd.cast(a, dtype=np.float64),
    "concat": lambda a, b: mx.nd.concat(a, b, dim=0),
    "concat of list": lambda a, b: mx.nd.concat(*[a, b], dim=0),
    "csr": lambda a, b: mx.nd.cast_storage(a, stype="csr"),
    "keepdims": lambda a, b: a.sum(axis=0, keepdims=True),
    "exclude": lambda a, b: a.sum(axis=0, exclude=True),
    "with what failed": lambda a, b: mx.nd.random.normal(scale=-1, shape=a.shape) + b,
    "with what has to wait": lambda a, b: mx.nd.Dropout(a, p=0.5) + b,
    "dropout": lambda a, b: mx.nd.Dropout(a, p=0.5),
    "norm": lambda a, b: a.norm(),
    "view": lambda a, b: a[0:1].exp(),
}


def _operand(kind: str, seed: int) -> NDArray:
    values = np.random.RandomState(seed).randint(-9, 9, (3, 67)) / 8.0
    values[0, 0] = np.nan
    if kind == "row_sparse":
        return mx.nd.array(values).tostype("row_sparse")
    if kind == "cpu(1)":
        return mx.nd.array(values, mx.cpu(1))
    if kind == "row":
        return mx.nd.array(values[:1])
    if kind == "flat":
        return mx.nd.array(values.reshape(-1))
    return mx.nd.array(np.nan_to_num(values) if kind == "int32" else values, dtype=kind)


KINDS = ("float32", "float64", "float16", "int32", "row_sparse", "cpu(1)", "row", "flat")
STEPS = st.tuples(
    st.sampled_from(list(EVENTS)), st.sampled_from(list(WRITTEN)), st.sampled_from(KINDS), st.sampled_from(KINDS),
    st.integers(0, 9),
)


def _step(event: str, call: str, left: str, right: str, seed: int) -> Any:
    """One call while something happens: what it gives and changes, its gradients, and what the profiler was told."""
    a, b = _operand(left, seed), _operand(right, seed + 1)
    mx.random.seed(seed)
    WATCH.told.clear()
    for array in (a, b):
        array.attach_grad()
    results: list[Any] = []

    def made() -> Any:
        results.append(WRITTEN[call](a, b))
        return results[0]

    with EVENTS[event]():
        seen = _seen(made)
    if event == "record" and results:
        seen = [seen, _seen(lambda: results[0].backward())]
    return seen, _bits([a, b, a.grad, b.grad]), list(WATCH.told)


@given(steps=st.lists(STEPS, min_size=1, max_size=12))
@shown(steps=[(event, call, kind, kind, 3) for event in EVENTS for call in WRITTEN for kind in ("float32", "float64")])
@shown(steps=[("nothing", call, left, right, 3) for call in ("a + b", "exp") for left in KINDS for right in KINDS])
def test_nothing_that_happens_between_calls_is_missed(steps: list[tuple]) -> None:
    expected = []
    for step in steps:
        array_calls.forget()
        expected.append(_step(*step))
    for _ in range(2):
        for _, *call in steps:
            _step("nothing", *call)
    for step, wanted in zip(steps, expected, strict=True):
        assert _step(*step) == wanted, step


def test_the_third_call_is_the_first_that_goes_straight() -> None:
    array_calls.forget()
    a = mx.nd.ones((2, 3))
    with mock.patch.object(dense, "execute", wraps=dense.execute) as usual:
        for calls in (1, 2, 2, 2):
            (a + a).exp()
            assert usual.call_count == 2 * calls


def test_a_number_that_is_never_the_same_fills_no_table() -> None:
    array_calls.forget()
    a = mx.nd.ones((2,))
    for number in range(3 * CALLS._most_seen):
        a * number
    assert len(CALLS._seen) <= CALLS._most_seen
    assert not CALLS.made


def test_the_table_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CALLS, "_limit", 5)
    array_calls.forget()
    a = mx.nd.ones((2,))
    for number in range(20):
        for _ in range(3):
            assert (a * number).asnumpy().tolist() == [number, number]
        assert len(CALLS.made) <= 5


def _forwards() -> dict[str, tuple[bool, Callable]]:
    """Pages over two inputs, and whether what they do can be repeated."""
    with mock.patch.object(loop, "LOOPS", []):  # those of this test belong to no page
        add, with_twin = Loop(_add), Loop(_add)
    with_twin.use_twin(lambda a, b, out, n: None, (np.float32,))
    kept = as_buffer(np.float32([1, 2, 3, 4]))

    def borrows(p: Any, a: Any, b: Any, out: Any) -> None:
        (work,) = buffer.scratch(out, out.size)
        add(a, b, work, out.size)
        add(work, b, out, out.size)

    def allocates(p: Any, a: Any, b: Any, out: Any) -> None:
        work = buffer.allocate(a.shape, a.dtype)
        add(a, work, out, out.size)

    return {
        "two loops": (True, lambda p, a, b, out: (add(a, b, out, 4), add(out, b, out, 4))),
        "table": (True, lambda p, a, b, out: add(a, kept, out, 4)),
        "other shape": (True, lambda p, a, b, out: add(a.reshape((4,)), b, out, 4)),
        "nothing": (False, lambda p, a, b, out: None),
        "borrows": (False, borrows),
        "allocates": (False, allocates),
        "begins with a table": (True, lambda p, a, b, out: add(kept, b, out, 4)),
        "reads": (False, lambda p, a, b, out: add(a, b, out, 4) if a.to_numpy().all() else None),
        "fills": (False, lambda p, a, b, out: out.fill(0)),
        "slices": (False, lambda p, a, b, out: add(Buffer(a.flat[:2], (2,)), b, out, 2)),
        "twin": (True, lambda p, a, b, out: with_twin(a, b, out, 4)),
        "twin with another shape": (True, lambda p, a, b, out: with_twin(a.reshape((4,)), b, out, 4)),
        "twin with two shapes": (True, lambda p, a, b, out: with_twin(a.reshape((4,)), a, out, 4)),
    }


def _add(a: Any, b: Any, out: Any, n: int) -> None:
    for i in items(n):
        out[i] = a[i] + b[i]


@pytest.mark.parametrize("name", list(_forwards()))
def test_only_calls_of_loops_are_repeated(name: str) -> None:
    fit, forward = _forwards()[name]
    memory = [Memory(number, (2, 2), np.dtype(np.float32)) for number in range(3)]
    calls = repeatable_calls(lambda buffers: forward(None, *buffers), memory, apart=False)
    assert (Recording.of(calls, 3) is not None) == fit


def test_a_deferred_failure_stays_with_the_result() -> None:
    """A twin that finds no memory to work in fails as it does on the usual path: when the result is read."""
    array_calls.forget()
    a = mx.nd.ones((4, 5))
    weight = mx.nd.ones((3, 5))
    calls = [lambda: mx.nd.FullyConnected(a, weight, num_hidden=3, no_bias=True) for _ in range(2)]
    expected = [_bits(call()) for call in calls]
    failing = mx.MXNetError("no memory to work in")
    (known,) = [found for found in CALLS.made.values() if found is not None]
    with mock.patch.object(known, "_replay", mock.Mock(side_effect=failing)):
        made = calls[0]()
    with pytest.raises(mx.MXNetError, match="no memory to work in"):
        made.asnumpy()
    del made
    assert _bits(calls[0]()) == expected[0]
