"""_contrib_Proposal and _contrib_MultiProposal: regions of an image that may hold an object.

[_contrib_Proposal/inputs] with A = ratios * scales anchors a pixel, cls_prob is (batch, 2 A, H, W), of which
    the second half of the channels are the scores, bbox_pred (batch, 4 A, H, W), im_info (batch, 3): height,
    width and scale of the image. _contrib_Proposal takes a batch of 1.

[_contrib_Proposal/outputs] rpn_post_nms_top_n rows an image: its number in the batch, left, top, right,
    bottom in pixels. With output_score there is a second output, (rows, 1): their scores.
    >>> scores, still = [[[[0, 0]], [[.25, .5]]]], [[[[0, 0]]] * 4]
    >>> small = dict(scales=(1,), ratios=(1,), rpn_min_size=0, rpn_post_nms_top_n=2, output_score=True)
    >>> run("_contrib_Proposal", scores, still, [[16, 40, 1]], **small)
    ([[0.0, 16.0, 0.0, 31.0, 15.0], [0.0, 0.0, 0.0, 15.0, 15.0]], [[0.5], [0.25]])

[_contrib_Proposal/anchors] the square (0, 0, feature_stride - 1, feature_stride - 1) keeps its center: for
    each ratio r its width is sqrt(floor(area / r)), rounded; its height is r times this rounded width, rounded
    again; and for each scale both grow by it. They move by feature_stride from pixel to pixel. A box that ends
    at 15 holds pixel 15.
    >>> one = dict(rpn_min_size=0, rpn_post_nms_top_n=1)
    >>> top = [[[[0]], [[1]]]]
    >>> run("_contrib_Proposal", top, [[[[0]]] * 4], [[20, 20, 1]], scales=(1,), ratios=(2,), **one)
    [[0.0, 2.5, 0.0, 12.5, 18.0]]

[_contrib_Proposal/deltas] four numbers p of an anchor move its center by p0 width and p1 height and stretch
    it by exp(p2), exp(p3); with iou_loss they are added to left, top, right and bottom. The result is clipped
    to the image.
    >>> moved = [[[[.25]], [[0]], [[0]], [[0]]]]
    >>> run("_contrib_Proposal", top, moved, [[30, 30, 1]], scales=(1,), ratios=(1,), **one)
    [[0.0, 4.0, 0.0, 19.0, 15.0]]
    >>> run("_contrib_Proposal", top, moved, [[30, 30, 1]], scales=(1,), ratios=(1,),
    ...     iou_loss=True, **one)
    [[0.0, 0.25, 0.0, 15.0, 15.0]]

[_contrib_Proposal/filter] a box narrower or lower than rpn_min_size times the image's scale grows by half of
    that on every side, and its score becomes -1. The scores of a pixel become -1, too, unless its whole square
    of feature_stride x feature_stride lies inside the image.
    >>> run("_contrib_Proposal", scores, still, [[16, 16, 2]], **{**small, "rpn_min_size": 10})
    ([[0.0, -10.0, -10.0, 25.0, 25.0], [0.0, 5.0, -10.0, 25.0, 25.0]], [[-1.0], [-1.0]])
    >>> run("_contrib_Proposal", scores, still, [[16, 31, 1]], **small)
    ([[0.0, 0.0, 0.0, 15.0, 15.0], [0.0, 16.0, 0.0, 30.0, 15.0]], [[0.25], [-1.0]])

[_contrib_Proposal/suppression] the rpn_pre_nms_top_n boxes with the highest scores (all, if that is not
    positive) go through in order, of equal scores the lower (row, column, anchor) first; each removes those
    behind it whose intersection over union with it is more than threshold.
    >>> twice = [[[[0]], [[0]], [[.5]], [[.75]]]], [[[[0]]] * 8]
    >>> run("_contrib_Proposal", *twice, [[30, 30, 1]], scales=(1, 1), ratios=(1,), output_score=True, **one)
    ([[0.0, 0.0, 0.0, 15.0, 15.0]], [[0.75]])

[_contrib_Proposal/cycle] when fewer boxes are left than rows, the rows repeat them from the first on.
    >>> run("_contrib_Proposal", *twice, [[30, 30, 1]], scales=(1, 1), ratios=(1,), rpn_min_size=0,
    ...     rpn_post_nms_top_n=2)
    [[0.0, 0.0, 0.0, 15.0, 15.0], [0.0, 0.0, 0.0, 15.0, 15.0]]

[_contrib_Proposal/parameters] scales and ratios are not empty, rpn_post_nms_top_n and feature_stride
    positive. Ratios lie between 2^-31 and 2^31, scales between -2^31 and 2^31.

[_contrib_Proposal/floating-point] all inputs have one floating-point type.

[_contrib_Proposal/gradient] all gradients are zero.
    >>> grad("_contrib_Proposal", top, [[[[0]]] * 4], [[20, 20, 1]], scales=(1,), ratios=(1,))
    (None, None, None)

[_contrib_MultiProposal/batch] _contrib_MultiProposal does the same for every image of a batch.
    >>> run("_contrib_MultiProposal", scores * 2, still * 2, [[16, 40, 1]] * 2, **small)[0][1:3]
    [[0.0, 0.0, 0.0, 15.0, 15.0], [1.0, 16.0, 0.0, 31.0, 15.0]]
"""

