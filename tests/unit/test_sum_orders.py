"""The order in which each operator adds: numbers for which any other order gives another sum.

Expected sums are made here one addition after another, as the clause says. Terms are whole numbers times powers of
two, so a product is exact and only additions round; a test first makes sure that its terms tell the stated order
from that with any axis reversed, from swapped axes and from sums of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
import pytest

from refimpl.kernels.foundation import as_buffer
from refimpl.kernels.foundation.harness import Call
from refimpl.kernels.shared.csr_rows import summed
from refimpl.kernels.shared.sparse_dot import csr_dot, dense_dot, rows_reached, turned_dot

from ..loops_as_text import only_twins_are_compiled
from . import sum_orders
from .sum_orders import Added, deviation, in_lanes, in_order, mean, signed, squares, then

# --- cases ---------------------------------------------------------------------------------------


class Sum(NamedTuple):
    """``run(values, dtype)`` is the operator's number, ``rule(terms, added)`` the same by the clause.

    Sums are made in double precision, or in the arrays' type where ``typed``.
    """

    clause: str
    shape: tuple[int, ...]
    run: Callable[[np.ndarray, type], Any]
    rule: Callable[[Sequence[Any], Added], Any] = lambda terms, added: added(terms)
    typed: bool = False
    terms: Callable[..., np.ndarray] = signed
    dtypes: tuple[type, ...] = (np.float32, np.float64)
    order: Callable[[type, Sequence[Any]], Any] = in_order


def out(name: str, *arrays: Any, dtype: type, index: int = 0, train: bool = False, **params: Any) -> np.ndarray:
    return Call(name, [np.array(a, dtype) for a in arrays], params).forward(is_train=train)[index]


def slope(name: str, *arrays: Any, dtype: type, head: Any, index: int = 0, **params: Any) -> np.ndarray:
    call = Call(name, [np.array(a, dtype) for a in arrays], params)
    call.forward(is_train=True)
    found = call.backward([np.array(head, dtype)])[index]
    assert found is not None
    return found


def row_norm(v: np.ndarray, dtype: type) -> Any:
    return out("L2Normalization", v, dtype=dtype, index=1, mode="instance", eps=0)[0]


def row_history(v: np.ndarray, dtype: type) -> Any:
    call = Call("_contrib_group_adagrad_update", [np.array(a, dtype) for a in (v, v, [[0]])], {"lr": 0.5})
    call.forward()
    return call.ins[2].to_numpy()[0, 0]


def statistics(index: int) -> Callable[[np.ndarray, type], Any]:
    def run(v: np.ndarray, dtype: type) -> Any:
        data = np.stack([v, v], 1)  # two channels alike
        options = {"eps": 1e-300, "output_mean_var": True, "fix_gamma": False}
        return out("BatchNorm", data, *[[1, 1]] * 4, dtype=dtype, index=index, train=True, **options)[0]

    return run


def batch_gradient(v: np.ndarray, dtype: type, index: int) -> Any:
    data = np.resize([1.0, -1.0], v.shape)  # mean 0 and variance 1
    arrays = [data[:, None], [1], [0], [0], [1]]
    return slope("BatchNorm", *arrays, dtype=dtype, head=v[:, None], index=index, eps=1e-300, fix_gamma=False)[0]


def layer_statistics(v: np.ndarray, dtype: type, index: int) -> Any:
    ones = np.ones(v.size)
    return out("LayerNorm", v, ones, ones, dtype=dtype, index=index, eps=0, output_mean_var=True).item()


def correlation_gradient(v: np.ndarray, dtype: type) -> Any:
    ones = np.ones((1, 1, 7, 7))
    head = v[None, :, ::-1, ::-1]  # pixel k of a patch meets the patches in their reverse order
    return slope("Correlation", ones, ones, dtype=dtype, head=head, kernel_size=3, max_displacement=1)[0, 0, 3, 3]


def layers(v: np.ndarray, dtype: type) -> Any:
    """One step of a plain cell: W, R, b and c lie in one vector, and both products are summed over the same terms."""
    n = v.size
    rest = np.zeros((n - 1, n))
    vector = np.concatenate([v, rest.ravel(), v, rest.ravel(), np.full(n, 3), np.full(n, 5)])
    return out("RNN", np.ones((1, 1, n)), vector, np.ones((1, 1, n)), dtype=dtype, mode="rnn_relu", state_size=n,
        num_layers=1)[0, 0, 0]


def solved(v: np.ndarray, dtype: type) -> Any:
    n = v.size
    a = np.eye(n)
    a[-1, :-1] = -v[1:]
    b = np.ones((n, 1))
    b[-1] = v[0]
    return out("_linalg_trsm", a, b, dtype=dtype)[-1, 0]


def factored(v: np.ndarray, dtype: type) -> Any:
    """Rows of the identity, a row that begins with ones, and one whose products with that are summed."""
    n = v.size + 1
    a = np.eye(n)
    a[n - 2] = [1.0] * (n - 2) + [n - 1.0, 0]
    a[n - 1] = [*-v[1:], v[0], 2.0**125]
    return out("_linalg_potrf", a, dtype=dtype)[n - 1, n - 2]


def eliminated(v: np.ndarray, dtype: type) -> Any:
    n = v.size
    a = np.eye(n)
    a[-1] = 1
    a[:, -1] = [*-v[1:], v[0]]
    return out("_linalg_det", a, dtype=dtype)[0]


def of_csr_rows(v: np.ndarray, dtype: type) -> Any:
    values, indices = as_buffer(v.astype(dtype)), as_buffer(np.arange(v.size))
    return summed(values, indices, as_buffer(np.array([0, v.size])), 1, (1, v.size), 2).to_numpy()[0]


def of_csr_columns(v: np.ndarray, dtype: type) -> Any:
    values, indices = as_buffer(v.astype(dtype)), as_buffer(np.zeros(v.size, np.int64))
    return summed(values, indices, as_buffer(np.arange(v.size + 1)), 0, (v.size, 1), 2).to_numpy()[0]


def ones_and_places(n: int, dtype: type) -> list[Any]:
    return [as_buffer(np.ones((n, 1), dtype)), as_buffer(np.arange(n))]


def csr_by_dense(v: np.ndarray, dtype: type) -> Any:
    arrays = [as_buffer(a) for a in (v.astype(dtype), np.arange(v.size), np.array([0, v.size]))]
    return csr_dot(*arrays, *ones_and_places(v.size, dtype)).to_numpy()[0, 0]


def turned_csr_by_dense(v: np.ndarray, dtype: type) -> Any:
    values, indices, indptr = (
        as_buffer(a) for a in (v.astype(dtype), np.zeros(v.size, np.int64), np.arange(v.size + 1))
    )
    ones, places = ones_and_places(v.size, dtype)
    slots, _ = rows_reached(indices, indptr, places, 1)
    return turned_dot(values, indices, indptr, ones, places, slots, 1).to_numpy()[0, 0]


def dense_by_csr(v: np.ndarray, dtype: type, turned: bool) -> Any:
    ones = as_buffer(np.ones(v.size, dtype))
    rows = (np.arange(v.size), np.array([0, v.size])) if turned else (np.zeros(v.size, np.int64), np.arange(v.size + 1))
    return dense_dot(as_buffer(v[None].astype(dtype)), ones, *map(as_buffer, rows), 1, turned).to_numpy()[0, 0]


WINDOW = {"pool_type": "sum", "kernel": (2, 3)}
BIN = {"output_dim": 1, "pooled_size": 1, "group_size": 1, "spatial_scale": 1}
KERNEL = {"kernel": (2, 3), "num_filter": 1}
ONES = np.ones((1, 6, 1, 1))


SUMS = [
    Sum("reduce/sum-order", (3, 4), lambda v, t: out("sum", np.stack([v, v], 1), dtype=t, axis=(0, 2))[1]),
    Sum("reduce/sum-order", (9,), lambda v, t: out("mean", v, dtype=t)[0], mean),
    Sum("reduce/sum-order", (31,), lambda v, t: out("sum", v, dtype=t)[0]),
    Sum("reduce/sum-order", (32,), lambda v, t: out("sum", v, dtype=t)[0], order=in_lanes),
    Sum("reduce/sum-order", (1, 75), lambda v, t: out("sum", np.stack([v[0], v[0]]), dtype=t, axis=1)[1],
        order=in_lanes),
    Sum("reduce/sum-order", (1200,), lambda v, t: out("mean", v, dtype=t)[0], mean, order=in_lanes),
    Sum("reduce/sum-order", (40, 1), lambda v, t: out("sum", np.repeat(v, 33, 1), dtype=t, axis=0)[7]),
    Sum("add_n/sum-order", (7,), lambda v, t: out("add_n", *v[:, None], dtype=t)[0], typed=True),
    Sum("L2Normalization/sum-order", (1, 40), row_norm, lambda s, added: math.sqrt(added([t * t for t in s])),
        terms=sum_orders.scattered_squares, dtypes=(np.float64,), order=in_lanes),
    Sum("L2Normalization/sum-order", (16,),  # each out is 1/4, the length 4: d = (head - 1/4 sum(head / 4)) / 4
        lambda v, t: slope("L2Normalization", [[1] * 16], dtype=t, head=[v], eps=0)[0, 3],
        lambda s, added: (s[3] - 0.25 * added([t * 0.25 for t in s])) / 4),
    Sum("adagrad/sum-order", (1, 40), row_history, lambda s, added: mean([t * t for t in s], added), terms=squares,
        dtypes=(np.float64,)),
    Sum("LRN/sum-order", (1, 40), lambda v, t: out("LRN", v, dtype=t, index=1, nsize=81, alpha=81, knorm=0)[0, 7],
        lambda s, added: added([t * t for t in s]), terms=squares, dtypes=(np.float64,)),
    Sum("layer-norm/sum-order", (1, 9), lambda v, t: layer_statistics(v, t, 1), mean),
    Sum("layer-norm/sum-order", (1, 40), lambda v, t: layer_statistics(v, t, 1), mean, order=in_lanes),
    Sum("layer-norm/sum-order", (1, 40), lambda v, t: layer_statistics(v, t, 2), deviation,
        terms=sum_orders.scattered_squares, dtypes=(np.float64,), order=in_lanes),
    Sum("BatchNorm/sum-order", (3, 4), statistics(1), mean, dtypes=(np.float64,)),
    Sum("BatchNorm/sum-order", (3, 32), statistics(2), lambda s, added: 1 / deviation(s, added), terms=squares,
        dtypes=(np.float64,)),
    Sum("BatchNorm/sum-order", (3, 4), lambda v, t: batch_gradient(v, t, 2), dtypes=(np.float64,)),
    Sum("BatchNorm/sum-order", (3, 4), lambda v, t: batch_gradient(v, t, 1),
        lambda s, added: added([t * (-1) ** i for i, t in enumerate(s)]), dtypes=(np.float64,)),
    Sum("Pooling/sum-order", (2, 3, 2), lambda v, t: out(
        "Pooling", v[None, None], dtype=t, pool_type="sum", kernel=v.shape).item()),
    Sum("Pooling_v1/sum-order", (2, 3), lambda v, t: out("Pooling_v1", v[None, None], dtype=t, **WINDOW).item()),
    Sum("Correlation/sum-order", (2, 3, 3), lambda v, t: out(
        "Correlation", v[None], np.ones_like(v)[None], dtype=t, kernel_size=3, max_displacement=0).item(), mean),
    Sum("Correlation/sum-order", (9, 3, 3), correlation_gradient, lambda s, added: added(s) / 9),
    Sum("_contrib_ROIAlign/sum-order", (4, 2), lambda v, t: out(
        "_contrib_ROIAlign", v[None, None], [[0, 0, 0, 2, 4]], dtype=t, pooled_size=(1, 1), spatial_scale=1,
        aligned=True).item(), mean),
    Sum("_contrib_RROIAlign/sum-order", (4, 2), lambda v, t: out(
        "_contrib_RROIAlign", v[None, None], [[0, 0.5, 1.5, 2, 4, 0]], dtype=t, pooled_size=(1, 1),
        spatial_scale=1).item(), mean),
    Sum("_contrib_PSROIPooling/sum-order", (3, 4), lambda v, t: out(
        "_contrib_PSROIPooling", v[None, None], [[0, 0, 0, 3, 2]], dtype=t, **BIN).item(), mean),
    Sum("_contrib_DeformablePSROIPooling/sum-order", (4, 4), lambda v, t: out(  # moved by half a pixel, onto pixels
        "_contrib_DeformablePSROIPooling", v[None, None], [[0, 0, 0, 3, 3]], [[[[0.125]], [[0.125]]]], dtype=t,
        trans_std=1, sample_per_part=4, **BIN).item(), mean),
    Sum("FullyConnected/sum-order", (8,), lambda v, t: out(
        "FullyConnected", [v], np.ones((1, 8)), [3], dtype=t, num_hidden=1).item(), then(3), typed=True),
    Sum("dot/sum-order", (8,), lambda v, t: out("dot", v, np.ones(8), dtype=t)[0], typed=True),
    Sum("linalg_gemm/sum-order", (8,), lambda v, t: out(
        "_linalg_gemm", [v], np.ones((8, 1)), [[3]], dtype=t, alpha=0.5, beta=2).item(),
        lambda s, added: added(s) * 0.5 + 6, typed=True),
    Sum("linalg_gemm/sum-order", (32,), lambda v, t: out(  # large enough for the tuned twin
        "_linalg_gemm2", np.tile(v, (32, 1)), np.ones((32, 32)), dtype=t)[5, 7], typed=True),
    Sum("interleaved_matmul/sum-order", (16,), lambda v, t: out(
        "_contrib_interleaved_matmul_encdec_qk", v[None, None], np.ones((1, 1, 32)), dtype=t, heads=1).item(),
        lambda s, added: added(s) / 4, typed=True),
    Sum("interleaved_matmul/sum-order", (8,), lambda v, t: out(
        "_contrib_interleaved_matmul_encdec_valatt", np.ones((8, 1, 2)), v[None, None], dtype=t, heads=1).item(),
        typed=True),
    Sum("RNN/sum-order", (6,), layers,
        lambda s, added: max(added([added([added(s), 3]), added([added(s), 5])]), 0), typed=True),
    Sum("Convolution/sum-order", (2, 2, 3), lambda v, t: out(
        "Convolution", np.ones((1, 2, 2, 3)), v[None], [3], dtype=t, **KERNEL).item(), then(3), typed=True),
    Sum("Deconvolution/sum-order", (2, 2, 3), lambda v, t: out(
        "Deconvolution", np.ones((1, 2, 2, 3)), v[:, None], [3], dtype=t, pad=(1, 2), no_bias=False, **KERNEL).item(),
        then(3), typed=True, dtypes=(np.float64,)),
    Sum("_contrib_DeformableConvolution/sum-order", (2, 2, 3), lambda v, t: out(
        "_contrib_DeformableConvolution", np.ones((1, 2, 2, 3)), np.zeros((1, 12, 1, 1)), v[None], [3], dtype=t,
        **KERNEL).item(), then(3), typed=True),
    Sum("_contrib_DeformableConvolution/sum-order", (2, 3), lambda v, t: slope(
        "_contrib_DeformableConvolution", np.ones((1, 1, 2, 3)), np.zeros((1, 2, 2, 3)), [[[[1]]]], dtype=t,
        head=v[None, None], index=2, kernel=(1, 1), num_filter=1, no_bias=True).item()),
    Sum("_contrib_DeformableConvolution/sum-order", (6,), lambda v, t: slope(
        "_contrib_DeformableConvolution", np.stack([0 * v, v], 1)[None, ..., None], np.zeros((1, 2, 2, 1)), ONES,
        dtype=t, head=[[[[1], [0]]]], index=1, kernel=(1, 1), num_filter=1, no_bias=True)[0, 0, 0, 0]),
    Sum("_contrib_DeformableConvolution/sum-order", (6,), lambda v, t: slope(
        "_contrib_DeformableConvolution", [[[[1]]]], np.zeros((1, 2, 1, 1)), v[:, None, None, None], dtype=t,
        head=ONES, kernel=(1, 1), num_filter=6, no_bias=True).item(), typed=True),
    Sum("linalg_triangular/sum-order", (6,), lambda v, t: out(
        "_linalg_trmm", np.vstack([np.zeros((5, 6)), v]), np.ones((6, 1)), dtype=t)[-1, 0], dtypes=(np.float64,)),
    Sum("linalg_triangular/sum-order", (6,), lambda v, t: slope(
        "_linalg_trmm", [[1]], np.ones((1, 6)), dtype=t, head=[v]).item(), typed=True),
    Sum("linalg_triangular/sum-order", (6,), solved, typed=True),
    Sum("linalg_cholesky/sum-order", (6,), factored, typed=True),
    Sum("linalg_lu/sum-order", (6,), eliminated, typed=True),
    Sum("csr/sum-order", (7,), of_csr_rows, lambda s, added: added(s) / 2),
    Sum("csr/sum-order", (7,), of_csr_columns, lambda s, added: added(s) / 2),
    Sum("sparse-dot/sum-order", (7,), csr_by_dense, typed=True),
    Sum("sparse-dot/sum-order", (7,), turned_csr_by_dense, typed=True),
    Sum("sparse-dot/sum-order", (7,), lambda v, t: dense_by_csr(v, t, turned=False), typed=True),
    Sum("sparse-dot/sum-order", (7,), lambda v, t: dense_by_csr(v, t, turned=True), typed=True),
]


@pytest.mark.parametrize(
    ("row", "dtype"),
    [
        pytest.param(row, dtype, marks=pytest.mark.clause(row.clause), id=f"{k}-{row.clause}-{dtype.__name__}")
        for k, row in enumerate(SUMS) for dtype in row.dtypes
    ],
)
def test_order(row: Sum, dtype: type) -> None:
    kind = dtype if row.typed else np.float64

    def by_rule(values: np.ndarray, add: Callable = row.order) -> Any:
        return dtype(row.rule(list(values.ravel()), lambda terms: add(kind, terms)))

    def tells(values: np.ndarray) -> bool:
        stated = by_rule(values)
        others = [by_rule(v) for v in sum_orders.other_orders(values)]
        return by_rule(values, sum_orders.in_pairs) != stated and stated not in others

    values = row.terms(row.shape, kind, tells)
    with only_twins_are_compiled() if dtype is np.float64 else nullcontext():
        assert row.run(values, dtype) == by_rule(values)


# --- sums that need other numbers -----------------------------------------------------------------

# Squares of 11 are each lost beside 2^60, whose neighbours are 256 apart: 2^60 + 121 = 2^60, and 2^60 + 2 * 121 is not.
LARGE, SMALL = 2.0**30, 11.0


@pytest.mark.clause("lars/sum-order")
@pytest.mark.parametrize("within", [True, False])
def test_squares_are_added_in_runs(within: bool) -> None:
    # 3000 numbers are 1000 runs of 3. 2^60 + 2^36 lies half-way between two float32 numbers and goes to the even one,
    # 2^60; any more goes up to 2^60 + 2^37.
    values = np.zeros(3000)
    values[0] = LARGE
    values[2997] = 2.0**18
    if within:
        values[1:3] = SMALL  # lost one by one; first together they are not
    else:
        values[3:300:3] = SMALL  # one in each of 99 runs: the same
    assert out("multi_sum_sq", values, dtype=np.float64)[0] == 2.0**60
    assert out("multi_sum_sq", values[::-1], dtype=np.float64)[0] == 2.0**60 + 2.0**37


@pytest.mark.clause("multi_lamb/sum-order")
@pytest.mark.parametrize(("values", "length"), [
    # 16384 numbers are 1024 runs of 16; only the last number is 0 and shows the ratio of the lengths
    ([LARGE, *[SMALL] * 15, *[0.0] * 16368], 2.0**30),  # lost within the first run
    ([LARGE, *[0.0] * 15, *([SMALL] + [0.0] * 15) * 1022, *[0.0] * 16], 2.0**30),  # run after run
    ([*[SMALL] * 15, LARGE, *[0.0] * 16368], math.sqrt(2.0**60 + 7 * 256)),  # 15 * 121 = 1815 = 7 * 256 + 23
])
def test_lengths_of_a_weight_are_added_in_runs(values: list[float], length: float) -> None:
    # gradients of 1 make directions of 1 without averages: their length is sqrt(16384) = 128
    weight = np.array(values)
    options = {
        "learning_rates": (0.5,), "wds": (0,), "step_count": (1,), "beta1": 0, "beta2": 0, "epsilon": 0,
        "bias_correction": False,
    }
    states = np.zeros_like(weight), np.zeros_like(weight)
    made = out("_multi_lamb_update", weight, np.ones_like(weight), *states, dtype=np.float64, num_tensors=1, **options)
    assert made[-1] == -0.5 * length / 128


@pytest.mark.clause("softmax/sum-order")
def test_exponentials_are_added_in_order() -> None:
    # e^-37 = 8.5e-17 is lost beside 1, whose lower neighbour is 1.1e-16 away, 100 of them are not
    values = np.array([0.0] + [-37.0] * 100)
    assert out("log_softmax", values, dtype=np.float64)[0] == 0.0
    assert out("softmax", values, dtype=np.float64)[0] == 1.0
    assert -9e-15 < out("log_softmax", values[::-1], dtype=np.float64)[-1] < -8e-15
    assert 1 - 9e-15 < out("softmax", values[::-1], dtype=np.float64)[-1] < 1 - 8e-15


@pytest.mark.clause("CTCLoss/sum-order")
def test_classes_are_added_in_order() -> None:
    # a row without labels is spelled by the blank alone: its loss is minus the logarithm of the softmax at the blank
    values = np.array([0.0] + [-37.0] * 100)
    data, labels = values[None, None], np.zeros((1, 1))
    assert out("CTCLoss", data, labels, dtype=np.float64)[0] == 0.0
    backwards = out("CTCLoss", data[:, :, ::-1], labels - 1, dtype=np.float64, blank_label="last")[0]
    assert 8e-15 < backwards < 9e-15


@pytest.mark.clause("linalg_cholesky/sum-order", "linalg_lu/sum-order")
def test_logarithms_are_added_in_order() -> None:
    # log(2^1000) = 693.147..., whose neighbours are 1.1e-13 apart: log(1 + 2^-46) = 1.4e-14 is lost beside it
    diagonal = np.array([2.0**1000] + [1 + 2.0**-46] * 40)
    for name, index in (("_linalg_sumlogdiag", 0), ("_linalg_slogdet", 1)):
        first = out(name, np.diag(diagonal), dtype=np.float64, index=index)[0]
        last = out(name, np.diag(diagonal[::-1]), dtype=np.float64, index=index)[0]
        assert first == math.log(2.0**1000)
        assert 5e-13 < last - first < 7e-13


@pytest.mark.clause("linalg_lu/sum-order")
def test_pivots_are_multiplied_in_order() -> None:
    def determinant(*diagonal: float) -> float:
        return out("_linalg_det", np.diag(diagonal), dtype=np.float64)[0]

    assert determinant(1e200, 1e200, 1e-200, 1e-200) == math.inf
    assert determinant(1e-200, 1e-200, 1e200, 1e200) == 0
    assert determinant(1e200, 1e-200, 1e200, 1e-200) == 1e200 * 1e-200 * 1e200 * 1e-200


def factored_by_reflections(a: np.ndarray, added: Added) -> tuple[np.ndarray, np.ndarray]:
    """A = L Q by the textbook: row i is turned onto axis i by I - tau u u^T, u_i = 1; Q is all of them on I."""
    n, m = a.shape
    lower, q, steps = a.copy(), np.eye(n, m), []
    for i in range(n):
        rest = added([x * x for x in lower[i, i + 1 :]])
        onto = -math.copysign(math.sqrt(lower[i, i] * lower[i, i] + rest), lower[i, i])
        tau, u = (onto - lower[i, i]) / onto, lower[i, i + 1 :] / (lower[i, i] - onto)
        lower[i, i:] = [onto, *u]
        steps.append((i, tau, u))
        reflect(lower[i + 1 :], i, tau, u, added)
    for i, tau, u in reversed(steps):
        reflect(q, i, tau, u, added)
    return q, np.tril(lower[:, :n])


def reflect(rows: np.ndarray, i: int, tau: float, u: np.ndarray, added: Added) -> None:
    for row in rows:
        share = added([row[i], *(row[i + 1 :] * u)]) * tau
        row[i] -= share
        row[i + 1 :] -= share * u


@pytest.mark.clause("linalg_gelqf/sum-order")
def test_reflections_sum_in_increasing_column() -> None:
    a = np.random.RandomState(5).uniform(-1, 1, (4, 40))
    q, lower = factored_by_reflections(a, lambda terms: in_order(np.float64, terms))
    for other in (lambda t: in_order(np.float64, t[::-1]), lambda t: sum_orders.in_pairs(np.float64, t)):
        assert (factored_by_reflections(a, other)[1] != lower).any()
    found = Call("_linalg_gelqf", [a], {}).forward()
    np.testing.assert_array_equal(found[0], q)
    np.testing.assert_array_equal(found[1], lower)
