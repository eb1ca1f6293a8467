"""Boxes and regions as nodes of ONNX graphs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..base import decides
from ..kernels import proposal as proposal_page
from .building import Builder, NeedsOpset, NoForm, Rule, in_single, require_fixed
from .layers import spacing
from .reducing import ordered

SINGLE = np.dtype(np.float32)
SINCE = {"_contrib_DeformableConvolution": 19, "_contrib_ModulatedDeformableConvolution": 19}
"""Operators that need a version of ONNX's operators after the oldest."""
LEAST = float(np.finfo(np.float32).min)


# --- non-maximum suppression --------------------------------------------------------------------------


@decides("Onnx/detection")
def kept(
    b: Builder, boxes: str, scores: str, alive: str, ids: str | None, threshold: float, shape: tuple[int, int],
    *, inclusive: bool = False,
) -> str:
    """Which boxes no better one suppresses, as int32 of ones and zeros (batch, boxes).

    Args:
        b: the graph.
        boxes: corners, (batch, boxes, 4).
        scores: (batch, boxes).
        alive: whether a box takes part, (batch, boxes).
        ids: boxes suppress boxes of the same id, int64 (batch, boxes); None where all may.
        threshold: the overlap beyond which a box is suppressed.
        shape: batch and boxes.
        inclusive: whether an overlap of exactly the threshold suppresses, too.
    """
    limit = np.float32(threshold)
    if inclusive:
        limit = np.nextafter(limit, np.float32(-1))
    boxes = b.cast(boxes, SINGLE)  # one that ends before it begins overlaps nothing; ONNX would turn it round
    begin = b.cut(boxes, 2, 0, 2)
    boxes = b.add("Concat", begin, b.add("Max", begin, b.cut(boxes, 2, 2, 4)), axis=2)
    low = b.constant(-np.inf, SINGLE)
    live = b.add("Where", alive, b.cast(scores, SINGLE), low)
    live = b.add("Unsqueeze", live, b.whole(1))
    if ids is not None:
        numbers, _, inverse, _ = b.several("Unique", 4, b.shaped(ids, (-1,)), sorted=1)
        inverse = b.add("Reshape", inverse, b.add("Shape", ids))
        kinds = b.add("Range", b.constant(0, np.int64), b.add("Size", numbers), b.constant(1, np.int64))
        kinds = b.add("Unsqueeze", kinds, b.whole(0, 2))
        live = b.add("Where", b.add("Equal", b.add("Unsqueeze", inverse, b.whole(1)), kinds), live, low)
    found = b.add(
        "NonMaxSuppression", boxes, live, b.whole(int(shape[1])), b.constant([max(limit, 0)], SINGLE),
        b.constant([LEAST], SINGLE),
    )
    pairs = b.add("Gather", found, b.whole(0, 2), axis=1)
    zeros = b.add("Expand", b.constant(0, np.int32), b.sizes(shape))
    ones = b.add("Expand", b.constant(1, np.int32), b.add("Slice", b.add("Shape", pairs), b.whole(0), b.whole(1)))
    return b.add("ScatterND", zeros, pairs, ones)


def _picked(b: Builder, rows: str, order: str, width: int) -> str:
    """Rows (batch, boxes, width) in an order (batch, places)."""
    index = b.add("Unsqueeze", order, b.whole(2))
    return b.add("GatherElements", rows, b.add("Tile", index, b.whole(1, 1, width)), axis=1)


def _first(b: Builder, flags: str, count: int) -> str:
    """An order (batch, count) that puts the boxes with a flag first, the lower index first."""
    return ordered(b, b.cast(flags, SINGLE), 1, count)[1]


# --- MultiBoxDetection --------------------------------------------------------------------------------


def _columns(b: Builder, x: str, count: int = 4, axis: int = -1) -> list[str]:
    return b.several("Split", count, x, b.whole(*(1,) * count), axis=axis)


