"""Restores arrays, containers and attributes when the call that changes them fails."""

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


class Held:
    """The present contents of arrays, containers and objects, which :meth:`give_back` restores in the same objects.

    Args:
        roots: the objects, whose items and attributes are followed.
        kinds: classes whose objects are followed, too, like dicts, lists and tuples; other objects count as values.
        listed: False does not follow lists, except roots: only their items are remembered, not the arrays' values.
        shallow: dicts that are not followed: only their items are remembered.
    """

    def __init__(
        self, *roots: Any, kinds: tuple[type, ...] = (), listed: bool = True, shallow: Iterable[dict] = ()
    ) -> None:
        self._switches = tape.STATE.recording, tape.STATE.training
        self._arrays: list[tuple[Any, Any]] = []
        self._containers: list[tuple[Any, Any]] = []
        for one in shallow:
            self._containers.append((one, dict(one)))
        todo: list[Any] = [*roots]
        first = set(map(id, roots))
        seen: dict[int, Any] = {}  # the things themselves, so that no other one gets their number
        while todo:  # one loop, because every update comes here
            thing = todo.pop()
            if type(thing) in VALUES or id(thing) in seen:
                continue
            seen[id(thing)] = thing
            if isinstance(thing, (NDArray, np.ndarray)):
                self._arrays.append((thing, _copy(thing)))
            elif isinstance(thing, dict):
                self._containers.append((thing, dict(thing)))
                todo += thing.values()
            elif isinstance(thing, list):
                self._containers.append((thing, list(thing)))
                todo += thing if listed or id(thing) in first else ()
            elif isinstance(thing, tuple):
                todo += thing
            elif isinstance(thing, kinds) or (id(thing) in first and hasattr(thing, "__dict__")):
                self._containers.append((vars(thing), dict(vars(thing))))
                # what an optimizer knows of the network is large, and never changes
                todo += (vars(thing) | {"sym_info": None}).values()

    def give_back(self) -> None:
        """Restore the contents of all arrays and containers, and autograd's switches for recording and training."""
        tape.STATE.recording, tape.STATE.training = self._switches
        for container, before in self._containers:
            if isinstance(container, list):
                container[:] = before
            else:
                container.clear()
                container.update(before)
        for array, before in self._arrays:
            _overwrite(array, before)


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


def _overwrite(array: Any, before: Any) -> None:
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


@contextmanager
@decides("Module/atomic", "KVStore/atomic", "KVStore/no-memory", "Bucketing/atomic", "SVRG/atomic", "Executor2/atomic")
def unchanged_on_failure(*roots: Any, **how: Any) -> Iterator[None]:
    """If the block fails, restore the contents that ``roots`` had before it; ``how`` has options of :class:`Held`."""
    held = Held(*roots, **how)
    try:
        yield
    except BaseException:
        held.give_back()
        raise


@decides("DataIter/undelivered", "DataIter/interrupted-reset")
def delivered(iterator: Any, step: Callable[[], Any]) -> Any:
    """The result of ``step()``; if it fails, other than by StopIteration, ``iterator`` gets its attributes back.

    There is no ``with`` here: no interrupt may come between the result and the return.
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


__all__ = ["VALUES", "Held", "delivered", "unchanged_on_failure"]
