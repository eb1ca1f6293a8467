"""Engines of ONNX models: each agrees on a few operators, and says what it lacks.

    refimpl oracle environment DIR
    REFIMPL_ENGINES_PYTHON=DIR/bin/python python -m pytest -m peer tests/oracle/test_engines.py

The engine under Node is tested with a package that stands in for ONNX Runtime Web, too.
"""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pytest

from refimpl.cli.oracle_environment import ENGINES
from refimpl.oracle.backends import Unsupported, isolate
from refimpl.oracle.drawing.drawn_executors import forward_program
from refimpl.oracle.drawing.draws import SeededDraw
from refimpl.oracle.engines import names
from refimpl.oracle.engines.onnxruntime_web import Engine as Web
from refimpl.oracle.judging.comparing import judge

from .test_comparing import one_operator

FEW = frozenset({"relu", "abs", "negative", "elemwise_add", "dot", "Concat", "transpose", "Flatten"})


def test_every_engine_can_be_installed():
    assert {name.replace("_", "-") for name in names()} == {*ENGINES, "reference"}


# --- with their libraries -------------------------------------------------------------------------


@pytest.fixture(params=names())
def engine(request):
    python = os.environ.get("REFIMPL_ENGINES_PYTHON", "")
    if not python:
        pytest.skip("REFIMPL_ENGINES_PYTHON names no Python")
    place = f'refimpl.oracle.backends.onnx:on("{request.param}", dtypes=("float32",))'
    with isolate(place, python, limit=60.0) as backend:
        yield backend


@pytest.mark.peer
def test_an_engine_agrees(engine):
    few = engine.capabilities._replace(operators=FEW)
    verdicts = [judge(engine, forward_program(SeededDraw(i), few)) for i in range(12)]
    assert [verdict.reason for verdict in verdicts] == [""] * 12


@pytest.mark.peer
def test_an_engine_says_what_it_lacks(engine):
    program = one_operator("arcsinh", (0.5, 1.5))
    program["nodes"][1]["op"] = "_contrib_fft"  # no rule
    with pytest.raises(Unsupported):
        engine.run(program)


# --- under Node -----------------------------------------------------------------------------------

STAND_IN = """
class Tensor { constructor(type, data, dims) { Object.assign(this, {type, data, dims}); } }
const twice = {
  float32: (a) => a.map((v) => 2 * v), int64: (a) => a.map((v) => 2n * v), bool: (a) => a.map((v) => 1 - v),
};
module.exports = { env: {wasm: {}}, Tensor, InferenceSession: { create: async (model) => {
  const text = Buffer.from(model).toString();
  if (text === "lacks") throw new Error("ERROR_CODE: 9, no such operator");
  if (text === "bad") throw new Error("ERROR_CODE: 7");
  if (text === "ends") process.exit(3);
  return { outputNames: ["b", "a"], run: async ({x}) => ({
    a: new Tensor(x.type, twice[x.type](x.data), x.dims), b: new Tensor("int32", new Int32Array([text.length]), []),
  }) };
} } };
"""


@pytest.fixture
def web(tmp_path):
    if shutil.which("node") is None:
        pytest.skip("there is no Node")
    package = tmp_path / "node_modules/onnxruntime-web"
    package.mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"version": "0.0.1", "main": "index.js"}), encoding="utf-8")
    (package / "index.js").write_text(STAND_IN, encoding="utf-8")
    engine = Web(str(tmp_path))
    yield engine
    engine.process.kill()
    engine.process.communicate()


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (np.array([[0.5, -1.5]], np.float32), [[1, -3]]),
        (np.array(2**60, np.int64), 2**61),
        (np.array([True, False]), [False, True]),
        (np.zeros((0, 2), np.float32), np.zeros((0, 2))),
    ],
)
def test_arrays_reach_node_and_return(web, given, wanted):
    number, found = web.load(b"four")({"x": given})
    assert number == 4
    assert number.dtype == np.int32
    assert found.dtype == given.dtype
    assert found.shape == given.shape
    assert np.array_equal(found, wanted)


def test_each_model_under_node_keeps_its_session(web):
    first, second = web.load(b"four"), web.load(b"seven..")
    x = {"x": np.ones(1, np.float32)}
    assert [int(run(x)[0]) for run in (first, second, first)] == [4, 7, 4]


def test_node_says_what_it_lacks_and_starts_again(web):
    assert web.version == "0.0.1"
    with pytest.raises(Unsupported, match="no such operator"):
        web.load(b"lacks")
    with pytest.raises(RuntimeError, match="ERROR_CODE: 7"):
        web.load(b"bad")
    with pytest.raises(RuntimeError, match="Node ended"):
        web.load(b"ends")
    web.process.wait(10)
    assert web.load(b"four")({"x": np.ones(1, np.float32)})[0] == 4
