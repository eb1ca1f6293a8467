"""The iterators over files against a model: a counter that goes round and round."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from refimpl.base import MXNetError
from refimpl.io import CSVIter, LibSVMIter


def csv(folder, count, batch_size, *, round_batch):
    path = Path(folder) / "rows.csv"
    path.write_text("".join(f"{row}\n" for row in range(count)))
    return CSVIter(data_csv=path, data_shape=(1,), label_csv=path, batch_size=batch_size, round_batch=round_batch)


def libsvm(folder, count, batch_size, *, round_batch):
    del round_batch  # always
    path = Path(folder) / "rows.svm"
    path.write_text("".join(f"{row} 0:{row}\n" for row in range(count)))
    return LibSVMIter(data_libsvm=path, data_shape=(1,), batch_size=batch_size)


class Rounds(RuleBasedStateMachine):
    """Row i holds i; ``position`` counts all rows that were ever delivered in full rounds."""

    make = staticmethod(csv)
    may_stop = True

    @initialize(count=st.integers(1, 7), batch_size=st.integers(1, 9), round_batch=st.booleans())
    def begin(self, count, batch_size, round_batch):
        self.count, self.batch_size = count, batch_size
        self.rounds = round_batch or not self.may_stop
        self.folder = tempfile.TemporaryDirectory()
        self.iterator = self.make(self.folder.name, count, batch_size, round_batch=round_batch)
        self.at, self.over, self.current = 0, False, None
        self.before = [0] * batch_size

    def teardown(self):
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def expected(self):
        """The rows of the next batch and its pad, or None at the end of the epoch."""
        if self.over or self.at >= self.count:
            return None
        rows = list(range(self.at, min(self.at + self.batch_size, self.count)))
        pad = self.batch_size - len(rows)
        if self.rounds:
            rows += [row % self.count for row in range(pad)]
        else:
            rows += self.before[len(rows):]
        return rows, pad

    @rule()
    def step(self):
        expected = self.expected()
        if expected is None:
            with pytest.raises(StopIteration):
                next(self.iterator)
            self.over, self.current = True, None
            return
        batch = next(self.iterator)
        rows, pad = self.before, _ = expected
        assert batch.data[0].asnumpy().ravel().tolist() == rows
        assert batch.label[0].asnumpy().tolist() == rows
        assert (batch.index.tolist(), batch.pad) == (rows, pad)
        self.current = rows
        self.at += self.batch_size

    @rule()
    def reset(self):
        """What the last batch has taken from the next round is not delivered again."""
        taken = self.at - self.count if self.rounds else 0
        self.at = taken % self.count if taken > 0 else 0
        self.over, self.current = False, None
        self.before = [0] * self.batch_size
        self.iterator.reset()

    @rule()
    def look(self):
        if self.current is None:
            with pytest.raises(MXNetError):
                self.iterator.getdata()
        else:
            assert self.iterator.getdata().asnumpy().ravel().tolist() == self.current


class SparseRounds(Rounds):
    """The same with csr batches, which are always full."""

    make = staticmethod(libsvm)
    may_stop = False


FEW = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestCSVIter = pytest.mark.clause(
    "MXDataIter/round-batch", "MXDataIter/no-round-batch", "MXDataIter/reset"
)(Rounds.TestCase)
TestCSVIter.settings = FEW
TestLibSVMIter = pytest.mark.clause("MXDataIter/round-batch")(SparseRounds.TestCase)
TestLibSVMIter.settings = FEW
