"""Concat, stack: arrays side by side along one axis, in the order given.

[Concat/dim] the inputs are laid one after another along axis dim, which may count from the end.
    >>> run("Concat", [[1, 2], [3, 4]], [[5], [6]])
    [[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]
    >>> run("Concat", [[1, 2]], [[3, 4]], dim=0)
    [[1.0, 2.0], [3.0, 4.0]]

[Concat/shapes] all inputs agree in rank and in every side but that of dim. Unknown sides are taken from
    the others, and one unknown side along dim from the output.

[stack/axis] inputs of one shape are laid along a new axis of the result.
    >>> run("stack", [1, 2], [3, 4]), run("stack", [1, 2], [3, 4], axis=-1)
    ([[1.0, 2.0], [3.0, 4.0]], [[1.0, 3.0], [2.0, 4.0]])

[stack/shapes] all inputs have one shape.

[Concat/gradient] each input takes its part of the head.
    >>> grad("Concat", [[1, 2]], [[3]], head=[[7, 8, 9]])
    ([[7.0, 8.0]], [[9.0]])
"""

from math import prod
from typing import NamedTuple

from .foundation import UNKNOWN, Case, Count, Op, known, merge, merge_all, normal_axis, register, require, told
from .foundation.loops import BLOCKS


class Params(NamedTuple):
    num_args: Count
    dim: int = 1


class StackParams(NamedTuple):
    num_args: Count
    axis: int = 0


def infer(p, ins, outs):
    out = outs[0]
    ranks = [len(shape) for shape in (*ins, out) if shape is not None]
    if not ranks:
        return ins, outs
    axis = normal_axis("Concat/dim", p.dim, ranks[0])
    others = merge_all(
        "Concat/shapes", "inputs",
        [s and (*s[:axis], UNKNOWN, *s[axis + 1 :]) for s in (*ins, out)],
    )
    shapes = [merge("Concat/shapes", f"input {i}", s, others) for i, s in enumerate(ins)]
    sides = [shape[axis] for shape in shapes]
    if out is not None and told(out[axis]) and sides.count(UNKNOWN) == 1:
        left = out[axis] - sum(side for side in sides if told(side))
        require(
            "Concat/shapes", left >= 0,
            f"sides {sides} along axis {axis} leave nothing for the unknown one: the output has {out[axis]}",
        )
        sides[sides.index(UNKNOWN)] = left
    shapes = [(*others[:axis], side, *others[axis + 1 :]) for side in sides]
    wanted = (*others[:axis], sum(sides), *others[axis + 1 :])
    return shapes, [merge("Concat/shapes", "output", out, wanted)]


def infer_stack(p, ins, outs):
    out = outs[0]
    shape = merge_all("stack/shapes", "inputs", ins)
    if shape is None and out is None:
        return ins, outs
    axis = normal_axis("stack/axis", p.axis, len(shape) + 1 if shape is not None else len(out))
    if out is not None:
        shape = merge("stack/shapes", "inputs", shape, (*out[:axis], *out[axis + 1 :]))
    wanted = (*shape[:axis], len(ins), *shape[axis:])
    return [shape] * len(ins), [merge("stack/shapes", "output", out, wanted)]


# --- the operators ------------------------------------------------------------------------------


def join(axis, pieces, runs, whole, *, back):
    """Copy runs between the pieces and the whole: into the whole, or ``back`` into the pieces."""
    outer, width = prod(whole.shape[:axis]), prod(whole.shape[axis:])
    start = 0
    for piece, run in zip(pieces, runs, strict=True):
        if back and piece is not None:
            BLOCKS(whole, piece, outer, run, start, width, 0, run)
        elif not back:
            BLOCKS(piece, whole, outer, run, 0, run, start, width)
        start += run


def forward(p, data, out):
    axis = p.dim % len(out.shape)
    join(axis, data, [prod(d.shape[axis:]) for d in data], out, back=False)


def backward(p, head, *rest):
    *data, gradients = rest
    axis = p.dim % len(head.shape)
    join(axis, gradients, [prod(d.shape[axis:]) for d in data], head, back=True)


