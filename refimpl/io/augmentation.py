"""What ImageRecordIter does to a picture at random, in MXNet's order and with MXNet's draws."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base import decides, require
from .arguments import Arguments
from .colors import brighter, contrasted, lit, moved_in_hls, saturated
from .pictures import enlarge, padded, resize, shorter_edge, warped
from .shuffling import below, normals, real, shuffled, unit

_F = np.float32
# Every argument and what it is when it is not given: a truth value, a whole number, a real one or a text of whole ones.
DEFAULTS: dict[str, Any] = {
    "resize": -1, "rand_crop": False, "random_resized_crop": False, "max_rotate_angle": 0, "max_aspect_ratio": 0.0,
    "min_aspect_ratio": None, "max_shear_ratio": 0.0, "max_crop_size": -1, "min_crop_size": -1,
    "max_random_scale": 1.0, "min_random_scale": 1.0, "max_random_area": 1.0, "min_random_area": 1.0,
    "max_img_size": 1e10, "min_img_size": 0.0, "brightness": 0.0, "contrast": 0.0, "saturation": 0.0, "pca_noise": 0.0,
    "random_h": 0, "random_s": 0, "random_l": 0, "rotate": -1, "fill_value": 255, "inter_method": 1, "pad": 0,
    "rotate_list": "",
}
METHODS = (0, 1, 2, 3, 4, 9, 10)
# No picture that is made on the way may have more pixels.
MOST_PIXELS = 1 << 28
COLORING = ("brightness", "contrast", "saturation", "pca_noise", "random_h", "random_s", "random_l")


@decides("ImageRecordIter/interpolation")
def method_of(method: int, old: tuple[int, ...], new: tuple[int, int], draws: np.random.MT19937) -> int:
    """The method to resize (rows, columns) by: 9 chooses by the sizes, 10 at random."""
    if method == 9:
        if new[0] > old[0] and new[1] > old[1]:
            return 2
        return 3 if new[0] < old[0] and new[1] < old[1] else 1
    return below(draws, 5) if method == 10 else method


class Augmentation:
    """Changes pictures, uint8 of shape (rows, columns, channels), into ones of ``shape``.

    Args:
        read: reads arguments, and refuses.
        shape: (channels, height, width) of the result.
        given: arguments, names of :data:`DEFAULTS`.

    Raises:
        MXNetError: an argument is out of range, or two of them exclude each other.
    """

    def __init__(self, read: Arguments, shape: tuple[int, ...], given: Mapping[str, Any]) -> None:
        self.shape = shape
        chosen: dict[str, Any] = {}
        for name, default in DEFAULTS.items():
            value = given.get(name, default)
            if default is None:
                chosen[name] = None if value in (None, "None") else read.real(name, value)
            elif isinstance(default, str):
                chosen[name] = [read.integer(name, part) for part in str(value).split(",")] if value else []
            elif isinstance(default, bool):
                chosen[name] = read.flag(name, value)
            else:
                chosen[name] = (read.integer if isinstance(default, int) else read.real)(name, value)
        self.of = chosen
        self._check_ranges(read)
        self._check_together(read)
        channels = shape[0]
        self._fill = np.array([chosen["fill_value"]] * 3 + [0], np.int64)[:channels].clip(0, 255)

    def _check_ranges(self, read: Arguments) -> None:
        of = self.of
        for name in ("pad", "fill_value", "max_rotate_angle", "min_img_size", *COLORING):
            if of[name] < 0:
                raise read.refused(name, "0 or more", of[name])
        if of["inter_method"] not in METHODS:
            raise read.refused("inter_method", f"one of {', '.join(map(str, METHODS))}", of["inter_method"])
        for name in ("random_scale", "random_area", "img_size", "crop_size"):
            if of[f"min_{name}"] > of[f"max_{name}"] and not (name == "crop_size" and of["max_crop_size"] == -1):
                raise read.refused(f"min_{name}", f"at most max_{name}, {of[f'max_{name}']}", of[f"min_{name}"])
        for name in ("min_random_scale", "min_random_area"):
            if of[name] <= 0:
                raise read.refused(name, "more than 0", of[name])
        low, high = self._ratios()
        if not 0 < low <= high:
            wanted = "less than 1, or not less than a positive min_aspect_ratio"
            raise read.refused("max_aspect_ratio", wanted, of["max_aspect_ratio"])

    @decides("ImageRecordIter/together")
    def _check_together(self, read: Arguments) -> None:
        of = self.of
        crops = (of["min_crop_size"], of["max_crop_size"]) != (-1, -1)
        if crops and min(of["min_crop_size"], of["max_crop_size"]) < 1:
            raise read.refused("min_crop_size", "1 or more, with max_crop_size", of["min_crop_size"])
        scales = (of["min_random_scale"], of["max_random_scale"]) != (1, 1)
        require(
            "ImageRecordIter/together", not (of["random_resized_crop"] and (crops or scales or of["rand_crop"])),
            "random_resized_crop excludes rand_crop, min_crop_size, max_crop_size, min_random_scale and"
            " max_random_scale; leave those out",
        )
        require(
            "ImageRecordIter/together", not self._turns() or of["inter_method"] != 0,
            "inter_method=0 (nearest) cannot rotate, shear or scale; take 1 to 4, 9 or 10",
        )
        colored = [name for name in COLORING if of[name]]
        require(
            "ImageRecordIter/together", self.shape[0] == 3 or not colored,
            f"{', '.join(colored)} need 3 channels, data_shape has {self.shape[0]}",
        )

    def _ratios(self) -> tuple[float, float]:
        least, most = self.of["min_aspect_ratio"], self.of["max_aspect_ratio"]
        return (1 - most, 1 + most) if least is None else (least, most)

    def _turns(self) -> bool:
        """Whether pictures are rotated, sheared or scaled."""
        of = self.of
        ratios = of["min_aspect_ratio"] is not None or of["max_aspect_ratio"] != 0
        return bool(
            of["max_rotate_angle"] > 0 or of["max_shear_ratio"] > 0 or of["rotate"] > 0
            or of["rotate_list"] or (of["min_random_scale"], of["max_random_scale"]) != (1, 1)
            or (ratios and not of["random_resized_crop"])
            or (of["min_img_size"], of["max_img_size"]) != (0, 1e10)
        )

    def __call__(self, picture: np.ndarray, draws: np.random.MT19937) -> np.ndarray:
        """The changed picture: (height, width, channels) of ``shape``."""
        of = self.of
        if of["resize"] > 0:
            picture = self._resized(picture, *shorter_edge(picture, of["resize"]), draws)
        if self._turns():
            picture = self._turned(picture, draws)
        if of["pad"]:
            self._small_enough(picture.shape[0] + 2 * of["pad"], picture.shape[1] + 2 * of["pad"])
            framed = padded(picture, of["pad"], 0)
            inside = padded(np.ones((*picture.shape[:2], 1), bool), of["pad"], False)
            picture = np.where(inside, framed, self._fill.astype(np.uint8))
        return self._colored(self._cut(picture, draws), draws)

    def _small_enough(self, height: float, width: float) -> None:
        require(
            "ImageRecordIter/too-large", min(height, width) >= 1 and height * width <= MOST_PIXELS,
            f"a picture would become {height:g} times {width:g} pixels; {MOST_PIXELS} are the most, and a side has 1",
        )

    def _resized(self, picture: np.ndarray, height: int, width: int, draws: np.random.MT19937) -> np.ndarray:
        self._small_enough(height, width)
        method = method_of(self.of["inter_method"], picture.shape[:2], (height, width), draws)
        return resize(picture, height, width, method)

    @decides("ImageRecordIter/affine")
    def _turned(self, picture: np.ndarray, draws: np.random.MT19937) -> np.ndarray:
        """The picture rotated, sheared and scaled around its middle."""
        of, (rows, columns) = self.of, map(_F, picture.shape[:2])
        most, two, one = _F(of["max_shear_ratio"]), _F(2), _F(1)
        shear = unit(draws) * most * two - most
        angle = below(draws, 2 * of["max_rotate_angle"] + 1) - of["max_rotate_angle"]
        angle = of["rotate"] if of["rotate"] > 0 else angle
        if of["rotate_list"]:
            angle = of["rotate_list"][below(draws, len(of["rotate_list"]))]
        a, b = _F(math.cos(angle / 180 * math.pi)), _F(math.sin(angle / 180 * math.pi))
        scale = ratio = one
        if not of["random_resized_crop"]:
            scale = real(draws, of["min_random_scale"], of["max_random_scale"])
            if of["min_aspect_ratio"] is not None:
                ratio = real(draws, of["min_aspect_ratio"], of["max_aspect_ratio"])
            else:
                most = _F(of["max_aspect_ratio"])
                ratio = unit(draws) * most * two - most + one
        high = two * scale / (one + ratio)
        wide = ratio * high
        least, greatest = _F(of["min_img_size"]), _F(of["max_img_size"])
        width, height = max(least, min(greatest, scale * columns)), max(least, min(greatest, scale * rows))
        self._small_enough(int(height), int(width))
        m0, m3 = high * a - shear * b * wide, -b * wide
        m1, m4 = high * b + shear * a * wide, a * wide
        m2 = (width - (m0 * columns + m1 * rows)) / two
        m5 = (height - (m3 * columns + m4 * rows)) / two
        method = method_of(of["inter_method"], picture.shape[:2], (int(height), int(width)), draws)
        return warped(picture, [m0, m1, m2, m3, m4, m5], int(height), int(width), method, self._fill)

    @decides("ImageRecordIter/crop", "ImageRecordIter/random-crop")
    def _cut(self, picture: np.ndarray, draws: np.random.MT19937) -> np.ndarray:
        of, (_, height, width) = self.of, self.shape
        if of["random_resized_crop"]:
            found = self._random_part(picture, draws)
            if found is not None:
                return self._resized(found, height, width, draws)
        elif of["max_crop_size"] > 0:
            return self._resized(self._square(picture, draws), height, width, draws)
        method = method_of(of["inter_method"], picture.shape[:2], (height, width), draws)
        if min(picture.shape[0] - height, picture.shape[1] - width) < 0:
            factor = max(height / picture.shape[0], width / picture.shape[1])
            self._small_enough(max(picture.shape[0] * factor, height), max(picture.shape[1] * factor, width))
            picture = enlarge(picture, height, width, method)
        return self._part(picture, height, width, draws)

    def _part(self, picture: np.ndarray, height: int, width: int, draws: np.random.MT19937) -> np.ndarray:
        """So many pixels, from the middle or anywhere."""
        top, left = picture.shape[0] - height, picture.shape[1] - width
        if self.of["rand_crop"]:
            top, left = below(draws, top + 1), below(draws, left + 1)
        else:
            top, left = top // 2, left // 2
        return picture[top : top + height, left : left + width]

    def _square(self, picture: np.ndarray, draws: np.random.MT19937) -> np.ndarray:
        least, most = self.of["min_crop_size"], self.of["max_crop_size"]
        require(
            "ImageRecordIter/crop-size", min(picture.shape[:2]) >= most,
            f"a picture of {picture.shape[:2]} is smaller than the largest crop, {most}; set resize to enlarge it",
        )
        size = least + below(draws, most - least + 1)
        return self._part(picture, size, size, draws)

    def _random_part(self, picture: np.ndarray, draws: np.random.MT19937) -> np.ndarray | None:
        """A part of random area and proportions; None if ten of them do not fit."""
        of, (rows, columns) = self.of, picture.shape[:2]
        plain = (of["min_random_area"], of["max_random_area"], of["max_aspect_ratio"], of["min_aspect_ratio"])
        if plain == (1, 1, 0, None):
            return None
        for _ in range(10):
            area = real(draws, of["min_random_area"], of["max_random_area"]) * _F(rows * columns)
            ratio = real(draws, *self._ratios())
            height, width = (math.floor(math.sqrt(size) + 0.5) for size in (area / ratio, area * ratio))
            if unit(draws) > 0.5:
                height, width = width, height
            if 0 < height <= rows and 0 < width <= columns:
                top, left = below(draws, rows - height + 1), below(draws, columns - width + 1)
                return picture[top : top + height, left : left + width]
        return None

    @decides("ImageRecordIter/hsl", "ImageRecordIter/jitter", "ImageRecordIter/pca")
    def _colored(self, picture: np.ndarray, draws: np.random.MT19937) -> np.ndarray:
        of = self.of
        steps = (brighter, of["brightness"]), (contrasted, of["contrast"]), (saturated, of["saturation"])
        if any(most for _, most in steps):
            factors = [_F(1) + real(draws, -most, most) for _, most in steps]
            for place in shuffled(np.arange(3), draws):
                picture = steps[place][0](picture, factors[place])
        moves = of["random_h"], of["random_s"], of["random_l"]
        if any(moves):
            hue, saturation, light = (int(self._middling(draws) * _F(most) * _F(2) - _F(most)) for most in moves)
            picture = moved_in_hls(picture, hue, light, saturation)
        if of["pca_noise"]:
            picture = lit(picture, normals(draws, of["pca_noise"], 3))
        return picture

    @staticmethod
    def _middling(draws: np.random.MT19937) -> np.float32:
        """A number from 0 to 1, more often near a half."""
        return (unit(draws) + _F(4) * unit(draws)) / _F(5)


__all__ = ["DEFAULTS", "Augmentation"]
