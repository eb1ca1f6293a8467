"""Convolution as a matrix product whose operand is never built.

Forward, out[f, pixel] = sum over taps of weight[f, tap] . data[pixel + tap] is a product of filters and pixels:
a tile holds a few filters times some blocks of neighbouring pixels, and reads its right operand
straight from the image through a table of offsets (``image``). The gradient by data is the same
product with the head in the image's place. In the gradient by weight, pixels are what is summed over:
a tile holds a few taps times blocks of filters, so there the head is transposed, filters side by side.

Images are treated one after the other, and small enough to stay in the cache. Sums run in the order of
the plain loops, except that the gradient by weight first sums up to ``CHUNK`` pixels of one image.
"""

from __future__ import annotations

from ..foundation import Buffer
from .image import back_view, settle, spread, view
from .kernel import NARROW, WIDE, kernel, plain, twin, workspace
from .simd import blank, grow, join, lay, lift, offsets, ramp, turn

CHUNK = 1024


@kernel
def correlate_tiles(  # type: ignore[no-untyped-def]
    data, weight, out, n, c, f, g, depth, sizes, channel, taps, starts, places, plane,
    outputs, run, pitch, image, narrow, rows, blocks,
):  # fmt: skip
    """out = weight over data; ``image`` is room for one image, ``narrow`` for its outputs."""
    share, each = c // g, f // g
    size = sizes[0] * sizes[1] * sizes[2]
    final = outputs[0] * outputs[1] * outputs[2]
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
                    right = offsets(starts, q, blocks)
                    tile = blank(rows, blocks)
                    for t in range(depth):
                        tile = grow(tile, weight, left, t, image, right, source + taps[t])
                    lay(tile, result, target, offsets(places, q, blocks), 0)
        if pitch > run:
            settle(
                narrow, f, plane, run, pitch, (outputs[1], outputs[2]), out, item * f * final,
                outputs, (1, 1, 1), (0, 0, 0),
            )


@kernel
def pack_weights(weight, c, g, taps, weights, ends, packed, rows):  # type: ignore[no-untyped-def]
    """packed[part, group, row of tiles, tap, row] = the weights in the order in which they are read.

    Returns whether all of them are finite.
    """
    share, to, check = c // g, 0, weight[0] * 0
    start = 0
    group_size = len(weight) // g
    for part in range(len(ends)):
        for group in range(g):
            for row in range(0, share, len(rows)):
                for t in range(start, ends[part]):
                    for r in range(row, row + len(rows)):
                        value = weight[group * group_size + min(r, share - 1) * taps + weights[t]]
                        packed[to] = value
                        check += value * 0
                        to += 1
        start = ends[part]
    return check == 0


@kernel
def send_back_tiles(  # type: ignore[no-untyped-def]
    head, packed, d_data, n, c, f, g, sizes, channel, taps, ends, starts, places, plane,
    size, counts, stride, run, pitch, image, narrow, rows, blocks,
):  # fmt: skip
    """Gradient by data, one part of it after the other."""
    share, each, height = c // g, f // g, len(rows)
    head_size = f * sizes[0] * sizes[1] * sizes[2]
    data_size = c * size[0] * size[1] * size[2]
    direct = len(ends) == 1 and pitch == run
    ones = ramp(0, 1, height, rows)
    for item in range(n):
        spread(head, item * head_size, f, sizes, image)
        result, base = narrow, 0
        if direct:
            result, base = d_data, item * data_size
        weights, begin = 0, 0
        for part in range(len(ends)):
            for first in range(0, c, share):
                source = first // share * each * channel
                for row in range(first, first + share, height):
                    target = ramp(
                        base + row * plane, plane, base + (first + share - 1) * plane, rows
                    )
                    for q in range(0, len(starts), len(blocks)):
                        right = offsets(starts, q, blocks)
                        tile = blank(rows, blocks)
                        at = weights
                        for t in range(begin, ends[part]):
                            tile = grow(tile, packed, ones, at, image, right, source + taps[t])
                            at += height
                        lay(tile, result, target, offsets(places, q, blocks), 0)
                    weights += (ends[part] - begin) * height
            begin = ends[part]
            if not direct:
                a = part // (stride[1] * stride[2])
                b, e = part // stride[2] % stride[1], part % stride[2]
                settle(
                    narrow, c, plane, run, pitch, (counts[1], counts[2]), d_data, item * data_size,
                    size, stride, (a, b, e),
                )


