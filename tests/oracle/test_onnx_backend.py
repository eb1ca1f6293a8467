"""The ONNX backend: element types, versions, packing, weights, what is left out, and engines by their names."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from refimpl import cli
from refimpl.oracle.backends import Refused, Unsupported
from refimpl.oracle.backends import onnx as adapter
from refimpl.oracle.drawing.choices import NOTHING
from refimpl.oracle.drawing.drawn_executors import forward_program
from refimpl.oracle.drawing.draws import SeededDraw
from refimpl.oracle.engines import engine_of, names
from refimpl.oracle.judging.comparing import answers_of, judge
from refimpl.oracle.searching import search

onnx = pytest.importorskip("onnx", reason="onnx is not installed; pip install refimpl[onnx]")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed; pip install refimpl[onnx]")
FEW = frozenset({
    "Convolution", "FullyConnected", "elemwise_add", "floor", "_mul_scalar", "transpose", "Concat", "relu", "clip",
    "take",
})


def program(nodes, **arrays):
    """A program of level 1 whose heads are the outputs of the last node; a node is (operator, inputs, attributes)."""
    made = [{"op": "null", "name": name} for name in arrays]
    for op, inputs, attrs in nodes:
        texts = {key: str(value) for key, value in attrs.items()}
        made.append({"op": op, "name": f"n{len(made)}", "inputs": [[i, 0] for i in inputs], "attrs": texts})
    specs = {
        name: {"shape": list(np.shape(value)), "dtype": str(np.asarray(value).dtype),
               "elements": np.ravel(value).tolist()}
        for name, value in arrays.items()
    }
    steps = [{"do": "bind"}, {"do": "forward", "train": False}]
    return {"version": 1, "level": 1, "nodes": made, "heads": [[len(made) - 1, 0]], "arrays": specs, "steps": steps}


def drawn(backend, count, operators=FEW):
    """Drawn programs of some operators."""
    few = backend.capabilities._replace(operators=operators)
    exclude = NOTHING
    for name in backend.leaves_out:
        exclude = exclude.also(operator=name)
    return [forward_program(SeededDraw(i), few, exclude) for i in range(count)]


def kinds(model):
    """The types of a model's inputs and of its constants."""
    graph = onnx.load_from_string(model).graph
    found = {v.type.tensor_type.elem_type for v in graph.input} | {each.data_type for each in graph.initializer}
    return {np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind)).name for kind in found}


SINGLE = np.ones((2, 3), np.float32)


# --- types ------------------------------------------------------------------------------------------


@pytest.mark.clause("oracle/onnx-types")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int32", "int64"])
def test_programs_of_every_type_run_in_their_type(dtype):
    backend = adapter.on("onnxruntime", dtypes=[dtype])
    programs = drawn(backend, 16, FEW - {"floor", "Convolution"} | {"tile", "SwapAxis", "_maximum"})
    verdicts = [judge(backend, each) for each in programs]
    assert [v.reason for v in verdicts if v.status == "failed"] == []
    passed = [each for each, v in zip(programs, verdicts, strict=True) if v.status == "passed"]
    assert len(passed) >= 8
    assert any(dtype in kinds(backend.model(each)) for each in passed)


@pytest.mark.clause("oracle/onnx-types")
def test_a_type_that_an_operator_of_onnx_does_not_take_is_unsupported():
    backend = adapter.on("reference")
    with pytest.raises(Unsupported, match=r"CumSum.* unsupported type: tensor\(int8\)"):
        backend.run(program([("_np_cumsum", [0], {})], x=np.ones(2, np.int8)))
    with pytest.raises(Unsupported, match=r"0\.5 among int32 numbers, which do not hold it"):
        backend.run(program([("_full", [], {"shape": (2,), "value": 0.5, "dtype": "int32"})]))


def test_single_precision_must_hold_attributes_beside_double_ones():
    backend = adapter.on("onnxruntime")

    def normalised(dtype, eps):
        ones = np.ones(3, dtype)
        return program([("LayerNorm", [0, 1, 2], {"eps": eps})], x=np.ones((2, 3), dtype), gamma=ones, beta=ones)

    assert judge(backend, normalised("float64", 0.5)).status == "passed"
    assert judge(backend, normalised("float32", 0.001)).status == "passed"
    with pytest.raises(Unsupported, match="LayerNormalization, which single precision rounds: epsilon"):
        backend.run(normalised("float64", 0.001))


