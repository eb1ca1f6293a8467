"""Loops over numbers with errors: within :func:`tracking` every loop runs in the text of its page, as Python.

The numbers are those of ``number`` and ``rigorous``; ``shadow`` keeps them beside the arrays. A loop that only reads an
array gets a list of its numbers, one that only writes it a list to fill, which Python reads and writes without a call.
Memory that a loop reads under one name and writes under another is read first, as calls in place are legal element by
element only. The contexts of a module take turns (oracle/one-thread).

    with tracking() as shadow:
        executor.forward()
    values, bounds = shadow.of(executor.outputs[0])
"""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import math
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ...base import decides
from ...kernels.foundation.buffer import Buffer
from ...kernels.foundation.loop import interpreted_loops, plain_kernels
from ...kernels.foundation.texts import flattened, geometries_of
from ...module.thread_pool import ThreadPool
from .alternatives import (
    COORDINATE_UNITS,
    ORDINARY_SIDE,
    POWER_UNITS,
    coordinates_of,
    is_quotient,
    is_rest_of_power,
    loop_beside,
)
from .arithmetic import FIRST_ORDER, Arithmetic
from .declared import NOTHING, Declared, in_force
from .matrix_products import ADDEND, FACTOR, role_of
from .precision import NOW, SINGLE, Precision, use
from .shadow import PRECISIONS, Elements, Shadow, Whole, Written
from .theorems import theorem_for


@cache
def _lifted_formula(function: FunctionType, arithmetic: Arithmetic) -> Callable[..., Any]:
    function = flattened(function)
    lifted = FunctionType(function.__code__, _scope(function, arithmetic), function.__name__, function.__defaults__)
    positions = coordinates_of(function)
    if positions is None:
        return lifted

    def moved(x: Any) -> Any:
        x = arithmetic.number(x)
        return arithmetic.covering(x, x + COORDINATE_UNITS * NOW.precision.unit * (abs(float(x.value)) + ORDINARY_SIDE))

    def uncertain(*given: Any) -> Any:
        if not positions:
            return moved(lifted(*given))
        return lifted(*[moved(x) if i in positions else x for i, x in enumerate(given)])

    return uncertain


def _scope(function: FunctionType, arithmetic: Arithmetic) -> dict[str, Any]:
    """The function's globals, with arithmetic replaced by arithmetic of numbers with errors."""
    scope = dict(function.__globals__)
    for name in {i.argval for i in dis.get_instructions(function) if i.opname == "LOAD_GLOBAL"}:
        if getattr(scope.get(name), "__scalar__", False):
            scope[name] = _lifted_formula(scope[name], arithmetic)
        elif name in scope or name in ("max", "min"):
            scope[name] = arithmetic.replacement(scope.get(name, getattr(builtins, name, None)))
    return scope


@cache
def _has_coordinates(function: FunctionType) -> bool:
    """Whether a loop interpolates between places: its result hardly changes from one branch to the other."""
    names = {i.argval for i in dis.get_instructions(function) if i.opname == "LOAD_GLOBAL"}
    formulas: list[Any] = [f for f in map(function.__globals__.get, names) if getattr(f, "__scalar__", False)]
    return any(coordinates_of(formula) is not None or _has_coordinates(formula) for formula in formulas)


class _Lifted(NamedTuple):
    """A loop over numbers."""

    body: Callable[..., None]
    geometries: list[Any]
    """The class of each parameter that is a geometry, None for the others."""
    read: list[bool]
    """Whether each parameter is an array that is read at most."""
    written: list[bool]
    """Whether each parameter is an array that is written at most."""
    beside: Callable[..., None] | None
    """A loop over flat arrays that an implementation may run instead."""
    is_continuous: bool
    """Whether its result hardly changes from one branch to the other."""
    roles: list[str]
    """FACTOR, ADDEND or nothing for each parameter; see ``matrix_products``."""

    def others(self, given: list[Any]) -> list[Callable[[], None]]:
        """Loops that an implementation may run instead, on the same arguments."""
        if self.beside is not None:
            return [partial(self.beside, *given[: self.beside.__code__.co_argcount])]
        return [partial(_leaning, lean, self.body, given) for lean in (-1, 1)] if self.is_continuous else []


