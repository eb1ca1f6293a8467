"""LibSVMIter: csr batches observed in MXNet 1.9.1, and files that are refused with their line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refimpl.base import MXNetError
from refimpl.io import LibSVMIter

FIVE = "1 0:1 2:2\n0 1:3\n2\n3 0:4 1:5 2:6\n4 2:7\n"
LABELS = "0 0:1\n1 1:2\n2 0:3 1:4\n3\n4 1:5\n"


def opened(path, **options):
    return LibSVMIter(**{"data_libsvm": path, "data_shape": (3,), "batch_size": 2, **options})


def parts_of(array):
    return [one.asnumpy().tolist() for one in (array.data, array.indices, array.indptr)]


def refused(clause, path, **options):
    with pytest.raises(MXNetError) as caught:
        opened(path, **options)
    assert caught.value.clause == f"LibSVMIter/{clause}"
    return str(caught.value)


# --- what MXNet 1.9.1 delivers ----------------------------------------------------------------------


@pytest.mark.clause("LibSVMIter/values", "LibSVMIter/labels", "MXDataIter/round-batch")
def test_batches(write):
    iterator = opened(write(FIVE))
    assert iterator.provide_data == [("data", (2, 3))]
    assert iterator.provide_label == [("softmax_label", (2,))]
    found = [
        (parts_of(batch.data[0]), batch.label[0].asnumpy().tolist(), batch.pad, batch.index.tolist())
        for batch in iterator
    ]
    assert found == [
        ([[1, 2, 3], [0, 2, 1], [0, 2, 3]], [1, 0], 0, [0, 1]),
        ([[4, 5, 6], [0, 1, 2], [0, 0, 3]], [2, 3], 0, [2, 3]),
        ([[7, 1, 2], [2, 0, 2], [0, 1, 3]], [4, 1], 1, [4, 0]),
    ]
    iterator.reset()
    batch = next(iterator)
    assert batch.data[0].asnumpy().tolist() == [[0, 3, 0], [0, 0, 0]]
    assert batch.label[0].asnumpy().tolist() == [0, 2]
    data = batch.data[0]
    assert (data.stype, data.data.dtype, data.indices.dtype, data.indptr.dtype) == (
        "csr", np.float32, np.int64, np.int64
    )


@pytest.mark.clause("LibSVMIter/labels")
def test_labels_in_a_file(write):
    iterator = opened(write(FIVE), label_libsvm=write(LABELS, "labels.svm"), label_shape=(2,))
    assert iterator.provide_label == [("softmax_label", (2, 2))]
    labels = [batch.label[0] for batch in iterator]
    assert [one.stype for one in labels] == ["csr"] * 3
    assert [one.asnumpy().tolist() for one in labels] == [[[1, 0], [0, 2]], [[3, 4], [0, 0]], [[0, 5], [1, 0]]]


# MXNet 1.9.1: the labels in each part of this file, for 1 to 4 parts
ELEVEN = "".join(f"{k} {k % 3}:{k + 1}{' 2:1' if k in (0, 4) else ''}\n" for k in range(11))
PARTS = [
    [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]], [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10]],
    [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]],
    [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10]],
]


@pytest.mark.clause("LibSVMIter/parts")
@pytest.mark.parametrize("parts", PARTS, ids=len)
def test_parts(parts, write):
    path = write(ELEVEN)

    def labels(part):
        iterator = opened(path, batch_size=1, num_parts=len(parts), part_index=part)
        return [int(batch.label[0].asscalar()) for batch in iterator]

    assert [labels(part) for part in range(len(parts))] == parts


@pytest.mark.clause("LibSVMIter/parts")
@pytest.mark.parametrize("parts", [
    [[0, 1, 2, 3, 4], [5, 6, 7]], [[0, 1, 2], [3, 4, 5], [6, 7]], [[0, 1, 2], [3, 4], [5, 6], [7]],
], ids=len)
def test_lines_that_begin_at_a_cut(parts, write):
    """MXNet 1.9.1: eight lines of six bytes."""
    path = write("".join(f"{k} 0:1\n" for k in range(8)))

    def labels(part):
        iterator = opened(path, batch_size=1, num_parts=len(parts), part_index=part)
        return [int(batch.label[0].asscalar()) for batch in iterator]

    assert [labels(part) for part in range(len(parts))] == parts


@pytest.mark.clause("LibSVMIter/parts")
def test_labels_of_a_file_follow_their_samples(write):
    path, labels = write(ELEVEN), write("".join(f"0 1:{k + 1}\n" for k in range(11)), "labels.svm")
    iterator = opened(path, batch_size=3, label_libsvm=labels, label_shape=(2,), num_parts=3, part_index=2)
    assert next(iterator).label[0].asnumpy().tolist() == [[0, 9], [0, 10], [0, 11]]


ACCEPTED = {
    "empty lines": ("1 0:1\n\n2 1:2\n", [[1, 0, 0], [0, 2, 0]]), "comments": ("# no\n1 0:1 # a:b\n", [[1, 0, 0]]),
    "qid": ("1 qid:3 0:1\n", [[1, 0, 0]]), "CRLF": ("1 0:1\r\n2 1:2\r\n", [[1, 0, 0], [0, 2, 0]]),
    "tabs": ("1\t0:1\n", [[1, 0, 0]]), "no newline": ("1 0:1", [[1, 0, 0]]),
    "spaces": ("  1  0:1  2:3  \n", [[1, 0, 3]]), "mark": (b"\xef\xbb\xbf1 0:1\n", [[1, 0, 0]]),
}


@pytest.mark.clause("LibSVMIter/values")
@pytest.mark.parametrize("name", ACCEPTED)
def test_ways_to_write_samples(name, write):
    content, expected = ACCEPTED[name]
    found = [row for batch in opened(write(content), batch_size=1) for row in batch.data[0].asnumpy().tolist()]
    assert found == expected


@pytest.mark.clause("LibSVMIter/values")
def test_columns_are_sorted_and_zeros_stored(write):
    batch = next(opened(write("1 2:5 0:0\n"), batch_size=1))
    assert parts_of(batch.data[0]) == [[0, 5], [0, 2], [0, 2]]


# --- refusals; MXNet 1.9.1 crashes or delivers broken arrays for most of these --------------------------

DAMAGED = {
    "label is text": ("1 0:1\na 0:1\n", "label", "line 2: 'a'"), "no label": ("0:1 1:2\n", "label", "'0:1'"),
    "two labels": ("1,2 0:1\n", "label", "'1,2'"), "text as column": ("1 a:1\n", "pair", "'a:1'"),
    "text as value": ("1 0:1 1:x\n", "pair", "'1:x'"), "no value": ("1 0:1 2\n", "pair", "'2'"),
    "space in a pair": ("1 0: 1\n", "pair", "'0:'"), "beyond": ("1 0:1 3:2\n", "column", "column 3"),
    "negative": ("1 -1:1\n", "column", "column -1"), "huge": ("1 99999999999999999999:1\n", "pair", "line 1"),
    "twice": ("1 0:1 0:2\n", "column-twice", "column 0"), "nothing": ("", "empty", "no line"),
    "comment alone": ("# nothing\n", "empty", "no sample"), "underscore": ("1 0:1_0\n", "pair", "'0:1_0'"),
}


@pytest.mark.clause(
    "LibSVMIter/label", "LibSVMIter/pair", "LibSVMIter/column", "LibSVMIter/column-twice", "LibSVMIter/empty"
)
@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files(name, write):
    content, clause, reason = DAMAGED[name]
    path = write(content)
    message = refused(clause, path)
    assert str(path) in message
    assert reason in message


@pytest.mark.clause("LibSVMIter/shape", "LibSVMIter/label-shape", "LibSVMIter/round-batch", "LibSVMIter/dtype")
def test_refused_options(write):
    path, labels = write(FIVE), write(LABELS, "labels.svm")
    refused("shape", path, data_shape=(3, 1))
    refused("label-shape", path, label_shape=(2,))
    refused("label-shape", path, label_libsvm=labels)
    refused("label-shape", path, label_libsvm=labels, label_shape=(2, 2))
    refused("round-batch", path, round_batch=False)
    refused("dtype", path, dtype="float64")


@pytest.mark.clause(
    "LibSVMIter/counts", "LibSVMIter/open", "LibSVMIter/required", "LibSVMIter/argument", "LibSVMIter/empty"
)
def test_other_refusals(write, tmp_path):
    path = write(FIVE)
    for labels in (1, 4):
        refused("counts", path, label_libsvm=write("0 0:1\n" * labels, "short.svm"), label_shape=(2,))
    refused("open", tmp_path / "nowhere")
    refused("empty", write("1 0:1\n", "one.svm"), num_parts=3, part_index=2)
    for missing in ("data_libsvm", "data_shape", "batch_size"):
        refused("required", path, **{missing: None})
    for wrong in ({"batch_size": 0}, {"num_parts": 0}, {"num_parts": 2, "part_index": 2}):
        refused("argument", path, **wrong)


@pytest.mark.clause("LibSVMIter/pair")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60) | st.text("0123:.- \n#ae", max_size=40))
def test_any_file_is_read_or_refused(write, content):
    try:
        batch = next(opened(write(content)))
    except MXNetError as error:
        assert error.clause.startswith("LibSVMIter/")
    else:
        batch.data[0].check_format()
