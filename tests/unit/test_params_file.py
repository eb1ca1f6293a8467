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
from refimpl.ndarray import sparse
from refimpl.ndarray.file_format import from_record, record, to_bytes
from refimpl.util import np_shape

nd = mx.nd
FIXTURES = Path(__file__).parents[1] / "fixtures"
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
        (28, b"\x03\x00\x00\x00"),  # an unknown storage
        (60, b"\x0c\x00\x00\x00"),  # bfloat16
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


# --- sparse arrays --------------------------------------------------------------------------------

MIXED = {
    "float32": [[0, 1], [1, 0]], "rows": [[1, 2], [0, 0], [3, 4], [0, 0]],
    "csr": [[1, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 0]], "no rows": [[0, 0]] * 4, "no values": [[0] * 4] * 3,
}


@pytest.mark.clause("params-file/sparse", "params-file/version-2")
def test_a_file_of_mxnet_with_every_type_and_storage_is_read_and_written_back() -> None:
    raw = (FIXTURES / "mxnet-kinds.params").read_bytes()
    found = nd.load_frombuffer(raw)
    assert [(name, np.dtype(found[name].dtype).name) for name in found][:8] == [
        ("float32", "float32"), ("float64", "float64"), ("float16", "float16"), ("uint8", "uint8"),
        ("int32", "int32"), ("int8", "int8"), ("int64", "int64"), ("bool", "bool"),
    ]
    assert {n: a.stype for n, a in found.items() if a.stype != "default"} == {
        "rows": "row_sparse", "csr": "csr", "no rows": "row_sparse", "no values": "csr",
    }
    for name, expected in MIXED.items():
        assert found[name].asnumpy().tolist() == expected, name
    assert found["csr"].dtype is np.float64
    assert found["csr"].indptr.asnumpy().tolist() == [0, 2, 2, 3]
    assert to_bytes(found) == raw


def _shape(*sides: int) -> bytes:
    return struct.pack(f"<i{len(sides)}q", len(sides), *sides)


def _rows(
    stored=(2, 2), shape=(4, 2), rows=(0, 2), kind=6, sides=None, storage=1, magic=0xF993FAC9
) -> bytes:
    indices = np.array(rows, {4: "<i4", 6: "<i8"}.get(kind, "<i8"))
    head = struct.pack("<Ii", magic, storage) + _shape(*stored) + _shape(*shape)
    parts = struct.pack("<iiii", 1, 0, 0, kind) + _shape(*(sides or indices.shape))
    values = np.arange(np.prod(stored), dtype="<f4")
    return head + parts + values.tobytes() + indices.tobytes()


def _csr(stored=(3,), shape=(3, 4), starts=(0, 2, 2, 3), columns=(0, 2, 1)) -> bytes:
    head = struct.pack("<Ii", 0xF993FAC9, 2) + _shape(*stored) + _shape(*shape) + struct.pack("<iii", 1, 0, 0)
    parts = struct.pack("<i", 6) + _shape(len(starts)) + struct.pack("<i", 6) + _shape(len(columns))
    values = np.arange(1, np.prod(stored) + 1, dtype="<f4")
    return head + parts + values.tobytes() + np.array([*starts, *columns], "<i8").tobytes()


@pytest.mark.clause("params-file/sparse")
def test_indices_are_put_in_order_and_may_be_int32() -> None:
    found = from_record(_rows(rows=(2, 0)))
    assert found.indices.asnumpy().tolist() == [0, 2]
    assert found.data.asnumpy().tolist() == [[2, 3], [0, 1]]
    assert from_record(_rows(kind=4)).indices.dtype is np.int64
    found = from_record(_csr(columns=(2, 0, 1)))
    assert found.asnumpy().tolist() == [[2, 0, 1, 0], [0, 0, 0, 0], [0, 3, 0, 0]]


@pytest.mark.clause("params-file/valid")
@pytest.mark.parametrize(
    "raw",
    [
        _rows(rows=(0, 4)), _rows(rows=(-1, 2)), _rows(rows=(1, 1)),  # outside, outside, twice
        _rows(kind=0), _rows(sides=(3,)), _rows(stored=(2, 1)), _rows(shape=()), _rows(sides=(2, 1)),
        _rows(magic=0xF993FACA), _rows(storage=2), _rows(stored=(2**40, 2**40)),
        _csr(starts=(0, 2, 1, 3)), _csr(starts=(1, 2, 2, 3)), _csr(starts=(0, 2, 2, 2)), _csr(starts=(0, 3)),
        _csr(columns=(0, 4, 1)), _csr(columns=(0, 0, 1)), _csr(columns=(-1, 2, 1)), _csr(shape=(3, 4, 1)),
        _csr(stored=(2,)), _csr(starts=(0, -5, 2, 3)), _csr(starts=(0, 2**62, 2, 3)),
    ],
)
def test_sparse_arrays_that_contradict_themselves_are_refused(raw: bytes) -> None:
    with pytest.raises(mx.MXNetError, match="x, byte") as caught:
        from_record(raw, "x")
    assert caught.value.clause == "params-file/valid"


