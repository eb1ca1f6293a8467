"""Chains: kernels that follow each other in a table, over the elements of equal arrays, become one kernel.

Such a kernel is a loop whose body says what elements ``i`` of its arrays become, of elements ``i``. The bodies of a
chain, one below the other, are the body of one loop. A number is loaded once, rounded wherever a kernel of the chain
would store it, and stored once: the same bits with less traffic. The new loop is made of the texts of the kernels, so
formulas stay where they are: on the pages, and in ``kernels/tuned``.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import inspect
import textwrap
from collections.abc import Sequence
from functools import cache, partial
from itertools import pairwise
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numba import njit, uintp

from ..base import asked_for, decides
from ..kernels.foundation import cache as kernel_cache
from ..kernels.foundation import interrupts
from ..kernels.foundation.loop import DistinctArrays
from ..kernels.foundation.texts import UNCALLED_FROM_C
from .rows import Piece, Rows

SWITCH = "REFIMPL_CHAINS"
KINDS = {
    "apart": "every kernel of a table walks over its arrays",
    "fused": "kernels that go over the elements of equal arrays, one after the other, become one",
}
"""What ``REFIMPL_CHAINS`` may be, and what it means."""

MOST_ARRAYS, MOST_NUMBERS, MOST_CALLS = 12, 8, 24
"""A chain ends where its kernel would take more arrays or numbers, or be made of more kernels."""

FLOATING = (np.dtype(np.float32), np.dtype(np.float64))
"""The types of arrays in chains. What an integer type makes of a float beyond it differs from loop to loop."""

LIMIT = 256
"""So many kernels of chains are kept."""


def kind() -> str:
    """What becomes of the tables of programs that are bound now.

    Raises:
        MXNetError: the environment variable is none of ``KINDS``.
    """
    return asked_for("Executor/chains-switch", SWITCH, KINDS)


# --- what a kernel says ----------------------------------------------------------------------------


class _Text(NamedTuple):
    """A loop over elements: its parameters, which of them counts, which are arrays, and what it assigns to elements."""

    kernel: Any
    parameters: list[str]
    counter: str
    arrays: list[str]
    assigned: list[tuple[str, ast.expr]]


@cache
def _text_of(dispatcher: Any) -> _Text | None:
    """The text of a kernel; None where it does more than assign elements ``i`` of arrays, made of elements ``i``."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(dispatcher.py_func))).body[0]
    assert isinstance(definition, ast.FunctionDef)
    match definition.body:
        case [ast.For(ast.Name(index), ast.Call(ast.Name("items" | "range"), [ast.Name(count)]), body)]:
            pass
        case _:
            return None
    assigned: list[tuple[str, ast.expr]] = []
    for statement in body:
        match statement:
            case ast.Assign([ast.Subscript(ast.Name(target))], value):
                assigned.append((target, value))
            case _:
                return None
    parts = [part for statement in body for part in ast.walk(statement)]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    subscripts = [part for part in parts if isinstance(part, ast.Subscript)]
    read = {part.value.id for part in subscripts if isinstance(part.value, ast.Name)}
    parameters = [argument.arg for argument in definition.args.args]
    arrays = [name for name in parameters if name in read]
    if not (
        all(isinstance(part.slice, ast.Name) and part.slice.id == index for part in subscripts)
        and names.count(index) == len(subscripts) == sum(map(names.count, arrays))  # neither is used otherwise
        and count in parameters and count not in names
    ):
        return None
    return _Text(dispatcher, parameters, count, arrays, assigned)


_Memory = tuple[int, int, np.dtype]
"""Where an array begins and ends, and its type."""


def _memory_of(array: np.ndarray) -> _Memory:
    begin = array.__array_interface__["data"][0]
    return begin, begin + array.nbytes, array.dtype


