"""Rounds of a dist_sync store with values of any kind, and what one machine makes of them in a dozen lines."""

from __future__ import annotations

import functools
import operator
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import refimpl as mx
from refimpl import ndarray as nd
from refimpl.kvstore.server import step as sound
from refimpl.ndarray.sparse import row_sparse_array

from .cluster_programs import BOUND

SHAPES = [(BOUND - 1,), (BOUND,), (BOUND + 1,), (1, BOUND + 6), (BOUND // 3, 3), (2, 3, 4), (3,), (1,), (0, 3), ()]
TALL = 2**24 + 8
FIRST = 99  # where a call's number stands otherwise: the first value
OPTIMIZERS = [
    None, ("test", {"rescale_grad": 0.5}), ("sgd", {"learning_rate": 0.1, "wd": 0.01}),
    ("sgd", {"learning_rate": 0.1, "momentum": 0.9}), ("adam", {"learning_rate": 0.1, "clip_gradient": 0.5}),
]


@dataclass(frozen=True)
class Array:
    """How a key is initialised."""

    shape: tuple[int, ...]
    dtype: str
    sparse: bool = False


@dataclass(frozen=True)
class Rounds:
    """What all workers do alike: calls are (verb, keys), and ``devices[call][worker]`` arrays are pushed for a key."""

    kind: str
    workers: int
    servers: int
    keys: dict[Any, Array]
    optimizer: tuple[str, dict[str, Any]] | None
    threshold: float | None
    calls: Sequence[tuple[str, tuple]]
    devices: Sequence[Sequence[int]]
    seed: int

    def value(self, key: Any, *which: int) -> nd.NDArray:
        """Random numbers, the same whoever asks."""
        array = self.keys[key]
        draw = np.random.RandomState([self.seed, list(self.keys).index(key), *which])
        if not array.sparse:
            return nd.array(draw.normal(size=array.shape).astype(array.dtype), dtype=array.dtype)
        rows = np.unique(array.shape[0] - 1 - draw.randint(0, 9, 3))
        if which[0] == FIRST and array.shape[0] < TALL:
            rows = np.arange(array.shape[0])  # an optimizer wants all of them
        data = draw.normal(size=(len(rows), *array.shape[1:])).astype(array.dtype)
        return row_sparse_array((data, rows), shape=array.shape, dtype=array.dtype)

    def ids(self, key: Any) -> nd.NDArray:
        """Rows to pull, unsorted and some of them twice."""
        last = self.keys[key].shape[0] - 1
        return nd.array(np.array([last, 0, last - 3, last, last - 7, last - 1, 5]), dtype=np.int64)


def draw_rounds(random: random.Random) -> Rounds:
    """Rounds of any kind."""
    names = random.choice([["w", "", "fc_weight"], [3, -1, 70000]])[: random.randint(1, 3)]
    optimizer = random.choice(OPTIMIZERS)
    threshold = random.choice([None, None, 0.5, 0.3])
    halves = random.randint(0, 3) == 0
    if optimizer and optimizer[0] in ("sgd", "adam") and halves:
        optimizer = optimizer[0], {**optimizer[1], "multi_precision": random.choice([True, False])}
    keys = {}
    climbs = bool(optimizer) and optimizer[0] == "test"  # in place, which arrays without dimensions refuse
    shapes, rows = SHAPES[: -1 if climbs else None], threshold is None and not climbs
    for name in names:
        sparse = rows and random.randint(0, 3) == 0
        shape = random.choice([(BOUND, 2), (9, 1), (9, 3)] if sparse else shapes)
        if sparse and random.randint(0, 1):
            shape, optimizer = (TALL, 1), None
        keys[name] = Array(shape, "float32" if sparse or not halves else "float16", sparse)
    count, workers = random.randint(1, 4), random.randint(1, 4)
    verbs = ["push", "push", "push", "pushpull", "barrier", "replace"]
    calls = [
        (random.choice(verbs), tuple(random.choice(names) for _ in range(random.randint(1, 3)))) for _ in range(count)
    ]
    devices = [[random.choice([1, 1, 2, at + 1, 6]) for _ in range(workers)] for at in range(count)]
    return Rounds(
        random.choice(["dist_sync", "dist", "dist_device_sync"]), workers, random.randint(1, 3), keys, optimizer,
        threshold, calls, devices, random.randint(0, 9999),
    )


@dataclass
class Pulled:
    """What the workers pulled after each call, in order: worker -> list of (key, arrays)."""

    cluster: mx.kv.SimulatedCluster
    seen: dict[int, list] = field(default_factory=dict)


def run_rounds(
    rounds: Rounds, seed: int = 0, faults: Any = True, schedule: Sequence[int] | None = None, step: Any = sound,
) -> Pulled:
    """Do the rounds in a simulated cluster."""
    pulled = Pulled(mx.kv.simulate(rounds.workers, rounds.servers, seed, faults, schedule, step))

    def work(store: Any) -> None:
        seen = pulled.seen.setdefault(store.rank, [])
        if rounds.optimizer:
            name, settings = rounds.optimizer
            store.set_optimizer(mx.optimizer.create(name, **settings))
        if rounds.threshold:
            store.set_gradient_compression({"type": "2bit", "threshold": rounds.threshold})
        names = list(rounds.keys)
        store.init(names, [rounds.value(key, FIRST, store.rank) for key in names])
        for at, (verb, keys) in enumerate([*rounds.calls, ("look", tuple(names))]):
            if verb in ("push", "pushpull"):
                count = rounds.devices[at][store.rank]
                arrays = [
                    [rounds.value(key, at, store.rank, place, one) for one in range(count)]
                    for place, key in enumerate(keys)
                ]
                getattr(store, verb)(list(keys), arrays)
            elif verb == "replace":
                once = list(dict.fromkeys(keys))
                store.replace(once, [rounds.value(key, FIRST, 7, at) for key in once])
            elif verb == "barrier":
                store._barrier()
            seen.append([(key, _pull(store, rounds, key)) for key in names if key in keys])

    pulled.cluster.run(work, rounds.kind)
    return pulled


def _pull(store: Any, rounds: Rounds, key: Any) -> np.ndarray:
    array = rounds.keys[key]
    if not array.sparse:
        out = [nd.full(array.shape, 7.0, dtype=array.dtype) for _ in range(2)]
        store.pull(key, out=out)
        assert out[0].asnumpy().tobytes() == out[1].asnumpy().tobytes()
        return out[0].asnumpy()
    found = mx.nd.sparse.zeros("row_sparse", array.shape)
    store.row_sparse_pull(key, out=found, row_ids=rounds.ids(key))
    return _rows(found, rounds.ids(key))


def _rows(array: Any, ids: nd.NDArray) -> np.ndarray:
    """Rows ``ids`` of a row_sparse array."""
    held = dict(zip(array.indices.asnumpy().tolist(), array.data.asnumpy(), strict=True))
    return np.array([held.get(int(row), np.zeros(array.shape[1:], np.float32)) for row in ids.asnumpy()])


# --- one machine ----------------------------------------------------------------------------------


def on_one_machine(rounds: Rounds) -> list[list[tuple[Any, np.ndarray]]]:
    """What everybody must pull after each call."""
    updater = wide = None
    if rounds.optimizer:
        optimizer = mx.optimizer.create(rounds.optimizer[0], **rounds.optimizer[1])
        wide, updater = optimizer.multi_precision, mx.optimizer.get_updater(optimizer)
    unsent: dict[Any, np.ndarray] = {}
    held = {key: _widened(rounds.value(key, FIRST, 0), wide) for key in rounds.keys}
    seen = []
    for at, (verb, keys) in enumerate([*rounds.calls, ("look", tuple(rounds.keys))]):
        for key in dict.fromkeys(keys):
            if verb == "replace":
                held[key] = _widened(rounds.value(key, FIRST, 7, at), wide)
            if verb not in ("push", "pushpull"):
                continue
            sums = []
            for worker in range(rounds.workers):
                arrays = [
                    rounds.value(key, at, worker, place, one) for place, name in enumerate(keys) if name == key
                    for one in range(rounds.devices[at][worker])
                ]
                whole = _added(arrays, 1 if "device" in rounds.kind else 4)
                sums.append(_coded(whole, rounds.threshold, unsent, (key, worker)) if rounds.threshold else whole)
            total = _added([_widened(whole, wide) for whole in sums], 1)
            if updater is None:
                held[key] = total
            elif 0 not in total.shape:
                updater(key, total, held[key])
        seen.append([(key, _looked_at(rounds, key, held[key])) for key in rounds.keys if key in keys])
    return seen


def _added(arrays: list[Any], size: int) -> Any:
    """a0 + (a1 + ... + a4) + (a5 + ...) + ...; row_sparse arrays from the left."""
    if arrays[0].stype == "row_sparse":
        return functools.reduce(operator.add, arrays)
    total, *rest = [array.asnumpy() for array in arrays]
    for start in range(0, len(rest), size):
        total = total + functools.reduce(operator.add, rest[start : start + size])
    return nd.array(total, dtype=total.dtype)


def _coded(whole: Any, threshold: float, unsent: dict[Any, np.ndarray], which: Any) -> Any:
    """What arrives of a gradient with 2-bit compression."""
    wanted = unsent.get(which, np.float32(0)) + whole.asnumpy().astype(np.float32)
    limit = np.float32(threshold)
    sent = np.where(wanted >= limit, limit, np.where(wanted <= -limit, -limit, np.float32(0)))
    unsent[which] = wanted - sent
    return nd.array(sent, dtype=whole.dtype)


def _widened(array: Any, wide: bool | None) -> Any:
    return array.astype("float32") if wide and array.dtype == np.float16 else array


def _looked_at(rounds: Rounds, key: Any, held: Any) -> np.ndarray:
    array = rounds.keys[key]
    return _rows(held, rounds.ids(key)) if array.sparse else held.asnumpy().astype(array.dtype)


def same(left: list, right: list) -> bool:
    """Whether two lists of pulls are equal, bit for bit."""
    return [[(key, value.tobytes()) for key, value in one] for one in left] == [
        [(key, value.tobytes()) for key, value in one] for one in right
    ]
