"""The lab on the store: the effect of a push on the array of a key."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import MXNetError
from ...kvstore import create
from ...ndarray import array
from ...oracle.drawing.draws import Draw
from .lab import Broken, Lab, Law, demand

STUB = '''
"""A key-value store of one process.

{rules}
"""

import numpy as np

import refimpl as mx


class Store:
    """Arrays by key. Values are NumPy arrays of float32, all of one shape for a key.

    >>> store = Store("local")
    >>> store.init("w", np.float32([1, 2]))
    >>> store.push("w", [np.float32([10, 20]), np.float32([0.5, 0.5])])
    >>> store.pull("w")
    array([10.5, 20.5], dtype=float32)
    """

    def __init__(self, kind):
        """Make an empty store; kind is "local" or "device": see the order of addition."""
        raise NotImplementedError("write this method")

    def init(self, key, value):
        """Give a key its first array. Raises mx.MXNetError where it has one."""
        raise NotImplementedError("write this method")

    def set_updater(self, updater):
        """From now on a push calls updater(key, merged, stored), which changes stored in place."""
        raise NotImplementedError("write this method")

    def push(self, key, values):
        """Hand in a list of arrays for a key. Raises mx.MXNetError where the key has no array."""
        raise NotImplementedError("write this method")

    def pull(self, key):
        """A copy of the array of a key. Raises mx.MXNetError where it has none."""
        raise NotImplementedError("write this method")
'''

LARGE = 1e8
"""A number beside which float32 loses 1: sums of it tell the orders of addition apart."""


class Halve:
    """An updater: stored -= merged / 2."""

    def __call__(self, key: str, merged: Any, stored: Any) -> None:
        """See :class:`Halve`."""
        stored -= merged * 0.5

    def __repr__(self) -> str:
        return "halve"


def _vector(draw: Draw) -> np.ndarray:
    return np.array([draw.integer(-4, 4)], np.float32)


def _vectors(draw: Draw, most: int = 4) -> list[np.ndarray]:
    return [_vector(draw) for _ in range(draw.integer(1, most))]


def _kind(draw: Draw) -> str:
    return draw.choice(["local", "device"])


def _reference(kind: str, first: np.ndarray, pushes: list[list[np.ndarray]], updater: Any = None) -> np.ndarray:
    """The content of this package's store at the end."""
    store = create(kind)
    store.init("w", array(first))
    if updater is not None:
        store.set_updater(updater)
    for values in pushes:
        store.push("w", [array(value) for value in values])
    out = array(np.zeros_like(first))
    store.pull("w", out=out)
    return out.asnumpy()  # type: ignore[no-any-return]  # an array


def _same(got: Any, expected: np.ndarray) -> None:
    demand(isinstance(got, np.ndarray) and np.array_equal(got, expected), expected, got)


def _init_copies(student: Any, draw: Draw) -> None:
    store, first = student.Store(_kind(draw)), _vector(draw)
    expected = first.copy()
    store.init("w", first)
    first += 1
    student.note("the caller adds 1 to the array that it gave to init")
    _same(store.pull("w"), expected)


def _pushes(student: Any, draw: Draw, updater: Any = None) -> None:
    kind, first, pushes = _kind(draw), _vector(draw), [_vectors(draw) for _ in range(draw.integer(1, 3))]
    expected = _reference(kind, first, pushes, updater)
    store = student.Store(kind)
    store.init("w", first)
    if updater is not None:
        store.set_updater(updater)
    for values in pushes:
        store.push("w", values)
    _same(store.pull("w"), expected)


def _push_copies(student: Any, draw: Draw) -> None:
    store, pushed = student.Store(_kind(draw)), _vectors(draw, 2)
    store.init("w", np.zeros(1, np.float32))
    expected: np.ndarray = np.sum(np.stack(pushed), axis=0)
    given = [value.copy() for value in pushed]
    store.push("w", pushed)
    demand(all(map(np.array_equal, pushed, given)), f"pushed arrays that stay {given}", pushed)
    for value in pushed:
        np.add(value, 50, out=value)
    student.note("the caller adds 50 to each array that it pushed")
    _same(store.pull("w"), expected)
    if draw.boolean():
        store.set_updater(_Spoil())
        store.push("w", pushed[:1])
        demand(bool((pushed[0] < 100).all()), "the caller's array as it was", pushed[0])


