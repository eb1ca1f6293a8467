"""Loops over arrays of several axes: machine code, Python and CUDA give the same bits, whatever the shapes."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refimpl.kernels.foundation import Buffer, Loop, as_buffer, items, scalar, steps
from refimpl.kernels.foundation import loop as loops
from refimpl.kernels.foundation.loop import SIMULATED, interpreted_loops, python_loops

from .checked import OutsideError, checked_loops

compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled with the JIT disabled")
sides = st.integers(0, 4)


class Window(NamedTuple):
    side: int
    pad: int


def windows(data, weight, out, g: Window):
    """out[n, f, y, x] = sum over c, i, j of weight[f, c, i, j] . data[n, c, y + i - pad, x + j - pad]."""
    for n, f, y, x in items(out.shape):
        out[n, f, y, x] = 0
        for c, i, j in steps(weight.shape[1:]):
            row, column = y + i - g.pad, x + j - g.pad
            if not 0 <= row < data.shape[2]:
                continue
            if 0 <= column < data.shape[-1]:
                out[n, f, y, x] += weight[f, c, i, j] * data[n, c, row, column]


@scalar
def corner(data, n, y):
    """The first element of a row, and a number of its place."""
    return data[n, y, 0] + 3 * data.shape[2]


def rows(data, out, n, m):
    """Sides that are put together from shapes and numbers, whole numbers that become floats, arrays in formulas."""
    high, wide = out.shape
    for i, y in items((n, high)):
        for x in range(wide):
            out[y, x] *= 0.5 if i == 0 else 1
        for x, k in steps((*out.shape[1:], m)):
            if k == 1:
                continue
            out[y, x] += corner(data, i, y) * (1 / 3) + wide + x + 10 * k


def moved(data, out, by):
    for i, j in items(data.shape):
        out[i, j] = data[i, j + by]


WINDOWS, ROWS, MOVED = Loop(windows), Loop(rows), Loop(moved)


def _run(loop: Loop, arrays: list[np.ndarray], numbers: tuple, device: str = "cpu") -> list[bytes]:
    given = [as_buffer(array, device) for array in arrays]
    loop(*given, *numbers)
    return [buffer.to_numpy().tobytes() for buffer in given]


def _same_in_every_form(loop: Loop, arrays: list[np.ndarray], *numbers: Any) -> None:
    expected = _run(loop, arrays, numbers)
    for device in ("cpu", "gpu"):
        with python_loops(device):
            assert _run(loop, arrays, numbers) == expected
        with checked_loops(device):
            assert _run(loop, arrays, numbers) == expected
    if SIMULATED and (loop is WINDOWS or arrays[0].dtype == np.float64):  # numbers in its texts are doubles or singles
        assert _run(loop, arrays, numbers, "gpu(0)") == expected


def _values(seed: int, shape: tuple[int, ...], kind: str) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(kind)


@settings(max_examples=25, deadline=None)
@given(st.tuples(*[sides] * 7), st.integers(0, 2), st.sampled_from(["float32", "float64"]), st.integers(0, 99))
def _windows_law(shape: tuple[int, ...], pad: int, kind: str, seed: int) -> None:
    n, c, h, w, f, i, j = shape
    arrays = [_values(seed, (n, c, h, w), kind), _values(seed, (f, c, i, j), kind)]
    out = np.full((n, f, max(0, h + 2 * pad - i), max(0, w + 2 * pad - j)), np.nan, kind)
    _same_in_every_form(WINDOWS, [*arrays, out], Window(i, pad))


@settings(max_examples=25, deadline=None)
@given(st.tuples(*[st.integers(1, 4)] * 5), st.sampled_from(["float32", "float64"]), st.integers(0, 99))
def _rows_law(shape: tuple[int, ...], kind: str, seed: int) -> None:
    n, high, wide, m, depth = shape
    with np.errstate(all="ignore"):
        _same_in_every_form(
            ROWS, [_values(seed, (n, high, depth), kind), _values(seed, (high, wide), kind)], 1, m
        )


@pytest.mark.clause("contract/axes-order", "contract/walks")
def test_windows_have_the_same_bits_in_every_form() -> None:
    _windows_law()


@pytest.mark.clause("contract/axes-order", "contract/walks")
def test_sides_and_formulas_have_the_same_bits_in_every_form() -> None:
    _rows_law()


@pytest.mark.cuda_sim
@pytest.mark.skipif(not SIMULATED, reason="needs NUMBA_ENABLE_CUDASIM=1")
def test_the_same_bits_on_cuda() -> None:
    _windows_law()
    _rows_law()


def _windows_of(data: list, weight: list, pad: int, side: int) -> list:
    out = as_buffer(np.full((1, 1, side, side), np.nan, np.float32))
    given = [as_buffer(np.array(x, np.float32)) for x in (data, weight)]
    WINDOWS(*given, out, Window(2, pad))
    return out.to_numpy().tolist()


@pytest.mark.clause("contract/axes-order")
@pytest.mark.parametrize("form", ["machine code", "Python", "an interpreter"])
def test_worked_by_hand(form: str) -> None:
    data, weight = [[[[1, 2], [3, 4]]]], [[[[1, 10], [100, 1000]]]]

    def run(function: Any, args: list[Any]) -> None:
        assert all(array.ndim == 1 for array in args[:3])
        function(*args[:3], Window(*args[3]), *args[4:])

    with {
        "machine code": nullcontext(), "Python": python_loops(), "an interpreter": interpreted_loops(run),
    }[form]:
        assert _windows_of(data, weight, 0, 1) == [[[[4321]]]]
        assert _windows_of(data, weight, 1, 3) == [[[[1000, 2100, 200], [3010, 4321, 402], [30, 43, 4]]]]


@compiled
@pytest.mark.clause("contract/axes-order")
def test_one_compilation_whatever_the_shapes() -> None:
    loop = Loop(windows)
    for side in range(1, 6):
        for count in range(4):
            arrays = [np.ones((count, 2, side, side)), np.ones((3, 2, 1, 1)), np.ones((count, 3, side, side))]
            _run(loop, arrays, (Window(1, 0),))
    assert len(loop.cpu.signatures) == 1


@compiled
@pytest.mark.clause("contract/axes-order")
def test_checked_machine_code_checks_every_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that is wrong along one axis lies inside the flat array, where unchecked code goes on."""
    arrays = [np.arange(6.0).reshape(2, 3), np.zeros((2, 3))]
    monkeypatch.setattr(loops.kernel_cache, "enable", lambda dispatcher: None)
    if not numba.config.BOUNDSCHECK:
        out = [as_buffer(array) for array in arrays]
        Loop(moved)(*[Buffer(b.flat, (2, 3)) for b in out], 0)
        assert out[1].to_numpy().tolist() == arrays[0].tolist()
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    loop = Loop(moved)
    _run(loop, arrays, (0,))
    for by in (1, -1):
        with pytest.raises(IndexError, match="out of bounds along one axis"):
            _run(loop, arrays, (by,))
    with checked_loops(), pytest.raises(OutsideError):
        _run(loop, arrays, (1,))


