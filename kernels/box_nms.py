"""_contrib_box_nms: non-maximum suppression: of boxes that overlap, only the one with the highest score stays.

[_contrib_box_nms/order] the boxes that stay come first, the highest score first, of equal scores the lower
    index first; the rows behind them are -1. data is (..., boxes, width): the axes before are a batch.
    >>> x = [[0, .5, 0, 0, 4, 4], [1, .5, 0, 0, 4, 3], [2, .75, 8, 8, 9, 9]]
    >>> run("_contrib_box_nms", x)
    [[2.0, 0.75, 8.0, 8.0, 9.0, 9.0], [0.0, 0.5, 0.0, 0.0, 4.0, 4.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0]]

[_contrib_box_nms/suppression] in that order each box removes those behind it whose intersection over union
    with it is more than overlap_thresh: exactly that much is allowed.
    >>> run("_contrib_box_nms", [[0, .5, 0, 0, 2, 1], [1, .25, 0, 0, 1, 1]], overlap_thresh=0.5)
    [[0.0, 0.5, 0.0, 0.0, 2.0, 1.0], [1.0, 0.25, 0.0, 0.0, 1.0, 1.0]]

[_contrib_box_nms/valid] boxes whose score is not above valid_thresh (NaN is not) are removed first.
    >>> run("_contrib_box_nms", [[0, .5, 0, 0, 2, 1], [1, float("nan"), 4, 4, 5, 5]], valid_thresh=0.5)
    [[-1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0]]

[_contrib_box_nms/classes] with id_index a box removes only boxes with the same id, whole parts compared, unless
    force_suppress; boxes with exactly the id background_id are removed first.
    >>> run("_contrib_box_nms", [[0, .5, 0, 0, 2, 1], [1, .25, 0, 0, 2, 1]], id_index=0)
    [[0.0, 0.5, 0.0, 0.0, 2.0, 1.0], [1.0, 0.25, 0.0, 0.0, 2.0, 1.0]]
    >>> run("_contrib_box_nms", [[2.25, .5, 0, 0, 2, 1], [2.5, .25, 0, 0, 2, 1]], id_index=0, background_id=2)
    [[2.25, 0.5, 0.0, 0.0, 2.0, 1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0]]
    >>> run("_contrib_box_nms", [[.5, .5, 0, 0, 2, 1], [-.5, .25, 0, 0, 2, 1]], id_index=0)
    [[0.5, 0.5, 0.0, 0.0, 2.0, 1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0]]
    >>> run("_contrib_box_nms", [[0, .5, 0, 0, 2, 1], [1, .25, 0, 0, 2, 1]], id_index=0, background_id=0)
    [[1.0, 0.25, 0.0, 0.0, 2.0, 1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0]]

[_contrib_box_nms/topk] only the first topk boxes in order take part, the others are removed; below 0 all take
    part, and 0 hands data on as it is.
    >>> x = [[1, .25, 0, 0, 1, 1], [0, .5, 2, 2, 3, 3]]
    >>> run("_contrib_box_nms", x, topk=1)
    [[0.0, 0.5, 2.0, 2.0, 3.0, 3.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0]]
    >>> run("_contrib_box_nms", x, topk=0)
    [[1.0, 0.25, 0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 2.0, 2.0, 3.0, 3.0]]

[_contrib_box_nms/format] four coordinates begin at coord_start: corners (left, top, right, bottom) or a
    center (x, y, width, height), as in_format says; out_format is what they become.
    >>> run("_contrib_box_nms", [[0, .5, 0, 0, 2, 1]], out_format="center")
    [[0.0, 0.5, 1.0, 0.5, 2.0, 1.0]]
    >>> run("_contrib_box_nms", [[0, .5, 1, .5, 2, 1]], in_format="center")
    [[0.0, 0.5, 0.0, 0.0, 2.0, 1.0]]

[_contrib_box_nms/columns] data has 2 axes or more; score_index, coord_start to coord_start + 3 and an
    id_index that is not negative are columns of it, and the score is none of the coordinates.

[_contrib_box_nms/floating-point] only floating-point types are accepted.

[_contrib_box_nms/gradient] the head of a row goes back to the row that it came from, whatever the formats;
    rows that were removed get zero.
    >>> x = [[0, .5, 0, 0, 4, 4], [2, .75, 8, 8, 9, 9]]
    >>> grad("_contrib_box_nms", x, head=[[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]])
    [[7.0, 8.0, 9.0, 10.0, 11.0, 12.0], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]
"""

