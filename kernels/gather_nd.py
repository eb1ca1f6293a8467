"""gather_nd, scatter_nd, _scatter_set_nd, _contrib_index_copy: elements or blocks named by several indices each.

[gather_nd/places] column t of indices names a place of data: its m-th number is the index along axis m. The
    numbers are the first axis of indices; the other axes are those of the result, followed by the axes of
    data that are not named.
    >>> run("gather_nd", [[1, 2, 3], [4, 5, 6]], [[0, 1], [2, 0]])
    [3.0, 4.0]
    >>> run("gather_nd", [[1, 2, 3], [4, 5, 6]], [[1, 0]])
    [[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]

[gather_nd/range] fractions are cut off; an index below 0 counts from the end; what is still outside is refused
    with IndexError when the operator runs.
    >>> run("gather_nd", [[1, 2, 3], [4, 5, 6]], [[-1], [1.9]])
    [5.0]

[gather_nd/shape] indices has rank 2 or more, and not more numbers a place than data has axes.

[gather_nd/gradient] each element of data takes the sum of the heads that read it, added in order; indices, here and
    in the operators below, take none.
    >>> grad("gather_nd", [[1, 2], [3, 4]], [[0, 0, 1], [1, 1, 0]], head=[1, 10, 100])
    ([[0.0, 11.0], [100.0, 0.0]], [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])

[scatter_nd/places] the inverse: data is written into zeros of the given shape, where gather_nd would read.
    >>> run("scatter_nd", [5, 6], [[0, 1], [2, 0]], shape=(2, 3))
    [[0.0, 0.0, 5.0], [6.0, 0.0, 0.0]]

[scatter_nd/last] of several writes to one place the last one counts, and it alone has a gradient.
    >>> run("scatter_nd", [5, 6], [[0, 0]], shape=(2,)), grad("scatter_nd", [5, 6], [[0, 0]], shape=(2,))[0]
    ([6.0, 0.0], [0.0, 1.0])

[scatter_nd/shape] the shape of data is that of what gather_nd would read.

[_scatter_set_nd/places] a copy of lhs, of the given shape, in which rhs is written at the places.
    >>> run("_scatter_set_nd", [1, 2, 3], [7, 8], [[2, 0]], shape=(3,))
    [8.0, 2.0, 7.0]
    >>> grad("_scatter_set_nd", [1, 2, 3], [7, 8], [[2, 0]], shape=(3,), head=[4, 5, 6])
    ([0.0, 5.0, 0.0], [6.0, 4.0], [[0.0, 0.0]])

[_contrib_index_copy/rows] a copy of old_tensor in which row index_vector[t] is row t of new_tensor.
    >>> run("_contrib_index_copy", [[1, 2], [3, 4]], [1], [[7, 8]])
    [[1.0, 2.0], [7.0, 8.0]]
    >>> grad("_contrib_index_copy", [[1, 2], [3, 4]], [1], [[7, 8]], head=[[1, 2], [3, 4]])
    ([[1.0, 2.0], [0.0, 0.0]], [0.0], [[3.0, 4.0]])

[_contrib_index_copy/shape] index_vector has rank 1, and new_tensor as many rows, like those of old_tensor.
"""

from math import prod
from typing import NamedTuple

import numpy as np

from .foundation import (
    UNKNOWN,
    Case,
    Loop,
    Op,
    Shape,
    Sources,
    items,
    merge,
    outputs_only,
    register,
    require,
    require_some,
    same_type,
    scalar,
    scratch,
    strides_of,
    told,
)
from .foundation.loops import COPY, truncated, zero
from .foundation.quirk import declare
from .foundation.walks import integers

_EVERY = declare(
    "scatter-repeats", "scatter_nd/last", "every write to one place gets the head as its gradient",
    "only the last write is seen",
)


class Params(NamedTuple):
    shape: Shape


# --- shapes and types ---------------------------------------------------------------------------