class _Call(NamedTuple):
    """A call that may be part of a chain: ``given`` are its arguments, ``memory`` the places of its arrays, by name."""

    text: _Text
    given: dict[str, Any]
    memory: dict[str, _Memory]

    @property
    def size(self) -> int:
        return self.given[self.text.counter]

    @property
    def numbers(self) -> list[str]:
        return [name for name in self.given if name not in self.memory and name != self.text.counter]


def _read(call: partial, dispatcher: Any) -> _Call | None:
    """The call, where it goes over all elements of floating arrays."""
    text = None if dispatcher is None else _text_of(dispatcher)
    if text is None:
        return None
    given = dict(zip(text.parameters, call.args, strict=True))
    arrays = [given[name] for name in text.arrays]
    if any(a.shape != (given[text.counter],) or not a.flags.c_contiguous or a.dtype not in FLOATING for a in arrays):
        return None
    made = _Call(text, given, {name: _memory_of(given[name]) for name in text.arrays})
    return made if all(isinstance(given[name], (int, float, np.number)) for name in made.numbers) else None


def _are_apart(places: set[_Memory]) -> bool:
    """Whether no two of several places overlap."""
    in_order = sorted(places, key=lambda place: place[:2])
    return all(one[1] <= other[0] for one, other in pairwise(in_order))


def _fit(chain: Sequence[_Call]) -> bool:
    """Whether these calls can be one: by elements, the order in which they read and write stays."""
    places = {place for call in chain for place in call.memory.values()}
    return (
        len({call.size for call in chain}) == 1 and len(chain) <= MOST_CALLS and len(places) <= MOST_ARRAYS
        and sum(len(call.numbers) for call in chain) <= MOST_NUMBERS and _are_apart(places)
    )


# --- what a chain says -----------------------------------------------------------------------------


class _Renamed(ast.NodeTransformer):
    """An expression of a kernel under the names of a chain: elements by the name of their array, and other names."""

    def __init__(self, elements: dict[str, str], names: dict[str, str]) -> None:
        self._elements, self._names = elements, names

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        assert isinstance(node.value, ast.Name)
        return ast.Name(self._elements[node.value.id], ast.Load())

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._names.get(node.id, node.id), ast.Load())


class _Chain:
    """The text of one loop for several calls, and its arguments."""

    def __init__(self, calls: Sequence[_Call]) -> None:
        self.functions: list[FunctionType] = [call.text.kernel.py_func for call in calls]
        self.scope: dict[str, Any] = {"uintp": uintp}
        self._arrays: dict[_Memory, str] = {}
        self._given: dict[str, Any] = {}
        self._now: dict[str, str] = {}  # what an array's element is called by now
        self._stored: dict[str, str] = {}
        self._lines: list[str] = []
        for number, call in enumerate(calls):
            self._add(number, call)
        numbers = {f"{name}_{number}": call.given[name] for number, call in enumerate(calls) for name in call.numbers}
        self.args = [*self._given.values(), *numbers.values(), calls[0].size]
        lines = [*self._lines, *(f"{array}[j] = {value}" for array, value in self._stored.items())]
        self.source = (
            f"def chain({', '.join([*self._given, *numbers, 'n'])}):\n    for i in range(n):\n        j = uintp(i)\n"
            + textwrap.indent("\n".join(lines), " " * 8) + "\n"
        )

    def _add(self, number: int, call: _Call) -> None:
        """Append what a call assigns."""
        text, known = call.text, call.text.kernel.py_func.__globals__
        of = {name: self._arrays.setdefault(call.memory[name], f"a{len(self._arrays)}") for name in text.arrays}
        for name, array in of.items():
            self._given.setdefault(array, call.given[name])
        names = {name: f"{name}_{number}" for name in call.numbers}
        for _, value in text.assigned:
            for part in ast.walk(value):
                if isinstance(part, ast.Name) and part.id not in call.given and part.id in known:
                    names[part.id] = f"{part.id}_{number}"
                    self.scope[names[part.id]] = known[part.id]
        for target, value in text.assigned:
            array, kind_of = of[target], f"to_{call.given[target].dtype}"
            elements = {name: self._element(of[name]) for name in _arrays_in(value)}
            made = ast.unparse(_Renamed(elements, names).visit(copy.deepcopy(value)))
            self.scope[kind_of] = call.given[target].dtype.type
            self._now[array] = self._stored[array] = f"x{len(self._lines)}"
            self._lines.append(f"{self._now[array]} = {kind_of}({made})")

    def _element(self, array: str) -> str:
        """What the element of an array is called by now; it is loaded where it was not read yet."""
        if array not in self._now:
            self._now[array] = f"x{len(self._lines)}"
            self._lines.append(f"{self._now[array]} = {array}[j]")
        return self._now[array]


