"""What is drawn from each distribution: MXNet's numbers, moments, and how draws follow each other."""

from __future__ import annotations

import math
import platform
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl.kernels.foundation import UNKNOWN, MXNetError, as_buffer
from refimpl.kernels.foundation.harness import Call
from refimpl.kernels.shared.random_numbers import NUMBERS, draw_numbers
from refimpl.kernels.shared.random_streams import new_streams, shares

from .recorded_random import AT, CONSECUTIVE, PARAMETERS, SAMPLED

INTERPRETED = bool(numba.config.DISABLE_JIT)
EXACT_LOG = platform.libc_ver()[0] == "glibc" and not INTERPRETED


def draw(state: Any, name: str, *arrays: Any, **params: Any) -> np.ndarray:
    return Call(name, list(arrays), params).forward(rng=state)[0]


def agree(got: np.ndarray, recorded: str, what: object) -> None:
    """Demand equal bits where the C library's logarithm is the one that was recorded."""
    wanted = np.array([float.fromhex(text) if "0x" in text else float(text) for text in recorded.split()])
    if EXACT_LOG:
        np.testing.assert_array_equal(got.astype(np.float64), wanted, str(what))
    else:
        np.testing.assert_allclose(got.astype(np.float64), wanted, rtol=1e-6, err_msg=str(what))


@pytest.mark.clause("random/gamma")
@pytest.mark.clause("random/poisson")
@pytest.mark.clause("random/negative-binomial")
@pytest.mark.clause("random/generalized-negative-binomial")
def test_consecutive_calls_give_the_numbers_of_mxnet() -> None:
    state = new_streams(seed=3)
    for name, params, recorded in CONSECUTIVE:
        agree(draw(state, name, shape=(130,), **params)[AT], recorded, (name, params))


@pytest.mark.clause("sample/as")
@pytest.mark.clause("sample/type")
def test_samples_are_those_of_mxnet() -> None:
    state = new_streams(seed=3)
    for kind in ("float32", "float64"):
        for dtype in ("float32", "float64"):
            for name, parameters in PARAMETERS.items():
                arrays = [np.array(values, kind) for values in parameters]
                got = draw(state, f"_sample_{name}", *arrays, shape=(26,), dtype=dtype)
                assert got.shape == (5, 26)
                assert got.dtype == dtype
                recorded = SAMPLED.get((kind, dtype, name))
                if recorded is not None:
                    agree(got.reshape(-1)[AT], recorded, (kind, dtype, name))


@pytest.mark.clause("shuffle/order")
@pytest.mark.clause("shuffle/draw")
@pytest.mark.clause("multinomial/draw")
@pytest.mark.clause("multinomial/engine")
@pytest.mark.clause("random/single-engine")
@pytest.mark.clause("zipfian/draw")
def test_orders_and_classes_are_those_of_mxnet() -> None:
    # mx.random.seed(3); shuffle(arange(7)) twice, shuffle(arange(14).reshape((7, 2))), shuffle(arange(70000)),
    # multinomial of two rows, then of one in float64, _sample_unique_zipfian twice
    state = new_streams(seed=3)
    wanted = ([0, 6, 1, 2, 3, 4, 5], [4, 3, 6, 1, 2, 0, 5])
    for order in wanted:
        assert draw(state, "_shuffle", np.arange(7)).tolist() == order
    rows = draw(state, "_shuffle", np.arange(14.0).reshape(7, 2))
    assert rows.tolist() == [[v, v + 1] for v in (0, 6, 12, 4, 2, 10, 8)]
    many = draw(state, "_shuffle", np.arange(70000, dtype=np.float32))
    assert many[[0, 1, 35000, 69999]].tolist() == [723, 64635, 57778, 69923]
    shares_of = np.array([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]], np.float32)
    assert draw(state, "_sample_multinomial", shares_of, shape=(10,)).tolist() == [
        [3, 1, 2, 1, 3, 2, 2, 3, 3, 1], [2, 0, 2, 0, 0, 0, 0, 0, 0, 0],
    ]
    classes = draw(state, "_sample_multinomial", np.array([0.1, 0.2, 0.3, 0.4]), shape=(10,), dtype="float64")
    assert classes.dtype == np.float64
    assert classes.tolist() == [2, 0, 3, 3, 3, 3, 3, 2, 2, 2]
    for numbers, tries in (
        ([[6, 4, 2, 3, 1, 57, 9, 17], [10, 1, 0, 8, 17, 53, 2, 6]], [10, 10]),
        ([[0, 3, 11, 9, 1, 20, 64, 22], [81, 2, 48, 3, 0, 89, 7, 14]], [11, 9]),
    ):
        call = Call("_sample_unique_zipfian", [], {"range_max": 100, "shape": (2, 8)})
        assert [a.tolist() for a in call.forward(rng=state)] == [numbers, tries]