@kernel
def transpose(source, start, pitch, n, m, out, out_pitch):  # type: ignore[no-untyped-def]
    """out[j, i] = source[i, j] for n rows and m columns."""
    for i in range(0, n - 15, 16):
        for j in range(0, m - 15, 16):
            turn(source, start + i * pitch + j, pitch, out, j * out_pitch + i, out_pitch)
        for j in range(m // 16 * 16, m):
            for r in range(i, i + 16):
                out[j * out_pitch + r] = source[start + r * pitch + j]
    for i in range(n // 16 * 16, n):
        for j in range(m):
            out[j * out_pitch + i] = source[start + i * pitch + j]


@kernel
def gather_weight_tiles(  # type: ignore[no-untyped-def]
    head, data, d_weight, n, c, f, g, depth, sizes, channel, taps, pixels, image, turned, sums,
    rows, blocks,
):  # fmt: skip
    """Gradient by weight: sums[tap, filter] over images, then turned into d_weight[filter, tap]."""
    share, each, width = c // g, f // g, 8 * len(blocks)
    size, plane = sizes[0] * sizes[1] * sizes[2], len(pixels)
    pitch, height = (each + width - 1) // width * width, len(taps)
    for q in range(g * height * pitch):
        sums[q] = 0
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
                    for tap in range(0, height, len(rows)):
                        left = offsets(taps, tap, rows)
                        target = ramp((group * height + tap) * pitch, pitch, g * height * pitch, rows)
                        tile = blank(rows, blocks)
                        for q in range(begin, end):
                            tile = grow(
                                tile, image, left, source + pixels[q],
                                turned, blocks, (q - begin) * pitch + column,
                            )
                        tile = join(lift(sums, target, blocks, column), tile)
                        lay(tile, sums, target, blocks, column)
    for one in range(f):
        for tap in range(depth):
            at = (one // each * height + tap) * pitch + one % each
            d_weight[one * depth + tap] = sums[at]


@twin
def correlate(data: Buffer, weight: Buffer, out: Buffer, *numbers: int) -> None:
    """Forward; ``numbers`` as the page's ``geometry`` gives them."""
    n, c, f, g = numbers[:4]
    size, kernel_size, outputs, stride, pad, dilate = _triples(numbers)
    if f // g < 3:
        plain("convolution", "CORRELATE", data, weight, out, *numbers)
        return
    rows, blocks = WIDE
    v = view(
        c // g, size, kernel_size, outputs, stride, pad, dilate, len(blocks), len(NARROW[0])
    )
    correlate_tiles(
        data.flat, weight.flat, out.flat, n, c, f, g, weight.size // f, v.sizes, v.channel, v.taps,
        v.blocks, v.places, v.plane, outputs, v.run, v.pitch,
        workspace("image", c * v.channel), workspace("narrow", f * v.plane if v.pitch > v.run else 0),
        rows, blocks,
    )


@twin
def send_back(head: Buffer, weight: Buffer, d_data: Buffer, *numbers: int) -> None:
    """Gradient by data."""
    n, c, f, g = numbers[:4]
    size, kernel_size, outputs, stride, pad, dilate = _triples(numbers)
    rows, blocks = WIDE
    share, height = c // g, len(rows)
    v = back_view(f // g, share, size, kernel_size, outputs, stride, pad, dilate, len(blocks))
    taps = weight.size // f // share
    packed = workspace("packed", g * -(-share // height) * height * len(v.taps))
    if share < 3 or not pack_weights(weight.flat, c, g, taps, v.weights, v.ends, packed, rows):
        # A weight that is not finite would meet the zeros around the head.
        plain("convolution", "SEND_BACK", head, weight, d_data, *numbers)
        return
    plane = v.counts[0] * v.counts[1] * v.counts[2] // v.run * v.pitch
    direct = len(v.ends) == 1 and v.pitch == v.run
    send_back_tiles(
        head.flat, packed, d_data.flat, n, c, f, g, v.sizes, v.channel, v.taps, v.ends,
        v.blocks, v.places, plane, size, v.counts, stride, v.run, v.pitch,
        workspace("image", f * v.channel), workspace("narrow", 0 if direct else c * plane),
        rows, blocks,
    )


@twin
def gather_weight(head: Buffer, data: Buffer, d_weight: Buffer, *numbers: int) -> None:
    """Gradient by weight."""
    n, c, f, g = numbers[:4]
    size, kernel_size, outputs, stride, pad, dilate = _triples(numbers)
    each = f // g
    if each < 3:
        plain("convolution", "GATHER_WEIGHT", head, data, d_weight, *numbers)
        return
    rows, blocks = WIDE if each > 16 else NARROW
    width = 8 * len(blocks)
    v = view(
        c // g, size, kernel_size, outputs, stride, pad, dilate, len(WIDE[1]), len(NARROW[0])
    )
    pitch = -(-each // width) * width
    gather_weight_tiles(
        head.flat, data.flat, d_weight.flat, n, c, f, g, d_weight.size // f, v.sizes, v.channel,
        v.taps, v.pixels, workspace("image", c * v.channel),
        workspace("turned", min(CHUNK, len(v.pixels)) * pitch),
        workspace("sums", g * len(v.taps) * pitch), rows, blocks,
    )


def _triples(numbers: tuple[int, ...]) -> list[tuple[int, int, int]]:
    return [numbers[i : i + 3] for i in range(4, 22, 3)]  # type: ignore[misc]  # three each