def _decoded(b: Builder, p: Any, location: str, anchor: str, batch: int, count: int) -> str:
    """Corners (batch, anchors, 4)."""
    left, top, right, bottom = _columns(b, anchor)
    moves = _columns(b, b.shaped(location, (batch, count, 4)))
    half, corners = b.constant(0.5), []
    for axis, (low, high) in enumerate(((left, right), (top, bottom))):
        side, middle = b.add("Sub", high, low), b.add("Mul", b.add("Add", low, high), half)
        shift = b.add("Mul", moves[axis], b.constant(p.variances[axis]))
        growth = b.add("Exp", b.add("Mul", moves[axis + 2], b.constant(p.variances[axis + 2])))
        middle = b.add("Add", middle, b.add("Mul", shift, side))
        reach = b.add("Mul", b.add("Mul", growth, side), half)
        corners += [b.add("Sub", middle, reach), b.add("Add", middle, reach)]
    boxes = b.add("Concat", corners[0], corners[2], corners[1], corners[3], axis=2)
    return b.add("Clip", boxes, b.constant(0), b.constant(1)) if p.clip else boxes


def _detection(b: Builder, p: Any, s: Any, scores: str, location: str, anchor: str) -> str:
    batch, classes, count = s[0]
    require_fixed((classes, count), "_contrib_MultiBoxDetection")
    count = int(count)
    boxes = _decoded(b, p, location, anchor, batch, count)
    if classes < 2:
        return b.add("Expand", b.constant(-1), b.sizes(b.outs[0]))
    others = b.cut(scores, 1, 1, int(classes))
    best = b.reduced("ReduceMax", others, [1])
    kind = b.add("ArgMax", others, axis=1, keepdims=0)
    alive = b.add("And", b.add("Greater", best, b.constant(-1)),
                  b.add("GreaterOrEqual", best, b.constant(p.threshold)))
    column = [b.add("Unsqueeze", x, b.whole(2)) for x in (b.cast(kind, b.dtype), best)]
    rows = b.add("Concat", *column, boxes, axis=2)
    none = b.constant(-1)
    plain = _first(b, alive, count)
    held = b.add("GatherElements", b.cast(alive, np.int32), plain, axis=1)
    in_order = _picked(b, rows, plain, 6)
    if not 0 < p.nms_threshold <= 1:
        return b.add("Where", b.cast(b.add("Unsqueeze", held, b.whole(2)), bool), in_order, none)
    limit = min(p.nms_topk, count) if p.nms_topk > 0 else count
    keys = b.add("Where", alive, best, b.constant(-np.inf))
    order = ordered(b, keys, 1, count)[1]
    if limit < count:
        order = b.cut(order, 1, 0, limit)
    top = _picked(b, rows, order, 6)
    there = b.cast(b.add("GatherElements", b.cast(alive, np.int32), order, axis=1), bool)
    ids = None if p.force_suppress else b.add("GatherElements", kind, order, axis=1)
    survives = kept(
        b, b.cut(top, 2, 2, 6), b.add("GatherElements", keys, order, axis=1), there, ids, p.nms_threshold,
        (batch, limit), inclusive=True,
    )
    first = b.add("Where", b.cast(b.add("Unsqueeze", survives, b.whole(2)), bool), b.cut(top, 2, 0, 1), none)
    result = b.add("Concat", first, b.cut(top, 2, 1, 6), axis=2)
    result = b.add("Where", b.add("Unsqueeze", there, b.whole(2)), result, none)
    if limit == count:
        return result
    rest = b.cut(in_order, 1, limit, count)
    nothing = b.add("Mul", b.cut(rest, 2, 0, 1), b.constant(0))
    rest = b.add("Concat", b.add("Sub", nothing, b.constant(1)), b.cut(rest, 2, 1, 6), axis=2)
    more = b.cast(b.add("Unsqueeze", b.cut(held, 1, limit, count), b.whole(2)), bool)
    return b.add("Concat", result, b.add("Where", more, rest, none), axis=1)


# --- box_nms, box_decode ------------------------------------------------------------------------------


