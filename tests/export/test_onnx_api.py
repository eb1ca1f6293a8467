"""mx.onnx and mx.contrib.onnx: the names, signatures and errors of MXNet 1.9.1."""

from __future__ import annotations

import inspect
import logging
import subprocess
import sys

import numpy as np
import pytest

import refimpl as mx
from refimpl.contrib import onnx as older

from .onnx_running import run as _  # noqa: F401  # skips where onnx is absent
from .onnx_running import writing

DATA = np.float32([[1, 2, 3, 4], [0, -1, 0, 1]])


@pytest.fixture
def net():
    scores = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    return mx.sym.SoftmaxOutput(scores, name="softmax")


@pytest.fixture
def held():
    return {"fc_weight": mx.nd.ones((3, 4)), "fc_bias": mx.nd.array([0, 1, 2])}


def loaded(file):
    return writing.imported().load_model(str(file))


SHARES = np.exp([0.0, 1, 2]) / np.exp([0.0, 1, 2]).sum()


@pytest.mark.clause("Onnx/export-model")
def test_signatures():
    said = inspect.signature(mx.onnx.export_model)
    assert list(said.parameters) == [
        "sym", "params", "in_shapes", "in_types", "onnx_file_path", "verbose", "dynamic", "dynamic_input_shapes",
        "run_shape_inference", "input_type", "input_shape",
    ]
    assert [p.default for p in list(said.parameters.values())[2:]] == [
        None, np.float32, "model.onnx", False, False, None, False, None, None,
    ]
    assert str(inspect.signature(mx.onnx.get_operator_support)).startswith("(opset_version")
    assert list(inspect.signature(older.get_model_metadata).parameters) == ["model_file"]
    assert older.export_model is mx.onnx.export_model


@pytest.mark.clause("Onnx/export-model")
@pytest.mark.parametrize("form", ["dict", "prefixed", "two dicts", "files", "old names", "keyword"])
def test_forms_of_the_arguments(net, held, form, tmp_path):
    file = str(tmp_path / "net.onnx")
    args, more = (net, held, [(2, 4)], np.float32, file), {}
    if form == "prefixed":
        args = (net, {f"arg:{name}": value for name, value in held.items()}, [(2, 4)], np.float32, file)
    elif form == "two dicts":
        args = (net, [held, {}], [(2, 4)], [np.float32], file)
    elif form == "files":
        mx.model.save_checkpoint(str(tmp_path / "net"), 1, net, held, {})
        args = (str(tmp_path / "net-symbol.json"), str(tmp_path / "net-0001.params"), [(2, 4)], np.float32, file)
    elif form == "old names":
        args, more = (net, held), {"input_shape": [(2, 4)], "input_type": np.float32, "onnx_file_path": file}
    assert mx.onnx.export_model(*args, **more) == file
    (found,) = writing.run(loaded(file), {"data": DATA}).values()
    np.testing.assert_allclose(found, [SHARES, SHARES], rtol=1e-6)  # of a softmax


@pytest.mark.clause("Onnx/export-model")
@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"sym": 3}, ValueError, "Input sym and params should either be files or objects"),
        ({"params": 3}, ValueError, "Input sym and params should either be files or objects"),
        ({"sym": "absent.json"}, ValueError, "should either be files or objects"),
        ({"sym": "absent.json", "params": "absent.params"}, ValueError, "Symbol and params files provided are invalid"),
        ({"in_types": [np.float32, np.int32]}, AssertionError, "lengths of in_types and in_shapes must equal"),
        ({"dynamic_input_shapes": [(None, 4)]}, AssertionError, "set dynamic=True"),
        ({"dynamic": True, "dynamic_input_shapes": [(None, 4), (3,)]}, AssertionError, "length of dynamic_input"),
        ({"dynamic": True, "dynamic_input_shapes": [(None, 4, 1)]}, AssertionError, "dimensionality of each shape"),
        ({"dynamic": True, "dynamic_input_shapes": [(None, None)]}, mx.MXNetError, "only the batch can be"),
        ({"in_shapes": None}, TypeError, ""),
    ],
)
def test_errors(net, held, change, error, said, tmp_path):
    given = {"sym": net, "params": held, "in_shapes": [(2, 4)], "onnx_file_path": str(tmp_path / "a.onnx"), **change}
    with pytest.raises(error) as caught:
        mx.onnx.export_model(**given)
    assert said in str(caught.value)
    assert not (tmp_path / "a.onnx").exists()


