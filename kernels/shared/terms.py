"""Gradients written as mathematics: operators and methods of a :class:`Term` make nodes of the graph.

A page whose gradient may be differentiated again writes the gradient a second time, in terms of operators.
``h * (0.5 / y)`` makes the nodes of ``_rdiv_scalar`` and ``elemwise_mul``; ``x.cos()`` that of ``cos``;
``x.clip(a_min=0, a_max=1)`` that of ``clip``. Between two terms ``+``, ``-``, ``*`` and ``/`` are elementwise, or
broadcast for a term made with ``stretch=True``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

NAMES = {"add": "elemwise_add", "sub": "elemwise_sub", "mul": "elemwise_mul", "div": "elemwise_div"}
"""Elementwise operators whose name is not an underscore and the formula's name."""


class Term:
    """An entry of the graph of gradients, and the ``make`` that adds nodes to that graph."""

    def __init__(self, make: Callable, entry: Any, *, stretch: bool = False) -> None:
        self.make, self.entry, self.stretch = make, entry, stretch

    def __getattr__(self, name: str) -> Callable:
        """Any operator as a method: further terms are its inputs, keywords its parameters."""
        return lambda *others, **attrs: self._made(name, *others, **attrs)

    def _made(self, op_name: str, *others: Term, **attrs: Any) -> Term:
        entries = [self.entry, *(other.entry for other in others)]
        return Term(self.make, self.make(op_name, entries, **attrs)[0], stretch=self.stretch)

    def _with(self, name: str, other: Any, scalar_name: str = "") -> Term:
        if not isinstance(other, Term):
            return self._made(f"_{scalar_name or name}_scalar", scalar=float(other))
        if self.stretch or other.stretch:
            return self._made(f"broadcast_{name}", other)
        return self._made(NAMES.get(name, f"_{name}"), other)

    def __add__(self, other: Any) -> Term:
        return self._with("add", other, "plus")

    def __sub__(self, other: Any) -> Term:
        return self._with("sub", other, "minus")

    def __mul__(self, other: Any) -> Term:
        return self._with("mul", other)

    def __truediv__(self, other: Any) -> Term:
        return self._with("div", other)

    def __pow__(self, other: Any) -> Term:
        return self._with("power", other)

    def __radd__(self, other: float) -> Term:
        return self._made("_plus_scalar", scalar=float(other))

    def __rsub__(self, other: float) -> Term:
        return self._made("_rminus_scalar", scalar=float(other))

    def __rmul__(self, other: float) -> Term:
        return self._made("_mul_scalar", scalar=float(other))

    def __rtruediv__(self, other: float) -> Term:
        return self._made("_rdiv_scalar", scalar=float(other))

    def __rpow__(self, other: float) -> Term:
        return self._made("_rpower_scalar", scalar=float(other))

    def __neg__(self) -> Term:
        return self._made("negative")

    def __abs__(self) -> Term:
        return self._made("abs")

    def __gt__(self, other: Any) -> Term:
        return self._with("greater", other)

    def __ge__(self, other: Any) -> Term:
        return self._with("greater_equal", other)

    def __lt__(self, other: Any) -> Term:
        return self._with("lesser", other)

    def __le__(self, other: Any) -> Term:
        return self._with("lesser_equal", other)

    def same_as(self, other: Any) -> Term:
        """1 where both are equal, else 0."""
        return self._with("equal", other)

    def hypot_with(self, other: Any) -> Term:
        """The root of the sum of both squares."""
        return self._with("hypot", other)


def log(value: Any) -> Any:
    """The logarithm of a term, or of a number as C gives it."""
    if isinstance(value, Term):
        return value.log()
    if value > 0:
        return math.log(value)
    return -math.inf if value == 0 else math.nan


def hypot(x: Any, y: Any) -> Term:
    """The root of the sum of the squares of two terms, or of a term and a number."""
    return x.hypot_with(y) if isinstance(x, Term) else y.hypot_with(x)


def slope_rule(slope: Callable) -> Callable:
    """The ``gradient`` of an elementwise page: the head times ``slope(p, x, y)``, in input and output terms."""

    def gradient(make: Callable, p: Any, heads: Any, inputs: Any, outputs: Any) -> list:
        return [(Term(make, heads[0]) * slope(p, Term(make, inputs[0]), Term(make, outputs[0]))).entry]

    return gradient


def unless_whole(h: Term) -> Term:
    """The head itself, and 0 in arrays of whole numbers, where a factor of 0.5 counts as 0."""
    return h * 0.5 * 2


PAIR_SLOPES: dict[str, tuple[Callable, Callable]] = {
    # formula of foundation/pairs.py: the head's way to x, and to y
    "add": (lambda h, x, y: h, lambda h, x, y: h),
    "sub": (lambda h, x, y: h, lambda h, x, y: -h),
    "mul": (lambda h, x, y: h * y, lambda h, x, y: h * x),
    "div": (lambda h, x, y: h / y, lambda h, x, y: h * -(x / (y * y))),
    "power": (lambda h, x, y: h * (y * x ** (y - 1)), lambda h, x, y: h * (x**y * log(x))),
    "mod": (lambda h, x, y: unless_whole(h), lambda h, x, y: unless_whole(h) * -(x / y).floor()),
    "hypot": (lambda h, x, y: h * (x / hypot(x, y)), lambda h, x, y: h * (y / hypot(x, y))),
    "maximum": (lambda h, x, y: h * (x >= y), lambda h, x, y: h * (x < y)),
    "minimum": (lambda h, x, y: h * (x <= y), lambda h, x, y: h * (x > y)),
}
