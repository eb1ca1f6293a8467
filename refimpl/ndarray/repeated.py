"""Calls that are made again and again go straight to their kernels.

Of the seven microseconds that ``a + b`` of two small arrays takes, the kernel needs less than one. The others read
parameters, infer shapes, and let the page choose its loop: each time with the same result, since that depends on
nothing but the *key* of the call, which holds operator, arguments, shapes, types, devices and the active quirks. So
the second call with a key writes down which loops its page calls and with what (``kernels/foundation/described.py``),
and later ones call their kernels. Bits, errors and the tape's records are those of the usual path.

The usual path (``dense.py``) stays for everything else: sparse storage, ``out=``, arrays in another order, operators
that draw, update an input, know training mode or give several outputs, pages that borrow memory or look at values,
half precision, devices other than the CPU. Every call takes it while work waits or has failed, while the profiler
looks on, and while loops run as anything but what is compiled for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import engine
from ..base import MXNetError
from ..engine import profiling_hook
from ..kernels.foundation import Buffer, Op, buffer
from ..kernels.foundation import run as runner
from ..kernels.foundation.described import LoopCall, Place, calls_of
from ..kernels.foundation.loop import _CHOICE
from ..kernels.foundation.quirk import SCOPE
from ..op_registry.signatures import parsed
from . import classes, tape
from .tape import STATE

if TYPE_CHECKING:
    from .ndarray import NDArray

LIMIT = 4096
"""The table is emptied when it holds that many calls."""

SEEN_LIMIT = 256
"""As many keys are remembered of which there was one call: a number that is never the same fills no table."""

_TABLE: dict[tuple, Known | None] = {}
"""Key -> what the call amounts to; None where only the usual path will do."""

_SEEN: set[tuple] = set()
"""Keys of calls that were made."""

_UNFIT: set[Op] = set()
"""Operators for which only the usual path will do: their calls need no keys."""

_FIXED = frozenset({int, float, bool, str, type(None), type, np.float32, np.float64, np.int32, np.int64})
"""Types of arguments that never change."""


class _Kernel(NamedTuple):
    """A kernel, with the arguments that are no elements."""

    run: Any
    by_twin: bool
    constants: tuple
    pick: Callable | None
    """Brings inputs, output and constants into the kernel's order; None where they are in it."""
    views: tuple[tuple[int, tuple[int, ...]], ...]
    """The arrays that a twin sees under another shape, by number, with that shape."""

    @staticmethod
    def of(call: LoopCall, shapes: Sequence[tuple[int, ...]]) -> _Kernel:
        arrays = len(shapes)
        constants = tuple(arg for arg in call.args if type(arg) is not Place)
        after = iter(range(arrays, arrays + len(constants)))
        order: list[Any] = [arg.memory if type(arg) is Place else next(after) for arg in call.args]
        in_order = order == [*range(arrays + len(constants))]
        run = call.loop._tuned if call.by_twin else call.loop.cpu
        views = {
            arg.memory: arg.shape for arg in call.args
            if type(arg) is Place and type(arg.memory) is int and arg.shape not in (None, shapes[arg.memory])
        }
        return _Kernel(run, call.by_twin, constants, None if in_order else itemgetter(*order), tuple(views.items()))


class Known:
    """One call: its kernels, its output, and what the tape wants to know."""

    __slots__ = ("_attrs", "_dtype", "_kernels", "_op", "_p", "_shape", "_size")

    def __init__(
        self, op: Op, p: Any, attrs: dict[str, Any], result: tuple[tuple[int, ...], np.dtype], kernels: list[_Kernel]
    ) -> None:
        self._op, self._p, self._attrs, self._kernels = op, p, dict(attrs), kernels
        self._shape, self._dtype = result
        self._size = prod(self._shape)

    def run(self, arrays: Sequence[NDArray], flats: Sequence[np.ndarray]) -> NDArray | None:
        """The result for arrays of a call with the same key; None where there is no memory, which others refuse."""
        try:
            flat = buffer.aligned_empty(self._size, self._dtype)
        except (MemoryError, ValueError):
            return None
        result = Buffer(flat, self._shape)
        try:
            for run, by_twin, constants, pick, views in self._kernels:
                if by_twin:
                    buffers = [*[array._buffer for array in arrays], result]
                    for number, shape in views:
                        buffers[number] = Buffer(buffers[number].flat, shape)
                    given: tuple = (*buffers, *constants)
                else:
                    given = (*flats, flat, *constants)
                run(*(given if pick is None else pick(given)))
        except MXNetError as error:
            engine.fail(error, [result])
        made = classes.ndarray(result, arrays[0]._ctx)
        if STATE.recording:
            tape.note(self._op, self._p, dict(self._attrs), arrays, [result], [made], made._ctx)
        return made


