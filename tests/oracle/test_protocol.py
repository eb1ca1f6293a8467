"""The protocol of processes: framing of hostile bytes, the first message, inline arrays, silence, too many answers."""

from __future__ import annotations

import io
import json
import os
import select
import sys
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refimpl.oracle import Capabilities, program_of
from refimpl.oracle.backends import Crashed, Unsupported
from refimpl.oracle.backends.hello import capabilities_of, check_hello, hello_of
from refimpl.oracle.backends.isolate import Isolated
from refimpl.oracle.backends.named import named
from refimpl.oracle.programs import messages
from refimpl.oracle.programs.inline import with_references
from refimpl.oracle.programs.values import array_of

PROGRAM = {"version": 1, "level": 1, "nodes": [{"op": "null", "name": "a"}], "heads": [[0, 0]]}


def framed(text, elements=b"", length=None, size=None):
    """A message, or one whose lengths are wrong."""
    text = text if isinstance(text, bytes) else json.dumps(text).encode()
    whole = 8 + len(text) + len(elements) if length is None else length
    size = len(text) if size is None else size
    return whole.to_bytes(8, "little") + size.to_bytes(8, "little") + text + elements


def read(content):
    return messages.unpack(io.BytesIO(content))


# --- framing ---------------------------------------------------------------------------------------------------------


@given(
    st.dictionaries(st.text(max_size=8), st.tuples(
        st.sampled_from(messages.TYPES), st.lists(st.integers(0, 3), max_size=4), st.integers(0, 2**32 - 1),
    ), max_size=4),
    st.dictionaries(st.sampled_from(["error", "text", "programs"]), st.text(max_size=20)),
)
def test_what_is_packed_is_unpacked(described, header):
    arrays = {
        name: np.random.RandomState(seed).randint(0, 2, size=shape).astype(dtype)
        for name, (dtype, shape, seed) in described.items()
    }
    packed = messages.pack(header, arrays)
    stream = io.BytesIO(packed * 2)
    for _ in range(2):
        found, got = messages.unpack(stream)
        assert found == header
        assert list(got) == list(arrays)
        for name, array in arrays.items():
            assert (got[name].dtype, got[name].shape) == (array.dtype, array.shape)
            assert got[name].tobytes() == array.tobytes()
    assert messages.unpack(stream) is None


def test_the_bytes_of_a_message_are_those_of_the_chapter():
    text = b'{"arrays": [["x", "int16", [2]]]}'
    packed = messages.pack({}, {"x": np.array([1, -2], ">i2")})
    assert packed == bytes([8 + len(text) + 4, *[0] * 7, len(text), *[0] * 7]) + text + b"\x01\x00\xfe\xff"


@pytest.mark.clause("oracle/message-limits")
@pytest.mark.parametrize(("content", "message"), [
    (framed({}, length=7), "cannot have 7 bytes"),
    (framed({}, length=2**28 + 1), "cannot have 268435457 bytes"),
    (framed({}, length=2**64 - 1), "cannot have 18446744073709551615 bytes"),
    (framed({}, size=3), "a message of 10 bytes cannot have 3"),
    (framed({}, size=2**63), "a message of 10 bytes cannot have 9223372036854775808"),
    (framed(b"\xff\xfe"), "no JSON: 'utf-8' codec"),
    (framed(b"{"), "no JSON"),
    (framed(b"[" * 100_000), "no JSON: "),
    (framed(b"1" * 5000), "no"),
    (framed([]), "the text of a message is no object"),
    (framed({"arrays": {}}), "the arrays of a message are no list"),
    (framed({"arrays": [["x", "float32"]]}), "is no name, type and shape"),
    (framed({"arrays": [[3, "float32", []]]}), "3 is no name of an array"),
    (framed({"arrays": [["x" * 1001, "float32", []]]}), "is no name of an array"),
    (framed({"arrays": [["x", "object", [1]]]}, b"\0" * 8), "there is no type 'object'"),
    (framed({"arrays": [["x", "f4,(999999999,)f4", [1]]]}), "there is no type"),
    (framed({"arrays": [["x", ["float32"], [1]]]}), "there is no type"),
    (framed({"arrays": [["x", "float32", [-1]]]}), "[-1] is no shape"),
    (framed({"arrays": [["x", "float32", [1.0]]]}), "[1.0] is no shape"),
    (framed({"arrays": [["x", "float32", [0] * 33]]}), "is no shape"),
    (framed({"arrays": [["x", "float32", [2**40]]]}), "is no shape"),
    (framed({"arrays": [["x", "float32", [2**28] * 32]]}), "0 are left"),
    (framed({"arrays": [["x", "float32", [2]]]}, b"\0" * 7), "array 'x' needs 8 bytes, 7 are left"),
    (framed({"arrays": [["x", "int8", [1]], ["x", "int8", [1]]]}, b"\0\0"), "there are two arrays 'x'"),
    (framed({"arrays": [["x", "int8", [1]]]}, b"\0\0"), "1 bytes are behind the last array"),
    (framed({}, b"\0"), "1 bytes are behind the last array"),
])
def test_wrong_messages_are_refused(content, message):
    with pytest.raises(ValueError) as error:
        read(content)
    assert message in str(error.value)


