"""Augmenters for detection: called with a picture and its objects, they return both, changed alike.

Objects are a NumPy array of shape (count, 5 or more): a class, and left, top, right and bottom edge in parts of the
picture. What is random is drawn from Python's ``random``.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..base import decides, numeric_types, require
from ..ndarray import NDArray
from .augmenters import Augmenter, CastAug, ColorNormalizeAug, ForceResizeAug, ResizeAug
from .creating import _MEAN, _STD, _coloring, _statistics
from .image import copyMakeBorder, fixed_crop

Sample = tuple[NDArray, np.ndarray]
Range = tuple[float, float]
Proposal = tuple[int, int, int, int, np.ndarray]


class DetAugmenter(Augmenter):
    """Base of the augmenters for detection; a subclass gives :meth:`__call__`.

    Args:
        kwargs: what ``dumps`` writes.
    """

    def __call__(self, src: NDArray, label: np.ndarray) -> Sample:  # type: ignore[override]  # as in MXNet
        """The changed picture and objects."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__: a class of augmenters says what it changes")


@decides("DetAugmenter/borrow")
class DetBorrowAug(DetAugmenter):
    """Changes the picture by an augmenter that leaves objects where they are.

    Raises:
        TypeError: ``augmenter`` is none.
    """

    def __init__(self, augmenter: Augmenter) -> None:
        super().__init__()
        require(
            "DetAugmenter/borrow", isinstance(augmenter, Augmenter),
            f"DetBorrowAug takes an Augmenter such as CastAug(), not {type(augmenter).__name__}", TypeError,
        )
        self.augmenter = augmenter

    def dumps(self) -> Any:
        """A list: the name of the class in small letters, and what the augmenter dumps."""
        return [type(self).__name__.lower(), self.augmenter.dumps()]

    def __call__(self, src: NDArray, label: np.ndarray) -> Sample:  # type: ignore[override]  # as in MXNet
        """The changed picture, and the objects."""
        return self.augmenter(src), label


class DetRandomSelectAug(DetAugmenter):
    """Calls one of several augmenters, or none.

    Args:
        aug_list: augmenters for detection, a list or one of them; ``random.shuffle`` changes the list itself.
        skip_prob: how often none is called.

    Raises:
        ValueError: something in the list is no augmenter for detection.
    """

    def __init__(self, aug_list: Any, skip_prob: float = 0) -> None:
        super().__init__(skip_prob=skip_prob)
        self.aug_list = list(aug_list) if isinstance(aug_list, (list, tuple)) else [aug_list]
        require(
            "DetAugmenter/select-list", all(isinstance(one, DetAugmenter) for one in self.aug_list),
            f"aug_list holds augmenters for detection, not {self.aug_list}; put DetBorrowAug around an Augmenter",
            ValueError,
        )
        self.skip_prob = skip_prob if self.aug_list else 1

    def dumps(self) -> Any:
        """A list: the name of the class in small letters, and what the augmenters dump."""
        return [type(self).__name__.lower(), [one.dumps() for one in self.aug_list]]

    @decides("DetAugmenter/select")
    def __call__(self, src: NDArray, label: np.ndarray) -> Sample:  # type: ignore[override]  # as in MXNet
        """The changed picture and objects."""
        if random.random() < self.skip_prob:
            return src, label
        random.shuffle(self.aug_list)
        return self.aug_list[0](src, label)  # type: ignore[no-any-return]  # an augmenter for detection


