"""A right answer passes, whatever the order of its sums; a damaged layer is named, and none that follows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.export.judging import Verdict, judge
from refimpl.kernels import distinct
from refimpl.kernels.foundation.loop import python_loops
from refimpl.symbol import Symbol
from refimpl.symbol.ir import Entry
from refimpl.symbol.prediction import Prediction, prediction

from .test_narrowing import drawn_layer

SINGLE = np.dtype(np.float32)
# "reset_arrays" has no output. The others read or write sparse arrays, or nothing that an element could be wrong in.
UNJUDGED = ("reset_arrays", "cast_storage")
OPERATORS = [
    op.name for op in distinct()
    if op.cases and op.tier in (1, 2) and not op.random and op.name not in UNJUDGED
    and not op.name.startswith("_backward")
]


def judged(name: str, seed: int, change: Callable[[np.ndarray], np.ndarray]) -> tuple[Verdict, bool]:
    """A layer alone, computed in single precision and changed; and whether the change did anything."""
    layer = drawn_layer(name, seed)
    node = layer.node
    net = Symbol([Entry(node, index) for index in range(node.visible_count())])
    given = dict(zip(net.list_inputs(), layer.arrays, strict=True))
    with python_loops(), np.errstate(all="ignore"):
        right = layer.run(kind=SINGLE)
        made = [change(value).astype(SINGLE) if value.dtype.kind == "f" else value for value in right]
        values = given | {node.entry_name(index): value for index, value in enumerate(made)}
        inputs = {each: (value.shape, value.dtype) for each, value in given.items()}
        (verdict,) = judge(Prediction(net, {}, inputs, net.list_outputs()), values, elements=50)
    return verdict, any(not np.array_equal(a, b, equal_nan=True) for a, b in zip(right, made, strict=True))


# Their bounds allow it: at the border of a region nothing is decided; or there is no number that could be wrong.
ROUGH = {"_contrib_ROIAlign", "_contrib_RROIAlign", "_contrib_allclose"}


@pytest.mark.clause("Export/bounds")
@pytest.mark.parametrize("name", OPERATORS)
def test_single_precision_passes_and_a_hundredth_does_not(name: str) -> None:
    for seed in range(2):
        verdict, _ = judged(name, seed, lambda value: value)
        assert verdict.ok, verdict
        verdict, changed = judged(name, seed, lambda value: value * 1.01 + 0.01 * (value != -1))
        assert not (verdict.ok and changed) or name in ROUGH, verdict


# --- a network with six damages -------------------------------------------------------------------


def network(**changed: Any) -> mx.sym.Symbol:
    """Layers that converters get wrong; ``changed`` replaces parameters, as LAYER_PARAMETER."""

    def take(name: str, default: Any) -> Any:
        return changed.get(name, default)

    net = mx.sym._internal._mul_scalar(mx.sym.Variable("data"), scalar=take("scale", 1 / 255), name="scale")
    net = mx.sym.pad(net, mode="constant", pad_width=take("pad", (0, 0, 0, 0, 0, 1, 0, 1)), name="border")
    net = mx.sym.Convolution(net, num_filter=8, kernel=(3, 3), stride=(2, 2), no_bias=True, name="conv")
    net = mx.sym.BatchNorm(net, fix_gamma=take("fix_gamma", True), eps=take("eps", 1e-3), name="bn")
    net = mx.sym.Activation(net, act_type="relu", name="relu")
    net = mx.sym.Pooling(net, kernel=(3, 3), stride=(2, 2), pool_type="max", pooling_convention="full", name="pool")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net, name="flatten"), num_hidden=72, name="fc1")
    net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="tanh", name="tanh"), num_hidden=72, name="fc2")
    return mx.sym.SoftmaxOutput(net, name="softmax")


SHAPE = (2, 3, 12, 12)


def parameters() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    random = np.random.RandomState(3)
    net = network()
    shapes, _, states = net.infer_shape(data=SHAPE)
    args = {
        name: random.uniform(-0.5, 0.5, shape).astype(SINGLE)
        for name, shape in zip(net.list_arguments(), shapes, strict=True) if name not in ("data", "softmax_label")
    }
    args["bn_gamma"] += 1.5
    aux = {name: random.uniform(0.01, 0.02, shape).astype(SINGLE)
           for name, shape in zip(net.list_auxiliary_states(), states, strict=True)}
    return args, aux


def exported(net: mx.sym.Symbol, args: dict[str, np.ndarray], aux: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What a run shows of each layer; the loss is a softmax, as in an exported network."""
    made = prediction(net, args, aux, {"data": SHAPE})
    data = np.random.RandomState(5).randint(0, 256, SHAPE).astype(SINGLE)
    internals = made.symbol.get_internals()
    held = {name: mx.nd.array(value) for name, value in {**made.params, **args, "data": data}.items()}
    states = {name: mx.nd.array(aux[name]) for name in internals.list_auxiliary_states()}
    outputs = internals.bind(mx.cpu(), held, aux_states=states, grad_req="null").forward(is_train=False)
    names = internals.list_outputs()
    return {name: value.asnumpy() for name, value in zip(names, outputs, strict=True)} | {"data": data}


