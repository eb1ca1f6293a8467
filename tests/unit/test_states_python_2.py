"""``.states`` files of Python 2, written operation by operation as its pickle module wrote them.

Python 2 wrote ``str`` as STRING, BINSTRING and SHORT_BINSTRING, named its builtins ``__builtin__``, and pickled the
bytes of an array as ``bytearray(u"...", "latin-1")``. CPython's own reader says what the numbers in them are.
"""

from __future__ import annotations

import io
import pickle
import struct
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.optimizer import states

# one record of the .params format: version 2, dense, shape (2,), cpu(0), float32, 1.5 and -2.0
RECORD = bytes.fromhex(
    "c9fa93f9 00000000 01000000 0200000000000000 01000000 00000000 00000000 0000c03f 000000c0"
)
VALUES = np.array([[1.5, -2.0, 0.25], [4.0, 8.0, -0.5]])


def text(content: bytes) -> bytes:
    """Python 2's ``str``."""
    return b"U" + bytes([len(content)]) + content


def line(content: bytes) -> bytes:
    """Python 2's ``unicode`` of protocol 0."""
    letters = content.decode("latin-1")
    plain = (each if " " <= each < "\x7f" and each != "\\" else f"\\u{ord(each):04x}" for each in letters)
    return b"V" + "".join(plain).encode() + b"\n"


def raw(protocol: int) -> bytes:
    """The call ``bytearray(u"...", "latin-1")``."""
    if protocol == 0:
        return b"c__builtin__\nbytearray\n(" + line(RECORD) + b"S'latin-1'\ntR"
    wide = RECORD.decode("latin-1").encode()
    return b"c__builtin__\nbytearray\nX" + struct.pack("<I", len(wide)) + wide + text(b"latin-1") + b"\x86R"


def ndarray(module: bytes, protocol: int) -> bytes:
    """An NDArray: by its class alone (MXNet 0.x), or called with None (1.x)."""
    name = b"c" + module + b"\nNDArray\n"
    if protocol == 0:
        return (
            b"ccopy_reg\n_reconstructor\n(" + name + b"c__builtin__\nobject\nNtR(dS'handle'\n" + raw(0)
            + b"sS'writable'\nI01\nsb"
        )
    made = name + (b")\x81" if module == b"mxnet.ndarray" else b"N\x85R")
    return made + b"}(" + text(b"handle") + raw(2) + text(b"writable") + b"\x88ub"


