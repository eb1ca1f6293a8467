"""The shadow of memory: numbers survive the host, contexts take turns, and whole numbers are free where they may be."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels.foundation import items
from refimpl.kernels.foundation.loop import LOOPS, Loop
from refimpl.module.thread_pool import ThreadPool
from refimpl.oracle.bounds import FIRST_ORDER, RIGOROUS, tracking
from refimpl.oracle.bounds.tracking import accessed


@pytest.mark.clause("oracle/host")
def test_an_array_keeps_its_bounds_on_a_way_through_numpy() -> None:
    with tracking() as shadow:
        there = mx.nd.exp(mx.nd.array([0.0, 0.5, 1.0]))
        back = mx.nd.array(there.asnumpy())
        bounds = shadow.of(back)[1]
        assert bounds.tolist() == shadow.of(there)[1].tolist()
        assert (bounds > 0).tolist() == [False, True, True]
        assert shadow.of(mx.nd.array([0.25, 0.5, 1.0]))[1].tolist() == [0, 0, 0]  # never computed


@pytest.mark.clause("oracle/host")
@pytest.mark.parametrize("arithmetic", [FIRST_ORDER, RIGOROUS], ids=["first order", "rigorous"])
def test_what_single_precision_holds_exactly_is_rounded_when_it_becomes_half(arithmetic) -> None:
    with tracking(arithmetic) as shadow:
        near = mx.nd.array([1 + 2.0**-10, 1.5], dtype="float16")
        values, bounds = shadow.of(near * near)
    exact = np.array([(1 + 2.0**-10) ** 2, 2.25])
    assert (bounds > 0).tolist() == [True, False]
    assert 2.0**-20 <= bounds[0] < 2.0**-9
    assert (abs(values - exact) <= bounds).all()


@pytest.mark.clause("oracle/host")
def test_a_single_number_keeps_its_bound_as_a_parameter() -> None:
    with tracking() as shadow:
        scale = float(mx.nd.exp(mx.nd.array([0.5])).asscalar())
        assert shadow.of(mx.nd.array([2.0]) * scale)[1][0] > 4 * 2.0**-24 * 2 * scale
        nothing = float((mx.nd.exp(mx.nd.array([0.5])) * 0).asscalar())
        assert nothing == 0
        assert shadow.of(mx.nd.array([2.0]) * nothing)[1].tolist() == [0]


@pytest.mark.clause("oracle/one-thread")
def test_contexts_take_turns() -> None:
    seen = []
    pool = ThreadPool(3)
    with tracking():
        pool.run(lambda context: seen.append((context, threading.current_thread())))
    assert seen == [(context, threading.current_thread()) for context in range(3)]


@pytest.mark.clause("oracle/branch")
def test_whole_numbers_behind_an_undecided_branch_are_free() -> None:
    with tracking() as shadow:
        near = mx.nd.exp(mx.nd.log(mx.nd.array([3.0])))  # 3, give or take an error
        whole = mx.nd.cast(near, dtype="int32")
        assert whole.dtype == np.int32
        assert shadow.of(whole)[1].tolist() == [np.inf]
        assert shadow.of(mx.nd.cast(whole, dtype="float32"))[1].tolist() == [np.inf]  # and stays so
        clear = mx.nd.cast(near + 0.5, dtype="int32")
        assert [array.tolist() for array in shadow.of(clear)] == [[3.0], [0.0]]


@pytest.mark.parametrize("value", [np.inf, np.nan, -1e30, 3e9])
def test_a_float_beyond_the_whole_numbers_of_a_dtype_is_free(value: float) -> None:
    for arithmetic in (FIRST_ORDER, RIGOROUS):
        with tracking(arithmetic) as shadow:
            assert shadow.of(mx.nd.cast(mx.nd.array([value]), dtype="int32"))[1].tolist() == [np.inf]


def test_a_whole_number_beyond_another_dtype_wraps() -> None:
    with tracking() as shadow:
        narrow = mx.nd.cast(mx.nd.array([300, -1, 128], dtype="int64"), dtype="int8")
        assert [array.tolist() for array in shadow.of(narrow)] == [[44, -1, -128], [0, 0, 0]]


def test_a_whole_number_over_zero_is_free() -> None:
    with tracking() as shadow:
        one, none = (mx.nd.array([value], dtype="int32") for value in (1, 0))
        assert shadow.of(one / none)[1].tolist() == [np.inf]
        assert shadow.of(one + none)[1].tolist() == [0]


def test_methods_are_put_back() -> None:
    before = ThreadPool.run
    with pytest.raises(ZeroDivisionError), tracking():
        assert ThreadPool.run is not before
        raise ZeroDivisionError
    assert ThreadPool.run is before


@pytest.mark.clause("oracle/alternatives")
def test_a_determinant_may_be_the_exponential_of_logarithms() -> None:
    sides = np.linspace(-9, -1, 40, dtype=np.float32)
    other = -np.exp(np.log(-sides))
    for arithmetic in (FIRST_ORDER, RIGOROUS):
        with tracking(arithmetic) as shadow:
            values, bounds = shadow.of(mx.nd.linalg.det(mx.nd.array(sides.reshape(40, 1, 1))))
        assert (values == sides).all()
        assert (np.abs(values - other) > 0).sum() > 9
        assert (np.abs(values - other) <= bounds).all()
        assert (bounds < 20 * 2.0**-24 * 9).all()


@pytest.mark.clause("oracle/alternatives")
def test_a_power_may_be_taken_in_single_precision() -> None:
    def bound_of(t):
        arrays = [mx.nd.array([1.5]) for _ in range(5)]
        with tracking() as shadow:
            return shadow.of(mx.nd.ftml_update(*arrays, lr=0.1, t=t, beta1=0.5, beta2=0.999))[1][0]

    one_less = 1 - 0.999  # of this 2**-24 is the part that the power was rounded by
    assert bound_of(1) > 0.5 * 2.0**-24 / one_less > 100 * 2.0**-24
    assert bound_of(4) < bound_of(1)


@pytest.mark.clause("oracle/alternatives")
def test_coordinates_may_be_computed_in_single_precision() -> None:
    pixels = mx.nd.array(np.arange(16.0).reshape(1, 1, 4, 4) / 4)
    with tracking() as shadow:
        values, bounds = shadow.of(mx.nd.contrib.BilinearResize2D(pixels, height=6, width=6))
        assert shadow.freed == 0
    y = np.arange(6, dtype=np.float32) * np.float32(np.float32(3) / np.float32(5))
    rows = y.astype(np.float64)[:, None]
    other = rows + rows.T / 4  # the picture is a plane
    assert (values[0, 0] != other).any()
    assert (np.abs(values[0, 0] - other) <= bounds[0, 0] + 2.0**-24 * 4).all()
    assert (bounds < 300 * 2.0**-24 * 4).all()


@pytest.mark.clause("oracle/sum-order")
def test_a_head_and_its_transpose_may_be_multiplied_one_by_one() -> None:
    draw = np.random.RandomState(3)
    a = draw.standard_normal((4, 4)).astype(np.float32)
    skew = draw.randint(-4, 5, size=(4, 4))
    head = (1000 * (skew - skew.T) + skew).astype(np.float32)  # the sum with its transpose is exact, and small
    data, slope = mx.nd.array(a), mx.nd.zeros((4, 4))
    with tracking() as shadow:
        executor = mx.sym.linalg.syrk(mx.sym.var("a")).bind(mx.cpu(), [data], [slope])
        executor.forward(is_train=True)
        executor.backward(mx.nd.array(head))
        values, bounds = shadow.of(slope)
    apart = np.abs(values - (head @ a + head.T @ a))
    assert apart.max() > 100 * 2.0**-24 * np.abs(values).max()
    assert (apart <= bounds).all()
    assert (bounds < 100 * 2.0**-24 * 8000).all()


@pytest.mark.clause("oracle/alternatives")
def test_a_decay_may_be_added_to_the_gradient() -> None:
    given = [(1.0981550216674805, 1.3133540153503418, 0.7), (0.24175307154655457, 0.4297339618206024, 0.3),
             (1.3001532554626465, 1.412155032157898, 0.5)]
    for weight, grad, wd in given:
        with tracking() as shadow:
            values, bounds = shadow.of(mx.nd.sgd_update(mx.nd.array([weight]), mx.nd.array([grad]), lr=0.5, wd=wd))
        decayed = np.float32(grad) + np.float32(wd) * np.float32(weight)
        other = np.float32(weight) - np.float32(0.5) * decayed
        assert 0 < abs(values[0] - other) <= bounds[0] < 6 * 2.0**-24 * (weight + grad)


@pytest.mark.clause("oracle/alternatives")
def test_a_norm_may_be_one_factor_and_one_term() -> None:
    draw = np.random.RandomState(1)
    data = (100 * draw.standard_normal((1, 4, 90))).astype(np.float32)
    gamma, beta = np.full(4, 0.02, np.float32), np.float32([-33.1, 33.3, -65.7, 66.9])
    std = np.sqrt(data.astype(np.float64).var(axis=2) + 0.5).astype(np.float32)
    factor = (gamma / std)[..., None]
    term = beta[:, None] - data.astype(np.float64).mean(axis=2).astype(np.float32)[..., None] * factor
    other = np.exp((data * factor + term).astype(np.float64))  # of numbers that two additions rounded, not one
    for arithmetic in (FIRST_ORDER, RIGOROUS):
        with tracking(arithmetic) as shadow:
            out = mx.nd.InstanceNorm(mx.nd.array(data), mx.nd.array(gamma), mx.nd.array(beta), eps=0.5)
            values, bounds = shadow.of(mx.nd.exp(out))
        assert (np.abs(values - other) <= bounds).all()
        assert (bounds < 6 * 2.0**-24 * np.abs(beta)[:, None] * values).all()


@pytest.mark.clause("oracle/branch")
def test_what_becomes_of_a_whole_number_that_is_none_is_free() -> None:
    for arithmetic in (FIRST_ORDER, RIGOROUS):
        with tracking(arithmetic) as shadow:
            for kind in ("int32", "int64"):
                assert shadow.of(mx.nd.cast(mx.nd.array([np.nan]), kind))[1].tolist() == [np.inf], kind
            assert shadow.of(mx.nd.cast(mx.nd.array([2.5]), "int64"))[1].tolist() == [0]


def test_which_arrays_a_loop_reads_and_writes() -> None:
    def loop(read, written, both, added, given, n):
        for i in items(n):
            written[i] = read[i]
            both[i] = both[i] + 1
            added[i] += find(given, i)  # noqa: F821  # never run

    read, written = accessed(loop)
    assert {"read", "both", "added", "given"} <= read
    assert {"written", "both", "added", "given"} <= written
    assert "written" not in read
    assert "read" not in written


def test_elements_that_a_loop_leaves_alone_keep_their_bounds() -> None:
    def every_other(data, out, n):
        for i in items(n):
            out[2 * i] = data[i] * data[i]

    with tracking() as shadow:
        out = mx.nd.exp(mx.nd.array([0.5, 1.0, 1.5]))
        before = shadow.of(out)
        Loop(every_other)(mx.nd.array([3.0, 0.1])._buffer, out._buffer, 2)
        values, bounds = shadow.of(out)
    LOOPS.pop()
    assert values[1] == before[0][1]
    assert bounds[1] == before[1][1] > 0
    assert values[0] == 9
    assert bounds[0] == 0
    assert values[2] == float(np.float32(0.1)) ** 2
    assert 0 < bounds[2] < 1e-8
    assert out.asnumpy().tolist() == [9.0, np.float32(np.exp(1.0)), np.float32(values[2])]


def test_what_a_loop_writes_is_rounded_before_it_is_read_again() -> None:
    def twice(data, out, n):
        for i in items(n):
            out[i] = data[i] * data[i]
            out[i] += data[i]

    with tracking() as shadow:
        data, out = mx.nd.array([1 / 3]), mx.nd.zeros((1,))
        Loop(twice)(data._buffer, out._buffer, 1)
        (value,), (bound,) = shadow.of(out)
    LOOPS.pop()
    third = float(np.float32(1 / 3))
    assert value == third * third + third
    # the product and the sum round once each, and so does storing either
    assert bound == pytest.approx(2.0**-24 * (2 * third * third + 2 * value), rel=1e-5)


def test_a_loop_in_place_reads_each_element_before_it_writes_it() -> None:
    with tracking() as shadow:
        array = mx.nd.array([0.5, 1.0])
        apart = shadow.of(mx.nd.exp(array))
        mx.nd.exp(array, out=array)
        assert [found.tolist() for found in shadow.of(array)] == [found.tolist() for found in apart]


@pytest.mark.clause("oracle/exact")
@pytest.mark.parametrize("arithmetic", [FIRST_ORDER, RIGOROUS])
@pytest.mark.parametrize(("dtype", "last"), [("float32", -0.7), ("float64", -0.6)])
def test_a_sum_that_is_exact_in_one_order_has_a_bound_for_the_others(arithmetic, dtype, last) -> None:
    """1 - 0.75 is exact, and so is what remains; -0.75 and the last term added first are rounded."""
    kind = np.dtype(dtype).type
    assert (kind(-0.75) + kind(last)) + kind(1) != (kind(1) + kind(-0.75)) + kind(last)
    with tracking(arithmetic) as shadow:
        found = mx.nd.add_n(*[mx.nd.array([value], dtype=dtype) for value in (1.0, -0.75, last)])
        assert shadow.of(found)[1] >= abs((kind(-0.75) + kind(last)) + kind(1) - found.asscalar())
