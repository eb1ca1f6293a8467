"""_contrib_MultiBoxDetection: classes and boxes from a network's predictions for anchors.

[_contrib_MultiBoxDetection/inputs] cls_prob is (batch, classes, anchors), loc_pred (batch, 4 anchors), anchor
    (1, anchors, 4) with boxes as corners. The output is (batch, anchors, 6): class, score, left, top, right,
    bottom.

[_contrib_MultiBoxDetection/class] an anchor takes the class, other than class 0, with the highest score (the
    first of equals). Class 0 is the background, whatever background_id says; in the output,
    class k has the number k - 1. Anchors whose score is below threshold are left out. Unused rows are -1.
    >>> anchors = [[[0, 0, .5, .5], [.5, .5, 1, 1]]]
    >>> run("_contrib_MultiBoxDetection", [[[.9, .1], [.1, .25], [0, .5]]], [[0] * 8], anchors, threshold=.25)
    [[[1.0, 0.5, 0.5, 0.5, 1.0, 1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0]]]

[_contrib_MultiBoxDetection/box] the four predictions p of an anchor times variances move its center by p0
    width, p1 height and stretch it by exp(p2), exp(p3). With clip corners stay inside 0 .. 1.
    >>> moved = [[[0], [.5]]], [[.5, -1, 0, 0]], [[[0, 0, .5, .5]]]
    >>> run("_contrib_MultiBoxDetection", *moved, variances=(1, 1, 1, 1))
    [[[0.0, 0.5, 0.25, 0.0, 0.75, 0.0]]]
    >>> run("_contrib_MultiBoxDetection", *moved, variances=(1, 1, 1, 1), clip=False)
    [[[0.0, 0.5, 0.25, -0.5, 0.75, 0.0]]]

[_contrib_MultiBoxDetection/suppression] rows come with the highest score first, of equals the lower anchor.
    In that order each removes those behind it, of its class or with force_suppress of any, whose intersection
    over union with it is nms_threshold or more: their class becomes -1, score and box stay.
    >>> same = [[[0, 0, 1, 1], [0, 0, 1, .5]]]
    >>> run("_contrib_MultiBoxDetection", [[[0, 0], [.25, .5]]], [[0] * 8], same)
    [[[0.0, 0.5, 0.0, 0.0, 1.0, 0.5], [-1.0, 0.25, 0.0, 0.0, 1.0, 1.0]]]

[_contrib_MultiBoxDetection/unsorted] nms_threshold of 0 and less, or above 1, leaves all rows in the order of
    anchors.
    >>> run("_contrib_MultiBoxDetection", [[[0, 0], [.25, .5]]], [[0] * 8], same, nms_threshold=0)
    [[[0.0, 0.25, 0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.0, 0.0, 1.0, 0.5]]]

[_contrib_MultiBoxDetection/topk] with nms_topk above 0 only the nms_topk rows with the highest scores are ordered and
    take part. After them, row i holds the score and box of the i-th anchor that has a class, with -1 as its class.
    >>> run("_contrib_MultiBoxDetection", [[[0, 0], [.25, .5]]], [[0] * 8], same, nms_topk=1)
    [[[0.0, 0.5, 0.0, 0.0, 1.0, 0.5], [-1.0, 0.5, 0.0, 0.0, 1.0, 0.5]]]

[_contrib_MultiBoxDetection/variances] there are four variances.

[_contrib_MultiBoxDetection/floating-point] all inputs have one floating-point type.

[_contrib_MultiBoxDetection/gradient] all gradients are zero.
    >>> grad("_contrib_MultiBoxDetection", [[[0], [.5]]], [[0] * 4], [[[0, 0, 1, 1]]])
    (None, None, None)
"""

from math import exp, inf
from typing import NamedTuple

import numpy as np

from .foundation import UNKNOWN, Case, Floats, Loop, Op, as_buffer, items, merge, register, require, scalar, scratch
from .foundation.facts import outputs_only
from .shared.boxes import SUPPRESS, Suppression, corners, floating, limited, nothing, ranked

CLAUSE = "_contrib_MultiBoxDetection/inputs"


class Params(NamedTuple):
    clip: bool = True
    threshold: float = 0.01
    background_id: int = 0
    nms_threshold: float = 0.5
    force_suppress: bool = False
    variances: Floats = (0.1, 0.1, 0.2, 0.2)
    nms_topk: int = -1


def infer(p, ins, outs):
    require(
        "_contrib_MultiBoxDetection/variances", len(p.variances) == 4,
        f"variances={p.variances}: four numbers are needed",
    )
    scores = merge(CLAUSE, "cls_prob", ins[0], (UNKNOWN,) * 3)
    out = merge(CLAUSE, "output", outs[0], (scores[0], scores[2], 6))
    anchor = merge(CLAUSE, "anchor", ins[2], (1, out[1], 4))
    location = merge(CLAUSE, "loc_pred", ins[1], (out[0], 4 * anchor[1]))
    batch, n = location[0], location[1] // 4
    return [(batch, scores[1], n), location, (1, n, 4)], [(batch, n, 6)]


# --- loops --------------------------------------------------------------------------------------
# rows (batch, anchors, 6) holds class, score, left, top, right and bottom of the anchors that have a class, in order;
# counts[n] says how many image n has.


class Geometry(NamedTuple):
    clip: int
    force_suppress: int


