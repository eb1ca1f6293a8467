"""Symbol files of every generation, text that MXNet reads back, casts that are left out, and damage.

tests/fixtures/symbols-expected.json is what MXNet 1.9.1 makes of the three old files (make_formats.py). The
other numbers and texts were printed by mx.sym.load_json(...).attr_dict() and .tojson() of MXNet 1.9.1.
"""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels.foundation import Op
from refimpl.symbol import json_format, upgrades
from refimpl.symbol.ir import Entry, Node
from refimpl.symbol.symbol import Symbol
from refimpl.util import np_shape

sym = mx.sym
FIXTURES = Path(__file__).parents[1] / "fixtures"
EXPECTED = json.loads((FIXTURES / "symbols-expected.json").read_text(encoding="utf-8"))
SHAPES = {"0.8": (2, 1, 3, 3), "0.9.3": (2, 3), "1.5": (2, 4)}


def numbers(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """As in make_formats.py."""
    count, start = np.arange(np.prod(shape)), sum(map(ord, name))
    return ((count * count + count * start + start) % 31 - 15).reshape(shape) / 16


def node(op: str, name: str, *inputs, **fields) -> dict:
    return {"op": op, "name": name, "inputs": [list(i) for i in inputs], **fields}


def file(*nodes: dict, heads=None, version: int | None = 10901, **fields) -> str:
    graph = {
        "nodes": list(nodes), "arg_nodes": [i for i, n in enumerate(nodes) if n["op"] == "null"],
        "heads": [[len(nodes) - 1, 0, 0]] if heads is None else heads,
    }
    if version is not None:
        graph["attrs"] = {"mxnet_version": ["int", version]}
    return json.dumps({**graph, **fields})


def fully(version: int | None, attr: dict, weight: dict | None = None) -> str:
    return file(
        node("null", "data"), node("null", "w", attr=weight or {}), node("null", "b"),
        node("FullyConnected", "fc", (0, 0), (1, 0), (2, 0), param={"num_hidden": "3"}, attr=attr), version=version,
    )


def refused(text: str, match: str, clause: str = "symbol-file/valid") -> None:
    with pytest.raises(mx.MXNetError, match=match) as caught:
        sym.load_json(text)
    assert caught.value.clause == clause


# --- older files ----------------------------------------------------------------------------------


@pytest.mark.clause(
    "symbol-file/older-versions", "symbol-file/hidden-keys", "symbol-file/missing-inputs",
    "symbol-file/initializers", "symbol-file/argmax",
)
@pytest.mark.parametrize("version", EXPECTED)
def test_an_old_file_means_what_mxnet_makes_of_it(version: str) -> None:
    net, expected = sym.load(str(FIXTURES / f"symbol-{version}.json")), EXPECTED[version]
    assert net.list_arguments() == expected["arguments"]
    assert net.list_auxiliary_states() == expected["auxiliary"]
    assert net.list_outputs() == expected["outputs"]
    assert net.attr_dict() == expected["attributes"]
    shapes, _, state_shapes = net.infer_shape(data=SHAPES[version])
    values = {n: numbers(n, s) for n, s in zip(net.list_arguments(), shapes, strict=True)}
    values.update({n: abs(v) + 0.5 for n, v in values.items() if n.startswith("bn_")})
    if "softmax_label" in values:
        values["softmax_label"] = np.array([0, 2])
    names = net.list_auxiliary_states()
    states = {n: abs(numbers(n, s)) + 0.5 for n, s in zip(names, state_shapes, strict=True)}
    executor = net.bind(
        mx.cpu(), {n: mx.nd.array(v) for n, v in values.items()},
        aux_states={n: mx.nd.array(v) for n, v in states.items()},
    )
    for found, wanted in zip(executor.forward(is_train=False), expected["results"], strict=True):
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.clause("symbol-file/hidden-keys")
@pytest.mark.parametrize("version", [None, 800, 900, 905, 1000, 10500])
def test_keys_of_the_graph_are_hidden_in_every_older_file(version: int | None) -> None:
    net = sym.load_json(fully(version, {"ctx_group": "d", "weight_lr_mult": ".5"}, {"lr_mult": "7", "free": "z"}))
    assert net.attr_dict() == {
        "w": {"__lr_mult__": ".5", "lr_mult": ".5", "free": "z"},
        "fc": {"__ctx_group__": "d", "ctx_group": "d", "num_hidden": "3"},
    }


@pytest.mark.clause("symbol-file/hidden-keys")
def test_other_attributes_reach_the_operator() -> None:
    for version in (None, 10901):
        refused(fully(version, {"zork": "1"}), r"node 3 \(fc\).*zork", "params/unknown-name")
        refused(fully(version, {"weightlr_mult": "1"}), "weightlr_mult", "params/unknown-name")
    refused(fully(10901, {"weight_lr_mult": "1"}), "weight_lr_mult", "params/unknown-name")
    inner = file(  # MXNet: only a variable takes it
        node("null", "data"), node("relu", "r", (0, 0)), node("null", "b"),
        node("FullyConnected", "fc", (0, 0), (1, 0), (2, 0), attr={"num_hidden": "3", "weight_lr_mult": "1"}),
        version=None,
    )
    refused(inner, "weight_lr_mult", "params/unknown-name")


@pytest.mark.clause("symbol-file/hidden-keys")
def test_inputs_of_an_operator_with_any_number_of_them() -> None:
    net = sym.load_json(file(
        node("null", "a"), node("null", "b"),
        node("Concat", "c", (0, 0), (1, 0), attr={"num_args": "2", "dim": "1", "arg0_lr_mult": ".5"}), version=None,
    ))
    assert net.attr_dict() == {"a": {"__lr_mult__": ".5", "lr_mult": ".5"}, "c": {"dim": "1", "num_args": "2"}}


@pytest.mark.clause("symbol-file/missing-inputs")
def test_only_0_8_left_inputs_out() -> None:
    short = [node("null", "data"), node("FullyConnected", "fc", (0, 0), attr={"num_hidden": "3"})]
    net = sym.load_json(file(*short, version=None))
    assert net.list_arguments() == ["data", "fc_weight", "fc_bias"]
    assert net.attr_dict()["fc_weight"] == {"num_hidden": "3"}
    for version in (900, 10901):
        refused(file(*short, version=version), "takes 3 inputs .*, the file gives 1")


@pytest.mark.clause("symbol-file/initializers")
@pytest.mark.parametrize(("version", "hinted"), [(800, True), (903, True), (904, False), (10901, False)])
def test_variables_get_their_initializer(version: int, hinted: bool) -> None:
    inputs = [node("null", name) for name in ("data", "g", "b", "m", "v")]
    net = sym.load_json(file(*inputs, node("BatchNorm", "bn", *((i, 0) for i in range(5))), version=version))
    expected = {"m": {"__init__": '["zero", {}]'}, "v": {"__init__": '["one", {}]'}} if hinted else {}
    assert net.attr_dict() == expected


@pytest.mark.clause("symbol-file/argmax")
@pytest.mark.parametrize(("version", "kept"), [(None, False), (904, False), (905, True), (10901, True)])
@pytest.mark.parametrize("op", ["argmax", "argmin"])
def test_the_last_axis_once_meant_all(version: int | None, kept: bool, op: str) -> None:
    net = sym.load_json(file(node("null", "x"), node(op, "am", (0, 0), attr={"axis": "-1"}), version=version))
    assert net.attr("axis") == ("-1" if kept else None)


@pytest.mark.clause("symbol-file/other-version")
def test_what_is_not_of_today_is_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        sym.load_json(file(node("null", "x", attr={"lr_mult": "1"}), version=None))
        sym.load_json(file(node("null", "x"), version=10500))
    assert [r.getMessage() for r in caplog.records] == [
        "json was saved by MXNet 0.8.0 and is read as of 1.9.1 (hide_keys)",
        "json was saved by MXNet 1.5.0 and is read as of 1.9.1 (nothing had to change)",
    ]
    with pytest.warns(UserWarning, match=r"MXNet 2\.0\.0, which is newer than the 1\.9\.1"):
        sym.load_json(file(node("null", "x"), version=20000))
    for wrong in (["str", "x"], ["int", -1], 3, ["int"], ["int", True]):
        refused(file(node("null", "x"), version=None, attrs={"mxnet_version": wrong}), "mxnet_version")


@pytest.mark.clause("symbol-file/older-versions")
def test_attr_overrules_param() -> None:
    fields = {"attrs": {"slope": "0.125"}, "param": {"slope": "0.5", "act_type": "leaky"}}
    net = sym.load_json(file(node("null", "x"), node("LeakyReLU", "l", (0, 0), **fields), version=None))
    assert net.attr_dict()["l"] == {"slope": "0.125", "act_type": "leaky"}


# --- order, fields --------------------------------------------------------------------------------


@pytest.mark.clause("symbol-file/order")
def test_nodes_may_stand_in_any_order_but_not_in_a_circle() -> None:
    net = sym.load_json(file(node("relu", "r", (2, 0, 0)), node("null", "a"), node("relu", "s", (1, 0, 0)),
                             heads=[[0, 0, 0]]))
    assert [n["name"] for n in json.loads(net.tojson())["nodes"]] == ["a", "s", "r"]
    refused(file(node("relu", "r", (0, 0, 0))), r"node 0 \(r\) and node 0 \(r\) depend on each other")
    refused(
        file(node("relu", "r", (1, 0)), node("null", "a"), node("broadcast_add", "s", (1, 0), (3, 0)),
             node("relu", "t", (2, 0)), heads=[[0, 0]]), r"\(s\) and node 3 \(t\)|\(t\) and node 2 \(s\)",
    )


@pytest.mark.clause("symbol-file/control-flow")
def test_control_dependencies_are_checked() -> None:
    net = sym.load_json(file(node("null", "a"), node("relu", "r", (0, 0), control_deps=[0], subgraphs=[])))
    assert net.list_arguments() == ["a"]
    refused(file(node("null", "a"), node("relu", "r", (0, 0), control_deps=[7])), "control_deps")


# --- damage ---------------------------------------------------------------------------------------

NOT_NODES = {
    "unknown field": file(node("null", "a", foo=1)),
    "unknown top": file(node("null", "a"), zork=1),
    "no heads": file(node("null", "a"), heads=[]),
    "head beyond": file(node("null", "a"), heads=[[1, 0, 0]]),
    "input beyond": file(node("null", "a"), node("relu", "r", (5, 0))),
    "output beyond": file(node("null", "a"), node("relu", "r", (0, 1))),
    "truth": file(node("null", "a"), node("relu", "r", (False, 0))),
    "fraction": file(node("null", "a"), node("relu", "r", (0, 0.5))),
    "negative": file(node("null", "a"), node("relu", "r", (-1, 0))),
    "four": file(node("null", "a"), node("relu", "r", (0, 0, 0, 0))),
    "number as attribute": file(node("null", "a", attrs={"x": 1})),
    "null as attributes": file(node("null", "a", attrs=None)),
    "variable with inputs": file(node("null", "a"), node("null", "b", (0, 0))),
    "inputs no list": file({"op": "null", "name": "a", "inputs": 3}),
    "attrs no map": file(node("null", "a"), version=None, attrs=[]),
    "nesting": file(node("null", "a"), node("Reshape", "r", (0, 0), attrs={"shape": "(" * 5000})),
    "endless outputs": file(node("null", "a"), node("SliceChannel", "s", (0, 0), attrs={"num_outputs": "1" * 9})),
    "endless inputs": file(node("null", "a"), node("Concat", "c", (0, 0), attrs={"num_args": "1" * 12})),
    "endless inputs of 0.8": file(
        node("null", "a"), node("Concat", "c", (0, 0), attr={"num_args": "9" * 12, "arg0_lr_mult": "1"}), version=None,
    ),
}


@pytest.mark.clause("symbol-file/valid")
@pytest.mark.parametrize("name", NOT_NODES)
def test_damage_is_refused_in_no_time(name: str) -> None:
    start = time.process_time()
    with pytest.raises(mx.MXNetError, match="Failed to load symbol from json: "):
        sym.load_json(NOT_NODES[name])
    assert time.process_time() - start < 0.5


@pytest.mark.clause("symbol-file/valid", "Files/foreign")
@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('{"nodes": [NaN]}', "character 11: NaN"),
        ('{"nodes": "NaN", "heads": [-Infinity]}', "character 28: -Infinity"),
        ('{"nodes": [' + "1" * 10000 + "]}", "character 11: the number 111111111111111111... is too long"),
        ("[" * 100_000, "character 200: nested deeper"),
        ('{"a": "[[' + "[" * 300 + '", "b": ' + "[" * 100_000, "character 516: nested deeper"),
        ('{"nodes": [', "character 11: not JSON"),
        ("[1]", "character 0: the file is no map"),
        ("<!doctype html><html>", "character 0: it is an HTML page"),
        ("version https://git-lfs.github.com/spec/v1\noid x", "git lfs pull"),
        ("", "it is empty"),
    ],
)
def test_text_that_is_no_graph_is_refused_with_its_place(text: str, match: str) -> None:
    refused(text, match)


