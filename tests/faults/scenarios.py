"""The acts of users on files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import refimpl as mx
from refimpl.files.atomic import write_atomically

from .scenario import Scenario


def _net():
    return mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")


def _save(folder: Path, value: float) -> None:
    arguments = {"fc_weight": mx.nd.array(np.full((2, 3), value)), "fc_bias": mx.nd.array([value, value])}
    mx.model.save_checkpoint(str(folder / "net"), 1, _net(), arguments, {})


def _load(folder: Path):
    net, arguments, states = mx.model.load_checkpoint(str(folder / "net"), 1)
    return net.tojson(), {name: value.asnumpy().tolist() for name, value in arguments.items()}, states


def _records(folder: Path) -> None:
    written = mx.recordio.MXIndexedRecordIO(str(folder / "a.idx"), str(folder / "a.rec"), "w")
    for key in range(5):
        written.write_idx(key, bytes([key]) * 100)
    written.close()


def _read_records(folder: Path):
    read = mx.recordio.MXIndexedRecordIO(str(folder / "a.idx"), str(folder / "a.rec"), "r")
    try:
        return [read.read_idx(key) for key in read.keys]
    finally:
        read.close()


SCENARIOS = {
    each.name: each
    for each in (
        Scenario(
            "write", ("Files/atomic",), lambda folder: write_atomically(folder / "a", b"old" * 50),
            lambda folder: write_atomically(folder / "a", b"new content" * 50), lambda folder: (folder / "a").read_bytes(),
        ),
        Scenario("checkpoint", ("Files/together", "Checkpoint/files"), lambda f: _save(f, 1), lambda f: _save(f, 2), _load),
        Scenario("load checkpoint", ("Checkpoint/files",), lambda f: _save(f, 1), _load, _load, changes=False),
        Scenario("read records", ("RecordIO/format",), _records, _read_records, _read_records, changes=False),
    )
}
