"""Keywords of operators on symbols that are for the graph: learning rates, device groups, mirroring."""

from __future__ import annotations

import json
from typing import Any

import pytest

import refimpl as mx

sym = mx.sym

# MXNet 1.9.1, for each row (key, value):
#   net = mx.sym.FullyConnected(mx.sym.var("d"), num_hidden=3, name="fc", **{key: value})
#   print(net.attr_dict()["fc"], [n["attrs"] for n in json.loads(net.tojson())["nodes"][1:]])
# The nodes fc, fc_weight and fc_bias have the same attributes, d has none. Files have one spelling only.
KEYWORDS = [
    ("ctx_group", "a", "__ctx_group__", "a", True), ("lr_mult", 2.0, "__lr_mult__", "2.0", True),
    ("wd_mult", 0, "__wd_mult__", "0", True), ("force_mirroring", True, "__force_mirroring__", "True", True),
    ("mirror_stage", 1, "__mirror_stage__", "1", True), ("lr_mult", None, "__lr_mult__", "None", True),
    ("lr_multx", 1.5, "__lr_multx__", "1.5", False), ("ctx_group_x", "b", "__ctx_group_x__", "b", False),
    ("lr_mult_wd_mult", "1", "__lr_mult_wd_mult__", "1", False), ("__foo__", 3, "__foo__", "3", False),
    ("__foo__", None, "__foo__", "None", False), ("__lr_mult__", 3, "__lr_mult__", "3", True),
    ("__profiler_scope__", "z", "__profiler_scope__", "z", False),
]


@pytest.mark.clause("Symbol/graph-keywords")
@pytest.mark.parametrize(("key", "value", "stored", "text", "twice"), KEYWORDS)
def test_keywords_are_attributes(key: str, value: Any, stored: str, text: str, twice: bool) -> None:
    net = sym.FullyConnected(sym.var("d"), num_hidden=3, name="fc", **{key: value})
    expected = {"num_hidden": "3", stored: text}
    shown = {**expected, stored.strip("_"): text} if twice else expected
    assert net.attr_dict() == {"fc_weight": shown, "fc_bias": shown, "fc": shown}
    assert [n.get("attrs") for n in json.loads(net.tojson())["nodes"]] == [None, expected, expected, expected]
    assert sym.load_json(net.tojson()).attr_dict() == net.attr_dict()


# MXNet 1.9.1, as above, with d = mx.sym.var("d"), w = mx.sym.var("w"); each printed its attr_dict().
@pytest.mark.clause("Symbol/graph-keywords")
def test_kinds_of_operators() -> None:
    d, w = sym.var("d"), sym.var("w")
    once = {"__lr_mult__": "2", "lr_mult": "2"}
    assert sym.FullyConnected(d, w, num_hidden=3, name="fc", lr_mult=2).attr_dict() == {
        "fc_bias": {"num_hidden": "3", **once}, "fc": {"num_hidden": "3", **once},
    }
    assert sym.BatchNorm(d, name="bn", lr_mult=2).attr_dict() == {
        "bn_gamma": once, "bn_beta": once, "bn": once,
        "bn_moving_mean": {"__init__": '["zero", {}]', **once}, "bn_moving_var": {"__init__": '["one", {}]', **once},
    }
    assert sym.Concat(d, w, name="c", lr_mult=2).attr_dict() == {"c": {"num_args": "2", **once}}
    assert sym.relu(d, name="r", lr_mult=2, __foo__=3, mood=4).attr_dict() == {
        "r": {"__foo__": "3", "mood": "4", **once}
    }
    assert sym.elemwise_add(d, d, name="r", __lr_mult__=3, wd_mult=2).attr_dict() == {
        "r": {"__lr_mult__": "3", "lr_mult": "3", "__wd_mult__": "2", "wd_mult": "2"}
    }
    with mx.name.NameManager():
        assert d.sum(lr_mult=2).attr_dict() == {"sum0": once}
        assert sym.random.uniform(0, 1, shape=(2,), lr_mult=2).attr_dict() == {
            "_random_uniform0": {"shape": "(2,)", "high": "1", "low": "0", **once}
        }
    net = sym.FullyConnected(d, num_hidden=3, name="fc", lr_mult=2)
    assert mx.optimizer.SGD(sym=net, param_idx2name={}).lr_mult == {"fc_weight": 2.0, "fc_bias": 2.0}


# MXNet 1.9.1, with d = mx.sym.var("d"); the attribute lr_mult of each:
#   FC = lambda **k: mx.sym.FullyConnected(d, num_hidden=3, name="fc", **k).attr("lr_mult")
#   FC(lr_mult=2, __lr_mult__=7)                                  # 2
#   FC(__lr_mult__=7, lr_mult=2)                                  # 7
#   FC(lr_mult=2, attr={"lr_mult": "5"})                          # 5
#   with mx.AttrScope(lr_mult="9"): FC(lr_mult=2)                 # 9
#   with mx.AttrScope(__lr_mult__="9"): FC(__lr_mult__="7")       # 9
#   with mx.AttrScope(lr_multx="2"): FC()  # the node has __lr_multx__; a variable made there has lr_multx
@pytest.mark.clause("Symbol/graph-keywords", "Symbol/attributes")
def test_which_spelling_counts() -> None:
    def learning_rate(**keywords: Any) -> str | None:
        return sym.FullyConnected(sym.var("d"), num_hidden=3, name="fc", **keywords).attr("lr_mult")

    assert learning_rate(lr_mult=2, __lr_mult__=7) == "2"
    assert learning_rate(__lr_mult__=7, lr_mult=2) == "7"
    assert learning_rate(lr_mult=2, attr={"lr_mult": "5"}) == "5"
    with mx.AttrScope(lr_mult="9"):
        assert learning_rate(lr_mult=2) == "9"
    with mx.AttrScope(__lr_mult__="9"):
        assert learning_rate(__lr_mult__="7") == "9"
        assert learning_rate(lr_mult="7") == "9"  # MXNet keeps 7
    with mx.AttrScope(lr_multx="2"):
        assert sym.relu(sym.var("d", attr={"lr_multx": "3"}), name="r").attr_dict() == {
            "d": {"lr_multx": "3"}, "r": {"__lr_multx__": "2"}
        }