@pytest.mark.clause("params-file/sparse")
@settings(max_examples=30)
@given(data=st.data())
def test_sparse_round_trip(data: st.DataObject) -> None:
    kind = np.dtype(data.draw(st.sampled_from(KINDS)))
    matrix = data.draw(hnp.arrays(kind, (3, 4), elements=st.integers(0, 2)))
    for storage in ("row_sparse", "csr"):
        (again,) = nd.load_frombuffer(to_bytes([nd.array(matrix, dtype=kind).tostype(storage)]))
        assert (again.stype, again.dtype) == (storage, kind.type)
        assert again.asnumpy().tobytes() == matrix.tobytes()


@pytest.mark.clause("params-file/sparse")
def test_sparse_arrays_are_written_in_order() -> None:
    mixed = sparse.row_sparse_array(([[3.0], [1.0]], [2, 0]), shape=(4, 1))
    (again,) = nd.load_frombuffer(to_bytes([mixed]))
    assert again.indices.asnumpy().tolist() == [0, 2]
    assert again.data.asnumpy().tolist() == [[1], [3]]


@pytest.mark.clause("params-file/sparse", "Files/atomic")
def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    nd.save(str(tmp_path / "x"), [nd.ones((2,))])
    with pytest.raises(mx.MXNetError, match="lie between 9 and 9"):
        nd.save(str(tmp_path / "x"), [nd.zeros((3,)), sparse.row_sparse_array(([[3.0]], [9]), shape=(4, 1))])
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
    assert nd.load(str(tmp_path / "x"))[0].asnumpy().tolist() == [1, 1]


@pytest.mark.clause("params-file/unallocated")
@pytest.mark.parametrize("record", [
    struct.pack("<Iii", 0xF993FAC9, 0, 0), struct.pack("<Ii", 0xF993FAC8, 0), struct.pack("<I", 0),
])
def test_an_array_that_was_never_allocated_is_none(record: bytes) -> None:
    arrays = nd.load_frombuffer(struct.pack("<QQQ", 0x112, 0, 2) + record * 2 + struct.pack("<Q", 0))
    assert arrays == [None, None]


# --- NumPy's shapes -------------------------------------------------------------------------------


@pytest.mark.clause("params-file/np-shape")
def test_records_of_np_shape_are_read_under_np_shape_only() -> None:
    raw = (FIXTURES / "mxnet-np-shape.params").read_bytes()
    with np_shape(True):
        number, empty = nd.load_frombuffer(raw)
        assert (number.shape, empty.shape, number.asnumpy().tolist()) == ((), (0, 2), 3.0)
        assert to_bytes([number, empty]) == raw
        with pytest.raises(mx.MXNetError, match="not saved under np_shape") as caught:
            nd.load_frombuffer(RECORDED)
        assert caught.value.clause == "params-file/np-shape"
        with pytest.raises(mx.MXNetError, match="only dense arrays"):
            to_bytes([nd.ones((2, 2)).tostype("row_sparse")])
    with pytest.raises(mx.MXNetError, match=r"byte 24: .*np_shape\(True\)") as caught:
        nd.load_frombuffer(raw)
    assert caught.value.clause == "params-file/np-shape"


@pytest.mark.clause("params-file/rank-0")
def test_a_single_number_has_no_record_outside_np_shape(tmp_path: Path) -> None:
    with pytest.raises(mx.MXNetError, match="reshape"):
        nd.save(str(tmp_path / "x"), [nd.array(3)])
    assert list(tmp_path.iterdir()) == []
    assert from_record(record(nd.array(3))).shape == ()


# --- what is no such file at all ------------------------------------------------------------------


@pytest.mark.clause("Files/foreign")
@pytest.mark.parametrize(
    ("start", "named"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 9\n", "git lfs pull"),
        (b"\n <!DOCTYPE html>\n<title>Not found</title>", "HTML page"), (b"<html>", "HTML page"),
        (b"<?xml version='1.0'?><Error/>", "XML"), (b"\x1f\x8b\x08\0\0\0", "gzip"), (b"PK\x03\x04", "zip"),
        (b"\x93NUMPY\x01", "numpy.load"), (b"", "empty"), (b"abc", "0x112"),
    ],
)
def test_what_was_handed_over_is_named(start: bytes, named: str, tmp_path: Path) -> None:
    path = tmp_path / "x.params"
    path.write_bytes(start)
    with pytest.raises(mx.MXNetError, match=rf"x\.params, byte 0: .*{named}"):
        nd.load(str(path))


@pytest.mark.clause("params-file/buffer")
def test_a_buffer_is_bytes() -> None:
    with pytest.raises(TypeError):
        nd.load_frombuffer(10**12)
    with pytest.raises(TypeError):
        nd.load_frombuffer("text")
    assert nd.load_frombuffer(memoryview(RECORDED))["b"].asnumpy().tolist() == [3]
