"""mx.image: what is refused, and rules that no random picture shows."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.io import ImageDetRecordIter, ImageRecordIter
from refimpl.recordio import IRHeader, pack

from .picture_records import needs_pillow, packed, picture, writer

image = mx.image
SRC = mx.nd.array(picture(6, 9), dtype="uint8")
FLOAT = mx.nd.array(picture(6, 9).transpose(2, 0, 1))
BOXES = np.array([[0, 0.1, 0.2, 0.5, 0.6]])


def png(pixels: np.ndarray | None = None) -> bytes:
    """The file of a picture."""
    from refimpl.recordio import unpack

    return unpack(packed(0.0, picture(6, 9) if pixels is None else pixels))[1]


def refused(clause: str, kind: type[Exception], function: Any, *args: Any, **kwargs: Any) -> str:
    with pytest.raises(kind) as caught:
        function(*args, **kwargs)
    assert caught.value.clause == clause  # type: ignore[attr-defined]
    assert type(caught.value) is kind
    return str(caught.value)


FUNCTIONS = [
    ("imdecode/buffer", ValueError, image.imdecode, ("text",), {}),
    ("imdecode/buffer", ValueError, image.imdecode, ([1, 2],), {}),
    ("imdecode/picture", mx.MXNetError, image.imdecode, (b"",), {}),
    ("imdecode/picture", mx.MXNetError, image.imdecode, (np.zeros(4, np.float32),), {}),
    ("imdecode/picture", mx.MXNetError, image.imdecode, (mx.nd.zeros(4),), {}),
    ("imdecode/array", AssertionError, mx.nd._internal._cvimdecode, (b"bytes",), {}),
    ("imdecode/argument", mx.MXNetError, image.imdecode, (b"x",), {"flag": 2}),
    ("imdecode/argument", mx.MXNetError, image.imdecode, (b"x",), {"to_rgb": "maybe"}),
    ("imdecode/argument", mx.MXNetError, image.imdecode, (b"x",), {"other": 2}),
    ("imread/file", mx.MXNetError, image.imread, ("no such file.png",), {}),
    ("imresize/method", ValueError, image.resize_short, (SRC, 3, 5), {}),
    ("imresize/picture", ValueError, image.resize_short, (SRC[0], 3), {}),
    ("fixed_crop/inside", mx.MXNetError, image.fixed_crop, (SRC, 9, 0, 1, 1), {}),
    ("fixed_crop/inside", mx.MXNetError, image.fixed_crop, (SRC, 0, -1, 1, 1), {}),
    ("random_crop/keywords", AssertionError, image.random_size_crop, (SRC, (3, 3), 0.1, (1, 2)), {"other": 1}),
    ("random_crop/keywords", AssertionError, image.RandomSizedCropAug, ((3, 3), 0.1, (1, 2)), {"other": 1}),
    ("random_crop/ranges", ValueError, image.random_size_crop, (SRC, (3, 3), (-1, -0.5), (1, 2)), {}),
    ("random_crop/ranges", ValueError, image.random_size_crop, (SRC, (3, 3), 0.1, (0, 2)), {}),
    ("imrotate/zooms", ValueError, image.imrotate, (FLOAT, 30, True, True), {}),
    ("imrotate/type", TypeError, image.imrotate, (SRC, 30), {}),
    ("imrotate/axes", ValueError, image.imrotate, (FLOAT[0], 30), {}),
    ("imrotate/angle", TypeError, image.imrotate, (FLOAT, mx.nd.array([1, 2])), {}),
    ("imrotate/angle", TypeError, image.imrotate, (mx.nd.stack(FLOAT, FLOAT), [30, 20]), {}),
    ("imrotate/angles", ValueError, image.imrotate, (mx.nd.stack(FLOAT, FLOAT), mx.nd.array([30])), {}),
    ("CreateAugmenter/rand-resize", AssertionError, image.CreateAugmenter, ((3, 4, 4),), {"rand_resize": True}),
    ("CreateAugmenter/statistics", AssertionError, image.CreateAugmenter, ((3, 4, 4),), {"mean": (1, 2, 3)}),
    ("DetAugmenter/borrow", TypeError, image.DetBorrowAug, (3,), {}),
    ("DetAugmenter/select-list", ValueError, image.DetRandomSelectAug, ([image.CastAug()],), {}),
    ("DetAugmenter/range", AssertionError, image.DetRandomCropAug, (0.1, "wide"), {}),
    ("CreateDetAugmenter/lists", AssertionError, image.CreateMultiRandCropAugmenter, ([1, 2, 3], [1, 2]), {}),
]


@pytest.mark.clause(*sorted({row[0] for row in FUNCTIONS}))
@pytest.mark.parametrize("row", FUNCTIONS, ids=lambda row: row[0])
def test_functions_refuse(row: tuple[str, type[Exception], Any, tuple, dict]) -> None:
    clause, kind, function, args, kwargs = row
    refused(clause, kind, function, *args, **kwargs)


@pytest.mark.clause("_cvcopyMakeBorder/gradient")
def test_a_border_has_no_gradient() -> None:
    with pytest.raises(mx.MXNetError) as caught:
        mx.kernels.grad("_cvcopyMakeBorder", [[[1]]], top=1, bot=1, left=1, right=1)
    assert caught.value.clause == "harness/gradient"


@needs_pillow
@pytest.mark.clause("imdecode/picture", "imdecode/size", "imdecode/out", "imread/file")
def test_damaged_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = png()
    for content in (b"junk" * 9, whole[: len(whole) // 2], whole[:20]):
        assert "0x" not in refused("imdecode/picture", mx.MXNetError, image.imdecode, content)
    (tmp_path / "empty").write_bytes(b"")
    refused("imdecode/picture", mx.MXNetError, image.imread, tmp_path / "empty")
    refused("imdecode/out", mx.MXNetError, image.imdecode, whole, out=mx.nd.zeros((6, 9, 3)))
    out = mx.nd.zeros((6, 9, 3), dtype="uint8")
    assert image.imdecode(whole, out=out) is out
    assert out.asnumpy()[:, :, ::-1].tolist() == picture(6, 9).tolist()
    monkeypatch.setattr("refimpl.recordio.image_records.MOST_PIXELS", 50)
    refused("imdecode/size", mx.MXNetError, image.imdecode, whole)


@needs_pillow
@pytest.mark.clause("imdecode/values", "imdecode/grey")
def test_colours_of_files() -> None:
    """Computed by hand; MXNet 1.9.1 gives the same."""
    from PIL import Image

    def read(pixels: Any, flag: int, kind: str = "PNG", mode: str | None = None) -> Any:
        file = io.BytesIO()
        Image.fromarray(np.array(pixels), mode).save(file, kind)
        return image.imdecode(file.getvalue(), flag).asnumpy().tolist()

    color = [[[200, 100, 49]]]
    assert read(np.uint8(color), 1) == color
    assert read(np.uint8([[[200, 100, 49, 0]]]), 1) == color
    assert read(np.uint8(color), 0) == [[[124]]]  # 1959400 + 1923400 + 183113 = 4065913; / 32768 = 124.08
    assert read(np.uint8(color), 0, "BMP") == [[[124]]]  # 979800 + 961700 + 91532 + 8192 = 2041224; / 16384 = 124.59
    assert read(np.uint8([[[201, 100, 49]]]), 0, "BMP") == [[[124]]]
    assert read(np.uint8([[[203, 100, 49]]]), 0, "BMP") == [[[125]]]  # 2055921 / 16384 = 125.48
    assert read(np.uint8([[[203, 100, 49]]]), 0) == [[[124]]]  # 4095304 / 32768 = 124.98
    assert read(np.uint16([[0x1234]]), 0) == [[[0x12]]]
    assert image.imdecode(png(np.uint8([[[1, 2, 3]]])), to_rgb=False).asnumpy().tolist() == [[[1, 2, 3]]]


# --- iterators -------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """pictures.rec with an index, its pictures as files, and a list of them."""
    write = writer(tmp_path)
    write([packed(float(k), picture(6, 9), k) for k in range(3)])
    write([packed([2, 5, k, 0.1, 0.2, 0.5, 0.6], picture(6, 9), k) for k in range(3)], "boxes")
    for k in range(3):
        (tmp_path / f"{k}.png").write_bytes(png())
    (tmp_path / "files.lst").write_text("".join(f"{k}\t{k}\t{k}.png\n" for k in range(3)))
    (tmp_path / "damaged.lst").write_text("0\t1\t0.png\n1\tone\t1.png\n")
    return tmp_path


def made(files: Path, **given: Any) -> Any:
    chosen = {"batch_size": 2, "data_shape": (3, 4, 4), "path_imgrec": str(files / "pictures.rec"), **given}
    return image.ImageIter(**{name: value for name, value in chosen.items() if value is not None})


@needs_pillow
@pytest.mark.clause(
    "ImageIter/source", "ImageIter/dtype", "ImageIter/last-batch", "ImageIter/batch-size", "ImageIter/index",
    "ImageIter/part", "ImageIter/data-shape", "ImageIter/list", "ImageIter/file", "ImageIter/size",
    "ImageIter/label-width",
)
def test_image_iter_refuses(files: Path) -> None:
    index, listed = str(files / "pictures.idx"), str(files / "files.lst")
    for clause, kind, given in (
        ("source", AssertionError, {"path_imgrec": None}), ("dtype", AssertionError, {"dtype": "uint8"}),
        ("last-batch", AssertionError, {"last_batch_handle": "other"}),
        ("batch-size", mx.MXNetError, {"batch_size": 0}),
        ("index", AssertionError, {"shuffle": True}), ("index", AssertionError, {"num_parts": 2}),
        ("part", AssertionError, {"num_parts": 2, "part_index": 2, "path_imgidx": index}),
        ("data-shape", ValueError, {"data_shape": (4, 4)}), ("data-shape", ValueError, {"data_shape": (1, 4, 4)}),
        ("list", ValueError, {"path_imgrec": None, "path_imglist": str(files / "damaged.lst")}),
        ("list", ValueError, {"path_imgrec": None, "imglist": [["0.png"]]}),
        ("file", FileNotFoundError, {"path_imgrec": None, "path_imglist": str(files / "none.lst")}),
        ("file", mx.MXNetError, {"path_imgrec": None, "path_imglist": str(files)}),
    ):
        refused(f"ImageIter/{clause}", kind, made, files, **given)
    for clause, kind, given in (
        ("list", ValueError, {"path_imgidx": index, "imglist": [[1, "0.png"]]}),
        ("file", FileNotFoundError, {"path_imgrec": None, "imglist": [[1, "none.png"]], "path_root": str(files)}),
        ("file", mx.MXNetError, {"path_imgrec": None, "imglist": [[1, "."]], "path_root": str(files)}),
        ("size", ValueError, {"aug_list": []}),
        ("label-width", ValueError, {"path_imgrec": str(files / "boxes.rec")}),
    ):
        refused(f"ImageIter/{clause}", kind, made(files, **given).next)
    assert next(made(files, path_imgrec=None, path_imglist=listed, path_root=str(files))).label[0].shape == (2,)


@needs_pillow
@pytest.mark.clause("ImageIter/picture", "ImageIter/invalid", "DataIter/undelivered")
def test_damaged_and_skipped_pictures(files: Path) -> None:
    damaged = pack(IRHeader(0, 1.0, 1, 0), b"none")
    options = writer(files)([packed(0.0, picture(6, 9)), damaged, packed(2.0, picture(6, 9))], "bad")
    for index in (None, options["path_imgidx"]):
        iterator = made(files, path_imgrec=options["path_imgrec"], path_imgidx=index, batch_size=1)
        assert next(iterator).label[0].asnumpy().tolist() == [0]
        for _ in range(2):  # the call that failed has delivered nothing
            assert "record 1 " in refused("ImageIter/picture", mx.MXNetError, iterator.next)
    (files / "1.png").write_bytes(b"none")
    named = made(files, path_imgrec=None, imglist=[[1, "1.png"]], path_root=str(files))
    assert "file 1.png " in refused("ImageIter/picture", mx.MXNetError, named.next)

    class Choosy(image.ImageIter):
        def check_valid_image(self, data: Any) -> None:
            super().check_valid_image(data)
            if self.cur == 2:
                raise RuntimeError("not this one")

    chosen = Choosy(1, (3, 4, 4), path_imgrec=str(files / "pictures.rec"))
    assert [batch.label[0].asnumpy().tolist() for batch in chosen] == [[0], [2]]
    refused("ImageIter/invalid", RuntimeError, chosen.check_valid_image, [np.float32(1)])


@needs_pillow
@pytest.mark.clause("ImageIter/pad", "ImageIter/hard-reset")
def test_the_last_batch(files: Path) -> None:
    def labels(iterator: Any) -> list[Any]:
        return [(batch.label[0].asnumpy().astype(int).tolist(), batch.pad) for batch in iterator]

    assert labels(made(files, batch_size=8)) == [([0, 1, 2, 0, 1, 2, 0, 1], 5)]
    kept = made(files, last_batch_handle="roll_over")
    assert labels(kept) == [([0, 1], 0)]
    assert labels(kept) == []
    kept.reset()
    assert labels(kept) == [([2, 0], 1), ([1, 2], 0)]
    kept.reset()
    assert labels(kept) == [([0, 1], 0)]
    kept.hard_reset()
    assert labels(kept) == [([0, 1], 0)]


@needs_pillow
@pytest.mark.clause(
    "ImageDetIter/objects", "ImageDetIter/no-object", "ImageDetIter/widths", "ImageDetIter/reshape",
    "ImageDetIter/sync", "ImageDetIter/draw",
)
def test_image_det_iter_refuses(files: Path) -> None:
    def boxes(*labels: list[float]) -> Any:
        listed = [[one, "0.png"] for one in labels]
        return image.ImageDetIter(2, (3, 8, 8), imglist=listed, path_root=str(files))

    good, box = [2, 5, 0, 0.1, 0.1, 0.5, 0.5], [1, 0.1, 0.1, 0.5, 0.5]
    for labels in ([1.0, 2.0], [2, 4, *box, 1, 2, 3], [2, 5, *box, 6], [1, 5, *box], [2.5, 5, *box, 6]):
        refused("ImageDetIter/objects", RuntimeError, boxes, good, labels)
    refused("ImageDetIter/no-object", RuntimeError, boxes, good, [2, 5, 1, 0.5, 0.1, 0.5, 0.5])
    refused("ImageDetIter/widths", RuntimeError, boxes, good, [2, 6, *box, 6])
    refused("ImageDetIter/widths", RuntimeError, boxes)
    iterator, wide = boxes(good), boxes(good, [2, 5, *box, *box])
    for shape in ((1,), (0, 5), (1, 6)):
        refused("ImageDetIter/reshape", ValueError, iterator.reshape, None, shape)
    refused("ImageDetIter/sync", AssertionError, iterator.sync_label_shape, 3)
    refused("ImageDetIter/sync", AssertionError, iterator.sync_label_shape, boxes([2, 6, *box, 6]))
    assert iterator.sync_label_shape(wide) is wide
    assert iterator.provide_label == [("label", (2, 2, 5))]
    iterator.reshape((3, 6, 9))
    assert iterator.provide_data == [("data", (2, 3, 6, 9))]
    refused("ImageDetIter/draw", ImportError, next, iterator.draw_next(waitKey=1))
    drawn = next(boxes([2, 5, 0, 0.25, 0.25, 0.75, 0.75]).draw_next(color=(1, 2, 3), thickness=1))
    assert drawn.shape == (8, 8, 3)
    assert drawn[2, 2:7].tolist() == [[3, 2, 1]] * 5  # the upper edge, from column 2 to 6
    assert drawn[3, 2].tolist() == drawn[3, 6].tolist() == [3, 2, 1]
    assert drawn[3, 3].tolist() != [3, 2, 1]


@pytest.mark.clause("DetAugmenter/enabled", "DetAugmenter/pad")
def test_ranges_that_allow_nothing() -> None:
    for kind, given in (("Crop", {"area_range": (0.8, 0.1)}), ("Crop", {"aspect_ratio_range": (-1, 1)}),
                        ("Pad", {"area_range": (0.5, 0.8)}), ("Pad", {"aspect_ratio_range": (2, 1)})):
        with pytest.warns(UserWarning, match=f"DetRandom{kind}Aug leaves pictures as they are"):
            augmenter = getattr(image, f"DetRandom{kind}Aug")(**given)
        assert augmenter(SRC, BOXES) == (SRC, BOXES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        padded, _ = image.DetRandomPadAug(1.0, 4.0, pad_val=9)(SRC, BOXES)
    assert {tuple(pixel) for row in padded.asnumpy() for pixel in row} >= {(9, 0, 0)}


# --- ImageRecordIter -------------------------------------------------------------------------------


@needs_pillow
@pytest.mark.clause(
    "ImageRecordIter/together", "ImageRecordIter/crop-size", "ImageRecordIter/too-large", "ImageRecordIter/mean-shape",
    "ImageRecordIter/argument",
)
def test_changes_that_are_refused(files: Path) -> None:
    def opened(kind: Any = ImageRecordIter, name: str = "pictures", **given: Any) -> Any:
        return kind(**{"path_imgrec": str(files / f"{name}.rec"), "data_shape": (3, 4, 4), "batch_size": 1, **given})

    for given in (
        {"random_resized_crop": True, "rand_crop": True}, {"random_resized_crop": True, "max_random_scale": 2},
        {"rotate": 3, "inter_method": 0}, {"data_shape": (1, 4, 4), "random_h": 3},
    ):
        refused("ImageRecordIter/together", mx.MXNetError, opened, **given)
    for given in ({"inter_method": 5}, {"pad": -1}, {"min_random_scale": 2}, {"max_aspect_ratio": 1},
                  {"min_crop_size": 3}, {"min_random_area": 0}, {"brightness": -1},
                  {"rotate_list": "30,x"}, {"rotate_list": "30,,60"}, {"rotate_list": (30, 60)}):
        refused("ImageRecordIter/argument", mx.MXNetError, opened, **given)
    for given in ({"max_pad_scale": 0}, {"crop_emit_mode": "x"}, {"num_crop_sampler": 2, "min_crop_scales": (1, 2, 3)},
                  {"min_crop_scales": (2,)}, {"max_crop_trials": (1.5,)}):
        refused("ImageRecordIter/argument", mx.MXNetError, opened, ImageDetRecordIter, "boxes", **given)
    message = refused("ImageRecordIter/crop-size", mx.MXNetError, next, opened(min_crop_size=8, max_crop_size=8))
    assert 'pictures.rec", byte 0: a picture of (6, 9) is smaller' in message
    refused("ImageRecordIter/too-large", mx.MXNetError, next, opened(pad=1 << 20))
    refused("ImageRecordIter/too-large", mx.MXNetError, next, opened(min_random_scale=1e5, max_random_scale=1e5))
    refused("ImageRecordIter/too-large", mx.MXNetError, next, opened(ImageDetRecordIter, "boxes", resize=1 << 20))
    mx.nd.save(str(files / "mean.params"), {"mean_img": mx.nd.zeros((3, 8, 8))})
    refused("ImageRecordIter/mean-shape", mx.MXNetError, opened, mean_img=str(files / "mean.params"))
