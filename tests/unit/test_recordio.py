"""RecordIO: bytes that MXNet 1.9.1 wrote, round trips, indexes, processes and damage.

mxnet-records.rec and .idx hold RECORDS under the keys 0, 10, 20 ... (tests/fixtures/make_formats.py).
"""

from __future__ import annotations

import errno
import io
import multiprocessing
import os
import pickle
import signal
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import refimpl as mx
from refimpl import recordio
from refimpl.recordio import MXIndexedRecordIO, MXRecordIO

FIXTURES = Path(__file__).parents[1] / "fixtures"
REC, IDX = str(FIXTURES / "mxnet-records.rec"), str(FIXTURES / "mxnet-records.idx")
MARK = b"\x0a\x23\xd7\xce"
RECORDS = [
    b"", b"a", b"abcd", MARK, MARK + MARK, b"abcd" + MARK + b"ef", b"ab" + MARK + b"c",
    b"abcd" + MARK + MARK + b"qwww" + MARK,
]


def every(reader: MXRecordIO) -> list[bytes]:
    found = []
    while (record := reader.read()) is not None:
        found.append(record)
    return found


# --- the format -----------------------------------------------------------------------------------


@pytest.mark.clause("RecordIO/layout", "RecordIO/index-file")
def test_the_bytes_are_those_of_mxnet(tmp_path: Path) -> None:
    reader = MXIndexedRecordIO(IDX, REC, "r")
    assert every(reader) == RECORDS
    assert reader.keys == [0, 10, 20, 30, 40, 50, 60, 70]
    assert reader.read_idx(50) == RECORDS[5]
    assert (reader.read(), reader.read_idx(0)) == (RECORDS[6], b"")
    writer = MXIndexedRecordIO(tmp_path / "x.idx", tmp_path / "x.rec", "w")
    for number, record in enumerate(RECORDS):
        writer.write_idx(number * 10, record)
    assert writer.tell() == Path(REC).stat().st_size
    assert writer.idx == reader.idx
    assert (tmp_path / "x.rec").read_bytes() == Path(REC).read_bytes()
    assert (tmp_path / "x.idx").read_bytes() == Path(IDX).read_bytes()


@pytest.mark.clause("RecordIO/layout")
def test_a_record_by_hand(tmp_path: Path) -> None:
    writer = MXRecordIO(tmp_path / "x.rec", "w")
    writer.write(b"abcd" + MARK + b"z")
    writer.close()
    assert (tmp_path / "x.rec").read_bytes().hex(" ", 4) == (
        "0a23d7ce 04000020 61626364 0a23d7ce 01000060 7a000000"
    )


pieces = st.lists(st.sampled_from([b"", b"a", b"ab", b"\0", MARK, MARK[:3], MARK[1:], b"wxyz"]), max_size=12)


