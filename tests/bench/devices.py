"""On a CUDA device: how long the pages' own loops take, how long their twins by blocks, and whether the bits agree.

``python -m tests.bench --gpu`` runs it. A time is the median of rounds, in each of which a kernel is started many times
and waited for once. Compiling and copying are not in it.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from refimpl.kernels import reduce
from refimpl.kernels.foundation import Buffer, as_buffer, plain_kernels
from refimpl.kernels.foundation.devices import SIMULATED, synchronize
from refimpl.kernels.foundation.loop import Loop, twins_by_blocks
from refimpl.kernels.foundation.walks import reduction_of
from refimpl.kernels.shared.products import PRODUCT, product_of

DEVICE = "gpu(0)"
FEWEST_SECONDS = 0.05  # that a round takes


class Work(NamedTuple):
    """One call of a loop: ``args[out]`` is what it fills, ``flops`` and ``bytes`` are the least it must do."""

    loop: Loop
    args: tuple[Any, ...]
    out: int
    flops: int
    bytes: int


def _made(*shape: int) -> Buffer:
    values = np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)
    return as_buffer(values, DEVICE)


def _work(loop: Loop, args: list[Any], out: int, flops: int) -> Work:
    size = sum(arg.size * arg.dtype.itemsize for arg in args if type(arg) is Buffer)
    return Work(loop, tuple(args), out, flops, size)


def product(n: int, k: int, m: int) -> Work:
    """A row of ``n`` examples times a matrix stored as FullyConnected stores its weight."""
    g = product_of(n, k, m, transpose_b=True)
    return _work(PRODUCT, [_made(n, k), _made(m, k), _made(n, m), g], 2, 2 * n * k * m)


def add_up(*sides: int) -> Work:
    """The sum of all but the first axis."""
    kept = (sides[0],) + (1,) * (len(sides) - 1)
    of = reduction_of(sides, kept, np.dtype(np.float32), DEVICE)
    return _work(reduce.SUM, [_made(*sides), _made(*kept), np.float64(0), 1, *of], 1, prod(sides))


ROWS: dict[str, tuple[Callable[..., Work], tuple[int, ...]]] = {
    "product 64x784x128": (product, (64, 784, 128)),
    "product 1024x1024x1024": (product, (1024, 1024, 1024)),
    "sum of 1,920 rows of 1,000": (add_up, (1920, 1000)),
    "sum of 512K": (add_up, (1, 1 << 19)),
}


class Found(NamedTuple):
    """One row as it was measured, in seconds."""

    name: str
    page: float
    twin: float
    same_bits: bool
    flops: int
    bytes: int


def _seconds(work: Work, rounds: int, least: float) -> float:
    """Of one call."""
    times, repeats = [], 1
    while len(times) < rounds:
        synchronize(DEVICE)
        began = time.perf_counter()
        for _ in range(repeats):
            work.loop(*work.args)
        synchronize(DEVICE)
        took = time.perf_counter() - began
        if took < least:
            repeats *= 2
        else:
            times.append(took / repeats)
    return statistics.median(times)


def measured(name: str, rounds: int, most: int = 0, least: float = FEWEST_SECONDS) -> Found:
    """One row; no size of it is above ``most``, if there is one."""
    build, sizes = ROWS[name]
    work = build(*(min(size, most or size) for size in sizes))
    seconds, results = [], []
    for form in (plain_kernels, twins_by_blocks):
        with form():
            work.loop(*work.args)  # compiles
            results.append(work.args[work.out].to_numpy().tobytes())
            seconds.append(_seconds(work, rounds, least))
    return Found(name, *seconds, results[0] == results[1], work.flops, work.bytes)


def lines(found: list[Found]) -> Iterator[str]:
    """A table in Markdown."""
    yield "| one kernel | page's loop | twin | page / twin | twin | bits |\n"
    yield "|---|---|---|---|---|---|\n"
    for row in found:
        rate = f"{row.flops / row.twin / 1e9:.3g} GF/s, {row.bytes / row.twin / 1e9:.3g} GB/s"
        bits = "same" if row.same_bits else "DIFFER"
        yield (
            f"| {row.name} | {row.page * 1e6:.3g} us | {row.twin * 1e6:.3g} us | {row.page / row.twin:.3g} |"
            f" {rate} | {bits} |\n"
        )


def run(rounds: int, most: int, only: str) -> list[Found]:
    """All rows whose name has ``only`` in it; standard error names each before it is measured.

    Raises:
        SystemExit: there is no CUDA device.
    """
    if SIMULATED:
        raise SystemExit("Numba's simulator says nothing about speed; unset NUMBA_ENABLE_CUDASIM to measure a GPU")
    if not cuda.is_available():
        raise SystemExit(
            "there is no CUDA device here, so nothing was measured; on a machine with one:"
            ' pip install -e ".[cuda]", then python -m tests.bench --gpu'
        )
    found = []
    for name in ROWS:
        if only in name:
            print(name, file=sys.stderr, flush=True)
            found.append(measured(name, rounds, most))
    return found
