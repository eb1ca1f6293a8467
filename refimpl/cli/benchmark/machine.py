"""What one core of this machine can do at most: multiply and add, and copy."""

from __future__ import annotations

import datetime as dt
import math
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

from ... import libinfo
from ...kernels.tuned import simd

TURNS = 1_000_000
BLOCKS = tuple(tuple(range(0, 8 * count, 8)) for count in (4, 6, 12, 24))
"""Blocks of sums: enough to hide the latency of an FMA, few enough to stay in the registers of some processor."""
COPIED = (1 << 14, 1 << 17, 1 << 19, 1 << 20, 1 << 21, 1 << 22, 1 << 25)  # bytes of one array


def _multiply_add(turns: int, numbers: Any, blocks: tuple[int, ...], factors: tuple[int, ...]) -> None:
    """A loop of nothing but FMAs on registers, 8 sums for each of the ``blocks``: the factors do not change."""
    sums = simd.load_tile(numbers, (0,), blocks, 0)
    for _ in range(turns):
        sums = simd.fma_tile(sums, numbers, (0,), 0, numbers, factors, 0)
    simd.store_tile(sums, numbers, (0,), blocks, 0)


def _copy(source: Any, target: Any) -> None:
    for place in range(source.size):
        target[np.uintp(place)] = source[np.uintp(place)]


def _least(work: Callable[[], object], rounds: int = 7) -> float:
    found = []
    work()
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)


class Limits:
    """The most that was seen so far; measuring again between groups makes an idle moment likely."""

    def __init__(self) -> None:
        self.flops = 0.0
        """Per second, of one core."""
        self.copy: dict[int, float] = dict.fromkeys(COPIED, 0.0)
        """Bytes read and written per second, by the bytes of one array."""
        self.seen: list[float] = []
        """What each measurement took for the peak of FMAs: how much it varies says how quiet the machine was."""
        self._added = numba.njit(_multiply_add)
        self._copied = numba.njit(_copy)

    def measure(self) -> None:
        """Measure once more and keep the better numbers. About 0.5 s, and a second for compiling before the first."""
        if numba.config.DISABLE_JIT:
            return  # interpreted, no loop comes near
        numbers = np.full(8 * max(map(len, BLOCKS)), 0.5, np.float32)
        numbers[:] += np.arange(len(numbers), dtype=np.float32)  # equal sums would be one
        now = 0.0
        for blocks in BLOCKS:
            given = TURNS, numbers, blocks, (0,) * len(blocks)
            seconds = _least(lambda given=given: self._added(*given), 3)  # type: ignore[misc]
            now = max(now, 2.0 * 8 * len(blocks) * TURNS / seconds)
        self.seen.append(now)
        self.flops = max(self.flops, now)
        for size in COPIED:
            source, target = np.ones(size // 4, np.float32), np.ones(size // 4, np.float32)
            times = max(1, (1 << 22) // size)

            def work(source: Any = source, target: Any = target, times: int = times) -> None:
                for _ in range(times):
                    self._copied(source, target)

            self.copy[size] = max(self.copy[size], 2 * size * times / _least(work))

    def seconds(self, flops: float, moved: float) -> float:
        """The least time for so many operations and bytes: what takes longer of the two."""
        nearest = min(COPIED, key=lambda size: abs(math.log(2 * size / max(moved, 1))))
        return max(flops / self.flops, moved / self.copy[nearest])

    def described(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "flops": self.flops, "copy": {str(size): found for size, found in self.copy.items()},
            "least_flops_seen": min(self.seen, default=0.0), "measured": len(self.seen),
        }


def described() -> dict[str, Any]:
    """The machine, its system and when."""
    found = platform.processor() or platform.machine()
    facts = Path("/proc/cpuinfo")
    if facts.is_file():
        models = [line for line in facts.read_text(encoding="utf-8").splitlines() if line.startswith("model name")]
        found = models[0].partition(": ")[2] if models else found
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "processor": found, "cores": cores, "system": platform.platform(),
        "date": dt.datetime.now(tz=dt.timezone.utc).strftime("%Y-%m-%d"),
        "versions": {
            "refimpl": libinfo.__version__, "Python": platform.python_version(), "Numba": numba.__version__,
            "NumPy": np.__version__,
        },
    }
