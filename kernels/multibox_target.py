"""_contrib_MultiBoxTarget: which anchors should find which labelled object, and where it lies from them.

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

    Such an anchor counts among the matched ones of mining.
    >>> apart = [[0, 0, 1, 1], [0, 0, 1, .75], [2, 2, 3, 3], [4, 4, 5, 5], [6, 6, 7, 7]]
    >>> run("_contrib_MultiBoxTarget", [apart], [[[0, 0, 0, 1, 1]]], [[[0] * 5] * 2], negative_mining_ratio=1)[2]
    [[1.0, 1.0, 0.0, 0.0, -1.0]]

[_contrib_MultiBoxTarget/location] a matched anchor has mask 1 and the target ((x - x') / width', (y - y') /
    height', log(width / width'), log(height / height')) / variances, x and y being centers and ' the anchor;
    others have 0.
    >>> run("_contrib_MultiBoxTarget", [anchors], [[[0, .25, 0, .75, .5]]], [[[0, 0]]])[:2]
    ([[5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]], [[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]])

[_contrib_MultiBoxTarget/mining] anchors that are not matched are background, unless negative_mining_ratio is
    above 0: then only matched * negative_mining_ratio of them (whole part, at least
    minimum_negative_samples), and the others are ignored. Those are taken to which cls_pred, after a softmax
    over classes, gives the least probability of class 0 (of equals the lower index), among anchors whose
    largest overlap is below negative_mining_thresh. Where there are fewer, all of these are taken.
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

from math import exp
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
# n anchors, m labels of ``width`` numbers. match is the object of an anchor, -1 none, and -2 for anchors of
# images without objects; keys rank the candidates for mining.


def compare(anchor, label, scores, overlaps, keys, batch, n, m, width, classes, extent):
    """Overlaps of anchors and labels, and minus the probability that an anchor is background."""
    for i in items(batch * n):
        b, j = i // n, i % n
        for k in range(m):
            overlaps[i * m + k] = overlap(anchor, j * 4, label, (b * m + k) * width + 1, extent)
        largest = scores[b * classes * n + j]
        for c in range(1, classes):
            score = scores[(b * classes + c) * n + j]
            largest = score if score > largest else largest
        total = np.float64(0)
        for c in range(classes):
            total += exp(np.float64(scores[(b * classes + c) * n + j] - largest))
        keys[i] = -(exp(np.float64(scores[b * classes * n + j] - largest)) / total)


def match_pairs(label, overlaps, keys, match, taken, found, batch, n, m, width, threshold, mining, least):
    """Match anchors and objects; the keys of those that are no candidates for background become least."""
    for b in items(batch):
        objects = 0
        while objects < m and label[(b * m + objects) * width] != -1:
            taken[b * m + objects] = 0
            objects += 1
        for i in range(b * n, b * n + n):
            match[i] = -1 if objects else -2
        found[b] = 0
        searching = objects > 0
        while searching:
            best = np.float64(1e-6)
            row, column = -1, -1
            for i in range(b * n, b * n + n):
                if match[i] < 0:
                    for k in range(objects):
                        if taken[b * m + k] == 0 and overlaps[i * m + k] > best:
                            best = np.float64(overlaps[i * m + k])
                            row, column = i, k
            searching = row >= 0
            if searching:
                match[row] = column
                taken[b * m + column] = 1
                found[b] += 1
        for i in range(b * n, b * n + n):
            if match[i] < 0 and objects:
                where = 0
                for k in range(1, objects):
                    where = k if overlaps[i * m + k] > overlaps[i * m + where] else where
                most = overlaps[i * m + where]
                if threshold > 0 and most > threshold:
                    match[i] = where
                    found[b] += 1
                elif most < mining:
                    continue
            keys[i] = least


def assign(
    anchor, label, keys, match, order, found, variances, target, mask, kinds, batch, n, m, width, ratio,
    minimum, ignore, least,
):
    for b in items(batch):
        wanted = n
        if ratio > 0:
            wanted = max(clipped(found[b] * ratio, n + 1), minimum)
        for i in range(b * n, b * n + n):
            kinds[i] = 0 if ratio <= 0 and match[i] > -2 else ignore
        for place in range(min(wanted, n) if ratio > 0 else 0):
            one = b * n + order[b * n + place]
            if keys[one] > least:
                kinds[one] = 0
        for i in range(b * n, b * n + n):
            for k in range(4):
                target[i * 4 + k] = 0
                mask[i * 4 + k] = match[i] >= 0
            if match[i] >= 0:
                at = (b * m + match[i]) * width + 1
                kinds[i] = label[at - 1] + 1
                for k in range(2):
                    side = anchor[(i - b * n) * 4 + k + 2] - anchor[(i - b * n) * 4 + k]
                    length = label[at + k + 2] - label[at + k]
                    shift = label[at + k] + length * 0.5 - (anchor[(i - b * n) * 4 + k] + side * 0.5)
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
    least = -float("inf")
    COMPARE(anchor, label, scores, overlaps, keys, batch, n, m, width, classes, 0.0)
    MATCH(
        label, overlaps, keys, match, taken, found, batch, n, m, width, p.overlap_threshold,
        p.negative_mining_thresh, least,
    )
    if p.negative_mining_ratio > 0:
        order = ranked(keys, order, other, batch, n)
    variances = as_buffer(np.array(p.variances, anchor.dtype), anchor.device)
    ASSIGN(
        anchor, label, keys, match, order, found, variances, target, mask, kinds, batch, n, m, width,
        p.negative_mining_ratio, p.minimum_negative_samples, p.ignore_label, least,
    )


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
))