from math import ceil, floor, inf, prod
from typing import Literal, NamedTuple

import numpy as np

from .foundation import Case, Loop, Op, Sources, items, merge, register, require, scratch, told
from .foundation.loops import zero
from .shared.boxes import SUPPRESS, Suppression, corners, floating, ranked

CLAUSE = "_contrib_box_nms/columns"
Style = Literal["center", "corner"]


class Params(NamedTuple):
    overlap_thresh: float = 0.5
    valid_thresh: float = 0.0
    topk: int = -1
    coord_start: int = 2
    score_index: int = 1
    id_index: int = -1
    background_id: int = -1
    force_suppress: bool = False
    in_format: Style = "corner"
    out_format: Style = "corner"


def infer(p, ins, outs):
    data = merge(CLAUSE, "output", outs[0], ins[0])
    if data is None:
        return [None], list(outs)
    require(CLAUSE, len(data) >= 2, f"data has shape {data}; give (..., boxes, width)")
    end, width = p.coord_start + 3, data[-1]
    columns = f"coord_start={p.coord_start}, score_index={p.score_index}, id_index={p.id_index}"
    require(
        CLAUSE, p.coord_start >= 0 and p.score_index >= 0 and not p.coord_start <= p.score_index <= end,
        f"{columns}: the score must be beside four coordinates, none of them negative",
    )
    require(
        CLAUSE, not told(width) or max(end, p.score_index, p.id_index) < width,
        f"{columns}: columns beyond the last axis of data, which has shape {data}",
    )
    index = merge(CLAUSE, "index", outs[1], (*data[:-1], 1))
    return [(*index[:-1], width)], [(*index[:-1], width), index]


def infer_type(p, ins, outs):
    ins, (kind,) = floating("_contrib_box_nms/floating-point")(p, ins, outs[:1])
    return ins, [kind, np.dtype(np.int64)]


# --- loops --------------------------------------------------------------------------------------


class Geometry(NamedTuple):
    """The columns of data (batch, boxes, width), and what is done with the boxes."""

    coord_start: int
    score_index: int
    id_index: int
    background_id: int
    by_kind: int
    """Whether only boxes of one kind suppress each other."""
    in_center: int
    to_corner: int
    to_center: int
    limit: int
    """Boxes of an image that take part."""


def prepare(data, boxes, keys, kinds, alive, valid, half, least, g: Geometry):
    """Corners, score, kind and validity of every box."""
    for n, i in items(keys.shape):
        x, y, right, bottom = corners(data, n, i, g.coord_start)
        boxes[n, i, 0] = x - right * half if g.in_center else x
        boxes[n, i, 1] = y - bottom * half if g.in_center else y
        boxes[n, i, 2] = x + right * half if g.in_center else right
        boxes[n, i, 3] = y + bottom * half if g.in_center else bottom
        score = data[n, i, g.score_index]
        good = score > valid and (g.id_index < 0 or data[n, i, g.id_index] != g.background_id)
        own = data[n, i, g.id_index] if g.by_kind else half
        if abs(own) < 2.0**31:
            own = floor(own) if own >= 0 else ceil(own)
        kinds[n, i] = own
        alive[n, i] = 1 if good else 0
        keys[n, i] = score if good else least


def emit(data, alive, order, out, index, half, g: Geometry):
    """Rows of the boxes still alive, in order, and their places in the whole batch; -1 behind them."""
    for n in items(index.shape[0]):
        place = 0
        for i in range(g.limit):
            one = order[n, i]
            if alive[n, one] > 0:
                index[n, place] = n * index.shape[1] + one
                for k in range(out.shape[2]):
                    out[n, place, k] = data[n, one, k]
                for k in range(g.coord_start, g.coord_start + 2):
                    low, high = data[n, one, k], data[n, one, k + 2]
                    if g.to_corner:
                        out[n, place, k] = low - high * half
                        out[n, place, k + 2] = low + high * half
                    if g.to_center:
                        out[n, place, k] = (low + high) * half
                        out[n, place, k + 2] = high - low
                place += 1
        for i in range(place, index.shape[1]):
            index[n, i] = -1
            for k in range(out.shape[2]):
                out[n, i, k] = -1


