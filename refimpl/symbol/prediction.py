"""What a network predicts: losses become their prediction, labels vanish, parameters are those that count."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import decides, refusal
from ..kernels.foundation import get, known
from . import inference
from .inferred_lists import known_types
from .ir import Entry, Node, variables
from .symbol import Symbol

Shape = tuple[int, ...]

PREDICTIONS: dict[str, str] = {
    "LinearRegressionOutput": "_copy", "MAERegressionOutput": "_copy", "LogisticRegressionOutput": "sigmoid",
    "SVMOutput": "_copy", "MakeLoss": "_copy", "make_loss": "_copy", "BlockGrad": "_copy", "SoftmaxOutput": "softmax",
    "IdentityAttachKLSparseReg": "_copy", "_contrib_gradientmultiplier": "_copy", "CTCLoss": "_copy",
    "softmax_cross_entropy": "softmax", "SoftmaxActivation": "softmax",
}
"""Layers of training -> the operator that computes what they predict from their first input."""
_LOSES_MORE = frozenset(("CTCLoss", "softmax_cross_entropy"))
"""Losses whose output is no prediction: they become one only where a network has no other output."""
_PARAMETER = re.compile(r"_(weight|bias|gamma|beta|parameters|moving_mean|moving_var)$")


class Prediction(NamedTuple):
    """A network that only predicts, with everything that another framework must be told."""

    symbol: Symbol
    """Its layers have the names of the network; losses are their prediction."""
    params: dict[str, np.ndarray]
    """Parameters and auxiliary states by name, in the types that the network computes in."""
    inputs: dict[str, tuple[Shape, np.dtype]]
    """Shape and element type of each input, in the order of ``list_arguments()``."""
    outputs: list[str]
    """Names of the outputs."""


def prediction(
    symbol: Symbol, arg_params: Mapping[str, Any], aux_params: Mapping[str, Any],
    input_shapes: Mapping[str, Sequence[int]] | None = None, until: str | None = None,
) -> Prediction:
    """What a network predicts.

    Args:
        symbol: the network, with its losses.
        arg_params: its parameters by name, NDArrays or NumPy arrays.
        aux_params: its auxiliary states.
        input_shapes: shapes of inputs; those that the symbol states, or that follow, may be left out.
        until: the name of a layer, or of its output, with which the network ends.

    Raises:
        MXNetError: there is no such layer, a parameter is missing or has another shape, the shape of an input is
            unknown, or every output needs a label.
    """
    symbol = symbol if until is None else ended(symbol, until)
    held = _arrays(arg_params) | _arrays(aux_params)
    given = dict(input_shapes or {})
    _require_inputs(symbol, held, given)
    symbol = _without_losses(symbol, held, given)
    shapes, types = _shapes(symbol, held, given), known_types(symbol.entries)
    arguments, auxiliary = variables(symbol.order())
    for node in _fixed_gammas(symbol.order()):
        shape = shapes.get((id(node), 0))
        if known(shape):
            held[node.name] = np.ones(tuple(shape), types[node.name])
    _require_parameters(held, [node.name for node in arguments], [node.name for node in auxiliary])
    inputs = {
        node.name: (_whole_shape(node, shapes), types[node.name]) for node in arguments if node.name not in held
    }
    used = [node.name for node in (*arguments, *auxiliary) if node.name in held]
    params = {name: held[name].astype(types[name], copy=False) for name in used}
    return Prediction(symbol, params, inputs, symbol.list_outputs())


def _arrays(params: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """NDArrays and NumPy arrays as NumPy arrays; a file may hold empty places."""
    return {
        name: np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value)
        for name, value in params.items() if value is not None
    }


def _require_parameters(held: Mapping[str, Any], arguments: Sequence[str], auxiliary: Sequence[str]) -> None:
    """A parameter that the file lacks would count as an input."""
    missing = [name for name in arguments if name not in held and _PARAMETER.search(name)]
    missing += [name for name in auxiliary if name not in held]
    if missing:
        raise refusal("Export/parameters", f"the parameters lack {_listed(missing)}, which the network needs")


def _whole_shape(node: Node, shapes: Any) -> Shape:
    """The shape of an input."""
    shape = shapes.get((id(node), 0))
    if not known(shape):
        raise refusal(
            "Export/input-shape",
            f"the shape of the input {node.name} is {_shown(shape)}; give it whole, as {node.name}=1,3,224,224",
        )
    return tuple(int(side) for side in shape)


@decides("Export/until")
def ended(symbol: Symbol, until: str) -> Symbol:
    """The network up to a layer, or up to one output of a layer.

    Raises:
        MXNetError: there is no such layer.
    """
    order = symbol.order()
    layers = [node for node in order if node.op is not None]
    named = [node for node in layers if node.name == until]
    if len(named) == 1:
        return Symbol([Entry(named[0], index) for index in range(named[0].visible_count())])
    outputs = [Entry(n, i) for n in layers for i in range(n.visible_count()) if n.entry_name(i) == until]
    if len(outputs) == 1:
        return Symbol(outputs)
    near = difflib.get_close_matches(until, [node.name for node in layers], 3)
    what = "more than one layer has the name" if named or outputs else "no layer has the name"
    raise refusal("Export/until", f"{what} {until}" + (f"; did you mean {' or '.join(near)}?" if near else ""))


def _shown(shape: Any) -> str:
    return str(tuple(inference.shown_shape(shape) or ())) if shape else "unknown"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + " ..." * (len(names) > 5)


def _require_inputs(symbol: Symbol, held: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    names = symbol.list_inputs()
    others = [name for name in given if name not in names and not name.endswith("label")]
    if others:
        there = [name for name in names if name not in held and not name.endswith("label")]
        raise refusal("Export/input-shape", f"the network has no input {_listed(others)}; it has {_listed(there)}")


def _shapes(symbol: Symbol, held: Mapping[str, np.ndarray], given: Mapping[str, Sequence[int]]) -> Any:
    order = symbol.order()
    names = {node.name for node in order if node.is_variable}
    found = {name: inference.read_shape(value.shape) for name, value in held.items() if name in names}
    found |= {name: inference.read_shape(tuple(shape)) for name, shape in given.items() if name in names}
    return inference.shapes(order, found)


@decides("Export/fixed-gamma")
def _fixed_gammas(order: Sequence[Node]) -> list[Node]:
    """The variables that layers with ``fix_gamma`` hold at 1."""
    return [
        entry.node for node in order if node.op is not None and getattr(node.params, "fix_gamma", False)
        for slot, entry in zip(node.signature.inputs, node.inputs, strict=True)
        if slot == "gamma" and entry.node.is_variable
    ]


# --- losses --------------------------------------------------------------------------------------------


@decides("Export/losses")
def _without_losses(symbol: Symbol, held: Mapping[str, Any], given: Mapping[str, Sequence[int]]) -> Symbol:
    """The network with predictions for losses, and without the outputs that need labels."""
    order = symbol.order()
    labels = _labels(order, held)
    made: dict[int, Node] = {}
    labelled = {id(node) for node in order if node.is_variable and node.name in labels}
    further: dict[int, Node] = {}  # the predictions of losses whose output is none
    for node in order:
        if node.op is None:
            made[id(node)] = node
            continue
        inputs = [Entry(made[id(source)], index) for source, index in node.inputs]
        if node.op.name in PREDICTIONS and id(node.inputs[0].node) not in labelled:
            made[id(node)] = _predicting(node, inputs[0], held, given)
            if node.op.name in _LOSES_MORE:
                further[id(node)] = made[id(node)]
                labelled.add(id(node))
            continue
        if any(id(source) in labelled for source, _ in node.inputs):
            labelled.add(id(node))
        made[id(node)] = _reading(node, inputs)
    free = [Entry(made[id(node)], index) for node, index in symbol.entries if id(node) not in labelled]
    return Symbol(free or _scores(symbol, further, labels))


def _reading(node: Node, inputs: Sequence[Entry]) -> Node:
    """The node itself where it reads the same already, or else a copy."""
    same = all(new is old for (new, _), (old, _) in zip(inputs, node.inputs, strict=True))
    return node if same else node.reading(inputs)


@decides("Export/labels")
def _scores(symbol: Symbol, further: Mapping[int, Node], labels: Sequence[str] | set[str]) -> list[Entry]:
    """The outputs of a network whose outputs are all losses: what the losses are computed from."""
    found = [Entry(loss, 0) for node, _ in symbol.entries if (loss := _only_loss(node, further)) is not None]
    if not found:
        raise refusal(
            "Export/labels",
            f"every output needs a label ({_listed(sorted(labels))}); name the last layer of the prediction with until",
        )
    return found


def _only_loss(node: Node, further: Mapping[int, Node]) -> Node | None:
    """The prediction in the place of a loss whose value an output is, seen through copies of it."""
    while id(node) not in further and node.op is not None and PREDICTIONS.get(node.op.name) == "_copy":
        node = node.inputs[0].node
    return further.get(id(node))


def _labels(order: Sequence[Node], held: Mapping[str, Any]) -> set[str]:
    """The variables that are compared with predictions, or are called so."""
    found = {node.name for node in order if node.is_variable and node.name.endswith("label")}
    for node in order:
        if node.op is not None and node.op.name in PREDICTIONS:
            found |= {entry.node.name for entry in node.inputs[1:] if entry.node.is_variable}
    return {name for name in found if name not in held}


def _predicting(node: Node, data: Entry, held: Mapping[str, Any], given: Mapping[str, Sequence[int]]) -> Node:
    """The layer of a prediction in the place of a loss, under its name."""
    assert node.op is not None
    hidden = {key: value for key, value in node.attrs.items() if key.startswith("__") and key.endswith("__")}
    kind, p = PREDICTIONS[node.op.name], node.params
    if kind != "softmax":
        return Node(get(kind), node.name, hidden, [data])
    if getattr(p, "multi_output", False) or getattr(p, "mode", "") == "channel":
        return Node(get("softmax"), node.name, {**hidden, "axis": "1"}, [data])
    shape = _shapes(Symbol([data]), held, given).get(inference.key_of(data))
    rows = node.op.name == "SoftmaxOutput" and not p.preserve_shape  # of which each is one softmax, whatever its axes
    if not rows or (shape is not None and len(shape) == 2):
        return Node(get("softmax"), node.name, {**hidden, "axis": "-1"}, [data])
    if not known(shape):
        raise _shape_needed(node, data, held, given)
    flat = Node(get("Flatten"), f"{node.name}_rows", dict(hidden), [data])
    each = Node(get("softmax"), f"{node.name}_softmax", {**hidden, "axis": "-1"}, [Entry(flat, 0)])
    return Node(get("reshape_like"), node.name, dict(hidden), [Entry(each, 0), data])


def _shape_needed(node: Node, data: Entry, held: Mapping[str, Any], given: Mapping[str, Any]) -> Exception:
    """The refusal of a layer that reads data of an unknown shape."""
    before = Symbol([data]).list_inputs()
    names = [name for name in before if name not in held and name not in given and not _PARAMETER.search(name)]
    return refusal(
        "Export/input-shape",
        f"{node.name} needs the shape of what it reads, which follows from the inputs; give the shape of"
        f" {_listed(names)}" + (f", as {names[0]}=1,3,224,224" if names else ""),
    )


__all__ = ["PREDICTIONS", "Prediction", "ended", "prediction"]
