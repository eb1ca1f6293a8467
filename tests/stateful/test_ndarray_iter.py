"""NDArrayIter against a model of plain lists: what each epoch delivers, whatever is called when."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from refimpl.io import NDArrayIter

HANDLES = ("pad", "discard", "roll_over")


def rows(arrays):
    return [int(value) for value in arrays[0].asnumpy()]


def make(count, batch_size, handle, shuffle):
    """Row i holds i; its label is 10 i."""
    return NDArrayIter(
        np.arange(count), 10 * np.arange(count), batch_size, shuffle, last_batch_handle=handle
    )


sizes = st.tuples(st.integers(1, 9), st.integers(1, 12), st.booleans())


@pytest.mark.clause("NDArrayIter/pad")
@given(sizes)
def test_pad_delivers_every_row_once_and_fills_up_from_the_beginning(drawn):
    count, batch_size, shuffle = drawn
    iterator = make(count, batch_size, "pad", shuffle)
    for _ in range(3):
        batches = list(iterator)
        line = [row for batch in batches for row in rows(batch.data)]
        assert [batch.pad for batch in batches[:-1]] == [0] * (len(batches) - 1)
        assert len(line) - batches[-1].pad == count
        order = line[:count]
        assert sorted(order) == list(range(count))
        assert line[count:] == (order * batch_size)[:len(line) - count]
        assert shuffle or order == list(range(count))
        iterator.reset()


@pytest.mark.clause("NDArrayIter/discard")
@given(sizes)
def test_discard_delivers_distinct_rows_in_full_batches(drawn):
    count, batch_size, shuffle = drawn
    iterator = make(count, batch_size, "discard", shuffle)
    for _ in range(3):
        line = [row for batch in iterator for row in rows(batch.data)]
        assert len(line) == count // batch_size * batch_size
        assert len(set(line)) == len(line)
        assert set(line) <= set(range(count))
        iterator.reset()


@pytest.mark.clause("NDArrayIter/roll-over")
@given(sizes)
def test_roll_over_loses_no_row_over_many_epochs(drawn):
    count, batch_size, shuffle = drawn
    iterator = make(count, batch_size, "roll_over", shuffle)
    line, epochs = [], 5
    for epoch in range(1, epochs + 1):
        for batch in iterator:
            assert len(rows(batch.data)) == batch_size
            line += rows(batch.data)
        assert len(line) == epoch * count // batch_size * batch_size
        iterator.reset()
    for epoch in range(epochs):
        delivered = line[epoch * count:(epoch + 1) * count]
        assert len(set(delivered)) == len(delivered)
        assert set(delivered) <= set(range(count))


class IteratorMachine(RuleBasedStateMachine):
    """The model keeps the rows of the epoch in a list and an offset; upstream counts with one cursor."""

    @initialize(drawn=sizes, handle=st.sampled_from(HANDLES), seed=st.integers(0, 99))
    def start(self, drawn, handle, seed):
        self.count, self.batch_size, self.shuffle = drawn
        self.handle = handle
        np.random.seed(seed)
        self.generator = np.random.RandomState(seed)
        self.positions = np.arange(self.count)
        self.order = list(range(self.count))
        self.iterator = make(self.count, self.batch_size, handle, self.shuffle)
        self._new_epoch([])

    def _new_epoch(self, left):
        if self.shuffle:
            self.generator.shuffle(self.positions)
            self.order = [self.order[position] for position in self.positions]
        self.left, self.at, self.kept = left, 0, []
        self.line = left + self.order

    @rule()
    def next_batch(self):
        chunk = self.line[self.at:self.at + self.batch_size]
        pad = max(0, len(self.left) - self.at)
        self.at += self.batch_size
        self.kept = []
        missing = self.batch_size - len(chunk)
        if not chunk or (missing and self.handle != "pad"):
            self.kept = chunk if self.handle == "roll_over" else []
            with pytest.raises(StopIteration):
                self.iterator.next()
            return
        if missing:
            chunk += (self.order * self.batch_size)[:missing]
            pad = missing
        batch = self.iterator.next()
        assert rows(batch.data) == chunk
        assert rows(batch.label) == [10 * row for row in chunk]
        assert batch.pad == pad
        assert batch.index is None

    @rule()
    def reset(self):
        self.iterator.reset()
        self._new_epoch(self.kept)

    @rule()
    def hard_reset(self):
        self.iterator.hard_reset()
        self._new_epoch([])

    @precondition(lambda self: self.at == 0)
    @rule()
    def finish_epoch(self):
        while self.at < len(self.line):
            self.next_batch()
        if not self.kept:
            self.next_batch()
        self.reset()


TestIteratorMachine = pytest.mark.clause("NDArrayIter/shuffle", "NDArrayIter/reset")(
    IteratorMachine.TestCase
)
