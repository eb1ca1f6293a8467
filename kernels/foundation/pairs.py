"""Formulas over two numbers, with their slopes: shared by elementwise, broadcast and scalar pages.

``PAIRS`` has one row per formula: its name, f(x, y), the slope towards x, the slope towards y, and the kinds
of values that random calls may draw for each side. A slope of None is zero everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from .buffer import Buffer
from .refusal import decides
from .texts import scalar


class Pair(NamedTuple):
    """One formula over two numbers."""

    formula: Callable
    left: Callable | None = None
    right: Callable | None = None
    left_values: Any = "any"
    right_values: Any = "any"
    flat_on_whole_numbers: bool = False

    def is_flat(self, head: Buffer) -> bool:
        """Whether the slopes are 0 because the arrays hold whole numbers."""
        return self.flat_on_whole_numbers and head.dtype.kind != "f"


# --- arithmetic ---------------------------------------------------------------------------------


@scalar
def add(x, y):
    return x + y


@scalar
def subtract(x, y):
    return x - y


@scalar
def multiply(x, y):
    return x * y


@scalar
def divide(x, y):
    return x / y


@scalar
def one(x, y):
    return 1


@scalar
def minus_one(x, y):
    return -1


@scalar
def first(x, y):
    return x


@scalar
def second(x, y):
    return y


@scalar
def divide_left(x, y):
    return 1 / y


@scalar
def divide_right(x, y):
    return -x / (y * y)


@scalar
def power(x, y):
    return math.pow(x * 1.0, y * 1.0)


@scalar
def power_left(x, y):
    return y * math.pow(x * 1.0, y - 1)


@scalar
def power_right(x, y):
    return math.pow(x * 1.0, y * 1.0) * math.log(x)


@scalar
def modulo(x, y):
    """The remainder has the sign of y; modulo 0 is 0."""
    return x % y if y != 0 else y


@scalar
def modulo_right(x, y):
    ratio = x / y
    return -math.floor(ratio) if abs(ratio) < 2.0**52 else -ratio


@scalar
def hypot(x, y):
    return math.hypot(x, y)


@scalar
def hypot_left(x, y):
    return x / math.hypot(x, y)


@scalar
def hypot_right(x, y):
    return y / math.hypot(x, y)


# --- choices and comparisons ----------------------------------------------------------------------


@scalar
def maximum(x, y):
    """NaN if either is."""
    return x if x >= y or x != x else y


@scalar
def minimum(x, y):
    """NaN if either is."""
    return x if x <= y or x != x else y


@scalar
def equal(x, y):
    return 1 if x == y else 0


@scalar
def not_equal(x, y):
    return 1 if x != y else 0


@scalar
def greater(x, y):
    return 1 if x > y else 0


@scalar
@decides("elementwise/ties", "scalar/ties")
def greater_equal(x, y):
    return 1 if x >= y else 0


@scalar
def lesser(x, y):
    return 1 if x < y else 0


@scalar
@decides("elementwise/ties", "scalar/ties")
def lesser_equal(x, y):
    return 1 if x <= y else 0


@scalar
def logical_and(x, y):
    return 1 if x != 0 and y != 0 else 0


@scalar
def logical_or(x, y):
    return 1 if x != 0 or y != 0 else 0


@scalar
def logical_xor(x, y):
    return 1 if (x != 0) != (y != 0) else 0


PAIRS: dict[str, Pair] = {
    "add": Pair(add, one, one),
    "sub": Pair(subtract, one, minus_one),
    "mul": Pair(multiply, second, first),
    "div": Pair(divide, divide_left, divide_right, "any", "positive"),
    "power": Pair(power, power_left, power_right, "positive", "any"),
    "mod": Pair(modulo, one, modulo_right, "apart", ("ints", 1, 4), flat_on_whole_numbers=True),
    "hypot": Pair(hypot, hypot_left, hypot_right, "positive", "any"),
    "maximum": Pair(maximum, greater_equal, lesser),
    "minimum": Pair(minimum, lesser_equal, greater),
    "equal": Pair(equal),
    "not_equal": Pair(not_equal),
    "greater": Pair(greater),
    "greater_equal": Pair(greater_equal),
    "lesser": Pair(lesser),
    "lesser_equal": Pair(lesser_equal),
    "logical_and": Pair(logical_and),
    "logical_or": Pair(logical_or),
    "logical_xor": Pair(logical_xor),
}
