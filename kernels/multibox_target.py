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
    scratch,
    told,
)
from .foundation.loops import clipped
from .shared.boxes import floating, log_ratio, nothing, overlap, ranked

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
# match is the object of an anchor, -1 none, and -2 for anchors of images without objects; keys rank the candidates for
# mining.


class Geometry(NamedTuple):
    """An image has ``objects`` rows of ``label_width`` numbers in label; those from class -1 on are no objects."""

    batch_size: int
    anchors: int
    objects: int
    label_width: int
    classes: int
    minimum_negative_samples: int
    overlap_threshold: float
    negative_mining_ratio: float
    negative_mining_thresh: float
    ignore_label: float


def compare(anchor, label, scores, overlaps, keys, extent, g: Geometry):
    """Overlaps of anchors and labels, and minus the probability that an anchor is background."""
    for i in items(g.batch_size * g.anchors):
        b, j = i // g.anchors, i % g.anchors
        for k in range(g.objects):
            at = (b * g.objects + k) * g.label_width + 1
            overlaps[i * g.objects + k] = overlap(anchor, j * 4, label, at, extent)
        background = scores[b * g.classes * g.anchors + j]
        largest = background
        for c in range(1, g.classes):
            score = scores[(b * g.classes + c) * g.anchors + j]
            largest = score if score > largest else largest
        total = np.float64(0)
        for c in range(g.classes):
            total += exp(np.float64(scores[(b * g.classes + c) * g.anchors + j] - largest))
        keys[i] = -(exp(np.float64(background - largest)) / total)


def match_pairs(label, overlaps, keys, match, taken, found, g: Geometry):
    """Match anchors and objects; the keys of those that are no candidates for background become least."""
    for b in items(g.batch_size):
        first, last = b * g.anchors, (b + 1) * g.anchors
        objects = 0
        while objects < g.objects and label[(b * g.objects + objects) * g.label_width] != -1:
            taken[b * g.objects + objects] = 0
            objects += 1
        for i in range(first, last):
            match[i] = -1 if objects else -2
        found[b] = 0
        searching = objects > 0
        while searching:
            best = np.float64(1e-6)
            row, column = -1, -1
            for i in range(first, last):
                if match[i] < 0:
                    for k in range(objects):
                        if taken[b * g.objects + k] == 0 and overlaps[i * g.objects + k] > best:
                            best = np.float64(overlaps[i * g.objects + k])
                            row, column = i, k
            searching = row >= 0
            if searching:
                match[row] = column
                taken[b * g.objects + column] = 1
                found[b] += 1
        for i in range(first, last):
            if match[i] < 0 and objects:
                where = 0
                for k in range(1, objects):
                    where = k if overlaps[i * g.objects + k] > overlaps[i * g.objects + where] else where
                most = overlaps[i * g.objects + where]
                if g.overlap_threshold > 0 and most > g.overlap_threshold:
                    match[i] = where
                    found[b] += 1
                elif most < g.negative_mining_thresh:
                    continue
            keys[i] = -inf


def assign(anchor, label, keys, match, order, found, variances, target, mask, kinds, g: Geometry):
    for b in items(g.batch_size):
        first, last = b * g.anchors, (b + 1) * g.anchors
        mining = g.negative_mining_ratio > 0
        wanted = g.anchors
        if mining:
            wanted = max(clipped(found[b] * g.negative_mining_ratio, g.anchors + 1), g.minimum_negative_samples)
        for i in range(first, last):
            kinds[i] = 0 if not mining and match[i] > -2 else g.ignore_label
        for place in range(min(wanted, g.anchors) if mining else 0):
            one = first + order[first + place]
            if keys[one] > -inf:
                kinds[one] = 0
        for i in range(first, last):
            for k in range(4):
                target[i * 4 + k] = 0
                mask[i * 4 + k] = match[i] >= 0
            if match[i] >= 0:
                at = (b * g.objects + match[i]) * g.label_width + 1
                kinds[i] = label[at - 1] + 1
                for k in range(2):
                    low = anchor[(i - first) * 4 + k]
                    side = anchor[(i - first) * 4 + k + 2] - low
                    length = label[at + k + 2] - label[at + k]
                    shift = label[at + k] + length * 0.5 - (low + side * 0.5)
                    target[i * 4 + k] = shift / side / variances[k]
                    target[i * 4 + k + 2] = log_ratio(length, side) / variances[k + 2]


COMPARE, MATCH, ASSIGN = Loop(compare), Loop(match_pairs), Loop(assign)


# --- the operator -------------------------------------------------------------------------------


@decides("_contrib_MultiBoxTarget/outputs")
def forward(p, anchor, label, scores, target, mask, kinds):
    batch, classes, n = scores.shape
    m, width = label.shape[1:]
    overlaps, keys = scratch(anchor, batch * n * m, batch * n)
    order, other, match, taken, found = scratch(
        anchor, batch * n, batch * n, batch * n, batch * m, batch, dtype=np.int64
    )
    g = Geometry(
        batch, n, m, width, classes, p.minimum_negative_samples, p.overlap_threshold, p.negative_mining_ratio,
        p.negative_mining_thresh, p.ignore_label,
    )
    COMPARE(anchor, label, scores, overlaps, keys, 0.0, g)
    MATCH(label, overlaps, keys, match, taken, found, g)
    if p.negative_mining_ratio > 0:
        order = ranked(keys, order, other, batch, n)
    variances = as_buffer(np.array(p.variances, anchor.dtype), anchor.device)
    ASSIGN(anchor, label, keys, match, order, found, variances, target, mask, kinds, g)


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