# --- moments --------------------------------------------------------------------------------------

# name, parameters, mean, variance, kurtosis (of all values)
MOMENTS = [
    ("uniform", {"low": -1, "high": 3}, 1, 16 / 12, 1.8),
    ("normal", {"loc": 2, "scale": 3}, 2, 9, 3),
    ("exponential", {"lam": 0.25}, 4, 16, 9),
    ("gamma", {"alpha": 0.3, "beta": 2}, 0.6, 1.2, 23),
    ("gamma", {"alpha": 9, "beta": 0.5}, 4.5, 2.25, 3 + 6 / 9),
    ("poisson", {"lam": 0.4}, 0.4, 0.4, 3 + 1 / 0.4),
    ("poisson", {"lam": 11}, 11, 11, 3.1),
    ("poisson", {"lam": 14}, 14, 14, 3.1),
    ("poisson", {"lam": 900}, 900, 900, 3),
    ("poisson", {"lam": 2e6}, 2e6, 2e6, 3),
    ("poisson", {"lam": 1e12}, 1e12, 1e12, 3),
    ("negative_binomial", {"k": 3, "p": 0.25}, 9, 36, 3 + 2 + 1 / 36),
    ("generalized_negative_binomial", {"mu": 4, "alpha": 0.5}, 4, 12, 3 + 3 + 1 / 12),
    ("generalized_negative_binomial", {"mu": 5, "alpha": 0}, 5, 5, 3.2),
    ("randint", {"low": 0, "high": 10}, 4.5, 99 / 12, 1.8),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "params", "mean", "variance", "kurtosis"), MOMENTS)
def test_moments(
    name: str, params: dict[str, float], mean: float, variance: float, kurtosis: float, dtype: str
) -> None:
    """Mean and variance lie within five standard errors of their own."""
    if name == "randint":
        dtype = "int32" if dtype == "float32" else "int64"
    count = 1000 if INTERPRETED else 20000
    got = draw(new_streams(seed=1), f"_random_{name}", shape=(count,), dtype=dtype, **params).astype(np.float64)
    rounding = variance / 1e3 if mean > 1e10 and dtype == "float32" else 0  # single precision holds 24 bits
    assert abs(got.mean() - mean) <= 5 * math.sqrt(variance / count) + math.sqrt(rounding)
    assert abs(got.var() - variance) <= 5 * variance * math.sqrt((kurtosis - 1) / count) + rounding


def test_every_order_is_equally_likely() -> None:
    state, found = new_streams(seed=1), {}
    count = 120 if INTERPRETED else 6000
    for _ in range(count):
        order = tuple(draw(state, "_shuffle", np.arange(3)).tolist())
        found[order] = found.get(order, 0) + 1
    assert len(found) == 6
    assert all(abs(times - count / 6) <= 5 * math.sqrt(count * 5 / 36) for times in found.values())


def test_classes_come_as_often_as_they_should() -> None:
    count = 1000 if INTERPRETED else 20000
    chances = np.array([0.125, 0.5, 0, 0.375], np.float32)
    got = draw(new_streams(seed=1), "_sample_multinomial", chances, shape=(count,))
    times = np.bincount(got, minlength=4)
    assert (np.abs(times - count * chances) <= 5 * np.sqrt(count * chances * (1 - chances))).all()


# --- how draws follow each other ------------------------------------------------------------------

FROM_NUMBERS = [(f"_random_{name}", params) for name, params, mean, *_ in MOMENTS if mean < 1e6]


@pytest.mark.clause("random/shares")
@given(which=st.sampled_from(FROM_NUMBERS), sizes=st.lists(st.integers(1, 20), min_size=1, max_size=3))
def test_few_numbers_may_be_drawn_in_pieces(which: tuple[str, Any], sizes: list[int]) -> None:
    """Up to 64 numbers come from one engine, so that pieces give what one call gives."""
    name, params = which
    state = new_streams(seed=9)
    pieces = [draw(state, name, shape=(size,), **params) for size in sizes]
    whole = draw(new_streams(seed=9), name, shape=(sum(sizes),), **params)
    np.testing.assert_array_equal(np.concatenate(pieces), whole)


