"""Undoing: when a call fails or is interrupted, arrays, containers and attributes are as before it.

A call names what it may change, and changes it inside ``with undo(...)``. Values are copied when the block begins: each
call knows what it will write, so no write has to be watched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import engine
from ..base import decides
from . import dense, tape
from .ndarray import NDArray, empty

VALUES = frozenset({int, float, bool, str, type(None), np.float32, np.float64})
"""Types of what nobody writes in place."""
_ZEROS = object()
"""Stands for the values of an array whose bits are all 0, as after bind: no copy is made."""
_LARGE = 1 << 16
"""The least bytes of an array that is searched for a bit of 1; copying a smaller array is as fast."""


def _nothing() -> None:
    pass


@contextmanager
@decides("Module/atomic", "KVStore/atomic", "KVStore/no-memory", "Bucketing/atomic", "SVRG/atomic", "Executor2/atomic")
def undo(
    *changed: Any, dicts: Iterable[Any] = (), into_lists: bool = True,
    settle: Callable[[], object] = _nothing, then: Callable[[], object] = _nothing,
) -> Iterator[None]:
    """A block. If it fails, what it may have changed has its contents from before the block, in the same objects.

    Autograd's switches for recording and training come back, too.

    Args:
        changed: arrays, of which the values come back; lists, tuples, dicts and objects, of which the items or
            attributes come back, and are followed in the same way. An object among these is followed if its class has
            ``_undo_follows = True``, as optimizers and metrics have.
        dicts: dicts and lists of which the items come back, but not the values of arrays among them.
        into_lists: False does not follow lists, except those in ``changed``: only their items come back.
        settle: called first after a failure; it waits for threads that still write.
        then: called last after a failure.
    """
    switches = tape.STATE.recording, tape.STATE.training
    arrays: list[tuple[Any, Any]] = []
    containers: list[tuple[Any, Any]] = []
    for one in dicts:
        containers.append((one, one.copy()))
    todo: list[Any] = [*changed]
    named = {*map(id, changed)}
    seen: dict[int, Any] = {}  # the things themselves, so that no other one gets their number
    while todo:
        thing = todo.pop()
        if type(thing) in VALUES or id(thing) in seen:
            continue
        seen[id(thing)] = thing
        if isinstance(thing, (NDArray, np.ndarray)):
            arrays.append((thing, _copy(thing)))
        elif isinstance(thing, dict):
            containers.append((thing, dict(thing)))
            todo += thing.values()
        elif isinstance(thing, list):
            containers.append((thing, list(thing)))
            todo += thing if into_lists or id(thing) in named else ()
        elif isinstance(thing, tuple):
            todo += thing
        elif getattr(type(thing), "_undo_follows", False) or (id(thing) in named and hasattr(thing, "__dict__")):
            containers.append((vars(thing), dict(vars(thing))))
            # what an optimizer knows of the network is large, and never changes
            todo += (vars(thing) | {"sym_info": None}).values()
    try:
        yield
    except BaseException:
        settle()
        tape.STATE.recording, tape.STATE.training = switches
        _give_back(containers, arrays)
        then()
        raise


def _give_back(containers: Iterable[tuple[Any, Any]], arrays: Iterable[tuple[Any, Any]]) -> None:
    """Restore the contents of containers and arrays, given with their copies."""
    for container, before in containers:
        if isinstance(container, list):
            container[:] = before
        else:
            container.clear()
            container.update(before)
    for array, before in arrays:
        if not isinstance(array, NDArray):
            array[...] = before
        elif array.is_sparse:
            before.copyto(array)
        elif before is _ZEROS:
            array._buffer.flat[:] = 0
        elif isinstance(before, np.ndarray):
            array._buffer.flat[:] = before
        else:
            dense.hand_over(before._buffer, array._buffer, array.context)


def attributes_of(*things: Any) -> list[dict]:
    """The attribute dicts of the objects that have one; classes are left out, as their dicts are read-only."""
    return [vars(thing) for thing in things if hasattr(thing, "__dict__") and not isinstance(thing, type)]


def _copy(array: Any) -> Any:
    """A copy of an array's values, off the tape; the copy of an array that holds a failure holds it, too."""
    if not isinstance(array, NDArray) or array.is_sparse:
        return array.copy()
    if array._buffer.device == "cpu" and not engine.attention:  # no GPU, no task of the engine, no failure
        flat = array._buffer.flat
        if flat.nbytes >= _LARGE and not flat.view(f"u{flat.itemsize}").any():
            return _ZEROS
        return flat.copy()  # every update copies weights, so it has to be quick
    made = empty(array.shape, array.context, array.dtype)
    dense.hand_over(array._buffer, made._buffer, array.context)
    return made


@decides("DataIter/undelivered", "DataIter/interrupted-reset")
def delivered(iterator: Any, step: Callable[[], Any]) -> Any:
    """The result of ``step()``; if it fails, other than by StopIteration, ``iterator`` gets its attributes back.

    There is no ``with undo`` here: no interrupt may come between the result and the return.
    """
    before = dict(vars(iterator))
    try:
        return step()
    except StopIteration:
        raise
    except BaseException:
        vars(iterator).clear()
        vars(iterator).update(before)
        raise


__all__ = ["VALUES", "attributes_of", "delivered", "undo"]
