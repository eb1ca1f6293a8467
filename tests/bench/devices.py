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

from refimpl.kernels import convolution, reduce
from refimpl.kernels.foundation import Buffer, as_buffer, plain_kernels
from refimpl.kernels.foundation.devices import SIMULATED, synchronize
from refimpl.kernels.foundation.loop import Loop, twins_by_blocks
from refimpl.kernels.foundation.walks import reduction_of
from refimpl.kernels.shared.convolution_geometry import geometry_of, volume
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


def _convolved(loop: Loop, order: str, images: int, channels: int, filters: int, side: int, kernel: int) -> Work:
    pad = (kernel // 2,) * 2
    arrays = {
        "data": (images, channels, side, side), "weight": (filters, channels, kernel, kernel),
        "out": (images, filters, side, side),
    }
    g = geometry_of(arrays["data"], arrays["out"], (kernel, kernel), (1, 1), pad, (1, 1), 1)
    flops = 2 * prod(arrays["out"]) * prod(arrays["weight"][1:])
    return _work(loop, [*(volume(_made(*arrays[name])) for name in order.split()), g], 2, flops)


def convolve(*sizes: int) -> Work:
    """Forward, with as many outputs as pixels."""
    return _convolved(convolution.CONVOLVE, "data weight out", *sizes)


def weight_gradient(*sizes: int) -> Work:
    """The gradient of the weight."""
    return _convolved(convolution.GATHER_WEIGHT, "out data weight", *sizes)


def add_up(*sides: int) -> Work:
    """The sum of all but the first axis."""
    kept = (sides[0],) + (1,) * (len(sides) - 1)
    of = reduction_of(sides, kept, np.dtype(np.float32), DEVICE)
    return _work(reduce.SUM, [_made(*sides), _made(*kept), np.float64(0), 1, *of], 1, prod(sides))


ROWS: dict[str, tuple[Callable[..., Work], tuple[int, ...]]] = {
    "product 64x784x128": (product, (64, 784, 128)),
    "product 1024x1024x1024": (product, (1024, 1024, 1024)),
    "conv 5x5 20>50 12^2 b64, forward": (convolve, (64, 20, 50, 12, 5)),
    "conv 3x3 16>16 32^2 b32, forward": (convolve, (32, 16, 16, 32, 3)),
    "conv 3x3 64>64 56^2 b4, forward": (convolve, (4, 64, 64, 56, 3)),
    "conv 3x3 16>16 32^2 b32, gradient of the weight": (weight_gradient, (32, 16, 16, 32, 3)),
    "conv 3x3 64>64 56^2 b4, gradient of the weight": (weight_gradient, (4, 64, 64, 56, 3)),
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