def pass_on(data, out, index):
    """out[i] = data[i] and index[i] = i."""
    for i in items(out.shape[0]):
        index[i] = i
        for k in range(out.shape[1]):
            out[i, k] = data[i, k]


def put_back(head, index, d_data):
    """d_data[index[i]] = head[i], row by row; the rows that index does not name stay as they are."""
    for i in items(head.shape[0]):
        if index[i] >= 0:
            for k in range(head.shape[1]):
                d_data[index[i], k] = head[i, k]


PREPARE, EMIT, PASS_ON, PUT_BACK = Loop(prepare), Loop(emit), Loop(pass_on), Loop(put_back)


# --- the operator -------------------------------------------------------------------------------


def forward(p, data, out, index):
    batch, n, width = prod(data.shape[:-2]), *data.shape[-2:]
    if p.topk == 0:
        rows = (batch * n, width)
        PASS_ON(data.reshape(rows), out.reshape(rows), index)
        return
    data, out, index = data.reshape((batch, n, width)), out.reshape((batch, n, width)), index.reshape((batch, n))
    limit = n if p.topk < 0 else min(n, p.topk)
    boxes, *each = scratch(data, *(batch * n * k for k in (4, 1, 1, 1)))
    boxes, (keys, kinds, alive) = boxes.reshape((batch, n, 4)), (one.reshape((batch, n)) for one in each)
    changed = p.in_format != p.out_format
    g = Geometry(
        p.coord_start, p.score_index, p.id_index, p.background_id, limit=limit,
        by_kind=int(p.id_index >= 0 and not p.force_suppress), in_center=int(p.in_format == "center"),
        to_corner=int(changed and p.out_format == "corner"), to_center=int(changed and p.out_format == "center"),
    )
    PREPARE(data, boxes, keys, kinds, alive, p.valid_thresh, 0.5, -inf, g)
    buffers = scratch(data, batch * n, batch * n, dtype=np.int64)
    order = ranked(keys, *buffers, batch, n).reshape((batch, n))
    nms = Suppression(coord_start=0, limit=limit, most=limit, inclusive=0)
    SUPPRESS(boxes, kinds, alive, order, p.overlap_thresh, 0.0, nms)
    EMIT(data, alive, order, out, index, 0.5, g)


def backward(p, head, index, d_data):
    if d_data is not None:
        zero(d_data)
        rows = (index.size, head.shape[-1])
        PUT_BACK(head.reshape(rows), index, d_data.reshape(rows))


def cases(draw):
    width, start = draw.choice(((6, 2), (7, 3), (6, 0)))
    score = {2: 1, 3: 2, 0: 4}[start]
    style = draw.choice(("center", "center", "corner"))
    params = {
        "overlap_thresh": draw.choice((0.125, 0.3, 0.5)), "valid_thresh": draw.choice((0, 1)),
        "topk": draw.integer(-1, 6), "coord_start": start, "score_index": score,
        "id_index": draw.choice((-1, {2: 0, 3: 1, 0: 5}[start])),
        "background_id": draw.choice((-1, 1)), "force_suppress": draw.boolean(), "in_format": style,
        "out_format": draw.choice(("center", "corner")),
    }
    shape = (*draw.shape(0, 2, 2), draw.integer(1, 9), width)
    return Case(params, {"data": shape}, {"data": draw.choice((("ints", 0, 3), "positive", "apart"))})


register(Op(
    name="_contrib_box_nms", doc=__doc__, params=Params, outputs=("output0", "output1"), hidden=1,
    infer=infer, infer_type=infer_type, forward=forward, backward=backward, needs=("output1",),
    aliases=("_contrib_box_non_maximum_suppression",), cases=cases, differentiable=False,
    refusals={
        CLAUSE: {"shapes": {"data": (3, 5)}},
        "_contrib_box_nms/floating-point": {"shapes": {"data": (3, 6)}, "dtypes": {"data": "int32"}},
    },
    tier=2, numbered_input=True, reports=Sources(whole=True),
))
