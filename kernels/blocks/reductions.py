"""Sums, products, maxima and minima in lanes (clause reduce/sum-order): a block for each group, a thread for each lane.

All threads of a block read a stretch of a row into the memory that they share, which keeps many reads under way; then
LANES of them combine what their lanes have of it, in C order. Last, one thread joins the lanes in the page's order.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..foundation.blocks import BlockTwin
from ..foundation.devices import SIMULATED
from ..foundation.later import cuda
from ..foundation.loop import loops_of
from ..foundation.walks import LANES, GroupSizes, offset_of
from ..reduce import reduce_rows as page

DOUBLE = np.dtype(np.float64)
THREADS = LANES if SIMULATED else 8 * LANES
STRETCH = 8 * THREADS  # elements; a multiple of LANES, and more bytes than LANES doubles


def reduce_rows(data, out, start, count, kept_sides, kept_steps, sides, steps, g: GroupSizes):
    """As ``reduce.reduce_rows`` where it has LANES lanes."""
    stretch = cuda.shared.array(0, data.dtype)
    parts = cuda.shared.array(0, DOUBLE)  # the same memory, when no stretch is left
    me = cuda.threadIdx.x
    for t in range(cuda.blockIdx.x, g.n, cuda.gridDim.x):
        base = offset_of(t, kept_sides, kept_steps, g.kept_rank)
        part = start
        for r in range(g.rows):
            row = base + offset_of(r, sides, steps, g.rank)
            for first in range(0, g.length, STRETCH):
                length = min(STRETCH, g.length - first)
                for c in range(me, length, THREADS):
                    stretch[c] = data[row + first + c]
                cuda.syncthreads()
                if me < LANES:
                    for c in range(me, length, LANES):
                        part = combine(part, stretch[c])  # noqa: F821  # bound by Loop
                cuda.syncthreads()
        if me < LANES:
            parts[me] = part
        cuda.syncthreads()
        if me == 0:
            total = start
            for begin in range(4):
                quarter = start
                for lane in range(begin, LANES, 4):
                    quarter = join(quarter, parts[lane])  # noqa: F821
                total = join(total, quarter)  # noqa: F821
            out[t] = finish(total, count)  # noqa: F821
        cuda.syncthreads()


def in_lanes(args: Sequence[Any]) -> bool:
    return args[-1].lanes == LANES


REDUCE_ROWS = BlockTwin(reduce_rows, lambda args: args[-1].n, threads=THREADS, shared=STRETCH, fits=in_lanes)
for _loop in loops_of(page):
    _loop.use_blocks(REDUCE_ROWS)
