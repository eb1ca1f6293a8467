"""A process that makes hostile calls, each within a bound of processor time, all within one of memory.

    python -m tests.laws.hostile_child FIRST_SEED SEEDS NUMBER OF

It takes every OF-th operator from NUMBER on and makes SEEDS calls of each. Loops run as Python with checked indices;
calls that are too large for that run as machine code, which has bounds checks where ``NUMBA_BOUNDSCHECK`` is set. The
last line of its output counts how the calls ended; a call that takes too long ends the process.
"""

from __future__ import annotations

import faulthandler
import json
import resource
import signal
import sys
import warnings
from collections import Counter

import refimpl as mx
from refimpl.kernels import distinct
from refimpl.oracle.pages.draws import SeededDraw
from refimpl.resource import random_streams

from . import hostile
from .checked import TooMuchError, checked_loops, small_arrays

SECONDS = 30  # of processor time, so that busy machines change nothing
MEMORY = 4 << 30


def ended(name: str, seed: int) -> str:
    """How a call ended, as ``hostile.outcome``, or "too large" for this lane."""
    op = mx.kernels.get(name)
    try:
        with checked_loops():
            return hostile.outcome(op, SeededDraw(seed))
    except TooMuchError:
        pass
    try:
        with small_arrays():
            return hostile.outcome(op, SeededDraw(seed))
    except TooMuchError:
        return "too large"


def main(first: int, seeds: int, number: int, of: int) -> None:
    """Make the calls and print what came of them."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    faulthandler.register(signal.SIGPROF, chain=True)  # says where it was, also in machine code, and ends the process
    random_streams(mx.cpu())  # many steps, which count for no operator
    found, wrong = Counter[str](), []
    names = [op.name for op in distinct() if op.cases is not None]
    for name in names[number::of]:
        for seed in range(first, first + seeds):
            print(name, seed, file=sys.stderr, flush=True)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                found[ended(name, seed)] += 1
            except AssertionError as error:
                wrong.append(f"{name}, seed {seed}: {error}"[:2000])
            signal.setitimer(signal.ITIMER_PROF, 0)
    print(json.dumps({"ended": found, "wrong": wrong}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
