"""batch_take, fill_element_0index, _onehot_encode: one element of every row, read or written.

[batch_take/rows] out[i] = a[i, indices[i]], with a read as rows of its last axis; indices outside count as the
    nearest one. indices are int32.
    >>> run("batch_take", [[3, 1, 2], [1, 1, 0], [4, 5, 6]], np.array([0, -1, 7], np.int32))
    [3.0, 1.0, 6.0]

[batch_take/shape] indices, and with it the output, has one number for each row of a; its shape is that of a
    without the last axis unless given.

[batch_take/gradient] the chosen elements take the heads, all others zero; indices take none.
    >>> grad("batch_take", [[3, 1, 2], [1, 1, 0]], np.array([1, 2], np.int32), head=[5, 6])
    ([[0.0, 5.0, 0.0], [0.0, 0.0, 6.0]], None)

[fill_element_0index/rows] a copy of lhs in which element rhs[i] of row i is mhs[i]; a row whose index lies outside
    is only copied. Fractions are cut off.
    >>> run("fill_element_0index", [[0, 0, 0], [0, 0, 0], [0, 0, 0]], [5, 6, 7], [1, 2.9, 3])
    [[0.0, 5.0, 0.0], [0.0, 0.0, 6.0], [0.0, 0.0, 0.0]]

[fill_element_0index/shape] lhs is (rows, columns), mhs and rhs are (rows,).

[fill_element_0index/gradient] the head goes to mhs where its element was written, else to lhs; rhs takes none.
    >>> grad("fill_element_0index", [[0, 0], [0, 0]], [5, 6], [1, 2], head=[[1, 2], [3, 4]])
    ([[1.0, 0.0], [3.0, 4.0]], [2.0, 0.0], [0.0, 0.0])

[_onehot_encode/rows] an array like rhs, whose row i is 1 at index lhs[i] and else 0; an index outside leaves the
    row all 0. A gradient cannot be asked for.
    >>> run("_onehot_encode", [1, 9], [[5, 5, 5], [5, 5, 5]])
    [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]

[_onehot_encode/shape] lhs is (rows,), rhs (rows, columns).
"""

from math import prod

import numpy as np

from .embedding import HOT_ROWS, PICK_ONE, PUT_ONE
from .foundation import UNKNOWN, Case, Loop, Op, items, known, merge, register, require, require_some, same_type
from .foundation.loops import truncated, zero


def infer_take(p, ins, outs):
    a, indices = ins[0], merge("batch_take/shape", "indices", ins[1], outs[0])
    if a is not None and indices is None:
        indices = a[:-1] or None
    require(
        "batch_take/shape", not known(a, indices) or prod(indices) == prod(a[:-1]),
        f"indices {indices} must hold one number for each row of a {a}",
    )
    if a is not None:
        require_some("a row of a", a[-1], indices)
    return [a, indices], [indices]


def type_take(p, ins, outs):
    index = ins[1] if ins[1] is not None else np.dtype(np.int32)
    require("batch_take/rows", index == np.int32, f"indices must be int32, got {index}; use Cast, or pick")
    (kind,), outs = same_type(p, ins[:1], outs)
    return [kind, index], outs


def infer_fill(p, ins, outs):
    clause = "fill_element_0index/shape"
    lhs = merge(clause, "lhs", ins[0], outs[0])
    rows = merge(clause, "mhs and rhs", ins[1], ins[2])
    lhs = merge(clause, "lhs", lhs, (rows[0] if rows else UNKNOWN, UNKNOWN))
    rows = merge(clause, "mhs and rhs", rows, lhs[:1])
    return [lhs, rows, rows], [lhs]


def infer_hot(p, ins, outs):
    clause = "_onehot_encode/shape"
    rows, whole = ins[0], merge(clause, "rhs", ins[1], outs[0])
    whole = merge(clause, "rhs", whole, (rows[0] if rows else UNKNOWN, UNKNOWN))
    return [merge(clause, "lhs", rows, whole[:1]), whole], [whole]


