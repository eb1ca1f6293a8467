"""A loop is written once and runs as Python, as machine code and on CUDA.

A page writes a plain function that reads like its formula. A loop with independent iterations is written
``for n, c in items(out.shape)``; its body computes that item alone. A loop whose iterations follow one another, such as
a sum, is ``for k in range(n)``, or ``for k, i, j in steps(shape)`` over several axes:

    def multiply(a, b, out):
        for g, i, j in items(out.shape):
            out[g, i, j] = 0
            for k in range(a.shape[2]):
                out[g, i, j] += a[g, i, k] * b[g, k, j]

    MULTIPLY = Loop(multiply)
    MULTIPLY(a, b, out)

``items(shape)`` and ``steps(shape)`` take a shape, a part of a shape (``a.shape[1:]``), or a tuple of sides and parts
of shapes (``(n, *a.shape[1:])``); the loop has one variable for each axis. ``for i in items(n)`` goes over n items.

* as Python (``NUMBA_DISABLE_JIT=1``) the text itself runs, over views of the arrays with these axes; ``items`` is
  ``range`` or ``itertools.product``, and numbers and the functions of ``math`` have the types of machine code
  (``ieee.py``), so that every sum, product and quotient has the same bits;
* on the CPU ``items`` and ``steps`` are nested ranges, ``a[g, i, k]`` is one subscript of a flat array (``axes.py``),
  and every subscript is made unsigned, because for a signed subscript Numba emits negative-index wraparound that stops
  LLVM from vectorising;
* on CUDA ``items`` is this thread's grid-stride share of all items: the same arithmetic by construction.

Arrays are passed flat and integers as int64; the sides of arrays with several axes follow the page's arguments. So a
loop is compiled once per dtype, for all shapes. An array has as many axes as its subscripts have indices; a page passes
a buffer with that many axes (``Buffer.reshape``), so that a loop for any rank sees (outer, axis, inner). A formula may
take such arrays, too.

A loop that needs more than a few numbers gets them by name: it takes one ``NamedTuple``, its *geometry*, and reads
``g.stride_h``. The class of the geometry is the annotation of the parameter. Its fields are ints; they may also be
floats, bools, and NumPy's numbers, which keep their dtype:

    class Geometry(NamedTuple):
        stride: int
        pad: int

    def shift(data, out, g: Geometry):
        for i, j in items(out.shape):
            out[i, j] = data[i, j * g.stride + g.pad]

    SHIFT(data, out, Geometry(2, 1))

Machine code gets a plain tuple, because Numba recognises its type ten times as fast as the type of a named tuple. The
first line of the compiled function makes it a named tuple again, after which a field costs no more than an argument of
its own. Formulas may take the geometry too. A page builds the geometry in one function, under ``lru_cache`` where the
arguments of that function are parameters and shapes only. A call is fastest when all fields are ints.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import islice
from types import FunctionType
from typing import Any, get_type_hints

import numba
import numpy as np
from numba import njit
from numba.core.compiler import CompilerBase, DefaultPassBuilder

from . import cache as kernel_cache
from . import devices, interrupts
from .ahead import declare
from .axes import Axes, axes_of
from .blocks import BlockTwin
from .buffer import Buffer
from .described import Described
from .devices import SIMULATED
from .forks import own_lock
from .ieee import as_python, for_python, shaped, typed
from .later import cuda
from .refusal import refusal
from .texts import UNCALLED_FROM_C, flattened, geometries_of, globals_for, rewrite

# Numba logs hundreds of lines per compilation at DEBUG, a level that training scripts set for themselves.
logging.getLogger("numba").setLevel(logging.WARNING)

GRID = (1, 4, 0) if SIMULATED else (256, 256, 0)  # blocks, threads in each, bytes that a block shares


Interpreter = Callable[[FunctionType, list[Any]], None]
"""Runs the reading copy of a loop over its unwrapped arguments, with arithmetic of its own."""


class _Choice:
    """Which form of the loops runs, for the whole process."""

    __slots__ = ("blocks", "given", "plain", "python")

    def __init__(self) -> None:
        self.plain = False
        self.blocks = not SIMULATED  # a barrier takes the simulator milliseconds
        # "cpu" or "gpu": that device's text runs as plain Python. Or who runs the page's text.
        self.python: str | Interpreter = ""
        self.given: Callable[[Any], Any] = for_python  # what loops get for a global while they run as Python


CHOICE = _Choice()


@contextmanager
def plain_kernels() -> Iterator[None]:
    """Within this block no tuned twin is used: every loop runs in the text of its page."""
    before, CHOICE.plain = CHOICE.plain, True
    try:
        yield
    finally:
        CHOICE.plain = before


@contextmanager
def twins_by_blocks() -> Iterator[None]:
    """Within this block loops on a GPU run in their twins by blocks, also on the simulator."""
    before, CHOICE.blocks = CHOICE.blocks, True
    try:
        yield
    finally:
        CHOICE.blocks = before


@contextmanager
def python_loops(device: str = "cpu", given: Callable[[Any], Any] = for_python) -> Iterator[None]:
    """Within this block loops over CPU buffers run as plain Python, in the text written for ``device``.

    ``given`` says which value the loops get for a global, such as a function of ``math``.
    """
    before = CHOICE.python, CHOICE.given
    CHOICE.python, CHOICE.given = device, given
    try:
        yield
    finally:
        CHOICE.python, CHOICE.given = before


@contextmanager
def interpreted_loops(interpreter: Interpreter) -> Iterator[None]:
    """Within this block ``interpreter`` runs the page's text of every loop over CPU buffers.

    The interpreter gets the function, with its formulas bound, and the arguments as compiled loops get them: flat
    arrays, numbers, plain tuples for geometries.
    """
    before, CHOICE.python = CHOICE.python, interpreter
    try:
        yield
    finally:
        CHOICE.python = before


class DistinctArrays(CompilerBase):
    """Compile as if no two arrays overlapped: LLVM needs no overlap check, and an in-place call, which is
    legal only element by element, runs the vectorised loop too.
    """

    def define_pipelines(self) -> list:
        self.state.flags.noalias = True
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


def compiled(body: FunctionType, name: str, module: str) -> Any:
    """What Numba makes of a text for the CPU, cached under its name and its module; it runs without Python's lock."""
    body.__name__ = body.__qualname__ = name
    body.__module__ = module
    dispatcher = njit(nogil=True, error_model="numpy", pipeline_class=DistinctArrays, **UNCALLED_FROM_C)(body)
    kernel_cache.enable(dispatcher)
    return dispatcher


