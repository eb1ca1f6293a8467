"""Pickles composed at random of every operation: the readers of optimizers do nothing but build data, and end soon.

    python -m pytest tests/unit/test_hostile_programs.py             600 programs
    python -m pytest -m long tests/unit/test_hostile_programs.py     20,000 programs
"""

from __future__ import annotations

import pickle
import pickletools
import struct
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import refimpl as mx
from refimpl.optimizer import SGD, states

from .hostile import READERS, is_inert, nothing_happens, within_bounds

HERE = "tests.unit.hostile"
TRAPS = ["spring", "OnType", "OnNew", "OnInit", "OnState", "OnSlot", "OnUse", "OnEnd"]
FORBIDDEN = [
    *((HERE, name) for name in TRAPS), ("os", "mkdir"), ("builtins", "eval"), ("builtins", "getattr"), ("this", "d"),
]
ALLOWED = [
    ("mxnet.optimizer.optimizer", "SGD"), ("mxnet.optimizer", "Adam"), ("mxnet.lr_scheduler", "FactorScheduler"),
    ("mxnet.ndarray.ndarray", "NDArray"), ("mxnet.ndarray.sparse", "CSRNDArray"), ("collections", "OrderedDict"),
    ("builtins", "bytearray"), ("_codecs", "encode"), ("copyreg", "_reconstructor"), ("builtins", "object"),
    ("numpy", "dtype"), ("numpy.core.multiarray", "scalar"),
]
WORDS = [
    "handle", "lr", "momentum", "lr_scheduler", "_index_update_count", "update", "__class__", "latin-1", "f4", "<",
    "spring",
]
RECORD = states.dumps({0: mx.nd.ones(1)}).rpartition(b"\x8e")[2][8:-4]
names = st.sampled_from(ALLOWED * 4 + FORBIDDEN)
words = st.sampled_from(WORDS)
sizes = st.sampled_from([0, 1, 2, 255, 2**31 - 1, 2**32 - 1]) | st.integers(0, 9)


def text(word: str) -> bytes:
    return b"\x8c" + bytes([len(word)]) + word.encode()


def of_class(name: tuple[str, str]) -> bytes:
    return f"c{name[0]}\n{name[1]}\n".encode()


@st.composite
def arguments(draw: st.DrawFn, operation: pickletools.OpcodeInfo) -> bytes:
    """Bytes to follow an operation: now and then not those that it wants."""
    kind = operation.arg.name if operation.arg else ""
    if kind == "":
        return b""
    if "pair" in kind:
        return "".join(part + "\n" for part in draw(names)).encode()
    if kind in ("uint1", "uint2", "uint4", "int4", "uint8", "float8"):
        width = {"1": 1, "2": 2, "4": 4, "8": 8}[kind[-1]]
        return (draw(sizes) % 256**width).to_bytes(width, "little")
    if "nl" in kind:
        quoted = draw(words).join("''") if kind == "stringnl" else draw(words)
        number = draw(st.sampled_from(["0", "1", "00", "01", "-7", "2.5", "9L", "inf", "x"]))
        return (quoted if "str" in kind else number).encode() + b"\n"
    width = int(kind[-1]) if kind[-1].isdigit() else 4
    raw = draw(words.map(str.encode) | st.just(RECORD) | st.binary(max_size=9))
    length = draw(st.just(len(raw)) | sizes) if draw(st.integers(0, 9)) == 0 else len(raw)
    return (length % 256**width).to_bytes(width, "little") + raw


@st.composite
def operations(draw: st.DrawFn) -> bytes:
    """One operation with its argument."""
    found = draw(st.sampled_from(pickletools.opcodes))
    return found.code.encode("latin-1") + draw(arguments(found))


