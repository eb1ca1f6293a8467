"""Every refusal of Module and its executor group, with the type that MXNet 1.9.1 raises and its clause."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import refimpl as mx
from refimpl.module.bind_options import group_contexts

from .module_nets import DATA, LABEL, batch, network, ready

BIAS, WEIGHT = mx.nd.ones((3,)), mx.nd.ones((3, 2))


def bind(**settings):
    module = mx.mod.Module(network())
    module.bind(**{"data_shapes": DATA, "label_shapes": LABEL, **settings})


def duplicated():
    data = mx.sym.Variable("data")
    one = mx.sym.FullyConnected(data, weight=mx.sym.Variable("w"), num_hidden=2, name="one")
    two = mx.sym.FullyConnected(one, weight=mx.sym.Variable("w"), num_hidden=2, name="two")
    mx.mod.Module(two, label_names=None).bind(DATA)


def inference():
    module = mx.mod.Module(network())
    module.bind(DATA, LABEL, for_training=False)
    module.init_params()
    module.init_optimizer()
    return module


def untyped():
    """The type of ``index`` follows from nothing that is described."""
    table = mx.sym.Embedding(
        mx.sym.Variable("index", shape=(4,)), input_dim=3, output_dim=2, name="table"
    )
    mx.mod.Module(table + mx.sym.Variable("data"), label_names=None).bind(DATA)


def write(path, entries):
    mx.nd.save(str(path), entries)
    return str(path)


clause = pytest.mark.clause


def case(name, mark, kind, call):
    return pytest.param(kind, call, id=name, marks=mark)


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        # the constructor
        case(
            "data name",
            clause("Module/input-names"),
            ValueError,
            lambda: mx.mod.Module(network(), data_names=["x"]),
        ),
        case(
            "fixed name",
            clause("Module/input-names"),
            ValueError,
            lambda: mx.mod.Module(network(), fixed_param_names=["x"]),
        ),
        case(
            "state name",
            clause("Module/input-names"),
            ValueError,
            lambda: mx.mod.Module(network(), state_names=["x"]),
        ),
        case(
            "work load",
            clause("Module/work-load"),
            AssertionError,
            lambda: mx.mod.Module(network(), context=[mx.cpu(0)], work_load_list=[1, 2]),
        ),
        case(
            "context",
            clause("Module/contexts"),
            TypeError,
            lambda: mx.mod.Module(network(), context="cpu"),
        ),
        case(
            "no context",
            clause("Module/contexts"),
            TypeError,
            lambda: mx.mod.Module(network(), context=[]),
        ),
        # bind
        case(
            "data shapes",
            clause("Module/data-names"),
            ValueError,
            lambda: bind(data_shapes=[("x", (4, 2))]),
        ),
        case(
            "label shapes",
            clause("ExecutorGroup/label-name"),
            KeyError,
            lambda: bind(label_shapes=[("lab", (4,))]),
        ),
        case(
            "batch sizes",
            clause("ExecutorGroup/one-batch-size"),
            AssertionError,
            lambda: bind(label_shapes=[("softmax_label", (5,))]),
        ),
        case(
            "too many contexts",
            clause("split/empty"),
            ValueError,
            lambda: mx.mod.Module(network(), context=[mx.cpu(i) for i in range(5)]).bind(
                DATA, LABEL
            ),
        ),
        case(
            "input gradients",
            clause("Module/input-gradients-train"),
            AssertionError,
            lambda: bind(for_training=False, inputs_need_grad=True),
        ),
        case(
            "request list",
            clause("ExecutorGroup/grad-req-length"),
            AssertionError,
            lambda: bind(grad_req=["write"]),
        ),
        case(
            "request kind",
            clause("ExecutorGroup/grad-req-kind"),
            ValueError,
            lambda: bind(grad_req=3),
        ),
        case(
            "request",
            clause("ExecutorGroup/grad-req-value"),
            RuntimeError,
            lambda: bind(grad_req="foo"),
        ),
        case(
            "one request",
            clause("ExecutorGroup/grad-req-value"),
            RuntimeError,
            lambda: bind(grad_req={"fc_weight": "foo"}),
        ),
        case(
            "duplicate",
            clause("ExecutorGroup/unique-arguments"),
            ValueError,
            duplicated,
        ),
        case(
            "unknown shape",
            clause("ExecutorGroup/shapes-known"),
            mx.MXNetError,
            lambda: mx.mod.Module(
                mx.sym.dot(mx.sym.Variable("data"), mx.sym.Variable("w")), label_names=None
            ).bind(DATA),
        ),
        case("unknown type", clause("ExecutorGroup/types-known"), mx.MXNetError, untyped),
        case(
            "shared kind",
            clause("Module/shared-kind"),
            AssertionError,
            lambda: bind(shared_module=3),
        ),
        case(
            "shared unbound",
            clause("Module/needs-bind"),
            AssertionError,
            lambda: bind(shared_module=mx.mod.Module(network())),
        ),
        case(
            "shared contexts",
            clause("Module/shared-contexts"),
            AssertionError,
            lambda: mx.mod.Module(network(), context=[mx.cpu(0), mx.cpu(1)]).bind(
                DATA, LABEL, shared_module=ready()
            ),
        ),
        # parameters
        case(
            "missing",
            clause("Module/missing-parameter"),
            RuntimeError,
            lambda: ready().set_params({"fc_bias": BIAS}, {}),
        ),
        case(
            "no initializer",
            clause("Module/no-initializer"),
            TypeError,
            lambda: ready().init_params(initializer=None, force_init=True),
        ),
        case(
            "shape",
            clause("Module/parameter-shape"),
            mx.MXNetError,
            lambda: ready().set_params({"fc_bias": BIAS, "fc_weight": mx.nd.ones((3, 5))}, {}),
        ),
        case(
            "shape on devices",
            clause("Module/parameter-shape"),
            mx.MXNetError,
            lambda: ready().set_params({"fc_weight": mx.nd.ones((3, 5))}, {}, allow_missing=True),
        ),
        case(
            "extra",
            clause("Module/extra-name"),
            ValueError,
            lambda: ready().set_params({"zz": BIAS}, {}, allow_missing=True),
        ),
        # reshape
        case(
            "feature size",
            clause("ExecutorGroup/shared-shape"),
            mx.MXNetError,
            lambda: ready().reshape([("data", (4, 5))], LABEL),
        ),
        # computation
        case(
            "few arrays",
            clause("Module/batch-data"),
            ValueError,
            lambda: ready().forward(mx.io.DataBatch([], [])),
        ),
        case(
            "unequal list",
            clause("Module/batch-list"),
            AssertionError,
            lambda: ready(2).forward(
                [batch(np.ones((2, 2)), [0, 0]), batch(np.ones((3, 2)), [0, 0, 0])]
            ),
        ),
        case(
            "short list",
            clause("Module/batch-list"),
            AssertionError,
            lambda: ready(2).forward([batch(np.ones((2, 2)), [0, 0])]),
        ),
        case(
            "merged states",
            clause("Module/states-unmerged"),
            AssertionError,
            lambda: ready().get_states(),
        ),
        case(
            "states and value",
            clause("Module/states-or-value"),
            AssertionError,
            lambda: ready().set_states(states=[], value=1),
        ),
        case(
            "neither",
            clause("Module/states-or-value"),
            AssertionError,
            lambda: ready().set_states(),
        ),
        case(
            "predict",
            clause("Module/predict-input"),
            ValueError,
            lambda: ready().predict(3),
        ),
        # training
        case(
            "epochs",
            clause("Module/num-epoch"),
            AssertionError,
            lambda: ready().fit(mx.io.NDArrayIter(np.ones((4, 2)), None, 4)),
        ),
        case(
            "optimizer kind",
            clause("Module/optimizer-kind"),
            AssertionError,
            lambda: ready().init_optimizer(optimizer=3),
        ),
        case(
            "optimizer class",
            clause("Module/optimizer-kind"),
            AssertionError,
            lambda: ready().init_optimizer(optimizer=mx.optimizer.SGD),
        ),
        case(
            "backward for inference",
            clause("Module/needs-training"),
            AssertionError,
            lambda: inference().backward(),
        ),
        case(
            "update for inference",
            clause("Module/needs-training"),
            AssertionError,
            lambda: inference().update(),
        ),
        case(
            "group backward",
            clause("Module/needs-training"),
            AssertionError,
            lambda: inference()._exec_group.backward(None),
        ),
    ],
)
def test_refusal(kind, call, request):
    (named,) = request.node.get_closest_marker("clause").args
    with warnings.catch_warnings(), pytest.raises(kind) as caught:
        warnings.simplefilter("ignore")
        call()
    assert caught.value.clause == named
    assert named in str(caught.value)


def test_refusals_of_other_modules_pass_through():
    with pytest.raises(ValueError, match="no optimizer has the name nope"):
        ready().init_optimizer(optimizer="nope")
    with pytest.raises(TypeError):
        ready().init_optimizer(optimizer_params={"zz": 1})
    with pytest.raises(TypeError, match="kvstore is a store, the name of one or None"):
        ready().init_optimizer(kvstore=3)
    with pytest.raises(mx.MXNetError):
        ready().load_params("/nowhere/at/all.params")
    with pytest.raises(mx.MXNetError):
        ready().forward(batch(np.ones((4, 2)), np.zeros((3,))))


@pytest.mark.clause("Module/param-file")
def test_param_files_name_arg_or_aux(tmp_path):
    module = ready()
    for entries in ([BIAS], {"fc": BIAS}, {"x:fc": BIAS}):
        with pytest.raises(ValueError, match="named neither arg:NAME nor aux:NAME") as caught:
            module.load_params(write(tmp_path / "p", entries))
        assert caught.value.clause == "Module/param-file"


@pytest.mark.clause("Module/fit-exhausted")
def test_fitting_an_exhausted_iterator_is_refused():
    rows = mx.io.NDArrayIter(np.ones((4, 2)), np.zeros(4), 4)
    list(rows)
    with pytest.raises(StopIteration) as caught:
        mx.mod.Module(network()).fit(rows, num_epoch=1)
    assert caught.value.clause == "Module/fit-exhausted"


@pytest.mark.clause("Module/predict-merge")
def test_merging_batches_needs_equal_numbers_of_outputs(monkeypatch):
    module = ready()
    answers = iter([[mx.nd.ones((4, 1))], [mx.nd.ones((4, 1))] * 2])
    monkeypatch.setattr(module, "get_outputs", lambda: next(answers))
    with pytest.raises(AssertionError) as caught:
        module.predict(mx.io.NDArrayIter(np.ones((8, 2)), np.zeros(8), 4))
    assert caught.value.clause == "Module/predict-merge"


@pytest.mark.clause("Module/no-states")
def test_a_module_without_states_accepts_none():
    module = mx.mod.BaseModule()
    module.binded = module.params_initialized = True
    assert module.get_states() == []
    module.set_states()
    with pytest.raises(AssertionError) as caught:
        module.set_states(value=1)
    assert caught.value.clause == "Module/no-states"


@pytest.mark.clause("ExecutorGroup/group-contexts")
def test_group_contexts():
    a, b = mx.cpu(1), mx.cpu(2)
    assert group_contexts(None, 2) == [None, None]
    assert group_contexts({"x": a}, 2) == [{"x": a}, {"x": a}]
    assert group_contexts({"x": [a], "y": [a, b]}, 2) == [{"x": a, "y": a}, {"x": a, "y": b}]
    assert group_contexts([{"x": a}, {"x": b}], 2) == [{"x": a}, {"x": b}]
    for wrong in ((a,), 3, [{"x": a}], {"x": (a, b)}, {"x": [a, b, a]}):
        with pytest.raises(AssertionError) as caught:
            group_contexts(wrong, 2)
        assert caught.value.clause == "ExecutorGroup/group-contexts"
