"""ImageDetRecordIter: pictures with boxes around what is in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..base import decides, require
from ..kernels.foundation import reserving
from .arguments import Arguments
from .augmentation import METHODS, MOST_PIXELS, method_of
from .boxes import NAMES, BoxAugmentation, Boxed
from .colors import brighter, moved_in_hls
from .image_record_iter import RecordIter, mean_image
from .iterator import DataDesc
from .pictures import resize as resized
from .pictures import shorter_edge
from .shuffling import stream_of, unit

# How often a colour is changed, and the most that it is changed by.
COLORS = (
    ("random_hue_prob", "max_random_hue"), ("random_saturation_prob", "max_random_saturation"),
    ("random_illumination_prob", "max_random_illumination"), ("random_contrast_prob", "max_random_contrast"),
)
# The seed of what is random about a picture.
SEED = 233
MODES = ("force", "fit", "shrink")
# Before the labels of a record stand: channels, height and width of its picture, and how many labels follow.
HEAD = 4


class ImageDetRecordIter(RecordIter):
    """Pictures out of a RecordIO file with labels of different lengths, for detection.

    The labels of a record are ``header width, object width, ... , objects``; each object is a class and a box
    (left, top, right, bottom) in parts of the picture, and whatever else fills its width. A row of the batch is
    ``channels, height, width, number of labels, labels, label_pad_value, ...``.

    Args:
        path_imgrec, path_imglist, data_shape, batch_size, shuffle, seed, num_parts, part_index, round_batch,
            data_name, label_name: as for :class:`~refimpl.io.ImageRecordIter`.
        label_width: labels in every record, or -1: each as many as it has.
        label_pad_width, label_pad_value: the labels of a row are filled up to this width with this value; 0
            is the width of the longest.
        resize_mode: "force" stretches a picture to ``data_shape``; "fit" keeps its proportions and leaves zeros
            at the right or below; "shrink" does so only if it is too large.
        resize: make the shorter edge so many pixels long first.
        inter_method: 0 (nearest), 1 (linear), 2 (cubic), 3 (area), 4 (Lanczos), 9 (by the sizes) or 10 (at random).
        random_hue_prob, max_random_hue, random_saturation_prob, max_random_saturation, random_illumination_prob,
            max_random_illumination, random_contrast_prob, max_random_contrast: how often each is changed, and by how
            much at most.
        rand_mirror_prob: how often pictures are mirrored, and their boxes with them.
        mean_img: a file with an array of ``data_shape`` to subtract; without it, the mean of all is saved there.
        mean_r, mean_g, mean_b, mean_a, std_r, std_g, std_b, std_a, scale: (pixel - mean) / std * scale; a std of 0
            counts as 1.

    Raises:
        MXNetError: as for ImageRecordIter; labels are no objects; or ``label_pad_width`` is too small.
        ImportError: Pillow is not installed; it is asked for when a batch is read.
    """

    def __init__(
        self, *, path_imgrec: str | os.PathLike | None = None, data_shape: Any = None, batch_size: Any = None,
        path_imglist: str | os.PathLike | None = None, label_width: Any = -1, shuffle: Any = False, seed: Any = 0,
        num_parts: Any = 1, part_index: Any = 0, round_batch: Any = True, label_pad_width: Any = 0,
        label_pad_value: Any = -1, resize: Any = -1,
        resize_mode: str = "force", inter_method: Any = 1, rand_mirror_prob: Any = 0,
        scale: Any = 1, data_name: str = "data", label_name: str = "softmax_label", **others: Any,
    ) -> None:
        names = [f"{what}_{c}" for what in ("mean", "std") for c in "rgba"] + ["mean_img", *sum(COLORS, ())]
        looks = {name: others.pop(name) for name in names if name in others}
        boxes = {name: others.pop(name) for name in NAMES if name in others}
        read = self._open(
            path_imgrec, None, path_imglist, data_shape, batch_size, shuffle, seed, num_parts, part_index, others
        )
        if resize_mode not in MODES:
            raise read.refused("resize_mode", f"one of {', '.join(MODES)}", resize_mode)
        self._mode = resize_mode
        self._method = read.integer("inter_method", inter_method)
        if self._method not in METHODS:
            raise read.refused("inter_method", f"one of {', '.join(map(str, METHODS))}", inter_method)
        self._shorter = read.integer("resize", resize)
        self._draws = stream_of(SEED)
        self._mirror = read.real("rand_mirror_prob", rand_mirror_prob)
        self._boxes = BoxAugmentation(read, boxes)
        self._read_looks(read, looks, data_shape)
        self._scale = np.float32(read.real("scale", scale))
        self._fixed = read.integer("label_width", label_width)
        self._filler = read.real("label_pad_value", label_pad_value)
        longest = max(len(self._objects(row)) for row in range(len(self._file)))
        width = read.integer("label_pad_width", label_pad_width, 0) or longest
        require(
            "ImageDetRecordIter/label-pad-width", width >= longest,
            f"label_pad_width is {width}, the longest labels have {longest} numbers",
        )
        self._width = HEAD + width
        super().__init__(
            self.batch_size, len(self._file), DataDesc(data_name, (self.batch_size, *self._shape)),
            DataDesc(label_name, (self.batch_size, self._width)), round_batch=read.flag("round_batch", round_batch),
        )
        self._mean_img: np.ndarray | None = None
        if looks.get("mean_img"):
            mean = mean_image(looks["mean_img"], self._shape, self._cut_pictures)
            self._mean_img = mean.transpose(1, 2, 0)

    def _read_looks(self, read: Arguments, looks: Mapping[str, Any], data_shape: Any) -> None:
        """How colours change at random, and the mean and standard deviation of each channel."""
        self._colors = [(read.real(one, looks.get(one, 0)), read.real(two, looks.get(two, 0))) for one, two in COLORS]
        if any(often > 0 for often, _ in self._colors) and self._shape[0] != 3:
            raise read.refused("data_shape", "3 channels to change colours", data_shape)
        channels = "rgba"[: self._shape[0]]
        self._mean = np.array([read.real(f"mean_{c}", looks.get(f"mean_{c}", 0)) for c in channels], np.float32)
        self._std = np.array([read.real(f"std_{c}", looks.get(f"std_{c}", 0)) or 1 for c in channels], np.float32)

    def _cut_pictures(self) -> Iterator[np.ndarray]:
        """All pictures of the part in ``data_shape``, unscaled, with zeros beside smaller ones."""
        for row in range(len(self._file)):
            picture, _ = self._changed(row)
            whole = np.zeros(self._shape, np.uint8)
            whole[:, : picture.shape[0], : picture.shape[1]] = picture.transpose(2, 0, 1)
            yield whole

    @decides("ImageDetRecordIter/values")
    def _objects(self, row: int) -> np.ndarray:
        """The labels of a record, which must be a header and whole objects."""
        labels = self._labels(row, self._file.sample(row))
        if self._fixed > 0 and len(labels) != self._fixed:
            raise self._file.refused(row, f"{len(labels)} labels, but label_width is {self._fixed}")
        head, width = (labels[0], labels[1]) if len(labels) >= 2 else (0, 0)
        whole = head >= 2 and width >= 5 and head == int(head) and width == int(width)
        if not whole or len(labels) < head or (len(labels) - int(head)) % int(width):
            raise self._file.refused(
                row, f"{len(labels)} labels beginning with {labels[:2].tolist()} are no objects: header width (2 or"
                " more), object width (5 or more), ..., objects",
            )
        return labels

    @decides("ImageDetRecordIter/mirror")
    def _changed(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """A picture and its labels, changed at random, in its size within ``data_shape``."""
        picture = self._colored(self._shortened(self._file.picture(row, self._sample(row), self._shape[0])))
        objects = self._objects(row).copy()
        heads = self._mirror > 0 and unit(self._draws) < np.float32(self._mirror)
        head, boxes = objects[: int(objects[0])], objects[int(objects[0]) :].reshape(-1, int(objects[1]))
        if heads:
            picture = picture[:, ::-1]
            boxes[:, [1, 3]] = np.float32(1) - boxes[:, [3, 1]]
        if len(boxes):
            picture, boxes = self._boxes(Boxed(picture, boxes), self._draws)
        return self._sized(picture), np.concatenate([head, boxes.ravel()])

    @decides("ImageDetRecordIter/scale")
    def _rows(self, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        with reserving((len(rows), *self._shape), np.float32):
            data = np.zeros((len(rows), *self._shape), np.float32)
        labels = np.full((len(rows), self._width), self._filler, np.float32)
        for place, row in enumerate(rows):
            picture, objects = self._changed(row)
            height, width, _ = picture.shape
            mean = self._mean if self._mean_img is None else self._mean_img[:height, :width]
            pixels = (picture.astype(np.float32) - mean) / self._std * self._scale
            data[place, :, :height, :width] = pixels.transpose(2, 0, 1)
            labels[place, :HEAD] = (self._shape[0], height, width, len(objects))
            labels[place, HEAD : HEAD + len(objects)] = objects
        return data, labels

    def _shortened(self, picture: np.ndarray) -> np.ndarray:
        if self._shorter <= 0:
            return picture
        return self._resized(picture, *shorter_edge(picture, self._shorter))

    @decides("ImageDetRecordIter/colors")
    def _colored(self, picture: np.ndarray) -> np.ndarray:
        """The picture with hue, saturation, lightness and contrast changed, each as often as was asked for."""
        if not any(often > 0 for often, _ in self._colors):
            return picture
        amounts = [unit(self._draws) for _ in self._colors]
        hits = [unit(self._draws) < np.float32(often) for often, _ in self._colors]
        hue, saturation, light, contrast = (
            amount * np.float32(most) * np.float32(2) - np.float32(most) if hit else np.float32(0)
            for amount, hit, (_, most) in zip(amounts, hits, self._colors, strict=True)
        )
        if any(map(int, (hue, saturation, light))):
            picture = moved_in_hls(picture, int(hue), int(light), int(saturation))
        return brighter(picture, contrast + np.float32(1)) if contrast else picture

    @decides("ImageDetRecordIter/size")
    def _sized(self, picture: np.ndarray) -> np.ndarray:
        """The picture in its size within ``data_shape``."""
        height, width = self._shape[1:]
        rows, columns = picture.shape[:2]
        if self._mode == "shrink" and rows <= height and columns <= width:
            return picture
        if self._mode != "force":
            whole = np.float32
            ratio = min(whole(height) / whole(rows), whole(width) / whole(columns))
            height, width = max(int(whole(rows) * ratio), 1), max(int(whole(columns) * ratio), 1)
        return self._resized(picture, height, width)

    def _resized(self, picture: np.ndarray, height: int, width: int) -> np.ndarray:
        require(
            "ImageRecordIter/too-large", min(height, width) >= 1 and height * width <= MOST_PIXELS,
            f"a picture would become {height} times {width} pixels; {MOST_PIXELS} are the most, and a side has 1",
        )
        return resized(picture, height, width, method_of(self._method, picture.shape[:2], (height, width), self._draws))


__all__ = ["ImageDetRecordIter"]
