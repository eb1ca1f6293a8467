"""SequentialModule: modules in a chain."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import refimpl as mx

from .module_nets import DATA, LABEL, ROWS, batch

clause = pytest.mark.clause
Chain = mx.mod.SequentialModule


def layer(units, name, loss=False, contexts=1):
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=units, name=name)
    if loss:
        net = mx.sym.SoftmaxOutput(net, name="softmax")
    labels = ("softmax_label",) if loss else None
    return mx.mod.Module(net, label_names=labels, context=[mx.cpu(i) for i in range(contexts)])


def two(contexts=1):
    """fc1 of four units into fc2, a classifier of three."""
    chain = Chain()
    chain.add(layer(4, "fc1", contexts=contexts))
    return chain.add(layer(3, "fc2", loss=True, contexts=contexts), take_labels=True, auto_wiring=True)


def ready(contexts=1, **settings):
    chain = two(contexts)
    chain.bind(DATA, LABEL, **settings)
    chain.init_params(mx.init.Xavier())
    return chain


def as_one():
    """The same two layers in one symbol."""
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, name="fc1")
    net = mx.sym.FullyConnected(net, num_hidden=3, name="fc2")
    return mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))


def values(module):
    return {name: value.asnumpy() for name, value in module.get_params()[0].items()}


def flags(module):
    names = ("binded", "for_training", "inputs_need_grad", "params_initialized", "optimizer_initialized")
    return [getattr(module, name) for name in names]


# --- computation ----------------------------------------------------------------------------------


@clause("Sequential/chain")
@pytest.mark.parametrize("contexts", [1, 2])
def test_a_chain_is_its_symbols_in_one(contexts):
    mx.random.seed(0)  # the same first weights whatever ran before
    chain, whole = ready(contexts, inputs_need_grad=True), as_one()
    whole.bind(DATA, LABEL, inputs_need_grad=True)
    whole.init_params(arg_params=chain.get_params()[0], aux_params={})
    for module in (chain, whole):
        module.init_optimizer(optimizer_params={"learning_rate": 0.5, "momentum": 0.5})
        for step in range(3):
            module.forward_backward(batch(ROWS - step, [0, 1, 2, step]))
            module.update()
    np.testing.assert_allclose(
        chain.get_outputs()[0].asnumpy(), whole.get_outputs()[0].asnumpy(), rtol=1e-5
    )
    np.testing.assert_allclose(
        chain.get_input_grads()[0].asnumpy(), whole.get_input_grads()[0].asnumpy(), rtol=1e-4, atol=1e-6
    )
    for name, value in values(whole).items():
        np.testing.assert_allclose(values(chain)[name], value, rtol=1e-5, atol=1e-6)


@clause("Sequential/chain")
def test_head_gradients_enter_at_the_end():
    chain = Chain()
    for name in ("a", "b"):
        chain.add(layer(2, name), auto_wiring=True)
    chain.bind(DATA, inputs_need_grad=True)
    chain.init_params(mx.init.One())
    chain.forward(batch(np.ones((4, 2))))
    assert chain.get_outputs()[0].asnumpy().tolist() == [[4, 4]] * 4
    assert chain.get_outputs(merge_multi_context=False)[0][0].shape == (4, 2)
    chain.backward([mx.nd.ones((4, 2))])
    assert chain.get_input_grads()[0].asnumpy().tolist() == [[4, 4]] * 4


@clause("Sequential/names")
def test_names_and_shapes_are_those_of_both_ends():
    chain = Chain()
    assert (chain.data_names, chain.output_names) == ([], [])
    chain = ready()
    assert (chain.data_names, chain.output_names) == (["data"], ["softmax_output"])
    assert chain.data_shapes == DATA
    assert chain.label_shapes == LABEL
    assert chain.output_shapes == [("softmax_output", (4, 3))]
    assert chain.symbol is None


@clause("Sequential/auto-wiring")
def test_auto_wiring_takes_outputs_in_their_order():
    data = mx.sym.Variable("data")
    first = mx.sym.Group([data * 2, data * 3])
    second = mx.sym.Variable("p") - mx.sym.Variable("q")
    chain = Chain()
    chain.add(mx.mod.Module(first, label_names=None))
    chain.add(mx.mod.Module(second, data_names=("p", "q"), label_names=None), auto_wiring=True)
    chain.bind(DATA, inputs_need_grad=True)
    chain.init_params()
    chain.forward(batch(np.ones((4, 2))))
    assert chain.get_outputs()[0].asnumpy().tolist() == [[-1, -1]] * 4
    chain.backward([mx.nd.ones((4, 2))])
    assert chain.get_input_grads()[0].asnumpy().tolist() == [[-1, -1]] * 4


@clause("Sequential/auto-wiring")
def test_without_auto_wiring_the_names_are_the_same():
    second = mx.sym.FullyConnected(mx.sym.Variable("fc1_output"), num_hidden=3, name="fc2")
    chain = Chain()
    chain.add(layer(4, "fc1"))
    chain.add(mx.mod.Module(second, data_names=("fc1_output",), label_names=None))
    chain.bind(DATA)
    assert chain.output_shapes == [("fc2_output", (4, 3))]


@clause("Sequential/take-labels")
def test_labels_go_to_those_who_take_them():
    chain = ready()
    chain.forward(batch(ROWS, [0, 1, 2, 0]))
    held = chain._modules[1]._exec_group.execs[0].arg_dict["softmax_label"]
    assert held.asnumpy().tolist() == [0, 1, 2, 0]
    metric = mx.metric.create("acc")
    chain.update_metric(metric, batch(ROWS, [0, 1, 2, 0]).label)
    assert metric.num_inst == 4
    deaf = Chain()
    deaf.add(layer(3, "fc", loss=True))
    with pytest.warns(UserWarning, match="label_shapes"):
        deaf.bind(DATA, LABEL)
    assert deaf.label_shapes is None


@clause("Sequential/reshape")
@pytest.mark.parametrize("contexts", [1, 2])
def test_a_batch_of_another_size_goes_through_the_chain(contexts):
    # MXNet 1.9.1 fails in the second module: TypeError
    chain = ready(contexts)
    for rows in (2, 6, 4):
        chain.forward_backward(batch(np.ones((rows, 2)), np.zeros(rows)))
        assert chain.get_outputs()[0].shape == (rows, 3)
        assert chain.data_shapes == [("data", (rows, 2))]
        assert chain.label_shapes == [("softmax_label", (rows,))]
        assert chain.output_shapes == [("softmax_output", (rows, 3))]


@clause("Sequential/chain")
def test_chains_in_a_chain():
    inner = Chain()
    for name in ("fc1", "fc1b"):
        inner.add(layer(4, name), auto_wiring=True)
    chain = Chain()
    chain.add(inner)
    chain.add(layer(3, "fc2", loss=True), take_labels=True, auto_wiring=True)
    data = mx.io.NDArrayIter(np.ones((10, 2)), np.zeros(10), 4)
    chain.fit(data, num_epoch=2, initializer=mx.init.Xavier(), optimizer_params={"learning_rate": 0.5})
    assert sorted({name.split("_")[0] for name in values(chain)}) == ["fc1", "fc1b", "fc2"]
    assert chain.predict(data).shape == (10, 3)
    assert chain.score(data, "acc") == [("accuracy", 1.0)]


# --- the life cycle -------------------------------------------------------------------------------


@clause("Sequential/add")
def test_adding_asks_for_binding_again():
    chain = ready()
    chain.init_optimizer()
    before = values(chain)
    last = mx.sym.identity(mx.sym.Variable("data"), name="same")
    assert chain.add(mx.mod.Module(last, label_names=None), auto_wiring=True) is chain
    assert flags(chain) == [False] * 5
    chain.bind([("data", (6, 2))], [("softmax_label", (6,))])
    with pytest.warns(UserWarning, match="Parameters already initialized"):
        chain.init_params(mx.init.Xavier())
    assert chain.output_shapes == [("same_output", (6, 3))]
    for name, value in before.items():
        assert np.array_equal(values(chain)[name], value)


@clause("Sequential/bind")
@pytest.mark.parametrize(("train", "inputs"), [(True, False), (True, True), (False, False)])
def test_binding_asks_inner_modules_for_input_gradients(train, inputs):
    chain = ready(for_training=train, inputs_need_grad=inputs)
    assert flags(chain)[:4] == [True, train, inputs, True]
    assert [module.inputs_need_grad for module in chain._modules] == [inputs, train]


@clause("Sequential/bind")
def test_rebinding_keeps_parameters_and_optimizer():
    chain = ready()
    chain.init_optimizer(optimizer_params={"learning_rate": 1.0})
    chain.forward_backward(batch(ROWS, np.zeros(4)))
    chain.update()
    before = values(chain)
    chain.bind([("data", (6, 2))], [("softmax_label", (6,))], force_rebind=True)
    assert chain.optimizer_initialized
    for name, value in before.items():
        assert np.array_equal(values(chain)[name], value)


@clause("Module/bind-twice", "Module/optimizer-twice")
def test_doing_it_twice_only_warns(caplog):
    chain = ready()
    chain.init_optimizer()
    with caplog.at_level(logging.WARNING):
        chain.bind([("data", (9, 2))])
        chain.init_optimizer()
    chain.init_params(mx.init.Zero())
    assert values(chain)["fc1_weight"].any()
    assert caplog.messages == [
        "the module is bound: bind changes nothing without force_rebind=True",
        "the module has an optimizer: init_optimizer changes nothing without force_init=True",
    ]


@clause("Sequential/params")
def test_each_module_finds_its_own_parameters(tmp_path):
    chain = ready()
    given = {**chain.get_params()[0], "zz": mx.nd.ones(1)}
    other = two()
    other.bind(DATA, LABEL)
    other.set_params(given, {})
    for name, value in values(chain).items():
        assert np.array_equal(values(other)[name], value)
    other.set_params({"fc1_weight": mx.nd.zeros((4, 2))}, {}, allow_missing=True)
    assert not values(other)["fc1_weight"].any()
    assert values(other)["fc2_weight"].any()
    chain.save_params(str(tmp_path / "p"))
    other.load_params(str(tmp_path / "p"))
    assert np.array_equal(values(other)["fc1_weight"], values(chain)["fc1_weight"])


@clause("Sequential/params")
def test_one_optimizer_object_serves_all():
    chain = ready()
    optimizer = mx.optimizer.SGD(learning_rate=0.5, rescale_grad=0.25)
    chain.init_optimizer(optimizer=optimizer)
    assert [module._optimizer is optimizer for module in chain._modules] == [True, True]


# --- failures -------------------------------------------------------------------------------------


@clause("Sequential/failures")
def test_a_failed_bind_changes_nothing():
    # MXNet 1.9.1 leaves the chain bound
    chain, first = Chain(), layer(4, "fc1")
    chain.add(first)
    chain.add(layer(3, "fc2", loss=True), take_labels=True)
    with pytest.raises(ValueError, match=r"^Data provided by "):
        chain.bind(DATA, LABEL)
    assert not chain.binded
    assert not first.binded
    chain = ready()
    chain.forward(batch(ROWS, np.zeros(4)))
    before = chain.get_outputs()[0].asnumpy()
    with pytest.warns(UserWarning, match="label_shapes"), pytest.raises(KeyError):
        chain.bind(DATA, [("x", (4,))], force_rebind=True, for_training=False)
    assert flags(chain)[:4] == [True, True, False, True]
    assert chain._modules[0].for_training
    chain.forward(batch(ROWS, np.zeros(4)))
    assert np.array_equal(chain.get_outputs()[0].asnumpy(), before)


@clause("Sequential/failures")
def test_a_failed_forward_changes_no_shape():
    chain = ready()
    monitor = mx.mon.Monitor(1)
    chain.install_monitor(monitor)
    watched = list(monitor.exes)
    with pytest.raises((mx.MXNetError, AssertionError)):
        chain.forward(batch(np.ones((6, 2)), np.zeros(5)))
    assert chain.data_shapes == DATA
    assert [module.data_shapes[0].shape for module in chain._modules] == [(4, 2), (4, 4)]
    assert chain._modules[0]._exec_group.batch_size == 4
    assert monitor.exes == watched
    chain.forward(batch(ROWS, np.zeros(4)))


@clause("Sequential/failures")
def test_failed_values_change_none():
    # MXNet 1.9.1 has set the first module by then
    chain = ready()
    before = values(chain)
    with pytest.raises(RuntimeError, match="fc2_bias is missing"):
        chain.set_params({name: mx.nd.zeros(v.shape) for name, v in before.items() if name != "fc2_bias"}, {})
    for name, value in before.items():
        assert np.array_equal(values(chain)[name], value)
    fresh = two()
    fresh.bind(DATA, LABEL)
    with pytest.raises(RuntimeError, match="fc2"):
        fresh.init_params(arg_params={"fc1_weight": mx.nd.ones((4, 2)), "fc1_bias": mx.nd.ones((4,))})
    assert [module.params_initialized for module in (fresh, *fresh._modules)] == [False] * 3


@clause("Sequential/meta")
def test_a_refused_module_is_not_added():
    chain = two()
    with pytest.raises(AssertionError):
        chain.add(layer(3, "x"), takes_labels=True)
    assert len(chain._modules) == 2


def bound(**settings):
    chain = two()
    chain.bind(DATA, LABEL, **settings)


def duplicates(name="fc"):
    chain = Chain()
    for _ in range(2):
        chain.add(layer(2, name), auto_wiring=True)
    chain.bind(DATA)
    chain.init_params()


def wired():
    data = mx.sym.Variable("data")
    chain = Chain()
    chain.add(mx.mod.Module(mx.sym.Group([data * 2, data * 3]), label_names=None))
    chain.add(layer(2, "fc"), auto_wiring=True)
    chain.bind(DATA)


def case(name, mark, kind, call):
    return pytest.param(kind, call, id=name, marks=clause(mark))


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        case("meta", "Sequential/meta", AssertionError, lambda: Chain().add(layer(3, "x"), foo=1)),
        case("kind", "Sequential/kind", TypeError, lambda: Chain().add(3)),
        case("empty", "Sequential/empty", AssertionError, lambda: Chain().bind(DATA)),
        case("shared", "Sequential/shared", AssertionError, lambda: bound(shared_module=ready())),
        case(
            "inference", "Module/input-gradients-train", AssertionError,
            lambda: bound(for_training=False, inputs_need_grad=True),
        ),
        case("wiring", "Sequential/wiring", AssertionError, wired),
        case("duplicates", "Sequential/unique-names", AssertionError, duplicates),
        case("list", "Sequential/one-batch", TypeError, lambda: ready().forward([batch(ROWS, np.zeros(4))])),
        case("states", "Module/no-states", AssertionError, lambda: ready().set_states(value=1)),
    ],
)
def test_refusal(kind, call, request):
    (named,) = request.node.get_closest_marker("clause").args
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == named


@clause("Sequential/unique-names")
def test_duplicates_are_named():
    with pytest.raises(
        AssertionError,
        match=r'Duplicated parameter names: name "fc_weight" in layer 1 \(Module\) is already used in layer 0',
    ):
        duplicates()


# MXNet 1.9.1: AssertionError
@clause("Module/optimizer-kind")
def test_the_class_of_an_optimizer_is_refused():
    chain = ready()
    with pytest.raises(AssertionError, match="the class SGD; call it") as caught:
        chain.init_optimizer(optimizer=mx.optimizer.SGD)
    assert caught.value.clause == "Module/optimizer-kind"
    assert not chain.optimizer_initialized
