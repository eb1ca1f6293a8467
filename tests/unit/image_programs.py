"""Calls of mx.image at fixed draws, and what they gave, as checksums: the same text runs here and in MXNet 1.9.1.

A program is run by :func:`run`; it appends (name, array) to a list. Pictures are drawn from a seed.
"""

from __future__ import annotations

import random
import zlib
from typing import Any

import numpy as np


def picture(mx: Any, rng: np.random.RandomState, kind: str, least: int = 8) -> Any:
    """A picture of random size and numbers: whole for uint8, with fractions for float32."""
    height, width = (int(side) for side in rng.randint(least, 40, 2))
    numbers = rng.randint(0, 2**24, (height, width, 3)) / 2**16
    return mx.nd.array(numbers.astype(kind), dtype=kind)


def functions(mx: Any, rng: np.random.RandomState, kind: str) -> list[Any]:
    """Every function that changes one picture."""
    image, src = mx.image, picture(mx, rng, kind)
    size, interp = tuple(int(side) for side in rng.randint(8, 30, 2)), int(rng.choice([0, 1, 2, 3, 4, 9, 10]))
    margins = [int(margin) for margin in rng.randint(0, 45, 4)]
    least = 0.1 + 0.9 * float(rng.rand())
    return [
        image.imresize(src, *size, interp % 5), image.resize_short(src, size[0], interp),
        image.fixed_crop(src, 1, 2, 4, 5, size, interp), image.center_crop(src, size, interp)[0],
        image.random_crop(src, size, interp)[0], image.random_size_crop(src, size, least, (0.5, 2.0), interp)[0],
        image.random_size_crop(src, size, (0.2, 3 * least + 0.2), (0.5, 2.0), interp)[0],
        image.copyMakeBorder(src, *margins, int(rng.randint(5)), value=float(rng.randint(300))),
        image.copyMakeBorder(src, *margins, 0, values=(1.5, 2.5, 300)),
        image.color_normalize(src.astype("float32"), mx.nd.array([1, 2, 3]), mx.nd.array([2, 3, 4])),
    ]


def augmenters(mx: Any, rng: np.random.RandomState, kind: str) -> list[Any]:
    """Every augmenter whose numbers are the same bit for bit."""
    image, src = mx.image, picture(mx, rng, kind)
    size, interp = tuple(int(side) for side in rng.randint(8, 30, 2)), int(rng.choice([0, 1, 2, 3, 4, 9, 10]))
    values, vectors = np.array([55.46, 4.794, 1.148]), np.arange(9).reshape(3, 3) / 9
    made = [
        image.ResizeAug(size[0], interp), image.ForceResizeAug(size, interp), image.RandomCropAug(size, interp),
        image.RandomSizedCropAug(size, 0.3, (0.75, 1.3), interp), image.CenterCropAug(size, interp),
        image.HorizontalFlipAug(0.5), image.CastAug(),
        image.SequentialAug([image.HorizontalFlipAug(0.5), image.CastAug(), image.BrightnessJitterAug(0.3)]),
    ]
    plain = [
        image.BrightnessJitterAug(0.3), image.ContrastJitterAug(0.3), image.HueJitterAug(0.3),
        image.RandomOrderAug([image.BrightnessJitterAug(0.2), image.ContrastJitterAug(0.2)]),
        image.LightingAug(0.1, values, vectors), image.RandomGrayAug(0.5),
        image.ColorNormalizeAug(np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0])),
    ]
    return [one(src) for one in made] + [one(src.astype("float32")) for one in plain]


def detection(mx: Any, rng: np.random.RandomState, kind: str) -> list[Any]:
    """Every augmenter for detection."""
    image, src = mx.image, picture(mx, rng, kind, 12)
    corners = rng.rand(3, 2) * 0.5
    objects = np.concatenate([np.arange(3)[:, None], corners, corners + 0.1 + rng.rand(3, 2) * 0.4], axis=1)
    made = [
        image.DetBorrowAug(image.CastAug()), image.DetHorizontalFlipAug(0.5), image.DetRandomCropAug(),
        image.DetRandomCropAug(0.5, (0.5, 2.0), (0.1, 0.8), 0.3, 20), image.DetRandomPadAug(),
        image.DetRandomPadAug((0.5, 2.0), (1.0, 4.0), 10, (1, 2, 3)),
        image.DetRandomSelectAug([image.DetHorizontalFlipAug(1.0), image.DetRandomCropAug()], 0.3),
        image.CreateMultiRandCropAugmenter([0.1, 0.5], skip_prob=0.2),
    ]
    found = []
    for one in made:
        out, boxes = one(src, objects.copy())
        found += [out, mx.nd.array(np.round(boxes, 5))]
    return found


PROGRAMS = {"functions": functions, "augmenters": augmenters, "detection": detection}


def run(mx: Any, name: str, count: int, first: int = 0) -> list[int]:
    """A checksum for each result of a program, over ``count`` pictures."""
    sums: list[int] = []
    for number in range(first, first + count):
        random.seed(number)
        np.random.seed(number)  # what augmenters draw from
        kind = "float32" if number % 2 else "uint8"
        results = PROGRAMS[name](mx, np.random.RandomState(number), kind)
        sums = sums or [0] * len(results)
        for place, result in enumerate(results):
            values = result.asnumpy()
            sums[place] = zlib.crc32(str(values.shape).encode() + values.tobytes(), sums[place])
    return [*sums, int(random.random() * 2**32)]
