"""Helpers for shape and type inference: partly known shapes are merged, contradictions are refused.

A shape is a tuple of ints in which ``UNKNOWN`` (-1) stands for a side that is not known yet, or None when even the rank
is unknown. 0 is an ordinary side: the array has no elements. MXNet's classic mode writes an unknown side as 0;
``refimpl/symbol/inference.py`` translates such shapes where users give and read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from .refusal import refusal

Shape = tuple[int, ...]
MaybeShape = Shape | None
MaybeDtype = np.dtype | None


class _Unknown(int):
    """-1 as a side: arithmetic with it gives unknown, and a comparison with it raises TypeError."""

    __slots__ = ()

    def _absorbing(self, other: Any) -> _Unknown:
        del other
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _absorbing

    def __mod__(self, other: Any) -> int:
        """Return 0: an unknown side counts as divisible."""
        del other
        return 0

    def __neg__(self) -> _Unknown:
        return self

    def _undecided(self, *_: Any) -> NoReturn:
        raise TypeError("a side is unknown here; ask told() before comparing it")

    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _undecided

    def __reduce__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown(-1)


def told(*sides: int) -> bool:
    """Whether every given side is known."""
    return UNKNOWN not in sides


def known(*shapes: MaybeShape) -> bool:
    """Whether every given shape is completely known."""
    return all(shape is not None and UNKNOWN not in shape for shape in shapes)


def either(one: int, other: int) -> int:
    """``one``, or ``other`` where ``one`` is unknown."""
    return other if one == UNKNOWN else one


def agree(one: int, other: int) -> bool:
    """Whether two sides may be the same: they are equal, or one is unknown."""
    return one == other or UNKNOWN in (one, other)


def merge(clause: str, what: str, given: MaybeShape, wanted: MaybeShape) -> MaybeShape:
    """Combine two partial shapes of the same array; refuse with ``clause`` where they contradict each other."""
    if given is None:
        return wanted
    if wanted is None or given == wanted:
        return given
    if len(given) != len(wanted) or not all(map(agree, given, wanted)):
        raise refusal(
            clause,
            f"Shape inconsistent for {what}, Provided = {list(given)}, inferred shape={list(wanted)}",
        )
    return tuple(map(either, given, wanted))


def merge_all(clause: str, what: str, shapes: Sequence[MaybeShape]) -> MaybeShape:
    """Combine partial shapes that must all be equal."""
    result: MaybeShape = None
    for shape in shapes:
        result = merge(clause, what, shape, result)
    return result


def same_shape(clause: str, axes: int = 0) -> Any:
    """Return an ``infer`` for operators whose inputs and outputs all have one shape, of that many ``axes`` or more."""

    def infer(p: Any, ins: list[MaybeShape], outs: list[MaybeShape]) -> tuple[list, list]:
        del p
        shape = merge_all(clause, "operands", [*ins, *outs])
        if shape is not None and len(shape) < axes:
            raise refusal(clause, f"an array of shape {list(shape)} has too few axes, expected {axes} or more")
        return [shape] * len(ins), [shape] * len(outs)

    infer.reads_no_params = True  # type: ignore[attr-defined]  # asked once for all parameters
    return infer


def broadcast(clause: str, left: Shape, right: Shape) -> Shape:
    """Shape of two broadcast operands: aligned at the last axis, a 1 stretches."""
    rank = max(len(left), len(right))
    a = (1,) * (rank - len(left)) + left
    b = (1,) * (rank - len(right)) + right
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b, strict=True)):
        raise refusal(clause, f"operands of shapes {list(left)} and {list(right)} do not broadcast")
    return tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))


def same_type(p: Any, ins: list[MaybeDtype], outs: list[MaybeDtype]) -> tuple[list, list]:
    """Default type rule: every input and output has one dtype; contradictions are refused."""
    del p
    found: MaybeDtype = None
    for given in [*ins, *outs]:
        if given is None:
            continue
        if found is not None and given != found:
            raise refusal(
                "types/one-dtype",
                f"types differ: {found} and {given}; all operands must have one dtype, use Cast",
            )
        found = given
    return [found] * len(ins), [found] * len(outs)


same_type.reads_no_params = True  # type: ignore[attr-defined]  # as above


def axes_of(clause: str, axis: Any, rank: int) -> tuple[int, ...]:
    """Axes as sorted non-negative ints; an int or a tuple may be given, negatives count from the end."""
    given = (axis,) if isinstance(axis, int) else tuple(axis)
    for a in given:
        if not -rank <= a < rank:
            raise refusal(clause, f"axis {a} is out of range for an array of rank {rank}")
    return tuple(sorted({a % rank for a in given}))


def normal_axis(clause: str, axis: int, rank: int) -> int:
    """One axis as a non-negative int."""
    return axes_of(clause, axis, rank)[0]


def strides_of(shape: Shape) -> tuple[int, ...]:
    """C-order strides, in elements."""
    strides, step = [], 1
    for side in reversed(shape):
        strides.append(step)
        step *= side
    return tuple(reversed(strides))


def require_some(what: str, side: int, wanted: MaybeShape) -> None:
    """[operator/nothing-to-choose] An axis of no elements has none to choose; results of shape ``wanted`` are refused.

    Raises:
        MXNetError: ``side`` is 0 and ``wanted``, which is known, holds elements.
    """
    if side == 0 and known(wanted) and 0 not in (wanted or ()):
        raise refusal(
            "operator/nothing-to-choose",
            f"{what} has no elements, and a result of shape {list(wanted or ())} needs one for each of its own",
        )