@pytest.mark.clause("symbol-file/readable")
def test_bytes_that_are_no_text_are_refused_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "x-symbol.json"
    path.write_bytes(b'{"nodes": "\xff"}')
    with pytest.raises(mx.MXNetError, match=r"x-symbol\.json.*position 11"):
        sym.load(str(path))


# --- writing --------------------------------------------------------------------------------------


@pytest.mark.clause("symbol-file/text")
def test_text_is_written_with_the_escapes_that_mxnet_reads() -> None:
    name = 'dät"\\\n\t\r\x01/中\x08'
    written = sym.Variable(name).tojson()
    assert r'"name": "dät\"\\' + "\\n\\t\\r\x01/中\x08" + '"' in written
    assert sym.load_json(written).name == name
    assert sym.load_json(json.dumps(json.loads(written, strict=False))).name == name


@pytest.mark.clause("symbol-file/np-shape")
def test_np_shape_is_written_down() -> None:
    with np_shape(True):
        written = sym.Variable("q").tojson()
    assert written.endswith('"attrs": {\n    "is_np_shape": ["int", 1], \n    "mxnet_version": ["int", 10901]\n  }\n}')
    assert "is_np_shape" not in sym.load_json(written).tojson()


def _stand_in(name: str, count: int) -> Op:
    names = tuple(f"data{i}" for i in range(count))
    return Op(
        name=name, doc="", forward=lambda p, *buffers: None, infer=lambda p, ins, outs: (ins, ins), inputs=names,
        all_inputs=names, outputs=tuple(f"output{i}" for i in range(count)),
    )