from math import exp, floor, prod, sqrt
from typing import NamedTuple

import numpy as np

from .foundation import (
    UNKNOWN,
    Case,
    Floats,
    Loop,
    Op,
    Sources,
    agree,
    as_buffer,
    items,
    merge,
    register,
    require,
    require_some,
    scratch,
)
from .shared.boxes import SUPPRESS, Suppression, floating, nothing, ranked

CLAUSE = "_contrib_Proposal/inputs"
MOST = 2.0**31  # for scales and ratios


class Params(NamedTuple):
    rpn_pre_nms_top_n: int = 6000
    rpn_post_nms_top_n: int = 300
    threshold: float = 0.7
    rpn_min_size: int = 16
    scales: Floats = (4.0, 8.0, 16.0, 32.0)
    ratios: Floats = (0.5, 1.0, 2.0)
    feature_stride: int = 16
    output_score: bool = False
    iou_loss: bool = False


def infer(p, ins, outs):
    require(
        "_contrib_Proposal/parameters",
        p.scales and p.ratios and p.rpn_post_nms_top_n > 0 and p.feature_stride > 0
        and all(1 / MOST <= ratio <= MOST for ratio in p.ratios) and all(abs(scale) <= MOST for scale in p.scales),
        f"scales={p.scales}, ratios={p.ratios}, rpn_post_nms_top_n={p.rpn_post_nms_top_n}, "
        f"feature_stride={p.feature_stride}: give one number at least, and positive ones",
    )
    kinds, rows = len(p.scales) * len(p.ratios), p.rpn_post_nms_top_n
    scores = merge(CLAUSE, "cls_prob", ins[0], (UNKNOWN, 2 * kinds, UNKNOWN, UNKNOWN))
    deltas = merge(CLAUSE, "bbox_pred", ins[1], (scores[0], 4 * kinds, *scores[2:]))
    batch = merge(CLAUSE, "im_info", ins[2], (deltas[0], 3))[0]
    shapes = [(batch, count * kinds, *deltas[2:]) for count in (2, 4)]
    given = [(batch * rows, width) for width in (5, 1)]
    given = [
        merge("_contrib_Proposal/outputs", "output", out, shape)
        for out, shape in zip(outs, given, strict=True)
    ]
    require_some("the map of scores", prod(scores[2:]), given[0])
    return [*shapes, (batch, 3)], given


def infer_one(p, ins, outs):
    ins, outs = infer(p, ins, outs)
    require(CLAUSE, agree(ins[0][0], 1), f"{ins[0][0]} images; use _contrib_MultiProposal for several")
    return infer(p, [(1, *shape[1:]) for shape in ins], outs)


# --- loops --------------------------------------------------------------------------------------


class Geometry(NamedTuple):
    feature_stride: int
    rpn_min_size: int
    iou_loss: int


def propose(scores, deltas, info, anchors, boxes, keys, kinds, alive, g: Geometry):
    """Box and score of anchor k at each pixel.

    deltas[n, k] has the maps of the four numbers p. Along each axis, the middle of the box is that of the anchor
    + p . side, and its side is exp(p') . side.
    """
    for n, row, column, k in items(keys.shape):
        least = info[n, 2] * g.rpn_min_size
        inside = row + 1 <= info[n, 0] / g.feature_stride and column + 1 <= info[n, 1] / g.feature_stride
        small = False
        for axis in range(2):
            shift = (row if axis else column) * g.feature_stride
            low, high_end = anchors[k, axis] + shift, anchors[k, axis + 2] + shift
            first, second = deltas[n, k, axis, row, column], deltas[n, k, axis + 2, row, column]
            if g.iou_loss:
                low, high_end = low + first, high_end + second
            else:
                side = high_end - low + 1
                middle = low + (side - 1) * 0.5 + first * side
                low = middle - (exp(second) * side - 1) * 0.5
                high_end = middle + (exp(second) * side - 1) * 0.5
            edge = info[n, 1 - axis] - 1
            boxes[n, row, column, k, axis] = max(min(low, edge), 0.0)
            boxes[n, row, column, k, axis + 2] = max(min(high_end, edge), 0.0)
            small = small or boxes[n, row, column, k, axis + 2] - boxes[n, row, column, k, axis] + 1 < least
        for end in range(4):
            if small:
                boxes[n, row, column, k, end] += (least if end > 1 else -least) * 0.5
        score = scores[n, keys.shape[3] + k, row, column]
        keys[n, row, column, k] = score if inside and not small else -1
        kinds[n, row, column, k] = 0
        alive[n, row, column, k] = 1


