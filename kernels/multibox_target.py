"""_contrib_MultiBoxTarget: for each anchor, the labelled object that it should detect and the offset to it.

[_contrib_MultiBoxTarget/inputs] anchor is (1, anchors, 4), boxes as corners. label is (batch, objects, 5 or
    more): class, left, top, right, bottom, and what follows is not read. cls_pred is (batch, classes,
    anchors).

[_contrib_MultiBoxTarget/outputs] loc_target and loc_mask are (batch, 4 anchors), cls_target is (batch,
    anchors): the class of an anchor's object plus 1, 0 for background, ignore_label for anchors that shall
    not be trained.
    >>> run("_contrib_MultiBoxTarget", [[[0, 0, 1, 1]]], [[[2, 0, 0, 1, 1]]], [[[0]]])
    ([[0.0, 0.0, 0.0, 0.0]], [[1.0, 1.0, 1.0, 1.0]], [[3.0]])

[_contrib_MultiBoxTarget/objects] the objects of an image end before the first with class -1. An image without
    objects ignores all its anchors.
    >>> anchors = [[0, 0, .5, .5], [.5, .5, 1, 1]]
    >>> run("_contrib_MultiBoxTarget", [anchors], [[[-1] * 5, [2, 0, 0, .5, .5]]], [[[0, 0]]])[2]
    [[-1.0, -1.0]]

[_contrib_MultiBoxTarget/best-first] the anchor and the object with the largest overlap (intersection over
    union) are matched, then the best pair of those left, while overlaps exceed 1e-6; of equal ones the lower
    anchor goes first, then the lower object.
    >>> run("_contrib_MultiBoxTarget", [anchors], [[[2, 0, 0, .5, .25]]], [[[0, 0]]])[2]
    [[3.0, 0.0]]

[_contrib_MultiBoxTarget/overlap] with overlap_threshold above 0 an anchor left over is matched with the
    object that it overlaps most (the first of equals), if by more than overlap_threshold.
    >>> run("_contrib_MultiBoxTarget", [[[0, 0, 1, 1], [0, 0, 1, .75]]], [[[0, 0, 0, 1, 1]]], [[[0, 0]]])[2]
    [[1.0, 1.0]]
    >>> run("_contrib_MultiBoxTarget", [[[0, 0, 1, 1], [0, 0, 1, .75]]], [[[0, 0, 0, 1, 1]]], [[[0, 0]]],
    ...     overlap_threshold=.75)[2]
    [[1.0, 0.0]]
    >>> run("_contrib_MultiBoxTarget", [[[0, 0, 1, 1], [0, 0, 1, .75]]], [[[0, 0, 0, 1, 1]]], [[[0, 0]]],
    ...     overlap_threshold=0)[2]
    [[1.0, 0.0]]

    Mining counts such an anchor as matched.
    >>> apart = [[0, 0, 1, 1], [0, 0, 1, .75], [2, 2, 3, 3], [4, 4, 5, 5], [6, 6, 7, 7]]
    >>> run("_contrib_MultiBoxTarget", [apart], [[[0, 0, 0, 1, 1]]], [[[0] * 5] * 2], negative_mining_ratio=1)[2]
    [[1.0, 1.0, 0.0, 0.0, -1.0]]

[_contrib_MultiBoxTarget/location] a matched anchor has mask 1 and the target ((x - x') / width', (y - y') /
    height', log(width / width'), log(height / height')) / variances, x and y being centers and ' the anchor;
    others have 0.
    >>> run("_contrib_MultiBoxTarget", [anchors], [[[0, .25, 0, .75, .5]]], [[[0, 0]]])[:2]
    ([[5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]], [[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]])

[_contrib_MultiBoxTarget/mining] anchors that are not matched are background, unless negative_mining_ratio is
    above 0. Then only matched * negative_mining_ratio of them (whole part, at least minimum_negative_samples) are
    background, and the others are ignored. Candidates are anchors whose largest overlap is below
    negative_mining_thresh. Those are taken that have the least probability of class 0 after a softmax of cls_pred over
    classes (of equals the lower index). Where there are too few candidates, all are taken.
    >>> three = [[*anchors, [.5, 0, 1, .5]]]
    >>> seen = three, [[[0, 0, 0, .5, .5]]], [[[0, 1, 0], [0, 0, 2]]]
    >>> run("_contrib_MultiBoxTarget", *seen, negative_mining_ratio=1)[2]
    [[1.0, -1.0, 0.0]]
    >>> run("_contrib_MultiBoxTarget", *seen, negative_mining_ratio=.5, minimum_negative_samples=5)[2]
    [[1.0, 0.0, 0.0]]

[_contrib_MultiBoxTarget/variances] there are four variances.

[_contrib_MultiBoxTarget/floating-point] all inputs have one floating-point type.

[_contrib_MultiBoxTarget/gradient] all gradients are zero.
    >>> grad("_contrib_MultiBoxTarget", [anchors], [[[0, 0, 0, .5, .5]]], [[[0, 0]]])
    (None, None, None)
"""

from math import exp, inf
from typing import NamedTuple

import numpy as np

