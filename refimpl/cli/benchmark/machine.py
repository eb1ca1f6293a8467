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
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ... import libinfo

TURNS = 1_000_000
ACCUMULATORS = 12  # enough to hide the latency of an FMA, few enough to stay in registers
WIDTHS = (4, 8, 16)  # float32 numbers in a register: NEON and SSE, AVX2, AVX-512
COPIED = (1 << 14, 1 << 17, 1 << 19, 1 << 20, 1 << 21, 1 << 22, 1 << 25)  # bytes of one array


def _multiply_add(width: int) -> Callable[[int, float], float]:
    """A loop of nothing but FMAs on registers of ``width`` numbers."""
    vector = ir.VectorType(ir.FloatType(), width)

    @intrinsic  # type: ignore[untyped-decorator]
    def turns(_typing: Any, _count: Any, _value: Any) -> Any:
        def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            count, value = arguments
            index = ir.IntType(32)
            one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(index, 0))
            spread = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(index, width), [0] * width))
            kind = ir.FunctionType(vector, [vector] * 3)
            fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{width}f32")
            starts = [ir.Constant(vector, [float(number)] * width) for number in range(ACCUMULATORS)]  # none is another
            places = [cgutils.alloca_once_value(builder, start) for start in starts]
            with cgutils.for_range(builder, count):
                for place in places:
                    builder.store(builder.call(fma, [builder.load(place), spread, spread]), place)
            total = builder.load(places[0])
            for place in places[1:]:
                total = builder.fadd(total, builder.load(place))
            return builder.extract_element(total, ir.Constant(index, 0))

        return types.float32(types.intp, types.float32), build

    return numba.njit(lambda count, value: turns(count, value))  # type: ignore[no-any-return]  # noqa: PLW0108  # turns is no function


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
        self._loops = {width: _multiply_add(width) for width in WIDTHS}
        self._copied = numba.njit(_copy)

    def measure(self) -> None:
        """Measure once more and keep the better numbers. About 0.5 s, and a second for compiling before the first."""
        if numba.config.DISABLE_JIT:
            return  # interpreted, no loop comes near
        value = np.float32(0.5)
        now = 0.0
        for width, loop in self._loops.items():
            seconds = _least(lambda loop=loop: loop(TURNS, value), 3)  # type: ignore[misc]
            now = max(now, 2.0 * width * ACCUMULATORS * TURNS / seconds)
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