def emit(boxes, keys, alive, order, out, out_scores, limit):
    """Rows (image, left, top, right, bottom) of the boxes still alive, in order, and from the first again."""
    for n in items(out.shape[0]):
        kept = 0
        for i in range(limit):
            one = order[n, i]
            if alive[n, one] > 0 and kept < out.shape[1]:
                order[n, kept] = one
                kept += 1
        for i in range(out.shape[1]):
            one = order[n, i % kept]
            out[n, i, 0] = n
            for k in range(4):
                out[n, i, k + 1] = boxes[n, one, k]
            out_scores[n, i] = keys[n, one]


PROPOSE, EMIT = Loop(propose), Loop(emit)


# --- the operators ------------------------------------------------------------------------------


def anchors_of(p):
    """Corners of the anchors of the first pixel, ratios outermost."""
    found = []
    for ratio in p.ratios:
        area = np.floor(np.float32(p.feature_stride**2) / np.float32(ratio))
        width = floor(sqrt(area) + 0.5)
        height = floor(width * ratio + 0.5)
        middle = (p.feature_stride - 1) / 2
        for scale in p.scales:
            x, y = (width * scale - 1) / 2, (height * scale - 1) / 2
            found.append((middle - x, middle - y, middle + x, middle + y))
    return found


def forward(p, scores, deltas, info, out, out_scores):
    batch, channels, height, width = scores.shape
    count, rows = channels // 2, p.rpn_post_nms_top_n
    n = count * height * width
    boxes, *each = scratch(scores, *(batch * n * k for k in (4, 1, 1, 1)))
    buffers = scratch(scores, batch * n, batch * n, dtype=np.int64)
    anchors = as_buffer(np.array(anchors_of(p), scores.dtype), scores.device)
    g = Geometry(p.feature_stride, p.rpn_min_size, int(p.iou_loss))
    places = (batch, height, width, count)
    deltas = deltas.reshape((batch, count, 4, height, width))
    PROPOSE(
        scores, deltas, info, anchors, boxes.reshape((*places, 4)), *(one.reshape(places) for one in each), g,
    )
    boxes, (keys, kinds, alive) = boxes.reshape((batch, n, 4)), (one.reshape((batch, n)) for one in each)
    order = ranked(keys, *buffers, batch, n).reshape((batch, n))
    limit = min(p.rpn_pre_nms_top_n, n) if p.rpn_pre_nms_top_n > 0 else n
    nms = Suppression(coord_start=0, limit=limit, most=rows, inclusive=0)
    extent = 1.0  # a box that ends at 15 holds pixel 15: its sides are high - low + 1
    SUPPRESS(boxes, kinds, alive, order, p.threshold, extent, nms)
    EMIT(
        boxes, keys, alive, order, out.reshape((batch, rows, 5)), out_scores.reshape((batch, rows)), limit,
    )


def cases_of(batches):
    def cases(draw):
        batch, high, wide = draw.integer(*batches), draw.integer(1, 2), draw.integer(1, 2)
        scales = tuple(draw.choice((1, 2, 0.5)) for _ in range(draw.integer(1, 2)))
        ratios = tuple(draw.choice((1, 2, 0.5)) for _ in range(draw.integer(1, 2)))
        params = {
            "rpn_pre_nms_top_n": draw.choice((6000, 0, 3)), "rpn_post_nms_top_n": draw.integer(1, 9),
            "threshold": draw.choice((0.3, 0.7)), "rpn_min_size": draw.choice((0, 1)),
            "scales": scales, "ratios": ratios, "feature_stride": 8,
            "output_score": draw.boolean(), "iou_loss": draw.integer(0, 3) == 0,
        }
        shapes = {"cls_prob": (batch, 2 * len(scales) * len(ratios), high, wide)}
        sides = ("ints", 5, 8 * min(high, wide) + 7)
        return Case(params, shapes, {"cls_prob": "apart", "bbox_pred": "unit", "im_info": sides})

    return cases


def refused(batch=1, sides=(2, 2), dtype="float32", **params):
    shapes = {"cls_prob": (batch, 24, 2, 2), "bbox_pred": (batch, 48, *sides), "im_info": (batch, 3)}
    return {"params": params, "shapes": shapes, "dtypes": dict.fromkeys(shapes, dtype)}


def _register(name, infer_shapes, batches, image):
    register(Op(
        name=name, doc=__doc__, params=Params, inputs=("cls_prob", "bbox_pred", "im_info"),
        outputs=("output", "score"), visible=lambda p: 2 if p.output_score else 1, infer=infer_shapes,
        infer_type=floating("_contrib_Proposal/floating-point"), forward=forward, gradient=nothing,
        cases=cases_of(batches), differentiable=False,
        refusals={
            CLAUSE: image,
            "_contrib_Proposal/parameters": refused(rpn_post_nms_top_n=0),
            "_contrib_Proposal/floating-point": refused(dtype="int32"),
        },
        tier=2, reports=Sources(1, whole=True),
    ))


_register("_contrib_Proposal", infer_one, (1, 1), refused(batch=2))
_register("_contrib_MultiProposal", infer, (1, 3), refused(sides=(2, 3)))