# --- refusals ------------------------------------------------------------------------------------


def _mixed(data, out):
    for i, j in items(data.shape):
        out[i] = data[i, j] + data[i]


def _unknown(data, out):
    for i in items(data.shape[0]):
        out[i] = 0


def _no_array(data, out):
    for i, j in items(data.shape):
        out[i] = corner(data[i, j], i, j)


def _too_many_names(data, out):
    for i, j, k in items(data.shape[:2]):
        out[i, j, k] = data[i, j, k]


@pytest.mark.clause("contract/axes")
@pytest.mark.parametrize(("text", "said"), [
    (_mixed, "data has 1 and 2 axes"), (_unknown, "nothing tells how many axes data has"),
    (_no_array, r"data\[i, j\] is no array of this loop"),
    pytest.param(_too_many_names, r"3 names for the 2 axes of data.shape\[:2\]", marks=compiled),
])
def test_a_text_that_is_not_clear_about_axes_is_refused(text: Any, said: str) -> None:
    arrays = [as_buffer(np.ones((2, 2, 2)))] * 2 if text is _too_many_names else [as_buffer(np.ones((2, 2)))] * 2
    with pytest.raises(TypeError, match=said) as caught:
        Loop(text)(*arrays)
    assert caught.value.clause == "contract/axes"
    assert re.search(r"test_axes\.py:\d+: ", str(caught.value))


@pytest.mark.clause("contract/axes")
def test_a_buffer_of_other_axes_is_refused() -> None:
    said = r"moved: argument 0 has shape \(4,\), the loop subscripts it by 2 axes"
    with pytest.raises(TypeError, match=said) as caught:
        MOVED(as_buffer(np.ones(4)), as_buffer(np.ones((2, 2))), 0)
    assert caught.value.clause == "contract/axes"


@pytest.mark.clause("contract/axes")
def test_texts_for_two_devices_agree() -> None:
    def other(data, out, by):
        for i, j, k in items(data.shape):
            out[i, j] = data[i, j, k] + by

    with pytest.raises(TypeError, match="argument 0 has 2 axes on the CPU and 3 on CUDA"):
        Loop(moved, cuda_function=other)(as_buffer(np.ones((2, 2))), as_buffer(np.ones((2, 2))), 0)


def _breaks(data, out):
    for i, j in items(data.shape):
        if data[i, j] > 0:
            break
        out[i, j] = 0


def _breaks_sums(data, out):
    for i in items(3):
        for j, k in steps(data.shape):
            if data[j, k] > i:
                break
            out[j, k] = 0


def _returns(data, out):
    for i, j in items(data.shape):
        for k in range(3):
            if data[i, j] > k:
                return
        out[i, j] = 0


def _has_else(data, out):
    for i, j in items(data.shape):
        out[i, j] = 0
    else:  # noqa: PLW0120  # what is refused
        out[0, 0] = 1


def _ends_inner_loops(data, out):
    for i, j in items(data.shape):
        for k in range(10):
            out[i, j] = k
            if k > data[i, j]:
                break


@pytest.mark.clause("contract/every-place")
@pytest.mark.parametrize(("text", "said"), [
    (_breaks, "break"), (_breaks_sums, "break"), (_returns, "return"), (_has_else, "else"),
])
def test_a_loop_over_a_shape_visits_every_place(text: Any, said: str) -> None:
    with pytest.raises(TypeError, match=rf"test_axes\.py:\d+: .* it has no {said}") as caught:
        Loop(text)(as_buffer(np.ones((2, 2))), as_buffer(np.ones((2, 2))))
    assert caught.value.clause == "contract/every-place"


@pytest.mark.clause("contract/every-place")
def test_loops_inside_may_end_early() -> None:
    data, out = as_buffer(np.array([[0.0, 1.0], [7.0, -1.0]])), as_buffer(np.zeros((2, 2)))
    Loop(_ends_inner_loops)(data, out)
    assert out.to_numpy().tolist() == [[1, 2], [8, 0]]
