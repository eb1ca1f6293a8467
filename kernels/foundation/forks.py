"""Locks, threads, queues and watched memory belong to one process, and are made anew in a forked child.

A fork copies the memory, but only the thread that forks. A lock that another thread holds would never be released in
the child, and no thread would serve a queue. So code that has such an object registers it here:

* :func:`own_lock` makes a lock that is free in the child;
* :func:`renew_in_child` has an object's ``after_fork`` called in the child;
* :func:`hold_while_forking` lets a fork wait for a lock, so that another thread first finishes its work on the data
that the lock protects.
"""

from __future__ import annotations

import os
import threading
from itertools import count
from typing import Any, Protocol
from weakref import WeakSet, WeakValueDictionary

from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock

from .refusal import decides


class Renewed(Protocol):
    """An object that belongs to one process."""

    def after_fork(self) -> None:
        """Start again: this process is a forked child, without the other threads of its parent."""


class Held(Protocol):
    """Can be held while the process forks: a lock, or an object that waits until threads have finished their work."""

    def acquire(self) -> Any:
        """Take the lock, in a thread that may hold it already."""

    def release(self) -> Any:
        """Release the lock, in the parent and in the child."""


_LOCKS: WeakSet[Any] = WeakSet()
_OWNERS: WeakSet[Any] = WeakSet()
_HELD: WeakValueDictionary[int, Any] = WeakValueDictionary()
_NUMBERS = count()


class _Holding(threading.local):
    """The locks that this thread holds while it forks."""

    def __init__(self) -> None:
        self.all: list[Held] = []


_HOLDING = _Holding()


def own_lock() -> Any:
    """A reentrant lock for a few lines that run no user's code."""
    lock = threading.RLock()
    _LOCKS.add(lock)
    return lock


def renew_in_child(owner: Renewed) -> None:
    """Call ``owner.after_fork()`` in a forked child, as long as the owner lives."""
    _OWNERS.add(owner)


def hold_while_forking(held: Held) -> None:
    """Hold this lock during each fork, as long as the lock lives; the lock that was given last is taken first."""
    _HELD[next(_NUMBERS)] = held


@decides("engine/forked")
def _before() -> None:
    for number in sorted(_HELD.keys(), reverse=True):
        held = _HELD.get(number)
        if held is not None:
            held.acquire()
            _HOLDING.all.append(held)


def _in_parent() -> None:
    while _HOLDING.all:
        _HOLDING.all.pop().release()


@decides("engine/forked")
def _in_child() -> None:
    _in_parent()
    for lock in list(_LOCKS):
        if not lock._is_owned():  # otherwise the thread that forked releases it
            lock._at_fork_reinit()
    for owner in list(_OWNERS):
        owner.after_fork()


class _Compiler:
    """Numba's compiler and LLVM, whose state is consistent when no thread compiles."""

    def acquire(self) -> None:
        """Wait for the threads that compile."""
        global_compiler_lock.acquire()
        ffi.lib._lock.__enter__()

    def release(self) -> None:
        """Let other threads compile."""
        ffi.lib._lock.__exit__()
        global_compiler_lock.release()


_COMPILER = _Compiler()
hold_while_forking(_COMPILER)

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)

__all__ = ["hold_while_forking", "own_lock", "renew_in_child"]