@pytest.mark.clause("random/shares")
@pytest.mark.parametrize("name", list(NUMBERS))
def test_engines_do_not_wait_for_each_other(name: str) -> None:
    """Any engine's share can be made alone: this is what threads and GPUs rely on."""
    count = 200
    engines, share = shares(count)
    parameters = [as_buffer(np.array([value], np.float32)) for value in (2.5, 0.5)[: len(PARAMETERS[name])]]
    together, state = as_buffer(np.zeros(count, np.float32)), new_streams(seed=4)
    draw_numbers(name, together, parameters, state)
    apart = as_buffer(np.zeros(count, np.float32))
    for j in reversed(range(engines)):
        one = new_streams(seed=4)
        part = as_buffer(np.zeros(min(share, count - j * share), np.float32))
        row = one.flat[j * 625 : (j + 1) * 625].copy()
        one.flat[:625] = row
        NUMBERS[name][0](part, one, parameters[0], parameters[-1], part.size, 1, share, count)
        apart.flat[j * share : j * share + part.size] = part.flat
    np.testing.assert_array_equal(apart.flat, together.flat)


@pytest.mark.parametrize("name", list(NUMBERS))
@pytest.mark.clause("sample/as")
@pytest.mark.clause("random_like/as")
def test_numbers_arrays_and_likes_draw_the_same(name: str) -> None:
    given_by = {"uniform": ("low", "high"), "normal": ("loc", "scale"), "negative_binomial": ("k", "p")}
    names = given_by.get(name) or {
        "gamma": ("alpha", "beta"), "generalized_negative_binomial": ("mu", "alpha"),
    }.get(name, ("lam",))
    values = {"uniform": (-1.5, 2.5), "negative_binomial": (3, 0.25)}.get(name, (2.5, 0.5))[: len(names)]
    params = dict(zip(names, values, strict=True))
    for dtype in ("float32", "float64"):
        plain = draw(new_streams(seed=2), f"_random_{name}", shape=(2, 70), dtype=dtype, **params)
        like = draw(new_streams(seed=2), f"_random_{name}_like", np.zeros((2, 70), dtype), **params)
        arrays = [np.full(2, value, np.float32) for value in values]
        sampled = draw(new_streams(seed=2), f"_sample_{name}", *arrays, shape=(70,), dtype=dtype)
        np.testing.assert_array_equal(plain, like, strict=True)
        np.testing.assert_array_equal(plain, sampled, strict=True)


@pytest.mark.clause("random/single-engine")
def test_shuffling_leaves_the_other_engines_alone() -> None:
    state = new_streams(seed=6)
    draw(state, "_shuffle", np.arange(9.0))
    draw(state, "_sample_multinomial", np.ones(2, np.float32), shape=(9,))
    after, before = (draw(s, "_random_uniform", shape=(9,)) for s in (state, new_streams(seed=6)))
    np.testing.assert_array_equal(after, before)


@given(sides=st.lists(st.integers(1, 6), min_size=1, max_size=3), seed=st.integers(0, 2**40))
def test_a_shuffle_is_a_permutation_of_rows(sides: list[int], seed: int) -> None:
    data = np.arange(np.prod(sides), dtype=np.float32).reshape(sides)
    got = draw(new_streams(seed=seed), "_shuffle", data)
    np.testing.assert_array_equal(got[np.argsort(got.reshape(sides[0], -1)[:, 0])], data)


@pytest.mark.clause("zipfian/unique")
@given(below=st.integers(1, 40), rows=st.integers(1, 3), seed=st.integers(0, 99))
def test_candidates_of_a_row_differ(below: int, rows: int, seed: int) -> None:
    width = (below + 1) // 2
    call = Call("_sample_unique_zipfian", [], {"range_max": below, "shape": (rows, width)})
    numbers, tries = call.forward(rng=new_streams(seed=seed))
    assert all(len(set(row)) == width and min(row) >= 0 and max(row) < below for row in numbers.tolist())
    assert (tries >= width).all()


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.clause("random/type")
@pytest.mark.clause("sample/type")
def test_half_numbers_are_single_ones_rounded() -> None:
    for name in ("_random_gamma", "_random_poisson"):
        half, single = (
            draw(new_streams(seed=8), name, shape=(9,), dtype=kind) for kind in ("float16", "float32")
        )
        np.testing.assert_array_equal(half, single.astype(np.float16), strict=True)


@pytest.mark.clause("sample/type")
@pytest.mark.clause("sample/shape")
def test_whole_numbers_may_be_parameters() -> None:
    whole, single = (
        draw(new_streams(seed=8), "_sample_gamma", np.array([[1, 3]], kind), np.array([[2, 5]], kind), shape=(2,))
        for kind in ("int32", "float32")
    )
    assert whole.shape == (1, 2, 2)
    np.testing.assert_array_equal(whole, single, strict=True)


