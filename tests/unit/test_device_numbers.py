"""Numbers on a CUDA device, or in Numba's simulator of one, where CUDA's own operations give others than the CPU's."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

import refimpl as mx

pytestmark = [
    pytest.mark.gpu, pytest.mark.cuda_sim,
    pytest.mark.skipif(not cuda.is_available(), reason="needs a CUDA device or NUMBA_ENABLE_CUDASIM=1"),
]

INF = np.inf

# x, y, x mod y: it has the sign of y, and is exact. 2**53 = 9007199254740992 is 2 more than a multiple of 3
# (2**53 + 1 is divisible by 3, since 2 is -1 modulo 3), and so is 2**61.
REMAINDERS = [
    (0.5, -INF, -INF), (0.5, INF, 0.5), (-0.5, INF, INF), (-0.5, -INF, -0.5),
    (7.0, 3.0, 1.0), (-7.0, 3.0, 2.0), (7.0, -3.0, -2.0), (-7.0, -3.0, -1.0), (6.0, -3.0, -0.0), (-6.0, 3.0, 0.0),
    (2.0**53, 3.0, 2.0), (2.0**61, 3.0, 2.0), (1.0, 0.0, 0.0), (INF, 3.0, np.nan), (np.nan, 3.0, np.nan),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reverse", [False, True])
def test_modulo(dtype: str, reverse: bool) -> None:
    for x, y, expected in REMAINDERS:
        array, scalar = (y, x) if reverse else (x, y)
        data = mx.nd.array([array], ctx=mx.gpu(0), dtype=dtype)
        result = (scalar % data if reverse else data % scalar).asnumpy()
        same_bits = result.tobytes() == np.array([expected], dtype).tobytes()
        assert same_bits or np.isnan([result[0], expected]).all(), (x, y)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_modulo_of_whole_numbers(dtype: str) -> None:
    x, y = (mx.nd.array(row, ctx=mx.gpu(0), dtype=dtype) for row in ([7, -7, 7, -7, 5], [3, 3, -3, -3, 0]))
    assert mx.nd.broadcast_mod(x, y).asnumpy().tolist() == [1, 2, -2, -1, 0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lighting_keeps_nan(dtype: str) -> None:
    """Its clipping is min(max(x, -inf), inf); the smaller of NaN and another number is no NaN to CUDA itself."""
    data = mx.nd.array([[[np.nan, INF, -INF], [1, 2, 3]]], ctx=mx.gpu(0), dtype=dtype)
    result = mx.nd.image.adjust_lighting(data, alpha=(0, 0, 0)).asnumpy()
    assert np.isnan(result[0, 0, 0])
    assert result[0, 0, 1:].tolist() == [INF, -INF]
    assert result[0, 1].tolist() == [1, 2, 3]