@pytest.mark.clause("Onnx/export-model")
def test_an_unknown_operator(tmp_path):
    net = mx.sym.erfinv(mx.sym.Variable("data"), name="inverse")
    with pytest.raises(AttributeError, match=r"No conversion function registered: .*erfinv"):
        mx.onnx.export_model(net, {}, [(2, 3)], onnx_file_path=str(tmp_path / "a.onnx"))


@pytest.mark.clause("Onnx/export-model", "Onnx/free-batch")
def test_free_batches_and_types(net, held, tmp_path, caplog):
    file = str(tmp_path / "net.onnx")
    with caplog.at_level(logging.INFO):
        mx.onnx.export_model(
            net, held, [(2, 4)], np.float32, file, verbose=True, dynamic=True, dynamic_input_shapes=[(None, 4)],
            run_shape_inference=True,
        )
    assert f"Exported ONNX file {file} saved to disk" in caplog.text
    assert older.get_model_metadata(file) == {
        "input_tensor_data": [("data", (0, 4))], "output_tensor_data": [("softmax_output", (0, 3))],
    }
    assert len(loaded(file).graph.value_info) > 0
    (found,) = writing.run(loaded(file), {"data": np.zeros((5, 4), np.float32)}).values()
    assert found.shape == (5, 3)
    mx.onnx.export_model(net, held, [(2, 4)], np.float16, file)
    assert loaded(file).graph.input[0].type.tensor_type.elem_type == writing.imported().TensorProto.FLOAT16


@pytest.mark.clause("Onnx/size")
def test_a_file_that_would_be_too_large(net, held, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "MOST_BYTES", 100)
    with pytest.raises(mx.MXNetError, match="bytes, and a file of ONNX 100 at most") as caught:
        mx.onnx.export_model(net, held, [(2, 4)], onnx_file_path=str(tmp_path / "net.onnx"))
    assert caught.value.clause == "Onnx/size"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.clause("Onnx/metadata")
def test_metadata(net, held, tmp_path):
    file = mx.onnx.export_model(net, held, [(2, 4)], onnx_file_path=str(tmp_path / "net.onnx"))
    assert older.get_model_metadata(file) == {
        "input_tensor_data": [("data", (2, 4))], "output_tensor_data": [("softmax_output", (2, 3))],
    }
    with pytest.raises(OSError, match="absent"):
        older.get_model_metadata(str(tmp_path / "absent.onnx"))


@pytest.mark.clause("Onnx/import")
def test_files_are_not_read_as_networks():
    for call in (lambda: older.import_model("a.onnx"), lambda: older.import_to_gluon("a.onnx", mx.cpu())):
        with pytest.raises(mx.MXNetError, match="run it with onnxruntime") as caught:
            call()
        assert caught.value.clause == "Onnx/import"


@pytest.mark.clause("Onnx/operator-support")
def test_operator_support():
    every = mx.onnx.get_operator_support()
    assert every == sorted(set(every))
    assert {"null", "Convolution", "SoftmaxOutput", "_contrib_DeformableConvolution"} <= set(every)
    assert {"erfinv", "Custom"} & set(every) == set()
    assert "_contrib_DeformableConvolution" not in mx.onnx.get_operator_support(18)
    assert mx.onnx.get_operator_support(12) == []


@pytest.mark.clause("Onnx/extra")
def test_without_the_extra(monkeypatch, net, held):
    monkeypatch.setitem(sys.modules, "onnx", None)
    for call in (
        mx.onnx.get_operator_support, lambda: mx.onnx.export_model(net, held, [(2, 4)]),
        lambda: older.get_model_metadata("a.onnx"),
    ):
        with pytest.raises(ImportError, match=r"Onnx and protobuf need to be installed: pip install refimpl\[onnx\]"):
            call()
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r"onnxruntime needs to be installed: pip install refimpl\[onnx\]"):
        writing.session(None)


def test_importing_refimpl_imports_neither():
    code = (
        "import sys, refimpl as mx;"
        "print(sorted({'onnx', 'onnxruntime', 'refimpl.onnx', 'refimpl.export'} & set(sys.modules)));"
        "mx.onnx.export_model, mx.contrib.onnx.get_model_metadata;"
        "print(sorted({'onnx', 'onnxruntime'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n[]\n"
