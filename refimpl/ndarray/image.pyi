"""mx.nd.image: the operators ``_image_...`` as functions on arrays."""

# Written by `python spec/stubs.py` from the registry of operators; do not edit.

from collections.abc import Sequence

from ..op_registry.argument_types import Flag, Number, Numbers, Sides, Whole
from .ndarray import NDArray

_Out = NDArray | Sequence[NDArray]

__all__ = [
    "adjust_lighting", "crop", "flip_left_right", "flip_top_bottom", "normalize", "random_brightness",
    "random_color_jitter", "random_contrast", "random_flip_left_right", "random_flip_top_bottom", "random_hue",
    "random_lighting", "random_saturation", "resize", "to_tensor",
]

def adjust_lighting(data: NDArray, alpha: Numbers, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def crop(
    data: NDArray, x: Whole, y: Whole, width: Whole, height: Whole, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def flip_left_right(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def flip_top_bottom(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def normalize(
    data: NDArray, mean: Numbers | None = (0.0, 0.0, 0.0, 0.0), std: Numbers | None = (1.0, 1.0, 1.0, 1.0), *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def random_brightness(
    data: NDArray, min_factor: Number, max_factor: Number, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def random_color_jitter(
    data: NDArray, brightness: Number, contrast: Number, saturation: Number, hue: Number, *, out: _Out | None = None,
    name: str | None = None,
) -> NDArray: ...
def random_contrast(
    data: NDArray, min_factor: Number, max_factor: Number, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def random_flip_left_right(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def random_flip_top_bottom(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
def random_hue(
    data: NDArray, min_factor: Number, max_factor: Number, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def random_lighting(
    data: NDArray, alpha_std: Number | None = 0.0500000007, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def random_saturation(
    data: NDArray, min_factor: Number, max_factor: Number, *, out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def resize(
    data: NDArray, size: Sides | None = (), keep_ratio: Flag | None = False, interp: Whole | None = 1, *,
    out: _Out | None = None, name: str | None = None,
) -> NDArray: ...
def to_tensor(data: NDArray, *, out: _Out | None = None, name: str | None = None) -> NDArray: ...
