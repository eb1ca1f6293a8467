"""Random programs of a store give here what they give in MXNet 1.9.1: values, calls of updaters, refusals.

    REFIMPL_MXNET_PYTHON=PATH python -m pytest -m peer tests/peers/test_kvstore.py

PATH is as in test_mxnet.py. Numbers that are updated are dyadic, others are any; all results are equal bit by bit.
What crashes MXNet is left out: more arrays for a key than in its first push of several, and compression of what was
pushed whole before. So is what it gets wrong: an updater that comes after a push of several arrays is handed their sum
as the stored array, too; and of more than 16 arrays in a call, those of one key change places.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from refimpl.oracle.backends.mxnet import MXNet
from refimpl.oracle.drawing.choices import Capabilities, Exclusions
from refimpl.oracle.drawing.drawn_stores import CAREFUL, store_program
from refimpl.oracle.drawing.draws import SeededDraw
from refimpl.oracle.judging.reference import trace_of

from .asking import needs_mxnet

pytestmark = [pytest.mark.peer, needs_mxnet]

PROGRAMS = 60


def programs(*, sparse: bool) -> Iterator[dict[str, Any]]:
    """Programs that MXNet survives."""
    left_out = Exclusions(operators=CAREFUL if sparse else CAREFUL | {"store/rows"})
    found = number = 0
    while found < PROGRAMS:
        program = store_program(SeededDraw(number), Capabilities(), left_out)
        number += 1
        if any("rows" in step for step in program["steps"]) is sparse:
            found += 1
            yield program


@pytest.mark.clause("KVStore/push-merges", "KVStore/push-order", "KVStore/compression", "KVStore/push-rows")
@pytest.mark.clause("KVStore/row-sparse-pull", "KVStore/states", "KVStore/set-optimizer", "KVStore/updater-key")
@pytest.mark.parametrize("sparse", [False, True])
def test_random_programs(sparse: bool, mxnet: MXNet) -> None:
    kinds = set()
    for program in programs(sparse=sparse):
        ours, theirs = trace_of(program), mxnet.run(program)
        assert list(ours) == list(theirs), program
        for name, array in ours.items():
            np.testing.assert_array_equal(array, theirs[name], err_msg=f"{name} of {program}")
        kinds |= {step["do"] for step in program["steps"]}
    assert kinds >= {"push", "pushpull", "pull", "init", "updater", "optimizer", "save", "load", "barrier"}
    assert ("row_sparse_pull" if sparse else "compress") in kinds