def read_shape(clause, shape, indices):
    """The shape of what ``indices`` name in an array of ``shape``."""
    require(clause, len(indices) > 1, f"indices {list(indices)} must have rank 2 or more")
    if not told(indices[0]):
        return None
    require(
        clause, 1 <= indices[0] <= len(shape),
        f"indices {list(indices)} name {indices[0]} axes, the array of shape {list(shape)} needs 1 to {len(shape)}",
    )
    found = (*indices[1:], *shape[indices[0] :])
    require_some(f"an array of shape {list(shape)}", prod(shape[: indices[0]]), found)
    return found


def infer(p, ins, outs):
    data, indices = ins
    if data is None or indices is None:
        return ins, outs
    return ins, [merge("gather_nd/shape", "output", outs[0], read_shape("gather_nd/shape", data, indices))]


def infer_scatter(p, ins, outs):
    data, indices = ins
    if indices is not None:
        data = merge("scatter_nd/shape", "data", data, read_shape("scatter_nd/shape", p.shape, indices))
    return [data, indices], [merge("scatter_nd/places", "output", outs[0], p.shape)]


def infer_set(p, ins, outs):
    lhs, rhs, indices = ins
    lhs = merge("_scatter_set_nd/places", "lhs", lhs, p.shape)
    if indices is not None:
        rhs = merge("scatter_nd/shape", "rhs", rhs, read_shape("scatter_nd/shape", p.shape, indices))
    return [lhs, rhs, indices], [merge("_scatter_set_nd/places", "output", outs[0], p.shape)]


def infer_copy(p, ins, outs):
    clause = "_contrib_index_copy/shape"
    old, index, new = merge(clause, "old_tensor", ins[0], outs[0]), ins[1], ins[2]
    if old is not None:
        new = merge(clause, "new_tensor", new, (UNKNOWN, *old[1:]))
    if new is not None:
        index = merge(clause, "index_vector", index, new[:1])
        old = merge(clause, "old_tensor", old, (UNKNOWN, *new[1:]))
    if index is not None and new is not None:
        new = merge(clause, "new_tensor", new, (*index, *new[1:]))
    if old is not None:
        require_some("old_tensor", old[0], new)
    return [old, index, new], [old]


def type_but(position):
    """One type for all arrays but the indices at ``position``, which may have any."""

    def infer_type(p, ins, outs):
        values, outs = same_type(p, [t for i, t in enumerate(ins) if i != position], outs)
        values.insert(position, ins[position])
        return values, outs

    return infer_type


# --- loops --------------------------------------------------------------------------------------
# Column t of indices names a place of an array viewed as (places, inner). For each axis that a column names, sides
# holds its length and steps its stride.


@scalar
def place(indices, t, sides, steps):
    """The number of place ``t``, or -1 if it lies outside."""
    at = 0
    for m in range(indices.shape[0]):
        index = truncated(indices[m, t])
        if index < 0:
            index += sides[m]
        if index < 0 or index >= sides[m]:
            return -1
        at += index * steps[m]
    return at


def find_outside(found, indices, sides, steps):
    for _ in items(1):
        found[0] = 0
        for t in range(indices.shape[1]):
            if place(indices, t, sides, steps) < 0:
                found[0] = 1


def read_places(data, out, indices, sides, steps):
    count, inner = out.shape
    for t in items(count):
        at = place(indices, t, sides, steps)
        for i in range(inner):
            out[t, i] = data[at, i]


def add_places(head, d_data, indices, sides, steps):
    count, inner = head.shape
    for _ in items(1):
        for t in range(count):
            at = place(indices, t, sides, steps)
            for i in range(inner):
                d_data[at, i] += head[t, i]


def add_places_cuda(head, d_data, indices, sides, steps):
    """The same sums with one element of the places per item."""
    count, inner = head.shape
    for i in items(inner):
        for t in range(count):
            d_data[place(indices, t, sides, steps), i] += head[t, i]


