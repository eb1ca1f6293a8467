"""Networks with one layer damaged, as another implementation may have got it wrong, and what they then compute.

Damage is done to the files' content alone: to arrays, or to the nodes of the graph. What it is called and where it was
done is returned; nothing of what ``refimpl verify`` does is used.
"""

from __future__ import annotations

import ast
import copy
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import refimpl as mx

FOLDER = Path(__file__).parents[1] / "fixtures" / "thin"
NETWORKS = {"resnet-v1": 32, "mobilenet-v2": 32, "inception-v3": 75, "ssd": 16, "lstm": None}
"""Names and sides of their pictures; the last one reads words."""

Arrays = dict[str, np.ndarray]
Draw = np.random.Generator


class Network(NamedTuple):
    """A network as its files have it."""

    nodes: list[dict[str, Any]]
    heads: list[Any]
    arrays: Arrays

    def copy(self) -> Network:
        """One that may be damaged."""
        return Network(copy.deepcopy(self.nodes), copy.deepcopy(self.heads), dict(self.arrays))

    def layers(self, *operators: str) -> list[dict[str, Any]]:
        """The nodes of these operators."""
        return [node for node in self.nodes if node["op"] in operators]

    def input(self, node: dict[str, Any], number: int) -> str:
        """The name of an input."""
        return str(self.nodes[node["inputs"][number][0]]["name"])

    def readers(self, node: dict[str, Any]) -> list[dict[str, Any]]:
        """The nodes that read a layer."""
        place = self.nodes.index(node)
        return [other for other in self.nodes if any(entry[0] == place for entry in other["inputs"])]


def network(name: str) -> Network:
    """A network of the fixtures, whatever release its file is of."""
    net, arguments, states = mx.model.load_checkpoint(str(FOLDER / name), 0)
    said = json.loads(net.tojson())
    arrays = {key: value.asnumpy() for held in (arguments, states) for key, value in held.items()}
    return Network(said["nodes"], said["heads"], arrays)


def data(name: str, draw: Draw) -> np.ndarray:
    """Input of two rows."""
    side = NETWORKS[name]
    if side is None:
        return draw.integers(0, 20, (2, 9)).astype(np.float32)
    return draw.normal(size=(2, 3, side, side)).astype(np.float32)


def computed(held: Network, given: np.ndarray) -> Arrays:
    """All outputs of layers, by name."""
    text = json.dumps({
        "nodes": held.nodes, "heads": held.heads, "attrs": {"mxnet_version": ["int", 10901]},
        "arg_nodes": [number for number, node in enumerate(held.nodes) if node["op"] == "null"],
    })
    inner = mx.sym.load_json(text).get_internals()
    free = set(inner.list_inputs())
    names = [name for name in inner.list_outputs() if name not in free]
    net = mx.sym.Group([inner[name] for name in names])
    module = mx.mod.Module(net, label_names=None)
    module.bind([("data", given.shape)], for_training=False)
    hidden = set(net.list_auxiliary_states())
    arrays = {key: mx.nd.array(value) for key, value in held.arrays.items()}
    shapes = dict(zip(net.list_arguments(), net.infer_shape(data=given.shape)[0], strict=True))
    for name, shape in shapes.items():
        if name not in arrays and name != "data":
            arrays[name] = mx.nd.zeros(shape)
    module.set_params(
        {key: value for key, value in arrays.items() if key not in hidden},
        {key: value for key, value in arrays.items() if key in hidden}, allow_extra=True,
    )
    module.forward(mx.io.DataBatch([mx.nd.array(given)]), is_train=False)
    outputs = dict(zip(names, [value.asnumpy() for value in module.get_outputs()], strict=True))
    return {name: value for name, value in outputs.items() if not name.startswith("changed_")}


# --- damage ---------------------------------------------------------------------------------------

Damage = Callable[[Network, Draw], str]
"""Damages a network in place, and returns the name of the first layer that is then wrong."""


def _one(draw: Draw, found: list[Any]) -> Any:
    if not found:
        raise LookupError("no layer of this network can be damaged so")
    return found[int(draw.integers(len(found)))]


def _weighted(held: Network) -> list[dict[str, Any]]:
    return held.layers("Convolution", "FullyConnected", "RNN")


def scaled(held: Network, draw: Draw) -> str:
    node = _one(draw, _weighted(held))
    name = held.input(node, 1)
    factor = float(draw.choice([0.5, 2.0, -1.0, 1.1, 0.01]))
    held.arrays[name] = (held.arrays[name] * factor).astype(np.float32)
    return str(node["name"])