class DetHorizontalFlipAug(DetAugmenter):
    """Exchanges left and right, of the objects in place, if a random number from 0 to 1 is less than ``p``."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    @decides("DetAugmenter/flip")
    def __call__(self, src: NDArray, label: np.ndarray) -> Sample:  # type: ignore[override]  # as in MXNet
        """The changed picture and objects."""
        if random.random() < self.p:
            label[:, (1, 3)] = 1.0 - label[:, (3, 1)]  # what was left is right, as far from its edge
            return nd.flip(src, axis=1), label
        return src, label


def _range(name: str, given: Any) -> Range:
    """A pair; a number stands for itself twice."""
    if isinstance(given, numeric_types):
        return given, given  # type: ignore[return-value]  # as it was given
    require(
        "DetAugmenter/range", isinstance(given, (tuple, list)) and len(given) == 2
        and all(isinstance(one, numeric_types) for one in given),
        f"{name} is a number or a pair of numbers, not {given!r}", AssertionError,
    )
    return given[0], given[1]


@decides("DetAugmenter/enabled")
def _usable(augmenter: DetAugmenter, area: Range, ratio: Range, least: float) -> bool:
    """Whether the ranges allow anything; else there is a warning."""
    for name, (low, high), fits in (
        ("area_range", area, area[1] > least), ("aspect_ratio_range", ratio, ratio[0] > 0),
    ):
        if not fits or low > high:
            warnings.warn(
                f"{type(augmenter).__name__} leaves pictures as they are: nothing fits {name}={(low, high)}",
                stacklevel=3,
            )
            return False
    return True


def _areas(boxes: np.ndarray) -> np.ndarray:
    """The areas of boxes: left, top, right, bottom."""
    return np.maximum(0, boxes[:, 2] - boxes[:, 0]) * np.maximum(0, boxes[:, 3] - boxes[:, 1])


class _Placing(DetAugmenter):
    """Tries places for a picture, of random proportions and sizes, until one fits."""

    aspect_ratio_range: Range
    area_range: Range
    max_attempts: int
    enabled: bool

    def _place(self, label: np.ndarray, height: int, width: int, ratio: float) -> Proposal | None:
        """A place of about this ratio in pixels: left, top, width, height, and the objects in it; None: none fits."""
        raise NotImplementedError

    def _proposal(self, label: np.ndarray, height: int, width: int) -> Proposal | None:
        """The first place that fits; None after ``max_attempts``."""
        if not self.enabled or min(height, width) <= 0:
            return None
        ratios = (random.uniform(*self.aspect_ratio_range) for _ in range(self.max_attempts))
        places = (self._place(label, height, width, ratio) for ratio in ratios)
        return next((place for place in places if place is not None), None)

    def _pixels(self, height: int, width: int) -> Range:
        """The least and the most of ``area_range`` in pixels."""
        least, most = (part * height * width for part in self.area_range)
        return least, most


def _between(least: int, most: int) -> int:
    """A random number from ``least`` to ``most``; nothing is drawn where there is no choice."""
    return random.randint(least, most) if least < most else least


def _seat(space: int, part: int) -> int:
    """Where a part begins on a side that has space for it."""
    return random.randint(0, max(0, space - part))


class DetRandomCropAug(_Placing):
    """Cuts a random part of the picture that covers enough of every object it touches.

    Args:
        min_object_covered: of each object that the part touches, more than this must lie in it.
        aspect_ratio_range: the least and the most of width / height.
        area_range: the least and the most of the picture that is taken.
        min_eject_coverage: an object of which no more than this is left is dropped.
        max_attempts: after so many parts that do not fit, the picture stays as it is.
    """

    min_object_covered: float
    min_eject_coverage: float

    def __init__(
        self, min_object_covered: float = 0.1, aspect_ratio_range: Any = (0.75, 1.33), area_range: Any = (0.05, 1.0),
        min_eject_coverage: float = 0.3, max_attempts: int = 50,
    ) -> None:
        ratio, area = _range("aspect_ratio_range", aspect_ratio_range), _range("area_range", area_range)
        self._keep(
            min_object_covered=min_object_covered, aspect_ratio_range=ratio, area_range=area,
            min_eject_coverage=min_eject_coverage, max_attempts=max_attempts,
        )
        self.enabled = _usable(self, area, ratio, 0)

    def __call__(self, src: NDArray, label: np.ndarray) -> Sample:  # type: ignore[override]  # as in MXNet
        """The changed picture and objects."""
        place = self._proposal(label, *src.shape[:2])
        if place is None:
            return src, label
        x, y, w, h, objects = place
        return fixed_crop(src, x, y, w, h), objects

    @decides("DetAugmenter/covered")
    def _covers(self, label: np.ndarray, box: tuple[float, float, float, float], pixels: float) -> bool:
        """Whether the box (its edges) touches an object of over 2 pixels, and covers enough of all that it touches."""
        objects = label[_areas(label[:, 1:]) * pixels > 2, 1:5]
        inside = np.hstack([np.maximum(objects[:, :2], box[:2]), np.minimum(objects[:, 2:], box[2:])])
        covered = _areas(inside) / _areas(objects)
        touched = covered[covered > 0]
        return bool(touched.size and touched.min() > self.min_object_covered)

    @decides("DetAugmenter/eject")
    def _moved(self, label: np.ndarray, box: tuple[float, float, float, float]) -> np.ndarray | None:
        """The objects in parts of the box (left, top, width, height); None if too little is left of all."""
        width, height = box[2:]
        moved = label.copy()
        for edges, start, side in (((1, 3), box[0], width), ((2, 4), box[1], height)):
            moved[:, edges] = np.minimum(1, np.maximum(0, (label[:, edges] - start) / side))
        with np.errstate(divide="ignore", invalid="ignore"):  # a box without area is dropped
            left = _areas(moved[:, 1:]) * width * height / _areas(label[:, 1:])
        not_empty = (moved[:, 1:3] < moved[:, 3:5]).all(axis=1)
        kept = moved[not_empty & (left > self.min_eject_coverage)]
        return kept if len(kept) else None

    @decides("DetAugmenter/crop-draws")
    def _place(self, label: np.ndarray, height: int, width: int, ratio: float) -> Proposal | None:
        least, most = self._pixels(height, width)

        def area(side: int) -> int:
            """Pixels of a part of this height."""
            return round(side * ratio) * side

        # heights of the least and the greatest part; that one is no wider and no higher than the picture
        low, high = (round(sqrt(pixels / ratio)) for pixels in (least, most))
        if round(high * ratio) > width:
            high = int((width + 0.4999999) / ratio)
        high = min(high, height)
        h = _between(min(low, high), high)
        h += area(h) < least  # the width was rounded
        h -= area(h) > most
        w = round(h * ratio)
        if not (least <= w * h <= most and 0 <= w <= width and 0 <= h <= height):
            return None
        y, x = _seat(height, h), _seat(width, w)
        edges = x / width, y / height, (x + w) / width, (y + h) / height
        if w * h < 2 or not self._covers(label, edges, width * height):
            return None
        objects = self._moved(label, (*edges[:2], w / width, h / height))
        return None if objects is None else (x, y, w, h, objects)


class DetRandomPadAug(_Placing):
    """Puts the picture somewhere in a larger one.

    Args:
        aspect_ratio_range: the least and the most of width / height.
        area_range: the least and the most area, in parts of the picture's.
        max_attempts: after so many sizes that do not fit, the picture stays as it is.
        pad_val: the values of the channels around it; a number is that of the first.
    """

    pad_val: Any

    def __init__(
        self, aspect_ratio_range: Any = (0.75, 1.33), area_range: Any = (1.0, 3.0), max_attempts: int = 50,
        pad_val: Any = (128, 128, 128),
    ) -> None:
        ratio, area = _range("aspect_ratio_range", aspect_ratio_range), _range("area_range", area_range)
        self._keep(aspect_ratio_range=ratio, area_range=area, max_attempts=max_attempts, pad_val=pad_val)
        self.pad_val = pad_val if isinstance(pad_val, (list, tuple)) else (pad_val,)
        self.enabled = _usable(self, area, ratio, 1)

    @decides("DetAugmenter/pad")
    def __call__(self, src: NDArray, label: np.ndarray) -> Sample:  # type: ignore[override]  # as in MXNet
        """The changed picture and objects."""
        height, width = src.shape[:2]
        place = self._proposal(label, height, width)
        if place is None:
            return src, label
        x, y, w, h, objects = place
        below, beside = h - y - height, w - x - width
        return copyMakeBorder(src, y, below, x, beside, 0, values=tuple(self.pad_val)), objects

    @decides("DetAugmenter/pad-draws")
    def _place(self, label: np.ndarray, height: int, width: int, ratio: float) -> Proposal | None:
        """Where the picture lies in the larger one, the size of that, and the objects in parts of it."""
        # heights of the least and the greatest picture; the former is no narrower and no lower than this one
        low, high = (round(sqrt(pixels / ratio)) for pixels in self._pixels(height, width))
        if round(low * ratio) < width:
            low = int((width + 0.499999) / ratio)
        h = _between(min(max(low, height), high), high)
        w = round(h * ratio)
        if min(h - height, w - width) < 2:
            return None
        y, x = _seat(h, height), _seat(w, width)
        objects = label.copy()
        for edges, old, start, new in (((1, 3), width, x, w), ((2, 4), height, y, h)):
            objects[:, edges] = (label[:, edges] * old + start) / new
        return x, y, w, h, objects


# --- all of them -----------------------------------------------------------------------------------


@decides("CreateDetAugmenter/several-crops")
def CreateMultiRandCropAugmenter(  # noqa: N802  # MXNet's name
    min_object_covered: Any = 0.1, aspect_ratio_range: Any = (0.75, 1.33), area_range: Any = (0.05, 1.0),
    min_eject_coverage: Any = 0.3, max_attempts: Any = 50, skip_prob: float = 0,
) -> DetRandomSelectAug:
    """One of several DetRandomCropAug at random: arguments that are lists have a value for each of them.

    Args:
        min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts: of DetRandomCropAug.
        skip_prob: how often none is called.

    Raises:
        AssertionError: the lists are of different lengths.
    """
    given = [min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts]
    count = max(len(one) if isinstance(one, list) else 1 for one in given)
    lists = [one if isinstance(one, list) else [one] * count for one in given]
    require(
        "CreateDetAugmenter/lists", all(len(one) in (1, count) for one in lists),
        f"lists have one element or as many as the longest, {count}: got {[len(one) for one in lists]}", AssertionError,
    )
    rows = zip(*(one * count if len(one) == 1 else one for one in lists), strict=False)
    return DetRandomSelectAug([DetRandomCropAug(*row) for row in rows], skip_prob=skip_prob)


@decides("CreateDetAugmenter/order")
def CreateDetAugmenter(  # noqa: N802  # MXNet's name
    data_shape: Sequence[int], resize: int = 0, rand_crop: float = 0, rand_pad: float = 0, rand_gray: float = 0,
    rand_mirror: bool = False, mean: Any = None, std: Any = None, brightness: float = 0, contrast: float = 0,
    saturation: float = 0, pca_noise: float = 0, hue: float = 0, inter_method: int = 2, min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33), area_range: Any = (0.05, 3.0), min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50, pad_val: Any = (127, 127, 127),
) -> list[DetAugmenter]:
    """The augmenters that bring pictures and their objects to ``data_shape``, and change them at random.

    Args:
        data_shape: (channels, height, width); pictures are stretched to it.
        resize: the length of the shorter edge at first; 0 leaves it.
        rand_crop: how often a part is cut.
        rand_pad: how often the picture is put into a larger one.
        rand_gray: how often it becomes grey.
        rand_mirror: exchange left and right in half of the cases.
        mean, std, brightness, contrast, saturation, pca_noise, hue, inter_method: as for CreateAugmenter.
        min_object_covered, min_eject_coverage: of DetRandomCropAug; each may be a list, for one of several crops.
        aspect_ratio_range, area_range, max_attempts, pad_val: of DetRandomCropAug and DetRandomPadAug; the least area
            of the latter is 1.

    Raises:
        AssertionError: ``mean`` or ``std`` is no array of 1 or 3 numbers, True or None.
    """
    made: list[DetAugmenter] = [DetBorrowAug(ResizeAug(resize, inter_method))] if resize > 0 else []
    if rand_crop > 0:
        made.append(CreateMultiRandCropAugmenter(
            min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts, 1 - rand_crop
        ))
    if rand_mirror > 0:
        made.append(DetHorizontalFlipAug(0.5))
    if rand_pad > 0:
        pad = DetRandomPadAug(aspect_ratio_range, (1.0, area_range[1]), max_attempts, pad_val)
        made.append(DetRandomSelectAug([pad], 1 - rand_pad))
    plain: list[Augmenter] = [
        ForceResizeAug((data_shape[2], data_shape[1]), inter_method), CastAug(),
        *_coloring(brightness, contrast, saturation, hue, pca_noise, rand_gray),
    ]
    mean, std = _statistics("mean", mean, _MEAN), _statistics("std", std, _STD)
    if mean is not None or std is not None:
        plain.append(ColorNormalizeAug(mean, std))
    return made + [DetBorrowAug(one) for one in plain]


__all__ = [
    "CreateDetAugmenter", "CreateMultiRandCropAugmenter", "DetAugmenter", "DetBorrowAug", "DetHorizontalFlipAug",
    "DetRandomCropAug", "DetRandomPadAug", "DetRandomSelectAug",
]
