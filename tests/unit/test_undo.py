"""What a failed block gives back: the same bits, and no memory for arrays that hold nothing yet."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import refimpl as mx
from refimpl.ndarray.undo import undo

MANY = 1 << 18
CORNERS = {
    "zeros": lambda flat: None,
    "negative zeros": lambda flat: flat.fill(-0.0),
    "a negative zero at the end": lambda flat: flat[-1:].fill(-0.0),
    "one number at the end": lambda flat: flat[-1:].fill(3),
    "one number at the start": lambda flat: flat[:1].fill(3),
    "ones": lambda flat: flat.fill(1),
}


@pytest.mark.clause("Module/params-atomic", "Module/atomic")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "bool"])
@pytest.mark.parametrize("size", [0, 1, 100, MANY])
@pytest.mark.parametrize("corner", CORNERS)
def test_the_same_bits_come_back(corner: str, size: int, dtype: str) -> None:
    values = np.zeros(size, dtype)
    CORNERS[corner](values)
    array = mx.nd.array(values, dtype=dtype)
    with pytest.raises(KeyboardInterrupt), undo([array]):
        array[:] = 7
        raise KeyboardInterrupt
    assert array.asnumpy().tobytes() == values.tobytes()


@pytest.mark.clause("Module/params-atomic")
@pytest.mark.usefixtures("nothing_has_failed")  # else the engine is asked, and makes copies
def test_arrays_of_zeros_are_not_copied() -> None:
    arrays = [mx.nd.zeros(MANY), mx.nd.zeros(MANY, dtype="int8")]
    mx.nd.waitall()
    tracemalloc.start()
    try:
        with undo(arrays):
            _, peak = tracemalloc.get_traced_memory()
        assert peak < 100_000
        arrays[0][-1:] = 1
        with undo(arrays):
            _, peak = tracemalloc.get_traced_memory()
        assert peak > 4 * MANY  # the measure sees a copy
    finally:
        tracemalloc.stop()


@pytest.mark.clause("Module/atomic")
@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_a_sparse_array_gets_its_values_and_its_places_back(stype: str) -> None:
    array = mx.nd.array([[0, 1], [0, 0], [2, 3]]).tostype(stype)
    with pytest.raises(KeyboardInterrupt), undo([array]):
        mx.nd.array([[5, 0], [6, 0], [0, 0]]).tostype(stype).copyto(array)
        raise KeyboardInterrupt
    assert array.stype == stype
    assert array.asnumpy().tolist() == [[0, 1], [0, 0], [2, 3]]
    assert array.indices.asnumpy().tolist() == {"row_sparse": [0, 2], "csr": [1, 0, 1]}[stype]


@pytest.mark.clause("Module/atomic")
@pytest.mark.parametrize("recording", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_the_switches_of_autograd_are_as_before(recording: bool, training: bool) -> None:
    before = mx.autograd.set_recording(recording), mx.autograd.set_training(training)
    try:
        with pytest.raises(KeyboardInterrupt), undo([]):
            mx.autograd.set_recording(not recording)
            mx.autograd.set_training(not training)
            raise KeyboardInterrupt
        assert (mx.autograd.is_recording(), mx.autograd.is_training()) == (recording, training)
    finally:
        mx.autograd.set_recording(before[0])
        mx.autograd.set_training(before[1])
