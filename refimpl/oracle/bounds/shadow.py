"""Running errors of everything that loops compute, kept beside the arrays: a shadow of memory.

Within :func:`tracking` every loop runs in the text of its page, as Python, over numbers with errors (see ``number``
and ``rigorous``). An array keeps what the loop wrote, rounded to its dtype; the number itself is kept under the address
of the element. So whatever is built of loops has bounds without a rule of its own: graphs, gradients, updates, stores,
groups.

What leaves for NumPy, for a file or for a Python float loses its address. Such elements are remembered by content
(clause oracle/host of ``spec/oracle.md``): an array with the bytes of one that left has its numbers, and so has a
single element or parameter with the value of one that left, 0 excepted. An exact number that happens to have such a
value gets a bound too. The contexts of a module take turns (oracle/one-thread).

    with tracking() as shadow:
        executor.forward()
    values, bounds = shadow.of(executor.outputs[0])
"""

from __future__ import annotations

import builtins
import dis
import inspect
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from types import FunctionType
from typing import Any

import numpy as np

from ...base import decides
from ...kernels.foundation.buffer import Buffer
from ...kernels.foundation.loop import _as_python, geometries_of, interpreted_loops, plain_kernels
from ...module.thread_pool import ThreadPool
from ...ndarray import NDArray
from .alternatives import COORDINATE_UNITS, ORDINARY_SIDE, POWER_UNITS, coordinates_of, is_rest_of_power, loop_beside
from .arithmetic import FIRST_ORDER, Arithmetic
from .precision import DOUBLE, HALF, NOW, SINGLE, use, watched_branches
from .theorems import theorem_for

PRECISIONS = {np.dtype(np.float16): HALF, np.dtype(np.float32): SINGLE, np.dtype(np.float64): DOUBLE}
"""The arithmetic of each floating dtype."""


class Shadow:
    """The numbers behind the elements of arrays, by address.

    Args:
        arithmetic: of these numbers.
    """

    def __init__(self, arithmetic: Arithmetic = FIRST_ORDER) -> None:
        self.arithmetic = arithmetic
        self._numbers: dict[int, tuple[Any, float]] = {}
        self._left: dict[float, Any] = {}  # numbers with errors that left for the host, by what was stored of them
        self._arrays_left: dict[tuple[str, bytes], list[Any]] = {}
        self.freed = 0
        """Loop calls whose results are free, because a branch was undecided."""

    def constant(self, value: float) -> Any:
        """A number that came from the host: exact, unless it left with an error."""
        left = self._left.get(value)
        return self.arithmetic.exactly(value) if left is None else left

    @decides("oracle/host")
    def left(self, flat: np.ndarray) -> None:
        """Note that the host reads an array."""
        read = _Elements(flat, self)
        found = [read[i] for i in range(flat.size)]
        if all(each.grain is not None for each in found):
            return
        self._arrays_left[flat.dtype.name, flat.tobytes()] = found
        for each, stored in zip(found, flat.tolist(), strict=True):
            if each.grain is None and stored:
                self._left[stored] = each

    def arrived(self, flat: np.ndarray, source: Any) -> None:
        """Note that the host has written ``source`` to an array, of any floating dtypes."""
        if flat.dtype not in PRECISIONS:
            return
        self.forget(flat)
        host = np.asarray(source)
        found = self._arrays_left.get((host.dtype.name, host.tobytes()))
        if found is None and host.dtype == np.float32 and flat.dtype == np.float16:  # exact so far, and rounded here
            found = [self.arithmetic.exactly(value) for value in host.reshape(-1).tolist()]
        if found is not None:
            start = flat.__array_interface__["data"][0]
            for i, (each, stored) in enumerate(zip(found, flat.tolist(), strict=True)):
                kept = each if host.dtype == flat.dtype else self.arithmetic.cast(each, PRECISIONS[flat.dtype])
                self.write(start + i * flat.itemsize, kept, stored)

    def write(self, address: int, value: Any, stored: float) -> None:
        """Keep the number of an element that now holds ``stored``."""
        self._numbers[address] = (value, stored)

    def forget(self, flat: np.ndarray) -> None:
        """All elements of an array were overwritten with something exact."""
        if flat.dtype in PRECISIONS:
            start = flat.__array_interface__["data"][0]
            for i in range(flat.size):
                self._numbers.pop(start + i * flat.itemsize, None)

    def of(self, array: NDArray | Buffer) -> tuple[np.ndarray, np.ndarray]:
        """The values of an array in double precision, and how far a correct implementation may be from each.

        Args:
            array: any dense array, of a floating dtype or not.

        Returns:
            two float64 arrays of its shape. A bound of 0 demands equality; an infinite one, nothing.
        """
        buffer = array._buffer if isinstance(array, NDArray) else array
        flat = buffer.flat
        values, bounds = np.array(flat, np.float64), np.zeros(flat.size)
        start = flat.__array_interface__["data"][0]
        if flat.dtype in PRECISIONS:
            precision = PRECISIONS[flat.dtype]
            before = use(precision)
            elements = _Elements(flat, self)
            for i in range(flat.size):
                values[i], bounds[i] = self.arithmetic.cast(elements[i], precision).pair()
            use(before)
        else:
            for i in range(flat.size):
                kept = self._numbers.get(start + i * flat.itemsize)
                if kept is not None and kept[1] == values[i]:
                    bounds[i] = kept[0].bound()
        return values.reshape(buffer.shape), bounds.reshape(buffer.shape)

    def copy(self, source: np.ndarray, target: np.ndarray) -> None:
        """Note that ``target`` was made by copying ``source``, of any floating dtypes."""
        read, made = _Elements(source, self), _Elements(target, self)
        before = use(made.precision)
        for i in range(target.size):
            made[i] = read[i]
        use(before)


