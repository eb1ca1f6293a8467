"""MNISTIter and the idx reader: values observed in MXNet 1.9.1, hostile files, the packaged digits."""

from __future__ import annotations

import gzip
import logging
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl.base import MXNetError
from refimpl.data import digits
from refimpl.io import MNISTIter
from refimpl.io.idx import IMAGES, LABELS, LARGEST, read_idx
from refimpl.io.mnist import permutation

PIXELS = bytes(7 * i % 256 for i in range(60))
IMAGE_FILE = struct.pack(">IIII", 2051, 10, 3, 2) + PIXELS
LABEL_FILE = struct.pack(">II", 2049, 10) + bytes(range(10))
PACKED = gzip.compress(IMAGE_FILE, mtime=0)


@pytest.fixture
def files(tmp_path):
    """Names of ten images of 3 x 2 and of their labels, 0 to 9."""
    (tmp_path / "images").write_bytes(IMAGE_FILE)
    (tmp_path / "labels").write_bytes(LABEL_FILE)
    return {"image": tmp_path / "images", "label": tmp_path / "labels"}


def labels_of(iterator):
    return [batch.label[0].asnumpy().astype(int).tolist() for batch in iterator]


def refused(clause, function, *args, **kwargs):
    with pytest.raises(MXNetError) as caught:
        function(*args, **kwargs)
    assert caught.value.clause == clause
    return str(caught.value)


@pytest.mark.clause("MNISTIter/pixels", "MNISTIter/full-batches")
def test_batches_in_file_order(files):
    iterator = MNISTIter(**files, batch_size=3, shuffle=False)
    assert iterator.provide_data == [("data", (3, 1, 3, 2))]
    assert iterator.provide_label == [("softmax_label", (3,))]
    for _ in range(2):
        batches = list(iterator)
        assert [batch.label[0].asnumpy().tolist() for batch in batches] == [
            [0, 1, 2], [3, 4, 5], [6, 7, 8]
        ]
        first = batches[0].data[0].asnumpy()
        assert (first.shape, first.dtype) == ((3, 1, 3, 2), np.float32)
        assert (256 * first).ravel()[:14].tolist() == [7 * i for i in range(14)]
        assert (256 * batches[1].data[0].asnumpy()).ravel()[:4].tolist() == [126, 133, 140, 147]
        assert batches[1].pad == 0
        assert batches[1].index.tolist() == [3, 4, 5]
        iterator.reset()


@pytest.mark.clause("MNISTIter/flat")
def test_flat(files):
    iterator = MNISTIter(**files, batch_size=2, flat=True, data_name="x", label_name="y")
    assert iterator.provide_data == [("x", (2, 6))]
    assert iterator.provide_label == [("y", (2,))]
    assert iterator.next().data[0].shape == (2, 6)


@pytest.mark.clause("MNISTIter/order")
def test_order_is_that_of_mxnet(files):
    # [b.label[0].asnumpy() for b in mx.io.MNISTIter(image=..., label=..., batch_size=5, seed=SEED)]
    iterator = MNISTIter(**files, batch_size=5)
    for _ in range(2):
        assert labels_of(iterator) == [[0, 2, 3, 5, 9], [1, 6, 8, 4, 7]]
        iterator.reset()
    assert labels_of(MNISTIter(**files, batch_size=10, seed=3)) == [[6, 5, 3, 0, 7, 8, 2, 4, 9, 1]]
    assert labels_of(MNISTIter(**files, batch_size=10, seed=-3)) == [[4, 2, 3, 1, 9, 5, 6, 8, 0, 7]]
    assert permutation(5000, 0)[:8].tolist() == [4278, 3267, 1515, 3028, 4699, 1485, 4065, 752]
    assert permutation(5000, 7)[:8].tolist() == [4336, 2942, 2246, 3376, 4632, 3484, 125, 1117]


@given(st.integers(0, 50), st.integers(0, 2**40))
def test_every_order_is_a_permutation(count, seed):
    assert sorted(permutation(count, seed).tolist()) == list(range(count))


@pytest.mark.clause("MNISTIter/parts")
def test_parts(files):
    def part(number, of, **kwargs):
        batches = labels_of(MNISTIter(**files, num_parts=of, part_index=number, **kwargs))
        return [label for batch in batches for label in batch]

    plain = {"batch_size": 1, "shuffle": False}
    assert [part(i, 3, **plain) for i in range(3)] == [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]]
    assert part(1, 2, batch_size=3, seed=3) == [7, 6, 8]
    assert part(0, 2, batch_size=3, seed=3) == [2, 1, 3]