LOOPS: list[Loop] = []  # every loop ever declared, for the laws and the bench


class Loop:
    """A loop with its forms for each device, called with buffers, integers, floats and geometries.

    ``function`` is the reading copy. ``formulas`` are bound into its globals, so that one loop serves a family
    (``Loop(map_one, formula=sigmoid)``). ``cuda_function`` replaces ``function`` on CUDA where another order of items
    suits threads better. The first argument must be a buffer; Python floats are passed in its dtype. The module of a
    faster twin registers the twin: :meth:`use_twin`, :meth:`use_blocks`.
    """

    def __init__(
        self,
        function: FunctionType,
        *,
        cuda_function: FunctionType | None = None,
        **formulas: Callable,
    ) -> None:
        label = "_".join([function.__name__, *(f.__name__ for f in formulas.values())])
        self.name = f"{function.__module__.rpartition('.')[2]}.{label}"
        self._source = self._bound(function, formulas)
        self._cuda_source = self._bound(cuda_function or function, formulas)
        self.function, self.formulas = function, formulas
        self._tuned: Callable | None = None
        self._tuned_for: tuple[type, ...] = ()
        self._tuned_if: Callable[[Sequence[Any]], bool] | None = None
        self._by_blocks: BlockTwin | None = None
        self._blocks_source: FunctionType | None = None
        self._label = label
        self._axes: Axes | None = None
        self._lock = own_lock()
        self._cpu: Any = None
        self._gpu: dict[str, Any] = {}
        LOOPS.append(self)
        declare(function.__module__, label, lambda: self.cpu)

    def use_twin(
        self, twin: Callable, dtypes: tuple[type, ...], takes: Callable[[Sequence[Any]], bool] | None = None
    ) -> None:
        """Run ``twin`` on the CPU for arrays of ``dtypes`` if ``takes``, called with the loop's arguments, is true."""
        self._tuned, self._tuned_for, self._tuned_if = twin, dtypes, takes

    def use_blocks(self, twin: BlockTwin) -> None:
        """Run ``twin`` on CUDA where it takes the arguments."""
        text: Any = twin.function  # mypy takes a function in a field for a method
        self._by_blocks, self._blocks_source = twin, self._bound(text, self.formulas)

    @staticmethod
    def _bound(function: FunctionType, formulas: dict[str, Callable]) -> FunctionType:
        if not formulas:
            return function
        bound = FunctionType(
            function.__code__, {**function.__globals__, **formulas}, function.__name__, function.__defaults__,
        )
        bound.__module__, bound.__annotations__ = function.__module__, function.__annotations__
        return bound

    @property
    def axes(self) -> Axes:
        """The arguments that have several axes, or whose shape the text for a device names.

        Raises:
            TypeError: the text is refused; see ``axes_of``.
        """
        if self._axes is None:
            every = dict(axes_of(self._cuda_source))
            for position, count in axes_of(self._source):
                if every.setdefault(position, count) != count:
                    here = f"{self.name}: argument {position} has {count} axes on the CPU and {every[position]} on CUDA"
                    raise refusal("contract/axes", here, TypeError)
            self._axes = tuple(sorted(every.items()))
        return self._axes

    @property
    def cpu(self) -> Any:
        """The form for the CPU (the plain function itself when Numba's JIT is disabled)."""
        if self._cpu is None:
            with self._lock, interrupts.held():
                if self._cpu is None:
                    self._cpu = self._build_cpu()
        return self._cpu

    def _build_cpu(self) -> Any:
        if numba.config.DISABLE_JIT:
            return _as_python(self._source, axes=self.axes)
        return compiled(rewrite(self._source, "cpu", self.axes), self._label, self._source.__module__)

    @property
    def gpu(self) -> Any:
        """The form for CUDA, or for Numba's simulator of it."""
        return self._gpu.get("items") or self._build_gpu("items", self._cuda_source)

    @property
    def blocks(self) -> Any:
        """The form for CUDA in which the threads of a block work together; only for a loop with such a twin."""
        return self._gpu.get("blocks") or self._build_gpu("blocks", self._blocks_source)

    def _build_gpu(self, form: str, source: FunctionType | None) -> Any:
        with self._lock, interrupts.held():
            if form not in self._gpu and source is not None:
                body = rewrite(source, "gpu", self.axes)
                body.__name__ = body.__qualname__ = self._label
                dispatcher = cuda.jit(body)
                interrupts.hold_while_compiling(dispatcher)
                self._gpu[form] = dispatcher
        return self._gpu[form]

    def __call__(self, *args: Any) -> None:
        """Run over ``args`` on the device of the first."""
        first = args[0]
        if first.device == "cpu":
            flat = first.flat
            if type(flat) is Described:
                flat.notes.append((self, args))
                return
            if CHOICE.python:
                if callable(CHOICE.python):
                    CHOICE.python(flattened(self._source, self.axes), self.unwrapped(args))
                    return
                source = self._source if CHOICE.python == "cpu" else self._cuda_source
                _as_python(source, CHOICE.given, self.axes)(*self.unwrapped(args))
                return
            if self._tuned is not None and not CHOICE.plain and self.has_twin_for(args):
                self._tuned(*args)
                return
            (self._cpu or self.cpu)(*self.unwrapped(args))
        else:
            self._launch(first.device, args)

    def _launch(self, device: str, args: Sequence[Any]) -> None:
        """Hand a kernel to a GPU's stream."""
        twin = self._by_blocks if CHOICE.blocks and not CHOICE.plain else None
        kernel, grid = (self.blocks, twin.grid(args)) if twin and twin.takes(args) else (self.gpu, GRID)
        blocks, threads, shared = grid
        with devices.current(device) as stream:
            kernel[blocks, threads, stream, shared](*self.unwrapped(args))

    def has_twin_for(self, args: Sequence[Any]) -> bool:
        """Whether the tuned twin may run a call with ``args`` on the CPU."""
        known = self._tuned is not None and args[0].flat.dtype.type in self._tuned_for
        return known and (self._tuned_if is None or self._tuned_if(args)) and _have_elements(args)

    def unwrapped(self, args: Sequence[Any]) -> list[Any]:
        """The arguments as the compiled loop takes them: behind them the sides of arrays with several axes.

        Buffers are flat arrays there, geometries plain tuples, floats of the first buffer's dtype, booleans integers.
        """
        kind, given = args[0].flat.dtype, list[Any]()
        for arg in args:
            given.append(arg.flat if type(arg) is Buffer else arg if type(arg) is int else _value(arg, kind))
        for position, count in self.axes if self._axes is None else self._axes:
            shape = args[position].shape
            if len(shape) != count:
                raise refusal(
                    "contract/axes", f"{self.name}: argument {position} has shape {shape}, the loop subscripts it by"
                    f" {count} axes; give it a view with that many", TypeError,
                )
            given += shape
        return given

    def __repr__(self) -> str:
        return f"Loop({self.name})"