@cache
def _lifted_loop(function: FunctionType, arithmetic: Arithmetic) -> _Lifted:
    geometries, names = geometries_of(function), list(inspect.signature(function).parameters)
    other, theorem, continuous = loop_beside(function), theorem_for(function), _has_coordinates(function)
    body = _lifted_formula(function, arithmetic)
    if theorem is not None:
        body = partial(theorem, arithmetic)
    special = other is not None or theorem is not None or continuous
    read, written = (set(names), set(names)) if special else accessed(function)
    return _Lifted(
        body, [geometries.get(name) for name in names], [name not in written for name in names],
        [name not in read for name in names], other and _lifted_formula(other, arithmetic), continuous,
        [role_of(function, name) for name in names],
    )


def accessed(function: FunctionType) -> tuple[set[str], set[str]]:
    """The names whose elements a loop may read, and those whose elements it may write."""
    nodes = list(ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))))
    shapes = {node.value for node in nodes if isinstance(node, ast.Attribute) and node.attr == "shape"}
    elements = [n for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name)]
    added_to = {node.target for node in nodes if isinstance(node, ast.AugAssign)}
    names = {element.value for element in elements} | shapes
    whole = {node.id for node in nodes if isinstance(node, ast.Name) and node not in names}  # given to a formula, say
    read = {e.value.id for e in elements if isinstance(e.ctx, ast.Load) or e in added_to}  # type: ignore[attr-defined]
    written = {e.value.id for e in elements if not isinstance(e.ctx, ast.Load)}  # type: ignore[attr-defined]
    return read | whole, written | whole


def _lent(
    shadow: Shadow, flat: np.ndarray, is_read: bool, is_written: bool, converted: Precision | None,
    total: Precision | None,
) -> Any:
    """What a loop gets for an array: a plain list where the loop only reads it.

    Args:
        shadow: the numbers.
        flat: the array.
        is_read: whether it is read at most.
        is_written: whether it is written at most.
        converted: what its elements are converted to before.
        total: in what precision the loop adds up, if not in its own.
    """
    if flat.dtype not in PRECISIONS:
        return Whole(flat, shadow)
    if converted is not None:
        return [shadow.arithmetic.cast(each, converted) for each in shadow.numbers(flat)]
    if is_read:
        found = shadow.numbers(flat)
        return found if total is None else shadow.addends(found, total)
    return (Written if is_written else Elements)(flat, shadow, total)


def _end(shadow: Shadow, arrays: list[Any], free: bool) -> None:
    """Keep the numbers that a loop wrote; where a place was open, another may have been written in its stead."""
    for array in arrays:
        array.ended(free)
        if free and NOW.misplaced:
            shadow.set_free(array.flat, range(len(array)))


def _interpreter(shadow: Shadow) -> Callable[[FunctionType, list[Any]], None]:
    def scalar(value: Any) -> Any:
        """A number that a page hands to its loop: parameters are floats, sizes are not."""
        if type(value) is int or not isinstance(value, (float, np.floating)):
            return value
        return shadow.arithmetic.number(shadow._left.get(float(value), value))

    def field(kind: Any, name: str, value: Any) -> Any:
        made = scalar(value)
        if isinstance(value, np.floating) and 0 < value < 1 and is_rest_of_power(kind, name):
            power = shadow.arithmetic.rounded(1 - made.value, 0, POWER_UNITS)
            return shadow.arithmetic.covering(made, 1 - power)
        # a power of 2 has all its bits in any precision
        if is_quotient(kind, name) and abs(math.frexp(float(value))[0]) != 0.5:
            return shadow.arithmetic.rounded(made.value, 0)
        return made

    def run(function: FunctionType, arguments: list[Any]) -> None:
        loop = _lifted_loop(function, shadow.arithmetic)
        arrays: list[Any] = []  # those that the loop may write

        kinds = [PRECISIONS[a.dtype] for a in arguments if isinstance(a, np.ndarray) and a.dtype in PRECISIONS]
        own = max(kinds, key=lambda kind: kind.unit, default=SINGLE)
        operand, total = shadow.declared.operand(own), shadow.declared.total(own) if any(loop.roles) else None
        before = use(own), NOW.undecided
        NOW.undecided = NOW.misplaced = False
        try:
            given: list[Any] = []
            for argument, kind, is_read, is_written, role in zip(
                arguments, loop.geometries, loop.read, loop.written, loop.roles, strict=False
            ):
                if isinstance(argument, np.ndarray):
                    converted = {FACTOR: operand, ADDEND: total}.get(role)
                    given.append(_lent(shadow, argument, is_read, is_written, converted, total))
                    if type(given[-1]) is not list:
                        arrays.append(given[-1])
                elif kind is not None:
                    given.append(kind(*[
                        value if type(value) is int else field(kind, name, value)
                        for name, value in zip(kind._fields, argument, strict=True)
                    ]))
                else:
                    given.append(scalar(argument))
            others = loop.others(given)
            numbers = [array for array in arrays if type(array) is Elements] if others else []
            held = [list(array) for array in numbers]
            use(total or own)
            loop.body(*given)
            free = NOW.undecided
            if loop.beside is not None or (others and free):
                _cover(shadow, numbers, held, others)
                free = free and loop.beside is not None
            shadow.freed += free
            _end(shadow, arrays, free)
        finally:
            use(before[0])
            NOW.undecided = before[1]

    return run