@pytest.mark.clause("MNISTIter/parts")
def test_uneven_parts(tmp_path):
    (tmp_path / "i").write_bytes(struct.pack(">IIII", 2051, 7, 1, 1) + bytes(7))
    (tmp_path / "l").write_bytes(struct.pack(">II", 2049, 7) + bytes(range(7)))
    parts = [
        labels_of(MNISTIter(tmp_path / "i", tmp_path / "l", 1, False, num_parts=5, part_index=number))
        for number in range(5)
    ]
    assert parts == [[[0]], [[1]], [[2], [3]], [[4]], [[5], [6]]]


def test_text_arguments_and_log_line(files, caplog):
    caplog.set_level(logging.INFO)
    iterator = MNISTIter(**files, batch_size="3", shuffle="False", flat="true", seed="1")
    assert labels_of(iterator)[0] == [0, 1, 2]
    assert caplog.messages == ["MNISTIter: load 10 images, shuffle=0, shape=[3,6]"]
    caplog.clear()
    MNISTIter(**files, batch_size=2, silent=1, prefetch_buffer=4, input_shape=(6,))
    assert caplog.messages == []
    with pytest.warns(UserWarning, match="foo"):
        MNISTIter(**files, batch_size=2, foo=1)


@pytest.mark.clause("MNISTIter/gzip")
def test_gzip(files, tmp_path):
    for name, content in (("i.gz", IMAGE_FILE), ("l", LABEL_FILE)):
        (tmp_path / name).write_bytes(gzip.compress(content))
    plain, packed = MNISTIter(**files, batch_size=2), MNISTIter(tmp_path / "i.gz", tmp_path / "l", 2)
    for one, other in zip(plain, packed, strict=True):
        assert (one.data[0].asnumpy() == other.data[0].asnumpy()).all()
        assert (one.label[0].asnumpy() == other.label[0].asnumpy()).all()


@pytest.mark.clause("MNISTIter/no-batch")
def test_no_current_batch(files):
    iterator = MNISTIter(**files, batch_size=4)
    refused("MNISTIter/no-batch", iterator.getdata)
    assert len(list(iterator)) == 2
    refused("MNISTIter/no-batch", iterator.getlabel)


@pytest.mark.clause("MNISTIter/argument", "MNISTIter/dtype", "MNISTIter/batch-size")
@pytest.mark.parametrize(("clause", "arguments"), [
    ("MNISTIter/argument", {"batch_size": 0}),
    ("MNISTIter/argument", {"batch_size": "many"}),
    ("MNISTIter/argument", {"batch_size": 2.0}),
    ("MNISTIter/argument", {"silent": "perhaps"}),
    ("MNISTIter/argument", {"num_parts": 0}),
    ("MNISTIter/argument", {"num_parts": 3, "part_index": 3}),
    ("MNISTIter/argument", {"part_index": -1}),
    ("MNISTIter/dtype", {"dtype": "uint8"}),
    ("MNISTIter/batch-size", {"batch_size": 11}),
    ("MNISTIter/batch-size", {"batch_size": 6, "num_parts": 2}),
])
def test_wrong_arguments(files, clause, arguments):
    refused(clause, MNISTIter, **{**files, "batch_size": 2, **arguments})


@pytest.mark.clause("MNISTIter/argument", "MNISTIter/batch-size")
@pytest.mark.parametrize("arguments", [
    {"batch_size": "2"}, {"silent": "True"}, {"silent": 0}, {"num_parts": 3, "part_index": 2}, {"batch_size": 10},
    {"batch_size": 5, "num_parts": 2},
])
def test_arguments_on_the_border(files, arguments):
    assert next(MNISTIter(**{**files, "batch_size": 2, **arguments})).data


# --- damaged files -------------------------------------------------------------------------------


@pytest.mark.clause("MNISTIter/open")
def test_missing_file(tmp_path):
    for path in (tmp_path / "nowhere", tmp_path):
        assert str(path) in refused("MNISTIter/open", read_idx, path, IMAGES)


@pytest.mark.clause("MNISTIter/counts")
def test_counts_differ(files):
    files["label"].write_bytes(struct.pack(">II", 2049, 3) + bytes(3))
    message = refused("MNISTIter/counts", MNISTIter, **files, batch_size=2)
    assert "10 images" in message
    assert "3 labels" in message


@pytest.mark.clause("MNISTIter/magic")
def test_images_and_labels_exchanged(files):
    message = refused("MNISTIter/magic", MNISTIter, files["label"], files["image"], 2)
    assert f'"{files["label"]}", byte 0: magic number 2049' in message


# content, clause, byte at which the message points
DAMAGED = [
    (b"", "MNISTIter/truncated", 0),
    (b"\0\0\10", "MNISTIter/truncated", 3),
    (IMAGE_FILE[:9], "MNISTIter/truncated", 9),
    (IMAGE_FILE[:-1], "MNISTIter/truncated", 75),
    (b"\x93NUMPY\1\0" + IMAGE_FILE, "MNISTIter/magic", 0),
    (struct.pack(">IIII", 2051, 0, 3, 2), "MNISTIter/sizes", 4),
    (struct.pack(">IIII", 2051, 1, 3, 0), "MNISTIter/sizes", 12),
    (struct.pack(">IIII", 2051, 2**32 - 1, 2**32 - 1, 2**32 - 1), "MNISTIter/sizes", 4),
    (struct.pack(">IIII", 2051, 60_000, 28, 28), "MNISTIter/truncated", 16),
]