def transposed(held: Network, draw: Draw) -> str:
    def ways(weight: np.ndarray) -> list[np.ndarray]:
        if weight.ndim == 4:
            rows, columns = weight.shape[2:]
            found = [weight.swapaxes(2, 3), weight[:, :, ::-1, ::-1]] if rows == columns > 1 else []
            if weight.shape[0] == weight.shape[1] > 1:
                found.append(weight.swapaxes(0, 1))
            return found
        return [np.ascontiguousarray(weight.T).reshape(weight.shape)] if weight.ndim == 2 else []

    found = []
    for node in held.layers("Convolution", "FullyConnected"):
        found += [(node, way) for way in ways(held.arrays[held.input(node, 1)])]
    node, way = _one(draw, found)
    held.arrays[held.input(node, 1)] = np.ascontiguousarray(way)
    return str(node["name"])


def swapped(held: Network, draw: Draw) -> str:
    def axes(node: dict[str, Any]) -> list[int]:
        shape = held.arrays[held.input(node, 1)].shape
        return [axis for axis in range(min(len(shape), 2)) if shape[axis] > 1 and len(shape) > 1]

    node, axis = _one(draw, [
        (node, axis) for node in held.layers("Convolution", "FullyConnected") for axis in axes(node)
    ])
    weight = held.arrays[held.input(node, 1)]
    order = np.arange(weight.shape[axis])
    first, second = draw.choice(len(order), 2, replace=False)
    order[[first, second]] = second, first
    held.arrays[held.input(node, 1)] = np.take(weight, order, axis)
    return str(node["name"])


def other_eps(held: Network, draw: Draw) -> str:
    node = _one(draw, held.layers("BatchNorm"))
    now = float(node["attrs"].get("eps", 1e-3))
    node["attrs"]["eps"] = str(_one(draw, [eps for eps in (1e-5, 1e-3, 1e-2, 1e-4, 3e-3) if abs(eps / now - 1) > 0.5]))
    return str(node["name"])


def other_statistics(held: Network, draw: Draw) -> str:
    node = _one(draw, held.layers("BatchNorm"))
    mean, var = held.input(node, 3), held.input(node, 4)
    way = int(draw.integers(4))
    if way in (0, 1):
        held.arrays[mean] = np.zeros_like(held.arrays[mean])
    if way in (0, 2):
        held.arrays[var] = np.ones_like(held.arrays[var])
    if way == 3:
        held.arrays[mean] = held.arrays[mean] + draw.normal(0, 0.1, held.arrays[mean].shape).astype(np.float32)
        held.arrays[var] = held.arrays[var] * draw.uniform(0.8, 1.2, held.arrays[var].shape).astype(np.float32)
    return str(node["name"])


def without_bias(held: Network, draw: Draw) -> str:
    places = {"Convolution": 2, "FullyConnected": 2, "BatchNorm": 2}
    node, name = _one(draw, [
        (node, held.input(node, places[node["op"]])) for node in held.layers(*places)
        if len(node["inputs"]) > places[node["op"]] and held.arrays[held.input(node, places[node["op"]])].any()
    ])
    held.arrays[name] = np.zeros_like(held.arrays[name])
    return str(node["name"])


def other_window(held: Network, draw: Draw) -> str:
    """Zeros on other sides, as TensorFlow pads, or another pad or stride; what cannot run then is drawn again."""
    node = _one(draw, [n for n in held.layers("Convolution", "Pooling") if n["attrs"].get("global_pool") != "True"])
    attrs = node["attrs"]
    way, kernel = int(draw.integers(3)), ast.literal_eval(attrs["kernel"])
    pad = list(ast.literal_eval(attrs.get("pad", "(0, 0)")) or (0, 0))
    stride = list(ast.literal_eval(attrs.get("stride", "(1, 1)")) or (1, 1))
    if max(kernel) == 1 and way < 2:
        raise LookupError("a window of one pixel needs no zeros")
    if way == 0 and min(pad) > 0 and node["op"] == "Convolution":
        _pad_behind(held, node, pad)
    elif way == 1:
        attrs["pad"] = str(tuple(max(0, side + int(draw.choice([-1, 1]))) for side in pad))
    else:
        attrs["stride"] = str(tuple(3 - min(side, 2) for side in stride))
    return str(node["name"])


def _pad_behind(held: Network, node: dict[str, Any], pad: list[int]) -> None:
    """All zeros of both sides behind the last pixel."""
    widths = (0, 0, 0, 0, 0, 2 * pad[0], 0, 2 * pad[1])
    made = {
        "op": "Pad", "name": "changed_pad", "inputs": [node["inputs"][0]],
        "attrs": {"mode": "constant", "constant_value": "0", "pad_width": str(widths)},
    }
    node["attrs"]["pad"] = "(0, 0)"
    place = _inserted(held, node, made)
    node["inputs"][0] = [place, 0, 0]


def _inserted(held: Network, before: dict[str, Any], made: dict[str, Any]) -> int:
    """Put a node before another one, and count all others on; returns its place."""
    place = held.nodes.index(before)
    for node in held.nodes:
        node["inputs"] = [[entry[0] + (entry[0] >= place), *entry[1:]] for entry in node["inputs"]]
    held.heads[:] = [[entry[0] + (entry[0] >= place), *entry[1:]] for entry in held.heads]
    held.nodes.insert(place, made)
    return place


