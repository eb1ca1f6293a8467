"""Augmenters: objects that change one picture, an NDArray of shape (height, width, channels), when called.

What is random is drawn from Python's ``random``, except by LightingAug, which draws from ``numpy.random``.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..base import decides, require
from ..ndarray import NDArray
from .image import (
    Size,
    _method,
    _sides,
    center_crop,
    color_normalize,
    imresize,
    random_crop,
    random_size_crop,
    resize_short,
)


@decides("Augmenter/dumps")
class Augmenter:
    """Base of all augmenters; a subclass gives :meth:`__call__` and hands its arguments on as keywords.

    Args:
        kwargs: what :meth:`dumps` writes.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = {
            name: (value.asnumpy() if isinstance(value, NDArray) else value).tolist()
            if isinstance(value, (NDArray, np.ndarray)) else value
            for name, value in kwargs.items()
        }

    def dumps(self) -> Any:
        """The augmenter as JSON: the name of its class in small letters, and its arguments."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        raise NotImplementedError("Must override implementation.")


@decides("Augmenter/several")
class SequentialAug(Augmenter):
    """Calls augmenters one after another.

    Args:
        ts: the augmenters.
    """

    def __init__(self, ts: Sequence[Augmenter]) -> None:
        super().__init__()
        self.ts = ts

    def dumps(self) -> Any:
        """A list: the name of the class in small letters, and what the augmenters dump."""
        return [type(self).__name__.lower(), [one.dumps() for one in self.ts]]

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        for one in self.ts:
            src = one(src)
        return src


@decides("Augmenter/several")
class RandomOrderAug(Augmenter):
    """Calls augmenters in a random order; ``random.shuffle`` changes ``ts`` itself.

    Args:
        ts: the augmenters, a list.
    """

    def __init__(self, ts: list[Augmenter]) -> None:
        super().__init__()
        self.ts = ts

    def dumps(self) -> Any:
        """A list: the name of the class in small letters, and what the augmenters dump."""
        return [type(self).__name__.lower(), [one.dumps() for one in self.ts]]

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        random.shuffle(self.ts)
        for one in self.ts:
            src = one(src)
        return src


# --- sizes -----------------------------------------------------------------------------------------


class ResizeAug(Augmenter):
    """Makes the shorter edge ``size`` pixels long, as :func:`resize_short`."""

    def __init__(self, size: int, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        return resize_short(src, self.size, self.interp)


class ForceResizeAug(Augmenter):
    """Stretches to ``size``, (width, height)."""

    def __init__(self, size: Size, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        sizes = (*_sides(src), self.size[1], self.size[0])
        return imresize(src, *self.size, interp=_method(self.interp, sizes))


class RandomCropAug(Augmenter):
    """Cuts ``size``, (width, height), from a random place, as :func:`random_crop`."""

    def __init__(self, size: Size, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        return random_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """Cuts a part of random size and place and makes it ``size``, as :func:`random_size_crop`.

    Args:
        size: (width, height).
        area, ratio, interp: as for :func:`random_size_crop`.
        kwargs: min_area, the older name of ``area``.

    Raises:
        AssertionError: there is a keyword other than min_area, the older name of ``area``.
    """

    def __init__(self, size: Size, area: Any, ratio: Sequence[float], interp: int = 2, **kwargs: Any) -> None:
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        area = kwargs.pop("min_area", area)
        require(
            "random_crop/keywords", not kwargs,
            f"unexpected keyword arguments for `RandomSizedCropAug`: {', '.join(sorted(kwargs))}", AssertionError,
        )
        self.size, self.area, self.ratio, self.interp = size, area, ratio, interp

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        return random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


class CenterCropAug(Augmenter):
    """Cuts ``size``, (width, height), from the middle, as :func:`center_crop`."""

    def __init__(self, size: Size, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        return center_crop(src, self.size, self.interp)[0]


class HorizontalFlipAug(Augmenter):
    """Exchanges left and right if a random number from 0 to 1 is less than ``p``."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    @decides("Augmenter/flip")
    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        return nd.flip(src, axis=1) if random.random() < self.p else src


# --- colours ---------------------------------------------------------------------------------------

_LIGHT = ((0.299, 0.587, 0.114),)


class BrightnessJitterAug(Augmenter):
    """Multiplies by 1 and a random number up to ``brightness``, in place."""

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness=brightness)
        self.brightness = brightness

    @decides("Augmenter/jitter")
    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        src *= 1.0 + random.uniform(-self.brightness, self.brightness)
        return src


