"""DataDesc, DataBatch, DataIter, NDArrayIter and the wrappers: values observed in MXNet 1.9.1."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from refimpl import io
from refimpl import ndarray as nd
from refimpl.base import MXNetError
from tests.stateful.failing import nth

DATA, LABEL = 10 * np.arange(5), np.arange(5)


def epoch(iterator):
    """One epoch as (data, label, pad) of each batch."""
    return [
        (batch.data[0].asnumpy().tolist(), batch.label[0].asnumpy().tolist(), batch.pad)
        for batch in iterator
    ]


def refused(clause, kind, function, *args, **kwargs):
    with pytest.raises(kind) as caught:
        function(*args, **kwargs)
    assert caught.value.clause == clause
    return str(caught.value)


# --- descriptions and batches --------------------------------------------------------------------


@pytest.mark.clause("DataDesc/two-fields")
def test_desc_is_a_pair_with_two_attributes():
    desc = io.DataDesc("data", (2, 3), np.int32, "NTC")
    assert repr(desc) == "DataDesc[data,(2, 3),<class 'numpy.int32'>,NTC]"
    assert [*desc] == ["data", (2, 3)]
    assert desc == io.DataDesc("data", (2, 3)) == ("data", (2, 3))
    assert hash(desc) == hash(("data", (2, 3)))
    assert (io.DataDesc("d", (1,)).dtype, io.DataDesc("d", (1,)).layout) == (np.float32, "NCHW")
    for twin in (copy.copy(desc), pickle.loads(pickle.dumps(desc))):
        assert (twin.dtype, twin.layout) == (np.int32, "NTC")


@pytest.mark.clause("DataDesc/batch-axis")
def test_batch_axis():
    axes = [io.DataDesc.get_batch_axis(layout) for layout in ("NCHW", "TNC", "C", "", None)]
    assert axes == [0, 1, -1, -1, 0]


def test_desc_lists():
    plain = io.DataDesc.get_list([("a", (1, 2)), ("b", (3,))], None)
    assert [d.dtype for d in plain] == [np.float32, np.float32]
    typed = io.DataDesc.get_list([("a", (1, 2)), ("b", (3,))], [("b", "float64"), ("a", np.int32)])
    assert [d.dtype for d in typed] == [np.int32, "float64"]
    with pytest.raises(KeyError):
        io.DataDesc.get_list([("a", (1, 2))], [])


@pytest.mark.clause("DataBatch/lists")
def test_batch():
    batch = io.DataBatch([nd.zeros((2, 3))], [nd.zeros((2,))])
    assert str(batch) == "DataBatch: data shapes: [(2, 3)] label shapes: [(2,)]"
    assert str(io.DataBatch((nd.zeros((2, 3)),))) == "DataBatch: data shapes: [(2, 3)] label shapes: None"
    assert (batch.pad, batch.index, batch.bucket_key, batch.provide_data) == (None,) * 4
    refused("DataBatch/lists", AssertionError, io.DataBatch, nd.zeros((2, 3)))
    refused("DataBatch/lists", AssertionError, io.DataBatch, [nd.zeros((2, 3))], nd.zeros((2,)))


def test_base_iterator_is_empty():
    iterator = io.DataIter(3)
    assert iterator.batch_size == 3
    assert list(iterator) == []
    assert (iterator.getdata(), iterator.getlabel(), iterator.getindex(), iterator.getpad()) == (None,) * 4


# --- NDArrayIter ---------------------------------------------------------------------------------

FIRST_TWO = [([0, 10], [0, 1], 0), ([20, 30], [2, 3], 0)]


@pytest.mark.clause("NDArrayIter/pad")
def test_pad():
    iterator = io.NDArrayIter(DATA, LABEL, 2)
    for _ in range(2):
        assert epoch(iterator) == [*FIRST_TWO, ([40, 0], [4, 0], 1)]
        iterator.reset()
    wide = io.NDArrayIter(DATA, LABEL, 12)
    assert epoch(wide) == [
        ([0, 10, 20, 30, 40, 0, 10, 20, 30, 40, 0, 10], [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1], 7)
    ]


@pytest.mark.clause("NDArrayIter/discard")
@pytest.mark.parametrize("handle", ["discard", "anything", None])
def test_discard(handle):
    iterator = io.NDArrayIter(DATA, LABEL, 2, last_batch_handle=handle)
    for _ in range(2):
        assert epoch(iterator) == FIRST_TWO
        iterator.reset()
    assert epoch(io.NDArrayIter(DATA, LABEL, 7, last_batch_handle=handle)) == []


@pytest.mark.clause("NDArrayIter/roll-over")
def test_roll_over():
    iterator = io.NDArrayIter(DATA, LABEL, 2, last_batch_handle="roll_over")
    for _ in range(2):
        assert epoch(iterator) == FIRST_TWO
        iterator.reset()
        assert epoch(iterator) == [([40, 0], [4, 0], 1), ([10, 20], [1, 2], 0), ([30, 40], [3, 4], 0)]
        iterator.reset()
    iterator.next()
    iterator.reset()
    assert epoch(iterator) == FIRST_TWO


@pytest.mark.clause("NDArrayIter/roll-over")
def test_roll_over_gathers_rows_until_a_large_batch_is_full():
    # By hand: 5 rows an epoch, 12 to a batch, so the third epoch has the first batch. (MXNet fails here.)
    iterator = io.NDArrayIter(DATA, LABEL, 12, last_batch_handle="roll_over")
    epochs = []
    for _ in range(3):
        epochs.append(epoch(iterator))
        iterator.reset()
    labels = [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]
    assert epochs == [[], [], [([10 * n for n in labels], labels, 10)]]


@pytest.mark.clause("NDArrayIter/hard-reset")
def test_hard_reset_forgets_what_is_left_over():
    iterator = io.NDArrayIter(DATA, LABEL, 2, last_batch_handle="roll_over")
    epoch(iterator)
    iterator.hard_reset()
    assert epoch(iterator) == FIRST_TWO
    iterator.reset()
    iterator.hard_reset()
    assert epoch(iterator) == FIRST_TWO


@pytest.mark.clause("NDArrayIter/shuffle")
@pytest.mark.parametrize(("handle", "expected"), [
    ("pad", [[[0, 3], [2, 1], [4, 0]], [[2, 1], [0, 4], [3, 2]], [[3, 1], [2, 4], [0, 3]]]),
    ("discard", [[[0, 3], [2, 1]], [[2, 1], [0, 4]], [[3, 1], [2, 4]]]),
    ("roll_over", [[[0, 3], [2, 1]], [[4, 2], [1, 0], [4, 3]], [[3, 1], [2, 4]]]),
])
def test_shuffle(handle, expected):
    # np.random.seed(7); it = mx.io.NDArrayIter(10 * np.arange(5), np.arange(5), 2, True, handle)
    np.random.seed(7)
    iterator = io.NDArrayIter(DATA, LABEL, 2, shuffle=True, last_batch_handle=handle)
    assert iterator.idx.tolist() == [0, 3, 2, 1, 4]
    for wanted in expected:
        found = epoch(iterator)
        assert [label for _, label, _ in found] == wanted
        assert [data for data, _, _ in found] == [[10 * n for n in label] for label in wanted]
        iterator.reset()


@pytest.mark.clause("NDArrayIter/names")
def test_names():
    assert io.NDArrayIter(DATA, LABEL, 2).provide_data == [("data", (2,))]
    assert io.NDArrayIter([DATA], [LABEL], 2).provide_label == [("softmax_label", (2,))]
    two = io.NDArrayIter([DATA, DATA], [LABEL, LABEL], 2, data_name="x")
    assert [d.name for d in two.provide_data] == ["_0_x", "_1_x"]
    assert [d.name for d in two.provide_label] == ["_0_softmax_label", "_1_softmax_label"]
    named = io.NDArrayIter({"b": DATA, "B": DATA, "_": DATA}, {}, 2)
    assert [d.name for d in named.provide_data] == ["B", "_", "b"]
    many = io.NDArrayIter([DATA] * 11, None, 2)
    assert [d.name for d in many.provide_data][:3] == ["_0_data", "_10_data", "_1_data"]
    assert (many.provide_label, many.num_source, len(many.data_list)) == ([], 11, 11)


@pytest.mark.clause("NDArrayIter/types")
@pytest.mark.parametrize("shuffle", [False, True])
def test_types(shuffle):
    for source in (np.arange(4), np.arange(4.0), np.arange(4).astype(bool), np.arange(4, dtype=np.float16)):
        iterator = io.NDArrayIter(source, source, 2, shuffle)
        assert iterator.provide_data[0].dtype == iterator.next().label[0].dtype == np.float32
    for dtype in ("float64", "int32"):
        source = nd.array([1, 2, 3, 4], dtype=dtype)
        iterator = io.NDArrayIter(source, source, 2, shuffle)
        assert iterator.provide_data[0].dtype == iterator.next().data[0].dtype == np.dtype(dtype)


@pytest.mark.clause("NDArrayIter/copies")
def test_batches_are_copies():
    source = nd.array([0, 1, 2, 3])
    iterator = io.NDArrayIter(source, None, 2)
    batch = iterator.next()
    batch.data[0][:] = 99
    assert source.asnumpy().tolist() == [0, 1, 2, 3]
    source[:] = -1
    assert iterator.next().data[0].asnumpy().tolist() == [-1, -1]


@pytest.mark.clause("NDArrayIter/layout")
def test_layout_names_the_axis_of_samples():
    steps = np.arange(6).reshape(2, 3)  # 2 steps of 3 samples
    iterator = io.NDArrayIter(steps, 10 * steps, 2, layout="TN")
    assert iterator.provide_data == [("data", (2, 2))]
    assert iterator.provide_data[0].layout == "TN"
    assert epoch(iterator) == [
        ([[0, 1], [3, 4]], [[0, 10], [30, 40]], 0), ([[2, 0], [5, 3]], [[20, 0], [50, 30]], 1)
    ]
    refused("NDArrayIter/layout", ValueError, io.NDArrayIter, DATA, None, 2, layout="TC")
    refused("NDArrayIter/layout", MXNetError, io.NDArrayIter, steps, LABEL, 2, layout="TN")
    assert len(epoch(io.NDArrayIter(DATA, LABEL, 5, layout=None))) == 1


@pytest.mark.clause("NDArrayIter/protocol")
def test_stepping_by_hand():
    iterator = io.NDArrayIter(DATA, LABEL, 2, last_batch_handle="discard")
    assert [iterator.iter_next() for _ in range(3)] == [True, True, True]
    assert iterator.getdata()[0].asnumpy().tolist() == [40]
    assert (iterator.getpad(), iterator.getindex()) == (0, None)
    assert not iterator.iter_next()
    assert iter(iterator) is iterator


@pytest.mark.clause("NDArrayIter/before-first", "NDArrayIter/past-end")
def test_there_is_no_batch_before_the_first_and_after_the_last():
    iterator = io.NDArrayIter(DATA, LABEL, 2)
    refused("NDArrayIter/before-first", MXNetError, iterator.getdata)
    epoch(iterator)
    message = refused("NDArrayIter/past-end", AssertionError, iterator.getlabel)
    assert message.startswith("DataIter needs reset.")
    with pytest.raises(StopIteration):
        iterator.next()


@pytest.mark.clause("NDArrayIter/rows")
def test_sources_of_different_length():
    refused("NDArrayIter/rows", MXNetError, io.NDArrayIter, DATA, LABEL[:4], 2)
    refused("NDArrayIter/rows", MXNetError, io.NDArrayIter, [DATA, DATA[:4]], None, 2)
    longer = io.NDArrayIter(DATA, np.arange(6), 2)
    assert epoch(longer)[-1] == ([40, 0], [4, 0], 1)
    assert epoch(io.NDArrayIter(np.zeros((0, 3)), None, 2)) == []


@pytest.mark.clause("NDArrayIter/data")
@pytest.mark.parametrize("empty", [None, [], {}])
def test_data_is_needed(empty):
    refused("NDArrayIter/data", AssertionError, io.NDArrayIter, empty, LABEL, 2)


@pytest.mark.clause("NDArrayIter/sources")
@pytest.mark.parametrize("source", ["abc", 3, (DATA, DATA), [1.0, 2.0], {"a": "text"}, np.array(3.0)])
def test_sources_are_arrays(source):
    refused("NDArrayIter/sources", TypeError, io.NDArrayIter, source, None, 1)


@pytest.mark.clause("NDArrayIter/batch-size")
@pytest.mark.parametrize("batch_size", [0, -1, 2.0, "2", None])
def test_batch_size_is_positive(batch_size):
    refused("NDArrayIter/batch-size", MXNetError, io.NDArrayIter, DATA, LABEL, batch_size)


# --- wrappers ------------------------------------------------------------------------------------


@pytest.mark.clause("ResizeIter/size")
def test_resize():
    iterator = io.ResizeIter(io.NDArrayIter(DATA, LABEL, 2), 5)
    whole = [*FIRST_TWO, ([40, 0], [4, 0], 1)]
    for _ in range(2):
        assert epoch(iterator) == whole + FIRST_TWO
        iterator.reset()
    assert (iterator.provide_data, iterator.batch_size) == ([("data", (2,))], 2)
    going_on = io.ResizeIter(io.NDArrayIter(DATA, LABEL, 2), 2, reset_internal=False)
    assert epoch(going_on) == whole[:2]
    going_on.reset()
    assert epoch(going_on) == [whole[2], whole[0]]
    assert epoch(io.ResizeIter(io.NDArrayIter(DATA, LABEL, 2), 0)) == []


@pytest.mark.clause("DataIter/no-batch")
def test_resize_getters():
    iterator = io.ResizeIter(io.NDArrayIter(DATA, LABEL, 2), 1)
    refused("DataIter/no-batch", AttributeError, iterator.getdata)
    assert iterator.iter_next()
    assert iterator.getlabel()[0].asnumpy().tolist() == [0, 1]
    assert (iterator.getdata()[0].shape, iterator.getpad(), iterator.getindex()) == ((2,), 0, None)
    assert not iterator.iter_next()


@pytest.mark.clause("PrefetchingIter/joined")
def test_prefetch():
    iterator = io.PrefetchingIter([io.NDArrayIter(DATA, LABEL, 2), io.NDArrayIter(DATA + 1, LABEL, 2)])
    for _ in range(2):
        batches = list(iterator)
        assert [[value.asnumpy().tolist() for value in batch.data] for batch in batches] == [
            [[0, 10], [1, 11]], [[20, 30], [21, 31]], [[40, 0], [41, 1]]
        ]
        assert [len(batch.label) for batch in batches] == [2, 2, 2]
        assert [batch.pad for batch in batches] == [0, 0, 1]
        iterator.reset()
    renamed = io.PrefetchingIter(
        io.NDArrayIter(DATA, LABEL, 2), [{"data": "x"}], [{"softmax_label": "y"}]
    )
    assert (renamed.provide_data, renamed.provide_label) == ([("x", (2,))], [("y", (2,))])
    assert (renamed.batch_size, epoch(renamed)) == (2, [*FIRST_TWO, ([40, 0], [4, 0], 1)])


@pytest.mark.clause("PrefetchingIter/iters", "PrefetchingIter/lengths", "PrefetchingIter/pads")
def test_prefetch_refusals():
    refused("PrefetchingIter/iters", AssertionError, io.PrefetchingIter, [])
    short = [io.NDArrayIter(DATA, None, 1), io.NDArrayIter(DATA[:2], None, 1)]
    refused("PrefetchingIter/lengths", AssertionError, list, io.PrefetchingIter(short))
    uneven = [io.NDArrayIter(DATA, None, 2), io.NDArrayIter(np.arange(6), None, 2)]
    refused("PrefetchingIter/pads", AssertionError, list, io.PrefetchingIter(uneven))


class Broken(io.DataIter):
    provide_data = (io.DataDesc("data", (1,)),)
    provide_label = ()

    def next(self):
        raise OSError("the disk is gone")


@pytest.mark.clause("PrefetchingIter/errors")
def test_prefetch_passes_errors_on():
    with pytest.raises(OSError, match="the disk is gone"):
        io.PrefetchingIter(Broken()).next()


@pytest.mark.clause("PrefetchingIter/errors")
@pytest.mark.parametrize("failing", [1, 2, 3])
def test_prefetch_without_a_thread(failing):
    with nth("thread", failing):  # the third is that of the first iterator again, or none
        iterator = io.PrefetchingIter([io.NDArrayIter(DATA, LABEL, 2), io.NDArrayIter(DATA + 1, LABEL, 2)])
        for _ in range(2):
            assert [[value.asnumpy().tolist() for value in batch.data] for batch in iterator] == [
                [[0, 10], [1, 11]], [[20, 30], [21, 31]], [[40, 0], [41, 1]]
            ]
            iterator.reset()
    with nth("thread", 1):
        broken = io.PrefetchingIter(Broken())
    with pytest.raises(OSError, match="the disk is gone"):
        broken.next()


@pytest.mark.clause("PrefetchingIter/turns")
def test_threads_share_the_batches_of_an_iterator_that_prefetches():
    batches = io.PrefetchingIter(io.NDArrayIter(np.arange(400), batch_size=1))
    with ThreadPoolExecutor(4) as pool:
        taken = pool.map(lambda _: [batch.data[0].asscalar() for batch in batches], range(4))
        assert sorted(number for part in taken for number in part) == list(range(400))
