"""Symbol files that are small and ask for much, and text in them that no file of MXNet holds."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.base import dtype_of

SECONDS = 2.0  # of processor time; each takes milliseconds


@contextmanager
def soon() -> Iterator[None]:
    start = time.process_time()
    yield
    assert time.process_time() - start < SECONDS


def refused(graph: Any, clause: str = "symbol-file/valid") -> str:
    with soon(), pytest.raises(mx.MXNetError) as caught:
        mx.sym.load_json(json.dumps(graph))
    assert caught.value.clause == clause
    assert len(str(caught.value)) < 2000
    return str(caught.value)


def layer() -> dict[str, Any]:
    return json.loads(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc").tojson())


def _name(graph: dict[str, Any], text: str) -> None:
    graph["nodes"][0]["name"] = text


def _operator(graph: dict[str, Any], text: str) -> None:
    graph["nodes"][3]["op"] = text


def _value(graph: dict[str, Any], text: str) -> None:
    graph["nodes"][3]["attrs"]["num_hidden"] = text


def _key(graph: dict[str, Any], text: str) -> None:
    graph["nodes"][0]["attrs"] = {text: "x"}


BAD = ["\0", "a\0b", "\ud800", "a\udfffb"]


@pytest.mark.clause("symbol-file/characters")
@pytest.mark.parametrize("text", BAD)
@pytest.mark.parametrize("place", [_name, _operator, _value, _key])
def test_characters_of_no_file_are_not_read(place: Callable[[Any, str], None], text: str) -> None:
    graph = layer()
    place(graph, text)
    assert "NUL or half a character" in refused(graph, "symbol-file/characters")


@pytest.mark.clause("symbol-file/characters")
@pytest.mark.parametrize("text", BAD)
def test_nor_written(text: str) -> None:
    for symbol in (mx.sym.Variable(text), mx.sym.Variable("a", attr={"__x__": text})):
        with pytest.raises(mx.MXNetError) as caught:
            symbol.tojson()
        assert caught.value.clause == "symbol-file/characters"


@pytest.mark.clause("symbol-file/characters", "symbol-file/text")
def test_all_others_come_back() -> None:
    text = "\x01\t\n\x7f\u200b\ue000\uffff\U0001f600\U0010ffff"
    assert mx.sym.load_json(mx.sym.Variable(text).tojson()).name == text
    assert mx.sym.load_json(json.dumps(json.loads(mx.sym.Variable(text).tojson(), strict=False))).name == text


@pytest.mark.clause("types/known")
@pytest.mark.parametrize(
    "text",
    [
        "(-3,)", "(2,)f4", "(1000000000,)f4", "f4,f4", "f4, (2, 2)f4", "[('a', 'f4')]", "{'a': 1}", "-1", "8", "99", "",
        " ", "\u00b2", "\u0663", "9" * 5000, "(" * 5000, "x" * 10**6, "object", "O", "U5", "S3", "datetime64",
        "complex64", "f16",
    ],
)
def test_what_is_no_type_is_refused(text: str) -> None:
    with soon():
        for call in (
            lambda: dtype_of(text), lambda: mx.sym.Variable("x", attr={"__dtype__": text}).infer_type(),
        ):
            with pytest.raises(TypeError) as caught:
                call()
            assert caught.value.clause == "types/known"
            assert len(str(caught.value)) < 300


@pytest.mark.clause("types/known")
@pytest.mark.parametrize(
    ("text", "expected"),
    [("float32", "float32"), (">f4", "float32"), ("<f8", "float64"), ("=i8", "int64"), ("0", "float32"), ("7", "bool"),
     ("?", "bool"), (">i4", "int32"), ("single", "float32")],
)
def test_the_other_byte_order_is_the_same_type(text: str, expected: str) -> None:
    assert dtype_of(text) == np.dtype(expected)
    assert dtype_of(text).isnative


@pytest.mark.clause("types/known")
def test_a_big_endian_array_is_computed_with() -> None:
    assert (mx.nd.array([1, 2], dtype=">f4") * 2).asnumpy().tolist() == [2.0, 4.0]


SHAPE = "(" + "1, " * 200_000 + ")"


@pytest.mark.clause("symbol-file/valid")
@pytest.mark.parametrize(("node", "key"), [(0, "__shape__"), (1, "shape")])
def test_a_shape_of_many_sides_is_refused(node: int, key: str) -> None:
    graph = json.loads(mx.sym.Reshape(mx.sym.Variable("data"), shape=(2,)).tojson())
    graph["nodes"][node]["attrs"] = {**graph["nodes"][1].get("attrs", {}), key: SHAPE} if node else {key: SHAPE}
    assert f"{key} has {len(SHAPE)} characters" in refused(graph)


@pytest.mark.clause("symbol-file/valid")
def test_many_cuts_are_not() -> None:
    cuts = tuple(range(1, 600))
    net = mx.sym.split_v2(mx.sym.Variable("data"), cuts)
    assert len(str(cuts)) > 2000
    assert len(mx.sym.load_json(net.tojson()).list_outputs()) == 600


# --- graphs in graphs -----------------------------------------------------------------------------


def nested(depth: int) -> Any:
    """A branch in a branch in a branch ..., as deep as files may be."""
    def branch(levels: int, x: Any) -> Any:
        if not levels:
            return x * 2
        return mx.sym.contrib.cond(mx.sym.sum(x) > 0, lambda: branch(levels - 1, x) + 1, lambda: x - 1)

    return branch(depth, mx.sym.Variable("x"))


@pytest.mark.clause("symbol-file/control-flow")
def test_time_does_not_double_with_each_level() -> None:
    """Twenty levels took hours when every level inferred the next one twice."""
    text = nested(20).tojson()
    with soon():
        symbol = mx.sym.load_json(text)
        assert symbol.infer_shape(x=(2,))[1] == [(2,)]
        executor = symbol.simple_bind(mx.cpu(), x=(2,))
    executor.arg_dict["x"][:] = 1
    assert executor.forward()[0].asnumpy().tolist() == [22.0, 22.0]


def loop() -> dict[str, Any]:
    rows, states = mx.sym.contrib.foreach(lambda a, s: (a + s, s * 2), mx.sym.Variable("d"), mx.sym.Variable("s"))
    return json.loads(mx.sym.Group([rows, states]).tojson())


@pytest.mark.clause("control-flow/locations")
@pytest.mark.parametrize("count", ["-5", "0", "200000", "2000000000"])
def test_the_inputs_of_a_loop_are_counted_before_they_are_named(count: str) -> None:
    graph = loop()
    node = next(node for node in graph["nodes"] if node["op"] == "_foreach")
    node["attrs"]["num_args"] = count
    assert f"num_args is {count}" in refused(graph, "control-flow/locations")


@pytest.mark.clause("symbol-file/control-flow")
def test_copies_of_a_graph_inside_cost_what_they_are_long() -> None:
    graph = loop()
    node = next(node for node in graph["nodes"] if node["op"] == "_foreach")
    node["subgraphs"] = [copy.deepcopy(node["subgraphs"][0]) for _ in range(2000)]
    refused(graph, "control-flow/graphs")


@pytest.mark.clause("Bucketing/key-file")
@pytest.mark.parametrize(
    "keys", [mx.nd.array([1, float("nan")]), mx.nd.array([1.0]), mx.nd.ones((1, 2), dtype="int32"), None],
    ids=["a key that is no number", "floats", "a matrix", "nothing"],
)
def test_keys_of_buckets_are_whole_numbers(keys: Any, tmp_path: Any) -> None:
    file = tmp_path / "x.buckets"
    mx.nd.save(str(file), [mx.nd.ones(1) if keys is None else keys])
    if keys is None:  # an array that was never allocated: of rank 0, and nothing follows
        file.write_bytes(file.read_bytes()[:24] + bytes.fromhex("c9fa93f9 00000000 00000000") + bytes(8))
    with pytest.raises(mx.MXNetError) as caught:
        mx.mod.BucketingModule.load(str(tmp_path / "x"), 1, lambda key: None, 1)
    assert caught.value.clause == "Bucketing/key-file"


@pytest.mark.clause("registry/json", "Initializer/own-attribute", "registry/known-name")
@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("{}", "registry/json"), ('{"initializer": 1}', "registry/json"), ("[1]", "registry/json"),
        ('["zero"', "registry/json"), ("[" * 5000, "registry/json"), ('{"a":' * 5000, "registry/json"),
        ('["xavier", {"magnitude": "x"}]', "Initializer/own-attribute"),
        ('["xavier", {"bogus": 1}]', "Initializer/own-attribute"), ('["fusedrnn", {}]', "Initializer/own-attribute"),
        ('["orthogonal", {"scale": "q"}]', "Initializer/own-attribute"), ("nothing", "registry/known-name"),
    ],
)
def test_an_initializer_in_a_file_is_refused_when_it_makes_none(text: str, clause: str) -> None:
    weight = mx.sym.Variable("w", attr={"__init__": text})
    net = mx.sym.load_json(mx.sym.FullyConnected(mx.sym.Variable("data"), weight, num_hidden=2, name="fc").tojson())
    module = mx.mod.Module(net, label_names=[])
    module.bind([("data", (2, 3))])
    with soon(), pytest.raises((ValueError, AssertionError)) as caught:
        module.init_params()
    assert caught.value.clause == clause
    assert len(str(caught.value)) < 500
