"""mx.test_utils: checks of symbols and optimizers pass what is right and fail what is wrong."""

from __future__ import annotations

import json
from contextlib import nullcontext

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
    assert "(0, 0): EXPECTED_p_output=3.00000000, FORWARD_p_output=2.00000000" in text


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
        with pytest.raises(AssertionError, match=r"EXPECTED_x=3\.0+|of the elements"):
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


# MXNet 1.9.1, with Symbol.bind and Executor.forward replaced by functions that print what they see:
# np.random.seed(3); test_utils.check_numeric_gradient(x * y, [X, Y], grad_nodes=["x"])
@pytest.mark.clause("test_utils/numeric-gradient")
def test_the_loss_of_a_numeric_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    bound, bind = [], sym.Symbol.bind

    def spy(symbol: sym.Symbol, *args, **kwargs) -> mx.Executor:
        bound.append(symbol)
        executor = bind(symbol, *args, **kwargs)
        bound.append(executor.forward(is_train=True)[0].asnumpy())
        return executor

    monkeypatch.setattr(sym.Symbol, "bind", spy)
    np.random.seed(3)
    tu.check_numeric_gradient(x * y, [X, Y], grad_nodes=["x"])
    loss, value = bound
    assert loss.list_arguments() == ["x", "y", "__random_proj"]
    operators = [node["op"] for node in json.loads(loss.tojson())["nodes"] if node["op"] != "null"]
    assert operators == ["elemwise_mul", "elemwise_mul", "make_loss"]
    assert value.tolist() == np.float32([[1.3015958, 3.2325914], [1.1727142, 2.4433105]]).tolist()


# MXNet 1.9.1: passes for these three seeds. A sum of 72 elements, of which 71 do not change, rounds the difference away
@pytest.mark.clause("test_utils/numeric-gradient")
@pytest.mark.parametrize("seed", range(3))
def test_a_correct_gradient_of_many_elements_passes(seed: int) -> None:
    np.random.seed(seed)
    tu.check_numeric_gradient(sym.exp(x), [np.random.rand(8, 9) * 3])


def test_numeric_gradient_sees_one_wrong_element() -> None:
    # the slope of sign is missing where x crosses 0: one element of four
    values = np.array([[1.0, 1e-4], [3.0, 4.0]])
    with pytest.raises(AssertionError, match=r"in 25.000000% of the elements"):
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
    with pytest.raises(AssertionError, match="differ by"):
        tu.check_consistency([FC, TWICE], ENTRIES)
    assert "Predict: entries 0 and 1 of ctx_list differ in fc_output" in capsys.readouterr().out
    tu.check_consistency([FC, TWICE], ENTRIES, raise_on_err=False)
    report = capsys.readouterr().out
    assert "Predict: entries 0 and 1 of ctx_list differ in fc_output" in report
    assert "Train: entries 0 and 1 of ctx_list differ in x" in report
    with pytest.raises(AssertionError, match="differ by"):
        tu.check_consistency(FC, ENTRIES, rtol=1e-20, atol=0)
    with pytest.raises(AssertionError, match="differ by"):
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


class Recorded(opt.Optimizer):
    """Writes down what it is called with, and whether arrays are dense; the state goes from ``start`` to ``end``."""

    def __init__(self, name: str, calls: list, start: float = 0, end: float = 0) -> None:
        super().__init__()
        self.name, self.calls, self.start, self.end = name, calls, start, end

    def create_state_multi_precision(self, index, weight):
        self.calls.append((self.name, "state", index, weight.stype))
        return mx.nd.full(weight.shape, self.start)

    def update_multi_precision(self, index, weight, grad, state) -> None:
        many = isinstance(index, list)
        weights, grads, states = (weight, grad, state) if many else ([weight], [grad], [state])
        self.calls.append((self.name, "step", index, [w.stype for w in weights], [g.stype for g in grads]))
        self.calls[-1] += ([type(part) for part in (weight, grad, state)],) if many else ()
        self.seen = [(w.asnumpy(), g.asnumpy()) for w, g in zip(weights, grads, strict=True)]
        for each in states:
            each[:] = self.end


# MXNet 1.9.1: what a subclass of Optimizer printed that test_utils.compare_optimizer(Spy("1"), Spy("2"), (3, 2),
# "float32", w_stype, g_stype) called
@pytest.mark.clause("test_utils/optimizer")
@pytest.mark.parametrize(("w_stype", "g_stype"), [
    ("default", "default"), ("row_sparse", "row_sparse"), ("default", "row_sparse"), ("csr", "csr"),
])
def test_the_first_optimizer_steps_on_dense_copies(w_stype: str, g_stype: str) -> None:
    calls: list = []
    tu.compare_optimizer(Recorded("1", calls), Recorded("2", calls), (3, 2), "float32", w_stype, g_stype)
    assert calls == [
        ("1", "state", 0, "default"), ("2", "state", 0, w_stype),
        ("1", "step", 0, ["default"], ["default"]), ("2", "step", 0, [w_stype], [g_stype]),
    ]


