"""Damage to files of every format: each is read, or refused with MXNetError, soon and in little memory.

    python -m pytest tests/stateful/test_damaged_files.py             600 files
    python -m pytest -m long tests/stateful/test_damaged_files.py     24,000 files
"""

from __future__ import annotations

import contextlib
import gc
import pickle
import struct
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refimpl as mx
from refimpl.optimizer import states
from refimpl.recordio import MXIndexedRecordIO, MXRecordIO, unpack
from refimpl.symbol import json_format
from refimpl.util import np_shape
from tests.unit.hostile import within_bounds

FIXTURES = Path(__file__).parents[1] / "fixtures"
MEMORY_PER_BYTE = 60
LIMITS = [0, 1, 0x7F, 0x80, 0xFF, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1]
WORDS = [
    b"NaN", b"-1", b"1e999", b"999999999999", b"null", b"true", b"[", b"{", b'"', b"\\", b"\\u0000", b"\xff", b"((((",
    b"99999999999999999999", b"[[[[[[[[", b"9" * 5000, b"\0", b'"num_outputs": "999999999"', b"__shape__",
]


def read_records(content: bytes, folder: Path) -> None:
    (folder / "x.rec").write_bytes(content)
    reader = MXRecordIO(folder / "x.rec", "r")
    try:
        while (record := reader.read()) is not None:
            with contextlib.suppress(mx.MXNetError):  # these records have no header
                unpack(record)
    finally:
        reader.close()


def read_index(content: bytes, folder: Path) -> None:
    (folder / "x.idx").write_bytes(content)
    reader = MXIndexedRecordIO(folder / "x.idx", FIXTURES / "mxnet-records.rec", "r")
    try:
        for key in reader.keys:
            reader.read_idx(key)
    finally:
        reader.close()


def read_symbol(content: bytes, folder: Path) -> None:
    (folder / "x-symbol.json").write_bytes(content)
    json_format.to_json(mx.sym.load(str(folder / "x-symbol.json")).entries)


SGD = mx.optimizer.SGD(
    momentum=0.5, learning_rate=0.25, lr_scheduler=mx.lr_scheduler.FactorScheduler(3, 0.5, base_lr=0.25),
    param_idx2name={0: "a_weight"},
)
COMMANDS = {"ours": states.dumps_optimizer(SGD), **{f"protocol {p}": pickle.dumps(SGD, p) for p in (0, 2, 4)}}


def whole(name: str) -> bytes:
    """An undamaged file."""
    return COMMANDS[name] if name in COMMANDS else (FIXTURES / name).read_bytes()


FORMATS: dict[str, tuple[tuple[str, ...], Callable[[bytes, Path], object]]] = {
    "params": (
        ("mxnet-0003.params", "mxnet-kinds.params", "mxnet-np-shape.params"),
        lambda content, folder: mx.nd.load_frombuffer(content, "x"),
    ),
    "symbol": (("mxnet-symbol.json", "symbol-0.8.json", "symbol-0.9.3.json", "symbol-1.5.json"), read_symbol),
    "states": (("mxnet-0003.states", "mxnet-sparse.states"), lambda content, folder: states.loads(content, "x")),
    "command": (tuple(COMMANDS), lambda content, folder: states.loads_optimizer(content, "x")),
    "records": (("mxnet-records.rec",), read_records),
    "index": (("mxnet-records.idx",), read_index),
}


@st.composite
def damaged(draw: st.DrawFn, names: tuple[str, ...]) -> bytes:
    """A valid file after one to three accidents."""
    files = [whole(name) for name in names]
    content = bytearray(draw(st.sampled_from(files)))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(content)))
        accident = draw(st.sampled_from(["flip", "cut", "splice", "grow", "word", "repeat", "digits"]))
        if accident == "flip" and at < len(content):
            content[at] ^= 1 << draw(st.integers(0, 7))
        elif accident == "cut":
            del content[at : at + draw(st.integers(1, 64) | st.just(len(content)))]
        elif accident == "splice":
            other = draw(st.sampled_from(files))
            content[at:] = other[draw(st.integers(0, len(other))) :]
        elif accident == "grow":
            width = draw(st.sampled_from(["<B", "<I", "<Q"]))
            number = draw(st.sampled_from(LIMITS)) & (1 << 8 * struct.calcsize(width)) - 1
            content[at : at + struct.calcsize(width)] = struct.pack(width, number)
        elif accident == "word":
            content[at:at] = draw(st.sampled_from(WORDS))
        elif accident == "repeat":
            content[at:at] = bytes(content[at : at + 40]) * draw(st.integers(1, 20))
        elif accident == "digits":
            places = [i for i, byte in enumerate(content) if 0x30 <= byte <= 0x39]
            if places:
                content[draw(st.sampled_from(places))] = draw(st.sampled_from(b"0123456789-.e"))
    return bytes(content)


def check(read: Callable[[bytes, Path], object], content: bytes, folder: Path) -> None:
    """Read ``content`` within the limits; the only error is MXNetError, with a clause and the file's name."""
    with within_bounds(content, MEMORY_PER_BYTE), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read(content, folder)
        except mx.MXNetError as error:
            assert error.clause
            assert len(str(error)) < 2000 + len(str(folder)), "a long message"


def run(name: str, folder: Path, count: int) -> None:
    sources, read = FORMATS[name]
    for source in sources:  # whatever is imported or compiled on first use comes before the clock
        with_np_shape = source == "mxnet-np-shape.params"
        with np_shape(with_np_shape):
            read(whole(source), folder)
    mx.num_gpus()  # a damaged file may say that its arrays were on one

    @settings(max_examples=count)
    @given(content=damaged(sources))
    def examine(content: bytes) -> None:
        check(read, content, folder)

    gc.collect()
    examine()


@pytest.mark.clause("params-file/valid", "symbol-file/valid", "States/valid", "RecordIO/valid", "RecordIO/index")
@pytest.mark.clause("Command/optimizer")
@pytest.mark.parametrize("name", FORMATS)
def test_a_damaged_file_is_read_or_refused(name: str, tmp_path: Path) -> None:
    run(name, tmp_path, 100)


@pytest.mark.long
@pytest.mark.parametrize("name", FORMATS)
def test_many_damaged_files(name: str, tmp_path: Path) -> None:
    run(name, tmp_path, 4000)
