"""Sparse arrays in executors and on the tape: the results are those of the dense arrays that they mean.

Graphs are bound and thrown away in every example, so that there are few examples of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refimpl as mx

from . import sparse_draws as draws

SIZES = {"input_dim": 4, "output_dim": 2}
GRAPHS = {
    "product": lambda f, x, w, i: f.dot(x, w),
    "turned": lambda f, x, w, i: f.dot(x, f.dot(x, w), transpose_a=True),
    "lookup": lambda f, x, w, i: f.Embedding(i, w, sparse_grad=True, **SIZES),
    "computed ids": lambda f, x, w, i: f.Embedding(i + 1, w, sparse_grad=True, **SIZES) * 2,
    "two uses": lambda f, x, w, i: f.concat(f.dot(x, w), f.Embedding(i, w, sparse_grad=True, **SIZES), dim=0),
    "dense use": lambda f, x, w, i: f.concat(f.dot(x, w), w, dim=0),
    "squares": lambda f, x, w, i: f.dot(f.square(x), f._internal._square_sum(w, axis=1, keepdims=True)),
    "elementwise": lambda f, x, w, i: f.elemwise_mul(f.sin(w), w * 3),
    "storages": lambda f, x, w, i: f.dot(f.cast_storage(x, stype="default"), f.cast_storage(w, stype="row_sparse")),
}
NAMES = ("x", "w", "i")
PARTS = st.tuples(
    draws.csr_arrays((3, 4)), draws.row_sparse_arrays((4, 2)), draws.dense_numbers((3,)),
    draws.row_sparse_arrays((4, 2)), draws.dense_numbers((8, 2)),
)


def arrays(parts: Any, stype: str) -> dict[str, Any]:
    """The arguments: x csr, w row_sparse, and ids; all of them dense for "default"."""
    (x, _), (w, _), ids, _, _ = parts
    found = {"x": x, "w": w, "i": mx.nd.array(ids)}
    return {name: array.tostype("default") if stype == "default" else array.copy() for name, array in found.items()}


def head_of(shape: tuple[int, ...], parts: Any) -> Any:
    return mx.nd.array(np.resize(parts[4], shape))


def in_graph(build: Any, parts: Any, stype: str, req: str) -> tuple[Any, Any, Any]:
    """Output and gradients of w and x from an executor."""
    symbol = build(mx.sym, *[mx.sym.var(name) for name in NAMES])
    given_arrays = {n: a for n, a in arrays(parts, stype).items() if n in symbol.list_arguments()}
    old = parts[3][0]
    kept = {"w": old.copy() if stype == "sparse" else old.tostype("default")}
    if "x" in given_arrays:
        kept["x"] = mx.nd.zeros((3, 4), stype="csr" if stype == "sparse" else "default")
    executor = symbol.bind(mx.cpu(), given_arrays, kept, req)
    out = executor.forward(is_train=True)[0]
    executor.backward(head_of(out.shape, parts))
    return out, executor.grad_dict["w"], executor.grad_dict.get("x")


def on_tape(build: Any, parts: Any, stype: str, req: str) -> tuple[Any, Any, Any]:
    """The same from autograd."""
    found = arrays(parts, stype)
    for name in ("x", "w"):
        found[name].attach_grad(req)
    parts[3][0].copyto(found["w"].grad)
    with mx.autograd.record():
        out = build(mx.nd, *found.values())
    out.backward(head_of(out.shape, parts))
    return out, found["w"].grad, found["x"].grad


@pytest.mark.clause("Sparse/bind")
@pytest.mark.clause("Sparse/recording")
@pytest.mark.parametrize("run", [in_graph, on_tape])
@pytest.mark.parametrize("name", GRAPHS)
@settings(max_examples=15)
@given(parts=PARTS, req=st.sampled_from(("write", "add")))
def test_sparse_is_dense(run, name, parts, req) -> None:
    sparse, dense = (run(GRAPHS[name], parts, stype, req) for stype in ("sparse", "default"))
    for one, other in zip(sparse, dense, strict=True):
        # + 0 makes 0 of -0, which no sparse array stores by itself
        assert other is None or (one.asnumpy() + 0).tobytes() == (other.asnumpy() + 0).tobytes()
    _, gradient, of_data = sparse
    assert gradient.stype == "row_sparse" and (of_data is None or of_data.stype == "csr")
    gradient.check_format()


@pytest.mark.clause("Sparse/gradient-rows")
@pytest.mark.parametrize("run", [in_graph, on_tape])
@settings(max_examples=15)
@given(parts=PARTS, req=st.sampled_from(("write", "add")))
def test_rows_that_are_read(run, parts, req) -> None:
    (x, _), (old, _) = parts[0], parts[3]
    columns = set(x.indices.asnumpy().tolist())
    ids = set(np.clip(parts[2], 0, 3).astype(int).tolist())
    shifted = set(np.clip(parts[2] + 1, 0, 3).astype(int).tolist())
    before = set(old.indices.asnumpy().tolist()) if req == "add" else set()
    for name, rows in (
        ("product", columns), ("lookup", ids), ("computed ids", shifted), ("two uses", columns | ids),
        ("squares", columns),
    ):
        _, gradient, _ = run(GRAPHS[name], parts, "sparse", req)
        assert set(gradient.indices.asnumpy().tolist()) == rows | before, name


@pytest.mark.clause("Sparse/bind-storage")
@pytest.mark.parametrize("name", GRAPHS)
@settings(max_examples=15)
@given(parts=PARTS)
def test_simple_bind_is_bind(name, parts) -> None:
    symbol = GRAPHS[name](mx.sym, *[mx.sym.var(each) for each in NAMES])
    found = {n: a for n, a in arrays(parts, "sparse").items() if n in symbol.list_arguments()}
    stypes = {n: a.stype for n, a in found.items()}
    executor = symbol.simple_bind(
        mx.cpu(), grad_req={"w": "write"}, stype_dict=stypes, **{n: a.shape for n, a in found.items()}
    )
    assert {n: a.stype for n, a in executor.arg_dict.items()} == stypes
    executor.copy_params_from(found)
    out = executor.forward(is_train=True)[0]
    executor.backward(head_of(out.shape, parts))
    expected, gradient, _ = in_graph(GRAPHS[name], parts, "default", "write")
    assert (out.asnumpy() == expected.asnumpy()).all()
    assert (executor.grad_dict["w"].asnumpy() == gradient.asnumpy()).all()
