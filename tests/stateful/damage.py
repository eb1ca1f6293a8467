"""Accidents and malice: undamaged files, and what becomes of them, drawn from a seed alone."""

from __future__ import annotations

import copy
import json
import random
import struct
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import refimpl as mx
from refimpl.kernels import distinct
from refimpl.oracle.pages.draws import SeededDraw, example

Draw = random.Random

NUMBERS = [0, 1, 0x7F, 0x80, 0xFF, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1]
SIDES = [0, 0, 1, 1, 2, 3, 5, 7, 8, 16, -1, -1, -2, -7, 2**31 - 1, 2**31, 2**40, 2**62, 10**18, -(2**31)]
WORDS = [
    "None", "True", "False", "", " ", "x", "-1", "0", "1", "2", "3", "7", "0.5", "-0.5", "1e30", "nan", "inf", "-inf",
    "2147483647", "-2147483648", "1099511627776", "9223372036854775807", "99999999999999999999", "()", "(,)", "(0,)",
    "(1,)", "(-1,)", "(2, 2)", "(0, 0)", "(1, 1)", "(-3,)", "(3, 3, 3)", "(1, 2, 3, 4, 5)", "(2147483647, 2)",
    "(1073741824, 1073741824)", "(1.5, 2)", "((1, 2), 3)", "(" * 200, "[" * 200, "(1" + ", 1" * 50 + ")", "1" * 400,
    "float16", "float32", "float64", "int8", "int32", "uint8", "int64", "bool", "bfloat16", "object", "(-3,)", "f4,f4",
    "max", "avg", "sum", "lp", "relu", "lstm", "same", "full", "valid", "add", "null", "row_sparse", "csr", "default",
    '["xavier", {"magnitude": "x"}]', '["zero", {}]', "{}", "[1]", '["bilinear", {}]', '["constant", {"value": [1]}]',
    "\0", "\ud800", "\u00e9", "\\", '"',
]
HIDDEN = [
    "__shape__", "__dtype__", "__storage_type__", "__init__", "__lr_mult__", "__wd_mult__", "__ctx_group__",
    "__force_mirroring__", "__profiler_scope__", "lr_mult", "weight_lr_mult", "num_args", "axis", "ctx",
]


# --- bytes ----------------------------------------------------------------------------------------


def damaged_bytes(draw: Draw, content: bytes, others: list[bytes]) -> bytes:
    """A file after one to three accidents."""
    made = bytearray(content)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        at = draw.randint(0, len(made))
        accident = draw.choice(["flip", "flip", "cut", "splice", "number", "word", "repeat", "digit", "digit", "swap"])
        if accident == "flip" and at < len(made):
            made[at] ^= 1 << draw.randint(0, 7)
        elif accident == "cut":
            del made[at : at + draw.choice([1, 4, 8, draw.randint(1, 64), len(made)])]
        elif accident == "splice":
            other = draw.choice(others)
            made[at:] = other[draw.randint(0, len(other)) :]
        elif accident == "number":
            form = draw.choice(["<B", "<I", "<Q", ">I"])
            at -= at % 4 if draw.random() < 0.5 else 0
            number = draw.choice([*NUMBERS, draw.randint(0, 20)]) & (1 << 8 * struct.calcsize(form)) - 1
            made[at : at + struct.calcsize(form)] = struct.pack(form, number)
        elif accident == "word":
            made[at:at] = draw.choice(WORDS).encode("utf-8", "surrogatepass")
        elif accident == "repeat":
            made[at:at] = bytes(made[at : at + 40]) * draw.randint(1, 20)
        elif accident == "digit":
            places = [i for i, byte in enumerate(made) if 0x30 <= byte <= 0x39]
            if places:
                made[draw.choice(places)] = draw.choice(b"0123456789-.e")
        elif accident == "swap" and len(made) > 1:
            other = draw.randrange(len(made))
            at = min(at, len(made) - 1)
            made[at], made[other] = made[other], made[at]
    return bytes(made)


# --- graphs ---------------------------------------------------------------------------------------


def _variable(name: str, shape: tuple[int, ...] | None = None, dtype: Any = None) -> dict[str, Any]:
    attrs = {} if shape is None else {"__shape__": str(tuple(shape))}
    if dtype is not None:
        attrs["__dtype__"] = str(mx.base.DTYPE_FLAGS[np.dtype(dtype).name])
    return {"op": "null", "name": name, "attrs": attrs, "inputs": []}


def _network(symbol: Any, **shapes: tuple[int, ...]) -> tuple[dict[str, Any], dict[str, tuple[int, ...]]]:
    return json.loads(symbol.tojson()), shapes


