"""Tuned twins beside memory that cannot be touched; ``protected.py`` makes it, and children die of it.

    python -m pytest -m long -k sizes        at both ends of arrays, with other poisons
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from refimpl.kernels.foundation import SLACK
from refimpl.kernels.foundation.loop import CHOICE

from . import protected

TWINS = sorted(map(str, Path(__file__).parent.glob("test_tuned*.py")))
ROOT = Path(__file__).parents[2]


def ends(touch):
    """How a forked process ends that touches something: 0, or minus the signal that killed it."""
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        touch()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("size", [1, 100, 1024, 5000])
def test_the_page_past_the_slack_cannot_be_touched(size):
    """What the children below would die of."""
    ahead, back = (protected.Protected(np.zeros(size, np.float32), place) for place in ("end", "start"))
    first = back.buffer.flat.ctypes.data
    last = ahead.buffer.flat.ctypes.data + 4 * (size + SLACK) - 1
    assert ends(lambda: ctypes.c_char.from_address(last).value) == 0
    assert ends(lambda: ctypes.c_char.from_address(last + 1).value) == -signal.SIGSEGV
    assert ends(lambda: ctypes.c_char.from_address(first).value) == 0
    assert ends(lambda: ctypes.c_char.from_address(first - 1).value) == -signal.SIGSEGV


PLACES = [("end", "nan"), *[pytest.param(*each, marks=pytest.mark.long) for each in (
    ("start", "nan"), ("end", "77"), ("start", "-inf"), ("end", "inf"),
)]]


@pytest.mark.heavy
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT) or CHOICE.plain, reason="twins exist in machine code only")
@pytest.mark.parametrize(("place", "poison"), PLACES)
def test_sizes_of_slack(place, poison):
    """The tests of twins, in a child that dies when one reads past the slack; no number depends on what that holds."""
    environment = os.environ | {
        "REFIMPL_PROTECTED": place, "REFIMPL_PROTECTED_POISON": poison, "PYTHONPATH": str(ROOT),
        "HYPOTHESIS_PROFILE": "few" if (place, poison) == PLACES[0] else "ci",
    }
    command = [sys.executable, "-m", "pytest", "-qp", "no:cacheprovider", *TWINS, "-k", "not threads"]
    child = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    assert child.returncode == 0, f"ended with {child.returncode}: {child.stdout[-3000:]}{child.stderr[-3000:]}"
    assert " passed" in child.stdout