# --- versions, and the form of models ---------------------------------------------------------------


class Old:
    """The reference evaluator, as if it read an old version only."""

    name, version, opset = "old", "1", 17

    def load(self, model):
        return engine_of("reference").load(model)


@pytest.mark.clause("oracle/onnx-opset")
def test_rules_follow_the_version_that_the_engine_reads():
    gelu = program([("LeakyReLU", [0], {"act_type": "gelu"})], x=SINGLE)
    forms = {}
    for engine in (Old(), "onnxruntime"):
        model = onnx.load_from_string(adapter.on(engine).model(gelu))
        forms[model.opset_import[0].version] = (model.ir_version, [node.op_type for node in model.graph.node])
    assert forms == {17: (8, ["Div", "Erf", "Add", "Mul", "Mul"]), 21: (10, ["Gelu"])}
    attrs = {"kernel": (1, 1), "num_filter": 1, "no_bias": True}
    late = program(
        [("_contrib_ModulatedDeformableConvolution", [0, 1, 2, 3], attrs)],
        x=np.ones((1, 1, 2, 2), np.float32), offset=np.zeros((1, 2, 2, 2), np.float32),
        mask=np.ones((1, 1, 2, 2), np.float32), weight=np.ones((1, 1, 1, 1), np.float32),
    )
    with pytest.raises(Unsupported, match="needs opset 19 has no form in ONNX 17"):
        adapter.on(Old()).run(late)
    assert judge(adapter.on("onnxruntime", opset=19), late).status == "passed"


@pytest.mark.clause("oracle/onnx-weights")
def test_weights_are_constants_or_inputs():
    dense = program(
        [("FullyConnected", [0, 1, 2], {"num_hidden": 2}), ("elemwise_add", [3, 3], {})],
        x=SINGLE, weight=np.ones((2, 3), np.float32), bias=np.ones(2, np.float32),
    )
    inputs = {}
    for weights in ("constant", "input"):
        backend = adapter.on("onnxruntime", weights=weights)
        inputs[weights] = [v.name for v in onnx.load_from_string(backend.model(dense)).graph.input]
        assert backend.run(dense)["1/output0"].tolist() == [[8, 8], [8, 8]]
    assert inputs == {"constant": ["p0_v_x"], "input": ["p0_v_x", "p0_v_weight", "p0_v_bias"]}


def test_a_head_may_be_a_variable_or_asked_for_twice():
    twice = program([("negative", [0], {})], x=SINGLE)
    twice["heads"] = [[1, 0], [0, 0], [1, 0]]
    assert [v.tolist() for v in adapter.on("reference").run(twice).values()] == [(-SINGLE).tolist(), SINGLE.tolist(),
                                                                              (-SINGLE).tolist()]


@pytest.mark.clause("oracle/onnx-rules")
def test_an_invalid_model_is_a_fault_of_this_package(monkeypatch):
    monkeypatch.setitem(adapter.RULES, "negative", lambda b, p, s, x: b.add("Neg", "nothing"))
    with pytest.raises(Exception, match="nothing"):
        adapter.on("reference").run(program([("negative", [0], {})], x=SINGLE))


def test_what_trains_is_unsupported_in_training_only():
    backend = adapter.on("onnxruntime")
    three = np.ones(3, np.float32)
    norm = program([("BatchNorm", [0, 1, 2, 3, 4], {"eps": 0.5})], x=SINGLE, g=three, b=three, mean=three, var=three)
    assert judge(backend, norm).status == "passed"
    norm["steps"][1]["train"] = True
    with pytest.raises(Unsupported, match="BatchNorm in training"):
        backend.run(norm)
    norm["nodes"][-1]["attrs"]["use_global_stats"] = "True"
    assert judge(backend, norm).status == "passed"


# --- packing ----------------------------------------------------------------------------------------


