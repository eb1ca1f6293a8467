"""Augmenters: objects that change one picture, an NDArray of shape (height, width, channels), when called.

What is random is drawn from Python's ``random``, except by LightingAug, which draws from ``numpy.random``.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..base import decides
from ..ndarray import NDArray
from .image import (
    Size,
    _area_of,
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

    def _keep(self, **arguments: Any) -> None:
        """Keep the arguments of a constructor, as attributes and for :meth:`dumps`."""
        Augmenter.__init__(self, **arguments)
        vars(self).update(arguments)

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        raise NotImplementedError(f"{type(self).__name__} has no __call__: a class of augmenters says what it changes")


class _Several(Augmenter):
    """Augmenters in a list, ``ts``."""

    def __init__(self, ts: Any) -> None:
        super().__init__()
        self.ts = ts

    def dumps(self) -> Any:
        """A list: the name of the class in small letters, and what the augmenters dump."""
        return [type(self).__name__.lower(), [each.dumps() for each in self.ts]]


@decides("Augmenter/several")
class SequentialAug(_Several):
    """Calls augmenters one after another.

    Args:
        ts: the augmenters.
    """

    def __init__(self, ts: Sequence[Augmenter]) -> None:
        super().__init__(ts)

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        return reduce(lambda picture, change: change(picture), self.ts, src)


@decides("Augmenter/several")
class RandomOrderAug(_Several):
    """Calls augmenters in a random order; ``random.shuffle`` changes ``ts`` itself.

    Args:
        ts: the augmenters, a list.
    """

    def __init__(self, ts: list[Augmenter]) -> None:
        super().__init__(ts)

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        random.shuffle(self.ts)
        return reduce(lambda picture, change: change(picture), self.ts, src)


# --- sizes -----------------------------------------------------------------------------------------


class _ToSize(Augmenter):
    """Brings pictures to ``size`` by the method ``interp``: 0 to 4, 9 (by the sizes), 10 (at random)."""

    size: Any
    interp: int

    def __init__(self, size: Size, interp: int = 2) -> None:
        self._keep(size=size, interp=interp)


class ResizeAug(_ToSize):
    """Makes the shorter edge ``size`` pixels long, as :func:`resize_short`."""

    def __init__(self, size: int, interp: int = 2) -> None:
        self._keep(size=size, interp=interp)

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        return resize_short(src, self.size, self.interp)


class ForceResizeAug(_ToSize):
    """Stretches to ``size``, (width, height)."""

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        width, height = self.size
        return imresize(src, width, height, interp=_method(self.interp, (*_sides(src), height, width)))


class RandomCropAug(_ToSize):
    """Cuts ``size``, (width, height), from a random place, as :func:`random_crop`."""

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

    size: Size
    area: Any
    ratio: Sequence[float]
    interp: int

    def __init__(self, size: Size, area: Any, ratio: Sequence[float], interp: int = 2, **kwargs: Any) -> None:
        self._keep(size=size, area=area, ratio=ratio, interp=interp)
        self.area = _area_of("RandomSizedCropAug", area, kwargs)  # dumps has what was given as area

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        return random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


class CenterCropAug(_ToSize):
    """Cuts ``size``, (width, height), from the middle, as :func:`center_crop`."""

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        return center_crop(src, self.size, self.interp)[0]


# --- by chance -------------------------------------------------------------------------------------


class _Sometimes(Augmenter):
    """Changes a picture if a random number from 0 to 1 is less than ``p``."""

    p: float

    def __init__(self, p: float) -> None:
        self._keep(p=p)

    def _changed(self, src: NDArray) -> NDArray:
        raise NotImplementedError

    @decides("Augmenter/flip", "Augmenter/gray")
    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        return self._changed(src) if random.random() < self.p else src


class HorizontalFlipAug(_Sometimes):
    """Exchanges left and right if a random number from 0 to 1 is less than ``p``."""

    def _changed(self, src: NDArray) -> NDArray:
        return nd.flip(src, axis=1)


class RandomGrayAug(_Sometimes):
    """Makes a picture grey if a random number from 0 to 1 is less than ``p``."""

    def __init__(self, p: float) -> None:
        super().__init__(p)
        self.mat = nd.array([[0.21] * 3, [0.72] * 3, [0.07] * 3])

    def _changed(self, src: NDArray) -> NDArray:
        return nd.dot(src, self.mat)


# --- colours ---------------------------------------------------------------------------------------

_LIGHT = ((0.299, 0.587, 0.114),)  # of red, green and blue in the brightness of a pixel


class _JitterAug(Augmenter):
    """pixel * strength + reference * (1 - strength), in place, for a random strength about 1.

    A subclass says what the reference is; ``_most`` names its argument, the farthest that the strength is from 1.
    """

    _most: str

    def _reference(self, src: NDArray, share: float) -> NDArray | None:
        """The reference times ``share``; None where it is black."""
        raise NotImplementedError

    @decides("Augmenter/jitter")
    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        most = getattr(self, self._most)
        strength = 1.0 + random.uniform(-most, most)
        reference = self._reference(src, 1.0 - strength)
        src *= strength
        if reference is not None:
            src += reference
        return src


class BrightnessJitterAug(_JitterAug):
    """Multiplies by 1 and a random number up to ``brightness``, in place."""

    _most = "brightness"

    def __init__(self, brightness: float) -> None:
        self._keep(brightness=brightness)

    def _reference(self, src: NDArray, share: float) -> None:
        del src, share


class ContrastJitterAug(_JitterAug):
    """Moves every pixel away from the mean brightness of the picture, or towards it, in place."""

    _most = "contrast"

    def __init__(self, contrast: float) -> None:
        self._keep(contrast=contrast)
        self.coef = nd.array([_LIGHT])

    def _reference(self, src: NDArray, share: float) -> NDArray:
        light = src * self.coef
        return (3.0 * share / light.size) * nd.sum(light)  # a pixel's brightness is the sum of its 3 numbers


class SaturationJitterAug(_JitterAug):
    """Moves every pixel away from its own grey, or towards it, in place."""

    _most = "saturation"

    def __init__(self, saturation: float) -> None:
        self._keep(saturation=saturation)
        self.coef = nd.array([_LIGHT])

    def _reference(self, src: NDArray, share: float) -> NDArray:
        return nd.sum(src * self.coef, axis=2, keepdims=True) * share


class HueJitterAug(Augmenter):
    """Turns colours around the axis of grey, by up to ``hue`` times a half turn."""

    hue: float

    def __init__(self, hue: float) -> None:
        self._keep(hue=hue)
        # from red, green and blue to brightness and two differences of colour, and back
        self.tyiq = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
        self.ityiq = np.array([[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.107, 1.705]])

    @decides("Augmenter/hue")
    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        angle = random.uniform(-self.hue, self.hue) * np.pi
        cosine, sine = np.cos(angle), np.sin(angle)
        turn = np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]])
        return nd.dot(src, nd.array((self.ityiq @ turn @ self.tyiq).T))


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

    alphastd: float
    eigval: np.ndarray
    eigvec: np.ndarray

    def __init__(self, alphastd: float, eigval: np.ndarray, eigvec: np.ndarray) -> None:
        self._keep(alphastd=alphastd, eigval=eigval, eigvec=eigvec)

    @decides("Augmenter/lighting")
    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        shares = np.random.normal(0, self.alphastd, size=(3,))  # noqa: NPY002  # MXNet's stream
        src += nd.array(np.dot(self.eigvec * shares, self.eigval))
        return src


class ColorNormalizeAug(Augmenter):
    """Subtracts ``mean`` and divides by ``std``, in place; None leaves a step out."""

    def __init__(self, mean: Any, std: Any) -> None:
        super().__init__(mean=mean, std=std)
        self.mean, self.std = (one if one is None or isinstance(one, NDArray) else nd.array(one) for one in (mean, std))

    def __call__(self, src: NDArray) -> NDArray:
        """The changed picture."""
        return color_normalize(src, self.mean, self.std)


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
