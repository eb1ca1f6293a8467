"""The fast road: a repeated walk is replayed from a recording. ``refimpl/engine/fast_road.py`` says when it is open.

A walk leads from a call of the user down to the loops of a page; ARCHITECTURE.md shows three. The second time that the
same walk is due (``recorder.py``), its page is asked for its kernels and their arguments (``asking.py``). From then on
the kernels are called without the functions in between: for calls on arrays (``array_calls.py``), gradients of autograd
(``gradients.py``, ``tapes.py``), runs of an executor (``programs.py``), and updates of parameters (``updates.py``).

Machine code makes the kernel calls of a whole run (``pieces.py``) and of a whole update (``update_calls.py``), for
several contexts at the same time (``side_by_side.py``); ``kernels/tuned/native_calls.py`` and
``kernels/tuned/hand_over.py`` are that code.
Because a page can be asked before it has run, kernels are compiled before they are needed (``foreseen.py``).

Nothing else imports this folder. Without it or ``kernels/tuned`` every call runs its page, with the same bits.
"""

import sys

import numba

from ..engine import fast_road
from ..executor.program import Program
from ..kernels.foundation.ahead import AHEAD
from ..kernels.foundation.devices import SIMULATED
from .array_calls import array_call, pair
from .foreseen import kernels_of
from .gradients import gradient
from .programs import Table
from .side_by_side import is_walked
from .tapes import nodes
from .updates import is_updated_on_devices, is_updated_on_store


def tables_of(program: Program) -> tuple[Table, Table]:
    """New, empty tables for the forward and the backward steps of a program."""
    AHEAD.expect(program, kernels_of)
    return Table(program.forward_steps, program.pool), Table(program.backward_steps, program.pool)


if not (numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK or SIMULATED):  # loops have machine code
    fast_road.road = sys.modules[__name__]

__all__ = [
    "array_call", "gradient", "is_updated_on_devices", "is_updated_on_store", "is_walked", "nodes", "pair", "tables_of",
]