class Packing:
    """ONNX Runtime, three programs to a model; it refuses models with an operator."""

    name, version, opset, pack = "packing", "1", 20, 3

    def __init__(self, refuses="nothing"):
        self.refuses, self.inner, self.loads = refuses, engine_of("onnxruntime"), 0

    def load(self, model):
        self.loads += 1
        if any(node.op_type == self.refuses for node in onnx.load_from_string(model).graph.node):
            raise RuntimeError(f"{self.refuses} breaks")
        return self.inner.load(model)


@pytest.mark.clause("oracle/onnx-packed")
def test_packed_programs_have_the_answers_of_lone_ones():
    engine = Packing()
    packed, alone = (adapter.on(engine, dtypes=["float32"], pack=pack) for pack in (None, 1))
    assert not hasattr(alone, "run_many")
    programs = drawn(packed, 12)
    together = answers_of(packed, programs)
    assert engine.loads == 4
    lone = answers_of(alone, programs)
    assert [type(answer) for answer in together] == [type(answer) for answer in lone]
    for one, other in zip(together, lone, strict=True):
        assert list(one) == list(other)
        assert all(one[name].tobytes() == other[name].tobytes() for name in one)
    engine.loads = 0
    assert judge(packed, programs[0]).status == "passed"
    assert engine.loads == 1


@pytest.mark.clause("oracle/onnx-packed")
def test_a_refusal_belongs_to_one_of_the_packed_programs():
    right = [program([("relu", [0], {})], x=SINGLE), program([("negative", [0], {})], x=SINGLE)]
    wrong = program([("floor", [0], {})], x=SINGLE)
    lacking = program([("tan", [0], {})], x=np.ones(2, np.float64))
    backend = adapter.on(Packing("Floor"), pack=4)
    first, second, third, fourth = answers_of(backend, [right[0], wrong, lacking, right[1]])
    assert (first["1/output0"] == SINGLE).all()
    assert (fourth["1/output0"] == -SINGLE).all()
    assert isinstance(second, Refused)
    assert "Floor breaks" in str(second)
    assert isinstance(third, Unsupported)


# --- faults of engines ------------------------------------------------------------------------------


class Broken:
    """The reference evaluator, which takes Ceil for Floor."""

    name, version, opset = "broken", "1", 20

    def load(self, model):
        changed = onnx.load_from_string(model)
        for node in changed.graph.node:
            node.op_type = {"Floor": "Ceil"}.get(node.op_type, node.op_type)
        return engine_of("reference").load(changed.SerializeToString())


def test_a_broken_engine_is_found():
    backend = adapter.on(Broken(), dtypes=["float32"])
    backend.capabilities = backend.capabilities._replace(operators=FEW)
    result = search(backend, programs=60, most=1)
    assert [found.cause.operator for found in result.found] == ["floor"]
    backend = adapter.on("reference", dtypes=["float32"])
    backend.capabilities = backend.capabilities._replace(operators=FEW)
    assert search(backend, programs=60).found == []


def test_a_missing_output_is_a_refusal():
    class Silent(Broken):
        def load(self, model):
            return lambda inputs: []

    with pytest.raises(Refused, match="the engine gave 0 of 1 outputs"):
        adapter.on(Silent()).run(program([("relu", [0], {})], x=SINGLE))


# --- differences ------------------------------------------------------------------------------------

@pytest.mark.clause("oracle/onnx-differences")
def test_calls_that_onnx_defines_otherwise_are_unsupported_with_the_reason():
    backend = adapter.on("reference")
    whole = np.array([4, 5], np.int32)
    with pytest.raises(Unsupported, match="_div_scalar: whole numbers divided by 0"):
        backend.run(program([("_div_scalar", [0], {"scalar": 0.5})], x=whole))
    assert backend.run(program([("_div_scalar", [0], {"scalar": 2})], x=whole))["1/output0"].tolist() == [2, 2]
    with pytest.raises(Unsupported, match="Selu are single precision"):
        backend.run(program([("LeakyReLU", [0], {"act_type": "selu"})], x=np.ones(2)))
    assert {"_power int32", "_contrib_quantize"} <= set(backend.leaves_out)
    assert backend.run(program([("_power", [0, 0], {})], x=np.float32([2])))["1/output0"].tolist() == [4]
    with pytest.raises(Unsupported, match="_power: ONNX leaves open"):
        backend.run(program([("_power", [0, 0], {})], x=whole))


