"""Messages and logs as bytes: everything comes back, and damage anywhere is cut off or refused by name."""

from __future__ import annotations

import errno
import itertools
import os
import random
import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import refimpl as mx
from refimpl.kvstore import messages as say
from refimpl.kvstore.machines import checksums, wire
from refimpl.kvstore.machines.write_ahead_log import Log
from refimpl.kvstore.plain import pack, unpack

FEW = settings(max_examples=min(settings.default.max_examples, 40))
KINDS = [checksums.CRC32, *([checksums.XXH3] if checksums.xxhash is not None else [])]

# --- every message --------------------------------------------------------------------------------

whole = st.integers(0, 2**40)
shapes = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
dense = arrays.arrays(st.sampled_from([np.float32, np.float16, np.float64, np.int64, np.uint8]), shapes)
ids = arrays.arrays(np.int64, st.integers(0, 4), elements=st.integers(0, 99))
rows = st.builds(say.Rows, ids, dense, shapes)
packed = st.builds(
    say.Packed, arrays.arrays(np.uint32, st.integers(0, 3)), st.floats(0.1, 9), shapes, st.just(np.dtype(np.float16))
)
part = st.builds(say.PartId, whole, st.integers(-9, 9) | st.text(), whole)
bodies = st.one_of(
    st.just(say.Join()), st.just(say.Leave()), st.builds(say.Open, whole, st.booleans()),
    st.builds(say.Init, part, shapes, dense | rows | st.none()), st.builds(say.Pull, part),
    st.builds(say.Push, part, dense | rows | packed, st.booleans()), st.builds(say.PullRows, part, ids),
    st.builds(say.Barrier, whole), st.builds(say.Command, whole, st.integers(-9, 9), st.text()),
    st.builds(say.Keep, st.text(), st.binary()), st.just(say.Recall()),
)
answers = st.one_of(
    st.builds(say.Done, st.text()), st.builds(say.Held, dense | rows, whole),
    st.builds(say.Refused, st.text(), st.text()), st.builds(say.Recalled, st.dictionaries(st.text(), st.binary())),
)
messages = st.lists(
    st.builds(say.Request, whole, whole, st.integers(-9, 9), whole, bodies)
    | st.builds(say.Reply, whole, whole, st.integers(-9, 9), answers)
)


