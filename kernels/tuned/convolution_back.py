"""The gradient of a convolution by its data, in two ways.

*Gathering*, a pixel sums over every filter and tap that used it: d_data[pixel] += weight[f, tap] .
head[f, pixel - tap], one long sum in registers and one store, the same product as forward with the head
in the image's place. But the head needs a border of zeros, and a kernel that is large against the
image then multiplies mostly zeros.

*Scattering*, an output pixel sends its head to every pixel that it read: image[pixel + tap] += weight[f, tap] .
head[f, pixel], a sum over filters only, added to memory tap by tap. Nothing is wasted, but tiles are
read and written more often. ``send_back`` takes whichever does less work; either is fixed by the shapes, so
results never depend on anything else.
"""

from __future__ import annotations

from ..foundation import Buffer
from .image import BackView, View, back_view, gather, settle, spread, triples, view
from .kernel import kernel, plain, twin, wide_tile, workspace
from .simd import add_tiles, copy_masked, fma_tile, load_offsets, load_tile, ramp, store_tile, zero_tile


@kernel
def pack_weights(weight, c, g, taps, weights, ends, packed, rows):
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
def send_back_tiles(
    head, packed, d_data, n, c, f, g, sizes, channel, taps, ends, starts, places, plane,
    size, counts, stride, run, pitch, image, narrow, rows, blocks,
):  # fmt: skip
    """Gradient by data, one part of it after the other."""
    share, each, height = c // g, f // g, len(rows)
    head_size = f * sizes[0] * sizes[1] * sizes[2]
    data_size = c * size[0] * size[1] * size[2]
    direct = len(ends) == 1 and pitch == run
    ones = ramp(0, 1, height, rows)
    for q in range(f * channel):
        image[q] = 0
    for item in range(n):
        spread(head, item * head_size, f, sizes, image)
        result, base = narrow, 0
        if direct:
            result, base = d_data, item * data_size
        if not direct:
            for q in range(data_size):
                d_data[item * data_size + q] = 0
        weights, begin = 0, 0
        for part in range(len(ends)):
            if ends[part] == begin:  # no kernel position reaches these pixels
                continue
            for first in range(0, c, share):
                source = first // share * each * channel
                for row in range(first, first + share, height):
                    target = ramp(
                        base + row * plane, plane, base + (first + share - 1) * plane, rows
                    )
                    for q in range(0, len(starts), len(blocks)):
                        right = load_offsets(starts, q, blocks)
                        tile = zero_tile(rows, blocks)
                        at = weights
                        for t in range(begin, ends[part]):
                            tile = fma_tile(tile, packed, ones, at, image, right, source + taps[t])
                            at += height
                        store_tile(tile, result, target, load_offsets(places, q, blocks), 0)
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
def pack_by_tap(weight, c, f, g, taps, packed, rows):
    """packed[group, tap, row of tiles, filter, row]; returns whether all weights are finite."""
    share, each, to, check = c // g, f // g, 0, weight[0] * 0
    for first in range(0, f, each):
        for tap in range(taps):
            for row in range(0, share, len(rows)):
                for one in range(first, first + each):
                    for r in range(row, row + len(rows)):
                        value = weight[(one * share + min(r, share - 1)) * taps + tap]
                        packed[to] = value
                        check += value * 0
                        to += 1
    return check == 0


@kernel
def scatter_tiles(
    head, packed, d_data, n, c, f, g, taps, sizes, channel, moves, starts, places, plane, outputs,
    run, pitch, padded, image, rows, blocks,
):  # fmt: skip
    """Gradient by data, added up in ``image``; ``padded`` holds the head with runs a multiple of 8."""
    share, each, height = c // g, f // g, len(rows)
    final = outputs[0] * outputs[1] * outputs[2]
    ones = ramp(0, 1, height, rows)
    for item in range(n):
        for q in range(c * channel):
            image[q] = 0
        for line in range(f * final // run):
            for x in range(0, pitch, 16):
                for z in range(max(x, run), min(x + 16, pitch)):
                    padded[line * pitch + z] = 0
                copy_masked(
                    head, item * f * final + line * run + x, padded, line * pitch + x, run - x
                )
        weights = 0
        for first in range(0, c, share):
            source = first // share * each * plane
            for tap in range(taps):
                for row in range(first, first + share, height):
                    target = ramp(row * channel, channel, (first + share - 1) * channel, rows)
                    for q in range(0, len(starts), len(blocks)):
                        right = load_offsets(places, q, blocks)
                        tile = zero_tile(rows, blocks)
                        for one in range(each):
                            tile = fma_tile(
                                tile, packed, ones, weights + one * height,
                                padded, right, source + one * plane,
                            )
                        # Surplus lanes add 0 to what follows their run. Stores go upwards in memory,
                        # so the block that owns those pixels writes them last.
                        to = load_offsets(starts, q, blocks)
                        tile = add_tiles(load_tile(image, target, to, moves[tap]), tile)
                        store_tile(tile, image, target, to, moves[tap])
                    weights += each * height
        gather(image, c, sizes, d_data, item * c * sizes[0] * sizes[1] * sizes[2])


TILE_COST = 10  # reading and writing a tile takes as long as about ten products for each of its sums


def _scatters(gathering: BackView, scattering: View, filters: int, taps: int) -> bool:
    by_gathering = len(gathering.blocks) * len(gathering.taps)
    return len(scattering.blocks) * taps * (filters + TILE_COST) < by_gathering


@twin
def send_back(head: Buffer, weight: Buffer, d_data: Buffer, *numbers: int) -> None:
    """Gradient by data."""
    n, c, f, g = numbers[:4]
    size, kernel_size, outputs, stride, pad, dilate = triples(numbers)
    share, each = c // g, f // g
    rows, blocks = wide_tile(share)
    height, taps = len(rows), weight.size // f // share
    v = back_view(each, share, size, kernel_size, outputs, stride, pad, dilate, len(blocks))
    s = view(
        share, size, kernel_size, outputs, stride, pad, dilate, len(blocks), overlap=False
    )
    scatter = _scatters(v, s, each, taps)
    packed = workspace("packed", g * -(-share // height) * height * each * taps)
    finite = share >= 3 and (
        pack_by_tap(weight.flat, c, f, g, taps, packed, rows) if scatter
        else pack_weights(weight.flat, c, g, taps, v.weights, v.ends, packed, rows)
    )
    if not finite:  # it would meet zeros that the plain loop does not multiply
        plain("convolution", "SEND_BACK", head, weight, d_data, *numbers)
    elif scatter:
        scatter_tiles(
            head.flat, packed, d_data.flat, n, c, f, g, taps, s.sizes, s.channel, s.taps, s.blocks,
            s.places, s.plane, outputs, s.run, s.pitch,
            workspace("narrow", f * s.plane), workspace("image", c * s.channel), rows, blocks,
        )
    else:
        plane = v.counts[0] * v.counts[1] * v.counts[2] // v.run * v.pitch
        direct = len(v.ends) == 1 and v.pitch == v.run
        send_back_tiles(
            head.flat, packed, d_data.flat, n, c, f, g, v.sizes, v.channel, v.taps, v.ends,
            v.blocks, v.places, plane, size, v.counts, stride, v.run, v.pitch,
            workspace("image", f * v.channel), workspace("narrow", 0 if direct else c * plane),
            rows, blocks,
        )
