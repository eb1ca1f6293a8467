"""Random programs of a store against a model of a few lines: values are small integers, so sums are exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import refimpl as mx
from refimpl import ndarray as nd

SIZE = 2
NAMES = {int: [7, -1, 3, 0], str: ["b", "a", "", "c"]}
vectors = st.lists(st.integers(-8, 8), min_size=SIZE, max_size=SIZE)
positions = st.integers(0, 3)
devices = st.lists(vectors, min_size=1, max_size=6)


def array(values, device: int = 0) -> nd.NDArray:
    return nd.array(values, ctx=mx.cpu(device))


class Store(RuleBasedStateMachine):
    """The model is ``self.held``: key -> list of numbers, in the order of init."""

    @initialize(kind=st.sampled_from(["local", "device", "anything"]), keys=st.sampled_from([int, str]))
    def start(self, kind, keys) -> None:
        self.store = mx.kv.create(kind)
        self.names = NAMES[keys]
        self.stranger = "z" if keys is int else 99
        self.held: dict = {}
        self.lent: list[nd.NDArray] = []
        self.updating = False
        self.log: list = []

    def lend(self, values, device: int = 0) -> nd.NDArray:
        """An array that the caller goes on to scribble on."""
        made = array(values, device)
        self.lent.append(made)
        return made

    @rule(at=positions, values=vectors)
    def init(self, at, values) -> None:
        name = self.names[at]
        if name in self.held:
            with pytest.raises(mx.MXNetError) as caught:
                self.store.init(name, self.lend(values))
            assert caught.value.clause == "KVStore/duplicate-init"
        else:
            self.store.init(name, self.lend(values))
            self.held[name] = list(values)

    @rule(parts=st.lists(st.tuples(positions, devices), min_size=1, max_size=4), exchange=st.booleans())
    def push(self, parts, exchange) -> None:
        keys = [self.names[at] for at, _ in parts]
        arrays = [[self.lend(v, d) for d, v in enumerate(on_devices)] for _, on_devices in parts]
        call = self.store.pushpull if exchange else self.store.push
        if any(key not in self.held for key in keys):
            with pytest.raises(mx.MXNetError) as caught:
                call(keys, arrays)
            assert caught.value.clause == "KVStore/initialised"
            return
        self.log.clear()
        call(keys, arrays)
        sums = {key: np.zeros(SIZE) for key in keys}
        for key, (_, on_devices) in zip(keys, parts, strict=True):
            sums[key] = sums[key] + np.sum(on_devices, axis=0)
        for key, total in sums.items():
            self.held[key] = (np.array(self.held[key]) * self.updating + total).tolist()
        if self.updating:
            ranked = sorted(sums) if isinstance(keys[0], int) else [k for k in self.held if k in sums]
            assert self.log == [k.encode() if isinstance(k, str) else k for k in ranked]
        if exchange:
            for key, targets in zip(keys, arrays, strict=True):
                assert all(t.asnumpy().tolist() == self.held[key] for t in targets)

    @rule(on=st.booleans())
    def set_updater(self, on) -> None:
        def add(key, merged, stored) -> None:
            self.log.append(key)
            stored += merged
            merged[:] = 1000

        self.updating = on
        self.store.set_updater(add if on else None)

    @rule()
    def scribble(self) -> None:
        """What the caller writes into arrays that were pushed or pulled reaches nobody."""
        for lent in self.lent:
            lent[:] = -77

    @rule()
    def use_the_other_kind_of_key(self) -> None:
        if self.held:
            with pytest.raises(mx.MXNetError) as caught:
                self.store.push(self.stranger, array([0, 0]))
            assert caught.value.clause == "KVStore/one-kind"

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        keys = list(getattr(self, "held", {}))
        if keys:
            out = [[array([9, 9]), array([9, 9], 1)] for _ in keys]
            self.store.pull(keys, out=out)
            for key, targets in zip(keys, out, strict=True):
                assert [t.asnumpy().tolist() for t in targets] == [self.held[key]] * 2
            self.lent += [targets[0] for targets in out]


TestStore = Store.TestCase
