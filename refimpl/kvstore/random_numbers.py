"""The random numbers of a process, as plain values: for one that is started in the place of another."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from ..resource import remembered_streams, restore_streams


def random_numbers() -> Any:
    """Plain values that tell which random numbers come next: ours, NumPy's and Python's."""
    version, numbers, gauss = random.getstate()
    return remembered_streams(), np.random.get_state(), (version, np.array(numbers, np.uint64), gauss)  # noqa: NPY002  # iterators draw there


def set_random_numbers(state: Any) -> None:
    """Draw again from where :func:`random_numbers` was called."""
    streams, numbers, (version, others, gauss) = state
    restore_streams(streams)
    np.random.set_state(numbers)  # noqa: NPY002
    random.setstate((version, tuple(int(number) for number in others), gauss))


__all__ = ["random_numbers", "set_random_numbers"]
