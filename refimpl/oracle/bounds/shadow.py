"""Running errors of everything that loops compute, kept beside the arrays: a shadow of memory.

An array holds the values that a loop wrote, rounded to its dtype; the number with its bound is kept under the address
of the element. So graphs, gradients, updates, stores and groups, which are built of loops, have bounds without rules of
their own.

An element that is copied to NumPy, to a file or to a Python float loses its address. Such elements are remembered by
content (clause oracle/host of ``spec/reference/tools/oracle.md``): an array with the same bytes gets the numbers of the
copied array, and so does a single element or parameter with the same value, except 0. An exact number that happens to
have such a value gets a bound too.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from ...base import decides
from ...kernels.foundation.buffer import Buffer
from ...ndarray import NDArray
from .arithmetic import FIRST_ORDER, Arithmetic
from .declared import NOTHING, Declared
from .precision import DOUBLE, HALF, NOW, SINGLE, Precision, use

PRECISIONS = {np.dtype(np.float16): HALF, np.dtype(np.float32): SINGLE, np.dtype(np.float64): DOUBLE}
"""The arithmetic of each floating dtype."""
MOST_RANGES = 256
"""So many arrays have their addresses remembered; they are not freed meanwhile."""


class Shadow:
    """The numbers behind the elements of arrays, by address.

    Args:
        arithmetic: of these numbers.
        declared: the arithmetic of the implementation under test.
    """

    def __init__(self, arithmetic: Arithmetic = FIRST_ORDER, declared: Declared = NOTHING) -> None:
        self.arithmetic, self.declared = arithmetic, declared
        self._numbers: dict[int, tuple[Any, float]] = {}
        self._left: dict[float, Any] = {}  # numbers with errors that left for the host, by what was stored of them
        self._constants: dict[float, Any] = {}  # what came from the host, without zeros, which have signs, and NaN
        self._ranges: dict[int, tuple[np.ndarray, range]] = {}  # what NumPy takes a microsecond to tell
        self._arrays_left: dict[tuple[str, bytes], list[Any]] = {}
        self.freed = 0
        """Loop calls whose results are free, because a branch was undecided."""

    def constant(self, value: float) -> Any:
        """A number that came from the host: exact, unless it left with an error."""
        found = self._left.get(value)
        if found is None:
            found = self._constants.get(value)
        if found is None:
            found = self.arithmetic.exactly(value)
            if value and not math.isnan(value):
                self._constants[value] = found
        return found

    def _addresses(self, flat: np.ndarray) -> range:
        known = self._ranges.get(id(flat))
        if known is None:
            if len(self._ranges) >= MOST_RANGES:
                self._ranges.clear()
            start, step = flat.__array_interface__["data"][0], flat.itemsize
            known = self._ranges[id(flat)] = flat, range(start, start + step * flat.size, step)
        return known[1]

    @decides("oracle/host")
    def left(self, flat: np.ndarray) -> None:
        """Note that the host reads an array."""
        found = self.numbers(flat)
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
            for address, each, stored in zip(self._addresses(flat), found, flat.tolist(), strict=True):
                kept = each if host.dtype == flat.dtype else self.arithmetic.cast(each, PRECISIONS[flat.dtype])
                self.write(address, kept, stored)

    def write(self, address: int, value: Any, stored: float) -> None:
        """Keep the number of an element that now holds ``stored``."""
        self._numbers[address] = (value, stored)

    def numbers(self, flat: np.ndarray) -> list[Any]:
        """The numbers behind an array of a floating dtype, for the elements whose values have not changed since."""
        constants = {} if self._left else self._constants
        kept = zip(map(self._numbers.get, self._addresses(flat)), flat.tolist(), strict=True)
        found = [
            known[0] if known is not None and known[1] == stored
            else constants[stored] if stored in constants else self._number(known, stored) for known, stored in kept
        ]
        if self.declared.flushed == "operands":
            smallest, zero = PRECISIONS[flat.dtype].smallest, self.arithmetic.exactly(0.0)
            return [
                self.arithmetic.covering(x, zero) if x.value and abs(x.value) - x.bound() < smallest else x
                for x in found
            ]
        return found

    def _number(self, known: tuple[Any, float] | None, stored: float) -> Any:
        """The number of an element that holds ``stored``, which is no constant that was met, or NaN."""
        if known is not None and math.isnan(stored) and math.isnan(known[1]):
            return known[0]
        return self.constant(stored)

    def fitted(self, value: Any, precision: Precision) -> Any:
        """The element that results when a loop writes ``value`` to an array of a precision."""
        if type(value) is not self.arithmetic.kind:
            value = self.arithmetic.number(value)
        if precision is not SINGLE or (value.grain is None and value.terms == 0):
            return self.arithmetic.cast(value, precision)
        return value

    def addends(self, found: list[Any], total: Precision) -> list[Any]:
        """Numbers for a loop that adds up in ``total``, instead of the current precision, what it makes of them."""
        kind, finer = self.arithmetic.kind, NOW.precision.unit / total.unit
        return [
            each if each.grain is not None or not each.terms
            else kind(each.value, each.split(), each.mass, 0, None) if finer > 1
            else kind(each.value, each.error, each.mass, math.ceil(each.terms * finer), None) for each in found
        ]

    @decides("oracle/declared-sums")
    def added_up(self, value: Any, precision: Precision) -> Any:
        """The element of an array of a precision for a number that was added up in the current one."""
        if type(value) is not self.arithmetic.kind:
            value = self.arithmetic.number(value)
        coarser = NOW.precision.unit / precision.unit
        if value.grain is not None or coarser < 1 or not value.mass < math.inf:
            return self.arithmetic.cast(value, precision)
        # still a sum, to which a bias may be added first; one addition more stands for the last rounding
        return self.arithmetic.kind(value.value, value.error, value.mass, round((value.terms + 1) * coarser), None)

    def keep(self, flat: np.ndarray, made: list[Any], written: Collection[int] | None = None) -> None:
        """Write numbers that fit to an array of a floating dtype: all of ``made``, or those at ``written``."""
        addresses = self._addresses(flat)
        if written is None or len(written) == len(made):
            flat[:] = [float(each.value) for each in made]
            self._numbers.update(zip(addresses, zip(made, flat.tolist(), strict=True), strict=True))
            return
        for i in written:
            flat[i] = float(made[i].value)
            self._numbers[addresses[i]] = made[i], float(flat[i])

    def set_free(self, flat: np.ndarray, written: Iterable[int]) -> None:
        """Let nothing be known of some elements of an array, of any dtype."""
        addresses, free = self._addresses(flat), self.arithmetic.free
        for i in written:
            self.write(addresses[i], free(float(flat[i])), float(flat[i]))

    def forget(self, flat: np.ndarray) -> None:
        """All elements of an array were overwritten with something exact."""
        if flat.dtype in PRECISIONS:
            for address in self._addresses(flat):
                self._numbers.pop(address, None)

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
        if flat.dtype in PRECISIONS:
            precision = PRECISIONS[flat.dtype]
            before = use(precision)
            cast = self.arithmetic.cast
            for i, each in enumerate(self.numbers(flat)):
                values[i], bounds[i] = cast(each, precision).pair()
            use(before)
        else:
            for i, kept in enumerate(map(self._numbers.get, self._addresses(flat))):
                if kept is not None and kept[1] == values[i]:
                    bounds[i] = kept[0].bound()
        return values.reshape(buffer.shape), bounds.reshape(buffer.shape)

    def copy(self, source: np.ndarray, target: np.ndarray) -> None:
        """Note that ``target`` was made by copying ``source``, of any floating dtypes."""
        precision = PRECISIONS[target.dtype]
        before = use(precision)
        self.keep(target, [self.fitted(each, precision) for each in self.numbers(source)])
        use(before)


class Written(list[Any]):
    """An array of a floating dtype that a loop writes and does not read: the written numbers, None elsewhere."""

    __slots__ = ("fit", "flat", "precision", "shadow")

    def __init__(self, flat: np.ndarray, shadow: Shadow, total: Precision | None = None) -> None:
        super().__init__([None] * flat.size)
        self.flat, self.shadow, self.precision = flat, shadow, PRECISIONS[flat.dtype]
        self.fit = shadow.fitted if total is None else shadow.added_up

    def ended(self, free: bool) -> None:
        """Keep the numbers that a loop wrote; behind an undecided branch they are ``free``."""
        shadow, precision, fit, written = self.shadow, self.precision, self.fit, []
        kind, is_single = shadow.arithmetic.kind, precision is SINGLE and fit == shadow.fitted
        for i, each in enumerate(self):
            if each is None:
                continue
            written.append(i)
            if not (is_single and type(each) is kind and (each.grain is not None or each.terms)):
                self[i] = fit(each, precision)
        shadow.keep(self.flat, self, written)
        if free:
            shadow.set_free(self.flat, written)


class Elements(list[Any]):
    """An array of a floating dtype that a loop reads and writes: numbers that fit."""

    __slots__ = ("flat", "is_total", "precision", "shadow", "written")

    def __init__(self, flat: np.ndarray, shadow: Shadow, total: Precision | None = None) -> None:
        found = shadow.numbers(flat)
        super().__init__(found if total is None else shadow.addends(found, total))
        self.flat, self.shadow, self.precision, self.is_total = flat, shadow, PRECISIONS[flat.dtype], total is not None
        self.written: set[int] = set()

    def __setitem__(self, i: Any, value: Any) -> None:
        if type(i) is not int:
            i = int(i)
        super().__setitem__(i, value if self.is_total else self.shadow.fitted(value, self.precision))
        self.written.add(i)

    @property
    def size(self) -> int:
        """Number of elements."""
        return len(self)

    def again(self, numbers: list[Any]) -> None:
        """Hold ``numbers``, as before a loop ran."""
        super().__setitem__(slice(None), numbers)

    def ended(self, free: bool) -> None:
        """Keep the numbers that a loop wrote; behind an undecided branch they are ``free``."""
        for i in self.written if self.is_total else ():
            super().__setitem__(i, self.shadow.added_up(self[i], self.precision))
        if self.written:
            self.shadow.keep(self.flat, self, self.written)
        if free:
            self.shadow.set_free(self.flat, self.written)


class Whole:
    """An array of whole numbers: free elements stay free, and a branch that reads one is undecided."""

    __slots__ = ("address", "dtype", "flat", "shadow", "step", "written")

    def __init__(self, flat: np.ndarray, shadow: Shadow) -> None:
        self.flat, self.shadow, self.dtype = flat, shadow, flat.dtype
        self.address, self.step = flat.__array_interface__["data"][0], flat.itemsize
        self.written: set[int] = set()

    def __len__(self) -> int:
        return len(self.flat)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.flat.size

    def ended(self, free: bool) -> None:
        """Keep which elements are ``free`` because the loop wrote them behind an undecided branch."""
        if free:
            self.shadow.set_free(self.flat, self.written)

    def __getitem__(self, i: Any) -> Any:
        stored = self.flat[i]
        kept = self.shadow._numbers.get(self.address + int(i) * self.step)
        if kept is not None and kept[1] == float(stored):
            NOW.undecided = NOW.misplaced = True
        return stored

    def __setitem__(self, i: Any, value: Any) -> None:
        if isinstance(value, (float, np.floating)) and not math.isfinite(value):  # machines differ here
            value, NOW.undecided = 0, True
        self.flat[i] = value if self.dtype.kind == "b" else self._inside(value)
        self.shadow._numbers.pop(self.address + int(i) * self.step, None)
        self.written.add(int(i))

    def _inside(self, value: Any) -> int:
        """A value in the dtype's range: whole numbers wrap; other values beyond the range depend on the machine."""
        limits, whole = np.iinfo(self.dtype), int(value)
        if limits.min <= whole <= limits.max:
            return whole
        if not isinstance(value, (int, np.integer)):
            NOW.undecided = True
            return 0
        return (whole - limits.min) % (limits.max - limits.min + 1) + limits.min