def _apply(op: Op, name: str, *inputs: Entry) -> list[Entry]:
    made = Node(op, name, {}, inputs)
    return [Entry(made, i) for i in range(made.output_count())]


@pytest.mark.clause("symbol-file/amp-cast")
def test_casts_of_mixed_precision_are_left_out_unless_they_are_outputs() -> None:
    """MXNet: relu(amp_cast(a + b)) over amp_multicast(fc(amp_cast(data)), z) becomes relu(fc(data) + z)."""
    cast, both = _stand_in("amp_cast", 1), _stand_in("amp_multicast", 2)
    half = _apply(cast, "half", sym.Variable("data").entries[0])
    twice = _apply(cast, "again", *half)
    relu = sym.relu(Symbol(twice), name="r").entries[0]
    left, right = _apply(both, "mc", relu, sym.Variable("z").entries[0])
    total = sym.elemwise_add(Symbol([right]), Symbol([left]), name="sum")
    (head,) = _apply(cast, "back", *total.entries)

    def written(*heads: Entry, **options) -> list:
        graph = json.loads(json_format.to_json(heads, **options))
        return [(n["name"], [i[:2] for i in n["inputs"]]) for n in graph["nodes"]]

    plain = [("data", []), ("r", [[0, 0]]), ("z", []), ("sum", [[2, 0], [1, 0]])]
    assert written(*total.entries) == [("z", []), ("data", []), ("r", [[1, 0]]), ("sum", [[0, 0], [2, 0]])]
    assert len(written(*total.entries, remove_amp_cast=False)) == 7
    assert sorted(n for n, _ in written(head)) == sorted([*(n for n, _ in plain), "back"])
    assert written(*half, relu) == [("data", []), ("half", [[0, 0]]), ("r", [[0, 0]])]
    assert relu.node.inputs == twice  # the graph itself stays as it was


