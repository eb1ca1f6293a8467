"""Every refusal of arrays, contexts and array files: its exception type and its clause."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx

Call = Callable[[], Any]


def array(*shape: int) -> mx.nd.NDArray:
    return mx.nd.ones(shape)


def readonly() -> mx.nd.NDArray:
    made = array(2)
    made.writable = False
    return made


REFUSALS = [
    pytest.param(*row, marks=pytest.mark.clause(row[0]), id=f"{row[0]}-{number}")
    for number, row in enumerate([
        ("NDArray/asscalar", ValueError, lambda: array(2).asscalar()),
        ("NDArray/truth", ValueError, lambda: bool(array(2))),
        ("NDArray/len", TypeError, lambda: len(mx.nd.array(3))),
        ("NDArray/source", TypeError, lambda: mx.nd.array([[1, 2], [3]])),
        ("NDArray/source", TypeError, lambda: mx.nd.array(None)),
        ("NDArray/copy-shape", mx.MXNetError, lambda: array(2).copyto(array(3))),
        ("NDArray/copy-target", TypeError, lambda: array(2).copyto("cpu")),
        ("NDArray/key", ValueError, lambda: array(2)["a"]),
        ("NDArray/reshape-size", ValueError, lambda: array(2, 3).reshape((4,))),
        ("NDArray/reshape-arguments", TypeError, lambda: array(2).reshape((2, 1), order="F")),
        ("NDArray/writable", ValueError, lambda: readonly().__setitem__(0, 1)),
        ("NDArray/writable", ValueError, lambda: array(2).copyto(readonly())),
        ("NDArray/dense", ValueError, lambda: mx.nd.zeros((2,), stype="csr")),
        ("NDArray/concatenate", ValueError, lambda: mx.nd.concatenate([])),
        ("Context/gpu-present", mx.MXNetError, lambda: mx.nd.zeros((1,), mx.gpu(99))),
        ("types/known", TypeError, lambda: array(2).astype("complex64")),
        ("nd/operand", TypeError, lambda: array(2) + np.ones(2)),
        ("nd/operand", TypeError, lambda: array(2) * None),
        ("nd/operand", TypeError, lambda: mx.nd.Flatten(np.ones((2, 2)))),
        ("nd/operand", TypeError, lambda: mx.nd.add(1, 2)),
        ("nd/arguments", TypeError, lambda: mx.nd.Flatten(array(2, 2), array(2, 2))),
        ("nd/arguments", TypeError, lambda: mx.nd.Flatten(array(2, 2), data=array(2, 2))),
        ("nd/input-count", mx.MXNetError, lambda: mx.nd.FullyConnected(array(2, 2), num_hidden=2)),
        ("nd/known-shape", mx.MXNetError, lambda: mx.nd._internal._random_uniform()),
        ("nd/out-shape", mx.MXNetError, lambda: mx.nd.Flatten(array(2, 2), out=array(2, 3))),
        ("random/seed-integer", ValueError, lambda: mx.random.seed(1.5)),
        ("random/seed-integer", ValueError, lambda: mx.random.seed("one")),
        ("random/seed-context", ValueError, lambda: mx.random.seed(1, ctx="cpu")),
        ("params-file/readable", mx.MXNetError, lambda: mx.nd.load("/no/such/file.params")),
        ("params-file/name", TypeError, lambda: mx.nd.load(3)),
        ("params-file/valid", mx.MXNetError, lambda: mx.nd.load_frombuffer(b"not arrays at all")),
        ("AttrScope/strings", ValueError, lambda: mx.AttrScope(lr_mult=2)),
    ])
]


@pytest.mark.parametrize(("clause", "kind", "call"), REFUSALS)
def test_refuses(clause: str, kind: type[Exception], call: Call) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == clause


@pytest.mark.clause(
    "NDArray/asscalar", "NDArray/truth", "NDArray/len", "NDArray/source", "NDArray/copy-shape",
    "NDArray/copy-target", "NDArray/key", "NDArray/reshape-size", "NDArray/reshape-arguments",
    "NDArray/writable", "NDArray/dense", "NDArray/concatenate", "nd/operand", "nd/arguments",
    "nd/input-count", "nd/known-shape", "nd/out-shape", "random/seed-integer", "random/seed-context",
    "params-file/readable", "params-file/name", "AttrScope/strings",
)
def test_every_refusal_above_is_marked() -> None:
    """The marks of a table's rows are built from it; this one names them for readers and the clause table."""
    marked = {name for row in REFUSALS for mark in row.marks for name in mark.args}
    assert marked >= set(test_every_refusal_above_is_marked.pytestmark[0].args)


@pytest.mark.clause("params-file/content")
@pytest.mark.parametrize("content", [3, [1], {"a": 1}, {1: mx.nd.ones((1,))}])
def test_only_arrays_are_saved(tmp_path: Path, content: Any) -> None:
    with pytest.raises(TypeError) as caught:
        mx.nd.save(str(tmp_path / "a.params"), content)
    assert caught.value.clause == "params-file/content"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.clause("Files/writable")
def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(mx.MXNetError) as caught:
        mx.nd.save(str(tmp_path / "none" / "a.params"), mx.nd.ones((1,)))
    assert caught.value.clause == "Files/writable"
    assert list(tmp_path.iterdir()) == []
