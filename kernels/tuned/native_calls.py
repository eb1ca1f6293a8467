"""Calls of compiled kernels, made one after the other by machine code: without the interpreter, and without its lock.

A call is written as 64-bit words: the address of the kernel's machine code, and its arguments as Numba passes them
(``numba.core.callconv.CPUCallConv``). A one-dimensional array is seven words, a tuple is its fields, and floats come
apart from the other words, because calling conventions pass floats in registers of their own. Floats beyond these
registers are words among the others: then no register is left for the others, either.

So one function calls every kernel. It passes a fixed number of arguments, the smallest of ``SIZES`` that is enough. By
the calling conventions of x86-64 (except on Windows) and of 64-bit ARM the caller removes the arguments, and a kernel
ignores arguments beyond its own.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Sequence
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils, registry
from numba.extending import intrinsic, register_jitable

from ..foundation import cache as kernel_cache
from ..foundation import interrupts
from ..foundation.texts import UNCALLED_FROM_C

KNOWN = sys.platform != "win32" and platform.machine() in ("x86_64", "AMD64", "aarch64", "arm64")
"""Whether this machine has one of the calling conventions named above."""

SIZES = (16, 32, 64, 160)
"""The numbers of words that calls pass: the smallest that is enough for a kernel."""

FLOATS = 8
"""The number of floats that are passed in registers."""

REGISTERS = 8 if platform.machine() in ("aarch64", "arm64") else 6
"""The number of words that are passed in registers."""

PACKED = sys.platform == "darwin" and REGISTERS == 8
"""Whether two floats of 32 bits beyond the registers share a word."""

FIRST_FLOAT = 3
HEAD = FIRST_FLOAT + FLOATS
"""Words of a call before its arguments: the address of the machine code, the index of its size in ``SIZES``, the number
of words of the call, and the floats.
"""

_WORD = ir.IntType(64)
ONE_WORD = (types.NoneType, types.Integer, types.Boolean, types.Float)
"""The Numba types that a kernel may return."""


@intrinsic
def _call(typing, place):
    """Make the call that is written at address ``place``; 1 if it failed, else 0."""

    def codegen(context, builder, signature, args):
        words = builder.inttoptr(args[0], _WORD.as_pointer())

        def word(index: int) -> ir.Value:
            return builder.load(builder.gep(words, [_WORD(index)]))

        returned = cgutils.alloca_once(builder, _WORD, name="returned")
        error = cgutils.alloca_once(builder, _WORD, name="error")
        status = cgutils.alloca_once(builder, ir.IntType(32), name="status")
        floats = [builder.bitcast(word(FIRST_FLOAT + index), ir.DoubleType()) for index in range(FLOATS)]
        code = word(0)
        done = builder.append_basic_block("called")
        choice = builder.switch(word(1), done)
        for number, size in enumerate(SIZES):
            block = builder.append_basic_block(f"with_{size}")
            choice.add_case(_WORD(number), block)
            builder.position_at_end(block)
            kind = ir.FunctionType(
                ir.IntType(32), [_WORD.as_pointer()] * 2 + [_WORD] * size + [ir.DoubleType()] * FLOATS
            )
            whole = [word(HEAD + index) for index in range(size)]
            result = builder.call(builder.inttoptr(code, kind.as_pointer()), [returned, error, *whole, *floats])
            builder.store(result, status)
            builder.branch(done)
        builder.position_at_end(done)
        found = builder.load(status)
        fine = [builder.icmp_signed("==", found, ir.IntType(32)(code)) for code in (0, -2)]  # done, or done with None
        return builder.zext(builder.not_(builder.or_(*fine)), _WORD)

    return types.int64(types.int64), codegen


@intrinsic
def word(typing, place, index):
    """The 64-bit word number ``index`` after address ``place``."""

    def codegen(context, builder, signature, args):
        words = builder.inttoptr(args[0], _WORD.as_pointer())
        return builder.load(builder.gep(words, [args[1]]))

    return types.int64(types.int64, types.int64), codegen


@register_jitable
def walk(place, count):
    """Make the ``count`` calls that are written from address ``place`` on; returns how many succeeded."""
    for number in range(count):
        if _call(place):
            return number
        place += 8 * word(place, 2)
    return count


def compiled(function: Callable) -> Callable:
    """The machine code of a function of int64 arguments, cached; a call does not look at types again."""
    dispatcher = njit(nogil=True, error_model="numpy", **UNCALLED_FROM_C)(function)
    kernel_cache.enable(dispatcher)
    with interrupts.held():
        dispatcher.compile((types.int64,) * len(signature(function).parameters))
    (made,) = dispatcher.overloads.values()
    return made.entry_point


@cache
def walker() -> Callable[[int, int], int]:
    """:func:`walk` as machine code."""
    return compiled(walk)


def code_for(dispatcher: Any, args: Sequence[Any]) -> int | None:
    """:func:`code_of` the kernel for arguments of the types of ``args``, which is compiled if it has to be."""
    kinds = tuple(map(dispatcher.typeof_pyval, args))
    if kinds not in dispatcher.overloads:
        with interrupts.held():
            dispatcher.compile(kinds)
    return code_of(dispatcher.overloads[kinds])


def code_of(kernel: Any) -> int | None:
    """The address of the machine code of a kernel that Numba has compiled; None if its calls cannot be written."""
    words = _words_of(kernel.signature.return_type, kernel.signature.args) if KNOWN else float("inf")
    # two words are not arguments
    return kernel.library.get_pointer_to_function(kernel.fndesc.llvm_func_name) if words <= SIZES[-1] + 2 else None


@cache  # Numba lays the arguments out anew for every question
def _words_of(returned: Any, given: tuple[Any, ...]) -> float:
    """The number of words that such a kernel is passed beside floats; infinite if its calls cannot be written."""
    if not isinstance(returned, ONE_WORD) or not all(map(_is_written, given)):
        return float("inf")
    floats = words = 0
    for kind in registry.cpu_target.target_context.call_conv.get_function_type(returned, given).args:
        if isinstance(kind, (ir.FloatType, ir.DoubleType)):
            floats += 1
            if floats > FLOATS and (words < REGISTERS or (floats > FLOATS + 1 and PACKED)):
                return float("inf")
        elif isinstance(kind, ir.PointerType) or kind == _WORD:
            words += 1
        else:
            return float("inf")
    return words + max(0, floats - FLOATS)


def _is_written(kind: Any) -> bool:
    """Whether :func:`written` writes arguments of a Numba type; machine code tells how wide its numbers are."""
    if isinstance(kind, types.BaseTuple):
        return all(map(_is_written, kind.types))
    return isinstance(kind, (types.Array, types.Integer, types.Float))


def written(code: int, args: Sequence[Any]) -> list[int]:
    """The words of a call of the kernel at ``code``. They hold no reference: the caller keeps the arrays alive."""
    whole: list[int] = []
    floats: list[int] = []
    _write(args, whole, floats)
    floats += [0] * (FLOATS - len(floats))
    size = next(number for number, size in enumerate(SIZES) if size >= len(whole))
    return [code, size, HEAD + len(whole), *floats, *whole]


def _write(args: Sequence[Any], whole: list[int], floats: list[int]) -> None:
    """Append the words of arguments, or of the fields of a tuple."""
    for arg in args:
        if isinstance(arg, np.ndarray):
            whole += (0, 0, arg.size, arg.itemsize, address_of(arg), *arg.shape, *arg.strides)
        elif isinstance(arg, tuple):
            _write(arg, whole, floats)
        elif isinstance(arg, (float, np.float32)):
            bits = arg.view(np.uint32) if isinstance(arg, np.float32) else np.float64(arg).view(np.int64)
            (floats if len(floats) < FLOATS else whole).append(bits)
        else:
            whole.append(arg)


def address_of(flat: np.ndarray) -> int:
    """The address of an array's first element."""
    return flat.__array_interface__["data"][0]


__all__ = [
    "FIRST_FLOAT", "HEAD", "KNOWN", "SIZES", "address_of", "code_for", "code_of", "compiled", "walk", "walker", "word",
    "written",
]
