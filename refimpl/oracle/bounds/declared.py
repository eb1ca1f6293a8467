"""The arithmetic that a backend declares: where its hardware differs from what oracle/sum-order assumes.

The chapter ``spec/reference/tools/oracle-arithmetic.md`` has the rules and examples of hardware. Bounds of
first order and proved bounds follow a declaration; without one they are those of ``number`` and ``rigorous`` alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

from ...base import decides
from .arithmetic import Arithmetic
from .determined import determined
from .number_functions import OF_ONE_NUMBER
from .precision import DOUBLE, HALF, NOW, SINGLE, Precision, Ulps

NAMED: dict[str, Precision] = {
    "float16": HALF, "bfloat16": Precision(2.0**-8, 8, 2.0**128 - 2.0**120, 2.0**-126),
    "tf32": Precision(2.0**-11, 11, 2.0**128 - 2.0**117, 2.0**-126), "float32": SINGLE, "float64": DOUBLE,
}
"""Types of products and sums by name."""
CHOICES: dict[str, tuple[Any, ...]] = {
    "products": (None, "float16", "bfloat16", "tf32", "float32"),
    "sums": (None, "float16", "bfloat16", "float32", "float64"), "truncated": (False, True),
    "flushed": ("results", "operands", "never"), "fused": ("either", "always", "never"), "bits": (False, True),
}
"""What each field may be."""
FUNCTIONS = ("div", *OF_ONE_NUMBER)
"""Functions whose error may be declared: division, and functions of ``math``."""
_TERM = re.compile(r"(?P<absolute>abs )?(?P<number>\d+(\.\d+)?(e-?\d+)?)(\^(?P<power>-?\d+))?(?P<slope>\|x\|)?")


@dataclass(frozen=True)
class Declared:
    """What the hardware of a backend does; the defaults are the rules of the chapter on the oracle.

    Raises:
        ValueError: a field has another value; the message names the field and its values.
    """

    products: str | None = None
    """The type that float32 operands of matrix products and convolutions are rounded to; None: they are not."""
    sums: str | None = None
    """The type in which these products are added up, for float32 arrays; None: their own. Operators on float16 arrays
    compute with float32 copies."""
    truncated: bool = False
    """Whether roundings to both types drop bits, instead of giving the nearest number."""
    flushed: str = "results"
    """Which numbers below the smallest normal one may become zero: results, also operands, or never any."""
    fused: str = "either"
    """Whether a product and the addition of it round once (always), each by itself (never), or in either way."""
    ulps: Mapping[str, float | str] = field(default_factory=dict)
    """Function -> how many units in the last place it may be wrong by: 2.5, or a text such as "3+2|x|" or
    "abs 2^-11"."""
    bits: bool = False
    """Whether results have the bits of the reference, which adds in the order of the pages."""

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                given = ", ".join(map(repr, allowed))
                raise ValueError(f"{name}={getattr(self, name)!r} is no arithmetic; it may be {given}")
        for name, text in self.ulps.items():
            if name not in FUNCTIONS:
                raise ValueError(f"ulps of {name!r} cannot be declared; there are {', '.join(FUNCTIONS)}")
            found = ulps_of(text)
            if name == "div" and (found.slope or found.absolute):
                raise ValueError(f"ulps of div are a number, not {text!r}")

    def keeps_reference(self) -> bool:
        """Whether the reference's own results are right where this is declared."""
        return not (self.ulps or self.sums == "float64") and self.fused == "either" and self.flushed != "never"

    def operand(self, own: Precision) -> Precision | None:
        """What operands of a matrix product are rounded to, for arrays of a precision; None if they are not."""
        is_narrow = own is SINGLE and self.products not in (None, "float32")
        return _named(str(self.products), self.truncated) if is_narrow else None

    def total(self, own: Precision) -> Precision | None:
        """In what precision the products are added up, for arrays of a precision; None if in their own."""
        if self.sums is None or own is not SINGLE:
            return None
        found = _named(self.sums, self.truncated)
        return None if found is own else found

    def as_fields(self) -> dict[str, Any]:
        """The fields that differ from the defaults, as ``Declared(**fields)`` takes them."""
        return {
            each.name: dict(value) if each.name == "ulps" else value for each in fields(self)
            if (value := getattr(self, each.name)) != getattr(NOTHING, each.name)
        }


@lru_cache(maxsize=16)
def _named(name: str, truncated: bool) -> Precision:
    found = NAMED[name]
    return Precision(2 * found.unit, found.bits, found.largest, found.smallest) if truncated else found


@decides("oracle/declared-functions")
def ulps_of(text: float | str) -> Ulps:
    """Read what a function may be wrong by.

    Args:
        text: a number, or terms joined by ``+``: ``3`` and ``2|x|`` are units in the last place of the result,
            ``abs 2^-11`` is an absolute error.

    Raises:
        ValueError: the text is none of these.
    """
    parts = {"constant": 0.0, "slope": 0.0, "absolute": 0.0}
    for term in str(text).split("+"):
        match = _TERM.fullmatch(term.strip())
        if match is None or (match["absolute"] and match["slope"]):
            raise ValueError(f"{text!r} is no error of a function; write 2.5, 3+2|x| or abs 2^-11")
        value = float(match["number"]) ** int(match["power"] or 1)
        parts["absolute" if match["absolute"] else "slope" if match["slope"] else "constant"] += value
    if not all(map(math.isfinite, parts.values())):
        raise ValueError(f"{text!r} is no error of a function: it is infinite")
    return Ulps(**parts)


NOTHING = Declared()
"""Nothing is declared."""


@decides("oracle/declared-subnormal")
@contextmanager
def in_force(declared: Declared, arithmetic: Arithmetic) -> Iterator[None]:
    """Within this block the numbers of an arithmetic follow a declaration."""
    if declared == NOTHING:
        yield
        return
    precisions = [*NAMED.values(), *(_named(name, True) for name in NAMED)]
    before = NOW.ulps
    NOW.ulps = {name: ulps_of(text) for name, text in declared.ulps.items()}
    try:
        for precision in precisions:
            precision.flush(declared.flushed != "never")
        with ExitStack() as stack:
            if declared.fused != "either":
                stack.enter_context(determined(arithmetic, is_fused=declared.fused == "always"))
            yield
    finally:
        NOW.ulps = before
        for precision in precisions:
            precision.flush(True)