def _corners(b: Builder, boxes: str) -> str:
    """Corners of boxes (x, y, width, height)."""
    x, y, width, height = _columns(b, boxes)
    half = b.constant(0.5)
    across, down = b.add("Mul", width, half), b.add("Mul", height, half)
    return b.add(
        "Concat", b.add("Sub", x, across), b.add("Sub", y, down), b.add("Add", x, across), b.add("Add", y, down), axis=2
    )


def _centers(b: Builder, boxes: str) -> str:
    left, top, right, bottom = _columns(b, boxes)
    half = b.constant(0.5)
    return b.add(
        "Concat", b.add("Mul", b.add("Add", left, right), half), b.add("Mul", b.add("Add", top, bottom), half),
        b.add("Sub", right, left), b.add("Sub", bottom, top), axis=2,
    )


def _box_nms(b: Builder, p: Any, s: Any, data: str) -> list[str]:
    *before, count, width = s[0]
    require_fixed((count, width), "_contrib_box_nms")
    if p.topk == 0:
        return [b.add("Identity", data)]
    count, width = int(count), int(width)
    if len(before) > 1:
        require_fixed(before, "_contrib_box_nms with several axes of a batch")
    batch = before[0] if len(before) == 1 else int(np.prod(before, dtype=int))
    rows = data if len(before) == 1 else b.shaped(data, (batch, count, width))
    score = b.add("Gather", rows, b.constant(p.score_index, np.int64), axis=2)
    alive = b.add("Greater", score, b.constant(p.valid_thresh))
    kind = b.add("Gather", rows, b.constant(p.id_index, np.int64), axis=2) if p.id_index >= 0 else None
    if kind is not None:
        other = b.add("Not", b.add("Equal", kind, b.constant(p.background_id)))
        alive = b.add("And", alive, other)
    keys = b.add("Where", alive, score, b.constant(-np.inf))
    limit = count if p.topk < 0 else min(count, p.topk)
    order = ordered(b, keys, 1, limit)[1]
    top = _picked(b, rows, order, width)
    boxes = b.cut(top, 2, p.coord_start, p.coord_start + 4)
    there = b.cast(b.add("GatherElements", b.cast(alive, np.int32), order, axis=1), bool)
    ids = None
    if kind is not None and not p.force_suppress:
        ids = b.add("GatherElements", b.cast(kind, np.int64), order, axis=1)
    corners = _corners(b, boxes) if p.in_format == "center" else boxes
    scores = b.add("GatherElements", keys, order, axis=1)
    survives = kept(b, corners, scores, there, ids, p.overlap_thresh, (batch, limit))
    if p.in_format != p.out_format:
        top = _reformed(b, p, top, boxes, width)
    place = _first(b, survives, limit)
    result = _picked(b, top, place, width)
    stays = b.cast(b.add("Unsqueeze", b.add("GatherElements", survives, place, axis=1), b.whole(2)), bool)
    result = b.add("Where", stays, result, b.constant(-1))
    if limit < count:
        pads = b.whole(0, 0, 0, 0, count - limit, 0)
        result = b.add("Pad", result, pads, b.constant(-1))
    return [result if len(before) == 1 else b.shaped(result, b.outs[0])]


def _reformed(b: Builder, p: Any, rows: str, boxes: str, width: int) -> str:
    """Rows whose boxes are in the other format."""
    boxes = _corners(b, boxes) if p.out_format == "corner" else _centers(b, boxes)
    parts = [b.cut(rows, 2, 0, p.coord_start)] if p.coord_start else []
    parts += [boxes] + ([b.cut(rows, 2, p.coord_start + 4, width)] if p.coord_start + 4 < width else [])
    return b.add("Concat", *parts, axis=2)


