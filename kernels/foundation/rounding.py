"""``*``, ``%``, ``max`` and ``min`` on CUDA with the numbers that they have on the CPU and in Python.

CUDA's compiler turns ``a * b + c`` into one operation, rounded once, wherever it can, and Numba has no switch for this
fusion. So that sums have the bits that their clauses state, every ``*`` in the text of a loop or formula becomes a call
of ``times``, a multiplication that CUDA never fuses. CUDA computes ``%`` as x - trunc(x / y) * y, which is NaN where y
is infinite and rounded where x / y is large, so every ``%`` becomes a call of ``modulo``. CUDA's ``max`` and ``min``
ignore NaN; in Python they return the first argument unless the second is larger or smaller.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

KINDS = {"float32": np.float32, "float64": np.float64}


def _product(kind: Any, libdevice: Any) -> Callable:
    multiply = libdevice.fmul_rn if kind is np.float32 else libdevice.dmul_rn
    return lambda a, b: multiply(kind(a), kind(b))


def _modulo(kind: Any, libdevice: Any) -> Callable:
    """The remainder of ``math.fmod``, which is exact, moved to the side of 0 on which the divisor is."""
    single = kind is np.float32
    remainder, copysign = ((libdevice.fmodf, libdevice.copysignf) if single else (libdevice.fmod, libdevice.copysign))

    def modulo(a, b):
        divisor = kind(b)
        rest = remainder(kind(a), divisor)
        zero, moved = copysign(kind(0), divisor), rest + divisor
        return zero if rest == 0 else moved if (rest < 0) != (divisor < 0) else rest

    return modulo


def _greater(kind: Any, libdevice: Any) -> Callable:
    del libdevice
    return lambda a, b: kind(b) if kind(b) > kind(a) else kind(a)


def _lesser(kind: Any, libdevice: Any) -> Callable:
    del libdevice
    return lambda a, b: kind(b) if kind(b) < kind(a) else kind(a)


def _function(operation: Callable, of_floats: Callable) -> Callable:
    """``operation`` as a function for CUDA's compiler; for whole numbers it is the usual operation."""
    extending, libdevice, descriptor = (
        importlib.import_module(f"numba.cuda.{name}") for name in ("extending", "libdevice", "descriptor")
    )

    def function(a, b):
        raise NotImplementedError

    @extending.overload(function)
    def typed(a, b):
        kinds = tuple(getattr(kind, "literal_type", kind) for kind in (a, b))
        usual = descriptor.cuda_target.typing_context.resolve_function_type(operation, kinds, {})
        kind = KINDS.get(str(usual.return_type))
        return (lambda a, b: operation(a, b)) if kind is None else of_floats(kind, libdevice)

    return function


@cache
def times() -> Callable:
    """``a * b``, rounded before anything is added to it."""
    return _function(operator.mul, _product)


@cache
def modulo() -> Callable:
    """``a % b``, exact before it takes the sign of b."""
    return _function(operator.mod, _modulo)


@cache
def greater() -> Callable:
    """``max(a, b)``, which is a unless b > a."""
    return _function(max, _greater)


@cache
def lesser() -> Callable:
    """``min(a, b)``, which is a unless b < a."""
    return _function(min, _lesser)
