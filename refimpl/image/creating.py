"""CreateAugmenter: the augmenters that bring pictures to a shape, in their usual order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..base import decides, require
from ..ndarray import NDArray
from .augmenters import (
    Augmenter,
    CastAug,
    CenterCropAug,
    ColorJitterAug,
    ColorNormalizeAug,
    HorizontalFlipAug,
    HueJitterAug,
    LightingAug,
    RandomCropAug,
    RandomGrayAug,
    RandomSizedCropAug,
    ResizeAug,
)

# Of the pictures of ImageNet: mean and standard deviation of colours, and their principal components.
_MEAN, _STD = (123.68, 116.28, 103.53), (58.395, 57.12, 57.375)
_EIGVAL = np.array([55.46, 4.794, 1.148])
_EIGVEC = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])


def _statistics(name: str, given: Any, of_imagenet: Sequence[float]) -> Any:
    """``given``, or what True stands for."""
    if given is True:
        return nd.array(of_imagenet)
    require(
        "CreateAugmenter/statistics",
        given is None or (isinstance(given, (np.ndarray, NDArray)) and given.shape[0] in (1, 3)),
        f"{name} is an array of 1 or 3 numbers, True or None, not {given!r}", AssertionError,
    )
    return given


def _coloring(
    brightness: float, contrast: float, saturation: float, hue: float, pca_noise: float, rand_gray: float
) -> list[Augmenter]:
    made: list[Augmenter] = []
    if brightness or contrast or saturation:
        made.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        made.append(HueJitterAug(hue))
    if pca_noise > 0:
        made.append(LightingAug(pca_noise, _EIGVAL, _EIGVEC))
    if rand_gray > 0:
        made.append(RandomGrayAug(rand_gray))
    return made


@decides("CreateAugmenter/order")
def CreateAugmenter(  # noqa: N802  # MXNet's name
    data_shape: Sequence[int], resize: int = 0, rand_crop: bool = False, rand_resize: bool = False,
    rand_mirror: bool = False, mean: Any = None, std: Any = None, brightness: float = 0, contrast: float = 0,
    saturation: float = 0, hue: float = 0, pca_noise: float = 0, rand_gray: float = 0, inter_method: int = 2,
) -> list[Augmenter]:
    """The augmenters that bring pictures to ``data_shape``, and change them at random as is asked for.

    Args:
        data_shape: (channels, height, width).
        resize: the length of the shorter edge before cutting; 0 leaves it.
        rand_crop: cut at a random place, not from the middle.
        rand_resize: cut a part of random size; needs ``rand_crop``.
        rand_mirror: exchange left and right in half of the cases.
        mean, std: what is subtracted and divided by: arrays of 1 or 3 numbers; True is ImageNet's.
        brightness, contrast, saturation, hue: the most that each is jittered.
        pca_noise: the standard deviation of LightingAug.
        rand_gray: how often a picture becomes grey.
        inter_method: how pictures are resized: 0 to 4, 9 (by the sizes), 10 (at random).

    Raises:
        AssertionError: ``rand_resize`` without ``rand_crop``; or ``mean`` or ``std`` is something else.
    """
    require("CreateAugmenter/rand-resize", rand_crop or not rand_resize, "rand_resize needs rand_crop", AssertionError)
    made: list[Augmenter] = [ResizeAug(resize, inter_method)] if resize > 0 else []
    size = (data_shape[2], data_shape[1])
    if rand_resize:
        made.append(RandomSizedCropAug(size, 0.08, (3.0 / 4.0, 4.0 / 3.0), inter_method))
    else:
        made.append((RandomCropAug if rand_crop else CenterCropAug)(size, inter_method))
    if rand_mirror:
        made.append(HorizontalFlipAug(0.5))
    made += [CastAug(), *_coloring(brightness, contrast, saturation, hue, pca_noise, rand_gray)]
    mean, std = _statistics("mean", mean, _MEAN), _statistics("std", std, _STD)
    if mean is not None or std is not None:
        made.append(ColorNormalizeAug(mean, std))
    return made


__all__ = ["CreateAugmenter"]