# MXNet 1.9.1: each raised MXNetError "setting variable attributes with weight_lr_mult is deprecated. please instead
# use w = Variable(lr_mult=2) sym = YourSymbolName(weight=w)", with the names of the row.
@pytest.mark.clause("Symbol/attribute-of-input")
@pytest.mark.parametrize("key", [
    "weight_lr_mult", "bias_ctx_group", "weight_force_mirroring", "x_mirror_stage", "weight_wd_mult", "_lr_mult",
    "__lr_mult", "foolr_mult", "force_mirroring_lr_mult",
])
def test_attributes_of_inputs_are_refused(key: str) -> None:
    d = sym.var("d")
    makers = [
        lambda: sym.FullyConnected(d, num_hidden=3, **{key: 2}), lambda: sym.relu(d, **{key: 2}),
        lambda: sym.LinearRegressionOutput(d, **{key: 2}), lambda: sym.var("q", attr={key: "2"}),
        lambda: sym.relu(d, name="r")._set_attr(**{key: "2"}),
    ]
    for make in makers:
        with pytest.raises(mx.MXNetError, match=f"Setting variable attributes with {key} is deprecated"):
            make()
    with mx.AttrScope(**{key: "2"}), pytest.raises(mx.MXNetError, match="Variable"):
        sym.FullyConnected(d, num_hidden=3)


# MXNet 1.9.1: MXNetError "Cannot find argument 'lr_mult'", "... 'profiler_scope'", "... 'foo'"
@pytest.mark.clause("params/unknown-name")
def test_other_keywords_are_refused() -> None:
    d, one = sym.var("d"), mx.nd.ones((2, 2))
    for key in ("profiler_scope", "foo", "_x", "__x", "__a_"):
        with pytest.raises(mx.MXNetError, match=f"cannot find argument '{key}'"):
            sym.FullyConnected(d, num_hidden=3, **{key: 1})
    for key in ("lr_mult", "ctx_group"):
        with pytest.raises(mx.MXNetError, match=f"cannot find argument '{key}'"):
            mx.nd.FullyConnected(one, one, no_bias=True, num_hidden=2, **{key: 1})


# MXNet 1.9.1: LinearRegressionOutput(d, name="l", out_grad=True).attr_dict() is the dict below, for the two others
# too; the graph loads from its JSON. nd.LinearRegressionOutput([[1.], [1.]], [[1.], [1.]], foo=1) is [[1.], [1.]].
@pytest.mark.clause("params/unknown-name")
@pytest.mark.parametrize("name", ["Linear", "Logistic", "MAE"])
def test_regression_outputs_ignore_what_they_do_not_know(name: str) -> None:
    loss = getattr(sym, f"{name}RegressionOutput")(sym.var("d"), name="l", out_grad=True)
    assert loss.attr_dict() == {"l_label": {"out_grad": "True"}, "l": {"out_grad": "True"}}
    assert sym.load_json(loss.tojson()).attr_dict() == loss.attr_dict()
    executor = loss.simple_bind(mx.cpu(), d=(2, 1), l_label=(2, 1))
    assert executor.forward()[0].shape == (2, 1)
    one = mx.nd.ones((2, 1))
    assert mx.nd.LinearRegressionOutput(one, one, foo=1).asnumpy().tolist() == [[1.0], [1.0]]


# MXNet 1.9.1, a CustomOpProp whose constructor takes **k and prints it:
#   mx.sym.Custom(d, op_type="p", name="c", lr_mult=2, __foo__=4).attr_dict()
#   # {"c": {"__foo__": "4", "__lr_mult__": "2", "lr_mult": "2", "op_type": "p"}}
@pytest.mark.clause("Symbol/graph-keywords", "Custom/round-trip")
def test_custom_operators() -> None:
    class Kept(mx.operator.CustomOpProp):
        def __init__(self, **keywords: str) -> None:
            super().__init__(need_top_grad=True)
            assert keywords == {}

    mx.operator.register("graph_keywords")(Kept)
    made = sym.Custom(sym.var("d"), op_type="graph_keywords", name="c", lr_mult=2, __foo__=4)
    assert made.attr_dict() == {
        "c": {"__foo__": "4", "__lr_mult__": "2", "lr_mult": "2", "op_type": "graph_keywords"}
    }
    with pytest.raises(mx.MXNetError, match="deprecated"):
        sym.Custom(sym.var("d"), op_type="graph_keywords", w_lr_mult=2)