def _perceptron() -> Any:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, name="fc1")
    net = mx.sym.Activation(net, act_type="relu", name="relu1")
    net = mx.sym.Dropout(mx.sym.FullyConnected(net, num_hidden=3, name="fc2"), p=0.5, name="drop")
    return _network(mx.sym.SoftmaxOutput(net, name="softmax"), data=(2, 5))


def _convolutional() -> Any:
    net = mx.sym.Convolution(mx.sym.Variable("data"), num_filter=2, kernel=(3, 3), pad=(1, 1), name="conv")
    net = mx.sym.Activation(mx.sym.BatchNorm(net, name="bn"), act_type="tanh", name="act")
    net = mx.sym.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool")
    net = mx.sym.FullyConnected(mx.sym.Flatten(net, name="flat"), num_hidden=3, name="fc")
    return _network(mx.sym.SoftmaxOutput(net, name="softmax"), data=(2, 1, 6, 6))


def _many_inputs() -> Any:
    a, b = mx.sym.Variable("a", shape=(2, 3)), mx.sym.Variable("b", shape=(2, 3), dtype="float64")
    parts = mx.sym.SliceChannel(mx.sym.Concat(a, mx.sym.Cast(b, dtype="float32"), dim=1), num_outputs=2, name="cut")
    net = mx.sym.broadcast_add(parts[0], mx.sym.sum(parts[1], axis=1, keepdims=True))
    return _network(mx.sym.Group([mx.sym.transpose(net), mx.sym.Reshape(parts[1], shape=(-1, 2), name="shaped")]))


def _recurrent() -> Any:
    words = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=7, output_dim=3, name="words")
    rows = mx.sym.SwapAxis(words, dim1=0, dim2=1)
    net = mx.sym.RNN(rows, state_size=2, num_layers=1, mode="gru", name="rnn", state_outputs=False)
    return _network(mx.sym.SequenceLast(net), data=(2, 3))


def _loop() -> Any:
    data, state, factor = (mx.sym.Variable(name) for name in ("data", "state", "factor"))
    rows, final = mx.sym.contrib.foreach(lambda x, s: (x * s[0], [s[0] + x * factor]), data, [state])
    return _network(mx.sym.Group([rows, *final]), data=(3, 2), state=(2,), factor=(2,))


def _while() -> Any:
    index, total = mx.sym.Variable("index"), mx.sym.Variable("total")
    rows, final = mx.sym.contrib.while_loop(
        lambda i, s: i < 3, lambda i, s: ([i * 2], [i + 1, s + i]), [index, total], max_iterations=4
    )
    return _network(mx.sym.Group([*rows, *final]), index=(1,), total=(1,))


def _branches() -> Any:
    a, b = mx.sym.Variable("a"), mx.sym.Variable("b")
    inner = mx.sym.contrib.cond(mx.sym.sum(a) > 1, lambda: a * b, lambda: a - b)
    return _network(mx.sym.contrib.cond(mx.sym.sum(b) > 0, lambda: inner + b, lambda: b * 2), a=(2, 2), b=(2, 2))


NETWORKS: list[Callable[[], Any]] = [
    _perceptron, _convolutional, _many_inputs, _recurrent, _loop, _while, _branches,
]


@cache
def networks() -> list[tuple[dict[str, Any], dict[str, tuple[int, ...]]]]:
    """Networks as files hold them, with the shapes of their data."""
    return [make() for make in NETWORKS]


@cache
def operators() -> list[Any]:
    """Every operator whose page says of some calls that they are valid."""
    return [op for op in distinct() if op.cases is not None]


def one_operator(draw: Draw) -> dict[str, Any]:
    """A valid file around one operator, its inputs' shapes and types written down."""
    op = draw.choice(operators())
    call = example(op, SeededDraw(draw.randrange(2**32)))
    names = [f"input{i}" for i in range(len(call.arrays))]
    nodes = [
        _variable(name, array.shape, array.dtype) for name, array in zip(names, call.arrays, strict=True)
    ]
    attrs = {key: str(value) for key, value in call.params.items()}
    nodes.append({"op": op.name, "name": "node", "attrs": attrs, "inputs": [[i, 0, 0] for i in range(len(nodes))]})
    return {"nodes": nodes, "arg_nodes": [*range(len(names))], "heads": [[len(names), 0, 0]],
            "attrs": {"mxnet_version": ["int", 10901]}}


def _graphs_in(graph: dict[str, Any]) -> list[dict[str, Any]]:
    """A graph and those inside its nodes."""
    inner = [each for node in graph["nodes"] for each in node.get("subgraphs", [])]
    return [graph, *(found for each in inner for found in _graphs_in(each))]


