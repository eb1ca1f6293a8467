"""CSVIter: batches observed in MXNet 1.9.1, and files that are refused with their line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refimpl.base import MXNetError
from refimpl.io import CSVIter, DataDesc, MNISTIter, MXDataIter

FIVE = "1,2\n3,4\n5,6\n7,8\n9,10\n"


def opened(path, **options):
    return CSVIter(**{"data_csv": path, "data_shape": (2,), "batch_size": 2, **options})


def epoch(iterator):
    """(data, labels, pad, index) of each batch."""
    return [
        (batch.data[0].asnumpy().tolist(), batch.label[0].asnumpy().tolist(), batch.pad, batch.index.tolist())
        for batch in iterator
    ]


def values(path, **options):
    return [row for data, *_ in epoch(opened(path, batch_size=1, **options)) for row in data]


def refused(clause, path, **options):
    with pytest.raises(MXNetError) as caught:
        opened(path, **options)
    assert caught.value.clause == f"CSVIter/{clause}"
    return str(caught.value)


# --- what MXNet 1.9.1 delivers ----------------------------------------------------------------------


@pytest.mark.clause("CSVIter/values", "CSVIter/labels", "MXDataIter/round-batch")
def test_rounds(write):
    iterator = opened(write(FIVE), label_csv=write("0\n1\n2\n3\n4\n", "labels.csv"))
    assert isinstance(iterator, MXDataIter)
    assert issubclass(MNISTIter, MXDataIter)
    assert iterator.provide_data == [("data", (2, 2))]
    assert iterator.provide_label == [("softmax_label", (2,))]
    assert epoch(iterator) == [
        ([[1, 2], [3, 4]], [0, 1], 0, [0, 1]), ([[5, 6], [7, 8]], [2, 3], 0, [2, 3]),
        ([[9, 10], [1, 2]], [4, 0], 1, [4, 0]),
    ]
    assert epoch(iterator) == []
    iterator.reset()
    assert epoch(iterator) == [([[3, 4], [5, 6]], [1, 2], 0, [1, 2]), ([[7, 8], [9, 10]], [3, 4], 0, [3, 4])]
    iterator.reset()
    assert epoch(iterator)[0][0] == [[1, 2], [3, 4]]


@pytest.mark.clause("MXDataIter/no-round-batch")
def test_without_rounds(write):
    iterator = opened(write(FIVE), label_csv=write("0\n1\n2\n3\n4\n", "labels.csv"), round_batch=False)
    for _ in range(2):
        assert epoch(iterator)[-1] == ([[9, 10], [7, 8]], [4, 3], 1, [4, 3])
        iterator.reset()


@pytest.mark.clause("MXDataIter/no-round-batch", "MXDataIter/round-batch")
def test_batches_larger_than_the_data(write):
    path = write("1,2\n3,4\n")
    assert epoch(opened(path, batch_size=3, round_batch=False)) == [([[1, 2], [3, 4], [0, 0]], [0] * 3, 1, [0, 1, 0])]
    iterator = opened(path, batch_size=3)
    assert epoch(iterator)[0][2:] == (1, [0, 1, 0])
    iterator.reset()
    assert epoch(iterator)[0][2:] == (2, [1, 0, 1])  # MXNet 1.9.1 agrees so far, and refuses larger batches
    assert epoch(opened(path, batch_size=7))[0][2:] == (5, [0, 1, 0, 1, 0, 1, 0])


@pytest.mark.clause("CSVIter/labels")
def test_labels(write):
    path = write(FIVE)
    assert [labels for _, labels, *_ in epoch(opened(path, batch_size=5))] == [[0] * 5]
    wide = opened(path, label_csv=path, label_shape=(2,))
    assert wide.provide_label == [("softmax_label", (2, 2))]
    assert epoch(wide)[0][1] == [[1, 2], [3, 4]]
    longer = write("0\n" * 7, "longer.csv")
    assert len(epoch(opened(path, label_csv=longer))) == 3


@pytest.mark.clause("CSVIter/values", "CSVIter/dtype")
def test_shapes_and_types(write):
    path = write(FIVE)
    assert epoch(opened(path, data_shape=(1, 2)))[0][0] == [[[1, 2]], [[3, 4]]]
    for dtype, kind in ((None, np.float32), ("float32", np.float32), ("int32", np.int32), (np.int64, np.int64)):
        iterator = opened(path, dtype=dtype, data_name="x", label_name="y")
        (data,), (label,) = iterator.provide_data, iterator.provide_label
        assert (data.dtype, label.dtype) == (kind, kind)
        assert isinstance(data, DataDesc)
        batch = next(iterator)
        assert (batch.data[0].dtype, batch.label[0].dtype) == (kind, kind)
    assert "float64" in refused("dtype", path, dtype="float64")


# MXNet 1.9.1 reads the same out of each
ACCEPTED = {
    "empty lines": ("1,2\n\n3,4\n\n\n", [[1, 2], [3, 4]]),
    "no last newline": ("1,2\n3,4", [[1, 2], [3, 4]]),
    "CRLF": ("1,2\r\n3,4\r\n", [[1, 2], [3, 4]]),
    "CR": ("1,2\r3,4\r", [[1, 2], [3, 4]]),
    "spaces": (" 1 , 2\n3 ,4\n", [[1, 2], [3, 4]]),
    "a last comma": ("1,2,\n3,4,\n", [[1, 2], [3, 4]]),
    "a byte order mark": (b"\xef\xbb\xbf1,2\n3,4\n", [[1, 2], [3, 4]]),
    "forms of numbers": ("+1,.5\n4.,-1e3\n", [[1, 0.5], [4, -1000]]),
    "infinite": ("inf,-inf\n1,2\n", [[np.inf, -np.inf], [1, 2]]),
}


@pytest.mark.clause("CSVIter/values")
@pytest.mark.parametrize("name", ACCEPTED)
def test_ways_to_write_numbers(name, write):
    content, expected = ACCEPTED[name]
    assert values(write(content)) == expected


@pytest.mark.clause("CSVIter/values")
def test_numbers_are_rounded_to_the_nearest(write):
    # MXNet 1.9.1 reads the first as -2.55299; the nearest float32 is -2.5529897
    path = write("-2.5529898158340787,1e400\n0.1,1e-400\n")
    assert np.array_equal(
        np.array(values(path), np.float32), np.array([[-2.5529898158340787, np.inf], [0.1, 0]], np.float32)
    )


@pytest.mark.clause("CSVIter/open")
def test_folders_and_lists_of_files(tmp_path, write):
    first, second = write("5,6\n", "b.csv"), write("1,2\n3,4\n", "a.csv")
    assert values(tmp_path) == [[1, 2], [3, 4], [5, 6]]
    assert values(f"{first};{second}") == [[5, 6], [1, 2], [3, 4]]


@pytest.mark.clause("CSVIter/argument")
def test_arguments_as_text(write):
    path = write(FIVE)
    iterator = opened(path, data_shape="(2,)", batch_size="2", round_batch="False", prefetch_buffer="1")
    assert epoch(iterator)[-1][2] == 1
    assert opened(path, data_shape=2).provide_data[0].shape == (2, 2)
    with pytest.warns(UserWarning, match="CSVIter ignores unknown arguments: bogus"):
        opened(path, bogus=1)


# --- refusals ---------------------------------------------------------------------------------------

DAMAGED = {
    "too few": ("1,2\n3\n", "width", "line 2: 1 numbers"), "too many": ("1,2\n3,4,9\n", "width", "line 2: 3 numbers"),
    "tabs": ("1\t2\n", "width", "line 1"), "text": ("1,2\n\na,4\n", "number", "line 3: 'a'"),
    "a gap": ("1,\n2,3\n", "number", "line 1: ''"), "two gaps": (",,\n", "number", "line 1: ''"),
    "hexadecimal": ("0x10,2\n", "number", "'0x10'"), "rest": ("1x,2\n", "number", "'1x'"),
    "underscore": ("1_0,2\n", "number", "'1_0'"), "NUL": (b"1,2\n\x003,4\n", "number", "line 2"),
    "quotes": ('"1",2\n', "number", "line 1"), "nothing": ("", "empty", "has no line"),
    "only newlines": ("\n\n", "empty", "has no line"),
}


@pytest.mark.clause("CSVIter/width", "CSVIter/number", "CSVIter/empty")
@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files(name, write):
    content, clause, reason = DAMAGED[name]
    path = write(content)
    message = refused(clause, path)
    assert str(path) in message
    assert reason in message


@pytest.mark.clause("CSVIter/number")
def test_whole_numbers(write):
    refused("number", write("1,2.5\n"), dtype="int32")
    refused("number", write("1,99999999999\n"), dtype="int32")


@pytest.mark.clause("CSVIter/counts", "CSVIter/open", "CSVIter/required", "CSVIter/argument")
def test_other_refusals(write, tmp_path):
    path = write(FIVE)
    assert "3 labels" in refused("counts", path, label_csv=write("0\n1\n2\n", "short.csv"))
    assert "nowhere.csv" in refused("open", tmp_path / "nowhere.csv")
    (tmp_path / "folder").mkdir()
    refused("open", tmp_path / "folder")
    for missing in ("data_csv", "data_shape", "batch_size"):
        assert missing in refused("required", path, **{missing: None})
    for wrong in ({"batch_size": 0}, {"batch_size": "x"}, {"round_batch": "maybe"}, {"data_shape": ()},
                  {"data_shape": "__import__('os')"}, {"label_shape": (0,)}, {"data_shape": (2.5,)}):
        refused("argument", path, **wrong)


@pytest.mark.clause("CSVIter/number", "CSVIter/width")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60) | st.text("0123456789.,-e\n\r \t", max_size=40))
def test_any_file_is_read_or_refused(write, content):
    try:
        found = values(write(content), data_shape=(1,))
    except MXNetError as error:
        assert error.clause.startswith("CSVIter/")
    else:
        assert found


# --- the protocol -----------------------------------------------------------------------------------


@pytest.mark.clause("MXDataIter/no-batch", "MXDataIter/reset")
def test_getters_and_resets(write):
    iterator = opened(write(FIVE))
    for getter in (iterator.getdata, iterator.getlabel, iterator.getindex, iterator.getpad):
        with pytest.raises(MXNetError) as caught:
            getter()
        assert caught.value.clause == "MXDataIter/no-batch"
    assert iterator.iter_next()
    assert iterator.getdata().asnumpy().tolist() == [[1, 2], [3, 4]]
    assert iterator.getlabel().asnumpy().tolist() == [0, 0]
    assert (iterator.getindex().tolist(), iterator.getindex().dtype, iterator.getpad()) == ([0, 1], np.uint64, 0)
    iterator.reset()
    assert len(epoch(iterator)) == 3
    with pytest.raises(StopIteration):
        next(iterator)
    assert not iterator.iter_next()
    iterator.reset()  # behind the row that was taken
    assert next(iterator).index.tolist() == [1, 2]
    iterator.reset()  # in the middle: from the beginning
    assert next(iterator).index.tolist() == [0, 1]