def _cover(
    shadow: Shadow, arrays: list[Elements], before: list[list[Any]], others: list[Callable[[], None]]
) -> None:
    """Run other loops on the same arguments; the bounds of the first loop then cover the results of all."""
    first = [list(array) for array in arrays]
    found: list[list[list[Any]]] = []
    for other in others:
        for array, held in zip(arrays, before, strict=True):
            array.again(held)
        other()
        found.append([list(array) for array in arrays])
    for array, kept, *theirs in zip(arrays, first, *found, strict=True):
        for i, (each, *rest) in enumerate(zip(kept, *theirs, strict=True)):
            array[i] = shadow.arithmetic.covering(each, *rest)


def _leaning(lean: int, body: Callable[..., None], given: list[Any]) -> None:
    """Run a loop with every undecided branch taken in one way."""
    NOW.lean = lean
    try:
        body(*given)
    finally:
        NOW.lean = 0


@decides("oracle/one-thread")
@contextmanager
def one_thread() -> Iterator[None]:
    """Within this block the contexts of a module run in turns, in the thread that asks for them."""
    def in_turn(self: ThreadPool, work: Callable[[int], object]) -> None:
        for context in range(self.size):
            work(context)

    beside = ThreadPool.run
    ThreadPool.run = in_turn  # type: ignore[method-assign]
    try:
        yield
    finally:
        ThreadPool.run = beside  # type: ignore[method-assign]


@contextmanager
def tracking(arithmetic: Arithmetic = FIRST_ORDER, declared: Declared = NOTHING) -> Iterator[Shadow]:
    """Within this block every loop over the CPU's arrays computes bounds too; see the module's text.

    For one thread: the engine must be ``NaiveEngine``, which is the default.

    Args:
        arithmetic: FIRST_ORDER, or RIGOROUS, which is slower and proves its bounds.
        declared: the arithmetic of the implementation under test.
    """
    shadow = Shadow(arithmetic, declared)
    plain_to, plain_from = Buffer.to_numpy, Buffer.fill_from
    plain_copy, plain_fill = Buffer.copy_from, Buffer.fill

    def to_numpy(self: Buffer) -> np.ndarray:
        made = plain_to(self)
        if made.dtype in PRECISIONS:
            shadow.left(self.flat)
        return made

    def fill_from(self: Buffer, array: np.ndarray) -> None:
        plain_from(self, array)
        shadow.arrived(self.flat, array)

    def copy_from(self: Buffer, source: Buffer) -> None:
        plain_copy(self, source)
        if self.dtype in PRECISIONS and source.dtype in PRECISIONS:
            shadow.copy(source.flat, self.flat)

    def fill(self: Buffer, value: float) -> None:
        plain_fill(self, value)
        shadow.forget(self.flat)

    replaced: list[tuple[type, str, Any]] = [
        (Buffer, "to_numpy", to_numpy), (Buffer, "fill_from", fill_from), (Buffer, "copy_from", copy_from),
        (Buffer, "fill", fill),
    ]
    plain = [(owner, name, getattr(owner, name)) for owner, name, _ in replaced]
    with (
        plain_kernels(), interpreted_loops(_interpreter(shadow)), np.errstate(all="ignore"),
        in_force(declared, arithmetic), one_thread(),
    ):
        try:
            for owner, name, method in replaced:
                setattr(owner, name, method)
            yield shadow
        finally:
            for owner, name, method in plain:
                setattr(owner, name, method)