def numpy_array(values: np.ndarray, protocol: int) -> bytes:
    """An array of NumPy: ``_reconstruct(ndarray, (0,), 'b')`` and its state."""
    kind, order = values.dtype.str[1:].encode(), values.dtype.str[:1].encode()
    by_columns = not values.flags.c_contiguous
    content = values.tobytes("A")
    if protocol == 0:
        sides = b"".join(b"I%d\n" % side for side in values.shape)
        quoted = "".join(f"\\x{byte:02x}" for byte in content).encode()
        return (
            b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n(" + sides
            + b"tcnumpy\ndtype\n(S'" + kind + b"'\nI0\nI1\ntR(I3\nS'" + order + b"'\nNNNI-1\nI-1\nI0\ntbI0"
            + (b"1" if by_columns else b"0") + b"\nS'" + quoted + b"'\ntb"
        )
    sides = b"(" + b"".join(b"K" + bytes([side]) for side in values.shape) + b"t"
    return (
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + text(b"b") + b"\x87R(K\x01" + sides
        + b"cnumpy\ndtype\n" + text(kind) + b"K\x00K\x01\x87R(K\x03" + text(order)
        + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb" + (b"\x88" if by_columns else b"\x89") + text(content) + b"tb"
    )


class Stub:
    """Stands for MXNet's array, which is not here: it keeps what its state was."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.state = state


class Reader(pickle.Unpickler):
    """CPython's reader, for comparison."""

    def find_class(self, module: str, name: str) -> Any:
        return Stub if name == "NDArray" else super().find_class(module, name)


def by_python(content: bytes) -> Any:
    return Reader(io.BytesIO(content), encoding="latin1").load()


@pytest.mark.clause("States/python-2")
@pytest.mark.parametrize("module", [b"mxnet.ndarray", b"mxnet.ndarray.ndarray"])
@pytest.mark.parametrize("protocol", [0, 1, 2])
def test_arrays_of_mxnet(protocol: int, module: bytes) -> None:
    begin = {0: b"(dI0\n", 1: b"}K\x00", 2: b"\x80\x02}K\x00"}[protocol]
    content = begin + ndarray(module, protocol) + b"s."
    assert bytes(by_python(content)[0].state["handle"]) == RECORD
    found, optimizer = states.loads(content)
    assert (list(found), optimizer) == ([0], None)
    assert type(found[0]) is mx.nd.NDArray
    assert (found[0].dtype, found[0].asnumpy().tolist()) == (np.float32, [1.5, -2.0])


@pytest.mark.clause("States/python-2")
@pytest.mark.parametrize("kind", ["<f4", "<f8", "<f2", ">f4", ">f8"])
@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("protocol", [0, 2])
def test_arrays_of_numpy(protocol: int, columns: bool, kind: str) -> None:
    values = np.array(VALUES, kind, order="F" if columns else "C")
    content = b"}K\x07" + numpy_array(values, protocol) + b"s."
    expected = by_python(content)[7]
    assert expected.tolist() == VALUES.tolist()
    found, _ = states.loads(content)
    assert (found[7].shape, found[7].dtype) == (expected.shape, expected.dtype.newbyteorder("=").type)
    assert found[7].asnumpy().tolist() == expected.tolist()


@pytest.mark.clause("States/python-2")
def test_keys_and_numbers() -> None:
    content = (
        b"(dS'fc_weight'\n(I1\nL7L\nF0.5\nNI01\ntsI2\nNsL5L\nS'gr\\xfcn'\nsV\\u20ac\nNs."
    )
    expected = {"fc_weight": (1, 7, 0.5, None, True), 2: None, 5: "gr\xfcn", "\u20ac": None}
    assert by_python(content) == expected
    assert states.loads(content)[0] == expected


@pytest.mark.clause("States/python-2")
def test_they_go_on_training() -> None:
    store = mx.kv.create("local")
    store.set_optimizer(mx.optimizer.SGD(momentum=0.5, learning_rate=1.0))
    store.init("w", mx.nd.zeros(2))
    store._updater.set_states(b"}" + text(b"w") + ndarray(b"mxnet.ndarray", 2) + b"s.")
    store.push("w", mx.nd.ones(2))  # m = 0.5 * [1.5, -2] - 1, and the weight moves by it
    out = mx.nd.empty(2)
    store.pull("w", out)
    assert out.asnumpy().tolist() == [-0.25, -2.0]


FLOATS = numpy_array(VALUES, 2)
DAMAGED = {
    "another class": FLOATS.replace(b"cnumpy\nndarray\n", b"cnumpy\ndtype\n"),
    "a call of nothing": FLOATS.replace(b"cnumpy\nndarray\nK\x00\x85U\x01b\x87R", b")R"),
    "no state": FLOATS[: FLOATS.index(b"R(K\x01") + 1],
    "a state too short": FLOATS[: FLOATS.index(b"R(K\x01") + 1] + b"(K\x01tb",
    "a shape of text": FLOATS.replace(b"(K\x02K\x03t", b"U\x01x"),
    "a negative side": FLOATS.replace(b"(K\x02K\x03t", b"(J\xfe\xff\xff\xffJ\xfd\xff\xff\xfft"),
    "a shape of 33 sides": FLOATS.replace(b"(K\x02K\x03t", b"(" + b"K\x01" * 33 + b"t"),
    "no elements of many sides": FLOATS[: FLOATS.index(b"(K\x02")] + b"(K\x00" + b"J\xff\xff\xff\x7f" * 3 + b"t"
    + FLOATS[FLOATS.index(b"cnumpy\ndtype") : FLOATS.rindex(b"\x89")] + b"\x89U\x00tb",
    "bytes that are too few": FLOATS.replace(b"(K\x02K\x03t", b"(K\x02K\x04t"),
    "no type": FLOATS[: FLOATS.index(b"cnumpy\ndtype")] + b"N\x89" + text(VALUES.tobytes()) + b"tb",
    "whole numbers": numpy_array(VALUES.astype("<i8"), 2),
    "wide text as bytes": FLOATS[: FLOATS.rindex(b"\x89")] + b"\x89X\x03\0\0\0\xe2\x82\xactb",
    "a list as bytes": FLOATS[: FLOATS.rindex(b"\x89")] + b"\x89]tb",
}


@pytest.mark.clause("States/python-2", "States/valid")
@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_array_is_refused(case: str) -> None:
    assert DAMAGED[case] != FLOATS
    with pytest.raises(mx.MXNetError) as caught:
        states.loads(b"}K\x07" + DAMAGED[case] + b"s.", "old.states")
    assert caught.value.clause == "States/valid"
    assert "old.states" in str(caught.value)