@scalar
def moved(low, high, shift, growth):
    """The ends of an interval whose middle is moved by ``shift`` sides and whose side grows by exp(growth)."""
    side = high - low
    middle, half = (low + high) * 0.5 + shift * side, exp(growth) * side * 0.5
    return middle - half, middle + half


def collect(scores, location, anchor, variances, rows, keys, kinds, alive, counts, threshold, g: Geometry):
    """Row after row, the anchors whose best class other than 0 has a score of threshold or more.

    location[n, i] says how far the middle of anchor i moves across and down, and how much wider and taller it grows.
    Rows that are left over have the key -inf and are not alive.
    """
    for n in items(rows.shape[0]):
        count = 0
        for i in range(rows.shape[1]):
            kind = 0
            best = -1.0
            for c in range(1, scores.shape[1]):
                score = scores[n, c, i]
                kind = c if score > best else kind
                best = score if score > best else best
            keys[n, i] = -inf
            alive[n, i] = 0
            if kind > 0 and not best < threshold:
                rows[n, count, 0] = kind - 1
                rows[n, count, 1] = best
                left, top, right, bottom = corners(anchor, 0, i, 0)
                across, down, wide, tall = corners(location, n, i, 0)
                left, right = moved(left, right, across * variances[0], wide * variances[2])
                top, bottom = moved(top, bottom, down * variances[1], tall * variances[3])
                rows[n, count, 2] = limited(left, g.clip)
                rows[n, count, 3] = limited(top, g.clip)
                rows[n, count, 4] = limited(right, g.clip)
                rows[n, count, 5] = limited(bottom, g.clip)
                keys[n, count] = best
                kinds[n, count] = 0 if g.force_suppress else kind
                alive[n, count] = 1
                count += 1
        counts[n] = count


def emit(rows, alive, order, counts, out, limit):
    """out[n, i] = the i-th row in order, as far as limit, then row i; class -1 for what is not alive or not ordered."""
    for n, i in items(out.shape[:2]):
        filled = i < counts[n]
        source = order[n, i] if i < limit else i
        for k in range(6):
            out[n, i, k] = rows[n, source, k] if filled else -1
        if filled and (i >= limit or alive[n, source] == 0):
            out[n, i, 0] = -1


def emit_unsorted(rows, counts, out):
    """out[n, i] = row i of image n, -1 where there is none."""
    for n, i in items(out.shape[:2]):
        for k in range(6):
            out[n, i, k] = rows[n, i, k] if i < counts[n] else -1


COLLECT, EMIT, EMIT_UNSORTED = Loop(collect), Loop(emit), Loop(emit_unsorted)


# --- the operator -------------------------------------------------------------------------------


def forward(p, scores, location, anchor, out):
    batch, _, n = scores.shape
    rows, *each = scratch(scores, *(batch * n * k for k in (6, 1, 1, 1)))
    rows, (keys, kinds, alive) = rows.reshape((batch, n, 6)), (one.reshape((batch, n)) for one in each)
    order, other, counts = scratch(scores, batch * n, batch * n, batch, dtype=np.int64)
    variances = as_buffer(np.array(p.variances, scores.dtype), scores.device)
    location, g = location.reshape((batch, n, 4)), Geometry(int(p.clip), int(p.force_suppress))
    COLLECT(scores, location, anchor, variances, rows, keys, kinds, alive, counts, p.threshold, g)
    if not 0 < p.nms_threshold <= 1:
        EMIT_UNSORTED(rows, counts, out)
        return
    limit = min(p.nms_topk, n) if p.nms_topk > 0 else n
    order = ranked(keys, order, other, batch, n).reshape((batch, n))
    nms = Suppression(coord_start=2, limit=limit, most=limit, inclusive=1)
    SUPPRESS(rows, kinds, alive, order, p.nms_threshold, 0.0, nms)
    EMIT(rows, alive, order, counts, out, limit)


def cases(draw):
    batch, n = draw.integer(1, 3), draw.integer(1, 7)
    params = {
        "clip": draw.integer(0, 3) == 0, "threshold": draw.choice((0.01, 0.5, -1)),
        "nms_threshold": draw.choice((0.5, 0.25, 1, 0, 2)), "force_suppress": draw.boolean(),
        "variances": (0.125, 0.125, 0.25, 0.5), "nms_topk": draw.choice((-1, -1, 1, 3)),
    }
    shapes = {"cls_prob": (batch, draw.integer(1, 3), n), "anchor": (1, n, 4)}
    return Case(params, shapes, {"anchor": ("ints", 0, 2)})


def refused(dtype="float32", anchor=(1, 3, 4), **params):
    shapes = {"cls_prob": (2, 2, 3), "loc_pred": (2, 12), "anchor": anchor}
    return {"params": params, "shapes": shapes, "dtypes": dict.fromkeys(shapes, dtype)}


register(Op(
    name="_contrib_MultiBoxDetection", doc=__doc__, params=Params,
    inputs=("cls_prob", "loc_pred", "anchor"), infer=infer,
    infer_type=floating("_contrib_MultiBoxDetection/floating-point"), forward=forward,
    gradient=nothing, cases=cases, differentiable=False,
    refusals={
        CLAUSE: refused(anchor=(2, 3, 4)),
        "_contrib_MultiBoxDetection/variances": refused(variances=(0.1, 0.1)),
        "_contrib_MultiBoxDetection/floating-point": refused(dtype="int32"),
    },
    tier=2, reports=outputs_only,
))
