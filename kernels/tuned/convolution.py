"""Convolution as a matrix product whose operand is never built.

Forward, out[f, pixel] = sum over taps of weight[f, tap] . data[pixel + tap] is a product of filters and pixels:
a tile holds a few filters times some blocks of neighbouring pixels, and reads its right operand
straight from the image through a table of offsets (``image``). In the gradient by weight, pixels are
what is summed over: a tile holds a few taps times blocks of filters, so there the head is transposed,
filters side by side. The gradient by data is in ``convolution_back``.

Images are treated one after the other, and small enough to stay in the cache. Sums run in the order of
the plain loops, except that the gradient by weight first sums up to ``CHUNK`` pixels of one image.
"""

from __future__ import annotations

from ..foundation import Buffer
from .image import settle, spread, triples, view
from .kernel import kernel, plain, tile_for, twin, wide_tile, workspace
from .simd import add_tiles, fma_tile, load_offsets, load_tile, ramp, store_tile, transpose_16x16, zero_tile

CHUNK = 256


@kernel
def correlate_tiles(
    data, weight, out, n, c, f, g, depth, sizes, channel, taps, starts, places, plane,
    outputs, run, pitch, image, narrow, rows, blocks,
):  # fmt: skip
    """out = weight over data; ``image`` is room for one image, ``narrow`` for its outputs."""
    share, each = c // g, f // g
    size = sizes[0] * sizes[1] * sizes[2]
    final = outputs[0] * outputs[1] * outputs[2]
    for q in range(c * channel):  # the padding stays 0 from one image to the next
        image[q] = 0
    for item in range(n):
        spread(data, item * c * size, c, sizes, image)
        result, base = out, item * f * final
        if pitch > run:
            result, base = narrow, 0
        for first in range(0, f, each):
            source = first // each * share * channel
            for row in range(first, first + each, len(rows)):
                last = first + each - 1
                left = ramp(row * depth, depth, last * depth, rows)
                target = ramp(base + row * plane, plane, base + last * plane, rows)
                for q in range(0, len(starts), len(blocks)):
                    right = load_offsets(starts, q, blocks)
                    tile = zero_tile(rows, blocks)
                    for t in range(depth):
                        tile = fma_tile(tile, weight, left, t, image, right, source + taps[t])
                    store_tile(tile, result, target, load_offsets(places, q, blocks), 0)
        if pitch > run:
            settle(
                narrow, f, plane, run, pitch, (outputs[1], outputs[2]), out, item * f * final,
                outputs, (1, 1, 1), (0, 0, 0),
            )


@kernel
def transpose(source, start, pitch, n, m, out, out_pitch):
    """out[j, i] = source[i, j] for n rows and m columns."""
    for i in range(0, n - 15, 16):
        for j in range(0, m - 15, 16):
            transpose_16x16(source, start + i * pitch + j, pitch, out, j * out_pitch + i, out_pitch)
        for j in range(m // 16 * 16, m):
            for r in range(i, i + 16):
                out[j * out_pitch + r] = source[start + r * pitch + j]
    for i in range(n // 16 * 16, n):
        for j in range(m):
            out[j * out_pitch + i] = source[start + i * pitch + j]


@kernel
def gather_weight_tiles(
    head, data, d_weight, n, c, f, g, depth, sizes, channel, taps, pixels, image, turned, sums,
    rows, blocks,
):  # fmt: skip
    """Gradient by weight: sums[tap, filter] over images, then turned into d_weight[filter, tap]."""
    share, each, width = c // g, f // g, 8 * len(blocks)
    size, plane = sizes[0] * sizes[1] * sizes[2], len(pixels)
    pitch, height = (each + width - 1) // width * width, depth + len(rows)
    for q in range(g * height * pitch):
        sums[q] = 0
    for q in range(c * channel):
        image[q] = 0
    blocks = ramp(0, 8, width, blocks)
    for item in range(n):
        spread(data, item * c * size, c, sizes, image)
        for group in range(g):
            source = group * share * channel
            for begin in range(0, plane, CHUNK):
                end = min(plane, begin + CHUNK)
                transpose(
                    head, (item * f + group * each) * plane + begin, plane, each, end - begin,
                    turned, pitch,
                )
                for column in range(0, pitch, width):
                    for tap in range(0, depth, len(rows)):
                        left = load_offsets(taps, tap, rows)
                        target = ramp((group * height + tap) * pitch, pitch, g * height * pitch, rows)
                        tile = zero_tile(rows, blocks)
                        for q in range(begin, end):
                            tile = fma_tile(
                                tile, image, left, source + pixels[q],
                                turned, blocks, (q - begin) * pitch + column,
                            )
                        tile = add_tiles(load_tile(sums, target, blocks, column), tile)
                        store_tile(tile, sums, target, blocks, column)
    for one in range(f):
        for tap in range(depth):
            at = (one // each * height + tap) * pitch + one % each
            d_weight[one * depth + tap] = sums[at]


@twin
def correlate(data: Buffer, weight: Buffer, out: Buffer, *numbers: int) -> None:
    """Forward; ``numbers`` as the page's ``geometry`` gives them."""
    n, c, f, g = numbers[:4]
    size, kernel_size, outputs, stride, pad, dilate = triples(numbers)
    if f // g < 3:
        plain("convolution", "CORRELATE", data, weight, out, *numbers)
        return
    rows, blocks = wide_tile(f // g)
    v = view(c // g, size, kernel_size, outputs, stride, pad, dilate, len(blocks))
    correlate_tiles(
        data.flat, weight.flat, out.flat, n, c, f, g, weight.size // f, v.sizes, v.channel, v.taps,
        v.blocks, v.places, v.plane, outputs, v.run, v.pitch,
        workspace("image", c * v.channel), workspace("narrow", f * v.plane if v.pitch > v.run else 0),
        rows, blocks,
    )


@twin
def gather_weight(head: Buffer, data: Buffer, d_weight: Buffer, *numbers: int) -> None:
    """Gradient by weight."""
    n, c, f, g = numbers[:4]
    size, kernel_size, outputs, stride, pad, dilate = triples(numbers)
    each = f // g
    if each < 3:
        plain("convolution", "GATHER_WEIGHT", head, data, d_weight, *numbers)
        return
    rows, blocks = tile_for(each)
    width = 8 * len(blocks)
    v = view(c // g, size, kernel_size, outputs, stride, pad, dilate, len(blocks))
    pitch = -(-each // width) * width
    gather_weight_tiles(
        head.flat, data.flat, d_weight.flat, n, c, f, g, d_weight.size // f, v.sizes, v.channel,
        v.taps, v.pixels, workspace("image", c * v.channel),
        workspace("turned", min(CHUNK, len(v.pixels)) * pitch),
        workspace("sums", g * (d_weight.size // f + len(rows)) * pitch), rows, blocks,
    )
