"""Random programs of a store against models of a dozen lines. All values are dyadic, so every sum is exact."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import refimpl as mx
from refimpl import ndarray as nd

SIZE = 2
NAMES = {int: [7, -1, 3, 0], str: ["b", "a", "", "c"]}
vectors = st.lists(st.integers(-8, 8), min_size=SIZE, max_size=SIZE)
positions = st.integers(0, 3)
devices = st.lists(vectors, min_size=1, max_size=6)


def array(values, device: int = 0) -> nd.NDArray:
    return nd.array(values, ctx=mx.cpu(device))


class Dense:
    """What a store is: numbers by key, in the order of init, and what an updater and compression remember."""

    def __init__(self) -> None:
        self.held, self.moment, self.left = {}, {}, {}
        self.rule, self.rate, self.threshold = "replace", 0.0, 0.0

    def push(self, key, arrays) -> None:
        total = sum(self.sent((key, place), np.array(values, float)) for place, values in enumerate(arrays))
        if self.rule == "sgd":  # with momentum 1
            self.moment[key] = self.moment.get(key, 0) - self.rate * total
            total = self.moment[key]
        self.held[key] = total if self.rule == "replace" else self.held[key] + total

    def sent(self, place, gradient):
        if not self.threshold:
            return gradient
        waiting = self.left.get(place, 0) + gradient
        sent = self.threshold * (1.0 * (waiting >= self.threshold) - (waiting <= -self.threshold))
        self.left[place] = waiting - sent
        return sent


class Store(RuleBasedStateMachine):
    @initialize(
        kind=st.sampled_from(["local", "device", "anything"]), keys=st.sampled_from([int, str]),
        first=st.lists(vectors, max_size=4),
    )
    def start(self, kind, keys, first) -> None:
        self.store, self.model = mx.kv.create(kind), Dense()
        self.compresses = kind == "device"
        self.names = NAMES[keys]
        self.stranger = "z" if keys is int else 99
        self.lent: list[nd.NDArray] = []
        self.log: list = []
        self.folder = tempfile.TemporaryDirectory()
        self.saved: list = []  # (file, whether the optimizer is in it, the model of then)
        for at, values in enumerate(first):
            self.init(at, values)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def lend(self, values, device: int = 0) -> nd.NDArray:
        """An array that the caller goes on to scribble on."""
        made = array(values, device)
        self.lent.append(made)
        return made

    @rule(at=positions, values=vectors)
    def init(self, at, values) -> None:
        name = self.names[at]
        if name in self.model.held:
            with pytest.raises(mx.MXNetError) as caught:
                self.store.init(name, self.lend(values))
            assert caught.value.clause == "KVStore/duplicate-init"
        else:
            self.store.init(name, self.lend(values))
            self.model.held[name] = np.array(values, float)

    def known(self, at: int):
        """A key that was initialised."""
        return list(self.model.held)[at % len(self.model.held)]

    @precondition(lambda self: self.model.held)
    @rule(parts=st.lists(st.tuples(positions, devices), min_size=1, max_size=4), exchange=st.booleans())
    def push(self, parts, exchange) -> None:
        keys = [self.known(at) for at, _ in parts]
        arrays = [[self.lend(v, d) for d, v in enumerate(on_devices)] for _, on_devices in parts]
        call = self.store.pushpull if exchange else self.store.push
        self.log.clear()
        call(keys, arrays)
        together: dict = {}
        for key, (_, on_devices) in zip(keys, parts, strict=True):
            together[key] = together.get(key, []) + on_devices
        for key, lists in together.items():
            self.model.push(key, lists)
        if self.model.rule == "add":
            ranked = sorted(together) if isinstance(keys[0], int) else [k for k in self.model.held if k in together]
            assert self.log == [k.encode() if isinstance(k, str) else k for k in ranked]
        if exchange:
            for key, targets in zip(keys, arrays, strict=True):
                assert all(np.array_equal(t.asnumpy(), self.model.held[key]) for t in targets)

    @precondition(lambda self: self.model.held)
    @rule(parts=st.lists(st.tuples(positions, vectors), max_size=3))
    def replace(self, parts) -> None:
        keys = [self.known(at) for at, _ in parts]
        self.store.replace(keys, [self.lend(values) for _, values in parts])
        self.model.held.update((key, np.array(values, float)) for key, (_, values) in zip(keys, parts, strict=True))

    @rule(call=st.sampled_from(["push", "pull", "pushpull", "replace"]), count=positions)
    def use_an_unknown_key(self, call, count) -> None:
        """It is refused, and nothing happens to the keys before it."""
        unknown = [name for name in self.names if name not in self.model.held]
        if unknown:
            keys = [*list(self.model.held)[:count], unknown[0]]
            with pytest.raises(mx.MXNetError) as caught:
                getattr(self.store, call)(keys, [array([5, 5]) for _ in keys])
            assert caught.value.clause == "KVStore/initialised"

    @rule(on=st.booleans())
    def set_updater(self, on) -> None:
        def add(key, merged, stored) -> None:
            self.log.append(key)
            stored += merged
            merged[:] = 1000

        self.model.rule = "add" if on else "replace"
        self.store.set_updater(add if on else None)

    @rule(rate=st.sampled_from([0.5, 1.0, -0.25]))
    def set_optimizer(self, rate) -> None:
        self.store.set_optimizer(mx.optimizer.SGD(learning_rate=rate, momentum=1.0))
        self.model.rule, self.model.rate, self.model.moment = "sgd", rate, {}

    @rule(threshold=st.sampled_from([0.5, 3.0, 16.0]))
    def compress(self, threshold) -> None:
        settings = {"type": "2bit", "threshold": threshold}
        if self.compresses:
            self.store.set_gradient_compression(settings)
            self.model.threshold = threshold
        else:
            with pytest.raises(Exception, match="not supported") as caught:
                self.store.set_gradient_compression(settings)
            assert caught.value.clause == "KVStore/compression-stores"

    @rule(dump=st.booleans())
    def save(self, dump) -> None:
        file = str(Path(self.folder.name) / str(len(self.saved)))
        if self.model.rule == "sgd":
            self.store.save_optimizer_states(file, dump_optimizer=dump)
            self.saved.append((file, dump, copy.deepcopy(self.model)))
        else:
            with pytest.raises(AssertionError) as caught:
                self.store.save_optimizer_states(file, dump_optimizer=dump)
            assert caught.value.clause == "KVStore/states-need-optimizer"
            assert not Path(file).exists()

    @precondition(lambda self: self.saved and self.model.rule == "sgd")
    @rule(data=st.data())
    def load(self, data) -> None:
        file, dumped, then = data.draw(st.sampled_from(self.saved))
        self.store.load_optimizer_states(file)
        self.model.moment = dict(then.moment)
        if dumped:
            self.model.rate = then.rate

    @rule()
    def scribble(self) -> None:
        """What the caller writes into arrays that were pushed or pulled reaches nobody."""
        for lent in self.lent:
            lent[:] = -77

    @rule()
    def use_the_other_kind_of_key(self) -> None:
        if self.model.held:
            with pytest.raises(mx.MXNetError) as caught:
                self.store.push(self.stranger, array([0, 0]))
            assert caught.value.clause == "KVStore/one-kind"

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        keys = list(self.model.held) if hasattr(self, "model") else []
        if keys:
            out = [[array([9, 9]), array([9, 9], 1)] for _ in keys]
            self.store.pull(keys, out=out)
            for key, targets in zip(keys, out, strict=True):
                assert all(np.array_equal(t.asnumpy(), self.model.held[key]) for t in targets)
            self.lent += [targets[0] for targets in out]


# --- rows ---------------------------------------------------------------------------------------

# Float32 numbers do not tell all of these apart, and of the longer arrays no dense form fits into memory.
LENGTHS = [2**24 + 8, 2**44]
row = st.sampled_from([0, 1, 5, 2**24 - 1, 2**24, 2**24 + 1, 2**24 + 3, 2**24 + 7])
few = st.lists(st.tuples(row, st.integers(-8, 8)), max_size=4)
distinct_rows = few.filter(lambda pairs: len({at for at, _ in pairs}) == len(pairs))
both = st.sampled_from(["x", "y"])


class Rows(RuleBasedStateMachine):
    """The model is ``self.held``: key -> {row: number} of the rows that are stored."""

    @initialize(kind=st.sampled_from(["local", "device"]), length=st.sampled_from(LENGTHS), x=few, y=few)
    def start(self, kind, length, x, y) -> None:
        self.length, self.adds = length, False
        self.store = mx.kv.create(kind)
        self.held = {"x": dict(x), "y": dict(y)}
        for key, rows in self.held.items():
            self.store.init(key, self.rows(list(rows.items())))

    def rows(self, pairs):
        values = np.array([[number] for _, number in pairs], np.float32).reshape(-1, 1)
        where = np.array([at for at, _ in pairs], np.int64)
        return nd.sparse.row_sparse_array((values, where), shape=(self.length, 1))

    def empty(self):
        return nd.zeros((self.length, 1), stype="row_sparse")

    @rule(key=both, lists=st.lists(distinct_rows, min_size=1, max_size=4))
    def push(self, key, lists) -> None:
        """Rows come in any order; the sum stores every row that somebody pushed."""
        self.store.push(key, [self.rows(pairs) for pairs in lists])
        total: dict = dict(self.held[key]) if self.adds else {}
        for at, number in [pair for pairs in lists for pair in pairs]:
            total[at] = total.get(at, 0) + number
        self.held[key] = total

    @rule(key=both, pairs=few, other=distinct_rows)
    def push_a_row_twice(self, key, pairs, other) -> None:
        if len({at for at, _ in pairs}) < len(pairs):
            with pytest.raises(mx.MXNetError) as caught:
                self.store.push(key, [self.rows(pairs), self.rows(other)])
            assert caught.value.clause == "Sparse/format"

    @rule(key=both, pairs=distinct_rows)
    def replace(self, key, pairs) -> None:
        self.store.replace(key, self.rows(pairs))
        self.held[key] = dict(pairs)

    @rule(on=st.booleans())
    def set_updater(self, on) -> None:
        def add(key, merged, stored) -> None:
            stored += merged

        self.adds = on
        self.store.set_updater(add if on else None)

    @rule(key=both, wanted=st.lists(st.lists(row, max_size=6), min_size=1, max_size=3))
    def pull_rows(self, key, wanted) -> None:
        outs = [self.empty() for _ in wanted]
        ids = [nd.array(np.array(rows, np.int64), dtype="int64") for rows in wanted]
        self.store.row_sparse_pull(key, out=outs, row_ids=ids)
        for out, rows in zip(outs, wanted, strict=True):
            assert out.indices.asnumpy().tolist() == sorted(set(rows))
            assert out.data.asnumpy().ravel().tolist() == [self.held[key].get(at, 0) for at in sorted(set(rows))]

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        for key, rows in getattr(self, "held", {}).items():
            out = self.empty()
            self.store.pull(key, out=out, ignore_sparse=False)
            found = dict(zip(out.indices.asnumpy().tolist(), out.data.asnumpy().ravel().tolist(), strict=True))
            assert found == rows


TestStore = Store.TestCase
TestRows = Rows.TestCase
