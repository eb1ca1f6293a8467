"""Cases as tests of ONNX's runner: which become one, what the folders hold, and what the runner says of them."""

from __future__ import annotations

import unittest

import numpy as np
import pytest

from refimpl.oracle.suite.exporting import export

from .test_cli_oracle import refimpl  # noqa: F401  # a fixture

onnx = pytest.importorskip("onnx", reason="onnx is not installed; pip install refimpl[onnx]")
from onnx.backend.base import Backend  # noqa: E402
from onnx.backend.test import runner  # noqa: E402
from onnx.backend.test.loader import load_model_tests  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from refimpl.oracle.suite.onnx_folders import Folders, is_within_tolerances  # noqa: E402

OPERATORS = ["FullyConnected", "floor", "relu", "tile"]


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("onnx") / "suite"
    return folder, export(folder, levels=[1, 2], programs=4, only=OPERATORS, folders=Folders(folder))


def allowed(out, elements, bound, dtype="float32"):
    out = np.array(out, dtype)
    array = {"shape": list(out.shape), "dtype": dtype, "elements": elements, "bound": bound}
    return is_within_tolerances({"1/output0": array}, {"1/output0": out})


@pytest.mark.clause("oracle/suite-onnx")
@pytest.mark.parametrize(("out", "elements", "bound", "right"), [
    ([2, 0], [2, 0], [1e-3, 0], True),  # 1e-7 and 0.1 percent of 1.999
    ([2, 0], [2, 0], [2e-3, 0], False),
    ([2, 0], [2.001, 0], [1.5e-3, 0], False),  # beyond 2 it reaches 2.0025
    ([2, 0], [2, 0], [0, 1e-7], True),
    ([2, 0], [2, 0], [0, 1.1e-7], False),
    ([2, 0], [2, 0], [1e-4, "free"], False),
    ([np.inf, np.nan], ["inf", "nan"], 0, True),
    ([np.inf, np.nan], ["inf", 1], 0, False),
])
def test_tolerances_allow_what_the_bounds_allow(out, elements, bound, right) -> None:
    assert allowed(out, elements, bound) is right


@pytest.mark.clause("oracle/suite-onnx")
def test_exact_elements_are_rounded_to_their_type() -> None:
    assert allowed([0.1], [0.1], 0, "float16")  # 0.1 is 2.4e-5 away from its nearest float16
    assert not allowed([0.1], [0.1002], 0, "float16")  # which is another float16


@pytest.mark.clause("oracle/suite-onnx")
def test_only_cases_of_level_1_become_folders(suite) -> None:
    folder, manifest = suite
    tests = sorted((folder / "onnx/refimpl").iterdir())
    assert len(tests) == manifest["onnx"] >= 6
    assert all(path.name.startswith("test_1_") for path in tests)
    for path in tests:
        model = onnx.load(path / "model.onnx")
        data = path / "test_data_set_0"
        for kind, values in (("input", model.graph.input), ("output", model.graph.output)):
            assert len(list(data.glob(f"{kind}_*.pb"))) == len(values)
            for number, value in enumerate(values):
                tensor = onnx.load_tensor(data / f"{kind}_{number}.pb")
                assert tensor.name == value.name
                assert tensor.data_type == value.type.tensor_type.elem_type


def ran(folder, monkeypatch, change=lambda array: array):
    """The result of ONNX's runner with its reference evaluator, whose outputs are changed."""
    class Evaluator(Backend):
        @classmethod
        def prepare(cls, model, device="CPU", **kwargs):
            names = [value.name for value in model.graph.input]
            evaluator = ReferenceEvaluator(model)

            class Prepared:
                def run(self, inputs, **kwargs):
                    return [change(array) for array in evaluator.run(None, dict(zip(names, inputs, strict=True)))]

            return Prepared()

        @classmethod
        def supports_device(cls, device):
            return device == "CPU"

    tests = load_model_tests(str(folder / "onnx"), "refimpl")
    monkeypatch.setattr(runner, "load_model_tests", lambda kind: tests if kind == "node" else [])
    result = unittest.TestResult()
    runner.Runner(Evaluator, __name__).test_suite.run(result)
    return result


@pytest.mark.clause("oracle/suite-onnx")
@pytest.mark.filterwarnings("ignore")
def test_the_runner_passes_them(suite, monkeypatch) -> None:
    folder, manifest = suite
    result = ran(folder, monkeypatch)
    assert result.testsRun - len(result.skipped) == manifest["onnx"]
    assert [text for _, text in (*result.failures, *result.errors)] == []


@pytest.mark.clause("oracle/suite-onnx")
@pytest.mark.filterwarnings("ignore")
def test_the_runner_fails_wrong_ones(suite, monkeypatch) -> None:
    folder, manifest = suite
    result = ran(folder, monkeypatch, lambda array: array + array.dtype.type(1))
    assert len(result.failures) >= manifest["onnx"] - 1  # an array of infinities is the same


@pytest.mark.clause("Cli/oracle-input")
def test_the_command_counts_folders(refimpl, tmp_path) -> None:  # noqa: F811
    code, found = refimpl("export", tmp_path / "s", "--level", 1, "--operators", "relu", "--programs", 2, "--onnx")
    assert code == 0
    assert f"{tmp_path / 's' / 'onnx'}: 1 tests" in found.out.replace("\n", " ")