def _word(draw: Draw, old: str) -> str:
    """What stands in the place of an attribute's text."""
    way = draw.randrange(4)
    if way == 0 and old:  # another number in the same layout
        places = [i for i, letter in enumerate(old) if letter.isdigit()]
        if places:
            at = draw.choice(places)
            return old[:at] + str(draw.choice(SIDES)) + old[at + 1 :]
    if way == 1:
        return str(tuple(draw.choice(SIDES) for _ in range(draw.randint(0, 6))))
    if way == 2:
        return str(draw.choice(SIDES))
    return draw.choice(WORDS)


def _at_attribute(draw: Draw, graph: dict[str, Any], node: dict[str, Any]) -> None:
    attrs = node.setdefault("attrs", {})
    way = draw.random()
    if attrs and way < 0.7:
        key = draw.choice(sorted(attrs))
        attrs[key] = _word(draw, attrs[key])
    elif attrs and way < 0.8:
        del attrs[draw.choice(sorted(attrs))]
    else:
        fields = [name for op in draw.sample(operators(), 3) for name in op.params._fields]
        key = draw.choice(HIDDEN + fields)
        attrs[key] = _word(draw, "")


def _at_operator(draw: Draw, graph: dict[str, Any], node: dict[str, Any]) -> None:
    node["op"] = draw.choice([draw.choice(operators()).name, "null", "_foreach", "_cond", "_while_loop", "Custom"])


def _at_inputs(draw: Draw, graph: dict[str, Any], node: dict[str, Any]) -> None:
    inputs, count = node["inputs"], len(graph["nodes"])
    reference = [draw.randrange(count) if draw.random() < 0.9 else draw.choice(SIDES), draw.choice([0, 0, 0, 1, 2]), 0]
    way = draw.randrange(4)
    if way == 0 or not inputs:
        inputs.insert(draw.randint(0, len(inputs)), reference)
    elif way == 1:
        del inputs[draw.randrange(len(inputs))]
    elif way == 2:
        inputs[draw.randrange(len(inputs))] = reference
    else:
        draw.shuffle(inputs)


def _at_heads(draw: Draw, graph: dict[str, Any], node: dict[str, Any]) -> None:
    heads = graph["heads"]
    reference = [draw.randrange(len(graph["nodes"])), draw.choice([0, 0, 1, 2]), 0]
    if draw.random() < 0.5:
        heads.append(reference)
    else:
        heads[draw.randrange(len(heads)) if heads else 0 :] = [reference]


def _at_subgraphs(draw: Draw, graph: dict[str, Any], node: dict[str, Any]) -> None:
    holders = [each for each in graph["nodes"] if each.get("subgraphs")] or [node]
    holder = draw.choice(holders)
    inner = holder.setdefault("subgraphs", [])
    way = draw.randrange(4)
    if way == 0:
        inner.append(copy.deepcopy(draw.choice(networks())[0]))
    elif way == 1 and inner:
        inner[draw.randrange(len(inner))] = copy.deepcopy(graph)
    elif way == 2 and inner:
        del inner[draw.randrange(len(inner))]
    elif inner:
        inner[draw.randrange(len(inner))]["nodes"].append(_variable("more"))


def _at_fields(draw: Draw, graph: dict[str, Any], node: dict[str, Any]) -> None:
    odd = draw.choice([None, [], {}, "", "x", 0, -1, 1.5, [[0]], [[-1, 0, 0]], {"op": 1}, True])
    target = draw.choice([node, graph])
    target[draw.choice(sorted(target))] = odd


def _at_version(draw: Draw, graph: dict[str, Any], node: dict[str, Any]) -> None:
    graph["attrs"] = draw.choice([{}, {"mxnet_version": ["int", draw.choice([0, 800, 901, 904, 10000, 99999, -1])]}])


def _duplicate(draw: Draw, graph: dict[str, Any], node: dict[str, Any]) -> None:
    graph["nodes"].append({**copy.deepcopy(node), "name": draw.choice([node["name"], "again", "", "x" * 300])})
    graph["heads"].append([len(graph["nodes"]) - 1, 0, 0])


ACCIDENTS: list[Callable[[Draw, dict[str, Any], dict[str, Any]], None]] = [
    *[_at_attribute] * 8, *[_at_operator] * 2, *[_at_inputs] * 3, _at_heads, _at_subgraphs, _at_fields, _at_version,
    _duplicate,
]


def damaged_graph(draw: Draw, graph: dict[str, Any]) -> str:
    """The text of a graph after one to three accidents to its parts."""
    made = copy.deepcopy(graph)
    for _ in range(draw.randint(1, 3)):
        try:
            place = draw.choice(_graphs_in(made))
            draw.choice(ACCIDENTS)(draw, place, draw.choice(place["nodes"]))
        except (TypeError, KeyError, AttributeError, IndexError, ValueError):
            break  # what is no graph any more is damaged enough
    return json.dumps(made)


__all__ = ["Draw", "damaged_bytes", "damaged_graph", "networks", "one_operator", "operators"]