def failed(values: dict[str, np.ndarray], elements: int = 500) -> list[str]:
    made = prediction(network(), *parameters(), {"data": SHAPE})
    found = judge(made, values, elements=elements)
    assert len(found) == 11
    assert all(verdict.elements for verdict in found if verdict.ok)
    return [verdict.layer for verdict in found if not verdict.ok]


def test_the_network_itself_passes() -> None:
    assert failed(exported(network(), *parameters())) == []


DAMAGES: dict[str, tuple[dict[str, Any], str]] = {
    "a swapped pad": ({"pad": (0, 0, 0, 0, 1, 0, 1, 0)}, "border"),
    "a lost fix_gamma": ({"fix_gamma": False}, "bn"),
    "a wrong epsilon": ({"eps": 1e-5}, "bn"),
    "a missing scale of 1/255": ({"scale": 1.0}, "scale"),
}


@pytest.mark.clause("Export/own-inputs")
@pytest.mark.parametrize("damage", DAMAGES)
def test_another_parameter_is_named(damage: str) -> None:
    changed, layer = DAMAGES[damage]
    assert failed(exported(network(**changed), *parameters()), elements=60) == [layer]


def test_transposed_weights_are_named() -> None:
    args, aux = parameters()
    args["fc2_weight"] = args["fc2_weight"].T.copy()
    assert failed(exported(network(), args, aux)) == ["fc2"]


@pytest.mark.clause("Export/shapes")
def test_channels_in_the_last_axis_are_named() -> None:
    values = exported(network(), *parameters())
    values["conv_output"] = values["conv_output"].transpose(0, 2, 3, 1)
    assert failed(values) == ["conv", "bn"]  # the next layer reads it


def test_channels_in_the_last_axis_are_named_where_all_sides_are_equal() -> None:
    net = mx.sym.Convolution(mx.sym.Variable("data"), num_filter=4, kernel=(1, 1), no_bias=True, name="conv")
    net = mx.sym.Activation(net, act_type="relu", name="relu")
    random = np.random.RandomState(1)
    data, weight = (random.randn(*shape).astype(SINGLE) for shape in ((1, 4, 4, 4), (4, 4, 1, 1)))
    made = np.einsum("nchw,fc->nhwf", data, weight[:, :, 0, 0])
    values = {"data": data, "conv_output": made, "relu_output": np.maximum(made, 0)}
    found = judge(prediction(net, {"conv_weight": weight}, {}, {"data": data.shape}), values)
    assert [(verdict.layer, verdict.ok) for verdict in found] == [("conv", False), ("relu", True)]


@pytest.mark.clause("Export/bounds")
@pytest.mark.parametrize("order", [1, -1])
def test_any_order_of_a_sum_passes(order: int) -> None:
    """A thousand terms that nearly cancel, added in single precision one by one, from either end."""
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, no_bias=True, name="fc")
    random = np.random.RandomState(2)
    data, weight = (random.randn(*shape).astype(SINGLE) for shape in ((2, 1000), (3, 1000)))
    made = np.zeros((2, 3), SINGLE)
    for column in range(1000)[::order]:
        made += data[:, None, column] * weight[None, :, column]
    values = {"data": data, "fc_output": made}
    exported = prediction(net, {"fc_weight": weight}, {}, {"data": data.shape})
    (verdict,) = judge(exported, values)
    assert verdict.ok
    assert 0 < verdict.worst < 1
    values["fc_output"] = made + SINGLE.type(0.1)
    assert not judge(exported, values)[0].ok


def test_an_input_must_have_a_value() -> None:
    with pytest.raises(ValueError, match="values lack the inputs data"):
        judge(prediction(network(), *parameters(), {"data": SHAPE}), {})


def test_what_a_run_does_not_show_is_computed() -> None:
    values = exported(network(), *parameters())
    del values["relu_output"], values["flatten_output"]
    found = judge(prediction(network(), *parameters(), {"data": SHAPE}), values)
    assert [verdict.layer for verdict in found] == "scale border conv bn pool fc1 tanh fc2 softmax".split()
    assert all(verdict.ok for verdict in found)


@pytest.mark.clause("Export/bounds")
def test_half_precision_passes_and_one_unit_more_does_not() -> None:
    """Sums of two numbers that single precision has exactly, and half precision rounds."""
    half = np.dtype(np.float16)
    left, right = mx.sym.Variable("left"), mx.sym.Variable("right")
    net = mx.sym.elemwise_add(left, right, name="sum")
    random = np.random.RandomState(4)
    given = {name: random.randn(3, 40).astype(half) for name in ("left", "right")}
    exported = Prediction(net, {}, {name: (value.shape, half) for name, value in given.items()}, net.list_outputs())
    made = given["left"] + given["right"]
    (verdict,) = judge(exported, {**given, "sum_output": made})
    assert verdict.ok
    assert verdict.worst > 0.9
    made[1, 7] = np.nextafter(made[1, 7], half.type(np.inf))
    (verdict,) = judge(exported, {**given, "sum_output": made})
    assert not verdict.ok
    assert verdict.note.endswith("at (1, 7)")
