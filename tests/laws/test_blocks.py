"""Loops on CUDA have the bits that their clauses state, and their twins by blocks the same.

On the edges of tiles, in both precisions. In Numba's simulator tiles have two elements a side, on a device sixteen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cuda

from refimpl.kernels import convolution, reduce
from refimpl.kernels.blocks.products import SIDE
from refimpl.kernels.foundation import LOOPS, Buffer, as_buffer, plain_kernels
from refimpl.kernels.foundation.loop import Loop, python_loops, twins_by_blocks
from refimpl.kernels.foundation.walks import reduction_of
from refimpl.kernels.shared.convolution_geometry import geometry_of
from refimpl.kernels.shared.products import PRODUCT, product_of

from .views import viewed

pytestmark = [
    pytest.mark.gpu, pytest.mark.cuda_sim, pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning"),
    pytest.mark.skipif(not cuda.is_available(), reason="needs a CUDA device or NUMBA_ENABLE_CUDASIM=1"),
]

TYPES = [np.float32, np.float64]


def drawn(*shape: int, kind: type) -> np.ndarray:
    """Numbers of many magnitudes, whose sums depend on their order."""
    generator = np.random.default_rng(sum(shape))
    return np.ldexp(generator.standard_normal(shape), generator.integers(-8, 8, shape)).astype(kind)


def ending_in_nan(values: np.ndarray) -> np.ndarray:
    """With an infinity and a NaN as the last elements: of a matrix they are in its last row."""
    values.flat[-1], values.flat[-2] = np.inf, np.nan
    return values


FORMS = {"page": (plain_kernels, "gpu(0)"), "twin": (twins_by_blocks, "gpu(0)"), "Python": (python_loops, "cpu")}


def same_bits(loop: Loop, arrays: list[np.ndarray], shape: tuple[int, ...], out_at: int, *numbers: Any) -> None:
    """The page's loop and its twin, both on a GPU, and the page's loop as Python fill ``out`` alike."""
    results = {}
    for form, (context, device) in FORMS.items():
        given = list(arrays)
        given.insert(out_at, np.full(shape, -7, arrays[0].dtype))
        moved = [as_buffer(n.to_numpy(), device) if type(n) is Buffer else n for n in numbers]
        args: list[Any] = [*(as_buffer(array, device) for array in given), *moved]
        assert loop._by_blocks is None or loop._by_blocks.takes(args)
        with context():
            loop(*viewed(loop, args))
        results[form] = args[out_at].to_numpy()
    page = results.pop("page")
    assert not (page == -7).any()
    for form, result in results.items():
        np.testing.assert_array_equal(page, result, form)  # every NaN is a NaN, whatever its bits
        assert page[~np.isnan(page)].tobytes() == result[~np.isnan(page)].tobytes(), form


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(("transpose_a", "transpose_b", "onto"), [(False, True, 0), (True, False, 1)])
@pytest.mark.clause("FullyConnected/sum-order", "_grad_add_weight/sum-order")
def test_product(kind: type, transpose_a: bool, transpose_b: bool, onto: int) -> None:
    n, k, m = SIDE + 1, 2 * SIDE + 1, 2 * SIDE + 1
    g = product_of(n, k, m, transpose_a, transpose_b)._replace(onto=onto)
    same_bits(PRODUCT, [ending_in_nan(drawn(n, k, kind=kind)), drawn(k, m, kind=kind)], (n, m), 2, g)


GEOMETRIES = {
    "padded": ((1, 2, SIDE + 1, 2), (SIDE + 1, 2, 2, 2), (2, 2), (2, 1), (1, 0), (1, 1), 1),
    "groups": ((2, 2, 3, 2), (4, 1, 2, 1), (2, 1), (1, 1), (0, 0), (2, 1), 2),
}


def sizes(name: str) -> Any:
    data, weight, kernel, stride, pad, dilate, groups = GEOMETRIES[name]
    numbers = zip(data[2:], kernel, stride, pad, dilate, strict=True)
    out = (data[0], weight[0], *((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in numbers))
    return data, weight, out, geometry_of(data, out, kernel, stride, pad, dilate, groups)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", GEOMETRIES)
@pytest.mark.clause("Convolution/sum-order")
def test_convolution(kind: type, name: str) -> None:
    data, weight, out, g = sizes(name)
    same_bits(convolution.CONVOLVE, [drawn(*data, kind=kind), ending_in_nan(drawn(*weight, kind=kind))], out, 2, g)
    same_bits(convolution.GATHER_WEIGHT, [drawn(*out, kind=kind), ending_in_nan(drawn(*data, kind=kind))], weight, 2, g)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("shape", [(3, 37), (2, 2, 33)])
@pytest.mark.clause("reduce/sum-order")
def test_reduction(kind: type, shape: tuple[int, ...]) -> None:
    kept = (1, shape[1], 1) if len(shape) == 3 else (shape[0], 1)
    values = ending_in_nan(drawn(*shape, kind=kind))
    of = reduction_of(shape, kept, np.dtype(kind), "gpu(0)")
    assert of.g.lanes == 16
    same_bits(reduce.SUM, [values], kept, 1, np.float64(0), 1, *of)


def test_every_twin_is_tried() -> None:
    """A new twin needs a test here."""
    mine = [PRODUCT, reduce.SUM]
    assert {loop._by_blocks for loop in LOOPS if loop._by_blocks} == {loop._by_blocks for loop in mine}


@pytest.mark.parametrize("given", ["int32", "empty", "plain"])
def test_page_runs_where_a_twin_does_not(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    loop = PRODUCT
    monkeypatch.setattr(Loop, "blocks", property(lambda self: ran.append(self)))
    kind, k = (np.int32, 1) if given == "int32" else (np.float32, 0 if given == "empty" else 1)
    a, b = as_buffer(np.ones((2, k), kind), "gpu(0)"), as_buffer(np.ones((k, 2), kind), "gpu(0)")
    out = Buffer(as_buffer(np.zeros(4, kind), "gpu(0)").flat, (2, 2), "gpu(0)")
    with plain_kernels() if given == "plain" else twins_by_blocks():
        loop(a, b, out, product_of(2, k, 2))
    assert out.to_numpy().tolist() == [[k, k]] * 2
    assert not ran