@pytest.mark.clause("MNISTIter/truncated", "MNISTIter/sizes", "MNISTIter/magic")
@pytest.mark.parametrize(("content", "clause", "byte"), DAMAGED)
def test_damaged_file(tmp_path, content, clause, byte):
    path = tmp_path / "images"
    path.write_bytes(content)
    assert f'"{path}", byte {byte}:' in refused(clause, read_idx, path, IMAGES)


@pytest.mark.clause("MNISTIter/truncated")
@pytest.mark.parametrize("content", [
    PACKED[:-20], gzip.compress(IMAGE_FILE[:-5]), PACKED[:-6] + b"sum" + PACKED[-3:],
    PACKED[:10] + b"\xff" * 20, b"\x1f\x8b",
], ids=["cut", "short", "checksum", "garbage", "begun"])
def test_damaged_gzip(tmp_path, content):
    path = tmp_path / "images.gz"
    path.write_bytes(content)
    assert str(path) in refused("MNISTIter/truncated", read_idx, path, IMAGES)


@pytest.mark.clause("MNISTIter/truncated")
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_whole_file_is_read(tmp_path, pack):
    path = tmp_path / "images"
    path.write_bytes(pack(IMAGE_FILE))
    assert read_idx(path, IMAGES).tobytes() == IMAGE_FILE[16:]


@pytest.mark.clause("MNISTIter/sizes", "MNISTIter/truncated")
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("count", [LARGEST, 2**29])
def test_promises_take_no_memory(tmp_path, pack, count):
    path = tmp_path / "labels"
    path.write_bytes(pack(struct.pack(">II", 2049, count) + bytes(100)))
    tracemalloc.start()
    with pytest.raises(MXNetError):
        read_idx(path, LABELS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20


def test_bytes_after_the_last_value_are_ignored(tmp_path):
    (tmp_path / "labels").write_bytes(LABEL_FILE + b"more")
    assert read_idx(tmp_path / "labels", LABELS).tolist() == list(range(10))


@given(st.binary(max_size=40), st.sampled_from([IMAGES, LABELS]), st.booleans())
def test_any_bytes_are_read_or_refused(tmp_path_factory, content, rank, packed):
    path = tmp_path_factory.mktemp("idx") / "file"
    header = struct.pack(">I", 0x800 + rank)
    path.write_bytes(gzip.compress(header + content) if packed else header + content)
    try:
        values = read_idx(path, rank)
    except MXNetError as error:
        assert error.clause.startswith("MNISTIter/")
        assert str(path) in str(error)
    else:
        assert values.ndim == rank
        assert values.tobytes() == content[4 * rank:][:values.size]


# --- the digits that come with the package -------------------------------------------------------


@pytest.mark.clause("data/digits")
def test_digits():
    # Sums and counts were taken from the data set itself: every class has at least 28 held-out images.
    train_images, train_labels, held_images, held_labels = digits()
    assert (train_images.shape, held_images.shape) == ((1437, 1, 8, 8), (360, 1, 8, 8))
    assert (train_labels.shape, held_labels.shape) == ((1437,), (360,))
    for array in (train_images, train_labels, held_images, held_labels):
        assert array.dtype == np.float32
    both = np.concatenate([train_images, held_images])
    assert (both.min(), both.max()) == (0, 1)
    assert 16 * both.sum(dtype=np.float64) == 561718
    assert 16 * held_images.sum(dtype=np.float64) == 112332
    train, held = (np.bincount(labels.astype(int)).tolist() for labels in (train_labels, held_labels))
    assert train == [147, 147, 138, 150, 137, 153, 141, 139, 146, 139]
    assert held == [31, 35, 39, 33, 44, 29, 40, 40, 28, 41]
    assert [one + other for one, other in zip(train, held, strict=True)] == [
        178, 182, 177, 183, 181, 182, 181, 179, 174, 180
    ]
    zero = [
        0, 0, 5, 13, 9, 1, 0, 0, 0, 0, 13, 15, 10, 15, 5, 0, 0, 3, 15, 2, 0, 11, 8, 0, 0, 4, 12, 0, 0, 8, 8,
        0, 0, 5, 8, 0, 0, 9, 8, 0, 0, 4, 11, 0, 1, 12, 7, 0, 0, 2, 14, 5, 10, 12, 0, 0, 0, 0, 6, 13, 10, 0,
        0, 0,
    ]  # the first image of the data set
    position = np.random.RandomState(0).permutation(1797).tolist().index(0)
    assert (16 * both[position]).ravel().tolist() == zero