class _Flat:
    """A flat array as a loop sees it."""

    __slots__ = ("address", "dtype", "flat", "shadow", "step", "written")

    def __init__(self, flat: np.ndarray, shadow: Shadow, written: list[tuple[np.ndarray, int]] | None = None) -> None:
        self.flat, self.shadow, self.dtype = flat, shadow, flat.dtype
        self.address, self.step = flat.__array_interface__["data"][0], flat.itemsize
        self.written = [] if written is None else written

    def __len__(self) -> int:
        return len(self.flat)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.flat.size


class _Elements(_Flat):
    """An array of a floating dtype: its elements are numbers."""

    __slots__ = ("kept", "precision", "stored")

    def __init__(self, flat: np.ndarray, shadow: Shadow, written: list[tuple[np.ndarray, int]] | None = None) -> None:
        super().__init__(flat, shadow, written)
        self.precision, self.kept = PRECISIONS[flat.dtype], shadow._numbers
        # elements of a memoryview are floats, in a third of the time; it has no half precision
        self.stored: Any = flat if self.precision is HALF else flat.data

    def __getitem__(self, i: Any) -> Any:
        if type(i) is not int:
            i = int(i)
        stored = float(self.stored[i])
        kept = self.kept.get(self.address + i * self.step)
        if kept is not None and (kept[1] == stored or (math.isnan(stored) and math.isnan(kept[1]))):
            return kept[0]
        return self.shadow.constant(stored)

    def __setitem__(self, i: Any, value: Any) -> None:
        if type(i) is not int:
            i = int(i)
        arithmetic = self.shadow.arithmetic
        if type(value) is not arithmetic.kind:
            value = arithmetic.number(value)
        if self.precision is not SINGLE or (value.grain is None and value.terms == 0):
            value = arithmetic.cast(value, self.precision)
        self.stored[i] = value.value
        self.kept[self.address + i * self.step] = value, float(self.stored[i])
        self.written.append((self.flat, i))


class _Whole(_Flat):
    """An array of whole numbers: what is free stays so, and what reads it is undecided."""

    __slots__ = ()

    def __getitem__(self, i: Any) -> Any:
        stored = self.flat[i]
        kept = self.shadow._numbers.get(self.address + int(i) * self.step)
        if kept is not None and kept[1] == float(stored):
            NOW.undecided = True
        return stored

    def __setitem__(self, i: Any, value: Any) -> None:
        if isinstance(value, (float, np.floating)) and not math.isfinite(value):  # machines differ here
            value, NOW.undecided = 0, True
        self.flat[i] = value if self.dtype.kind == "b" else self._inside(value)
        self.shadow._numbers.pop(self.address + int(i) * self.step, None)
        self.written.append((self.flat, int(i)))

    def _inside(self, value: Any) -> int:
        """A value in the range of the dtype: whole numbers wrap, of others beyond it machines make what they want."""
        limits, whole = np.iinfo(self.dtype), int(value)
        if limits.min <= whole <= limits.max:
            return whole
        if not isinstance(value, (int, np.integer)):
            NOW.undecided = True
            return 0
        return (whole - limits.min) % (limits.max - limits.min + 1) + limits.min


@cache
def _lifted_formula(function: FunctionType, arithmetic: Arithmetic) -> Callable[..., Any]:
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
    """The function's globals, with arithmetic replaced by that of numbers with errors."""
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


@cache
def _lifted_loop(function: FunctionType, arithmetic: Arithmetic) -> tuple[Callable[..., Any], list[Any]]:
    geometries = geometries_of(function)
    kinds = [geometries.get(name) for name in inspect.signature(function).parameters]
    return _lifted_formula(function, arithmetic), kinds