@pytest.mark.clause("RecordIO/layout")
@settings(max_examples=100)
@given(records=st.lists(pieces.map(b"".join) | st.binary(max_size=20), max_size=5))
def test_round_trip(records: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("rec") / "x.rec"
    writer = MXRecordIO(path, "w")
    for record in records:
        writer.write(record)
    writer.close()
    reader = MXRecordIO(path, "r")
    assert every(reader) == records
    assert reader.read() is None
    reader.reset()
    assert every(reader) == records
    content = path.read_bytes()
    assert len(content) % 4 == 0
    heads = [i for i in range(0, len(content), 4) if content[i : i + 4] == MARK]
    lengths = [struct.unpack_from("<I", content, i + 4)[0] & (1 << 29) - 1 for i in heads]
    ends = [i + 8 + n + -n % 4 for i, n in zip(heads, lengths, strict=True)]
    assert heads == [0, *ends][:-1]  # the mark begins parts, and nothing else


@pytest.mark.clause("RecordIO/bytes")
def test_what_is_a_record(tmp_path: Path) -> None:
    writer = MXRecordIO(tmp_path / "x.rec", "w")
    writer.write(bytearray(b"ab"))
    writer.write(memoryview(b"cd"))
    for other in ("text", None, 3, np.zeros(3, np.uint8)):
        with pytest.raises(TypeError):
            writer.write(other)
    assert every(MXRecordIO(tmp_path / "x.rec", "r")) == [b"ab", b"cd"]


@pytest.mark.clause("RecordIO/length")
def test_a_record_is_shorter_than_2_to_29(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = MXRecordIO(tmp_path / "x.rec", "w")
    monkeypatch.setattr(recordio.recordio, "_LONGEST", 8)
    writer.write(b"1234567")
    with pytest.raises(mx.MXNetError, match="less than"):
        writer.write(b"12345678")


# --- opening, modes -------------------------------------------------------------------------------


@pytest.mark.clause("RecordIO/flag")
@pytest.mark.parametrize("flag", ["x", "rb", "a", None])
def test_flags(flag) -> None:
    with pytest.raises(ValueError, match="flag is"):
        MXRecordIO(REC, flag)


@pytest.mark.clause("RecordIO/openable")
def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    for path, flag in ((tmp_path / "no.rec", "r"), (tmp_path / "no" / "x.rec", "w"), (tmp_path, "r")):
        with pytest.raises(mx.MXNetError, match=path.name):
            MXRecordIO(path, flag)


@pytest.mark.clause("RecordIO/index-openable")
def test_a_missing_index_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no\.idx"):
        MXIndexedRecordIO(tmp_path / "no.idx", REC, "r")
    with pytest.raises(mx.MXNetError):
        MXIndexedRecordIO(tmp_path, REC, "r")


@pytest.mark.clause("RecordIO/mode")
def test_readers_do_not_write_and_writers_do_not_read(tmp_path: Path) -> None:
    reader, writer = MXIndexedRecordIO(IDX, REC, "r"), MXIndexedRecordIO(tmp_path / "i", tmp_path / "r", "w")
    for wrong in (
        lambda: reader.write(b""), lambda: reader.write_idx(1, b""), reader.tell, writer.read,
        lambda: writer.read_idx(0), lambda: writer.seek(0),
    ):
        with pytest.raises(AssertionError, match="needs a file opened with flag"):
            wrong()


@pytest.mark.clause("RecordIO/reset")
def test_reset_reads_from_the_start_and_empties_what_is_written(tmp_path: Path) -> None:
    reader = MXRecordIO(REC, "r")
    reader.read()
    reader.reset()
    assert every(reader) == RECORDS
    reader.close()
    reader.close()
    assert not reader.is_open
    writer = MXIndexedRecordIO(tmp_path / "i", tmp_path / "r", "w")
    writer.write_idx(1, b"a")
    writer.reset()
    writer.write_idx(2, b"b")
    assert (writer.keys, (tmp_path / "i").read_text()) == ([2], "2\t0\n")
    assert every(MXRecordIO(tmp_path / "r", "r")) == [b"b"]


@pytest.mark.clause("RecordIO/index-file")
def test_keys(tmp_path: Path) -> None:
    writer = MXIndexedRecordIO(tmp_path / "i", tmp_path / "r", "w", str)
    for key, record in (("b", b"1"), ("a", b"2"), ("b", b"3")):
        writer.write_idx(key, record)
    assert writer.keys == ["b", "a", "b"]
    reader = MXIndexedRecordIO(tmp_path / "i", tmp_path / "r", "r", key_type=str)
    assert (reader.read_idx("b"), reader.read_idx("a")) == (b"3", b"2")
    with pytest.raises(mx.MXNetError, match="byte 0") as caught:
        MXIndexedRecordIO(tmp_path / "i", tmp_path / "r", "r")
    assert caught.value.clause == "RecordIO/index"


@pytest.mark.clause("RecordIO/key")
def test_a_key_that_is_not_there() -> None:
    with pytest.raises(KeyError):
        MXIndexedRecordIO(IDX, REC, "r").read_idx(7)


@pytest.mark.clause("RecordIO/key-text")
@pytest.mark.parametrize("key", ["a\tb", "a\n", "\r"])
def test_a_key_fits_on_its_line(key: str, tmp_path: Path) -> None:
    writer = MXIndexedRecordIO(tmp_path / "i", tmp_path / "r", "w", str)
    with pytest.raises(ValueError, match="tab or a line break"):
        writer.write_idx(key, b"")
    assert (tmp_path / "r").read_bytes() == b""


# --- processes ------------------------------------------------------------------------------------


@pytest.mark.clause("RecordIO/pickle")
def test_a_copy_of_a_reader_begins_anew_and_the_reader_goes_on(tmp_path: Path) -> None:
    reader = MXIndexedRecordIO(IDX, REC, "r")
    reader.read(), reader.read()
    copy = pickle.loads(pickle.dumps(reader))
    assert every(copy) == RECORDS
    assert copy.read_idx(20) == b"abcd"
    assert reader.read() == b"abcd"
    writer = MXRecordIO(tmp_path / "r", "w")
    writer.write(b"kept")
    with pytest.raises(TypeError, match="close it first"):
        pickle.dumps(writer)
    writer.close()
    assert not pickle.loads(pickle.dumps(writer)).is_open
    assert every(MXRecordIO(tmp_path / "r", "r")) == [b"kept"]


def _in_child(reader: MXIndexedRecordIO, answers) -> None:
    try:
        reader.read()
    except RuntimeError as error:
        answers.put(str(error))
    answers.put(reader.read_idx(20))
    answers.put(reader.read())


@pytest.mark.clause("RecordIO/process")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_opens_the_file_anew_when_it_seeks() -> None:
    reader = MXIndexedRecordIO(IDX, REC, "r")
    reader.read()
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_in_child, args=(reader, answers))
    child.start()
    assert "opened by another process" in answers.get(timeout=30)
    assert [answers.get(timeout=30) for _ in range(2)] == [b"abcd", MARK]
    child.join()
    assert reader.read() == b"a"


@pytest.mark.clause("RecordIO/process")
def test_a_closed_file_is_not_read_or_written(tmp_path: Path) -> None:
    for file, use in (
        (MXRecordIO(REC, "r"), lambda f: f.read()), (MXRecordIO(tmp_path / "r", "w"), lambda f: f.write(b"")),
        (MXIndexedRecordIO(IDX, REC, "r"), lambda f: f.read_idx(0)),
    ):
        file.close()
        with pytest.raises(RuntimeError, match="is closed"):
            use(file)


@pytest.mark.clause("RecordIO/killed")
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill")
def test_a_killed_program_leaves_every_record_that_it_wrote(tmp_path: Path) -> None:
    script = (
        "import os, signal\nfrom refimpl.recordio import MXIndexedRecordIO\n"
        "writer = MXIndexedRecordIO('x.idx', 'x.rec', 'w')\n"
        "for i in range(3): writer.write_idx(i, b'record %d' % i)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(mx.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    reader = MXIndexedRecordIO(tmp_path / "x.idx", tmp_path / "x.rec", "r")
    assert reader.keys == [0, 1, 2]
    assert every(reader) == [b"record 0", b"record 1", b"record 2"]


# --- damage ---------------------------------------------------------------------------------------


def head(kind: int, length: int) -> bytes:
    return MARK + struct.pack("<I", kind << 29 | length)


@pytest.mark.clause("RecordIO/valid", "Files/foreign")
@pytest.mark.parametrize(
    ("content", "match"),
    [
        (bytes(8), "byte 0: 0x00000000 is not the mark"),
        (MARK, "byte 0: the file ends 4 bytes short"),
        (head(0, 100) + b"abc", "byte 0: needs 100 bytes after its head, the file has 3"),
        (head(0, 3) + b"abc", "byte 0: needs 4 bytes after its head, the file has 3"),
        (head(0, (1 << 29) - 1), "byte 0: needs 536870912 bytes"),
        (head(2, 4) + b"abcd", "byte 0: part 2"), (head(3, 4) + b"abcd", "byte 0: part 3"),
        (head(5, 4) + b"abcd", "byte 0: part 5"),
        (head(1, 4) + b"abcd", "byte 12: the file ends 8 bytes short"),
        (head(1, 4) + b"abcd" + head(0, 0), "byte 12: part 0"),
        (b"<!DOCTYPE html>", "byte 0: it is an HTML page"), (b"version https://git-lfs.github.com/spec/v1", "LFS"),
    ],
)
def test_damage_is_refused_with_its_place(content: bytes, match: str, tmp_path: Path) -> None:
    (tmp_path / "x.rec").write_bytes(content)
    with pytest.raises(mx.MXNetError, match=rf"x\.rec, .*{match}") as caught:
        every(MXRecordIO(tmp_path / "x.rec", "r"))
    assert caught.value.clause == "RecordIO/valid"


@pytest.mark.clause("RecordIO/valid")
def test_what_stands_before_the_damage_is_read(tmp_path: Path) -> None:
    content = head(0, 4) + b"abcd" + head(0, 4) + b"ab"
    (tmp_path / "x.rec").write_bytes(content)
    reader = MXRecordIO(tmp_path / "x.rec", "r")
    assert reader.read() == b"abcd"
    with pytest.raises(mx.MXNetError, match="byte 12"):
        reader.read()


@pytest.mark.clause("RecordIO/index")
@pytest.mark.parametrize(
    ("content", "match"),
    [(b"0\t0\nbroken\n", "byte 4"), (b"0\t0\n\n", "byte 4"), (b"a\t0\n", "byte 0"), (b"0\tx\n", "byte 0"),
     (b"\xff\t0\n", "byte 0"), (b"0\t" + b"9" * 5000, "begins at byte"), (b"0\t-1", "begins at byte -1"),
     (b"0\t9999", "begins at byte 9999"), (b"<html>", "HTML page")],
)
def test_a_damaged_index_is_refused(content: bytes, match: str, tmp_path: Path) -> None:
    (tmp_path / "x.idx").write_bytes(content)
    with pytest.raises(mx.MXNetError, match=rf"x\.idx.*{match}") as caught:
        MXIndexedRecordIO(tmp_path / "x.idx", REC, "r").read_idx(0)
    assert caught.value.clause == "RecordIO/index"


def test_cv2_is_none_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    monkeypatch.delitem(vars(recordio), "cv2", raising=False)
    assert recordio.cv2 is None
    monkeypatch.delitem(vars(recordio), "cv2")
    with pytest.raises(AttributeError):
        recordio.cv3  # noqa: B018


class FullDisk:
    """A file on a disk with space for so many bytes more; a longer write is cut short, as by a system."""

    def __init__(self, file: io.FileIO, space: int) -> None:
        self._file, self.space = file, space

    def write(self, content: memoryview) -> int:
        if not self.space:
            raise OSError(errno.ENOSPC, "No space left on device")
        count = self._file.write(content[: self.space])
        self.space -= count
        return count

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)


@pytest.mark.clause("RecordIO/disk-full")
@pytest.mark.parametrize("which", ["handle", "fidx"])
@pytest.mark.parametrize("space", [0, 1, 3, 9, 13])
def test_a_write_that_the_disk_refuses_leaves_whole_records(which: str, space: int, tmp_path: Path) -> None:
    names = tmp_path / "a.idx", tmp_path / "a.rec"
    writer = recordio.MXIndexedRecordIO(*names, "w")
    writer.write_idx(1, b"first")
    file = getattr(writer, which)
    setattr(writer, which, FullDisk(file, min(space, 3) if which == "fidx" else space))
    with pytest.raises(mx.MXNetError, match=r"cannot write .*No space left on device"):
        writer.write_idx(2, b"no space for this")
    setattr(writer, which, file)
    writer.write_idx(3, b"third")
    writer.close()
    reader = recordio.MXIndexedRecordIO(*names, "r")
    assert [reader.read(), reader.read(), reader.read()] == [b"first", b"third", None]
    assert reader.keys == [1, 3]
    assert [reader.read_idx(key) for key in (1, 3)] == [b"first", b"third"]


@pytest.mark.clause("RecordIO/disk-full")
def test_a_file_without_an_index_that_the_disk_refuses_goes_on_whole(tmp_path: Path) -> None:
    writer = recordio.MXRecordIO(tmp_path / "a.rec", "w")
    writer.write(b"first")
    file, writer.handle = writer.handle, FullDisk(writer.handle, 10)
    with pytest.raises(mx.MXNetError, match="No space left"):
        writer.write(b"no space")
    writer.handle = file
    writer.write(b"third")
    writer.close()
    reader = recordio.MXRecordIO(tmp_path / "a.rec", "r")
    assert [reader.read(), reader.read(), reader.read()] == [b"first", b"third", None]