@pytest.mark.clause("symbol-file/amp-cast")
def test_a_symbol_writes_its_casts_when_told_to(tmp_path: Path) -> None:
    """MXNet: without casts, nothing reads b any more."""
    net = sym.amp_multicast(sym.Variable("a"), sym.Variable("b"), num_outputs=2)[0] * 2
    for options, arguments in (({}, ["a"]), ({"remove_amp_cast": False}, ["a", "b"])):
        net.save(str(tmp_path / "symbol.json"), **options)
        assert sym.load(str(tmp_path / "symbol.json")).list_arguments() == arguments
        assert sym.load_json(net.tojson(**options)).list_arguments() == arguments


@pytest.mark.clause("symbol-file/older-versions")
def test_the_table_of_upgrades_is_in_order() -> None:
    assert [before for before, _ in upgrades.UPGRADES] == [10901, 905]
    assert upgrades.spelled(10901) == "1.9.1"


@pytest.mark.clause("symbol-file/amp-cast")
def test_tojson_and_save_leave_casts_out_or_keep_them(tmp_path: Path) -> None:
    # MXNet 1.9.1: the same calls; the operators of tojson(...) and of the file that save(...) writes
    cast = sym.amp_cast(sym.Variable("data"), dtype="float16", name="ac")
    both = sym.amp_multicast(cast, sym.Variable("w"), num_outputs=2, name="am")
    total = sym.elemwise_add(both[0], both[1], name="z")
    plain, cast_too = ["null", "null", "elemwise_add"], ["null", "amp_cast", "null", "amp_multicast", "elemwise_add"]

    def operators(text: str) -> list[str]:
        return [node["op"] for node in json.loads(text)["nodes"]]

    path = tmp_path / "net.json"
    for keep, wanted in (({}, plain), ({"remove_amp_cast": True}, plain), ({"remove_amp_cast": False}, cast_too)):
        total.save(str(path), **keep)
        assert operators(total.tojson(**keep)) == operators(path.read_text()) == wanted
    assert operators(cast.tojson()) == ["null", "amp_cast"]
    assert operators(sym.Group([both, total]).tojson()) == ["null", "null", "amp_multicast", "elemwise_add"]


# 1.9.1: the file is read under np_shape(True), and infer_shape_partial(y=(4, 3)) gives these shapes
@pytest.mark.clause("symbol-file/np-shape")
@pytest.mark.parametrize(("shape", "follows"), [((0, 3), (4, 3)), ((0, 0), (4, 3)), ((), (4, 3)), ((4, 0), (4, 3))])
def test_a_side_0_of_a_file_from_outside_np_shape_is_unknown(shape, follows) -> None:
    variable = mx.sym.var("x", attr={"__shape__": str(shape)})
    outside = mx.sym.elemwise_add(variable, mx.sym.var("y")).tojson()
    with mx.util.np_shape(True):
        read = mx.sym.load_json(outside)
        assert read.infer_shape_partial(y=(4, 3))[0] == [follows, (4, 3)]
        inside = mx.sym.var("x", shape=(0, 3)).tojson()  # here 0 is a size
        assert mx.sym.load_json(inside).infer_shape_partial()[0] == [(0, 3)]