def flat(value) -> object:
    """Something that can be compared, bits and types of arrays included."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if hasattr(value, "__dataclass_fields__"):
        return type(value).__name__, [flat(getattr(value, name)) for name in value.__dataclass_fields__]
    return type(value).__name__, value


def test_all_messages_are_drawn():
    drawn = {*say.Body.__args__, *say.Answer.__args__}
    assert {one.__name__ for one in (*wire._BODIES, *wire._ANSWERS)} == {one.__name__ for one in drawn}


@pytest.mark.clause("Cluster/wire")
@FEW
@given(messages, st.sampled_from(KINDS))
def test_every_message_comes_back(sent, kind):
    frame = b"".join(wire.encode(sent, kind))
    assert wire.size_of_frame(frame[: wire.PREFIX]) == len(frame)
    assert list(map(flat, wire.decode(frame))) == list(map(flat, sent))


@pytest.mark.clause("Cluster/wire", "Cluster/wire-valid")
@FEW
@given(messages, st.sampled_from(KINDS), st.lists(st.integers(0, 2000), max_size=6), st.integers(0))
def test_a_frame_may_come_in_pieces(sent, kind, cuts, at):
    frame = b"".join(wire.encode(sent, kind))
    edges = [0, *sorted(min(cut, len(frame)) for cut in cuts), len(frame)]
    pieces = [frame[begin:end] for begin, end in itertools.pairwise(edges)]
    assert list(map(flat, wire.decode(pieces))) == list(map(flat, sent))
    at %= len(frame)
    damaged = frame[:at] + bytes([frame[at] ^ 1]) + frame[at + 1 :]
    with pytest.raises(mx.MXNetError):
        wire.decode([damaged[begin:end] for begin, end in itertools.pairwise(edges)])


FRAME = b"".join(wire.encode([
    say.Request(1, 0, 7, 3, say.Push(say.PartId(0, "w"), np.arange(5, dtype=np.float32))),
    say.Reply(1, 0, 6, say.Done()),
], checksums.CRC32))


def refused(content: bytes) -> str:
    with pytest.raises(mx.MXNetError, match=r"^the frame is no frame of messages: byte \d+: ") as caught:
        wire.decode(content, "the frame")
    assert caught.value.clause in ("Cluster/wire-valid", "Cluster/checksum")
    return str(caught.value)


@pytest.mark.clause("Cluster/wire-valid")
def test_a_flipped_bit_anywhere_is_refused():
    for at in range(len(FRAME)):
        refused(FRAME[:at] + bytes([FRAME[at] ^ (1 << at % 8)]) + FRAME[at + 1 :])


@pytest.mark.clause("Cluster/wire-valid")
def test_a_torn_frame_is_refused_at_every_byte():
    for size in range(len(FRAME)):
        refused(FRAME[:size])
    refused(FRAME + b"\0")


@pytest.mark.clause("Cluster/wire-valid")
@pytest.mark.parametrize("body", [
    7, [7], [["Request", 0, 0, 0, 0]], [["Request", 0, 0, 0, 0, ["os.system", "true"]]], [["Done", ""]],
    [["Request", "0", 0, 0, 0, ["Join"]]], [["Request", True, 0, 0, 0, ["Join"]]],
    [["Request", 0, 0, 0, 0, ["PartId", 0, 1, 0]]],
    [["Request", 0, 0, 0, 0, ["Init", ["PartId", 0, 1, 0], (-1,), None]]],
    [["Request", 0, 0, 0, 0, ["Push", ["PartId", 0, 1, 0], None, False]]], [["Reply", 0, 0, 0, ["Recalled", {"a": 1}]]],
    [["Request", 0, 0, 0, 0, ["Push", ["PartId", 0, 1, 0], ["Packed", np.zeros(1), 0.5, (1,), "|O8"], False]]],
])
def test_what_is_no_message_is_refused(body):
    content = pack(body)
    value = checksums.checksum(checksums.CRC32, [content], ValueError)
    head = wire._HEAD.pack(wire.MAGIC, wire.VERSION, checksums.CRC32, 0, len(content), value)
    refused(head.ljust(wire.PREFIX, b"\0") + content)


@pytest.mark.clause("Cluster/wire-valid", "Cluster/plain")
def test_a_size_that_is_made_up_takes_no_memory():
    huge = FRAME[:8] + (2**62).to_bytes(8, "little") + FRAME[16:]
    table = pack(np.zeros(20, np.float32))
    tracemalloc.start()
    try:
        refused(huge)
        with pytest.raises(mx.MXNetError, match="more than"):
            wire.size_of_frame(huge[: wire.PREFIX])
        for spoilt in (table.replace(b"[20]", b"[%d]" % 2**50), table[:4] + (2**62).to_bytes(8, "little") + table[12:]):
            with pytest.raises(mx.MXNetError, match="is damaged"):
                unpack(spoilt)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.clause("Cluster/checksum")
def test_an_unknown_checksum_is_named(monkeypatch):
    assert "there is no checksum 9" in refused(FRAME[:5] + b"\x09" + FRAME[6:])
    monkeypatch.setattr(checksums, "xxhash", None)
    assert "pip install xxhash" in refused(FRAME[:5] + bytes([checksums.XXH3]) + FRAME[6:])
    with pytest.raises(mx.MXNetError, match="messages cannot be written: there is no checksum 9"):
        wire.encode([], 9)


@pytest.mark.clause("Cluster/checksum")
def test_checksums_are_the_known_ones():
    # CRC-32's check value; XXH3 of "abc" by xxhash 3.x: xxhash.xxh3_64(b"abc").hexdigest()
    values = {kind: checksums.checksum(kind, [b"123456789"], ValueError) for kind in KINDS}
    assert values[checksums.CRC32] == 0xCBF43926
    if checksums.XXH3 in KINDS:
        assert checksums.checksum(checksums.XXH3, [b"a", memoryview(b"bc")], ValueError) == 0x78AF5F94892F3950
    assert KINDS[-1] == checksums.FASTEST


# --- the log --------------------------------------------------------------------------------------


def contents(log: Log) -> list[bytes]:
    return list(log.records())


@pytest.mark.clause("Cluster/log", "Cluster/snapshot")
@pytest.mark.parametrize("durable", [False, True])
def test_a_log_gives_back_what_was_written_since_the_snapshot(tmp_path, durable):
    for seed in range(1 if durable else 6):
        drawn, folder = random.Random(seed), tmp_path / str(seed)
        log, since, snapshot = Log(folder, segment=300, durable=durable), [], (0, None)
        for number in range(40):
            action = drawn.random()
            if action < 0.7:
                pieces = [drawn.randbytes(drawn.choice([0, 1, 64, 200])) for _ in range(drawn.randint(0, 3))]
                assert log.append(pieces) == snapshot[0] + len(since)
                since.append(b"".join(pieces))
            elif action < 0.8:
                log.keep(b"state %d" % number)
                since, snapshot = [], (log.position, b"state %d" % number)
            else:
                log.close()
                log = Log(folder, segment=300, durable=durable)
            assert contents(log) == since, f"seed {seed}, {number}"
            assert log.snapshot() == snapshot
            assert log.position == snapshot[0] + len(since)
        assert len(list(folder.glob("*.log"))) < 30, "segments are used again"
        log.close()


def written(folder, recycled: bool) -> tuple[list[bytes], str]:
    """A log of three records in one segment; what they hold, and the segment."""
    log = Log(folder)
    if recycled:
        for number in range(6):
            log.append([b"old %d" % number * 20])
        log.keep(b"state")
    made = [b"first" * 30, b"", b"third" * 9]
    for content in made:
        log.append([content])
    log.close()
    return made, max(folder.glob("*.log"))


EACH = [13, pytest.param(1, marks=pytest.mark.heavy)]
"""Every so many bytes."""


@pytest.mark.clause("Cluster/log-torn")
@pytest.mark.parametrize("each", EACH)
@pytest.mark.parametrize("recycled", [False, True])
def test_a_torn_record_is_cut_off_at_every_byte(tmp_path, recycled, each):
    made, path = written(tmp_path, recycled)
    content = path.read_bytes()
    ends, at = [], 0
    for one in made:
        at += -(-(64 + len(one)) // 64) * 64
        ends.append(at)
    for size in range(0, ends[-1] + 1, each):
        path.write_bytes(content[:size])
        log = Log(tmp_path)
        there = sum(size >= end - (-(64 + len(one)) % 64) for end, one in zip(ends, made, strict=True))
        assert contents(log) == made[:there], size
        log.append([b"again"])
        log.close()
        log = Log(tmp_path)
        assert contents(log) == [*made[:there], b"again"], size
        log.close()


@pytest.mark.clause("Cluster/log-damaged")
@pytest.mark.parametrize("each", EACH)
@pytest.mark.parametrize("recycled", [False, True])
def test_a_flipped_bit_is_cut_off_with_the_last_record_or_refused_by_name(tmp_path, recycled, each):
    made, path = written(tmp_path, recycled)
    content = path.read_bytes()
    refusals = 0
    for at in range(0, len(content), each):
        path.write_bytes(content[:at] + bytes([content[at] ^ (1 << at % 8)]) + content[at + 1 :])
        try:
            log = Log(tmp_path)
        except mx.MXNetError as error:
            assert error.clause == "Cluster/log-damaged"
            assert re.match(re.escape(str(path)) + r" is damaged: byte \d+: record \d+ is not whole", str(error))
            refusals += 1
            continue
        assert contents(log) in (made, made[:-1]), at
        log.close()
    assert refusals > 200 // each


@pytest.mark.clause("Cluster/log-damaged")
def test_a_damaged_snapshot_and_a_missing_segment_are_refused(tmp_path):
    log = Log(tmp_path, segment=64)
    for _ in range(3):
        log.append([b"x"])
    log.close()
    middle = sorted(tmp_path.glob("*.log"))[1]
    content = middle.read_bytes()
    middle.unlink()
    with pytest.raises(mx.MXNetError, match=r"0\.log is damaged: byte 128: record 1 is not whole, and later"):
        Log(tmp_path)
    middle.write_bytes(content)
    log = Log(tmp_path)
    log.keep(b"state")
    log.close()
    path = tmp_path / "snapshot"
    whole = path.read_bytes()
    for at in range(64 + 5):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(mx.MXNetError, match=r"snapshot (is damaged|cannot be read): byte 0"):
            Log(tmp_path)


@pytest.mark.clause("Cluster/log", "Cluster/log-torn")
def test_records_that_are_written_together_come_back_up_to_where_the_writing_ended(tmp_path):
    made = [[b"a" * 70, b"b"], [], [b"c" * 128]]
    log = Log(tmp_path)
    log.extend(made)
    assert log.append([b"d"]) == 3
    log.close()
    (path,) = tmp_path.glob("*.log")
    content = path.read_bytes()
    for size, there in ((192, 1), (255, 1), (256, 2), (447, 2), (448, 3), (512, 3), (513 + 64, 4)):
        path.write_bytes(content[:size])  # the records end at 192, 256, 448 and 576
        log = Log(tmp_path)
        assert contents(log) == [b"a" * 70 + b"b", b"", b"c" * 128, b"d"][:there], size
        log.close()


@pytest.mark.clause("Cluster/log", "Cluster/log-damaged")
@pytest.mark.parametrize("durable", [False, True])
def test_records_for_which_there_is_no_space_leave_nothing_behind(tmp_path, durable, monkeypatch):
    log, before, calls = Log(tmp_path, durable=durable), os.pwritev, []
    log.append([b"first"])

    def full(file, views, at):
        """The disk takes the first record and all but the end of the others."""
        calls.append(at)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return before(file, [b"".join(views)[:500]], at)

    monkeypatch.setattr(os, "pwritev", full)
    with pytest.raises(OSError, match="No space left"):
        log.extend([[b"second"], [b"third"], [b"fourth" * 99]])
    monkeypatch.undo()
    assert log.position == 1
    assert contents(Log(tmp_path)) == [b"first"]
    assert log.append([b"again"]) == 1
    log.close()
    assert contents(Log(tmp_path)) == [b"first", b"again"]


@pytest.mark.clause("Cluster/snapshot")
@pytest.mark.parametrize("step", ["pwritev", "ftruncate", "unlink", "link", "replace", "replace 2"])
def test_a_process_that_ends_while_it_writes_a_snapshot_leaves_the_old_one_or_the_new(tmp_path, step, monkeypatch):
    class Killed(BaseException):
        pass

    log, name, calls = Log(tmp_path), step.partition(" ")[0], []
    for number in range(3):
        log.append([b"%d" % number])
        log.keep(b"state %d" % number)
    log.append([b"3"])
    owner = type(tmp_path) if name in ("unlink", "replace") else os
    before = getattr(owner, name)

    def kills(*arguments, **named):
        calls.append(arguments)
        if len(calls) == int(step[-1] if " " in step else 1):
            raise Killed
        return before(*arguments, **named)

    monkeypatch.setattr(owner, name, kills)
    with pytest.raises(Killed):
        log.keep(b"a longer state")
    monkeypatch.undo()
    again = Log(tmp_path)
    assert (again.snapshot(), contents(again)) == (
        ((4, b"a longer state"), []) if step == "replace 2" else ((3, b"state 2"), [b"3"])
    )
    for number in range(4, 7):
        again.keep(b"state %d" % number)
        assert Log(tmp_path).snapshot() == (again.position, b"state %d" % number)


def test_snapshots_take_turns_in_two_files(tmp_path):
    log, files = Log(tmp_path), set()
    for number in range(6):
        log.append([b"x"])
        log.keep(b"state" * (9 - number))
        files.add((tmp_path / "snapshot").stat().st_ino)
    assert len(files) == 2
    assert log.snapshot() == (6, b"state" * 4)