class _Spoil:
    """An updater that writes into its arguments."""

    def __call__(self, key: str, merged: Any, stored: Any) -> None:
        merged[...] = 1000

    def __repr__(self) -> str:
        return "spoil"


def _order(student: Any, draw: Draw, kind: str) -> None:
    values = [np.array([draw.choice([1.0, LARGE, -LARGE])], np.float32) for _ in range(draw.integer(1, 10))]
    expected = _reference(kind, np.zeros(1, np.float32), [values])
    store = student.Store(kind)
    store.init("w", np.zeros(1, np.float32))
    store.push("w", values)
    _same(store.pull("w"), expected)


def _pull_copies(student: Any, draw: Draw) -> None:
    store, first = student.Store(_kind(draw)), _vector(draw)
    store.init("w", first)
    store.pull("w")[...] += 1
    student.note("the caller adds 1 to the array that it pulled")
    _same(store.pull("w"), first)


def _refused(call: Any, what: str) -> None:
    try:
        got = call()
    except MXNetError:
        return
    raise Broken("MXNetError raised", f"{got!r} of {what}")


def _duplicate(student: Any, draw: Draw) -> None:
    store, first = student.Store(_kind(draw)), _vector(draw)
    store.init("w", first)
    _refused(lambda: store.init("w", first + 1), "the second init")
    _same(store.pull("w"), first)


def _unknown(student: Any, draw: Draw) -> None:
    store, values = student.Store(_kind(draw)), _vectors(draw, 2)
    _refused((lambda: store.push("w", values)) if draw.boolean() else (lambda: store.pull("w")), "the call")


LAB = Lab(
    name="push", title="How the gradients of several devices meet", chapter="spec/reference/stores/store.md",
    task="""
Two devices have each computed a gradient for the same weight. The store adds the two up and gives both devices the
same new weight. Write the store: a table of arrays by key. Who else holds an array that the store holds, and in which
order a sum is made, decide whether two trainings end in the same bits.
""",
    stub=STUB,
    answers=frozenset({"kv", "kvstore", "KVStore"}),
    words={
        "KVStore/push-replaces": "Without an updater the sum of the arrays that one push gives for a key replaces the"
        " stored array. It is not added to it.",
        "KVStore/init-copies": "init copies its array: writing to the array afterwards does not change the store."
        " init does not call the updater.",
        "KVStore/push-copies": "The store never holds an array of the caller's, and hands none to an updater: even"
        " the sum of a single array is a copy.",
        "KVStore/pull-copies": "pull gives a copy: writing to it does not change the store.",
        "KVStore/updater": "With an updater a push does not replace the stored array: updater(key, merged, stored) is"
        " called once, and changes stored in place.",
        "KVStore/sum-order-device": "A store of kind device adds arrays from the left: ((a0 + a1) + a2) + ...",
        "KVStore/sum-order-local": "A store of kind local adds arrays as a0 + (a1 + a2 + a3 + a4) + (a5 + a6 + a7 +"
        " a8) + ...: each group of up to four is added up from the left, and its sum is then added to the total.",
        "KVStore/duplicate-init": "A second init of a key raises MXNetError, and changes nothing.",
        "KVStore/initialised": "push and pull of a key that was never initialised raise MXNetError, before anything"
        " changes.",
    },
    laws=(
        Law(_pushes, "KVStore/push-replaces"),
        Law(_init_copies, "KVStore/init-copies", 30),
        Law(_push_copies, "KVStore/push-copies"),
        Law(_pull_copies, "KVStore/pull-copies", 30),
        Law(lambda student, draw: _pushes(student, draw, Halve()), "KVStore/updater"),
        Law(lambda student, draw: _order(student, draw, "device"), "KVStore/sum-order-device", 300),
        Law(lambda student, draw: _order(student, draw, "local"), "KVStore/sum-order-local", 300),
        Law(_duplicate, "KVStore/duplicate-init", 20),
        Law(_unknown, "KVStore/initialised", 20),
    ),
)
"""The lab."""
