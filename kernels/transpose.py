"""transpose, SwapAxis: the axes of data in another order.

[transpose/axes] axis i of the result is axis axes[i] of data; without axes their order is turned round.
    >>> run("transpose", [[1, 2, 3], [4, 5, 6]])
    [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    >>> run("transpose", [[[1, 2]], [[3, 4]]], axes=(1, 0, 2))
    [[[1.0, 2.0], [3.0, 4.0]]]

[transpose/permutation] axes names every axis of data once, by numbers that are not negative.

[SwapAxis/dims] axes dim1 and dim2 change places; either may count from the end.
    >>> run("SwapAxis", [[[1, 2], [3, 4]]], dim1=0, dim2=-1)
    [[[1.0], [3.0]], [[2.0], [4.0]]]

[transpose/gradient] the gradient is the head with its axes moved back.
    >>> grad("transpose", [[1, 2, 3], [4, 5, 6]], head=[[1, 4], [2, 5], [3, 6]])
    [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
"""

from functools import lru_cache
from math import prod
from typing import NamedTuple

from .foundation import (
    Case,
    Loop,
    Op,
    Shape,
    Sources,
    items,
    merge,
    normal_axis,
    register,
    require,
    strides_of,
)
from .foundation.loops import GATHER, walk
from .foundation.walks import integers, offset_of


class Params(NamedTuple):
    axes: Shape = ()


class SwapParams(NamedTuple):
    dim1: int = 0
    dim2: int = 0


def order(p, rank):
    """Which axis of data each axis of the result is."""
    axes = p.axes or tuple(range(rank))[::-1]
    require(
        "transpose/permutation", sorted(axes) == list(range(rank)),
        f"axes {list(axes)} must name each of the {rank} axes of data once",
    )
    return axes


def order_of_swap(p, rank):
    axes = list(range(rank))
    first, second = (normal_axis("SwapAxis/dims", d, rank) for d in (p.dim1, p.dim2))
    axes[first], axes[second] = second, first
    return tuple(axes)


def infer_with(order_of, clause):
    def infer(p, ins, outs):
        data, out = ins[0], outs[0]
        if data is None and out is None:
            return [data], [out]
        axes = order_of(p, len(data if data is not None else out))
        if data is not None:
            out = merge(clause, "output", out, tuple(data[axis] for axis in axes))
        return [merge(clause, "data", data, tuple(out[axes.index(i)] for i in range(len(axes))))], [out]

    return infer


# --- loops --------------------------------------------------------------------------------------


def tiles(
    source, target, sides, reads, writes, outer, count, rows, write_step, columns, read_step
):
    """Turn ``count`` matrices: target (rows, columns) is source (columns, rows), tile by tile.

    Elements of a row are neighbours in target, elements of a column neighbours in source; ``outer`` axes
    of ``sides`` number the matrices.
    """
    bands = (rows + 15) // 16  # rounded up
    for matrix, band in items((count, bands)):
        read, write = offset_of(matrix, sides, reads, outer), offset_of(matrix, sides, writes, outer)
        for start in range(0, columns, 16):
            for y in range(band * 16, min(band * 16 + 16, rows)):
                for x in range(start, min(start + 16, columns)):
                    target[write + y * write_step + x] = source[read + y + x * read_step]


TILES = Loop(tiles)


# --- the operators ------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def route(shape, axes, device):
    """Whether runs of neighbours stay together where axis axes[i] becomes axis i, and what the loop then takes."""
    strides, sides = strides_of(shape), tuple(shape[axis] for axis in axes)
    steps, places = tuple(strides[axis] for axis in axes), strides_of(sides)
    last, first = len(axes) - 1, axes.index(len(axes) - 1) if axes else -1
    if last == first:
        return True, walk(sides, steps, 0, device)
    others = [i for i in range(len(axes)) if i not in (first, last)]
    tables = (tuple(numbers[i] for i in others) for numbers in (sides, steps, places))
    return False, (
        *(integers(table, device) for table in tables), len(others), prod(sides[i] for i in others),
        sides[first], places[first], sides[last], steps[last],
    )


def move(source, target, axes):
    """target = source with axis axes[i] as axis i."""
    together, numbers = route(source.shape, axes, source.device)
    if together:
        GATHER(source, target, *numbers)
    else:
        TILES(source, target, *numbers)


def run_with(order_of):
    def forward(p, data, out):
        move(data, out, order_of(p, len(data.shape)))

    def backward(p, head, d_data):
        if d_data is not None:
            axes = order_of(p, len(head.shape))
            move(head, d_data, tuple(axes.index(i) for i in range(len(axes))))

    return {"forward": forward, "backward": backward}


def gradient(make, p, heads, inputs, outputs):
    axes = [axis % len(p.axes) for axis in p.axes]
    return make("transpose", heads, axes=tuple(axes.index(i) for i in range(len(axes))))


def gradient_swap(make, p, heads, inputs, outputs):
    return make("SwapAxis", heads, dim1=p.dim1, dim2=p.dim2)


def cases_transpose(draw):
    shape = draw.shape(1, 4)
    first = draw.integer(0, len(shape) - 1)
    rolled = (*range(first, len(shape)), *range(first))
    return Case({"axes": draw.choice([(), rolled, rolled[::-1]])}, {"data": shape})


def cases_swap(draw):
    shape = draw.shape(1, 4)
    dims = {name: draw.integer(-len(shape), len(shape) - 1) for name in ("dim1", "dim2")}
    return Case(dims, {"data": shape})


register(Op(
    name="transpose", doc=__doc__, params=Params, infer=infer_with(order, "transpose/axes"),
    **run_with(order), gradient=gradient, cases=cases_transpose,
    refusals={
        "transpose/permutation": {"params": {"axes": (0, 0)}, "shapes": {"data": (2, 3)}},
    },
    tier=1, method="transpose", numbered_input=True,
))
register(Op(
    name="SwapAxis", doc=__doc__, params=SwapParams, infer=infer_with(order_of_swap, "SwapAxis/dims"),
    **run_with(order_of_swap), gradient=gradient_swap, aliases=("swapaxes",), cases=cases_swap,
    refusals={"SwapAxis/dims": {"params": {"dim1": 0, "dim2": 2}, "shapes": {"data": (2, 3)}}},
    tier=1, method="swapaxes", reports=Sources(),
))