def forward_stack(p, data, out):
    axis = p.axis % len(out.shape)
    join(axis, data, [prod(out.shape[axis + 1 :])] * len(data), out, back=False)


def backward_stack(p, head, gradients):
    axis = p.axis % len(head.shape)
    join(axis, gradients, [prod(head.shape[axis + 1 :])] * len(gradients), head, back=True)


def gradient(make, p, heads, inputs, outputs):
    return make("_backward_Concat", [heads[0], *inputs], dim=p.dim)


def infer_pieces(p, ins, outs):
    shapes = [merge("Concat/shapes", "piece", *pair) for pair in zip(ins[1:], outs, strict=True)]
    shapes, (head,) = infer(p._replace(num_args=len(shapes)), shapes, [ins[0]])
    return [head, *shapes], shapes


def forward_pieces(p, head_and_data, *pieces):
    head, *data = head_and_data
    backward(p, head, *data, pieces)


def gradient_pieces(make, p, heads, inputs, outputs):
    return [*make("Concat", heads, dim=p.dim), *[None] * len(heads)]


def gradient_stack(make, p, heads, inputs, outputs):
    return make("SliceChannel", heads, num_outputs=p.num_args, axis=p.axis, squeeze_axis=True)


def cases_pieces(draw):
    case = cases(draw)
    shapes = case.shapes["args"]
    _, (head,) = infer(Params(**case.params), shapes, [None])
    return Case({**case.params, "num_args": len(shapes) + 1}, {"args": [head, *shapes]})


def cases(draw):
    shape = draw.shape(1, 4)
    axis = draw.integer(0, len(shape) - 1)
    shapes = [(*shape[:axis], draw.integer(1, 4), *shape[axis + 1 :]) for _ in range(draw.integer(1, 3))]
    return Case(
        {"num_args": len(shapes), "dim": draw.choice([axis, axis - len(shape)])}, {"args": shapes}
    )


def cases_stack(draw):
    shape = draw.shape(1, 3)
    count = draw.integer(1, 3)
    axis = draw.integer(-len(shape) - 1, len(shape))
    return Case({"num_args": count, "axis": axis}, {"args": [shape] * count})


def report_stack(infer, p, ins, outs):
    """What MXNet reports: the output once all of its sides are known, nothing of an input."""
    new_outs = infer(p, ins, [None])[1]
    return ins, new_outs if known(*new_outs) else outs


register(Op(
    name="Concat", doc=__doc__, params=Params, variadic="num_args", infer=infer, forward=forward,
    backward=backward, gradient=gradient, needs=lambda p: tuple(f"arg{i}" for i in range(p.num_args)),
    shape_needs=lambda p: tuple(f"arg{i}" for i in range(p.num_args)),
    aliases=("concat", "_sparse_concat"), cases=cases,
    refusals={
        "Concat/dim": {"params": {"num_args": 2, "dim": 2}, "shapes": {"args": [(2, 3), (2, 3)]}},
        "Concat/shapes": {"params": {"num_args": 2}, "shapes": {"args": [(2, 3), (3, 3)]}},
    },
    tier=1, color="#fdb462",
    difference_clauses={"": "Concat/dim"},
))
register(Op(
    name="_backward_Concat", doc=__doc__, params=Params, variadic="num_args", infer=infer_pieces,
    outputs=lambda p: tuple(f"piece{i}" for i in range(p.num_args - 1)), forward=forward_pieces,
    gradient=gradient_pieces, cases=cases_pieces,
))
register(Op(
    name="stack", doc=__doc__, params=StackParams, variadic="num_args", infer=infer_stack,
    forward=forward_stack, backward=backward_stack, gradient=gradient_stack, cases=cases_stack,
    refusals={
        "stack/axis": {"params": {"num_args": 2, "axis": 3}, "shapes": {"args": [(2, 3), (2, 3)]}},
        "stack/shapes": {"params": {"num_args": 2}, "shapes": {"args": [(2, 3), (2, 4)]}},
    },
    tier=1, reports=report_stack,
))