pieces = st.recursive(
    operations() | words.map(text) | st.sampled_from([b"N", b"K\x00", b"K\x01", b")", b"}", b"]", b"(", b"C\x01x"]),
    lambda inner: st.one_of(
        st.builds(lambda a, b: text(a) + b, words, inner),
        st.builds(lambda a, b, c: a + b + c, inner, inner, inner),
        st.builds(lambda n, a: of_class(n) + b"(" + a + b"tR", names, inner),
        st.builds(lambda n, a: of_class(n) + b")\x81}" + a + b"sb", names, inner),
        st.builds(lambda n, a: of_class(n) + b"(N" + b"tR}(" + text("handle") + a + b"ub", names, inner),
        st.builds(
            lambda n, a, b: b"ccopyreg\n_reconstructor\n(" + of_class(n) + a + b"NtR" + b + b"b", names, inner, inner
        ),
        st.builds(lambda a, b: b"}(" + a + b + b"u", inner, inner),
        st.builds(lambda a, n: a + b"q" + bytes([n]), inner, st.integers(0, 5)),
        st.builds(lambda a, n: a + b"h" + bytes([n]), inner, st.integers(0, 5)),
        st.builds(lambda a, n: a + b"2" * n + b"(" * (n // 2) + b"l" * (n // 2), inner, st.integers(0, 40)),
        st.builds(lambda a, n: a * n, inner, st.integers(2, 30)),
    ),
    max_leaves=25,
)
REAL = [
    states.dumps(({0: (mx.nd.ones(2), None)}, SGD(momentum=0.5, lr_scheduler=mx.lr_scheduler.FactorScheduler(3)))),
    states.dumps_optimizer(SGD(momentum=0.5)), *(pickle.dumps(SGD(momentum=0.5), protocol) for protocol in (0, 2, 4)),
]


@st.composite
def spliced(draw: st.DrawFn) -> bytes:
    """A real file with operations put between its own."""
    content = draw(st.sampled_from(REAL))
    places = [at or 0 for _, _, at in pickletools.genops(content)]
    for at in sorted(draw(st.lists(st.sampled_from(places), max_size=3)), reverse=True):
        content = content[:at] + draw(pieces) + content[at + draw(st.integers(0, 1)):]
    return content


programs = st.one_of(
    pieces.map(lambda piece: piece + b"."), pieces.map(lambda piece: b"}K\x00" + piece + b"s."),
    st.lists(operations(), max_size=30).map(b"".join), spliced(), st.binary(max_size=60),
)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def check(reader: str, content: bytes) -> None:
    """Read ``content``: what comes is data, or MXNetError with the reader's clause and a place."""
    read, clause = READERS[reader]
    with within_bounds(content), nothing_happens():
        try:
            found = read(content, "some.file")
        except mx.MXNetError as error:
            assert error.clause == clause
            assert "some.file" in str(error)
            assert "byte " in str(error)
            assert len(str(error)) < 1000
            return
    assert is_inert(found)


@pytest.mark.clause("States/valid", "Command/optimizer")
@pytest.mark.parametrize("reader", READERS)
def test_a_random_program_builds_data_or_is_refused(reader: str) -> None:
    @settings(max_examples=300)
    @given(content=programs)
    @example(content=b"}" * 20 + struct.pack("<I", 2**32 - 1) + b".")
    def examine(content: bytes) -> None:
        check(reader, content)

    examine()


@pytest.mark.long
@pytest.mark.parametrize("reader", READERS)
def test_many_random_programs(reader: str) -> None:
    @settings(max_examples=10_000)
    @given(content=programs)
    def examine(content: bytes) -> None:
        check(reader, content)

    examine()


def test_the_programs_do_not_all_end_at_once() -> None:
    """Some are read whole, some refused for what they name, some for what they build."""
    said: set[str] = set()

    @settings(max_examples=400, database=None)
    @given(content=programs)
    def examine(content: bytes) -> None:
        try:
            states.loads(content)
            said.add("read")
        except mx.MXNetError as error:
            said.update(reason for reason in reasons if reason in str(error))

    reasons = ("which is not an optimizer", "expected a dict", "takes a value", "outside the file")
    examine()
    assert said == {"read", *reasons}
