"""mx.image: pictures as arrays, ways to change them, and iterators over files of pictures."""

from __future__ import annotations

from typing import Any

from .. import recordio
from .augmenters import (
    Augmenter,
    BrightnessJitterAug,
    CastAug,
    CenterCropAug,
    ColorJitterAug,
    ColorNormalizeAug,
    ContrastJitterAug,
    ForceResizeAug,
    HorizontalFlipAug,
    HueJitterAug,
    LightingAug,
    RandomCropAug,
    RandomGrayAug,
    RandomOrderAug,
    RandomSizedCropAug,
    ResizeAug,
    SaturationJitterAug,
    SequentialAug,
)
from .creating import CreateAugmenter
from .det_iter import ImageDetIter
from .detection import (
    CreateDetAugmenter,
    CreateMultiRandCropAugmenter,
    DetAugmenter,
    DetBorrowAug,
    DetHorizontalFlipAug,
    DetRandomCropAug,
    DetRandomPadAug,
    DetRandomSelectAug,
)
from .image import (
    center_crop,
    color_normalize,
    copyMakeBorder,
    fixed_crop,
    imdecode,
    imread,
    imresize,
    imrotate,
    random_crop,
    random_rotate,
    random_size_crop,
    resize_short,
    scale_down,
)
from .image_iter import ImageIter


def __getattr__(name: str) -> Any:
    """``cv2``, as in MXNet: OpenCV's module, None where it is not installed. It is not used here."""
    if name != "cv2":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return recordio.cv2


__all__ = [
    "Augmenter", "BrightnessJitterAug", "CastAug", "CenterCropAug", "ColorJitterAug", "ColorNormalizeAug",
    "ContrastJitterAug", "CreateAugmenter", "CreateDetAugmenter", "CreateMultiRandCropAugmenter", "DetAugmenter",
    "DetBorrowAug", "DetHorizontalFlipAug", "DetRandomCropAug", "DetRandomPadAug", "DetRandomSelectAug",
    "ForceResizeAug", "HorizontalFlipAug", "HueJitterAug", "ImageDetIter", "ImageIter", "LightingAug",
    "RandomCropAug", "RandomGrayAug", "RandomOrderAug", "RandomSizedCropAug", "ResizeAug", "SaturationJitterAug",
    "SequentialAug", "center_crop", "color_normalize", "copyMakeBorder", "fixed_crop", "imdecode", "imread",
    "imresize", "imrotate", "random_crop", "random_rotate", "random_size_crop", "resize_short", "scale_down",
]