class ContrastJitterAug(Augmenter):
    """Moves every pixel away from the mean brightness of the picture, or towards it, in place."""

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast=contrast)
        self.contrast = contrast
        self.coef = nd.array([_LIGHT])

    @decides("Augmenter/jitter")
    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        alpha = 1.0 + random.uniform(-self.contrast, self.contrast)
        gray = src * self.coef
        gray = (3.0 * (1.0 - alpha) / gray.size) * nd.sum(gray)
        src *= alpha
        src += gray
        return src


class SaturationJitterAug(Augmenter):
    """Moves every pixel away from its own grey, or towards it, in place."""

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation=saturation)
        self.saturation = saturation
        self.coef = nd.array([_LIGHT])

    @decides("Augmenter/jitter")
    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        alpha = 1.0 + random.uniform(-self.saturation, self.saturation)
        gray = nd.sum(src * self.coef, axis=2, keepdims=True)
        gray *= 1.0 - alpha
        src *= alpha
        src += gray
        return src


class HueJitterAug(Augmenter):
    """Turns colours around the axis of grey, by up to ``hue`` times a half turn."""

    def __init__(self, hue: float) -> None:
        super().__init__(hue=hue)
        self.hue = hue
        self.tyiq = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
        self.ityiq = np.array([[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.107, 1.705]])

    @decides("Augmenter/hue")
    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        alpha = random.uniform(-self.hue, self.hue)
        u, w = np.cos(alpha * np.pi), np.sin(alpha * np.pi)
        turn = np.array([[1.0, 0.0, 0.0], [0.0, u, -w], [0.0, w, u]])
        return nd.dot(src, nd.array(np.dot(np.dot(self.ityiq, turn), self.tyiq).T))


class ColorJitterAug(RandomOrderAug):
    """Jitters brightness, contrast and saturation in a random order; what is 0 is left out."""

    def __init__(self, brightness: float, contrast: float, saturation: float) -> None:
        kinds = (BrightnessJitterAug, brightness), (ContrastJitterAug, contrast), (SaturationJitterAug, saturation)
        super().__init__([kind(most) for kind, most in kinds if most > 0])


class LightingAug(Augmenter):
    """Adds a random colour along the principal components of pictures, in place.

    Args:
        alphastd: the standard deviation of what each component is multiplied by.
        eigval, eigvec: shapes (3,) and (3, 3).
    """

    def __init__(self, alphastd: float, eigval: np.ndarray, eigvec: np.ndarray) -> None:
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd, self.eigval, self.eigvec = alphastd, eigval, eigvec

    @decides("Augmenter/lighting")
    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        alpha = np.random.normal(0, self.alphastd, size=(3,))  # noqa: NPY002  # MXNet's stream
        src += nd.array(np.dot(self.eigvec * alpha, self.eigval))
        return src


class ColorNormalizeAug(Augmenter):
    """Subtracts ``mean`` and divides by ``std``, in place; None leaves a step out."""

    def __init__(self, mean: Any, std: Any) -> None:
        super().__init__(mean=mean, std=std)
        self.mean, self.std = (one if one is None or isinstance(one, NDArray) else nd.array(one) for one in (mean, std))

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        return color_normalize(src, self.mean, self.std)


class RandomGrayAug(Augmenter):
    """Makes a picture grey if a random number from 0 to 1 is less than ``p``."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p
        self.mat = nd.array([[0.21] * 3, [0.72] * 3, [0.07] * 3])

    @decides("Augmenter/gray")
    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        return nd.dot(src, self.mat) if random.random() < self.p else src


class CastAug(Augmenter):
    """Makes a picture of another type."""

    def __init__(self, typ: str = "float32") -> None:
        super().__init__(type=typ)
        self.typ = typ

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        return src.astype(self.typ)


__all__ = [
    "Augmenter", "BrightnessJitterAug", "CastAug", "CenterCropAug", "ColorJitterAug", "ColorNormalizeAug",
    "ContrastJitterAug", "ForceResizeAug", "HorizontalFlipAug", "HueJitterAug", "LightingAug",
    "RandomCropAug", "RandomGrayAug", "RandomOrderAug", "RandomSizedCropAug", "ResizeAug", "SaturationJitterAug",
    "SequentialAug",
]
