"""Ctrl-C at any moment of a call: what is left is what was before, or what the whole call leaves, never a mix.

For each call here a new object is made, the call is interrupted at one moment, and everything that can be seen of the
object is compared with one that never ran the call and with one that ran it to its end. Then a training step goes on
from there, and must come to the same numbers as theirs. Outputs and gradients may refuse to be read until the step.

The long lane tries REFIMPL_INTERRUPTION_COUNT moments of each, drawn from REFIMPL_INTERRUPTION_SEED.
"""

from __future__ import annotations

import os
import random
import warnings

import pytest

from refimpl import autograd

from . import planted_failures
from .modules_to_interrupt import BUCKETS, CHAINS, MODULE, SVRG
from .others_to_interrupt import EXECUTORS, ITERATORS, STORES

CASES = {
    f"{what}: {name}": case
    for what, cases in (
        ("Module", MODULE), ("BucketingModule", BUCKETS), ("SVRGModule", SVRG), ("SequentialModule", CHAINS),
        ("Executor", EXECUTORS), ("store", STORES), ("iterator", ITERATORS),
    )
    for name, case in cases.items()
}


def tried(name: str, count: int, seed: int) -> None:
    """Interrupt a call at ``count`` moments drawn from ``seed``, a quarter of them among its last lines."""
    case = CASES[name]
    case.call(case.make())  # what is done once in a process is done now
    before, done = case.make(), case.make()
    wanted = [case.see(before)]
    last = planted_failures.moments(lambda: case.call(done))
    wanted.append(case.see(done))
    afterwards = [case.go_on(before), case.go_on(done)]
    draw = random.Random(f"{name} {seed}")  # nobody is to be kept from guessing
    late = count // 4 if count > 1 else draw.randint(0, 1)
    chosen = {draw.randint(1, last) for _ in range(count - late)}
    chosen |= {draw.randint(max(1, last - 30), last) for _ in range(late)}
    for moment in sorted(chosen):
        one = case.make()
        if not planted_failures.interrupted(lambda one=one: case.call(one), moment):
            continue  # threads that came earlier this time leave fewer lines
        assert not (autograd.is_recording() or autograd.is_training()), f"moment {moment} leaves autograd on"
        seen = case.see(one)
        faults = [planted_failures.differences(seen, each) for each in wanted]
        fitting = [number for number in ((0,) if case.delivers else (0, 1)) if not faults[number]]
        assert fitting, f"moment {moment}: neither as before\n{faults[0]}\nnor as afterwards\n{faults[1]}"
        went_on = case.go_on(one)
        faults = [planted_failures.differences(went_on, afterwards[number]) for number in fitting]
        assert [] in faults, f"moment {moment}: goes on wrongly {faults}"


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.clause("Module/atomic", "Module/unfinished", "Executor/unfinished", "KVStore/atomic", "Bucketing/atomic")
@pytest.mark.clause("SVRG/atomic", "DataIter/undelivered", "DataIter/interrupted-reset", "Executor2/atomic")
@pytest.mark.parametrize("name", CASES)
def test_interrupted_calls(name):
    tried(name, 1, 1)


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_calls_interrupted_often(name):
    count, seed = (int(os.environ.get(f"REFIMPL_INTERRUPTION_{what}", "200")) for what in ("COUNT", "SEED"))
    tried(name, count, seed)
