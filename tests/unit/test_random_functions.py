"""mx.random, mx.nd.random and mx.sym.random: arguments, shapes, types and contexts, graphs that draw."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refimpl as mx

ONE = mx.nd.array([1.0, 2.0])
ARRAYS = {  # name: parameters, as numbers and as arrays of two
    "uniform": ((0, 1), (ONE, ONE + 1)),
    "normal": ((0, 1), (ONE, ONE)),
    "poisson": ((4,), (ONE,)),
    "exponential": ((4,), (ONE,)),
    "gamma": ((2, 3), (ONE, ONE)),
    "negative_binomial": ((2, 0.5), (ONE, ONE / 4)),
    "generalized_negative_binomial": ((2, 0.5), (ONE, ONE)),
}
LIKES = [f"{name}_like" for name in ARRAYS]
FUNCTIONS = [*ARRAYS, "randn", "randint", "multinomial", "shuffle"]


def test_the_namespaces_have_the_functions_of_mxnet() -> None:
    for name in FUNCTIONS:
        assert getattr(mx.random, name) is getattr(mx.nd.random, name)
        assert callable(getattr(mx.sym.random, name))
    for name in LIKES:
        assert callable(getattr(mx.nd.random, name))
        assert callable(getattr(mx.sym.random, name))
        assert not hasattr(mx.random, name)
    assert sorted(mx.nd.random.__all__) == sorted(mx.sym.random.__all__) == sorted([*FUNCTIONS, *LIKES])


@pytest.mark.parametrize(
    ("function", "parameters"),
    # inspect.signature in MXNet; None stands for its "not given"
    [
        (mx.nd.random.gamma, ["alpha", "beta", "shape", "dtype", "ctx", "out", "kwargs"]),
        (mx.nd.random.exponential, ["scale", "shape", "dtype", "ctx", "out", "kwargs"]),
        (mx.nd.random.multinomial, ["data", "shape", "get_prob", "out", "dtype", "kwargs"]),
        (mx.nd.random.randint, ["low", "high", "shape", "dtype", "ctx", "out", "kwargs"]),
        (mx.sym.random.negative_binomial, ["k", "p", "shape", "dtype", "kwargs"]),
        (mx.sym.random.multinomial, ["data", "shape", "get_prob", "dtype", "kwargs"]),
        (mx.random.seed, ["seed_state", "ctx"]),
    ],
)
def test_signatures(function: Callable, parameters: list[str]) -> None:
    assert list(inspect.signature(function).parameters) == parameters


@pytest.mark.parametrize("name", list(ARRAYS))
@pytest.mark.clause("random/result")
def test_shape_type_and_context(name: str) -> None:
    function = getattr(mx.nd.random, name)
    numbers, arrays = ARRAYS[name]
    assert (function(*numbers).shape, function(*numbers).dtype) == ((1,), np.float32)
    assert function(*numbers, shape=3).shape == (3,)
    made = function(*numbers, (2, 3), "float64", mx.cpu(1))
    assert (made.shape, made.dtype, made.context) == ((2, 3), np.float64, mx.cpu(1))
    assert function(*numbers, dtype=np.float16).dtype == np.float16
    with mx.cpu(1):
        assert function(*numbers).context == mx.cpu(1)
    out = mx.nd.zeros((2, 2), dtype="float64")
    assert function(*numbers, out=out) is out
    assert out.dtype == np.float64
    assert (function(*arrays).shape, function(*arrays).dtype) == ((2,), np.float32)
    assert function(*arrays, shape=(3, 4), dtype="float64").shape == (2, 3, 4)
    assert function(*arrays, shape=3).context == mx.cpu(0)
    out = mx.nd.zeros((2, 3))
    assert function(*arrays, shape=3, out=out) is out


@pytest.mark.parametrize("name", list(ARRAYS))
@pytest.mark.clause("random/streams")
def test_a_seed_gives_the_same_numbers_again(name: str) -> None:
    function = getattr(mx.nd.random, name)
    for parameters in ARRAYS[name]:
        found = []
        for _ in range(2):
            mx.random.seed(12)
            found.append(function(*parameters, shape=(40,)).asnumpy())
        np.testing.assert_array_equal(*found)
        assert not np.array_equal(found[0], function(*parameters, shape=(40,)).asnumpy())


@pytest.mark.clause("random/streams")
def test_contexts_draw_from_streams_of_their_own() -> None:
    mx.random.seed(12)
    one = mx.nd.random.gamma(shape=(9,), ctx=mx.cpu(1)).asnumpy()
    zero = mx.nd.random.gamma(shape=(9,), ctx=mx.cpu(0)).asnumpy()
    assert (one != zero).all()
    mx.random.seed(12, ctx="cpu")
    np.testing.assert_array_equal(mx.nd.random.gamma(shape=(9,)).asnumpy(), zero)


def test_randn() -> None:
    mx.random.seed(2)
    first = mx.nd.random.randn(2, 3, loc=5, scale=2, dtype="float64").asnumpy()
    mx.random.seed(2)
    np.testing.assert_array_equal(first, mx.nd.random.normal(5, 2, (2, 3), "float64").asnumpy())
    assert mx.nd.random.randn(4, loc=ONE, scale=ONE).shape == (2, 4)


def test_exponential_takes_a_scale() -> None:
    mx.random.seed(2)
    first = mx.nd.random.exponential(4, shape=(9,)).asnumpy()
    for same in (lambda: mx.nd.random_exponential(lam=0.25, shape=(9,)),
                 lambda: mx.nd.random.exponential(mx.nd.array([4]), shape=9).reshape((9,))):  # fmt: skip
        mx.random.seed(2)
        np.testing.assert_array_equal(first, same().asnumpy())


def test_randint() -> None:
    made = mx.nd.random.randint(-2, 3, shape=(200,))
    assert made.dtype == np.int32
    assert set(made.asnumpy().tolist()) == {-2, -1, 0, 1, 2}
    assert mx.nd.random.randint(0, 2**40, dtype="int64").dtype == np.int64


def test_multinomial_and_shuffle() -> None:
    # mx.random.seed(0); the same calls in MXNet
    mx.random.seed(0)
    chances = mx.nd.array([0.25, 0.75])
    chances.attach_grad()
    with mx.autograd.record():
        classes, logs = mx.nd.random.multinomial(chances, 2, get_prob=True)
        logs.backward()
    assert classes.asnumpy().tolist() == [1, 1]
    assert classes.dtype == np.int32
    np.testing.assert_allclose(logs.asnumpy(), np.log([0.75, 0.75]), rtol=1e-6)
    np.testing.assert_allclose(chances.grad.asnumpy(), [0, 2 / 0.75], rtol=1e-6)
    assert mx.nd.random.multinomial(chances, (2, 3), dtype="uint8").dtype == np.uint8
    mx.random.seed(0)
    assert mx.nd.random.shuffle(mx.nd.array([0, 1, 2, 3, 4, 5])).asnumpy().tolist() == [0, 2, 3, 5, 4, 1]


@pytest.mark.clause("random/zipfian")
def test_rand_zipfian() -> None:
    # mx.random.seed(5); mx.nd.contrib.rand_zipfian(mx.nd.array([3]), 4, 5)
    expected = [[0, 2, 2, 2], [0.49815515], [1.54741123, 0.64223369, 0.64223369, 0.64223369]]
    mx.random.seed(5)
    arrays = mx.nd.contrib.rand_zipfian(mx.nd.array([3]), 4, 5)
    assert [a.dtype for a in arrays] == [np.int64, np.float64, np.float64]
    graph = mx.sym.Group(list(mx.sym.contrib.rand_zipfian(mx.sym.var("a"), 4, 5)))
    bound = graph.bind(mx.cpu(), [mx.nd.array([3])])
    mx.random.seed(5)
    for outputs in (arrays, bound.forward()):
        for got, wanted in zip(outputs, expected, strict=True):
            np.testing.assert_allclose(got.asnumpy(), wanted, rtol=1e-7)


# --- graphs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(ARRAYS))
@pytest.mark.clause("random/graph")
def test_a_graph_draws_what_arrays_draw(name: str) -> None:
    numbers, arrays = ARRAYS[name]
    make, draw = getattr(mx.sym.random, name), getattr(mx.nd.random, name)
    variables = [mx.sym.Variable(f"p{i}") for i in range(len(arrays))]
    for graph, inputs, drawn in (
        (make(*numbers, shape=(7,)), [], lambda: draw(*numbers, shape=(7,))),
        (make(*variables, shape=(7,)), list(arrays), lambda: draw(*arrays, shape=(7,))),
    ):
        bound = graph.bind(mx.cpu(), inputs)
        mx.random.seed(3)
        first, second = (bound.forward()[0].asnumpy() for _ in range(2))
        mx.random.seed(3)
        np.testing.assert_array_equal(first, drawn().asnumpy())
        np.testing.assert_array_equal(second, drawn().asnumpy())
        assert not np.array_equal(first, second)


def test_names_of_nodes() -> None:
    # as MXNet prints them, with a fresh NameManager
    sym, a, b = mx.sym, mx.sym.var("a"), mx.sym.var("b")
    with mx.name.NameManager():
        assert sym.random.uniform(0, 1, (2, 3)).list_outputs() == ["_random_uniform0_output"]
        assert sym.random.uniform(0, 1, (2, 3), name="zz").list_outputs() == ["zz_output"]
        assert sym.random.gamma(a, b).list_outputs() == ["_sample_gamma0_output"]
        assert sym.random.multinomial(a).list_outputs() == [
            "_sample_multinomial0_output0", "_sample_multinomial0_output1",
        ]
        assert sym.random.shuffle(a).list_outputs() == ["_shuffle0_output"]
        assert sym.random.uniform_like(a).list_outputs() == ["uniform_like0_output"]
        assert '"lam": "0.25"' in sym.random.exponential(4).tojson()
        assert '"op": "_random_uniform_like"' in sym.random.uniform_like(a).tojson()


def test_a_shape_may_come_from_the_consumer() -> None:
    noisy = mx.sym.var("data") + mx.sym.random.normal(0, 1)
    assert noisy.infer_shape(data=(3, 4))[1] == [(3, 4)]


# --- refusals -------------------------------------------------------------------------------------

SYM = mx.sym.Variable("a")
REFUSALS: list[tuple[str, type[Exception], Callable[[], Any]]] = [
    ("random/arrays-or-numbers", AssertionError, lambda: mx.nd.random.uniform(ONE, 2)),
    ("random/arrays-or-numbers", AssertionError, lambda: mx.nd.random.gamma(1, ONE)),
    ("random/arrays-or-numbers", ValueError, lambda: mx.nd.random.uniform("a", "b")),
    ("random/arrays-or-numbers", ValueError, lambda: mx.nd.random.exponential("a")),
    ("random/arrays-or-numbers", AssertionError, lambda: mx.sym.random.normal(SYM, 1)),
    ("random/arrays-or-numbers", ValueError, lambda: mx.sym.random.poisson(ONE)),
    ("random/randint", ValueError, lambda: mx.nd.random.randint(ONE, ONE)),
    ("random/randint", ValueError, lambda: mx.sym.random.randint(SYM, SYM)),
    ("random/randn", TypeError, lambda: mx.nd.random.randn(2, shape=3)),
    ("random/randn", TypeError, lambda: mx.sym.random.randn(2, shape=3)),
    ("nd/input", AssertionError, lambda: mx.nd.random.multinomial([0.5, 0.5])),
    ("nd/input", AssertionError, lambda: mx.nd.random.shuffle([1, 2])),
    ("nd/input", AssertionError, lambda: mx.nd.random.uniform_like(3)),
    ("Symbol/input-type", AssertionError, lambda: mx.sym.random.multinomial(ONE)),
    ("Symbol/input-type", AssertionError, lambda: mx.sym.random.shuffle(3)),
    ("params/unknown-name", mx.MXNetError, lambda: mx.nd.random.uniform(0, 1, foo=1)),
    ("params/bad-value", mx.MXNetError, lambda: mx.nd.random.negative_binomial(2.5, 0.5)),
    ("params/bad-value", mx.MXNetError, lambda: mx.nd.random.uniform(dtype="int32")),
    ("random/seed-integer", ValueError, lambda: mx.random.seed(1.0)),
    ("random/seed-context", ValueError, lambda: mx.random.seed(1, ctx="somewhere")),
    # what is wrong with a value shows when the result is read
    ("random/gamma", mx.MXNetError, lambda: mx.nd.random.gamma(-1, 1).asnumpy()),
    ("random/gamma", mx.MXNetError, lambda: mx.nd.random.gamma(1, 0).asnumpy()),
    ("random/poisson", mx.MXNetError, lambda: mx.nd.random.poisson(-1).asnumpy()),
    ("random/exponential", mx.MXNetError, lambda: mx.nd.random.exponential(-1).asnumpy()),
    ("random/negative-binomial", mx.MXNetError, lambda: mx.nd.random.negative_binomial(-1, 0.5).asnumpy()),
    ("random/negative-binomial", mx.MXNetError, lambda: mx.nd.random.negative_binomial(1, 0).asnumpy()),
    ("random/generalized-negative-binomial", mx.MXNetError,
        lambda: mx.nd.random.generalized_negative_binomial(1, -1).asnumpy()),
    ("random/gaussian", mx.MXNetError, lambda: mx.nd.random.normal_like(ONE, scale=-1).asnumpy()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("clause", "kind", "call"), [pytest.param(*row, marks=pytest.mark.clause(row[0])) for row in REFUSALS]
)
def test_refusals(clause: str, kind: type[Exception], call: Callable[[], Any]) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause


def test_a_scale_of_zero_divides_by_zero() -> None:
    with pytest.raises(ZeroDivisionError):
        mx.nd.random.exponential(0)


@pytest.mark.clause("random/deferred")
def test_a_wrong_value_waits_until_the_result_is_read() -> None:
    made = mx.nd.random.poisson(-1, shape=(2,))
    with pytest.raises(mx.MXNetError):
        made.asnumpy()