def find_last(writer, indices, sides, steps):
    """writer[place] = the last t that names it."""
    for _ in items(1):
        for t in range(indices.shape[1]):
            writer[place(indices, t, sides, steps)] = t


def write_places(data, out, writer, indices, sides, steps):
    count, inner = data.shape
    for t in items(count):
        at = place(indices, t, sides, steps)
        if writer[at] == t:
            for i in range(inner):
                out[at, i] = data[t, i]


def clear_places(out, indices, sides, steps):
    inner = out.shape[1]
    for t in items(indices.shape[1]):
        at = place(indices, t, sides, steps)
        for i in range(inner):
            out[at, i] = 0


def read_written(head, d_data, writer, indices, sides, steps):
    count, inner = d_data.shape
    for t in items(count):
        at = place(indices, t, sides, steps)
        for i in range(inner):
            d_data[t, i] = head[at, i] if writer[at] == t else 0


FIND_OUTSIDE, FIND_LAST = Loop(find_outside), Loop(find_last)
READ_PLACES, WRITE_PLACES, READ_WRITTEN = Loop(read_places), Loop(write_places), Loop(read_written)
ADD_PLACES, CLEAR_PLACES = Loop(add_places, cuda_function=add_places_cuda), Loop(clear_places)


# --- the operators ------------------------------------------------------------------------------


def named(shape, indices):
    """The last arguments of the loops: places that ``indices`` (depth, ...) name in an array of ``shape``."""
    depth = indices.shape[0]
    sides = shape[:depth]
    columns = indices.reshape((depth, prod(indices.shape[1:])))
    return columns, *(integers(of, indices.device) for of in (sides, strides_of(sides)))


def by_place(array, indices):
    """An array whose places ``indices`` name, as (places, inner)."""
    depth = indices.shape[0]
    return array.reshape((prod(array.shape[:depth]), prod(array.shape[depth:])))


def in_turn(chosen, whole, indices):
    """The elements at the places of ``indices`` in an array ``whole``, as (count, inner)."""
    return chosen.reshape((prod(indices.shape[1:]), prod(whole.shape[indices.shape[0] :])))


def checked(shape, indices):
    """The same as ``named``, where every place lies inside."""
    places = named(shape, indices)
    (found,) = scratch(indices, 1, dtype=np.int64)
    FIND_OUTSIDE(found, *places)
    require(
        "gather_nd/range", not found.to_numpy()[0],
        f"an index is out of bounds for axes of {list(shape[: indices.shape[0]])} elements", IndexError,
    )
    return places


def last_writers(places, shape):
    (writer,) = scratch(places[0], prod(shape[: places[0].shape[0]]), dtype=np.int64)
    FIND_LAST(writer, *places)
    return writer


def write(data, out, indices):
    places = checked(out.shape, indices)
    WRITE_PLACES(in_turn(data, out, indices), by_place(out, indices), last_writers(places, out.shape), *places)


def forward(p, data, indices, out):
    READ_PLACES(by_place(data, indices), in_turn(out, data, indices), *checked(data.shape, indices))


def backward(p, head, indices, d_data, d_indices):
    zero(d_indices)
    if d_data is not None:
        zero(d_data)
        ADD_PLACES(in_turn(head, d_data, indices), by_place(d_data, indices), *named(d_data.shape, indices))


def forward_scatter(p, data, indices, out):
    zero(out)
    write(data, out, indices)


def backward_scatter(p, head, indices, d_data, d_indices):
    zero(d_indices)
    if d_data is not None and d_data.size:
        places = named(head.shape, indices)
        heads, chosen = by_place(head, indices), in_turn(d_data, head, indices)
        if _EVERY.active:
            READ_PLACES(heads, chosen, *places)
            return
        READ_WRITTEN(heads, chosen, last_writers(places, head.shape), *places)