def _box_decode(b: Builder, p: Any, s: Any, data: str, anchors: str) -> str:
    centers = _centers(b, anchors) if p.format == "corner" else anchors
    middles, sides = b.cut(centers, 2, 0, 2), b.cut(centers, 2, 2, 4)
    moves = b.add("Mul", data, b.constant([p.std0, p.std1, p.std2, p.std3]))
    power = b.cut(moves, 2, 2, 4)
    if p.clip > 0:
        power = b.add("Min", power, b.constant(p.clip))
    middle = b.add("Add", middles, b.add("Mul", b.cut(moves, 2, 0, 2), sides))
    half = b.add("Mul", b.add("Mul", b.add("Exp", power), sides), b.constant(0.5))
    return b.add("Concat", b.add("Sub", middle, half), b.add("Add", middle, half), axis=2)


# --- Proposal and regions -----------------------------------------------------------------------------------------


class _Image(NamedTuple):
    height: str
    width: str
    scale: str


def _proposal(b: Builder, p: Any, s: Any, scores: str, deltas: str, info: str) -> list[str]:
    batch, channels, high, wide = s[0]
    require_fixed((channels, high, wide), "_contrib_Proposal")
    kinds, high, wide = int(channels) // 2, int(high), int(wide)
    count = kinds * high * wide
    height, width, scale = (b.add("Unsqueeze", x, b.whole(2)) for x in _columns(b, info, 3))
    image = _Image(height, width, scale)
    boxes = _regions(b, p, deltas, image, batch, (kinds, high, wide))
    score = b.add("Transpose", b.cut(scores, 1, kinds, 2 * kinds), perm=[0, 2, 3, 1])
    score = b.shaped(score, (batch, count))
    score, boxes = _filtered(b, p, boxes, score, image, (kinds, high, wide))
    first = min(p.rpn_pre_nms_top_n, count) if p.rpn_pre_nms_top_n > 0 else count
    best, order = ordered(b, score, 1, first)
    boxes = _picked(b, boxes, order, 4)
    wider = b.add("Add", boxes, b.constant([0, 0, 1, 1]))
    every = b.add("Expand", b.constant([[True]], bool), b.sizes((batch, first)))
    survives = kept(b, wider, best, every, None, p.threshold, (batch, first))
    place = _first(b, survives, first)
    number = b.reduced("ReduceSum", survives, [1], keepdims=True)
    rows = b.constant(np.arange(p.rpn_post_nms_top_n).reshape((1, -1)), np.int64)
    rows = b.add("Mod", rows, b.cast(number, np.int64))
    chosen = b.add("GatherElements", place, rows, axis=1)
    made = _picked(b, boxes, chosen, 4)
    images = b.add("Range", b.constant(0, np.int64), b.add("Squeeze", b.sizes((batch,))), b.constant(1, np.int64))
    images = b.add("Unsqueeze", b.cast(images, b.dtype), b.whole(1, 2))
    images = b.add("Expand", images, b.sizes((batch, p.rpn_post_nms_top_n, 1)))
    result = [b.shaped(b.add("Concat", images, made, axis=2), b.outs[0])]
    if p.output_score:
        result.append(b.shaped(b.add("GatherElements", best, chosen, axis=1), b.outs[1]))
    return result


def _regions(
    b: Builder, p: Any, deltas: str, image: _Image, batch: int, sides: tuple[int, int, int]
) -> str:
    """Boxes inside the image, (batch, anchors of all pixels, 4)."""
    kinds, high, wide = sides
    base = np.asarray(proposal_page.anchors_of(p), np.float64)  # type: ignore[no-untyped-call]  # a page
    y, x = np.meshgrid(np.arange(high) * p.feature_stride, np.arange(wide) * p.feature_stride, indexing="ij")
    anchors = (base + np.stack([x, y, x, y], -1)[:, :, None]).reshape((1, -1, 4))
    moves = b.shaped(deltas, (batch, kinds, 4, high, wide))
    moves = b.shaped(b.add("Transpose", moves, perm=[0, 3, 4, 1, 2]), (batch, kinds * high * wide, 4))
    if p.iou_loss:
        boxes = b.add("Add", b.constant(anchors), moves)
    else:
        size = anchors[..., 2:] - anchors[..., :2] + 1
        middle = anchors[..., :2] + (size - 1) / 2
        middles = b.add("Add", b.add("Mul", b.cut(moves, 2, 0, 2), b.constant(size)), b.constant(middle))
        larger = b.add("Mul", b.add("Exp", b.cut(moves, 2, 2, 4)), b.constant(size))
        half = b.add("Mul", b.add("Sub", larger, b.constant(1)), b.constant(0.5))
        boxes = b.add("Concat", b.add("Sub", middles, half), b.add("Add", middles, half), axis=2)
    ends = b.add("Sub", b.add("Concat", image.width, image.height, image.width, image.height, axis=2), b.constant(1))
    return b.add("Max", b.add("Min", boxes, ends), b.constant(0))