from .foundation import (
    UNKNOWN,
    Case,
    Floats,
    Loop,
    Op,
    as_buffer,
    decides,
    items,
    merge,
    outputs_only,
    register,
    require,
    require_some,
    scalar,
    scratch,
    told,
)
from .foundation.loops import clipped
from .shared.boxes import corners, floating, log_ratio, nothing, overlap, ranked

CLAUSE = "_contrib_MultiBoxTarget/inputs"


class Params(NamedTuple):
    overlap_threshold: float = 0.5
    ignore_label: float = -1.0
    negative_mining_ratio: float = -1.0
    negative_mining_thresh: float = 0.5
    minimum_negative_samples: int = 0
    variances: Floats = (0.1, 0.1, 0.2, 0.2)


def infer(p, ins, outs):
    require(
        "_contrib_MultiBoxTarget/variances", len(p.variances) == 4,
        f"variances={p.variances}: four numbers are needed",
    )
    anchor = merge(CLAUSE, "anchor", ins[0], (1, UNKNOWN, 4))
    label = merge(CLAUSE, "label", ins[1], (UNKNOWN,) * 3)
    require(
        CLAUSE, not told(label[2]) or label[2] >= 5,
        f"label has shape {label}; its last axis holds class, left, top, right and bottom",
    )
    scores = merge(CLAUSE, "cls_pred", ins[2], (label[0], UNKNOWN, anchor[1]))
    kinds = merge(CLAUSE, "cls_target", outs[2], (scores[0], scores[2]))
    batch, n = kinds
    require_some("the axis of classes", scores[1], kinds)
    location = (batch, 4 * n)
    for name, given in zip(("loc_target", "loc_mask"), outs[:2], strict=True):
        location = merge(CLAUSE, name, given, location)
    batch, n = location[0], location[1] // 4
    shapes = [(1, n, 4), (batch, *label[1:]), (batch, scores[1], n)]
    return shapes, [location, location, (batch, n)]


# --- loops --------------------------------------------------------------------------------------
# match[n, i] is the object of anchor i of image n; -1 if it has none, -2 if the image has no objects. Anchors with the
# largest keys become background first.


class Geometry(NamedTuple):
    minimum_negative_samples: int
    overlap_threshold: float
    negative_mining_ratio: float
    negative_mining_thresh: float
    ignore_label: float


def compare(anchor, label, overlaps, extent):
    """overlaps[n, i, k] = intersection over union of anchor i and object k of image n."""
    for n, i, k in items(overlaps.shape):
        overlaps[n, i, k] = overlap(corners(anchor, 0, i, 0), corners(label, n, k, 1), extent)


def rank_background(scores, keys):
    """keys[n, i] = minus the probability of background: -exp(scores[n, 0, i]) / sum of exp(scores[n, c, i]) over c."""
    for n, i in items(keys.shape):
        largest = scores[n, 0, i]
        for c in range(1, scores.shape[1]):
            largest = scores[n, c, i] if scores[n, c, i] > largest else largest
        total = np.float64(0)
        for c in range(scores.shape[1]):
            total += exp(np.float64(scores[n, c, i] - largest))
        keys[n, i] = -(exp(np.float64(scores[n, 0, i] - largest)) / total)


@scalar
def objects_of(label, n):
    """How many rows of image ``n`` are objects: those before the first of class -1."""
    count = 0
    while count < label.shape[1] and label[n, count, 0] != -1:
        count += 1
    return count


def match_pairs(label, overlaps, match, taken, matched):
    """Match the free anchor and free object with the largest overlap above 1e-6, again and again; count the pairs."""
    for n in items(match.shape[0]):
        anchors, objects = match.shape[1], objects_of(label, n)
        for k in range(objects):
            taken[n, k] = 0
        for i in range(anchors):
            match[n, i] = -1 if objects else -2
        matched[n] = 0
        searching = objects > 0
        while searching:
            best = np.float64(1e-6)
            row, column = -1, -1
            for i in range(anchors):
                if match[n, i] < 0:
                    for k in range(objects):
                        if taken[n, k] == 0 and overlaps[n, i, k] > best:
                            best = np.float64(overlaps[n, i, k])
                            row, column = i, k
            searching = row >= 0
            if searching:
                match[n, row] = column
                taken[n, column] = 1
                matched[n] += 1


def match_rest(label, overlaps, keys, match, matched, g: Geometry):
    """Match an anchor left over with the object that it overlaps most, if by more than overlap_threshold.

    It stays a candidate for background if it is not matched and that overlap is below negative_mining_thresh; all
    others get the least key.
    """
    for n in items(match.shape[0]):
        for i in range(match.shape[1]):
            is_candidate = False
            if match[n, i] == -1:
                where = 0
                for k in range(1, objects_of(label, n)):
                    where = k if overlaps[n, i, k] > overlaps[n, i, where] else where
                if g.overlap_threshold > 0 and overlaps[n, i, where] > g.overlap_threshold:
                    match[n, i] = where
                    matched[n] += 1
                else:
                    is_candidate = overlaps[n, i, where] < g.negative_mining_thresh
            if not is_candidate:
                keys[n, i] = -inf


