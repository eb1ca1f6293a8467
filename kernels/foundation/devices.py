"""CUDA devices: which there are, which one a thread talks to, and the stream of each.

A buffer's ``device`` is "cpu", or "gpu(i)" for the i-th CUDA device. Each device has its own memory and one stream. All
copies and kernels of a device go through its stream, so that they run in the order of the calls, while several devices
work at the same time.

Numba's simulator has one device and runs one kernel at a time. Here it acts as ``SIMULATED_DEVICES`` devices: their
memory is the CPU's, and their kernels wait for each other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from .forks import own_lock
from .later import cuda
from .refusal import decides

SIMULATED = bool(int(os.environ.get("NUMBA_ENABLE_CUDASIM", "0") or 0))
SIMULATED_DEVICES = 4

_ONE_AT_A_TIME = own_lock()  # held while a simulated device works
_MAKING = own_lock()
_STREAMS: dict[str, Any] = {}


def count() -> int:
    """Number of CUDA devices."""
    if not cuda.is_available():
        return 0
    return SIMULATED_DEVICES if SIMULATED else len(cuda.gpus)


@cache
def number_of(device: str) -> int:
    """The i of "gpu(i)"."""
    return int(device[len("gpu(") : -1])


def handle_of(device: str) -> Any:
    """Numba's object for a device, which is entered to make the device current."""
    return cuda.gpus[0 if SIMULATED else number_of(device)]


@decides("Context/gpu-memory")
@contextmanager
def current(device: str) -> Iterator[Any]:
    """Make "gpu(i)" the device that this thread talks to within the block; gives the device's stream."""
    if SIMULATED:
        with _ONE_AT_A_TIME:
            yield _stream_of(device)
    else:
        with handle_of(device):
            yield _stream_of(device)


def _stream_of(device: str) -> Any:
    """The stream of the device that is current."""
    found = _STREAMS.get(device)
    if found is None:
        with _MAKING:
            found = _STREAMS.get(device)
            if found is None:
                found = _STREAMS[device] = cuda.stream()
    return found


def synchronize(device: str) -> None:
    """Wait until all copies and kernels of a device have finished."""
    with current(device) as stream:
        stream.synchronize()
