"""ImageRecordIter and its relatives: what MXNet 1.9.1 delivered for the same pictures, and refusals."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import refimpl as mx
from refimpl.base import MXNetError
from refimpl.io import (
    ImageRecordInt8Iter,
    ImageRecordIter,
    ImageRecordIter_v1,
    ImageRecordUInt8Iter,
    ImageRecordUInt8Iter_v1,
)
from refimpl.io.pictures import enlarge, padded, resize_shorter
from refimpl.recordio import IRHeader, pack

from .picture_records import needs_pillow, opened, packed, picture, refused, writer


@pytest.fixture
def write(tmp_path):
    """Write records with an index; return the options that read them."""
    return writer(tmp_path)


def plain(count, rows=4, columns=4):
    """Records number k with label k; each pixel of picture k is k, but the first ones say where they are."""
    whole = [np.full((rows, columns, 3), k, np.uint8) for k in range(count)]
    for pixels in whole:
        pixels[:, :, 0] = np.arange(columns)
        pixels[:, :, 1] = np.arange(rows)[:, None]
    return [packed(float(k), pixels, k) for k, pixels in enumerate(whole)]


def labels(iterator):
    return [batch.label[0].asnumpy().astype(int).tolist() for batch in iterator]


def corners(iterator):
    """(row, column) of the first pixel of each picture of :func:`plain`, or of its mirrored last one."""
    pixels = [pixels for batch in iterator for pixels in batch.data[0].asnumpy().astype(int)]
    return [(one[1, 0, 0], one[2, 0].min()) for one in pixels], [int(one[2, 0, 0] > one[2, 0, 1]) for one in pixels]


# --- sizes: MXNet 1.9.1, the blue channel of picture(6, 9) --------------------------------------------

SIZES = [
    ({"resize": 4}, (4, 6), [[12, 48, 133, 76, 132, 126], [126, 177, 86, 189, 116, 126],
                             [86, 153, 158, 180, 124, 197], [149, 88, 108, 146, 201, 146]]),
    ({"resize": 4, "inter_method": 0}, (4, 6), [[0, 11, 99, 176, 140, 27], [37, 55, 157, 241, 219, 113],
                                                [77, 109, 239, 81, 87, 251], [80, 119, 7, 112, 132, 47]]),
    ({}, (8, 8), [[23, 51, 92, 147, 117, 34, 125, 69], [53, 83, 128, 186, 159, 80, 174, 121],
                  [115, 138, 114, 164, 178, 150, 176, 116], [183, 194, 78, 96, 161, 217, 127, 71],
                  [137, 175, 208, 134, 131, 191, 105, 173], [137, 163, 104, 98, 147, 211, 129, 120],
                  [138, 109, 53, 111, 164, 184, 178, 125], [132, 26, 94, 175, 171, 114, 231, 202]]),
    ({"resize": 3}, (3, 4), [[27, 121, 71, 85], [130, 143, 204, 154], [145, 61, 170, 136]]),
    ({"pad": 1, "fill_value": 3}, (2, 8), [[148, 173, 220, 33, 124, 237, 116, 17],
                                           [77, 109, 163, 239, 81, 201, 87, 251]]),
]


@pytest.mark.clause("ImageRecordIter/size")
@pytest.mark.parametrize(("options", "size", "expected"), SIZES)
def test_sizes(options, size, expected):
    pixels, method = picture(6, 9), options.get("inter_method", 1)
    if "resize" in options:
        pixels = resize_shorter(pixels, options["resize"], method)
    if "pad" in options:
        pixels = padded(pixels, options["pad"], options["fill_value"])
    pixels = enlarge(pixels, *size, method)
    top, left = (pixels.shape[0] - size[0]) // 2, (pixels.shape[1] - size[1]) // 2
    assert pixels[top : top + size[0], left : left + size[1], 0].tolist() == expected


@needs_pillow
@pytest.mark.clause("ImageRecordIter/size", "ImageRecordIter/crop")
@pytest.mark.parametrize(("options", "size", "expected"), SIZES)
def test_sizes_out_of_a_file(options, size, expected, write):
    iterator = opened(write([packed(5.0, picture(6, 9))]), data_shape=(3, *size), batch_size=1, **options)
    assert next(iterator).data[0].asnumpy()[0, 2].tolist() == expected


# --- values -------------------------------------------------------------------------------------------


@needs_pillow
@pytest.mark.clause("ImageRecordIter/scale", "ImageRecordIter/values")
def test_scaled_values(write):
    iterator = opened(
        write([packed(5.0, picture(6, 9), 9)]), data_shape=(3, 6, 9), batch_size=1, mean_r=123.68, mean_g=116.779,
        mean_b=103.939, std_r=58.393, std_g=57.12, std_b=57.375,
    )
    batch = next(iterator)
    # MXNet 1.9.1
    expected = [
        [-0.3027760088443756, -0.11439727991819382, 0.45073893666267395],
        [-1.1165791749954224, -0.9240021109580994, -0.34627100825309753],
        [-1.8115730285644531, -1.61985182762146, -1.0446884632110596],
    ]
    assert batch.data[0].asnumpy()[0, :, 0, :3].tolist() == expected
    assert (batch.label[0].asnumpy().tolist(), batch.index.tolist(), batch.pad) == ([5], [9], 0)


@needs_pillow
@pytest.mark.clause("ImageRecordIter/values")
def test_whole_numbers(write):
    options, pixels = write([packed(0.0, picture(4, 4))]), picture(4, 4)[:, :, ::-1].transpose(2, 0, 1)
    for kind, dtype, expected in (
        (ImageRecordIter, np.float32, pixels), (ImageRecordIter_v1, np.float32, pixels),
        (ImageRecordUInt8Iter, np.uint8, pixels), (ImageRecordUInt8Iter_v1, np.uint8, pixels),
        (ImageRecordInt8Iter, np.int8, np.minimum(pixels, 127)),
    ):
        iterator = opened(options, kind, batch_size=1)
        assert iterator.provide_data[0].dtype == dtype
        assert iterator.provide_label[0].dtype == np.float32
        found = next(iterator).data[0]
        assert found.dtype == dtype
        assert np.array_equal(found.asnumpy()[0], expected)
    with pytest.warns(UserWarning, match="ImageRecordUInt8Iter ignores unknown arguments: mean_r"):
        opened(options, ImageRecordUInt8Iter, mean_r=3)


@needs_pillow
@pytest.mark.clause("ImageRecordIter/values", "ImageRecordIter/channels")
def test_channels(write):
    options = write([packed(0.0, np.full((4, 4, 3), 200, np.uint8))])
    grey = next(opened(options, data_shape=(1, 4, 4), batch_size=1)).data[0].asnumpy()
    assert grey.shape == (1, 1, 4, 4)
    assert (grey == 200).all()
    message = refused("ImageRecordIter/channels", next, opened(options, data_shape=(4, 4, 4)))
    assert "byte 0: the picture has 3 channels" in message
    clear = np.full((4, 4, 4), 7, np.uint8)
    clear[:, :, 2] = 9  # red
    found = next(opened(write([packed(0.0, clear)], "clear"), data_shape=(4, 4, 4), batch_size=1)).data[0].asnumpy()
    assert found[0, :, 0, 0].tolist() == [9, 7, 7, 7]


@needs_pillow
@pytest.mark.clause("ImageRecordIter/labels", "ImageRecordIter/record")
def test_labels(write, tmp_path):
    several = write([packed([k, 2 * k], picture(4, 4), k) for k in range(3)])
    iterator = opened(several, label_width=2)
    assert iterator.provide_label == [("softmax_label", (2, 2))]
    assert labels(iterator) == [[[0, 0], [1, 2]], [[2, 4], [0, 0]]]
    assert "2 labels, but label_width is 1" in refused("ImageRecordIter/record", next, opened(several))
    table = tmp_path / "other.lst"
    table.write_text("0\t5\t6\tx.png\n\n1\t7\t8\ty.png\n")
    iterator = opened(several, path_imglist=table, label_width=2)
    assert next(iterator).label[0].asnumpy().tolist() == [[5, 6], [7, 8]]
    refused("ImageRecordIter/record", next, iterator)  # number 2 is not in it


# --- which pictures, in which order: MXNet 1.9.1 ------------------------------------------------------


@needs_pillow
@pytest.mark.clause("MXDataIter/round-batch", "MXDataIter/no-round-batch", "ImageRecordIter/order")
def test_rounds(write):
    options = write(plain(7))
    iterator = opened(options, batch_size=3)
    assert labels(iterator) == [[0, 1, 2], [3, 4, 5], [6, 0, 1]]
    iterator.reset()
    assert labels(iterator) == [[2, 3, 4], [5, 6, 0]]
    iterator = opened(options, batch_size=3, round_batch=False)
    assert [(batch.pad, batch.index.tolist()) for batch in iterator] == [(0, [0, 1, 2]), (0, [3, 4, 5]), (2, [6, 4, 5])]


ORDERS = [
    ({}, [[3, 4, 5, 2, 1, 6, 0], [5, 6, 0, 1, 3, 2, 4], [1, 5, 0, 4, 6, 3, 2]]),
    ({"seed": 1}, [[1, 4, 3, 2, 0, 6, 5], [1, 6, 0, 4, 5, 3, 2], [1, 6, 4, 3, 2, 5, 0]]),
    ({"seed": 5}, [[1, 3, 0, 6, 4, 5, 2], [3, 4, 0, 1, 6, 2, 5], [4, 3, 5, 0, 2, 6, 1]]),
]


@needs_pillow
@pytest.mark.clause("ImageRecordIter/order")
@pytest.mark.parametrize(("options", "expected"), ORDERS)
def test_orders(options, expected, write):
    iterator = opened(write(plain(7)), batch_size=7, shuffle=True, **options)
    for order in expected:
        assert labels(iterator) == [order]
        iterator.reset()


@needs_pillow
@pytest.mark.clause("ImageRecordIter/order", "MXDataIter/round-batch")
def test_shuffled_rounds(write):
    iterator, found = opened(write(plain(7)), batch_size=3, shuffle=True), []
    for _ in range(3):
        found.append(labels(iterator))
        iterator.reset()
    assert found == [[[3, 4, 5], [2, 1, 6], [0, 5, 6]], [[0, 1, 3], [2, 4, 1]], [[5, 0, 4], [6, 3, 2]]]


@needs_pillow
@pytest.mark.clause("ImageRecordIter/parts")
@pytest.mark.parametrize(("indexed", "expected"), [
    (True, [[0, 1, 2], [3, 4, 5], [6]]), (False, [[0, 1, 2], [3, 4], [5, 6]]),
])
def test_parts(indexed, expected, write):
    options = write(plain(7))
    more = {"path_imgidx": options["path_imgidx"]} if indexed else {}
    found = [labels(opened(options, batch_size=1, num_parts=3, part_index=part, **more)) for part in range(3)]
    assert found == [[[label] for label in part] for part in expected]


# --- what is random: MXNet 1.9.1, pictures of 20 x 30 cut to 4 x 4 -------------------------------------


@needs_pillow
@pytest.mark.clause("ImageRecordIter/crop", "ImageRecordIter/draws")
def test_crops(write):
    options = write(plain(5, 20, 30))
    assert corners(opened(options, batch_size=5))[0] == [(8, 13)] * 5

    def drawn(**more):
        iterator = opened(options, rand_crop=True, batch_size=5, **more)
        return corners(iterator)[0]

    assert drawn() == [(10, 3), (7, 23), (5, 10), (0, 17), (4, 19)]
    assert drawn(seed_aug=0) == [(10, 3), (6, 19), (14, 3), (2, 3), (3, 7)]
    assert drawn(seed_aug=1)[:3] == [(6, 19), (14, 3), (2, 3)]
    assert drawn(seed=7) == drawn(preprocess_threads=8) == drawn()
    assert drawn(rand_mirror=True)[:3] == [(10, 3), (13, 8), (0, 17)]


@needs_pillow
@pytest.mark.clause("ImageRecordIter/mirror", "ImageRecordIter/draws")
def test_mirrors(write):
    options = write(plain(20))

    def mirrored(**more):
        return corners(opened(options, batch_size=20, **more))[1]

    assert mirrored() == [0] * 20
    assert mirrored(mirror=True) == [1] * 20
    assert mirrored(rand_mirror=True) == [1, 0, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 0]
    assert mirrored(rand_mirror=True, seed_aug=1) == [0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0]


# --- refusals -----------------------------------------------------------------------------------------


@needs_pillow
@pytest.mark.clause("ImageRecordIter/record")
def test_records_without_a_picture(write):
    no_header = write([b"short"], "short")
    assert "byte 0: a header has 24 bytes" in refused("ImageRecordIter/record", next, opened(no_header))
    no_picture = write([plain(1)[0], pack(IRHeader(0, 1.0, 1, 0), b"no picture")], "none")
    message = refused("ImageRecordIter/record", next, opened(no_picture))
    assert f'{no_picture["path_imgrec"]}", byte ' in message
    assert "no picture that can be read" in message


@pytest.mark.clause("ImageRecordIter/empty", "ImageRecordIter/index", "ImageRecordIter/list")
def test_damaged_files(write, tmp_path):
    options = write([pack(IRHeader(0, 1.0, 1, 0), bytes(40))])
    (tmp_path / "empty.rec").write_bytes(b"")
    refused("ImageRecordIter/empty", opened, {"path_imgrec": tmp_path / "empty.rec"})
    refused("ImageRecordIter/empty", opened, options, num_parts=2, part_index=1)
    refused("RecordIO/openable", opened, {"path_imgrec": tmp_path / "nowhere.rec"})
    content = (tmp_path / "pictures.rec").read_bytes()
    junk = b"hello world, this is no record"
    for name, damaged in (("cut", content[:-7]), ("junk", junk), ("mark", b"abcd" + content)):
        (tmp_path / name).write_bytes(damaged)
        assert "byte 0" in refused("RecordIO/valid", opened, {"path_imgrec": tmp_path / name})
    refused("ImageRecordIter/index", opened, options, path_imgidx=tmp_path / "nowhere.idx")
    (tmp_path / "wrong.idx").write_text("0\t0\n1\t12\n")
    assert "byte 12" in refused("ImageRecordIter/index", opened, options, path_imgidx=tmp_path / "wrong.idx")
    refused("ImageRecordIter/list", opened, options, path_imglist=tmp_path / "nowhere.lst")
    for line in ("1 2 x", "1\tx.png", "a\t2\tx.png", "1\tb\tx.png"):
        (tmp_path / "wrong.lst").write_text(f"0\t1\ty.png\n{line}\n")
        assert "line 2" in refused("ImageRecordIter/list", opened, options, path_imglist=tmp_path / "wrong.lst")


@needs_pillow
@pytest.mark.clause("ImageRecordIter/record")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 399), st.integers(0, 255)), min_size=1, max_size=4), st.integers(0, 4))
def test_any_damage_is_read_or_refused(write, tmp_path, changes, cut):
    write([*plain(2), pack(IRHeader(0, 1.0, 1, 0), b"\x0a\x23\xd7\xce" * 3)])
    content = bytearray((tmp_path / "pictures.rec").read_bytes())
    for place, value in changes:
        content[place % len(content)] = value
    (tmp_path / "damaged.rec").write_bytes(content[: len(content) - cut])
    try:
        for batch in opened({"path_imgrec": tmp_path / "damaged.rec"}, batch_size=1):
            assert batch.data[0].shape == (1, 3, 4, 4)
    except MXNetError as error:
        assert error.clause in ("RecordIO/valid", "ImageRecordIter/record")


@pytest.mark.clause(
    "ImageRecordIter/dtype", "ImageRecordIter/required", "ImageRecordIter/argument"
)
def test_options(write):
    options = write([pack(IRHeader(0, 1.0, 1, 0), bytes(40))])
    opened(options, max_rotate_angle=0, mean_img="", verbose=False, max_random_scale=1.0, min_aspect_ratio=None)
    refused("ImageRecordIter/dtype", opened, options, dtype="float64")
    refused("ImageRecordIter/dtype", opened, options, dtype=np.uint8)
    for missing in ("path_imgrec", "data_shape", "batch_size"):
        refused("ImageRecordIter/required", opened, options, **{missing: None})
    for wrong in ({"data_shape": (4, 4)}, {"data_shape": (2, 4, 4)}, {"inter_method": 5}, {"std_r": 0},
                  {"mean_r": "x"}, {"label_width": 0}, {"num_parts": 2, "part_index": 2}, {"rand_crop": "maybe"}):
        refused("ImageRecordIter/argument", opened, options, **wrong)
    with pytest.warns(UserWarning, match="ImageRecordIter ignores unknown arguments: bogus"):
        opened(options, bogus=1)


@pytest.mark.clause("RecordIO/pillow")
def test_pillow_is_an_extra(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    iterator = opened(write([pack(IRHeader(0, 1.0, 1, 0), bytes(40))]))
    with pytest.raises(ImportError, match=r"refimpl\[image\]"):
        next(iterator)


@needs_pillow
@pytest.mark.clause("ImageRecordIter/values")
def test_a_module_learns_from_pictures(write):
    bright = [packed(float(k % 2), np.full((4, 4, 3), 200 * (k % 2), np.uint8), k) for k in range(8)]
    iterator = opened(write(bright), batch_size=4, scale=1 / 255, shuffle=True)
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc"), name="softmax")
    module = mx.mod.Module(net)
    mx.random.seed(1)
    module.fit(iterator, num_epoch=5, optimizer_params={"learning_rate": 0.5})
    assert module.score(iterator, "acc") == [("accuracy", 1.0)]
