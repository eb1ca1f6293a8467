"""Convolution with kernels of one pixel: a product of the weights and the pixels of several images side by side.

The pixels of one small image fill few tiles, and all weights are read again for every image. So the channels of
several images are brought together, (images, channels, pixels) -> (channels, images, pixels), and the product of the
weights with them is sent back the same way. Each output still adds its products in the order of channels.
"""

from __future__ import annotations

from ..foundation import Buffer
from ..shared.convolution_geometry import Geometry
from ..shared.products import Product
from .gemm import product
from .kernel import kernel, workspace

PIXELS = 512  # larger images fill their tiles
TOGETHER = 1 << 20  # numbers of the images that are brought together


def takes(g: Geometry) -> bool:
    """Whether that convolution is such a product, of images that are small enough."""
    single = g.kernel == g.stride == (1, 1, 1) and g.pad == (0, 0, 0) and g.num_group == 1
    return single and g.depth * g.height * g.width <= PIXELS


@kernel
def collect(source, first, images, channels, pixels, out):
    """out[channel, image, pixel] = source[first + image, channel, pixel]."""
    for channel in range(channels):
        for image in range(images):
            start, to = ((first + image) * channels + channel) * pixels, (channel * images + image) * pixels
            for q in range(pixels):
                out[to + q] = source[start + q]


@kernel
def distribute(source, first, images, channels, pixels, out):
    """out[first + image, channel, pixel] = source[channel, image, pixel]."""
    for image in range(images):
        for channel in range(channels):
            start, to = (channel * images + image) * pixels, ((first + image) * channels + channel) * pixels
            for q in range(pixels):
                out[to + q] = source[start + q]


def multiply(weight: Buffer, data: Buffer, out: Buffer, g: Geometry, *, back: bool = False) -> None:
    """Forward, or the gradient by data from the head as ``data``."""
    pixels = g.depth * g.height * g.width
    ins, outs = (g.num_filter, g.channels) if back else (g.channels, g.num_filter)
    step = (1, g.channels) if back else (g.channels, 1)
    most = min(g.batch_size, max(1, TOGETHER // (pixels * max(ins, outs))))
    collected, result = (workspace(name, n * most * pixels) for name, n in (("collected", ins), ("result", outs)))
    for first in range(0, g.batch_size, most):
        images = min(most, g.batch_size - first)
        columns = images * pixels
        collect(data.flat, first, images, ins, pixels, collected)
        right, target = Buffer(collected, (ins, columns)), Buffer(result, (outs, columns))
        product(weight, right, target, Product(outs, columns, ins, *step, columns, 1))
        distribute(result, first, images, outs, pixels, out.flat)