def _filtered(
    b: Builder, p: Any, boxes: str, score: str, image: _Image, sides: tuple[int, int, int]
) -> tuple[str, str]:
    """Scores of small boxes, and of pixels outside the image, become -1; small boxes grow."""
    kinds, high, wide = sides
    least = b.add("Mul", image.scale, b.constant(p.rpn_min_size))
    size = b.add("Add", b.add("Sub", b.cut(boxes, 2, 2, 4), b.cut(boxes, 2, 0, 2)), b.constant(1))
    small = b.add("Less", b.reduced("ReduceMin", size, [2], keepdims=True), least)
    half = b.add("Mul", least, b.constant(0.5))
    grown = b.add("Add", boxes, b.add("Mul", half, b.constant([-1, -1, 1, 1])))
    boxes = b.add("Where", small, grown, boxes)
    outside = []
    for axis, (count, side) in enumerate(((high, image.height), (wide, image.width))):
        shape = (1, -1, 1, 1) if axis == 0 else (1, 1, -1, 1)
        most = b.add("Div", b.add("Unsqueeze", side, b.whole(3)), b.constant(p.feature_stride))
        outside.append(b.add("Greater", b.constant(np.arange(1, count + 1).reshape(shape)), most))
    none = b.add("Or", *outside)
    none = b.add("Tile", none, b.whole(1, 1, 1, kinds))
    none = b.add("Reshape", none, b.whole(0, -1))
    dropped = b.add("Or", none, b.add("Squeeze", small, b.whole(2)))
    return b.add("Where", dropped, b.constant(-1), score), boxes


def _roi_pooling(b: Builder, p: Any, s: Any, x: str, rois: str) -> str:
    return b.add("MaxRoiPool", x, rois, pooled_shape=p.pooled_size, spatial_scale=float(p.spatial_scale))


def _roi_align(b: Builder, p: Any, s: Any, x: str, rois: str) -> str:
    if p.position_sensitive:
        raise NoForm("_contrib_ROIAlign with position_sensitive")
    image = b.cast(b.add("Squeeze", b.cut(rois, 1, 0, 1), b.whole(1)), np.int64)
    return b.add(
        "RoiAlign", x, b.cut(rois, 1, 1, 5), image, output_height=p.pooled_size[0], output_width=p.pooled_size[1],
        sampling_ratio=max(p.sample_ratio, 0), spatial_scale=float(p.spatial_scale), mode="avg",
        coordinate_transformation_mode="half_pixel" if p.aligned else "output_half_pixel",
    )


# --- correlation and deformable convolution -----------------------------------------------------------