# MXNet 1.9.1: the same with [(3, 2), (4,)], "float32", ntensors=2; storage types do not count then
@pytest.mark.clause("test_utils/optimizer-lists")
@pytest.mark.parametrize("g_stype", ["default", "row_sparse"])
def test_the_second_optimizer_gets_lists(g_stype: str) -> None:
    calls: list = []
    one, two = Recorded("1", calls), Recorded("2", calls)
    tu.compare_optimizer(one, two, [(3, 2), (4,)], "float32", g_stype=g_stype, ntensors=2)
    dense = ["default"]
    assert calls == [
        ("2", "state", 0, "default"), ("2", "state", 1, "default"),
        ("2", "step", [0, 1], dense * 2, dense * 2, [tuple, tuple, list]),
        ("1", "state", 0, "default"), ("1", "step", 0, dense, dense),
        ("1", "state", 1, "default"), ("1", "step", 1, dense, dense),
    ]
    calls.clear()
    tu.compare_optimizer(one, two, [(3, 2)], "float32")  # a list of one
    assert calls[1] == ("2", "step", [0], dense, dense, [tuple, tuple, list])


# MXNet 1.9.1: mx.random.seed(7) before, and the arrays that the first optimizer got
@pytest.mark.clause("test_utils/optimizer")
def test_optimizers_are_compared_on_uniform_numbers() -> None:
    spy = Recorded("1", [])
    mx.random.seed(7)
    tu.compare_optimizer(spy, spy, (2, 2), "float32")
    (weight, gradient), = spy.seen
    assert weight.tolist() == np.float32([[0.42855945, 0.91751623], [0.80797774, 0.9977072]]).tolist()
    assert gradient.tolist() == np.float32([[0.7495962, 0.2933874], [0.40527683, 0.12915142]]).tolist()
    mx.random.seed(7)
    tu.compare_optimizer(spy, Recorded("2", []), [(2,), (2, 2)], "float32", ntensors=2)
    (weight, gradient), = spy.seen  # of the second weight
    assert weight.tolist() == np.float32([[0.7495962, 0.2933874], [0.40527683, 0.12915142]]).tolist()
    assert gradient.tolist() == np.float32([[0.2747346, 0.6085643], [0.40024164, 0.9340171]]).tolist()


# MXNet 1.9.1: of 20 row_sparse gradients with 200 rows, 0.64, 0.28, 0.32, 0.51, ... of the rows were stored, of
# csr ones 0.36, 0.68, 0.89, 0.5, ... of the elements; of weights all
@pytest.mark.clause("test_utils/optimizer")
@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_sparse_gradients_have_a_random_density(stype: str) -> None:
    np.random.seed(0)
    spy, shares = Recorded("2", []), []
    for _ in range(20):
        tu.compare_optimizer(Recorded("1", []), spy, (200, 2), "float32", stype, stype)
        (weight, gradient), = spy.seen
        assert (weight > 0).all()
        assert weight.max() < 1
        shares.append((gradient != 0).mean())
    assert max(shares) - min(shares) > 0.6


# MXNet 1.9.1: compare_optimizer(Spy(start, end), Spy(start, end), ...) passes, or fails
@pytest.mark.clause("test_utils/optimizer", "test_utils/optimizer-lists")
@pytest.mark.parametrize(("one", "two", "options", "single", "many"), [
    ((0, 1), (0, 1), {}, True, True), ((0, 1), (5, 1), {}, False, True), ((0, 1), (0, 2), {}, False, False),
    ((0, 1), (5, 2), {"compare_states": False}, True, True),
])
def test_which_states_are_compared(one, two, options, single, many) -> None:
    for shape, passes in (((2, 2), single), ([(2, 2), (3,)], many)):
        count = len(shape) if isinstance(shape, list) else 1
        pair = Recorded("1", [], *one), Recorded("2", [], *two)
        with nullcontext() if passes else pytest.raises(AssertionError):
            tu.compare_optimizer(*pair, shape, "float32", ntensors=count, **options)


def test_compare_optimizer() -> None:
    shapes = [(3, 2), (2,)]
    for name in ("sgd", "nag", "adam", "lamb"):
        tu.compare_optimizer(opt.create(name), opt.create(name), shapes, "float32", ntensors=2)
    tu.compare_optimizer(opt.SGD(momentum=0.9), opt.SGD(momentum=0.9), shapes, "float32", ntensors=2)
    half = opt.SGD(momentum=0.9, multi_precision=True)
    tu.compare_optimizer(half, half, (3, 2), "float16")
    tu.compare_optimizer(opt.SGD(), opt.SGD(momentum=0.9), (3, 2), "float32")  # the first step is the same
    for other in (opt.SGD(learning_rate=0.2), opt.SGD(wd=0.5)):
        with pytest.raises(AssertionError):
            tu.compare_optimizer(opt.SGD(), other, (3, 2), "float32")
    with pytest.raises(AssertionError):
        tu.compare_optimizer(opt.SGD(momentum=0.9), opt.SGD(momentum=0.9, wd=0.5), shapes, "float32", ntensors=2)