@given(st.binary(max_size=200), st.integers(0, 60), st.booleans())
def test_hostile_bytes_are_no_message_or_one(noise, cut, begins):
    """They give a message, the end of the stream, or ValueError, and nothing else."""
    whole = messages.pack({"text": "x"}, {"a": np.arange(3, dtype="float32")})
    content = whole[:cut] + noise if begins else noise
    stream = io.BytesIO(content)
    try:
        while messages.unpack(stream) is not None:
            pass
    except ValueError:
        return


@given(st.integers(0, 51))
def test_a_message_that_is_cut_off_is_the_end_of_the_stream(cut):
    whole = messages.pack({}, {"a": np.arange(3, dtype="float32")})
    assert read(whole[:min(cut, len(whole) - 1)]) is None


def test_a_length_that_nothing_follows_takes_no_memory():
    tracemalloc.start()
    try:
        assert read(framed({}, length=messages.LARGEST)) is None
        assert tracemalloc.get_traced_memory()[1] < 8 * messages.PIECE
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("arrays", "message"), [
    ({"x": np.zeros(2, "complex64")}, "array x has type complex64"),
    ({"x": np.array([None])}, "array x has type object"),
])
def test_arrays_of_other_types_are_not_packed(arrays, message):
    with pytest.raises(ValueError, match=message):
        messages.pack({}, arrays)
    assert read(messages.answer(lambda program: arrays, {}))[0]["error"] == "refused"


# --- arrays inline ---------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(st.integers(1, 6), st.integers(0, 200))
def test_references_and_their_arrays_are_the_program(level, number):
    program = program_of(1, number, Capabilities(level=level, corners=True), level=level)
    request, arrays = with_references([program])

    def equal(part, moved):
        if isinstance(moved, dict) and set(moved) == {"array"} and "dtype" in part:
            expected = array_of(part)
            got = arrays.pop(str(moved["array"]))
            return (got.dtype, got.shape, got.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())
        if isinstance(part, dict):
            return list(part) == list(moved) and all(equal(part[key], moved[key]) for key in part)
        if isinstance(part, list):
            return len(part) == len(moved) and all(map(equal, part, moved))
        return part == moved

    assert '"seed":' not in json.dumps(request["programs"][0].get("arrays"))
    assert equal(program, request["programs"][0])
    assert arrays == {}  # each is named once


# --- the first message -----------------------------------------------------------------------------------------------


@pytest.mark.clause("oracle/protocol-version")
@pytest.mark.parametrize(("hello", "message"), [
    ({}, "it names no protocol; write protocol: 1"),
    ({"protocol": 2}, "it speaks protocol 2; this version of refimpl speaks 1"),
    ({"protocol": "1"}, "protocol: '1' is no whole number"), ({"protocol": True}, "protocol: True is no whole number"),
    ({"protocol": 1, "inlined": True}, "there is no field 'inlined'"),
    ({"protocol": 1, "inline": "yes"}, "inline: 'yes' is neither true nor false"),
    ({"protocol": 1, "capabilities": {}}, "capabilities: field level is missing"),
    ({"protocol": 1, "capabilities": {"level": 8}}, "capabilities: level: 8 is no whole number from 0 to 7"),
    ({"protocol": 1, "capabilities": {"level": 2, "styles": ["no"]}}, "styles: 'no' is none of dyadic"),
    ({"protocol": 1, "leaves_out": "relu"}, "leaves_out: 'relu' is no list"),
])
def test_a_wrong_first_message_is_named(hello, message):
    assert message in check_hello(hello)


def test_capabilities_come_back_as_they_were_said():
    class Backend:
        capabilities = Capabilities(3, frozenset({"relu"}), dtypes=("float64",), others=(7,), empty=True)
        leaves_out = ("executor/monitor",)

    hello = {**json.loads(json.dumps(hello_of(Backend))), "protocol": 1}
    assert check_hello(hello) is None
    assert capabilities_of(hello) == Backend.capabilities
    assert capabilities_of({"capabilities": {"level": 1}}) == Capabilities(level=1)
    assert capabilities_of({}) == Capabilities()


# --- processes -------------------------------------------------------------------------------------------------------

WORKER = """
import json, sys, threading
def send(text):
    text = json.dumps(text).encode()
    sys.stdout.buffer.write((8 + len(text)).to_bytes(8, "little") + len(text).to_bytes(8, "little") + text)
    sys.stdout.buffer.flush()
def receive():
    length = int.from_bytes(sys.stdin.buffer.read(8), "little")
    return sys.stdin.buffer.read(length)
hello = {"protocol": 1, "capabilities": {"level": 1, "operators": ["relu"]}, "leaves_out": ["relu"], "inline": True}
"""


