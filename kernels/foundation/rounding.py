"""Multiplication on CUDA that is rounded before anything is added to it, as on the CPU and in Python.

CUDA's compiler makes one operation of ``a * b + c``, rounded once, wherever it can, and Numba has no switch for that.
So that sums have the bits that their clauses state, every ``*`` in the text of a loop or formula becomes a call of
``times``, which is a multiplication that CUDA never fuses.
"""

from __future__ import annotations

import importlib
import operator
from functools import cache
from typing import Any

from llvmlite import ir
from numba.core import cgutils

_ROUNDED = {"float32": ("llvm.nvvm.mul.rn.f", ir.FloatType()), "float64": ("llvm.nvvm.mul.rn.d", ir.DoubleType())}


@cache
def times() -> Any:
    """``a * b`` as a function for CUDA's compiler; of whole numbers it is their product as ever."""
    extending = importlib.import_module("numba.cuda.extending")

    def rounded(typing, a, b):
        kinds = tuple(getattr(kind, "literal_type", kind) for kind in (a, b))
        product = typing.resolve_function_type(operator.mul, kinds, {})
        found = _ROUNDED.get(str(product.return_type))

        def build(context, builder, signature, args):
            given = zip(args, signature.args, product.args, strict=True)
            left, right = (context.cast(builder, value, kind, wanted) for value, kind, wanted in given)
            if found is None:
                return context.get_function(operator.mul, product)(builder, (left, right))
            name, kind = found
            function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind, kind]), name)
            return builder.call(function, [left, right])

        return product.return_type(a, b), build

    return extending.intrinsic(rounded)