def classify(label, keys, match, order, matched, kinds, g: Geometry):
    """kinds[n, i] = 1 + class of the object of anchor i, 0 if the anchor is background, else ignore_label."""
    for n in items(match.shape[0]):
        anchors, mining = match.shape[1], g.negative_mining_ratio > 0
        for i in range(anchors):
            kinds[n, i] = 0 if not mining and match[n, i] > -2 else g.ignore_label
        wanted = max(clipped(matched[n] * g.negative_mining_ratio, anchors + 1), g.minimum_negative_samples)
        for place in range(min(wanted, anchors) if mining else 0):
            if keys[n, order[n, place]] > -inf:
                kinds[n, order[n, place]] = 0
        for i in range(anchors):
            if match[n, i] >= 0:
                kinds[n, i] = label[n, match[n, i], 0] + 1


def locate(anchor, label, match, variances, target, mask):
    """Along each axis, target[n, i] = (middle - middle') / side' / variance and log(side / side') / variance.

    The middle and the side are those of the object of anchor i, and ' marks those of the anchor.
    """
    for n, i in items(match.shape):
        for k in range(4):
            target[n, i, k] = 0
            mask[n, i, k] = match[n, i] >= 0
        if match[n, i] >= 0:
            for axis in range(2):
                low, start = anchor[0, i, axis], label[n, match[n, i], axis + 1]
                side = anchor[0, i, axis + 2] - low
                length = label[n, match[n, i], axis + 3] - start
                shift = start + length * 0.5 - (low + side * 0.5)
                target[n, i, axis] = shift / side / variances[axis]
                target[n, i, axis + 2] = log_ratio(length, side) / variances[axis + 2]


COMPARE, RANK_BACKGROUND = Loop(compare), Loop(rank_background)
MATCH_PAIRS, MATCH_REST = Loop(match_pairs), Loop(match_rest)
CLASSIFY, LOCATE = Loop(classify), Loop(locate)


# --- the operator -------------------------------------------------------------------------------


@decides("_contrib_MultiBoxTarget/outputs")
def forward(p, anchor, label, scores, target, mask, kinds):
    batch, _, n = scores.shape
    m = label.shape[1]
    overlaps, keys = scratch(anchor, batch * n * m, batch * n)
    order, other, match, taken, matched = scratch(
        anchor, batch * n, batch * n, batch * n, batch * m, batch, dtype=np.int64
    )
    overlaps, taken = overlaps.reshape((batch, n, m)), taken.reshape((batch, m))
    keys, match = keys.reshape((batch, n)), match.reshape((batch, n))
    g = Geometry(
        p.minimum_negative_samples, p.overlap_threshold, p.negative_mining_ratio, p.negative_mining_thresh,
        p.ignore_label,
    )
    COMPARE(anchor, label, overlaps, 0.0)
    RANK_BACKGROUND(scores, keys)
    MATCH_PAIRS(label, overlaps, match, taken, matched)
    MATCH_REST(label, overlaps, keys, match, matched, g)
    if p.negative_mining_ratio > 0:
        order = ranked(keys, order, other, batch, n)
    CLASSIFY(label, keys, match, order.reshape((batch, n)), matched, kinds, g)
    variances = as_buffer(np.array(p.variances, anchor.dtype), anchor.device)
    LOCATE(anchor, label, match, variances, target.reshape((batch, n, 4)), mask.reshape((batch, n, 4)))


def cases(draw):
    batch, n, m = draw.integer(1, 3), draw.integer(1, 7), draw.integer(1, 3)
    params = {
        "overlap_threshold": draw.choice((0.5, 0.25, -1)), "ignore_label": draw.choice((-1, 5)),
        "negative_mining_ratio": draw.choice((-1, 1, 2)),
        "negative_mining_thresh": draw.choice((0.5, 2)), "variances": (0.1, 0.1, 0.2, 0.25),
    }
    shapes = {
        "anchor": (1, n, 4), "label": (batch, m, 5 + draw.integer(0, 1)),
        "cls_pred": (batch, draw.integer(1, 3), n),
    }
    values = {"cls_pred": "apart", "label": ("ints", -1, 3), "anchor": ("ints", 0, 3)}
    return Case(params, shapes, values)


def refused(dtype="float32", label=(2, 2, 5), **params):
    shapes = {"anchor": (1, 3, 4), "label": label, "cls_pred": (2, 2, 3)}
    return {"params": params, "shapes": shapes, "dtypes": dict.fromkeys(shapes, dtype)}


register(Op(
    name="_contrib_MultiBoxTarget", doc=__doc__, params=Params, inputs=("anchor", "label", "cls_pred"),
    outputs=("loc_target", "loc_mask", "cls_target"), infer=infer,
    infer_type=floating("_contrib_MultiBoxTarget/floating-point"), forward=forward, gradient=nothing,
    cases=cases, differentiable=False,
    refusals={
        CLAUSE: refused(label=(2, 2, 4)),
        "_contrib_MultiBoxTarget/variances": refused(variances=(0.1, 0.1)),
        "_contrib_MultiBoxTarget/floating-point": refused(dtype="int32"),
    },
    tier=2, reports=outputs_only,
))