def _interpreter(shadow: Shadow) -> Callable[[FunctionType, list[Any]], None]:
    def scalar(value: Any) -> Any:
        """A number that a page hands to its loop: parameters are floats, sizes are not."""
        if not isinstance(value, (float, np.floating)):
            return value
        return shadow.arithmetic.number(shadow._left.get(float(value), value))

    def field(kind: Any, name: str, value: Any) -> Any:
        made = scalar(value)
        if isinstance(value, np.floating) and 0 < value < 1 and is_rest_of_power(kind, name):
            power = shadow.arithmetic.rounded(1 - made.value, 0, POWER_UNITS)
            return shadow.arithmetic.covering(made, 1 - power)
        return made

    def run(function: FunctionType, arguments: list[Any]) -> None:
        body, geometries = _lifted_loop(function, shadow.arithmetic)
        written: list[tuple[np.ndarray, int]] = []
        kinds = [PRECISIONS[a.dtype] for a in arguments if isinstance(a, np.ndarray) and a.dtype in PRECISIONS]
        before = use(max(kinds, key=lambda kind: kind.unit, default=SINGLE))
        try:
            given: list[Any] = []
            for argument, kind in zip(arguments, geometries, strict=False):
                if kind is not None:
                    given.append(kind(*[field(kind, *pair) for pair in zip(kind._fields, argument, strict=True)]))
                elif isinstance(argument, np.ndarray):
                    kind_of = _Elements if argument.dtype in PRECISIONS else _Whole
                    given.append(kind_of(argument, shadow, written))
                else:
                    given.append(scalar(argument))
            with watched_branches() as undecided, np.errstate(all="ignore"):
                other, continuous = loop_beside(function), _has_coordinates(function)
                held = _kept(given) if other or continuous else []
                theorem = theorem_for(function)
                if theorem is not None:
                    body = partial(theorem, shadow.arithmetic, _as_python(function))
                body(*given)
                unknown = undecided()
                if other is not None:
                    _cover(shadow, given, held, [partial(_lifted_formula(other, shadow.arithmetic), *given)])
                elif continuous and unknown:
                    _cover(shadow, given, held, [partial(_leaning, lean, body, given) for lean in (-1, 1)])
                    unknown = False
            if unknown:
                shadow.freed += 1
                for flat, i in written:
                    address = flat.__array_interface__["data"][0] + i * flat.itemsize
                    shadow.write(address, shadow.arithmetic.free(float(flat[i])), float(flat[i]))
        finally:
            use(before)

    return run


def _kept(given: list[Any]) -> list[tuple[_Elements, np.ndarray, list[Any]]]:
    """What the arrays of a loop hold."""
    arrays = [argument for argument in given if isinstance(argument, _Elements)]
    return [(array, array.flat.copy(), [array[i] for i in range(len(array))]) for array in arrays]


def _cover(shadow: Shadow, given: list[Any], before: list[Any], others: list[Callable[[], None]]) -> None:
    """Run other loops on the same arguments; what the first of them wrote covers what they write."""
    first = _kept(given)
    found: list[list[list[Any]]] = []
    for other in others:
        for array, flat, kept in before:
            array.flat[:] = flat
            for i, each in enumerate(kept):
                shadow.write(array.address + i * array.step, each, float(flat[i]))
        other()
        found.append([kept for _, _, kept in _kept(given)])
    for (array, _, kept), *theirs in zip(first, *found, strict=True):
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
def tracking(arithmetic: Arithmetic = FIRST_ORDER) -> Iterator[Shadow]:
    """Within this block every loop over the CPU's arrays computes bounds too; see the module's text.

    For one thread: the engine must be ``NaiveEngine``, which is the default.

    Args:
        arithmetic: FIRST_ORDER, or RIGOROUS, which is slower and proves its bounds.
    """
    shadow = Shadow(arithmetic)
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

    def in_turn(self: ThreadPool, work: Callable[[int], object]) -> None:
        for context in range(self.size):
            work(context)

    replaced: list[tuple[type, str, Any]] = [
        (Buffer, "to_numpy", to_numpy), (Buffer, "fill_from", fill_from), (Buffer, "copy_from", copy_from),
        (Buffer, "fill", fill), (ThreadPool, "run", in_turn),
    ]
    plain = [(owner, name, getattr(owner, name)) for owner, name, _ in replaced]
    with plain_kernels(), interpreted_loops(_interpreter(shadow)):
        try:
            for owner, name, method in replaced:
                setattr(owner, name, method)
            yield shadow
        finally:
            for owner, name, method in plain:
                setattr(owner, name, method)