def _arrays_in(value: ast.expr) -> list[str]:
    """The arrays of which an expression reads elements, in its order."""
    return [
        part.value.id for part in ast.walk(value)
        if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name)
    ]


_MADE: dict[tuple, tuple[Any, _Chain]] = {}


def _compiled(chain: _Chain) -> Any:
    """The kernel of a chain, from the cache of kernels where it is there."""
    key = chain.source, tuple(map(id, chain.scope.values()))
    if key not in _MADE:
        if len(_MADE) >= LIMIT:
            _MADE.clear()
        _MADE[key] = _dispatcher(chain), chain
    dispatcher = _MADE[key][0]
    types = tuple(map(dispatcher.typeof_pyval, chain.args))
    if types not in dispatcher.overloads:
        with interrupts.held():
            dispatcher.compile(types)
    return dispatcher.overloads[types]


def _dispatcher(chain: _Chain) -> Any:
    made: dict[str, Any] = {}
    exec(compile(chain.source, inspect.getfile(chain.functions[0]), "exec"), dict(chain.scope), made)  # noqa: S102
    function = made["chain"]
    whole = "\n".join([chain.source, *[f"{each.__module__}.{each.__qualname__}" for each in chain.functions]])
    function.__qualname__ = function.__name__ = f"chain_{hashlib.sha256(whole.encode()).hexdigest()[:16]}"
    function.__module__ = chain.functions[0].__module__
    dispatcher = njit(nogil=True, error_model="numpy", pipeline_class=DistinctArrays, **UNCALLED_FROM_C)(function)
    kernel_cache.enable(dispatcher)
    return dispatcher


# --- tables ----------------------------------------------------------------------------------------


@decides("Executor/chains")
def fused(rows: Rows, dispatchers: Sequence[Any]) -> Rows:
    """The same table, in which chains are one call each.

    Args:
        rows: a table whose calls Python makes, with their names.
        dispatchers: what has compiled the kernel of each call, None where that is not known.
    """
    found: list[list[int]] = []  # calls by their numbers, those of a chain together
    chain: list[_Call] = []
    read = [_read(call, dispatcher) for call, dispatcher in zip(rows.calls, dispatchers, strict=True)]
    for number, call in enumerate(read):
        if call is not None and chain and _fit([*chain, call]):
            found[-1].append(number)
            chain.append(call)
        else:
            found.append([number])
            chain = [] if call is None else [call]
    made, names = Rows([], [], [], [Piece(0, len(found), None)], workers=rows.workers), []
    for numbers in found:
        first = numbers[0]
        run, compiled = rows.calls[first], rows.kernels[first]
        if len(numbers) > 1:
            one = _Chain([call for call in map(read.__getitem__, numbers) if call is not None])
            compiled = _compiled(one)
            run = partial(compiled.entry_point, *one.args)
        made.calls.append(run)
        made.kernels.append(compiled)
        made.steps.append(rows.steps[first])
        names.append(" + ".join(rows.names[number] for number in numbers))
    return made._replace(names=names)


__all__ = ["KINDS", "fused", "kind"]
