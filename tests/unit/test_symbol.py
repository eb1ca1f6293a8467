"""Symbols: names, composition, attributes and files, as MXNet 1.9.1 has them."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import refimpl as mx

sym = mx.sym

# Printed by MXNet 1.9.1, each in a fresh process with a, b = Variable("a"), Variable("b"):
#   s = eval(e); print(e, s.name, json.loads(s.tojson())["nodes"][-1]["op"])
NAMES = [
    ("a == b", "_equal0", "_equal"), ("a != 1", "_not_equal_scalar0", "_not_equal_scalar"),
    ("a >= b", "_greater_equal0", "_greater_equal"), ("a < 1", "_lesser_scalar0", "_lesser_scalar"),
    ("a % 2", "_modscalar0", "_mod_scalar"), ("2 % a", "_rmodscalar0", "_rmod_scalar"),
    ("a + b", "_plus0", "elemwise_add"), ("a - b", "_minus0", "elemwise_sub"),
    ("a * b", "_mul0", "elemwise_mul"), ("a / b", "_div0", "elemwise_div"),
    ("a + 1", "_plusscalar0", "_plus_scalar"), ("1 - a", "_rminusscalar0", "_rminus_scalar"),
    ("2 / a", "_rdivscalar0", "_rdiv_scalar"), ("a ** 2", "_powerscalar0", "_power_scalar"),
    ("2 ** a", "_rpower_scalar0", "_rpower_scalar"), ("-a", "_mulscalar0", "_mul_scalar"),
    ("sym.maximum(a, b)", "_maximum0", "_maximum"), ("sym.maximum(a, 1)", "_maximumscalar0", "_maximum_scalar"),
    ("sym.pow(2, a)", "_rpowerscalar0", "_rpower_scalar"), ("sym.concat(a, b)", "concat0", "Concat"),
    ("sym.Concat(a, b)", "concat0", "Concat"), ("sym.split(a, num_outputs=2)", "split0", "SliceChannel"),
    ("sym.BlockGrad(a)", "blockgrad0", "BlockGrad"), ("sym.identity(a)", "identity0", "_copy"),
    ("sym.flatten(a)", "flatten0", "Flatten"), ("a.sum()", "sum0", "sum"),
    ("sym.zeros((2,))", "_zeros0", "_zeros"), ("a.reshape((1, 2))", "reshape0", "Reshape"),
]


@pytest.mark.clause("Symbol/automatic-names")
@pytest.mark.parametrize(("expression", "name", "op"), NAMES)
def test_automatic_names_and_operators(expression: str, name: str, op: str) -> None:
    with mx.name.NameManager():
        scope = {"a": sym.Variable("a"), "b": sym.Variable("b"), "sym": sym}
        made = eval(expression, scope)  # literals of this file
    assert made.name == name
    assert made.entries[0].node.kind == op


@pytest.mark.clause("Symbol/automatic-names")
def test_prefix_reaches_operators_and_their_variables() -> None:
    a = sym.Variable("a")
    with mx.name.Prefix("p_"):
        c = sym.FullyConnected(a, num_hidden=2)
        d = sym.FullyConnected(a, num_hidden=2, name="n")
    assert c.list_arguments() == ["a", "p_fullyconnected0_weight", "p_fullyconnected0_bias"]
    assert d.name == "p_n"


# MXNet 1.9.1:
#   a = mx.sym.Variable("data"); b = mx.sym.Variable("x", shape=(2, 3), lr_mult=2.)
#   with mx.AttrScope(ctx_group="dev1"): net = mx.sym.concat(mx.sym.FullyConnected(a, num_hidden=3, name="fc"), b)
#   print(net.tojson())
RECORDED = """{
  "nodes": [
    {
      "op": "null", 
      "name": "data", 
      "inputs": []
    }, 
    {
      "op": "null", 
      "name": "fc_weight", 
      "attrs": {
        "__ctx_group__": "dev1", 
        "num_hidden": "3"
      }, 
      "inputs": []
    }, 
    {
      "op": "null", 
      "name": "fc_bias", 
      "attrs": {
        "__ctx_group__": "dev1", 
        "num_hidden": "3"
      }, 
      "inputs": []
    }, 
    {
      "op": "FullyConnected", 
      "name": "fc", 
      "attrs": {
        "__ctx_group__": "dev1", 
        "num_hidden": "3"
      }, 
      "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]
    }, 
    {
      "op": "null", 
      "name": "x", 
      "attrs": {
        "__lr_mult__": "2.0", 
        "__shape__": "(2, 3)"
      }, 
      "inputs": []
    }, 
    {
      "op": "Concat", 
      "name": "concat0", 
      "attrs": {
        "__ctx_group__": "dev1", 
        "num_args": "2"
      }, 
      "inputs": [[3, 0, 0], [4, 0, 0]]
    }
  ], 
  "arg_nodes": [0, 1, 2, 4], 
  "node_row_ptr": [0, 1, 2, 3, 4, 5, 6], 
  "heads": [[5, 0, 0]], 
  "attrs": {"mxnet_version": ["int", 10901]}
}"""


def _recorded_net() -> mx.sym.Symbol:
    with mx.name.NameManager():
        a, b = sym.Variable("data"), sym.Variable("x", shape=(2, 3), lr_mult=2.0)
        with mx.AttrScope(ctx_group="dev1"):
            return sym.concat(sym.FullyConnected(a, num_hidden=3, name="fc"), b)


@pytest.mark.clause("symbol-file/layout")
def test_the_file_is_that_of_mxnet_byte_for_byte() -> None:
    assert _recorded_net().tojson() == RECORDED


@pytest.mark.clause("symbol-file/layout")
@pytest.mark.parametrize(("mode", "state_outputs", "rows"), [
    ("lstm", False, [0, 1, 2, 3, 4, 5]), ("lstm", True, [0, 1, 2, 3, 4, 7]), ("gru", True, [0, 1, 2, 3, 5]),
])
def test_the_file_counts_what_is_seen_of_an_rnn(mode: str, state_outputs: bool, rows: list[int]) -> None:
    # MXNet 1.9.1: json.loads(mx.sym.RNN(mx.sym.Variable("x"), state_size=2, num_layers=1, mode=mode,
    # state_outputs=state_outputs).tojson())["node_row_ptr"]
    net = sym.RNN(sym.Variable("x"), state_size=2, num_layers=1, mode=mode, state_outputs=state_outputs)
    assert json.loads(net.tojson())["node_row_ptr"] == rows


@pytest.mark.clause("SliceChannel/names")
@pytest.mark.parametrize("parts", [1, 2])
def test_parts_are_numbered(parts: int) -> None:
    # MXNet 1.9.1: mx.sym.split(mx.sym.Variable("x"), num_outputs=parts).list_outputs()
    net = sym.split(sym.Variable("x"), num_outputs=parts, name="split0")
    assert net.list_outputs() == ["split0_output0", "split0_output1"][:parts]


@pytest.mark.clause("symbol-file/round-trip")
def test_save_and_load(tmp_path: Path) -> None:
    path = tmp_path / "net-symbol.json"
    _recorded_net().save(str(path))
    assert path.read_text() == RECORDED
    assert sym.load(str(path)).tojson() == RECORDED
    for again in (copy.deepcopy(_recorded_net()), pickle.loads(pickle.dumps(_recorded_net()))):
        assert again.tojson() == RECORDED


# The shape of a file of MXNet 0.8: "param" and "attr" instead of attrs, pairs as inputs, no auxiliary states.
VERSION_0_8 = """{"nodes": [
  {"op": "null", "param": {}, "name": "data", "inputs": [], "backward_source_id": -1},
  {"op": "null", "param": {}, "name": "bn_gamma", "inputs": [], "backward_source_id": -1,
   "attr": {"lr_mult": "0.5"}},
  {"op": "null", "param": {}, "name": "bn_beta", "inputs": [], "backward_source_id": -1},
  {"op": "BatchNorm", "param": {"eps": "0.001", "fix_gamma": "False"}, "name": "bn",
   "inputs": [[0, 0], [1, 0], [2, 0]], "backward_source_id": -1}],
 "arg_nodes": [0, 1, 2], "heads": [[3, 0]]}"""


@pytest.mark.clause("symbol-file/older-versions")
def test_a_file_of_0_8_is_read() -> None:
    net = sym.load_json(VERSION_0_8)
    assert net.list_arguments() == ["data", "bn_gamma", "bn_beta"]
    assert net.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    assert net.attr_dict()["bn_gamma"]["lr_mult"] == "0.5"
    assert net.attr("fix_gamma") == "False"


@pytest.mark.clause("symbol-file/valid")
@pytest.mark.parametrize(
    "text",
    [
        "", "<html>", "[]", "{}", '{"nodes": 3}', '{"nodes": []}', '{"nodes": [3], "heads": []}',
        '{"nodes": [{"op": "null"}], "heads": [[0, 0]]}',
        '{"nodes": [{"op": "null", "name": "a", "inputs": []}], "heads": [[1, 0]]}',
        '{"nodes": [{"op": "null", "name": "a", "inputs": []}], "heads": [[0, 5]]}',
        '{"nodes": [{"op": "relu", "name": "a", "inputs": [[0, 0]]}], "heads": [[0, 0]]}',
        '{"nodes": [{"op": "null", "name": "a", "attrs": {"x": 1}}], "heads": [[0, 0]]}',
        '{"nodes": [{"op": "relu", "name": "a", "inputs": []}], "heads": [[0, 0]]}',
        '{"nodes": [{"op": "null", "name": "a", "inputs": {}}], "heads": "x"}',
        "[" * 100_000,
    ],
)
def test_a_damaged_file_is_refused(text: str) -> None:
    with pytest.raises(mx.MXNetError, match="Failed to load symbol from json") as caught:
        sym.load_json(text)
    assert caught.value.clause == "symbol-file/valid"


@pytest.mark.clause("symbol-file/readable")
def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(mx.MXNetError, match="nothing-symbol"):
        sym.load(str(tmp_path / "nothing-symbol.json"))


@pytest.mark.clause("Symbol/compose")
def test_composition_replaces_variables_in_a_copy() -> None:
    inner = sym.FullyConnected(sym.Variable("a"), num_hidden=2, name="f1")
    outer = sym.FullyConnected(sym.Variable("z"), num_hidden=2, name="f2")
    both = outer(z=inner, name="composed")
    assert both.list_arguments() == ["a", "f1_weight", "f1_bias", "f2_weight", "f2_bias"]
    assert both.name == "composed"
    assert outer.list_arguments() == ["z", "f2_weight", "f2_bias"]


@pytest.mark.clause("Symbol/attributes")
def test_attributes() -> None:
    x = sym.Variable("x", shape=(2, 3), lr_mult=2.0, init=mx.init.One(), dtype="float64", __foo__="3")
    assert x.list_attr() == {
        "__init__": '["one", {}]', "__foo__": "3", "__dtype__": "1", "__lr_mult__": "2.0", "lr_mult": "2.0",
        "__shape__": "(2, 3)",
    }
    assert x.attr("lr_mult") == "2.0"
    net = sym.FullyConnected(x, num_hidden=2, name="f")
    assert net.attr_dict()["f_weight"] == {"num_hidden": "2"}
    with mx.AttrScope(__a__="1"), mx.AttrScope(__b__="2"):
        assert sym.Variable("y").list_attr() == {"__a__": "1", "__b__": "2"}


@pytest.mark.clause("Symbol/parts")
def test_internals_children_groups_and_indexing() -> None:
    net = sym.FullyConnected(sym.Variable("a"), num_hidden=2, name="f")
    assert net.get_internals().list_outputs() == ["a", "f_weight", "f_bias", "f_output"]
    assert net.get_children().list_outputs() == ["a", "f_weight", "f_bias"]
    assert sym.Variable("a").get_children() is None
    parts = sym.SliceChannel(net, num_outputs=2, name="s")
    assert parts.list_outputs() == ["s_output0", "s_output1"]
    assert parts["s_output1"].list_outputs() == ["s_output1"]
    assert [p.name for p in parts] == ["s", "s"]
    group = sym.Group([net, parts])
    assert len(group) == 3
    assert group.name is None
    assert group[1:].list_outputs() == ["s_output0", "s_output1"]
    assert "group" in repr(group)


@pytest.mark.clause("infer/incomplete")
def test_inference_of_what_cannot_be_known() -> None:
    net = sym.FullyConnected(sym.Variable("a"), num_hidden=2, name="f")
    assert net.infer_shape(a=(4, 3)) == ([(4, 3), (2, 3), (2,)], [(4, 2)], [])
    with pytest.warns(UserWarning, match="Cannot decide shape"):
        assert net.infer_shape(f_weight=(2, 7)) == (None, None, None)
    assert net.infer_type(a="float64") == ([np.float64] * 3, [np.float64], [])
    assert net.infer_type() == (None, None, None)
    assert net.infer_shape_partial(a=(0, 3))[1] == [(0, 2)]


@pytest.mark.clause("infer/explained")
def test_a_contradiction_names_node_given_and_expected() -> None:
    net = sym.FullyConnected(sym.Variable("a"), num_hidden=2, name="f")
    with pytest.raises(mx.MXNetError) as caught:
        net.infer_shape(a=(4, 3), f_weight=(2, 5))
    text = str(caught.value)
    assert all(part in text for part in ("Error in operator f", "[2, 5]", "[2, 3]", "FullyConnected/weight-shape"))


@pytest.mark.clause("Symbol/not-for-symbols")
def test_what_symbols_refuse() -> None:
    a = sym.Variable("a")
    for call in (lambda: a.asnumpy(), lambda: bool(a), lambda: a.__iadd__(1), lambda: a.wait_to_read()):
        with pytest.raises(mx.base.NotImplementedForSymbol):
            call()
    assert hasattr(a, "asnumpy")  # scripts ask this of arrays and symbols alike
    with pytest.raises(TypeError):
        hash(a)
    with pytest.raises(AttributeError):
        a.nothing  # noqa: B018  # the access is the test


def test_astype_casts() -> None:
    half = sym.Variable("a").astype(np.float16)
    assert (half.list_arguments(), half.name.rstrip("0123456789")) == (["a"], "cast")
    assert half.infer_type(a="float32")[1] == [np.float16]


def test_abs_is_an_operator() -> None:
    assert abs(sym.Variable("a")).eval(a=mx.nd.array([-2, 3]))[0].asnumpy().tolist() == [2, 3]


@pytest.mark.clause("Symbol/eval")
def test_eval() -> None:
    a, b = sym.Variable("a"), sym.Variable("b")
    (out,) = (a * b).eval(ctx=mx.cpu(), a=mx.nd.array([2, 3]), b=mx.nd.array([5, 7]))
    assert out.asnumpy().tolist() == [10, 21]
