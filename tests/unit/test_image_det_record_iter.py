"""ImageDetRecordIter: labels of different lengths as MXNet 1.9.1 lays them out, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from refimpl.io import ImageDetRecordIter
from refimpl.recordio import IRHeader, pack

from .picture_records import needs_pillow, opened, packed, picture, refused, writer


@pytest.fixture
def write(tmp_path):
    """Write records with an index; return the options that read them."""
    return writer(tmp_path)

BOX = [0, 0.1, 0.2, 0.5, 0.6]


def boxed(*counts):
    return [packed([2, 5, *BOX * count], picture(10, 20), k) for k, count in enumerate(counts)]


@needs_pillow
@pytest.mark.clause("ImageDetRecordIter/values", "ImageDetRecordIter/mirror", "ImageDetRecordIter/size")
def test_boxes(write):
    options = write(boxed(1, 2))
    iterator = opened(options, ImageDetRecordIter, data_shape=(3, 8, 8))
    assert iterator.provide_label == [("softmax_label", (2, 16))]
    first, second = next(iterator).label[0].asnumpy()
    # MXNet 1.9.1 lays the labels out like this
    assert np.allclose(first, [3, 8, 8, 7, 2, 5, *BOX, -1, -1, -1, -1, -1])
    assert np.allclose(second, [3, 8, 8, 12, 2, 5, *BOX, *BOX])
    wide = opened(options, ImageDetRecordIter, label_pad_width=30, label_pad_value=-5, data_shape=(3, 8, 8))
    assert next(wide).label[0].asnumpy()[0, 11:].tolist() == [-5] * 23
    mirrored = next(opened(options, ImageDetRecordIter, rand_mirror_prob=1, data_shape=(3, 8, 8)))
    assert np.allclose(mirrored.label[0].asnumpy()[0, 6:11], [0, 0.5, 0.2, 0.9, 0.6])
    straight = next(opened(options, ImageDetRecordIter, data_shape=(3, 8, 8))).data[0].asnumpy()
    assert np.array_equal(mirrored.data[0].asnumpy(), straight[:, :, :, ::-1])


# MXNet 1.9.1: height and width of a picture of 10 x 20 within a shape
MODES = [("fit", (8, 8), (4, 8)), ("fit", (30, 30), (15, 30)), ("fit", (8, 30), (8, 16)), ("shrink", (8, 8), (4, 8)),
         ("shrink", (30, 30), (10, 20)), ("shrink", (8, 30), (8, 16)), ("force", (30, 8), (30, 8))]


@needs_pillow
@pytest.mark.clause("ImageDetRecordIter/size")
@pytest.mark.parametrize(("mode", "shape", "size"), MODES)
def test_sizes_of_boxed_pictures(mode, shape, size, write):
    settings = {"data_shape": (3, *shape), "batch_size": 1, "resize_mode": mode, "mean_r": -1}
    batch = next(opened(write(boxed(1)), ImageDetRecordIter, **settings))
    assert batch.label[0].asnumpy()[0, :3].tolist() == [3, *size]
    assert (batch.data[0].asnumpy()[0, 0] != 0).sum() == size[0] * size[1]


@pytest.mark.clause("ImageDetRecordIter/label-pad-width", "ImageRecordIter/record")
def test_refused_boxes(write):
    options = write(boxed_bytes([2, 5, *BOX, *BOX]))
    message = refused("ImageDetRecordIter/label-pad-width", opened, options, ImageDetRecordIter, label_pad_width=5)
    assert "the longest labels have 12" in message
    refused("ImageRecordIter/record", opened, options, ImageDetRecordIter, label_width=3)
    for wrong in ([3.0], [2, 5, 1, 2], [1, 5, *BOX], [2, 4, 1, 2, 3, 4], [2.5, 5, *BOX]):
        refused("ImageRecordIter/record", opened, write(boxed_bytes(wrong), "wrong"), ImageDetRecordIter)
    for other in ({"resize_mode": "x"}, {"rand_mirror_prob": "x"}, {"inter_method": 5}):
        refused("ImageRecordIter/argument", opened, options, ImageDetRecordIter, **other)


def boxed_bytes(labels_of_one):
    return [pack(IRHeader(0, labels_of_one, 0, 0), bytes(40))]


@needs_pillow
@pytest.mark.clause("ImageDetRecordIter/scale")
def test_scaled_values(write):
    pixels = np.full((4, 4, 3), 18, np.uint8)
    pixels[:, :, 1], pixels[:, :, 0] = 65, 151
    options = write([packed([2, 5, *BOX], pixels)])
    batch = next(opened(options, ImageDetRecordIter, batch_size=1, mean_g=3, std_g=7, scale=0.3))
    expected = np.array([5.4, 2.6571429, 45.300003], np.float32)  # MXNet 1.9.1
    assert np.array_equal(batch.data[0].asnumpy()[0, :, 0, 0], expected)
