"""mx.sym.image: the operators ``_image_...`` as functions on symbols."""

# Written by `python spec/stubs.py` from the registry of operators; do not edit.

from typing import overload

from typing_extensions import Unpack

from ..op_registry.argument_types import Attributes, Flag, GraphKeywords, Number, Numbers, Sides, Whole
from .symbol import Symbol

__all__ = [
    "adjust_lighting", "crop", "flip_left_right", "flip_top_bottom", "normalize", "random_brightness",
    "random_color_jitter", "random_contrast", "random_flip_left_right", "random_flip_top_bottom", "random_hue",
    "random_lighting", "random_saturation", "resize", "to_tensor",
]

@overload
def adjust_lighting(
    data: Symbol | None = None, *, alpha: Numbers, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def adjust_lighting(
    data: Symbol | None, alpha: Numbers, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def crop(
    data: Symbol | None = None, *, x: Whole, y: Whole, width: Whole, height: Whole, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def crop(
    data: Symbol | None, x: Whole, y: Whole, width: Whole, height: Whole, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def flip_left_right(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def flip_top_bottom(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def normalize(
    data: Symbol | None = None, mean: Numbers | None = (0.0, 0.0, 0.0, 0.0), std: Numbers | None = (1.0, 1.0, 1.0, 1.0),
    *, name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def random_brightness(
    data: Symbol | None = None, *, min_factor: Number, max_factor: Number, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def random_brightness(
    data: Symbol | None, min_factor: Number, max_factor: Number, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def random_color_jitter(
    data: Symbol | None = None, *, brightness: Number, contrast: Number, saturation: Number, hue: Number,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def random_color_jitter(
    data: Symbol | None, brightness: Number, contrast: Number, saturation: Number, hue: Number, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def random_contrast(
    data: Symbol | None = None, *, min_factor: Number, max_factor: Number, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def random_contrast(
    data: Symbol | None, min_factor: Number, max_factor: Number, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_flip_left_right(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_flip_top_bottom(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def random_hue(
    data: Symbol | None = None, *, min_factor: Number, max_factor: Number, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def random_hue(
    data: Symbol | None, min_factor: Number, max_factor: Number, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def random_lighting(
    data: Symbol | None = None, alpha_std: Number | None = 0.0500000007, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def random_saturation(
    data: Symbol | None = None, *, min_factor: Number, max_factor: Number, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
@overload
def random_saturation(
    data: Symbol | None, min_factor: Number, max_factor: Number, *, name: str | None = None,
    attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def resize(
    data: Symbol | None = None, size: Sides | None = (), keep_ratio: Flag | None = False, interp: Whole | None = 1, *,
    name: str | None = None, attr: Attributes | None = None, **graph: Unpack[GraphKeywords]
) -> Symbol: ...
def to_tensor(
    data: Symbol | None = None, *, name: str | None = None, attr: Attributes | None = None,
    **graph: Unpack[GraphKeywords]
) -> Symbol: ...