def type_fill(p, ins, outs):
    (lhs, mhs), outs = same_type(p, ins[:2], outs)
    return [lhs, mhs, ins[2]], outs


def type_hot(p, ins, outs):
    (kind,), outs = same_type(p, ins[1:], outs)
    return [ins[0], kind], outs


# --- loops --------------------------------------------------------------------------------------


def fill_rows(lhs, mhs, rhs, out):
    rows, columns = out.shape
    for r in items(rows):
        index = truncated(rhs[r])
        for c in range(columns):
            out[r, c] = mhs[r] if c == index else lhs[r, c]


def clear_filled(head, rhs, d_lhs):
    rows, columns = head.shape
    for r in items(rows):
        index = truncated(rhs[r])
        for c in range(columns):
            d_lhs[r, c] = 0 if c == index else head[r, c]


def read_filled(head, rhs, d_mhs):
    rows, columns = head.shape
    for r in items(rows):
        index = truncated(rhs[r])
        if 0 <= index < columns:
            d_mhs[r] = head[r, index]
        else:
            d_mhs[r] = 0


FILL_ROWS, CLEAR_FILLED, READ_FILLED = Loop(fill_rows), Loop(clear_filled), Loop(read_filled)


# --- the operators ------------------------------------------------------------------------------


def forward_take(p, a, indices, out):
    one = (out.size, 1)
    PICK_ONE(indices.reshape(one), a.reshape((out.size, a.shape[-1], 1)), out.reshape(one), False)


def backward_take(p, head, indices, d_a, d_indices):
    zero(d_indices)
    if d_a is not None:
        zero(d_a)
        one = (head.size, 1)
        PUT_ONE(indices.reshape(one), head.reshape(one), d_a.reshape((head.size, d_a.shape[-1], 1)), False)


def forward_fill(p, lhs, mhs, rhs, out):
    FILL_ROWS(lhs, mhs, rhs, out)


def backward_fill(p, head, rhs, d_lhs, d_mhs, d_rhs):
    zero(d_rhs)
    if d_lhs is not None:
        CLEAR_FILLED(head, rhs, d_lhs)
    if d_mhs is not None:
        READ_FILLED(head, rhs, d_mhs)


def forward_hot(p, lhs, rhs, out):
    HOT_ROWS(out, lhs, 1.0, 0.0)


def cases_take(draw):
    return Case({}, {"a": draw.shape(2, 4)}, {"indices": ("ints", -1, 4)})


def cases_fill(draw):
    return Case({}, {"lhs": draw.shape(2, 2)}, {"rhs": ("ints", -1, 4)})


def cases_hot(draw):
    return Case({}, {"rhs": draw.shape(2, 2)}, {"lhs": ("ints", -1, 4)})


register(Op(
    name="batch_take", doc=__doc__, inputs=("a", "indices"), infer=infer_take, infer_type=type_take,
    forward=forward_take, backward=backward_take, needs=("indices",), no_gradient=("indices",),
    cases=cases_take,
    refusals={
        "batch_take/shape": {"shapes": {"a": (2, 3), "indices": (3,)}},
        "batch_take/rows": {"shapes": {"a": (2, 3)}, "dtypes": {"indices": "float32"}},
    },
    tier=1,
))
register(Op(
    name="fill_element_0index", doc=__doc__, inputs=("lhs", "mhs", "rhs"), infer=infer_fill,
    infer_type=type_fill, forward=forward_fill, backward=backward_fill, needs=("rhs",),
    no_gradient=("rhs",), inplace=((0, 0),), cases=cases_fill,
    refusals={"fill_element_0index/shape": {"shapes": {"lhs": (2, 3), "mhs": (3,)}}},
    tier=2,
))
register(Op(
    name="_onehot_encode", doc=__doc__, inputs=("lhs", "rhs"), infer=infer_hot, infer_type=type_hot,
    forward=forward_hot, inplace=((1, 0),), cases=cases_hot, no_gradient_clause="_onehot_encode/rows",
    refusals={"_onehot_encode/shape": {"shapes": {"lhs": (3,), "rhs": (2, 3)}}},
    tier=2,
))
