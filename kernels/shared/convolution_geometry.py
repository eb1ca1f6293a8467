"""The geometry of a convolution: the shapes and strides that its loops, and those of deconvolution and im2col, read."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import NamedTuple

from ..foundation import Buffer

Shape = tuple[int, ...]
Triple = tuple[int, int, int]


class Geometry(NamedTuple):
    """Filters slide over images. With fewer than three axes the first ones have side 1."""

    batch_size: int
    channels: int
    num_filter: int
    num_group: int
    depth: int
    height: int
    width: int
    kernel_d: int
    kernel_h: int
    kernel_w: int
    out_d: int
    out_h: int
    out_w: int
    stride_d: int
    stride_h: int
    stride_w: int
    pad_d: int
    pad_h: int
    pad_w: int
    dilate_d: int
    dilate_h: int
    dilate_w: int

    @property
    def size(self) -> Triple:
        """Sides of an image."""
        return self.depth, self.height, self.width

    @property
    def kernel(self) -> Triple:
        """Sides of a filter."""
        return self.kernel_d, self.kernel_h, self.kernel_w

    @property
    def out(self) -> Triple:
        """The number of positions of a filter along each axis."""
        return self.out_d, self.out_h, self.out_w

    @property
    def stride(self) -> Triple:
        """Pixels between neighbouring positions."""
        return self.stride_d, self.stride_h, self.stride_w

    @property
    def pad(self) -> Triple:
        """Zeros before and behind the image."""
        return self.pad_d, self.pad_h, self.pad_w

    @property
    def dilate(self) -> Triple:
        """Pixels between neighbouring taps of a filter."""
        return self.dilate_d, self.dilate_h, self.dilate_w


@lru_cache(maxsize=512)
def geometry_of(
    data: Shape, out: Shape, kernel: Shape, stride: Shape, pad: Shape, dilate: Shape, num_group: int = 1,
) -> Geometry:  # fmt: skip
    """The geometry of data (batch, channels, *size), out (batch, filters, *positions), and parameters for each axis."""
    absent = 3 - len(kernel)
    one, zero = (1,) * absent, (0,) * absent
    sides = *one, *data[2:], *one, *kernel, *one, *out[2:], *one, *stride, *zero, *pad, *one, *dilate
    return Geometry(data[0], data[1], out[1], num_group, *sides)


def volume(buffer: Buffer) -> Buffer:
    """An array (batch, channels, *sides), or of weights, with three sides: missing first sides are 1."""
    first, second, *sides = buffer.shape
    return buffer.reshape((first, second, *(1,) * (3 - len(sides)), *sides))


def planes(buffer: Buffer) -> Buffer:
    """An array (batch, channels, *sides) with one side."""
    return buffer.reshape((*buffer.shape[:2], prod(buffer.shape[2:])))
