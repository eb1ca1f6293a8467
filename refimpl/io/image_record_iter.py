"""ImageRecordIter and its relatives: batches out of a file of pictures, cut, mirrored and scaled on the way."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ..base import decides, refusal, require
from ..kernels.foundation import reserving
from .arguments import Arguments
from .desc import DataDesc
from .pictures import enlarge, padded, resize_shorter
from .record_file import RecordFile, Sample, read_list
from .rounds import RoundIter
from .shuffling import below, shuffled, stream_of

# Accepted for old scripts, without effect: they steer threads, devices, messages and the size of buffers.
WITHOUT_EFFECT = {
    "preprocess_threads", "prefetch_buffer", "ctx", "device_id", "verbose", "shuffle_chunk_size", "shuffle_chunk_seed",
    "aug_seq",
}
# What MXNet can do to a picture and this iterator cannot, with the values that mean: do nothing.
NOT_HERE: dict[str, tuple] = {
    "random_resized_crop": (0,), "max_rotate_angle": (0,), "max_aspect_ratio": (0,), "min_aspect_ratio": (None,),
    "max_shear_ratio": (0,), "max_crop_size": (-1,), "min_crop_size": (-1,), "max_random_scale": (1,),
    "min_random_scale": (1,), "max_random_area": (1,), "min_random_area": (1,), "max_img_size": (1e10,),
    "min_img_size": (0,), "brightness": (0,), "contrast": (0,), "saturation": (0,), "pca_noise": (0,), "random_h": (0,),
    "random_s": (0,), "random_l": (0,), "rotate": (-1,), "mean_img": ("", None), "max_random_contrast": (0,),
    "max_random_illumination": (0,),
}
NORMALISING = (
    "mean_r", "mean_g", "mean_b", "mean_a", "std_r", "std_g", "std_b", "std_a", "scale", "mirror", "rand_mirror",
)
# Added by MXNet to every seed.
MAGIC = 111


class RecordIter(RoundIter):
    """What the iterators over a file of pictures have in common: the file, its parts and the order of a round."""

    not_here: ClassVar[Mapping[str, tuple]] = NOT_HERE

    def _open(
        self, path_imgrec: Any, path_imgidx: Any, path_imglist: Any, data_shape: Any, batch_size: Any, shuffle: Any,
        seed: Any, num_parts: Any, part_index: Any, others: Mapping[str, Any],
    ) -> Arguments:
        """Read what all of them are told, and open the file."""
        name_here = type(self).__name__
        read = Arguments("ImageRecordIter", name_here)
        for name, nothing in self.not_here.items():
            if name in others and others[name] not in nothing and str(others[name]) not in map(str, nothing):
                raise refusal(
                    "ImageRecordIter/not-here", f"{name_here} cannot do {name}={others[name]!r}; leave it out, or"
                    " change the pictures before they are packed",
                )
        read.unknown(others, WITHOUT_EFFECT | set(self.not_here))
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


@decides("ImageRecordIter/values")
class ImageRecordIter(RecordIter):
    """Pictures out of a RecordIO file: float32, shape ``(batch_size, channels, height, width)``, red first.

    A picture is resized (``resize``: the length of its shorter edge), framed (``pad`` pixels of
    ``fill_value``), enlarged if it is too small, cut to ``data_shape`` in the middle or (``rand_crop``)
    anywhere, mirrored, and scaled: (pixel - mean) * scale / std for each channel.

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
        resize, inter_method, pad, fill_value: see above; inter_method is 0 (nearest) or 1 (bilinear).
        rand_crop, rand_mirror, mirror: see above.
        mean_r, mean_g, mean_b, mean_a, std_r, std_g, std_b, std_a, scale: see above.
        dtype: None, or the type that the iterator delivers.
        data_name, label_name: names in the descriptions.

    Raises:
        MXNetError: a file is missing or damaged (the message names it and the byte), an argument is out of
            range, or MXNet could do to pictures what is asked for but this iterator cannot.
        ImportError: Pillow is not installed; it is asked for when a batch is read.
    """

    dtype: ClassVar[Any] = np.float32

    def __init__(
        self, *, path_imgrec: str | os.PathLike | None = None, data_shape: Any = None, batch_size: Any = None,
        path_imgidx: str | os.PathLike | None = None, path_imglist: str | os.PathLike | None = None,
        label_width: Any = 1, shuffle: Any = False, seed: Any = 0, seed_aug: Any = None, num_parts: Any = 1,
        part_index: Any = 0, round_batch: Any = True, resize: Any = -1, rand_crop: Any = False, pad: Any = 0,
        fill_value: Any = 255, inter_method: Any = 1, dtype: Any = None, data_name: str = "data",
        label_name: str = "softmax_label", **others: Any,
    ) -> None:
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
        self._resize, self._pad = read.integer("resize", resize), read.integer("pad", pad, 0)
        self._fill = read.integer("fill_value", fill_value, 0)
        self._method = read.integer("inter_method", inter_method)
        if self._method not in (0, 1):
            raise read.refused("inter_method", "0 (nearest) or 1 (bilinear)", inter_method)
        self._rand_crop = read.flag("rand_crop", rand_crop)
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
        wide = () if self._width == 1 else (self._width,)
        super().__init__(
            self.batch_size, len(self._file), DataDesc(data_name, (self.batch_size, *self._shape), self.dtype),
            DataDesc(label_name, (self.batch_size, *wide)), round_batch=read.flag("round_batch", round_batch),
        )

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

    @decides("ImageRecordIter/crop", "ImageRecordIter/mirror", "ImageRecordIter/draws")
    def _finished(self, row: int, picture: np.ndarray) -> np.ndarray:
        """A picture as it is delivered: (channels, height, width)."""
        _, height, width = self._shape
        draws = self._draws if self._seed_aug is None else stream_of(MAGIC + self._seed_aug + row)
        if self._resize > 0:
            picture = resize_shorter(picture, self._resize, self._method)
        if self._pad:
            picture = padded(picture, self._pad, self._fill)
        picture = enlarge(picture, height, width, self._method)
        top, left = picture.shape[0] - height, picture.shape[1] - width
        top, left = (
            (below(draws, top + 1), below(draws, left + 1)) if self._rand_crop else (top // 2, left // 2)
        )
        picture = picture[top : top + height, left : left + width].transpose(2, 0, 1)
        heads = self._rand_mirror and _coin(draws)
        if heads or self._mirror:
            picture = picture[:, :, ::-1]
        return self._scaled(picture, draws)

    def _scaled(self, picture: np.ndarray, draws: np.random.MT19937) -> np.ndarray:
        draws.random_raw(2)  # MXNet draws a contrast and an illumination here, also when they are not asked for
        return normalised(picture.astype(np.float32), self._mean, self._std, self._scale)


@decides("ImageRecordIter/scale")
def normalised(pixels: np.ndarray, mean: list[float], std: list[float], scale: float) -> np.ndarray:
    """(pixel - mean) * (scale * (1 / std)) for each channel, the first axis; float32, rounded at each step."""
    means, stds = (np.array(one, np.float32)[:, None, None] for one in (mean, std))
    return (pixels - means) * (np.float32(scale) * (np.float32(1) / stds))


def _coin(draws: np.random.MT19937) -> bool:
    """Heads with probability one half: two numbers of 32 bits are one of 64, which is below 2^63."""
    low, high = (int(one) for one in draws.random_raw(2))
    return low + (high << 32) < 1 << 63


@decides("ImageRecordIter/values")
class ImageRecordUInt8Iter(ImageRecordIter):
    """As :class:`ImageRecordIter`, but the pixels as they are: uint8, not mirrored and not scaled."""

    dtype = np.uint8

    def _scaled(self, picture: np.ndarray, draws: np.random.MT19937) -> np.ndarray:  # nothing is drawn
        return picture


@decides("ImageRecordIter/values")
class ImageRecordInt8Iter(ImageRecordUInt8Iter):
    """As :class:`ImageRecordUInt8Iter`, but int8: pixels above 127 become 127."""

    dtype = np.int8

    def _scaled(self, picture: np.ndarray, draws: np.random.MT19937) -> np.ndarray:  # as above
        return np.minimum(picture, 127)


class ImageRecordIter_v1(ImageRecordIter):  # noqa: N801  # MXNet's name
    """The older name of :class:`ImageRecordIter`."""


class ImageRecordUInt8Iter_v1(ImageRecordUInt8Iter):  # noqa: N801  # MXNet's name
    """The older name of :class:`ImageRecordUInt8Iter`."""


__all__ = [
    "ImageRecordInt8Iter", "ImageRecordIter", "ImageRecordIter_v1", "ImageRecordUInt8Iter", "ImageRecordUInt8Iter_v1",
]