def _correlation(b: Builder, p: Any, s: Any, one: str, other: str) -> str:
    require_fixed(s[0][2:], "Correlation")
    high, wide = (int(side) for side in b.outs[0][2:])
    step, k, far = p.stride1, p.kernel_size, p.max_displacement
    sides = [(count - 1) * step + k for count in (high, wide)]
    widths = b.whole(0, 0, p.pad_size, p.pad_size, 0, 0, p.pad_size, p.pad_size)
    if p.pad_size:
        one, other = (b.add("Pad", x, widths, b.constant(0)) for x in (one, other))

    def part(x: str, dy: int, dx: int) -> str:
        begin = (far + dy, far + dx)
        ends = [low + side for low, side in zip(begin, sides, strict=True)]
        return b.add("Slice", x, b.whole(*begin), b.whole(*ends), b.whole(2, 3))

    fixed, reach = part(one, 0, 0), p.max_displacement // p.stride2
    channels = []
    for dy in range(-reach, reach + 1):
        for dx in range(-reach, reach + 1):
            moved = part(other, dy * p.stride2, dx * p.stride2)
            both = b.add("Mul", fixed, moved) if p.is_multiply else b.add("Abs", b.add("Sub", fixed, moved))
            mean = b.reduced("ReduceMean", both, [1], keepdims=True)
            channels.append(b.add("AveragePool", mean, kernel_shape=[k, k], strides=[step, step]))
    return b.add("Concat", *channels, axis=1) if len(channels) > 1 else channels[0]


def _deformable(b: Builder, p: Any, s: Any, x: str, offset: str, *more: str) -> str:
    """For one pixel behind the last a place counts as the last, and before the first it is 0: by moving and a mask."""
    if b.opset < 19:
        raise NeedsOpset(19, "_contrib_DeformableConvolution")
    require_fixed(s[0][2:], "_contrib_DeformableConvolution")
    strides, dilations, pads = spacing(p)
    kernel, groups = tuple(p.kernel), p.num_deformable_group
    out = [int(side) for side in b.outs[0][2:]]
    taps = kernel[0] * kernel[1]
    inside, moved = [], []
    moves = b.shaped(offset, (s[1][0], groups, taps, 2, *out))
    for axis, side in enumerate(map(int, s[0][2:])):
        line = np.arange(out[axis]) * strides[axis] - pads[axis]
        rows = np.repeat(np.arange(kernel[0]), kernel[1]) if axis == 0 else np.tile(np.arange(kernel[1]), kernel[0])
        pixels = (rows * dilations[axis])[:, None] + line
        base = b.constant(pixels[:, :, None] if axis == 0 else pixels[:, None, :])
        place = b.add("Add", b.add("Gather", moves, b.constant(axis, np.int64), axis=3), base)
        above, below = b.add("GreaterOrEqual", place, b.constant(0)), b.add("Less", place, b.constant(side))
        inside.append(b.add("And", above, below))
        moved.append(b.add("Unsqueeze", b.add("Sub", b.add("Min", place, b.constant(side - 1)), base), b.whole(3)))
    mask = b.shaped(b.cast(b.add("And", *inside), b.dtype), (s[1][0], groups * taps, *out))
    offset = b.shaped(b.add("Concat", *moved, axis=3), tuple(s[1]))
    return _deformed(b, p, x, more[0], offset, more[1] if len(more) > 1 else "", mask)


def _deformed(b: Builder, p: Any, x: str, weight: str, offset: str, bias: str, mask: str) -> str:
    strides, dilations, pads = spacing(p)
    return b.add(
        "DeformConv", x, weight, offset, bias, mask, kernel_shape=p.kernel, strides=strides, dilations=dilations,
        pads=pads * 2, group=p.num_group, offset_group=p.num_deformable_group,
    )


def _modulated(b: Builder, p: Any, s: Any, x: str, offset: str, mask: str, weight: str, bias: str = "") -> str:
    if b.opset < 19:
        raise NeedsOpset(19, "_contrib_ModulatedDeformableConvolution")
    return _deformed(b, p, x, weight, offset, bias, mask)


RULES: dict[str, Rule] = {
    "_contrib_MultiBoxDetection": in_single(_detection), "_contrib_box_nms": in_single(_box_nms),
    "_contrib_box_decode": in_single(_box_decode), "_contrib_Proposal": in_single(_proposal),
    "_contrib_MultiProposal": in_single(_proposal), "Correlation": in_single(_correlation), "ROIPooling": _roi_pooling,
    "_contrib_DeformableConvolution": in_single(_deformable), "_contrib_ROIAlign": _roi_align,
    "_contrib_ModulatedDeformableConvolution": _modulated}
