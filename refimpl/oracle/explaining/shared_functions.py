"""The elementary functions that the pages of a program's operators evaluate: divisions, roots, exponentials, ...

A program runs once under bounds, where every loop is Python. The functions are those that the executed lines of pages
name, so that two operators share one if the formulas of both do.
"""

from __future__ import annotations

import dis
import math
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from ... import kernels
from ..backends import Refused
from ..judging.reference import Program, expected_of

PAGES = str(Path(kernels.__path__[0]).resolve())
EXACT = {"ceil", "copysign", "fabs", "floor", "isfinite", "isinf", "isnan", "prod", "trunc"}
"""Functions of ``math`` that round nothing."""
NAMES = {name for name, value in vars(math).items() if callable(value)} - EXACT
"""Functions of ``math`` and NumPy that a library may have with fewer digits."""
OPERATIONS = {
    "/": "division", "/=": "division", "BINARY_TRUE_DIVIDE": "division", "INPLACE_TRUE_DIVIDE": "division",
    "**": "power", "**=": "power", "BINARY_POWER": "power", "INPLACE_POWER": "power",
}
"""How the instructions of Python 3.11 and of 3.10 call what they do."""
FORMULAS = ("pairs.py",)
"""Files of ``kernels/foundation`` that hold formulas; the others hold how loops are run."""


def functions_of(program: Program) -> frozenset[str]:
    """The names of the functions: those of ``math``, division and power. Above level 2 there are none.

    Args:
        program: a checked program.
    """
    if program["level"] > 2:
        return frozenset()
    codes: set[CodeType] = set()

    def seen(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            codes.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        expected_of(program)
    except Refused:
        return frozenset()
    finally:
        sys.setprofile(before)
    return frozenset(name for code in codes for name in _named(code))


@cache
def _named(code: CodeType) -> frozenset[str]:
    return frozenset(_functions(code)) if _is_of_a_page(code) else frozenset()


def _is_of_a_page(code: CodeType) -> bool:
    path = Path(code.co_filename).resolve()
    return str(path).startswith(PAGES) and (path.parent.name != "foundation" or path.name in FORMULAS)


def _functions(code: CodeType) -> Iterator[str]:
    owner = None
    for each in dis.get_instructions(code):
        done = OPERATIONS.get(each.argrepr if each.opname == "BINARY_OP" else each.opname)
        if done:
            yield done
        elif each.argval in NAMES and (each.opname == "LOAD_GLOBAL" or owner in ("math", "np")):
            yield each.argval
        owner = each.argval if each.opname == "LOAD_GLOBAL" else None
