"""What drawing and judging cost: nothing is compiled in the loop, and equal data is made once."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config, njit
from numba.core import event

from refimpl.oracle import search
from refimpl.oracle.programs.values import array_of

from .planted import sound


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled at all")
def test_nothing_is_compiled_once_the_operators_have_run() -> None:
    search(sound, seed=0, programs=60)
    with event.install_recorder("numba:compile") as recorder:
        result = search(sound, seed=1, programs=60)
        assert recorder.buffer == []
        njit(lambda x: x + 1)(1)  # the recorder does see what is compiled
        assert recorder.buffer
    assert result.programs == 60


@pytest.mark.parametrize("kind", ["any", "positive", "unit", ["labels", 3], ["ints", -1, 2], "regular"])
def test_equal_data_gives_equal_arrays_whatever_was_made_between(kind) -> None:
    spec = {"shape": [3, 3], "dtype": "float32", "kind": kind, "style": "normal", "seed": 5}
    first = array_of(spec)
    kept = first.copy()
    first[:] = 7  # whoever gets an array may write to it
    for seed in range(200):
        array_of({**spec, "seed": seed})
    assert np.array_equal(array_of(spec), kept)
    assert not np.array_equal(array_of({**spec, "seed": 6}), kept)


def test_the_numbers_are_those_of_a_new_generator() -> None:
    spec = {"shape": [4], "dtype": "float64", "style": "normal", "seed": 11}
    assert np.array_equal(array_of(spec), np.random.RandomState(11).standard_normal(4))