def forward_set(p, lhs, rhs, indices, out):
    COPY(lhs, out, out.size)
    write(rhs, out, indices)


def backward_set(p, head, indices, d_lhs, d_rhs, d_indices):
    backward_scatter(p, head, indices, d_rhs, d_indices)
    if d_lhs is not None:
        COPY(head, d_lhs, head.size)
        CLEAR_PLACES(by_place(d_lhs, indices), *named(head.shape, indices))


def one_axis(index):
    """A vector of row numbers as places."""
    return index.reshape((1, index.size))


def forward_copy(p, old, index, new, out):
    forward_set(p, old, new, one_axis(index), out)


def backward_copy(p, head, index, d_old, d_index, d_new):
    backward_set(p, head, one_axis(index), d_old, d_new, d_index)


def draw_places(draw):
    """A shape, the shape of indices into it, and values that lie inside."""
    shape = draw.shape(1, 4)
    depth = draw.integer(1, len(shape))
    return shape, (depth, *draw.shape(1, 2, 3)), ("labels", min(shape[:depth]))


def cases(draw):
    shape, indices, values = draw_places(draw)
    return Case({}, {"data": shape, "indices": indices}, {"indices": values})


def cases_scatter(draw):
    shape, indices, values = draw_places(draw)
    return Case({"shape": shape}, {"indices": indices}, {"indices": values})


def cases_copy(draw):
    shape = draw.shape(1, 3)
    count = draw.integer(1, shape[0])
    return Case(
        {}, {"old_tensor": shape, "index_vector": (count,), "new_tensor": (count, *shape[1:])},
        {"index_vector": ("labels", shape[0])},
    )


ALONE = {
    "find_outside": "names the first index that is out of range",
    "find_last": "of several places that are equal the last counts, so their order matters",
}

register(Op(
    name="gather_nd", doc=__doc__, inputs=("data", "indices"), infer=infer, infer_type=type_but(1),
    forward=forward, backward=backward, needs=("indices",), no_gradient=("indices",), cases=cases,
    refusals={"gather_nd/shape": {"shapes": {"data": (2, 3), "indices": (3, 4)}}},
    tier=1, reports=Sources(whole=True),
    runs_alone={"find_outside": ALONE["find_outside"]},
))
register(Op(
    name="scatter_nd", doc=__doc__, params=Params, inputs=("data", "indices"), infer=infer_scatter,
    infer_type=type_but(1), forward=forward_scatter, backward=backward_scatter, needs=("indices",),
    no_gradient=("indices",), cases=cases_scatter,
    refusals={"scatter_nd/shape": {"params": {"shape": (2, 3)}, "shapes": {"data": (3,), "indices": (2, 2)}}},
    tier=1, reports=outputs_only, runs_alone=ALONE,
))
register(Op(
    name="_scatter_set_nd", doc=__doc__, params=Params, inputs=("lhs", "rhs", "indices"), infer=infer_set,
    infer_type=type_but(2), forward=forward_set, backward=backward_set, needs=("indices",),
    no_gradient=("indices",), inplace=((0, 0),), cases=cases_scatter,
    refusals={"_scatter_set_nd/places": {"params": {"shape": (2, 3)}, "shapes": {"lhs": (3, 2)}}},
    tier=2, runs_alone=ALONE,
))
register(Op(
    name="_contrib_index_copy", doc=__doc__, inputs=("old_tensor", "index_vector", "new_tensor"),
    infer=infer_copy, infer_type=type_but(1), forward=forward_copy, backward=backward_copy,
    needs=("index_vector",), no_gradient=("index_vector",), inplace=((0, 0),), cases=cases_copy,
    refusals={
        "_contrib_index_copy/shape": {
            "shapes": {"old_tensor": (2, 3), "index_vector": (1,), "new_tensor": (1, 2)},
        },
    },
    tier=2, runs_alone=ALONE,
))
