"""ImageRecordIter and its relatives: batches out of a file of pictures, cut, mirrored and scaled on the way."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..base import MXNetError, decides, require
from ..kernels.foundation import reserving
from ..ndarray import array, load, save
from .arguments import Arguments
from .augmentation import DEFAULTS, Augmentation
from .iterator import DataDesc
from .record_file import RecordFile, Sample, read_list
from .rounds import RoundIter
from .shuffling import shuffled, stream_of, unit

# Accepted for old scripts, without effect: they steer threads, devices, messages and the size of buffers.
WITHOUT_EFFECT = {
    "preprocess_threads", "prefetch_buffer", "ctx", "device_id", "verbose", "shuffle_chunk_size", "shuffle_chunk_seed",
    "aug_seq",
}
NORMALISING = (
    "mean_r", "mean_g", "mean_b", "mean_a", "std_r", "std_g", "std_b", "std_a", "scale", "mirror", "rand_mirror",
    "mean_img", "max_random_contrast", "max_random_illumination",
)
# Added by MXNet to every seed.
MAGIC = 111


class RecordIter(RoundIter):
    """What the iterators over a file of pictures have in common: the file, its parts and the order of a round."""

    def _open(
        self, path_imgrec: Any, path_imgidx: Any, path_imglist: Any, data_shape: Any, batch_size: Any, shuffle: Any,
        seed: Any, num_parts: Any, part_index: Any, others: Mapping[str, Any],
    ) -> Arguments:
        """Read what all of them are told, and open the file."""
        name_here = type(self).__name__
        read = Arguments("ImageRecordIter", name_here)
        read.unknown(others, WITHOUT_EFFECT)
        read.required(path_imgrec=path_imgrec or None, data_shape=data_shape or None, batch_size=batch_size or None)
        self._shape = read.shape("data_shape", data_shape)
        if len(self._shape) != 3 or self._shape[0] not in (1, 3, 4):
            raise read.refused("data_shape", "(1, 3 or 4 channels, height, width)", data_shape)
        self.batch_size = read.integer("batch_size", batch_size, 1)
        parts = read.part(num_parts, part_index)
        self._shuffle = read.flag("shuffle", shuffle)
        self._stream = stream_of(MAGIC + read.integer("seed", seed))
        self._list = read_list(path_imglist) if path_imglist else None
        self._numbers: dict[int, int] = {}
        self._file = RecordFile(path_imgrec, path_imgidx or "", *parts)
        return read

    def _order(self) -> np.ndarray:
        order = super()._order()
        return shuffled(order, self._stream) if self._shuffle else order

    def _ids(self, rows: np.ndarray) -> np.ndarray:
        return np.array([self._numbers[row] for row in rows], np.uint64)

    def _sample(self, row: int) -> Sample:
        """The record, whose number is remembered for ``batch.index``."""
        sample = self._file.sample(row)
        self._numbers[row] = sample.number
        return sample

    @decides("ImageRecordIter/labels")
    def _labels(self, row: int, sample: Sample) -> np.ndarray:
        """The labels of a record: those of the list, if there is one."""
        if self._list is None:
            return sample.labels
        if sample.number not in self._list:
            raise self._file.refused(row, f"record number {sample.number} is not in path_imglist")
        return self._list[sample.number]


@decides("ImageRecordIter/mean-img")
def mean_image(path: Any, shape: tuple[int, ...], pictures: Callable[[], Iterator[np.ndarray]]) -> np.ndarray:
    """The first array of a parameter file; without that file, the mean of ``pictures``, which is saved there."""
    if Path(path).exists():
        held = load(str(path))
        arrays = list(held.values()) if isinstance(held, dict) else list(held)
        found = tuple(arrays[0].shape) if arrays else None
        require(
            "ImageRecordIter/mean-shape", found == shape,
            f'mean_img "{path}" holds an array of shape {found}, expected data_shape, {shape}',
        )
        return arrays[0].asnumpy().astype(np.float32)  # type: ignore[no-any-return]  # an array
    total, count = np.zeros(shape), 0
    for picture in pictures():
        total, count = total + picture, count + 1
    mean = (total / count).astype(np.float32)
    save(str(path), {"mean_img": array(mean)})
    return mean


@decides("ImageRecordIter/values")
class ImageRecordIter(RecordIter):
    """Pictures out of a RecordIO file: float32, shape ``(batch_size, channels, height, width)``, red first.

    Args:
        path_imgrec: the file; pictures are whatever Pillow can read.
        data_shape: (channels, height, width); 1, 3 or 4 channels.
        batch_size: pictures in a batch.
        path_imgidx: its index; parts are then cut by records.
        path_imglist: a list with other labels for the records.
        label_width: labels of each picture; 1 gives labels of shape ``(batch_size,)``.
        shuffle, seed: draw a new order for every round; the order is MXNet's.
        seed_aug: draw for each picture from a stream of its own, so that it is always treated alike.
        num_parts, part_index: cut the file into parts and read the one of this number.
        round_batch: let the last batch take what it lacks from the next round.
        dtype: None, or the type that the iterator delivers.
        data_name, label_name: names in the descriptions.
        others: what is done to a picture, in this order:

            * resize: make its shorter edge so many pixels long; inter_method is 0 (nearest), 1 (linear), 2 (cubic),
              3 (area), 4 (Lanczos), 9 (by the sizes) or 10 (at random), here and below;
            * rotate, rotate_list or max_rotate_angle, max_shear_ratio, min_random_scale and max_random_scale,
              min_aspect_ratio and max_aspect_ratio, min_img_size and max_img_size: rotate, shear, scale and stretch it;
            * pad: frame it with so many pixels of fill_value;
            * random_resized_crop with min_random_area, max_random_area and the aspect ratios, or min_crop_size and
              max_crop_size with rand_crop: cut a part and resize it to ``data_shape``; else enlarge it if it is too
              small, and cut ``data_shape`` from the middle or (rand_crop) anywhere;
            * brightness, contrast, saturation, random_h, random_s, random_l, pca_noise: change colours;
            * mean_img, or mean_r, mean_g, mean_b, mean_a: subtract; mirror, rand_mirror: exchange left and right;
              max_random_contrast, max_random_illumination, scale, std_r, std_g, std_b, std_a: scale.

    Raises:
        MXNetError: a file is missing or damaged (the message names it and the byte), or an argument is out of range.
        ImportError: Pillow is not installed; it is asked for when a batch is read.
    """

    dtype: ClassVar[Any] = np.float32

    def __init__(
        self, *, path_imgrec: str | os.PathLike | None = None, data_shape: Any = None, batch_size: Any = None,
        path_imgidx: str | os.PathLike | None = None, path_imglist: str | os.PathLike | None = None,
        label_width: Any = 1, shuffle: Any = False, seed: Any = 0, seed_aug: Any = None, num_parts: Any = 1,
        part_index: Any = 0, round_batch: Any = True, dtype: Any = None, data_name: str = "data",
        label_name: str = "softmax_label", **others: Any,
    ) -> None:
        changes = {name: others.pop(name) for name in DEFAULTS if name in others}
        looks = {name: others.pop(name) for name in NORMALISING if name in others and self.dtype is np.float32}
        read = self._open(
            path_imgrec, path_imgidx, path_imglist, data_shape, batch_size, shuffle, seed, num_parts, part_index, others
        )
        named = dtype if isinstance(dtype, str) or dtype is None else np.dtype(dtype).name
        require(
            "ImageRecordIter/dtype", named in (None, "None", np.dtype(self.dtype).name),
            f"{type(self).__name__} delivers {np.dtype(self.dtype).name} and cannot make {dtype!r}; take"
            " ImageRecordUInt8Iter or ImageRecordInt8Iter for whole numbers",
        )
        self._width = read.integer("label_width", label_width, 1)
        self._augmentation = Augmentation(read, self._shape, changes)
        self._mirror = read.flag("mirror", looks.get("mirror", False))
        self._rand_mirror = read.flag("rand_mirror", looks.get("rand_mirror", False))
        self._seed_aug = None if seed_aug in (None, "None") else read.integer("seed_aug", seed_aug)
        self._draws = stream_of(MAGIC)
        channels = "rgba"[: self._shape[0]]
        self._mean = [read.real(f"mean_{c}", looks.get(f"mean_{c}", 0)) for c in channels]
        self._std = [read.real(f"std_{c}", looks.get(f"std_{c}", 1)) for c in channels]
        if not all(self._std):
            raise read.refused("std", "numbers other than 0", self._std)
        self._scale = read.real("scale", looks.get("scale", 1))
        self._contrast = read.real("max_random_contrast", looks.get("max_random_contrast", 0))
        self._illumination = read.real("max_random_illumination", looks.get("max_random_illumination", 0))
        self._mean_img: np.ndarray | None = None
        wide = () if self._width == 1 else (self._width,)
        super().__init__(
            self.batch_size, len(self._file), DataDesc(data_name, (self.batch_size, *self._shape), self.dtype),
            DataDesc(label_name, (self.batch_size, *wide)), round_batch=read.flag("round_batch", round_batch),
        )
        if looks.get("mean_img"):
            self._mean_img = mean_image(looks["mean_img"], self._shape, self._cut_pictures)

    def _cut_pictures(self) -> Iterator[np.ndarray]:
        """All pictures of the part, as they are before anything is subtracted."""
        for row in range(len(self._file)):
            yield self._finished(row, self._file.picture(row, self._sample(row), self._shape[0]), scaled=False)

    def _rows(self, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        with reserving((len(rows), *self._shape), self.dtype):
            data = np.empty((len(rows), *self._shape), self.dtype)
        labels = np.empty((len(rows), self._width), np.float32)
        for place, row in enumerate(rows):
            sample = self._sample(row)
            found = self._labels(row, sample)
            if len(found) != self._width:
                raise self._file.refused(row, f"{len(found)} labels, but label_width is {self._width}")
            labels[place] = found
            data[place] = self._finished(row, self._file.picture(row, sample, self._shape[0]))
        return data, labels[:, 0] if self._width == 1 else labels

    @decides("ImageRecordIter/mirror", "ImageRecordIter/draws")
    def _finished(self, row: int, picture: np.ndarray, *, scaled: bool = True) -> np.ndarray:
        """A picture as it is delivered: (channels, height, width)."""
        draws = self._draws if self._seed_aug is None else stream_of(MAGIC + self._seed_aug + row)
        try:
            picture = self._augmentation(picture, draws).transpose(2, 0, 1)
        except MXNetError as error:
            error.args = (f"{self._file.place(row)}: {error}",)
            raise
        heads = self._rand_mirror and _coin(draws)
        mirrored = heads or self._mirror
        if scaled:
            return self._scaled(picture, draws, mirrored=mirrored)
        draws.random_raw(2)
        return picture[:, :, ::-1] if mirrored else picture

    @decides("ImageRecordIter/scale", "ImageRecordIter/light")
    def _scaled(self, picture: np.ndarray, draws: np.random.MT19937, *, mirrored: bool) -> np.ndarray:
        """(pixel - mean) * (contrast * scale / std) + illumination * scale / std, in float32 at each step."""
        one, two = np.float32(1), np.float32(2)
        most, light = np.float32(self._contrast), np.float32(self._illumination)
        contrast = (unit(draws) * most * two - most + one) * np.float32(self._scale)
        light = (unit(draws) * light * two - light) * np.float32(self._scale)
        mean, std = (np.array(given, np.float32)[:, None, None] for given in (self._mean, self._std))
        pixels = picture.astype(np.float32) - (mean if self._mean_img is None else self._mean_img)
        pixels = pixels[:, :, ::-1] if mirrored else pixels
        return pixels * (contrast / std) + light / std


def _coin(draws: np.random.MT19937) -> bool:
    """Heads with probability one half: two numbers of 32 bits are one of 64, which is below 2^63."""
    low, high = (int(one) for one in draws.random_raw(2))
    return low + (high << 32) < 1 << 63


@decides("ImageRecordIter/values")
class ImageRecordUInt8Iter(ImageRecordIter):
    """As :class:`ImageRecordIter`, but the pixels as they are: uint8, not mirrored and not scaled."""

    dtype = np.uint8

    def _scaled(self, picture: np.ndarray, draws: np.random.MT19937, *, mirrored: bool) -> np.ndarray:
        return picture  # nothing is drawn


@decides("ImageRecordIter/values")
class ImageRecordInt8Iter(ImageRecordUInt8Iter):
    """As :class:`ImageRecordUInt8Iter`, but int8: pixels above 127 become 127."""

    dtype = np.int8

    def _scaled(self, picture: np.ndarray, draws: np.random.MT19937, *, mirrored: bool) -> np.ndarray:  # as above
        return np.minimum(picture, 127)


class ImageRecordIter_v1(ImageRecordIter):  # noqa: N801  # MXNet's name
    """The older name of :class:`ImageRecordIter`."""


class ImageRecordUInt8Iter_v1(ImageRecordUInt8Iter):  # noqa: N801  # MXNet's name
    """The older name of :class:`ImageRecordUInt8Iter`."""


__all__ = [
    "ImageRecordInt8Iter", "ImageRecordIter", "ImageRecordIter_v1", "ImageRecordUInt8Iter", "ImageRecordUInt8Iter_v1",
]