@pytest.fixture
def worker(tmp_path):
    """Starts a worker whose script is given."""
    made = []

    def start(script, **options):
        path = tmp_path / f"worker{len(made)}.py"
        path.write_text(WORKER + script, encoding="utf-8")
        made.append(Isolated([sys.executable, "-S", str(path)], **options))
        return made[-1]

    yield start
    for each in made:
        each.close()


@pytest.mark.clause("oracle/protocol-version")
def test_a_worker_of_another_version_does_not_start(worker):
    with pytest.raises(Crashed, match="its first message: it speaks protocol 9; this version of refimpl speaks 1"):
        worker("hello['protocol'] = 9\nsend(hello)\nsys.stdin.read()")


def test_a_worker_says_what_is_left_out(worker):
    backend = worker("send(hello)\nsys.stdin.read()")
    assert backend.leaves_out == ("relu",)
    assert backend.capabilities == Capabilities(level=1, operators=frozenset({"relu"}))


@pytest.mark.clause("oracle/arrays-inline")
def test_a_worker_gets_the_elements(worker):
    backend = worker(
        "send(hello)\nmessage = receive()\nend = 8 + int.from_bytes(message[:8], 'little')\n"
        "send({'error': 'unsupported', 'text': message[8:end].decode() + message[end:].hex()})\nsys.stdin.read()"
    )
    array = {"shape": [2], "dtype": "int8", "elements": [1, -1]}
    with pytest.raises(Unsupported) as told:
        backend.run({**PROGRAM, "arrays": {"a": array}})
    text = json.dumps({"programs": [{**PROGRAM, "arrays": {"a": {"array": 0}}}], "arrays": [["0", "int8", [2]]]})
    assert str(told.value) == text + "01ff"


@pytest.mark.parametrize("script", [
    "send(hello)\nreceive()\nsys.stdin.read()", "send(hello)\nthreading.Event().wait()",
], ids=["reads and is silent", "does not read"])
def test_silence_ends_after_the_limit(worker, script):
    backend = worker(script, limit=0.2)
    array = {"shape": [1 << 18], "dtype": "float32"}  # more than a pipe holds
    start = time.monotonic()
    with pytest.raises(Crashed, match=r"no answer within 0\.2 s"):
        backend.run({**PROGRAM, "arrays": {"a": array}})
    assert time.monotonic() - start < 60
    assert backend.processes == []


def test_a_worker_that_says_nothing_does_not_start(worker):
    with pytest.raises(Crashed, match=r"no answer within 0\.2 s"):
        worker("sys.stdin.read()", start_limit=0.2)


@pytest.mark.clause("oracle/message-limits")
def test_answers_that_nobody_asked_for_end_the_worker(worker):
    backend = worker("send(hello)\nreceive()\nwhile True:\n    send({'error': 'unsupported', 'text': 'x'})")
    for asked in range(2):
        with pytest.raises(Unsupported):
            backend.run(PROGRAM)
        if not asked:
            backend.close()
    [process] = backend._workers
    told = process.answers.get(timeout=60)  # what the thread read after the answer
    assert str(told) == "it wrote a message that nobody asked for"
    assert process.answers.empty()  # it reads no more


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no pidfd")
def test_children_of_a_worker_end_with_it(worker):
    backend = worker(
        "import subprocess\nchild = subprocess.Popen([sys.executable, '-S', '-c', 'import sys; sys.stdin.read()'],"
        " stdin=subprocess.PIPE, stdout=subprocess.PIPE)\nhello['version'] = str(child.pid)\nsend(hello)\n"
        "threading.Event().wait()", limit=0.2,
    )
    with pytest.raises(Crashed):
        backend.run(PROGRAM)
    try:
        child = os.pidfd_open(int(backend.version))
    except ProcessLookupError:
        return
    try:
        ended, *_ = select.select([child], [], [], 60)  # a killed process may take a moment to end
    finally:
        os.close(child)
    assert ended


# --- names -----------------------------------------------------------------------------------------------------------


def test_a_command_is_a_name_of_a_backend(tmp_path, monkeypatch):
    (tmp_path / "a worker.py").write_text(WORKER + "send(hello)\nsys.stdin.read()", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with named(f"command:{sys.executable} -S 'a worker.py'") as backend:
        assert backend.capabilities.level == 1
    line = f'{sys.executable} -S "a worker.py"'
    with named(f"refimpl.oracle.backends.isolate:command({line!r}, limit=5.0)") as backend:
        assert backend.limit == 5.0


@pytest.mark.parametrize(("text", "message"), [
    ("command:no-such-program x", "cannot be loaded: no-such-program x: "), ("command: ", "there is no command"),
    (f"command:{sys.executable} -c pass", "it ended with 0"), ("command:'", "No closing quotation"),
])
def test_a_command_that_is_no_worker_is_refused(text, message):
    with pytest.raises(ValueError) as error:
        named(text)
    assert message in str(error.value)