def exchanged(held: Network, draw: Draw) -> str:
    """The parameters of two layers, or two layers that follow each other."""
    parts = {"Convolution": 1, "FullyConnected": 1, "BatchNorm": 4}
    shapes: dict[Any, list[dict[str, Any]]] = {}
    for node in held.layers("Convolution", "FullyConnected", "BatchNorm"):
        shape = held.arrays[held.input(node, 1)].shape
        shapes.setdefault((node["op"], shape, len(node["inputs"])), []).append(node)
    pairs = [pair for nodes in shapes.values() for pair in itertools.combinations(nodes, 2)]
    followed = [
        (node, readers[0]) for node in held.layers("BatchNorm")
        if len(readers := held.readers(node)) == 1 and readers[0]["op"] == "Activation"
    ]
    if followed and (not pairs or draw.integers(3) == 0):
        first, second = _one(draw, followed)
        _in_other_order(held, first, second)
        return str(first["name"])
    first, second = _one(draw, pairs)
    for number in range(1, min(len(first["inputs"]), parts[first["op"]] + 2)):
        if number >= len(second["inputs"]):
            continue
        a, b = held.input(first, number), held.input(second, number)
        held.arrays[a], held.arrays[b] = held.arrays[b], held.arrays[a]
    return str(first["name"])


def _in_other_order(held: Network, first: dict[str, Any], second: dict[str, Any]) -> None:
    """``second`` reads what ``first`` read, ``first`` reads ``second``, and all others read ``first``."""
    places = held.nodes.index(first), held.nodes.index(second)
    for node in held.nodes:
        if node is not second:
            node["inputs"] = [[places[0], *e[1:]] if e[0] == places[1] else e for e in node["inputs"]]
    held.heads[:] = [[places[0], *e[1:]] if e[0] == places[1] else e for e in held.heads]
    second["inputs"] = [first["inputs"][0]]
    first["inputs"][0] = [places[1], 0, 0]
    order = [*range(len(held.nodes))]
    order.remove(places[1])
    order.insert(order.index(places[0]), places[1])
    now = {old: new for new, old in enumerate(order)}
    nodes = [held.nodes[old] for old in order]
    for node in nodes:
        node["inputs"] = [[now[e[0]], *e[1:]] for e in node["inputs"]]
    held.heads[:] = [[now[e[0]], *e[1:]] for e in held.heads]
    held.nodes[:] = nodes


def with_nan(held: Network, draw: Draw) -> str:
    node = _one(draw, held.layers("Convolution", "FullyConnected", "RNN", "BatchNorm"))
    name = held.input(node, 2 if node["op"] == "BatchNorm" else 1)
    value = held.arrays[name].copy()
    value.flat[int(draw.integers(value.size))] = np.nan
    held.arrays[name] = value
    return str(node["name"])


def halved(held: Network, draw: Draw) -> str:
    """Computed in half precision, or with parameters that were stored so."""
    node = _one(draw, _weighted(held))
    name = held.input(node, 1)
    held.arrays[name] = held.arrays[name].astype(np.float16).astype(np.float32)
    if node["op"] == "RNN" or draw.integers(2):
        return str(node["name"])
    for number in range(len(node["inputs"])):
        cast = {
            "op": "Cast", "name": f"changed_cast{number}", "attrs": {"dtype": "float16"},
            "inputs": [node["inputs"][number]],
        }
        node["inputs"][number] = [_inserted(held, node, cast), 0, 0]
    own = dict(node)
    node.update(op="Cast", attrs={"dtype": "float32"}, inputs=[])
    own["name"] = "changed_half"
    node["inputs"] = [[_inserted(held, node, own), 0, 0]]
    return str(node["name"])


DAMAGES: dict[str, tuple[Damage, tuple[str, ...]]] = {
    "weight-scaled": (scaled, (*NETWORKS,)),
    "transposed": (transposed, (*NETWORKS,)),
    "channels-swapped": (swapped, (*NETWORKS,)),
    "batchnorm-eps": (other_eps, ("resnet-v1", "mobilenet-v2", "inception-v3", "ssd")),
    "batchnorm-statistics": (other_statistics, ("resnet-v1", "mobilenet-v2", "inception-v3", "ssd")),
    "bias-missing": (without_bias, ("resnet-v1", "mobilenet-v2", "inception-v3", "lstm")),
    "pad-or-stride": (other_window, ("resnet-v1", "mobilenet-v2", "inception-v3", "ssd")),
    "layers-exchanged": (exchanged, ("resnet-v1", "mobilenet-v2", "inception-v3", "ssd")),
    "nan": (with_nan, (*NETWORKS,)),
    "half-precision": (halved, ("resnet-v1", "mobilenet-v2", "inception-v3", "ssd")),
}
"""What verify should call it; how it is done; to which networks."""

__all__ = ["DAMAGES", "NETWORKS", "Arrays", "Draw", "Network", "computed", "data", "network"]
