"""The .params format: bytes that MXNet 1.9.1 wrote, round trips, and damaged files."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import refimpl as mx

nd = mx.nd
KINDS = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64")

# MXNet 1.9.1: mx.nd.save("f", {"w": mx.nd.array([[1, 2]]), "b": mx.nd.array([3], dtype="int32")})
#              open("f", "rb").read().hex()
RECORDED = bytes.fromhex(
    "12010000000000000000000000000000020000000000000"
    "0c9fa93f90000000002000000010000000000000002000000000000000100000000000000000000000000803f00000040"
    "c9fa93f9000000000100000001000000000000000100000000000000040000000300000002000000000000000100000000000000"
    "77010000000000000062"
)


@pytest.mark.clause("params-file/version-2")
def test_bytes_are_those_of_mxnet() -> None:
    arrays = {"w": nd.array([[1, 2]]), "b": nd.array([3], dtype="int32")}
    assert nd.load_frombuffer(RECORDED)["w"].asnumpy().tolist() == [[1, 2]]
    assert nd.load_frombuffer(RECORDED)["b"].dtype is np.int32
    from refimpl.ndarray.file_format import to_bytes

    assert to_bytes(arrays) == RECORDED


@pytest.mark.clause("params-file/version-2")
@settings(max_examples=30)
@given(data=st.data())
def test_round_trip(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("params") / "x.params"
    count = data.draw(st.integers(0, 3))
    arrays = []
    for _ in range(count):
        kind = np.dtype(data.draw(st.sampled_from(KINDS)))
        shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3))
        arrays.append(data.draw(hnp.arrays(kind, shape)))
    named = data.draw(st.booleans()) and count > 0
    names = [f"arg:{i}" for i in range(count)]
    values = [nd.array(a, dtype=a.dtype) for a in arrays]
    nd.save(str(path), dict(zip(names, values, strict=True)) if named else values)
    again = nd.load(str(path))
    assert isinstance(again, dict if named else list)
    found = list(again.values()) if named else again
    for a, b in zip(arrays, found, strict=True):
        assert b.asnumpy().dtype == a.dtype
        assert a.tobytes() == b.asnumpy().tobytes()


def _legacy(version: int) -> bytes:
    head = struct.pack("<QQQ", 0x112, 0, 1)
    shape = struct.pack("<Iqq", 2, 1, 2) if version else struct.pack("<II", 1, 2)
    magic = struct.pack("<I", 0xF993FAC8) if version else struct.pack("<I", 2)
    values = struct.pack("<iiiff", 1, 0, 0, 5.0, 6.0)
    return head + magic + shape + values + struct.pack("<Q", 0)


@pytest.mark.clause("params-file/older-versions")
@pytest.mark.parametrize("version", [0, 1])
def test_older_records_are_read(version: int) -> None:
    (array,) = nd.load_frombuffer(_legacy(version))
    assert array.asnumpy().tolist() == [[5, 6]]


@pytest.mark.clause("params-file/valid")
@pytest.mark.parametrize("length", range(0, len(RECORDED), 7))
def test_a_truncated_file_is_refused_with_its_byte(length: int) -> None:
    with pytest.raises(mx.MXNetError, match="Invalid NDArray file format: x, byte"):
        nd.load_frombuffer(RECORDED[:length], "x")


@pytest.mark.clause("params-file/valid")
@pytest.mark.parametrize(
    ("offset", "bytes_"),
    [
        (0, b"<html>"),  # not such a file
        (16, b"\xff" * 8),  # 2^64 - 1 arrays
        (32, b"\xff\xff\xff\x7f"),  # rank 2^31 - 1
        (36, b"\xff\xff\xff\xff\xff\xff\xff\x7f"),  # a side of 2^63 - 1
        (60, b"\x63\x00\x00\x00"),  # dtype flag 99
        (28, b"\x01\x00\x00\x00"),  # a sparse array
    ],
)
def test_a_hostile_header_is_refused_without_reserving_memory(offset: int, bytes_: bytes) -> None:
    broken = RECORDED[:offset] + bytes_ + RECORDED[offset + len(bytes_) :]
    with pytest.raises(mx.MXNetError, match="byte"):
        nd.load_frombuffer(broken)


@pytest.mark.clause("params-file/valid")
@settings(max_examples=200)
@given(position=st.integers(0, len(RECORDED) - 1), value=st.integers(0, 255), cut=st.integers(0, 20))
def test_a_mutated_file_is_read_or_refused(position: int, value: int, cut: int) -> None:
    mutated = bytearray(RECORDED)
    mutated[position] = value
    try:
        nd.load_frombuffer(bytes(mutated[: len(mutated) - cut]))
    except mx.MXNetError as error:
        assert error.clause == "params-file/valid"


@pytest.mark.clause("params-file/readable")
def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(mx.MXNetError, match=r"nothing\.params"):
        nd.load(str(tmp_path / "nothing.params"))


@pytest.mark.clause("params-file/name")
def test_a_name_must_be_text() -> None:
    with pytest.raises(TypeError):
        nd.load(3)


@pytest.mark.clause("params-file/content")
def test_only_arrays_are_saved(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        nd.save(str(tmp_path / "x"), [3])
    for what in (3, None, "text", (nd.zeros((1,)),)):
        with pytest.raises(ValueError, match="list of NDArrays"):
            nd.save(str(tmp_path / "x"), what)
    assert list(tmp_path.iterdir()) == []
