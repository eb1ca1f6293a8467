"""A loop takes its numbers by name, in one NamedTuple, at the price of a plain tuple."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import pytest

from refimpl.kernels.foundation import Loop, as_buffer, items, scalar
from refimpl.kernels.foundation.loop import SIMULATED, python_loops

from .cached_kernels import root  # noqa: F401  # a fixture

compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled with the JIT disabled")


class Rows(NamedTuple):
    rows: int
    row_length: int
    start: int


class Scaled(NamedTuple):
    count: int
    tenth: float
    negative: bool


@scalar
def place(i, j, g):
    """Where element j of row i lies."""
    return i * g.row_length + j


def sum_rows(data, out, g: Rows):
    for i in items(g.rows):
        out[i] = g.start
        for j in range(g.row_length):
            out[i] += data[place(i, j, g)]


def beyond_a_tenth(out, g: Scaled):
    for i in items(g.count):
        out[i] = np.float64(g.tenth) - 0.1
        if g.negative:
            out[i] = -out[i]


def sums(loop, shape, start=0, dtype=np.float32, device="cpu"):
    data, out = as_buffer(np.arange(np.prod(shape)).reshape(shape).astype(dtype), device), np.zeros(shape[0], dtype)
    out = as_buffer(out, device)
    loop(data, out, Rows(*shape, start))
    return out.to_numpy().tolist()


@compiled
def test_one_compilation_per_dtype_whatever_the_geometry(root):  # noqa: F811
    loop = Loop(sum_rows)
    for rows in range(5):
        for length in range(20):
            for start in (0, -1, 2**20, 2**31, 2**40, -(2**53)):
                expected = [start + sum(range(i * length, (i + 1) * length)) for i in range(rows)]
                assert sums(loop, (rows, length), start, np.float64) == expected
        assert sums(loop, (rows, 4)) == [6, 22, 38, 54][:rows]
    assert len(loop.cpu.signatures) == 2
    assert {str(number) for signature in loop.cpu.signatures for number in signature[-1]} == {"int64"}


@compiled
def test_a_new_process_loads_what_was_compiled(root):  # noqa: F811
    assert sums(Loop(sum_rows), (2, 3)) == [3, 12]
    again = Loop(sum_rows)
    assert sums(again, (2, 3)) == [3, 12]
    assert sum(again.cpu.stats.cache_hits.values()) == 1
    assert sum(again.cpu.stats.cache_misses.values()) == 0


BEYOND = 1.4901161138336505e-09  # 0.1 as a float32 is that much more than as a double: 13421773 / 2**27 - 0.1
FORMS = ["", "cpu", "gpu"]  # as it is compiled; the text for either device as Python


@pytest.mark.parametrize("form", FORMS)
def test_fields_have_their_names_in_every_form(form):
    loop = Loop(sum_rows)
    if not form:
        assert sums(loop, (2, 3), 100) == [103, 112]
    else:
        with python_loops(form):
            assert sums(loop, (2, 3), 100) == [103, 112]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("dtype", "beyond"), [(np.float32, BEYOND), (np.float64, 0.0)])
def test_floats_have_the_dtype_of_the_first_buffer(form, dtype, beyond):
    loop = Loop(beyond_a_tenth)
    for negative in (True, False):
        out = as_buffer(np.full(3, np.nan, dtype))
        if not form:
            loop(out, Scaled(2, 0.1, negative))
        else:
            with python_loops(form):
                loop(out, Scaled(2, 0.1, negative))
        np.testing.assert_array_equal(out.flat[:2], [dtype(-beyond if negative else beyond)] * 2)
    if not form and not numba.config.DISABLE_JIT:
        kind, = loop.cpu.signatures
        assert [str(field) for field in kind[-1]] == ["int64", np.dtype(dtype).name, "int64"]


@pytest.mark.cuda_sim
@pytest.mark.skipif(not SIMULATED, reason="needs NUMBA_ENABLE_CUDASIM=1")
def test_fields_have_their_names_on_cuda():
    assert sums(Loop(sum_rows), (7, 3), 100, device="gpu(0)") == [103, 112, 121, 130, 139, 148, 157]
    out = as_buffer(np.full(3, np.nan, np.float32), "gpu(0)")
    Loop(beyond_a_tenth)(out, Scaled(3, 0.1, negative=True))
    assert out.to_numpy().tolist() == [-np.float32(BEYOND)] * 3