def loops_of(function: FunctionType, *formulas: Callable) -> list[Loop]:
    """The loops that run a page's function, all of them or those with these formulas."""
    return [
        loop for loop in LOOPS
        if loop.function is function and (not formulas or (*loop.formulas.values(),) == formulas)
    ]


@cache
def _as_python(source: FunctionType, given: Callable[[Any], Any] = for_python, axes: Axes = ()) -> Callable:
    """The reading copy itself, with IEEE arithmetic and without NumPy's warnings about it."""
    body = as_python(source, globals_for(source, given))
    geometries = geometries_of(source)
    kinds = [geometries.get(name) for name in inspect.signature(source).parameters]

    def run(*given: Any) -> None:
        args, sides = list(given[: len(kinds)]), iter(given[len(kinds) :])
        for position, count in axes:
            args[position] = shaped(args[position], tuple(islice(sides, count)))
        with np.errstate(all="ignore"):
            pairs = zip(kinds, args, strict=True)
            body(*[typed(arg) if kind is None else kind(*map(typed, arg)) for kind, arg in pairs])

    return run


def _value(arg: Any, kind: np.dtype) -> Any:
    """A float, a boolean or a geometry as loops take it; anything else as it is."""
    if isinstance(arg, tuple):
        if _is_ready(type(arg)):
            return tuple(arg)
        return tuple([field if type(field) is int else _value(field, kind) for field in arg])
    if type(arg) is float:
        return kind.type(arg) if kind.kind == "f" else np.float64(arg)
    return int(arg) if type(arg) is bool else arg


@cache
def _is_ready(kind: type) -> bool:
    """Whether no field is declared as a float or a bool, so that none needs to be converted."""
    return not any(hint in (float, bool) for hint in get_type_hints(kind).values())


def _have_elements(args: Sequence[Any]) -> bool:
    """Whether no array is empty: twins compute whole tiles, and may take every side to be 1 or more.

    A call with an empty array runs the plain loop.
    """
    return all(arg.flat.size for arg in args if type(arg) is Buffer)
