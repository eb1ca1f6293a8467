"""mx.test_utils: checks of symbols and optimizers pass what is right and fail what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import refimpl as mx
from refimpl import ndarray as nd
from refimpl import optimizer as opt
from refimpl import symbol as sym
from refimpl import test_utils as tu

X = np.array([[1.0, 2.0], [3.0, 4.0]])
Y = np.array([[2.0, 2.0], [1.0, 1.0]])
x, y = sym.Variable("x"), sym.Variable("y")
ONES = [np.ones((2, 2))]


@pytest.fixture(autouse=True)
def _seeded():
    np.random.seed(0)


def refused(kind: type, clause: str, call) -> str:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause
    return str(caught.value)


def product(**names) -> mx.Symbol:
    return sym.elemwise_mul(x, y, name="p")


# --- outputs and gradients ------------------------------------------------------------------------------


def test_symbolic_forward() -> None:
    (output,) = tu.check_symbolic_forward(product(), {"x": X, "y": Y}, {"p_output": X * Y})
    assert output.asnumpy().tolist() == [[2, 4], [3, 4]]
    tu.check_symbolic_forward(sym.Group([product(), x + y]), [X, Y], [X * Y])
    tu.check_symbolic_forward(product(), [nd.array(X), Y.astype(int)], X * Y)
    outputs = tu.check_symbolic_forward(product(), [X, Y], [X * Y], dtype="asnumpy")
    assert outputs[0].dtype is np.float64
    text = refused(
        AssertionError, "test_utils/almost-equal",
        lambda: tu.check_symbolic_forward(product(), [X, Y], [X * Y + 1]),
    )
    assert "(0, 0), EXPECTED_p_output=3.00000000, FORWARD_p_output=2.00000000" in text


@pytest.mark.parametrize("grad_req", ["write", "add", "null", ["add", "write"], {"x": "add", "y": "null"}])
def test_symbolic_backward(grad_req) -> None:
    tu.check_symbolic_backward(product(), [X, Y], ONES, [Y, X], grad_req=grad_req)
    if grad_req == "write":
        tu.check_symbolic_backward(product(), [X, Y], {"p_output": ONES[0]}, {"x": Y})
        found = tu.check_symbolic_backward(product(), [X, Y], ONES, {"y": X})
        assert list(found) == ["y"]
        assert found["y"].asnumpy().tolist() == X.tolist()
    if grad_req != "null":  # with null the array is to be left alone, whatever is expected
        wrong = {"x": Y + 1, "y": X}
        with pytest.raises(AssertionError, match=r"EXPECTED_x=3\.0+|mismatch"):
            tu.check_symbolic_backward(product(), [X, Y], ONES, wrong, grad_req=grad_req)


def test_symbolic_backward_of_a_loss() -> None:
    net = sym.SoftmaxOutput(x, sym.Variable("label"))
    expected = {"x": np.array([[-0.5, 0.5]])}
    tu.check_symbolic_backward(net, [np.zeros((1, 2)), np.zeros(1)], None, expected)


# MXNet 1.9.1: check_numeric_gradient(symbol, location, **options) passes, or fails
NUMERIC = [
    (x * y, [X, Y], {}, True), (x * y, {"x": X, "y": Y}, {}, True), (sym.square(x), [X], {}, True),
    (x * y, [X, Y], {"dtype": np.float64, "numeric_eps": 1e-3, "rtol": 1e-6, "atol": 1e-8}, True),
    (sym.BlockGrad(x) * y, [X, Y], {}, False),
    (sym.BlockGrad(x) * y, [X, Y], {"grad_nodes": ["y"]}, True),
    (sym.BlockGrad(x) * y, [X, Y], {"grad_nodes": {"x": "null", "y": "add"}}, True),
    (sym.BlockGrad(x) * y, [X, Y], {"grad_nodes": {"x": "add"}}, False),
    (sym.Dropout(x, p=0.5), [X], {}, False), (x + y, [X, Y], {"rtol": 0, "atol": 0}, False),
]


@pytest.mark.parametrize(("symbol", "location", "options", "passes"), NUMERIC)
def test_numeric_gradient(symbol, location, options, passes) -> None:
    if passes:
        tu.check_numeric_gradient(symbol, location, **options)
    else:
        with pytest.raises(AssertionError, match="NUMERICAL_x"):
            tu.check_numeric_gradient(symbol, location, **options)


def test_numeric_gradient_sees_one_wrong_element() -> None:
    # the slope of sign is missing where x crosses 0: one element of four
    values = np.array([[1.0, 1e-4], [3.0, 4.0]])
    with pytest.raises(AssertionError, match=r"mismatch 25.000000%"):
        tu.check_numeric_gradient(sym.sign(x) + x, [values])
    tu.check_numeric_gradient(sym.sign(x) + x, [X])


def test_numeric_gradient_with_states() -> None:
    net = sym.BatchNorm(x, fix_gamma=False, name="bn")
    location = [np.random.randn(4, 3), np.ones(3), np.zeros(3)]
    states = {"bn_moving_mean": np.zeros(3), "bn_moving_var": np.ones(3)}
    tu.check_numeric_gradient(net, location, states, rtol=1e-2, atol=1e-2)
    refused(ValueError, "test_utils/aux-states", lambda: tu.check_numeric_gradient(net, location, [np.zeros(3)]))
    refused(ValueError, "test_utils/aux-states", lambda: tu.check_symbolic_forward(net, location, []))


def test_numeric_grad() -> None:
    executor = (x * y).bind(mx.cpu(), {"x": nd.array(X), "y": nd.array(Y)})
    found = tu.numeric_grad(executor, {"x": np.float32(X), "y": np.float32(Y)}, eps=2**-7)
    assert found["x"].tolist() == Y.tolist()
    assert found["y"].tolist() == X.tolist()
    assert executor.arg_dict["x"].asnumpy().tolist() == X.tolist()
    whole = tu.numeric_grad(executor, {"x": np.array([[1, 2], [3, 4]])})
    assert whole["x"].tolist() == [[0, 0], [0, 0]]  # whole numbers have no slope


def test_simple_forward() -> None:
    assert tu.simple_forward(x + y, x=np.ones(2), y=np.array([1, 2])).tolist() == [2, 3]
    first, second = tu.simple_forward(sym.Group([x + y, x * y]), x=np.ones(2), y=np.ones(2))
    assert (first.tolist(), second.tolist()) == ([2, 2], [1, 1])
    assert tu.simple_forward(sym.Dropout(x, p=0.5), x=np.ones(64), is_train=True).min() == 0


LOCATIONS = [
    (ValueError, {"x": X}), (ValueError, {"x": X, "z": Y}), (ValueError, [X]), (ValueError, [X, Y, X]),
    (AssertionError, 5),
]


@pytest.mark.clause("test_utils/location")
@pytest.mark.parametrize(("kind", "location"), LOCATIONS)
def test_locations(kind, location) -> None:
    refused(kind, "test_utils/location", lambda: tu.check_symbolic_forward(x * y, location, []))
    refused(kind, "test_utils/location", lambda: tu.check_numeric_gradient(x * y, location))


TWO = (opt.SGD(), opt.SGD())
BAD_CHECKS = [
    (KeyError, "test_utils/expected", lambda: tu.check_symbolic_forward(product(), [X, Y], {"p": X})),
    (AssertionError, "test_utils/expected", lambda: tu.check_symbolic_forward(product(), [X, Y], [X * Y, X])),
    (KeyError, "test_utils/expected", lambda: tu.check_symbolic_backward(product(), [X, Y], ONES, {"q": Y})),
    (AssertionError, "test_utils/expected", lambda: tu.check_symbolic_backward(product(), [X, Y], ONES, [Y, X, X])),
    (KeyError, "test_utils/expected", lambda: tu.check_symbolic_backward(product(), [X, Y], {"p": X}, [Y])),
    (AssertionError, "test_utils/head-gradients", lambda: tu.check_symbolic_backward(product(), [X, Y], ONES[0], [Y])),
    (AssertionError, "test_utils/real-type", lambda: tu.check_symbolic_forward(x, [X], [X], dtype=np.int32)),
    (AssertionError, "test_utils/real-type", lambda: tu.check_symbolic_backward(x, [X], ONES, [X], dtype=np.int32)),
    (AssertionError, "test_utils/real-type", lambda: tu.check_numeric_gradient(x, [X], dtype=np.int32)),
    (AssertionError, "test_utils/real-type", lambda: tu.numeric_grad(None, {}, dtype=np.int32)),
    (ValueError, "test_utils/grad-nodes", lambda: tu.check_numeric_gradient(x * y, [X, Y], grad_nodes=5)),
    (KeyError, "test_utils/grad-nodes", lambda: tu.check_numeric_gradient(x * y, [X, Y], grad_nodes=["q"])),
    (mx.MXNetError, "test_utils/one-output", lambda: tu.check_numeric_gradient(sym.Group([x * y, x]), [X, Y])),
    (ValueError, "test_utils/speed", lambda: tu.check_speed(x, typ="half", x=(2,))),
    (AssertionError, "test_utils/speed", lambda: tu.check_speed(x, [1])),
    (AssertionError, "test_utils/optimizer", lambda: tu.compare_optimizer(*TWO, (3, 2), "float32", ntensors=3)),
    (ValueError, "test_utils/optimizer", lambda: tu.compare_optimizer(*TWO, (3, 2), "float32", "foo")),
    (mx.MXNetError, "test_utils/no-gluon", lambda: tu.check_gluon_hybridize_consistency(None, None)),
    (mx.MXNetError, "test_utils/numpy-symbol", lambda: tu.np_symbol(None)),
    (AssertionError, "test_utils/retry", lambda: tu.retry(0)),
    (TypeError, "test_utils/context", lambda: tu.set_default_context("cpu")),
    (AssertionError, "test_utils/environment", lambda: tu.environment("A").__enter__()),
    (AssertionError, "test_utils/exception", lambda: tu.assert_exception(int, ValueError, "1")),
]


@pytest.mark.parametrize(("kind", "clause", "call"), [
    pytest.param(*row, marks=pytest.mark.clause(row[1]), id=f"{row[1]}-{number}")
    for number, row in enumerate(BAD_CHECKS)
])
def test_refusals(kind, clause, call) -> None:
    refused(kind, clause, call)


# --- several places, several optimizers -------------------------------------------------------------------

FC = sym.FullyConnected(x, num_hidden=3, name="fc")
TWICE = sym.FullyConnected(2 * x, num_hidden=3, name="fc")
ENTRIES = [
    {"ctx": mx.cpu(i), "x": (2, 5), "type_dict": {"x": dtype}} for i, dtype in enumerate((np.float32, np.float64))
]


def test_consistency() -> None:
    truth = tu.check_consistency(FC, ENTRIES)
    assert truth["fc_output"].dtype is np.float64
    # the heads are the outputs, so the gradient of the bias is their sum over the batch
    np.testing.assert_allclose(truth["fc_bias"].asnumpy(), truth["fc_output"].asnumpy().sum(0), rtol=1e-12)
    assert set(tu.check_consistency(FC, ENTRIES, grad_req="null")) == {"fc_output"}
    requirements = {"x": "write", "fc_weight": "add", "fc_bias": "null"}
    assert tu.check_consistency(FC, ENTRIES, grad_req=requirements)["fc_bias"] is None
    ones = tu.check_consistency(FC, ENTRIES, arg_params=dict.fromkeys(("x", "fc_weight", "fc_bias"), 1))
    assert ones["fc_output"].asnumpy().tolist() == [[6] * 3] * 2
    tu.check_consistency(FC, ENTRIES, use_uniform=True, scale=3.0, rtol=1e-3, atol=1e-3)


def test_inconsistency(capsys) -> None:
    with pytest.raises(AssertionError, match="Items are not equal"):
        tu.check_consistency([FC, TWICE], ENTRIES)
    assert "Predict Err: ctx 0 vs ctx 1 at fc_output" in capsys.readouterr().out
    tu.check_consistency([FC, TWICE], ENTRIES, raise_on_err=False)
    report = capsys.readouterr().out
    assert "Predict Err: ctx 0 vs ctx 1 at fc_output" in report
    assert "Train Err: ctx 0 vs ctx 1 at x" in report
    with pytest.raises(AssertionError, match="Items are not equal"):
        tu.check_consistency(FC, ENTRIES, rtol=1e-20, atol=0)
    with pytest.raises(AssertionError, match="Items are not equal"):
        tu.check_consistency(FC, ENTRIES, ground_truth={"fc_output": nd.zeros((2, 3))})


@pytest.mark.clause("test_utils/consistency")
@pytest.mark.parametrize(("symbols", "entries"), [
    (FC, ENTRIES[:1]), ((FC, FC), ENTRIES), ([FC], ENTRIES), ([FC, x + FC], ENTRIES),
], ids=["one entry", "tuple", "too few symbols", "other names"])
def test_what_is_not_comparable(symbols, entries) -> None:
    refused(AssertionError, "test_utils/consistency", lambda: tu.check_consistency(symbols, entries))


@pytest.mark.clause("test_utils/speed")
def test_speed() -> None:
    location = {"x": np.ones((2, 5)), "fc_weight": np.ones((3, 5)), "fc_bias": np.ones(3)}
    times = [tu.check_speed(FC, N=1, x=(2, 5)), tu.check_speed(FC, location, N=1, typ="forward")]
    assert all(0 < seconds < 10 for seconds in times)


def test_compare_optimizer() -> None:
    shapes = [(3, 2), (2,)]
    tu.compare_optimizer(opt.SGD(momentum=0.9), opt.SGD(momentum=0.9), shapes, "float32", ntensors=2)
    half = opt.SGD(momentum=0.9, multi_precision=True)
    tu.compare_optimizer(half, half, (3, 2), "float16")
    tu.compare_optimizer(opt.SGD(), opt.SGD(momentum=0.9), (3, 2), "float32")  # the first step is the same
    for other in (opt.SGD(learning_rate=0.2), opt.SGD(wd=0.5)):
        with pytest.raises(AssertionError):
            tu.compare_optimizer(opt.SGD(), other, (3, 2), "float32")
    with pytest.raises(AssertionError):
        tu.compare_optimizer(opt.SGD(momentum=0.9), opt.SGD(momentum=0.9, wd=0.5), shapes, "float32", ntensors=2)