@pytest.mark.clause("sample/outside")
def test_means_without_an_answer_are_nan() -> None:
    means = np.array([np.nan, np.inf, -1, 2], np.float32)
    got = draw(new_streams(), "_sample_poisson", means)
    assert np.isnan(got[:2]).all()
    assert got[2] == 0
    shapes = np.array([-1, np.inf, np.nan, 0], np.float32)
    got = draw(new_streams(), "_sample_gamma", shapes, np.ones(4, np.float32))
    assert np.isnan(got[:3]).all()
    assert got[3] == 0


@pytest.mark.parametrize("given_type", ["int32", "int64"])
@pytest.mark.clause("random_like/type")
def test_likes_are_floating_point(given_type: str) -> None:
    with pytest.raises(MXNetError) as caught:
        Call("_random_gamma_like", [np.ones(3, given_type)], {})
    assert caught.value.clause == "random_like/type"


@pytest.mark.clause("multinomial/sum")
def test_sums_are_taken_as_they_are() -> None:
    for shares_of, wanted in (([1, 3], {0}), ([0.25, 0, 0.25, 0], {0, 2}), ([0, -1, 0.5], {2}), ([0, 0], {0})):
        got = draw(new_streams(), "_sample_multinomial", np.array(shares_of, np.float32), shape=(50,))
        assert set(got.tolist()) == wanted


@pytest.mark.clause("multinomial/get-prob")
def test_gradient_of_probabilities() -> None:
    # mx.random.seed(7); the same call, backward with these heads
    data = np.array([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]], np.float32)
    call = Call("_sample_multinomial", [data], {"shape": (3,), "get_prob": True})
    classes, logs = call.forward(rng=new_streams(seed=7))
    assert classes.tolist() == [[2, 3, 3], [3, 1, 0]]
    np.testing.assert_allclose(logs, np.log(np.take_along_axis(data, classes, 1)), rtol=1e-6)
    heads = [np.zeros((2, 3)), np.array([[1, 2, 3], [4, 5, 6]])]
    (gradient,) = call.backward(heads)
    np.testing.assert_allclose(gradient, [[0, 0, 3.3333333, 12.5], [8.571428, 50, 0, 40]], rtol=1e-6)


@pytest.mark.clause("multinomial/get-prob")
def test_classes_alone_have_no_gradient() -> None:
    call = Call("_sample_multinomial", [np.ones((2, 3), np.float32)], {"shape": (2,), "dtype": "float32"})
    call.forward()
    np.testing.assert_array_equal(call.backward()[0], np.zeros((2, 3)))


@pytest.mark.clause("multinomial/type")
@pytest.mark.clause("multinomial/shape")
@pytest.mark.parametrize(
    ("data", "shape", "expected"),
    [((3,), (), (1,)), ((2, 3), (), (2,)), ((1, 2, 3), (4,), (1, 2, 4)), ((3,), (2, 5), (2, 5))],
)
def test_shape_and_type_of_classes(data: tuple[int, ...], shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    call = Call("_sample_multinomial", [np.ones(data)], {"shape": shape, "get_prob": True})
    assert call.shapes == [expected] * 2
    assert call.types == [np.int32, np.float64]


@pytest.mark.clause("zipfian/type")
def test_candidates_are_whole_numbers() -> None:
    call = Call("_sample_unique_zipfian", [], {"range_max": 9, "shape": (2, 3)})
    assert (call.shapes, call.types) == ([(2, 3), (2,)], [np.int64] * 2)


@pytest.mark.clause("random/shape")
@pytest.mark.clause("sample/shape")
def test_shapes_are_inferred_where_they_can_be() -> None:
    call = Call("_random_gamma", [], {"shape": (2, 3)})
    assert call.op.infer(call.op.parse({"shape": ()}), [], [(4,)]) == ([], [(4,)])
    assert call.op.infer(call.op.parse({}), [], [None]) == ([], [None])
    sample = Call("_sample_gamma", [np.ones(2)] * 2, {"shape": (3,)})
    assert sample.op.infer(sample.p, [None, (2,)], [None]) == ([(2,), (2,)], [(2, 3)])
    assert sample.op.infer(sample.p, [None, None], [(UNKNOWN, 3)]) == ([(UNKNOWN,), (UNKNOWN,)], [(UNKNOWN, 3)])
    assert sample.op.infer(sample.p, [(UNKNOWN,), None], [(4, UNKNOWN)]) == ([(4,), (4,)], [(4, 3)])
