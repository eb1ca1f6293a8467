"""PythonModule and PythonLossModule: parts of a chain that are plain Python."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import refimpl as mx

from .module_nets import DATA, LABEL, ROWS, batch

clause = pytest.mark.clause
Loss = mx.mod.PythonLossModule


class Twice(mx.mod.PythonModule):
    """Doubles its one input."""

    def __init__(self, **settings):
        super().__init__(["data"], None, ["twice_output"], **settings)

    def _compute_output_shapes(self):
        return [("twice_output", self._data_shapes[0].shape)]

    def forward(self, data_batch, is_train=None):
        del is_train
        self.given = data_batch.data[0]

    def get_outputs(self, merge_multi_context=True):
        del merge_multi_context
        return [self.given * 2]

    def backward(self, out_grads=None):
        self.gradients = [gradient * 2 for gradient in out_grads]

    def get_input_grads(self, merge_multi_context=True):
        del merge_multi_context
        return self.gradients


def softmax_gradient(scores, labels):
    """What SoftmaxOutput does, in NumPy."""
    exponents = np.exp(scores.asnumpy())
    chances = exponents / exponents.sum(axis=1, keepdims=True)
    return chances - np.eye(chances.shape[1])[labels.asnumpy().astype(int)]


def loss(**settings):
    module = Loss(grad_func=lambda scores, labels: scores - 1, **settings)
    module.bind(DATA, LABEL)
    return module


def linear(units=3, contexts=1):
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=units, name="fc")
    return mx.mod.Module(net, label_names=None, context=[mx.cpu(i) for i in range(contexts)])


def flags(module):
    names = ("binded", "for_training", "inputs_need_grad", "params_initialized", "optimizer_initialized")
    return [getattr(module, name) for name in names]


# --- a loss in Python -----------------------------------------------------------------------------


@clause("PythonModule/loss")
@pytest.mark.parametrize("contexts", [1, 2])
def test_a_loss_in_python_trains_like_the_operator(contexts):
    chain = mx.mod.SequentialModule()
    chain.add(linear(contexts=contexts))
    chain.add(Loss(grad_func=softmax_gradient), take_labels=True, auto_wiring=True)
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    whole = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    for module in (chain, whole):
        module.bind(DATA, LABEL)
        module.init_params(mx.init.One())
        module.init_optimizer(optimizer_params={"learning_rate": 0.5, "momentum": 0.5})
        for step in range(3):
            module.forward_backward(batch(ROWS / 4, [0, 1, 2, step]))
            module.update()
    for name, value in whole.get_params()[0].items():
        np.testing.assert_allclose(chain.get_params()[0][name].asnumpy(), value.asnumpy(), rtol=1e-5, atol=1e-6)
    assert chain.output_shapes == [("pyloss_output", (4, 3))]
    assert chain.label_shapes == LABEL


@clause("PythonModule/loss")
def test_a_loss_hands_its_scores_on():
    module = loss(name="mine")
    given = batch(ROWS, np.zeros(4))
    module.forward(given)
    assert module.output_names == ["mine_output"]
    assert module.get_outputs()[0] is given.data[0]
    module.backward()
    assert module.get_input_grads()[0].asnumpy().tolist() == (ROWS - 1).tolist()


@clause("PythonModule/loss")
def test_a_gradient_may_be_anything_an_array_is_made_of():
    # MXNet 1.9.1: the same three
    for gradient, expected in (
        (np.ones((4, 2)), [[1, 1]] * 4), ([[1, 2]] * 4, [[1, 2]] * 4), (mx.nd.zeros((4, 2)), [[0, 0]] * 4),
    ):
        module = Loss(grad_func=lambda scores, labels, gradient=gradient: gradient)
        module.bind(DATA, LABEL)
        module.forward(batch(ROWS, np.zeros(4)))
        module.backward()
        assert module.get_input_grads()[0].asnumpy().tolist() == expected


@clause("PythonModule/loss")
def test_a_subclass_may_write_its_own_gradient():
    class Own(Loss):
        def _backward_impl(self):
            self._scores_grad = self._scores * 2 + self._labels.reshape((-1, 1))

    module = Own()
    module.bind(DATA, LABEL)
    module.forward(batch(ROWS, [1, 1, 1, 1]))
    module.backward()
    assert module.get_input_grads()[0].asnumpy().tolist() == (2 * ROWS + 1).tolist()


@clause("PythonModule/label")
def test_labels_are_only_needed_in_training():
    module = loss()
    module.forward(batch(ROWS), is_train=False)
    assert module.get_outputs()[0].shape == (4, 2)


@clause("PythonModule/metric")
def test_metrics_need_labels_that_were_described():
    metric = mx.metric.create("acc")
    module = loss()
    module.forward(batch(ROWS, np.ones(4)))
    module.update_metric(metric, [mx.nd.ones(4)])
    assert (metric.num_inst, metric.get()[1]) == (4, 1.0)
    module = Loss()
    module.bind(DATA)
    module.forward(batch(ROWS), is_train=False)
    module.update_metric(metric, [mx.nd.ones(4)])
    assert metric.num_inst == 4


# --- a step in Python -----------------------------------------------------------------------------


@clause("PythonModule/subclass")
def test_a_step_in_the_middle_of_a_chain():
    # MXNet 1.9.1: AttributeError, a subclass sees tuples there
    chain = mx.mod.SequentialModule()
    chain.add(linear(2)).add(Twice(), auto_wiring=True)
    last = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="last")
    chain.add(mx.mod.Module(last, label_names=None), auto_wiring=True)
    chain.bind(DATA, inputs_need_grad=True)
    chain.init_params(mx.init.One())
    for rows in (4, 2):
        chain.forward(batch(np.ones((rows, 2))))
        assert chain.get_outputs()[0].asnumpy().tolist() == [[8]] * rows
        assert chain._modules[1].output_shapes == [("twice_output", (rows, 2))]
        chain.backward([mx.nd.ones((rows, 1))])
        assert chain.get_input_grads()[0].asnumpy().tolist() == [[4, 4]] * rows


@clause("PythonModule/life-cycle")
def test_without_parameters_binding_initialises():
    # MXNet 1.9.1 never raises binded, so that score, predict and get_states always fail
    module = Twice()
    assert flags(module) == [False] * 5
    module.bind(DATA)
    assert flags(module) == [True, True, False, True, False]
    module.init_params()
    module.init_optimizer()
    module.update()
    assert flags(module) == [True, True, False, True, True]
    assert module.get_params() == ({}, {})
    assert module.get_states() == []
    module.install_monitor(mx.mon.Monitor(1))
    assert module.predict(mx.nd.ones((4, 2))).asnumpy().tolist() == [[2, 2]] * 4
    rows = mx.io.NDArrayIter(np.ones((8, 2)), np.zeros(8), 4)
    chances = Loss(grad_func=lambda scores, labels: scores)
    chances.fit(rows, num_epoch=1)
    assert chances.score(rows, "acc") == [("accuracy", 1.0)]


@clause("PythonModule/reshape")
def test_shapes_follow_the_batch():
    module = loss()
    module.forward(batch(np.ones((6, 2))), is_train=False)
    assert module.data_shapes == [("data", (6, 2))]
    assert module.label_shapes == [("softmax_label", (6,))]
    assert module.output_shapes == [("pyloss_output", (6, 2))]
    module.reshape([("data", (3, 5))], [("softmax_label", (3,))])
    assert module.output_shapes == [("pyloss_output", (3, 5))]


@clause("PythonModule/names")
def test_names_are_lists():
    module = mx.mod.PythonModule("data", None, ("a", "b"))
    assert (module.data_names, module.label_names, module.output_names) == (["data"], [], ["a", "b"])
    assert Loss().label_names == ["softmax_label"]


@clause("Module/bind-twice")
def test_binding_twice_only_warns(caplog):
    module = loss()
    with caplog.at_level(logging.WARNING):
        module.bind([("data", (9, 2))], LABEL)
    assert caplog.messages == ["the module is bound: bind changes nothing without force_rebind=True"]
    assert module.data_shapes == DATA
    module.bind([("data", (9, 2))], [("softmax_label", (9,))], force_rebind=True)
    assert module.data_shapes == [("data", (9, 2))]


@clause("Module/failed-bind")
def test_a_failed_bind_changes_nothing():
    class Strict(Twice):
        def _compute_output_shapes(self):
            if self._data_shapes[0].shape[0] == 5:
                raise RuntimeError("five")
            return super()._compute_output_shapes()

    module = Strict()
    for shapes in ([("x", (4, 2))], [("data", (5, 2))]):
        with pytest.raises((AssertionError, RuntimeError)):
            module.bind(shapes)
        assert not module.binded
    module.bind(DATA)
    for call in (module.reshape, lambda shapes: module.bind(shapes, force_rebind=True, for_training=False)):
        with pytest.raises(RuntimeError, match="five"):
            call([("data", (5, 2))])
        assert module.data_shapes == DATA
        assert module.for_training


# --- refusals -------------------------------------------------------------------------------------


def forwarded(**settings):
    module = Loss(**settings)
    module.bind(DATA, LABEL)
    module.forward(batch(ROWS, np.zeros(4)))
    return module


def bound(*shapes, **settings):
    Twice().bind(*shapes, **settings)


def case(name, mark, kind, call):
    return pytest.param(kind, call, id=name, marks=clause(mark))


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        case("two data", "PythonModule/one-input", AssertionError, lambda: Loss(data_names=("a", "b"))),
        case("two labels", "PythonModule/one-input", AssertionError, lambda: Loss(label_names=("a", "b"))),
        case("no label", "PythonModule/one-input", AssertionError, lambda: Loss(label_names=None)),
        case("function", "PythonModule/grad-func", AssertionError, lambda: Loss(grad_func=3)),
        case("no function", "PythonModule/grad-func", NotImplementedError, lambda: forwarded().backward()),
        case("add", "PythonModule/write", AssertionError, lambda: bound(DATA, grad_req="add")),
        case(
            "inference", "Module/input-gradients-train", AssertionError,
            lambda: bound(DATA, for_training=False, inputs_need_grad=True),
        ),
        case("data name", "PythonModule/names", AssertionError, lambda: bound([("x", (4, 2))])),
        case("labels", "PythonModule/names", AssertionError, lambda: bound(DATA, LABEL)),
        case("label name", "PythonModule/names", AssertionError, lambda: Loss().bind(DATA, [("y", (4,))])),
        case("no labels", "PythonModule/names", AssertionError, lambda: Loss().bind(DATA, [])),
        case("label", "PythonModule/label", TypeError, lambda: loss().forward(batch(ROWS))),
        case("heads", "PythonModule/no-heads", AssertionError, lambda: forwarded().backward([mx.nd.ones((4, 2))])),
        case("outputs", "PythonModule/merged", AssertionError, lambda: forwarded().get_outputs(False)),
        case("gradients", "PythonModule/merged", AssertionError, lambda: forwarded().get_input_grads(False)),
        case(
            "slices", "PythonModule/pre-sliced", RuntimeError,
            lambda: forwarded().update_metric(mx.metric.create("acc"), [[mx.nd.ones(4)]], pre_sliced=True),
        ),
        case("unbound", "Module/needs-bind", AssertionError, lambda: Loss().forward(batch(ROWS))),
        case("unbound gradients", "Module/needs-bind", AssertionError, lambda: Loss().get_input_grads()),
    ],
)
def test_refusal(kind, call, request):
    (named,) = request.node.get_closest_marker("clause").args
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == named


def test_a_python_module_says_what_a_subclass_must_write():
    module = mx.mod.PythonModule(["data"], None, ["out"])
    for call in (
        lambda: module.bind(DATA), lambda: module.forward(None), module.backward, module.get_outputs,
        module.get_input_grads,
    ):
        with pytest.raises(NotImplementedError):
            call()
    assert not module.binded
