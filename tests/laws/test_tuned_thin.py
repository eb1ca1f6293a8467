"""Products with a short side against tiles: equal bits."""

from __future__ import annotations

import numpy as np
import pytest

from refimpl.kernels import dot
from refimpl.kernels.foundation import Buffer
from refimpl.kernels.shared.products import PRODUCT, Product
from refimpl.kernels.tuned import gemm

from .test_tuned import called, normal, plainly, pytestmark, strides  # noqa: F401  # the mark too


@pytest.mark.parametrize("turn_b", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 40])
@pytest.mark.parametrize("k", [1, 8, 16, 37])
@pytest.mark.parametrize("m", [16, 64, 75])
def test_thin_product(n, k, m, turn_b):
    """What is left over of tiles and squares, and special values, which stay in their rows and columns."""
    rng = np.random.default_rng(n * k * m)
    inputs = [normal(rng, (n * k,)), normal(rng, (k * m,))]
    for turn_a in (False, True):
        numbers = (Product(n, m, k, *strides(n, m, k, (turn_a, turn_b))),)
        call = inputs, (n, m), numbers
        got = called(PRODUCT, *call)
        np.testing.assert_array_equal(got.view(np.int32), called(gemm.product, *call).view(np.int32))
        inputs[0][0], inputs[1][-1] = np.inf, np.nan
        call = inputs, (n, m), numbers
        got, expected = called(PRODUCT, *call), plainly(PRODUCT, *call)
        np.testing.assert_array_equal(np.isfinite(got), np.isfinite(expected))
        inputs[0][0], inputs[1][-1] = 0.5, 1


@pytest.mark.clause("_grad_add_weight/sum-order")
@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 64), (3, 75), (8, 40), (15, 33), (20, 64)])
@pytest.mark.parametrize(("k", "first"), [(2, 1), (9, 8), (40, 17), (800, 400)])
def test_a_product_that_is_added_goes_on_with_the_sum(n, m, k, first):
    def in_two(a, b, out, g):
        PRODUCT(a, b, out, g._replace(k=first))
        rest = [Buffer(each.flat[first * step :], each.shape) for each, step in ((a, g.a_step), (b, g.b_row))]
        PRODUCT(*rest, out, g._replace(k=k - first, onto=1))

    inputs = [normal(np.random.default_rng(n * k * m), shape) for shape in ((n * k,), (k * m,))]
    for turned in ((False, False), (False, True), (True, False), (True, True)):
        call = inputs, (n, m), (Product(n, m, k, *strides(n, m, k, turned)),)
        for run, dtype in ((called, np.float32), (plainly, np.float32), (plainly, np.float64)):
            np.testing.assert_array_equal(run(in_two, *call, dtype), run(PRODUCT, *call, dtype))


@pytest.mark.parametrize(("n", "k", "m"), [(1, 1, 1), (3, 20, 33), (17, 5, 16)])
def test_products_of_a_batch(n, k, m):
    """Each has the bits that it has alone."""
    a, b = (normal(np.random.default_rng(n), shape) for shape in ((3, n, k), (3, k, m)))
    for turned in ((False, False), (False, True), (True, False), (True, True)):
        g = Product(n, m, k, *strides(n, m, k, turned))
        alone = [called(gemm.product, each, (n, m), (g,)) for each in zip(a, b, strict=True)]
        left = a.reshape((3, k, n)) if turned[0] else a
        right = b.reshape((3, m, k)) if turned[1] else b
        together = called(dot.PRODUCTS, [left, right], (3, n, m), turned)
        np.testing.assert_array_equal(together, alone)