# --- engines by name --------------------------------------------------------------------------------


@pytest.mark.clause("oracle/engines")
def test_an_engine_has_a_name():
    assert {"onnxruntime", "reference"} <= set(names())
    version = f"ONNX Runtime {onnxruntime.__version__}, opset 21, weights constant, optimize none"
    assert adapter.on("onnxruntime", optimize="none").version == version
    assert adapter.on("refimpl.oracle.engines.reference:Engine").engine.name == "ONNX reference evaluator"
    assert adapter.on(Packing, refuses="Abs").engine.refuses == "Abs"
    assert adapter.on(f"{__name__}:Packing(refuses='Abs')").engine.refuses == "Abs"
    for given, text in (
        ({"engine": "tensorrt"}, "there is no engine 'tensorrt': write package.module:Name, or one of .*onnxruntime"),
        ({"engine": "onnxruntime", "optimize": "fully"}, "optimize is none, basic, extended or all, not 'fully'"),
        ({"engine": "onnxruntime", "opset": 16}, "versions 17 to 28, not 16"),
        ({"weights": "both"}, "weights are constant or input, not 'both'"),
        ({"engine": f"{__name__}:Packing(refuses='Abs')", "refuses": "x"}, "has arguments in brackets already"),
        ({"engine": "mine.nowhere:Engine"}, "cannot be loaded"),
    ):
        with pytest.raises(ValueError, match=text):
            adapter.on(**given)


@pytest.mark.parametrize(("optimize", "level"), [
    ("none", "ORT_DISABLE_ALL"), ("basic", "ORT_ENABLE_BASIC"), ("extended", "ORT_ENABLE_EXTENDED"),
    ("all", "ORT_ENABLE_ALL"),
])
def test_onnx_runtime_is_told_its_level_and_providers(monkeypatch, optimize, level):
    told = {}

    def session(model, options, providers):
        told.update(level=options.graph_optimization_level, providers=providers)

    monkeypatch.setattr(onnxruntime, "InferenceSession", session)
    engine_of("onnxruntime", optimize=optimize, providers=("Mine",)).load(b"")
    assert told == {"level": getattr(onnxruntime.GraphOptimizationLevel, level), "providers": ["Mine"]}


def test_an_engine_in_the_current_folder_is_searched_from_the_command_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "my_engine.py").write_text(
        "import onnxruntime\n\n"
        "class Engine:\n"
        "    name, version, opset, dtypes = 'mine', '1', 20, ('float32',)\n"
        "    leaves_out = ('sigmoid', 'Activation', 'LeakyReLU', 'tanh')\n\n"
        "    def load(self, model):\n"
        "        session = onnxruntime.InferenceSession(model)\n"
        "        return lambda inputs: session.run(None, inputs)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    name = "refimpl.oracle.backends.onnx:on('my_engine:Engine')"
    assert cli.run(["oracle", "check", name, "--programs", "12"]) == 0
    assert "12 programs" in capsys.readouterr().out
    assert cli.run(["oracle", "check", "refimpl.oracle.backends.onnx:on('not_mine')", "--programs", "1"]) == 2
    assert "there is no engine 'not_mine'" in capsys.readouterr().err


def test_a_shape_that_nothing_tells_is_unsupported():
    without = program([("_zeros", [], {})])
    with pytest.raises(Unsupported, match="_zeros: nothing tells its shape"):
        adapter.on("reference").run(without)
    packed = adapter.on("reference", pack=2).run_many([without, program([("relu", [0], {})], a=np.float32([1, -1]))])
    assert isinstance(packed[0], Unsupported)
    assert packed[1]["1/output0"].tolist() == [1, 0]


def test_onnx_runtime_says_at_the_run_that_it_has_no_gru_of_doubles():
    backend = adapter.on("onnxruntime", dtypes=["float64"])
    gru = program(
        [("RNN", [0, 1, 2], {"mode": "gru", "state_size": 1, "num_layers": 1})],
        x=np.ones((1, 1, 1)), parameters=np.ones(12), state=np.ones((1, 1, 1)),
    )
    with pytest.raises(Unsupported, match="does not support double"):
        backend.run(gru)
