"""How a tuned twin is compiled, where it gets working memory, and how it calls the plain loop instead."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any, TypeVar

import numba
import numpy as np

from ..foundation import interrupts
from ..foundation.ahead import declare
from ..foundation.buffer import allocate
from ..foundation.described import LENDER, lent
from ..foundation.forks import own_lock
from ..foundation.loop import Loop, compiled
from ..foundation.texts import rewrite
from .simd import tile_sizes

Tuples = tuple[tuple[int, ...], tuple[int, ...]]
Twin = TypeVar("Twin", bound=Callable)
FLOATS = (np.float32, np.float64)


class Kernel:
    """A function that becomes machine code when it is first called: nobody needs all of them."""

    def __init__(self, function: FunctionType, label: str, bound: dict[str, Any]) -> None:
        formulas = [formula.__name__ for formula in bound.values() if isinstance(formula, FunctionType)]
        self._function, self._name, self._bound = function, "_".join([function.__name__, *formulas, label]), bound
        self._lock = own_lock()
        self._ready: Any = None
        declare(function.__module__, self._name, lambda: self.dispatcher)

    def __call__(self, *args: Any) -> Any:
        """Run it."""
        return (self._ready or self.dispatcher)(*args)

    @property
    def dispatcher(self) -> Any:
        """What Numba makes of it."""
        if self._ready is None:
            with self._lock, interrupts.held():
                if self._ready is None:
                    self._ready = self._made()
        return self._ready

    def _made(self) -> Any:
        body = rewrite(Loop._bound(self._function, self._bound), "cpu")
        scope = body.__globals__
        called = {name: scope[name] for name in body.__code__.co_names if isinstance(scope.get(name), Kernel)}
        scope.update({name: other.dispatcher for name, other in called.items()})
        return compiled(body, self._name, self._function.__module__)


def kernel(function: FunctionType, label: str = "", **bound: Any) -> Any:
    """Compile a function like a ``Loop``: cached, without the GIL, with unsigned subscripts.

    ``bound`` are formulas and intrinsics that become globals of the function. Kernels of one function are told apart by
    the names of their formulas and by ``label``.

    A geometry is a parameter whose annotation is a NamedTuple (see ``foundation.loop``); it is handed over as
    ``tuple(g)``. It may hold arrays. One that an inner loop reads gets a name of its own before that loop, because each
    ``g.array`` counts a reference.
    """
    return function if numba.config.DISABLE_JIT else Kernel(function, label, bound)


def twin(
    *loops: Loop, dtypes: tuple[type, ...] = (np.float32,), takes: Callable[[Sequence[Any]], bool] | None = None
) -> Callable[[Twin], Twin]:
    """Make a function run in place of ``loops`` on the CPU, for arrays of ``dtypes``, where it ``takes`` the arguments.

    Nothing is replaced when Numba's JIT is disabled.
    """

    def replace(function: Twin) -> Twin:
        for loop in () if numba.config.DISABLE_JIT else loops:
            loop.use_twin(function, dtypes, takes)
        return function

    return replace


def plain(loop: Loop, *args: Any) -> None:
    """Run a loop itself, for calls that its twin does not handle."""
    loop.cpu(*loop.unwrapped(args))


def _tile(rows: int, blocks: int) -> Tuples:
    return (0,) * rows, tuple(range(0, 8 * blocks, 8))


_SIZES = {kind: [_tile(*size) for size in sizes] for kind, sizes in tile_sizes().items()}
LONGEST = max(16, *(len(rows) for sizes in _SIZES.values() for rows, _ in sizes))
TILE_COST = 10  # loading and storing a tile takes as long as about ten multiplications for each of its sums


def wide_tile(rows: int) -> Tuples:
    """The wide tile that wastes least of ``rows`` rows, as the tuples of offsets that tell a kernel its size."""
    return min(_SIZES["wide"], key=lambda tile: _filled(rows, len(tile[0])))


def few_rows_tile(rows: int) -> Tuples:
    """``wide_tile``, or for up to three rows a tile of three, twice as wide."""
    tile = wide_tile(rows)
    return tile if rows > 3 else _tile(3, 2 * len(tile[1]))


def tile_for(columns: int) -> Tuples:
    """A tile for an output of that many columns: a narrow one where there are few."""
    narrow = _SIZES["narrow"][0]
    return narrow if columns <= 8 * len(narrow[1]) else _SIZES["wide"][0]


def lanes_tile(lanes: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """A tile of a few pixels for that many lanes: its rows, the rows of a smaller one for what is left, its blocks."""
    rows, blocks = min(_SIZES["lanes"], key=lambda tile: _filled(lanes, 8 * len(tile[1])))
    few = next(count for count in (4, 3, 2) if len(rows) % count == 0)
    return rows, rows[:few], blocks


def sums_tile(rows: int, lanes: int) -> Tuples:
    """The tile that wastes least of a matrix of sums."""
    return min(_SIZES["sums"], key=lambda tile: _filled(rows, len(tile[0])) * _filled(lanes, 8 * len(tile[1])))


def _filled(count: int, each: int) -> int:
    return -(-count // each) * each


@lru_cache(maxsize=4096)
def tiled(columns: int) -> tuple[tuple[int, int, Tuples], ...]:
    """(first column, end, tile) of one or two parts of an output: a less wide tile makes few columns that are left."""
    tile, less_wide = tile_for(columns), _tile(len(_SIZES["wide"][0][0]), 2)
    width = 8 * len(tile[1])
    whole = columns // width * width
    if whole and 0 < columns - whole <= 16 < width:
        return (0, whole, tile), (whole, columns, less_wide)
    return ((0, columns, tile),)


def pixel_tile() -> Tuples:
    """A tile of one vector for each of a few pixels, as the tuples of offsets that tell a kernel its size."""
    return (0,) * (2 * len(_SIZES["wide"][0][1])), (0, 8)


class _Workspace(threading.local):
    """Memory of one thread, reused from call to call, and separate from the pages' ``scratch`` memory."""

    def __init__(self) -> None:
        self.blocks: dict[tuple[str, type], np.ndarray] = {}


_WORKSPACE = _Workspace()


def workspace(name: str, size: int, kind: type = np.float32) -> Any:
    """Return this thread's buffer called ``name``, of at least ``size`` elements, readable ``SLACK`` elements further.

    The content is unspecified. The buffer is valid until the next call with the same name and type.
    """
    if LENDER.notes is not None:
        return lent(name, size, np.dtype(kind))
    block = _WORKSPACE.blocks.get((name, kind))
    if block is None or block.size < size:
        block = _WORKSPACE.blocks[name, kind] = allocate((size,), np.dtype(kind)).flat
    return block
