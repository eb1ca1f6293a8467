"""What ImageDetRecordIter does at random to pictures and the boxes in them: padding and cropping, draw for draw."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..base import decides
from .arguments import Arguments
from .shuffling import real, shuffled, unit

_F = np.float32
# What each sampler of crops may have, and what it is when it is not given.
RANGES: dict[str, tuple[float, float]] = {
    "crop_scales": (0.0, 1.0), "crop_aspect_ratios": (1.0, 1.0), "crop_overlaps": (0.0, 1.0),
    "crop_sample_coverages": (0.0, 1.0), "crop_object_coverages": (0.0, 1.0),
}
NAMES = (
    *(f"{end}_{name}" for name in RANGES for end in ("min", "max")), "num_crop_sampler", "crop_emit_mode",
    "emit_overlap_thresh", "max_crop_trials", "rand_crop_prob", "rand_pad_prob", "max_pad_scale", "fill_value",
)
MOST_PAD = 64
# A frame that makes a picture less than so much larger is left out.
LEAST_PAD = 1.05


class Sampler(NamedTuple):
    """How parts of a picture are drawn: pairs of the least and the most, and the number of trials."""

    scale: tuple[float, float]
    ratio: tuple[float, float]
    overlap: tuple[float, float]
    of_sample: tuple[float, float]
    of_object: tuple[float, float]
    trials: int


class Boxed(NamedTuple):
    """A picture, and its objects: an array of a class, left, top, right and bottom edge in parts of it, and more."""

    picture: np.ndarray
    objects: np.ndarray


class BoxAugmentation:
    """Pads and crops pictures together with their boxes.

    Args:
        read: reads arguments, and refuses.
        given: arguments, of :data:`NAMES`.

    Raises:
        MXNetError: an argument is out of range.
    """

    def __init__(self, read: Arguments, given: Mapping[str, Any]) -> None:
        self._crop = read.real("rand_crop_prob", given.get("rand_crop_prob", 0))
        self._pad = read.real("rand_pad_prob", given.get("rand_pad_prob", 0))
        self._scale = read.real("max_pad_scale", given.get("max_pad_scale", 1))
        if not 1 <= self._scale <= MOST_PAD:
            raise read.refused("max_pad_scale", f"from 1 to {MOST_PAD}", self._scale)
        self._fill = np.uint8(min(read.integer("fill_value", given.get("fill_value", 127), 0), 255))
        self._mode = given.get("crop_emit_mode", "center")
        if self._mode not in ("center", "overlap"):
            raise read.refused("crop_emit_mode", "center or overlap", self._mode)
        self._least = read.real("emit_overlap_thresh", given.get("emit_overlap_thresh", 0.3))
        count = read.integer("num_crop_sampler", given.get("num_crop_sampler", 1), 0)
        self._samplers = [Sampler(*pairs) for pairs in zip(*self._columns(read, given, count), strict=True)]

    def _columns(self, read: Arguments, given: Mapping[str, Any], count: int) -> list[list[Any]]:
        """For each field of a Sampler, its values in all of them."""
        columns: list[list[Any]] = []
        for name, defaults in RANGES.items():
            ends = [
                _numbers(read, f"{end}_{name}", given.get(f"{end}_{name}", default), count)
                for end, default in zip(("min", "max"), defaults, strict=True)
            ]
            pairs = list(zip(*ends, strict=True))
            positive = name == "crop_aspect_ratios"
            fits = (low <= high and (low > 0 if positive else low >= 0 and high <= 1) for low, high in pairs)
            if not all(fits):
                raise read.refused(f"min_{name}", f"in order with max_{name}, and within 0 and 1 unless a ratio", pairs)
            columns.append(pairs)
        trials = _numbers(read, "max_crop_trials", given.get("max_crop_trials", 25), count)
        if not all(trial >= 0 and trial == int(trial) for trial in trials):
            raise read.refused("max_crop_trials", "whole numbers of 0 or more", trials)
        return [*columns, [int(trial) for trial in trials]]

    def __call__(self, sample: Boxed, draws: np.random.MT19937) -> Boxed:
        """The padded and cropped picture, and its objects."""
        if self._pad > 0 and self._scale > 1 and unit(draws) < _F(self._pad):
            sample = self._padded(sample, draws)
        if self._crop > 0 and self._samplers and unit(draws) < _F(self._crop):
            sample = self._cropped(sample, draws)
        return sample

    @decides("ImageDetRecordIter/pad")
    def _padded(self, sample: Boxed, draws: np.random.MT19937) -> Boxed:
        picture, objects = sample
        rows, columns = picture.shape[:2]
        scale = real(draws, 1, self._scale)
        if scale < _F(LEAST_PAD):
            return sample
        x, y = real(draws, 0, scale - _F(1)), real(draws, 0, scale - _F(1))
        left, top = int(x * _F(columns)), int(y * _F(rows))
        right, bottom = int((scale - x - _F(1)) * _F(columns)), int((scale - y - _F(1)) * _F(rows))
        framed = np.full((top + rows + bottom, left + columns + right, picture.shape[2]), self._fill)
        framed[top : top + rows, left : left + columns] = picture
        return Boxed(framed, _projected(objects, (-x, -y, scale, scale), cut=False))

    @decides("ImageDetRecordIter/crop")
    def _cropped(self, sample: Boxed, draws: np.random.MT19937) -> Boxed:
        """A part that one of the samplers takes, in a random order; the whole if none does."""
        rows, columns = sample.picture.shape[:2]
        order = shuffled(np.arange(len(self._samplers)), draws)
        for sampler in (self._samplers[place] for place in order):
            for _ in range(sampler.trials):
                box = _drawn(sampler, columns / rows, draws)
                left, top = int(box[0] * _F(columns)), int(box[1] * _F(rows))
                width, height = int(box[2] * _F(columns)), int(box[3] * _F(rows))
                if not _fits(sampler, sample.objects, box):
                    continue
                objects = _projected(sample.objects[self._kept(sample.objects, box)], box, cut=True)
                if len(objects) and min(width, height) > 0:
                    return Boxed(sample.picture[top : top + height, left : left + width], objects)
        return sample

    @decides("ImageDetRecordIter/emit")
    def _kept(self, objects: np.ndarray, box: tuple[np.float32, ...]) -> np.ndarray:
        if self._mode == "overlap":
            return _inside(objects, box) / _area(objects) > _F(self._least)
        x, y = (objects[:, 1] + objects[:, 3]) / _F(2), (objects[:, 2] + objects[:, 4]) / _F(2)
        left, top, width, height = box
        return (left <= x) & (x < left + width) & (top <= y) & (y < top + height)


def _numbers(read: Arguments, name: str, given: Any, count: int) -> list[float]:
    """A number for each sampler; one stands for all."""
    if isinstance(given, str):
        given = [cell for cell in given.strip("()[] ").split(",") if cell.strip()]
    values = [read.real(name, one) for one in (given if isinstance(given, (tuple, list)) else [given])]
    if len(values) not in (1, count):
        raise read.refused(name, f"one number, or one for each of {count} samplers", given)
    return values * count if len(values) == 1 else values


def _drawn(sampler: Sampler, proportion: float, draws: np.random.MT19937) -> tuple[np.float32, ...]:
    """Left and top edge, width and height of a part of a picture, in parts of it."""
    scale = real(draws, *sampler.scale) + _F(1e-12)
    shape = _F(proportion)
    least = max(_F(sampler.ratio[0]) / shape, scale * scale)
    most = min(_F(sampler.ratio[1]) / shape, _F(1) / (scale * scale))
    ratio = _F(math.sqrt(real(draws, least, most)))
    width, height = min(_F(1), scale * ratio), min(_F(1), scale / ratio)
    return real(draws, 0, _F(1) - width), real(draws, 0, _F(1) - height), width, height


def _area(objects: np.ndarray) -> np.ndarray:
    return (objects[:, 3] - objects[:, 1]) * (objects[:, 4] - objects[:, 2])


def _inside(objects: np.ndarray, box: tuple[np.float32, ...]) -> np.ndarray:
    """The area of each object that lies in the box."""
    left, top, width, height = box
    wide = np.minimum(objects[:, 3], left + width) - np.maximum(objects[:, 1], left)
    high = np.minimum(objects[:, 4], top + height) - np.maximum(objects[:, 2], top)
    return np.maximum(wide, 0) * np.maximum(high, 0)


def _fits(sampler: Sampler, objects: np.ndarray, box: tuple[np.float32, ...]) -> bool:
    """Whether the box and some object cover each other as much as the sampler wants."""
    inside, whole = _inside(objects, box), box[2] * box[3]
    with np.errstate(divide="ignore", invalid="ignore"):  # objects without area
        parts = inside / (whole + _area(objects) - inside), inside / whole, inside / _area(objects)
    good = np.ones(len(objects), bool)
    for part, (least, most) in zip(parts, (sampler.overlap, sampler.of_sample, sampler.of_object), strict=True):
        if (least, most) != (0, 1):
            good &= (part >= _F(least)) & (part <= _F(most))
    return bool(good.any())


def _projected(objects: np.ndarray, box: tuple[np.float32, ...], *, cut: bool) -> np.ndarray:
    """Objects in parts of the box."""
    left, top, width, height = box
    made = objects.copy()
    made[:, [1, 3]] = (objects[:, [1, 3]] - left) / width
    made[:, [2, 4]] = (objects[:, [2, 4]] - top) / height
    if cut:
        made[:, 1:5] = made[:, 1:5].clip(0, 1)
    return made


__all__ = ["NAMES", "BoxAugmentation", "Boxed"]
