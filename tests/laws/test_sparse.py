"""Laws of sparse storage: whatever is stored, an operator gives what it gives on the dense array that is meant.

Inputs are small whole numbers, so that sums and products are exact and equality is meant literally.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl.kernels.foundation import ALWAYS, distinct
from refimpl.ndarray import operators, sparse

from .sparse_draws import TYPES, dense_numbers, row_sparse_arrays, shapes, sparse_arrays, valid

nd = mx.nd
STORAGES = ("row_sparse", "csr")
either = st.sampled_from(STORAGES)
data = st.data()


def call(name: str, *arrays, **attrs):
    return operators.call(name, *arrays, **attrs)


def equal(made, wanted: np.ndarray) -> None:
    np.testing.assert_array_equal(valid(made).asnumpy(), wanted)


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")


# --- storage ------------------------------------------------------------------------------------


@pytest.mark.clause("Sparse/layouts", "Sparse/exact")
@given(data, either, TYPES)
def test_to_sparse_and_back(data, stype, dtype) -> None:
    rank = 2 if stype == "csr" else data.draw(st.integers(1, 3))
    dense = data.draw(dense_numbers(data.draw(shapes(rank)), dtype))
    made = valid(nd.array(dense, dtype=dtype).tostype(stype))
    assert made.stype == stype and made.shape == dense.shape and made.dtype == dense.dtype
    equal(made.tostype("default"), dense)
    assert all(np.any(stored) for stored in made.data.asnumpy())  # nothing is stored in vain


@given(data, either)
def test_copies_are_apart(data, stype) -> None:
    array, dense = data.draw(sparse_arrays(stype, (3, 2)))
    other = data.draw(dense_numbers((3, 2)))
    for made in (array.copy(), array.tostype(stype), array.as_in_context(mx.cpu(1)), sparse.array(array),
                 pickle.loads(pickle.dumps(array)), array.astype("float64")):
        assert made.stype == stype
        equal(made, dense)
        made[:] = nd.array(other)
        equal(made, other)
    equal(array, dense)


@given(data)
def test_scipy_and_back(data) -> None:
    pytest.importorskip("scipy")
    dtype = data.draw(st.sampled_from(["float32", "int64"]))
    array, dense = data.draw(sparse_arrays("csr", data.draw(shapes()), dtype))
    there = array.asscipy()
    np.testing.assert_array_equal(there.toarray(), dense)
    for form in (there, there.tocoo(), there.tocsc()):
        back = sparse.csr_matrix(form)
        assert back.dtype == dense.dtype
        equal(back, dense)


@given(data)
def test_coordinates(data) -> None:
    shape = data.draw(shapes())
    count = data.draw(st.integers(0, 8))
    row, column = (
        np.array(data.draw(st.lists(st.integers(0, side - 1), min_size=count, max_size=count)), int) for side in shape
    )
    values = data.draw(dense_numbers((count,)))
    wanted = np.zeros(shape, "float32")
    np.add.at(wanted, (row, column), values)
    equal(sparse.csr_matrix((values, (row, column)), shape=shape), wanted)


@pytest.mark.clause("Sparse/order")
@given(data)
def test_order_of_indices_does_not_matter(data) -> None:
    array, dense = data.draw(row_sparse_arrays((4, 2)))
    order = data.draw(st.permutations(range(len(array.indices))))
    turned = sparse.row_sparse_array(
        (array.data.asnumpy()[order], array.indices.asnumpy()[order]), shape=(4, 2), dtype="float32"
    )
    equal(nd.sparse.square(turned), dense**2)
    matrix, dense = data.draw(sparse_arrays("csr", (1, 4)))
    order = data.draw(st.permutations(range(len(matrix.indices))))
    turned = sparse.csr_matrix((matrix.data.asnumpy()[order], matrix.indices.asnumpy()[order], matrix.indptr), (1, 4))
    equal(nd.sparse.square(turned), dense**2)


# --- elementwise --------------------------------------------------------------------------------

KEEPING = {op.name: op for op in distinct() if op.keeps_zero}
SCALARS = [name for name in KEEPING if name.endswith("_scalar") and not name.startswith("_scatter")]
UNION = [name for name, op in KEEPING.items() if len(op.all_inputs) == 2]
ONE_INPUT = [
    name for name, op in KEEPING.items()
    if op.keeps_zero is ALWAYS and name not in UNION and not name.endswith("_scalar")
]


@pytest.mark.clause("Sparse/zero-stays")
@pytest.mark.parametrize("name", ONE_INPUT)
@given(data=data, stype=either)
def test_one_input(name, data, stype) -> None:
    array, dense = data.draw(sparse_arrays(stype, data.draw(shapes())))
    made = call(name, array)
    assert made.stype == stype
    np.testing.assert_array_equal(made.indices.asnumpy(), array.indices.asnumpy())
    equal(made, call(name, nd.array(dense)).asnumpy())


@pytest.mark.clause("Sparse/zero-stays")
@pytest.mark.parametrize("name", SCALARS)
@given(data=data, stype=either, scalar=st.sampled_from([-2.0, 0.0, 0.5, 1.0, 2.0]))
def test_scalar(name, data, stype, scalar) -> None:
    if name == "_div_scalar" and not scalar:
        return  # stored zeros become NaN, others stay: tests/unit/test_sparse.py
    array, dense = data.draw(sparse_arrays(stype, data.draw(shapes())))
    made, wanted = call(name, array, scalar=scalar), call(name, nd.array(dense), scalar=scalar).asnumpy()
    zeros_stay = not call(name, nd.zeros((1,)), scalar=scalar).asscalar()
    assert made.stype == (stype if zeros_stay else "default")
    equal(made, wanted)


@pytest.mark.clause("Sparse/union")
@pytest.mark.parametrize("name", UNION)
@given(data=data, stype=either, dtype=TYPES)
def test_union(name, data, stype, dtype) -> None:
    if name == "_hypot" and np.dtype(dtype).kind != "f":
        dtype = "float32"
    shape = data.draw(shapes())
    left, a = data.draw(sparse_arrays(stype, shape, dtype))
    right, b = data.draw(sparse_arrays(stype, shape, dtype))
    made = call(name, left, right)
    assert made.stype == stype
    equal(made, call(name, nd.array(a, dtype=dtype), nd.array(b, dtype=dtype)).asnumpy())
    if stype == "csr":
        assert np.all(made.data.asnumpy() != 0)


PAIRS = [(a, b) for a in ("default", *STORAGES) for b in ("default", *STORAGES) if a != b]


@pytest.mark.clause("Sparse/fallback", "Sparse/stored-places")
@pytest.mark.parametrize("name", ["elemwise_add", "elemwise_sub", "elemwise_mul", "elemwise_div", "_maximum"])
@given(data=data, pair=st.sampled_from(PAIRS))
def test_mixed(name, data, pair) -> None:
    shape = data.draw(shapes())
    (left, a), (right, b) = (data.draw(sparse_arrays(stype, shape)) for stype in pair)
    made = call(name, left, right)
    equal(made, call(name, nd.array(a), nd.array(b)).asnumpy())
    if name == "elemwise_mul" and "default" in pair:
        assert made.stype == max(pair, key=lambda stype: stype != "default")


@pytest.mark.parametrize("name", ["broadcast_add", "broadcast_sub", "broadcast_mul", "broadcast_div"])
@given(data=data, stype=either)
def test_broadcast(name, data, stype) -> None:
    rows, columns = data.draw(shapes())
    array, dense = data.draw(sparse_arrays(stype, (rows, columns)))
    smaller = data.draw(st.sampled_from([(rows, 1), (1, columns), (1, 1), (columns,), (rows, columns)]))
    other = data.draw(dense_numbers(smaller))
    if name == "broadcast_div":
        other = np.where(other, other, 2).astype("float32")
    equal(call(name, array, nd.array(other)), call(name, nd.array(dense), nd.array(other)).asnumpy())


@given(data, either, st.sampled_from([(-1, 1), (0, 2), (1, 2), (-2, -1)]))
def test_clip(data, stype, bounds) -> None:
    array, dense = data.draw(sparse_arrays(stype, data.draw(shapes())))
    made = nd.sparse.clip(array, *bounds)
    assert made.stype == (stype if bounds[0] <= 0 <= bounds[1] else "default")
    equal(made, np.clip(dense, *bounds))


@given(data, st.integers(1, 4))
def test_add_n(data, count) -> None:
    pairs = [data.draw(row_sparse_arrays((3, 2))) for _ in range(count)]
    made = nd.sparse.add_n(*[array for array, _ in pairs])
    assert made.stype == "row_sparse"
    equal(made, sum(dense for _, dense in pairs))


# --- products -----------------------------------------------------------------------------------


@pytest.mark.clause("Sparse/dot", "Sparse/dot-storage")
@given(data, st.sampled_from([None, "default", "row_sparse", "csr"]), st.booleans(), st.booleans(),
       st.sampled_from([*PAIRS, ("csr", "csr"), ("row_sparse", "row_sparse")]))
def test_dot(data, forward_stype, turn_left, turn_right, pair) -> None:
    n, k, m = (data.draw(st.integers(1, 4)) for _ in range(3))
    left, a = data.draw(sparse_arrays(pair[0], (k, n) if turn_left else (n, k)))
    right, b = data.draw(sparse_arrays(pair[1], (m, k) if turn_right else (k, m)))
    attrs = {} if forward_stype is None else {"forward_stype": forward_stype}
    made = nd.dot(left, right, transpose_a=turn_left, transpose_b=turn_right, **attrs)
    assert forward_stype in (None, made.stype)
    equal(made, (a.T if turn_left else a) @ (b.T if turn_right else b))


# --- rows ---------------------------------------------------------------------------------------


@pytest.mark.clause("Sparse/rows")
@given(data)
def test_rows_of_csr(data) -> None:
    array, dense = data.draw(sparse_arrays("csr", (4, 3)))
    first = data.draw(st.integers(-4, 3))
    last = data.draw(st.integers(first % 4 + 1, 6))
    equal(array[first:last], dense[first % 4 : last])
    equal(array[first], dense[[first]])
    low = data.draw(st.integers(0, 2))
    part = nd.sparse.slice(array, begin=(first, low), end=(last, None))
    assert part.stype == "csr"
    equal(part, dense[first % 4 : last, low:])
    chosen = data.draw(st.lists(st.integers(-6, 9), min_size=1, max_size=5))
    for mode in ("clip", "wrap"):
        made = nd.take(array, nd.array(chosen), mode=mode)
        assert made.stype == "csr"
        equal(made, np.take(dense, chosen, axis=0, mode=mode))


@given(data, st.integers(1, 3), st.sampled_from([0, 1]))
def test_concat(data, count, dim) -> None:
    sides = [data.draw(st.integers(1, 3)) for _ in range(count)]
    pairs = [data.draw(sparse_arrays("csr", (side, 2) if dim == 0 else (2, side))) for side in sides]
    made = nd.sparse.concat(*[array for array, _ in pairs], dim=dim)
    assert made.stype == ("csr" if dim == 0 else "default")
    equal(made, np.concatenate([dense for _, dense in pairs], axis=dim))


@pytest.mark.clause("Sparse/retain", "Sparse/retain-method")
@given(data)
def test_retain(data) -> None:
    array, dense = data.draw(row_sparse_arrays(data.draw(st.sampled_from([(4, 2), (3,), (2, 2, 2)]))))
    asked = data.draw(st.lists(st.integers(0, dense.shape[0] - 1), min_size=1, max_size=5))
    wanted = np.zeros_like(dense)
    wanted[asked] = dense[asked]
    made = nd.sparse.retain(array, nd.array(asked))
    equal(made, wanted)
    assert set(made.indices.asnumpy()) == (set(asked) if len(array.indices) else set())
    equal(nd.sparse.retain(made, nd.array(asked)), wanted)  # once is enough
    equal(array.retain(asked), wanted)


@given(data, st.sampled_from([None, 0, 1, -1, (0, 1)]), st.booleans(), either, st.sampled_from(["sum", "mean"]))
def test_sums(data, axis, keepdims, stype, name) -> None:
    array, dense = data.draw(sparse_arrays(stype, data.draw(shapes())))
    attrs = {"keepdims": keepdims} if axis is None else {"axis": axis, "keepdims": keepdims}
    made = getattr(nd.sparse, name)(array, **attrs)
    assert made.stype == "default"
    equal(made, getattr(nd, name)(nd.array(dense), **attrs).asnumpy())


@given(data, either, st.sampled_from([None, 0, 1]), st.booleans(), st.sampled_from([1, 2]))
def test_norm(data, stype, axis, keepdims, order) -> None:
    array, dense = data.draw(sparse_arrays(stype, data.draw(shapes())))
    attrs = {"ord": order, "keepdims": keepdims, **({} if axis is None else {"axis": axis})}
    np.testing.assert_allclose(nd.sparse.norm(array, **attrs).asnumpy(), nd.norm(nd.array(dense), **attrs).asnumpy(),
                               rtol=1e-6)  # the root of the same sum, rounded elsewhere


@given(data, st.sampled_from([0, 1, None]), st.booleans())
def test_square_sum(data, axis, keepdims) -> None:
    array, dense = data.draw(row_sparse_arrays(data.draw(shapes())))
    attrs = {"keepdims": keepdims, **({} if axis is None else {"axis": axis})}
    made = nd._internal._square_sum(array, **attrs)
    assert made.stype == ("row_sparse" if keepdims and axis == 1 else "default")
    equal(made, nd._internal._square_sum(nd.array(dense), **attrs).asnumpy())


# --- updates ------------------------------------------------------------------------------------


@pytest.mark.clause("Sparse/lazy", "Sparse/not-lazy")
@given(data, st.sampled_from(["default", "row_sparse"]), st.booleans(), st.sampled_from([0.0, 0.5]), st.booleans())
def test_lazy_update(data, stype, lazy, momentum, in_place) -> None:
    gradient, g = data.draw(row_sparse_arrays((4, 2)))
    w, m = (np.arange(8, dtype="float32").reshape(4, 2) + start for start in (1, 3))
    weight, state = (nd.array(values).tostype(stype) for values in (w, m))
    attrs = {"lr": 0.5, "wd": 0.25, "lazy_update": lazy}
    name, states = ("sgd_mom_update", [state]) if momentum else ("sgd_update", [])
    if momentum:
        attrs["momentum"] = momentum
    made = getattr(nd.sparse, name)(weight, gradient, *states, out=weight if in_place else None, **attrs)
    dense_state = [nd.array(m)] if momentum else []
    wanted = getattr(nd, name)(nd.array(w), nd.array(g), *dense_state, **attrs).asnumpy()
    rows = gradient.indices.asnumpy() if lazy else np.arange(4)
    untouched = np.setdiff1d(np.arange(4), rows)
    wanted[untouched] = w[untouched]
    assert made.stype == stype and (made is weight) == in_place
    equal(made, wanted)
    equal(weight, wanted if in_place else w)
    if momentum:
        kept = dense_state[0].asnumpy()
        kept[untouched] = m[untouched]
        equal(state, kept)


@pytest.mark.clause("Sparse/out")
@given(data, st.sampled_from(["default", *STORAGES]), st.sampled_from(["default", *STORAGES]))
def test_out_takes_any_storage(data, stype, wanted) -> None:
    array, dense = data.draw(sparse_arrays(stype, data.draw(shapes())))
    target = nd.zeros(dense.shape, stype=wanted)
    assert nd.square(array, out=target) is target and target.stype == wanted
    equal(target, dense**2)
    assert nd.cos(array, out=target) is target
    equal(target, nd.cos(nd.array(dense)).asnumpy())