def made_again(what: Any, args: tuple, said: dict[str, Any]) -> tuple[tuple | None, NDArray | None]:
    """(key, result) of a call of ``what`` with ``args`` by position and ``said`` by name.

    The key is None where the usual path stays, the result where it has to be taken this time.
    """
    if what in _UNFIT:
        return None, None
    if engine.attention or profiling_hook.imperative is not None or _CHOICE.python or _CHOICE.plain:
        return None, None
    parts: list[Any] = [what, SCOPE.get(), *said]
    arrays, flats = [], []
    dense = classes.ndarray
    for value in (*args, *said.values()) if said else args:
        kind = type(value)
        if kind is dense:
            memory = value._buffer
            flat = memory.flat
            parts += (memory.shape, flat.dtype, memory.device)
            arrays.append(value)
            flats.append(flat)
        elif not _add(parts, kind, value):
            return None, None
    key = tuple(parts)
    found = _TABLE.get(key)
    return key, None if found is None else found.run(arrays, flats)


def pair_again(array_op: str, scalar_op: str, left: NDArray, right: Any) -> tuple[tuple | None, NDArray | None]:
    """:func:`made_again` of an arithmetic operator, in half the time for dense arrays and plain numbers."""
    dense, kind = classes.ndarray, type(right)
    if type(left) is not dense:
        return made_again(scalar_op, (left, right), {})
    if engine.attention or profiling_hook.imperative is not None or _CHOICE.python or _CHOICE.plain:
        return None, None
    one = left._buffer
    a = one.flat
    if kind is dense:
        other = right._buffer
        b = other.flat
        key: tuple = (array_op, SCOPE.get(), one.shape, a.dtype, one.device, other.shape, b.dtype, other.device)
        found = _TABLE.get(key)
        return key, None if found is None else found.run((left, right), (a, b))
    if kind is float or kind is int:
        key = (scalar_op, SCOPE.get(), one.shape, a.dtype, one.device, kind, right or repr(right))
        found = _TABLE.get(key)
        return key, None if found is None else found.run((left,), (a,))
    return made_again(scalar_op, (left, right), {})


def _add(parts: list[Any], kind: type, value: Any) -> bool:
    """Make an argument part of a key, so that it equals only what means the same; False where it might change."""
    if kind is tuple:
        if not {*map(type, value)} <= {int}:
            return False
    elif kind not in _FIXED:
        return False
    parts += (kind, value or repr(value))  # 0.0 and -0.0 are equal
    return True


def learn(
    key: tuple, op: Op, inputs: list[NDArray], attrs: dict[str, Any], made: Any, given: Sequence[Any] | None = None
) -> None:
    """Remember a call that gave ``made`` on the usual path, where it is the second one; ``attrs`` as that left them.

    ``given`` holds all arguments in the caller's order, where that may differ from that of the inputs.
    """
    if key not in _SEEN:
        if not _is_fit(op) or not inputs or type(made) is list:
            _UNFIT.add(op)
            return
        if len(_SEEN) >= SEEN_LIMIT:
            _SEEN.clear()
        _SEEN.add(key)
    elif key not in _TABLE:
        if len(_TABLE) >= LIMIT:
            _TABLE.clear()
        in_order = given is None or [id(a) for a in given if type(a) is classes.ndarray] == [*map(id, inputs)]
        _TABLE[key] = _known(op, inputs, attrs) if in_order and type(made) is classes.ndarray else None


def forget() -> None:
    """Let every call take the usual path again, until it is repeated."""
    _TABLE.clear()
    _SEEN.clear()
    _UNFIT.clear()


def _is_fit(op: Op) -> bool:
    """Whether an operator does nothing but fill one output, the same way each time."""
    return type(op) is Op and not (op.mutates or op.partial or op.random or op.mode or op.hidden)


def _known(op: Op, inputs: list[NDArray], attrs: dict[str, Any]) -> Known | None:
    if any(type(array) is not classes.ndarray or array._ctx.memory != "cpu" for array in inputs):
        return None
    p = parsed(op, attrs)
    if not isinstance(p, tuple) or engine.goes_alone(p):
        return None
    memories = [array._buffer for array in inputs]
    plan = runner.plan(op, p, memories)
    if not plan.plain or len(plan.results) != 1:
        return None
    calls = calls_of(op, p, memories, plan.results[0])
    if calls is None or any(len(call.args) < 2 for call in calls):
        if not any(found is not None and found._op is op for found in _TABLE.values()):
            _UNFIT.add(op)  # most pages do the same whatever their parameters are
        return None
    shapes = [*[buffer.shape for buffer in memories], plan.results[0][0]]
    return Known(op, p, attrs, plan.results[0], [_Kernel.of(call, shapes) for call in calls])


__all__ = ["Known", "forget", "learn", "made_again", "pair_again"]
