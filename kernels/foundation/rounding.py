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

from llvmlite import ir
from numba.core import cgutils

_FLOATS = {"float32": ir.FloatType(), "float64": ir.DoubleType()}
_PRODUCTS = {"float32": "llvm.nvvm.mul.rn.f", "float64": "llvm.nvvm.mul.rn.d"}
_REMAINDERS = {"float32": "__nv_fmodf", "float64": "__nv_fmod"}
_SIGNS = {"float32": "__nv_copysignf", "float64": "__nv_copysign"}


def _called(builder: Any, name: str, left: Any, right: Any) -> Any:
    """A function of CUDA of two numbers of one type, which is its result's."""
    kind = ir.FunctionType(left.type, [left.type, right.type])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [left, right])


def _product(builder: Any, kind: str, left: Any, right: Any) -> Any:
    return _called(builder, _PRODUCTS[kind], left, right)


def _modulo(builder: Any, kind: str, left: Any, right: Any) -> Any:
    """The remainder of ``math.fmod``, which is exact, moved to the side of 0 on which the divisor is."""
    zero = ir.Constant(_FLOATS[kind], 0.0)
    rest = _called(builder, _REMAINDERS[kind], left, right)
    below, wanted = (builder.fcmp_ordered("<", number, zero) for number in (rest, right))
    moved = builder.select(builder.xor(below, wanted), builder.fadd(rest, right), rest)
    is_zero = builder.fcmp_ordered("==", rest, zero)
    return builder.select(is_zero, _called(builder, _SIGNS[kind], zero, right), moved)


def _chosen(comparison: str) -> Callable:
    """The second number where the comparison with the first holds, which it never does for NaN; else the first."""
    def build(builder: Any, kind: str, left: Any, right: Any) -> Any:
        del kind
        return builder.select(builder.fcmp_ordered(comparison, right, left), right, left)

    return build


def _function(operation: Callable, of_floats: Callable) -> Any:
    """``operation`` as a function for CUDA's compiler; for whole numbers it is the usual operation."""
    extending = importlib.import_module("numba.cuda.extending")

    def typed(typing, a, b):
        kinds = tuple(getattr(kind, "literal_type", kind) for kind in (a, b))
        usual = typing.resolve_function_type(operation, kinds, {})
        kind = str(usual.return_type)

        def build(context, builder, signature, args):
            wanted = usual.args if kind not in _FLOATS else (usual.return_type,) * 2
            given = zip(args, signature.args, wanted, strict=True)
            left, right = (context.cast(builder, value, of, to) for value, of, to in given)
            if kind not in _FLOATS:
                return context.get_function(operation, usual)(builder, (left, right))
            return of_floats(builder, kind, left, right)

        return usual.return_type(a, b), build

    return extending.intrinsic(typed)


@cache
def times() -> Any:
    """``a * b``, rounded before anything is added to it."""
    return _function(operator.mul, _product)


@cache
def modulo() -> Any:
    """``a % b``, exact before it takes the sign of b."""
    return _function(operator.mod, _modulo)


@cache
def greater() -> Any:
    """``max(a, b)``, which is a unless b > a."""
    return _function(max, _chosen(">"))


@cache
def lesser() -> Any:
    """``min(a, b)``, which is a unless b < a."""
    return _function(min, _chosen("<"))
