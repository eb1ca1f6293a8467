"""SequenceMask, SequenceLast, SequenceReverse: batches of sequences, each with a length of its own.

[sequence/layout] data is (time, batch, ...), or with axis=1 (batch, time, ...); there are two axes or more.
    SequenceReverse takes time first only.
    >>> run("SequenceLast", [[1, 2], [3, 4], [5, 6]]), run("SequenceLast", [[1, 2], [3, 4], [5, 6]], axis=1)
    ([5.0, 6.0], [2.0, 4.0, 6.0])

[sequence/length] with use_sequence_length a second input, (batch,), holds the lengths; without it all sequences are
    as long as data. A fraction is cut off; a length is cut to 0 .. time, NaN is 0.
    >>> run("SequenceMask", [[1, 2], [3, 4], [5, 6]], [1.9, 7], use_sequence_length=True, value=-1)
    [[1.0, 2.0], [-1.0, 4.0], [-1.0, 6.0]]

[SequenceMask/value] what lies behind the end of a sequence becomes value, a number of data's type.
    >>> run("SequenceMask", [[1, 2], [3, 4], [5, 6]], [1, 0, 2], use_sequence_length=True, value=9, axis=1)
    [[1.0, 9.0], [9.0, 9.0], [5.0, 6.0]]
    >>> import numpy as np
    >>> run("SequenceMask", np.array([[1], [2]]), np.array([1]), use_sequence_length=True, value=9.7)
    [[1.0], [9.0]]

[SequenceMask/gradient] the head where data was kept, else 0.
    >>> grad("SequenceMask", [[1, 1], [1, 1]], [1, 2], use_sequence_length=True, value=5, head=[[1, 2], [3, 4]])
    ([[1.0, 2.0], [0.0, 4.0]], [0.0, 0.0])

[SequenceLast/last] the last element of each sequence, without the time axis. A sequence of length 0 has none: its
    first element stands for it.
    >>> run("SequenceLast", [[1, 2], [3, 4], [5, 6]], [1.7, 3], use_sequence_length=True)
    [1.0, 6.0]
    >>> run("SequenceLast", [[1, 2], [3, 4]], [0, 2], use_sequence_length=True)
    [1.0, 4.0]

[SequenceLast/gradient] the head goes to the element that was taken, 0 to the others.
    >>> grad("SequenceLast", [[1, 1], [1, 1], [1, 1]], [1, 3], use_sequence_length=True, head=[5, 7])
    ([[5.0, 0.0], [0.0, 0.0], [0.0, 7.0]], [0.0, 0.0])

[SequenceReverse/order] each sequence runs backwards; what lies behind its end stays where it is.
    >>> run("SequenceReverse", [[1, 2], [3, 4], [5, 6]], [2, 3], use_sequence_length=True)
    [[3.0, 6.0], [1.0, 4.0], [5.0, 2.0]]

[SequenceReverse/gradient] the head, reversed likewise.
    >>> head = [[0, 1], [2, 3], [4, 5]]
    >>> grad("SequenceReverse", [[1, 1], [1, 1], [1, 1]], [2, 3], use_sequence_length=True, head=head)
    ([[2.0, 5.0], [0.0, 3.0], [4.0, 1.0]], [0.0, 0.0])

[sequence/length-gradient] lengths have gradient zero.
    >>> grad("SequenceLast", [[1], [2]], [2], use_sequence_length=True)[1]
    [0.0]
"""

from math import prod
from typing import NamedTuple

import numpy as np

from .foundation import UNKNOWN, Case, Loop, Op, Sources, items, merge, register, require, require_some, scalar, scratch
from .foundation.loops import zero
from .multilinear import register_multilinear


class Params(NamedTuple):
    use_sequence_length: bool = False
    axis: int = 0


class MaskParams(NamedTuple):
    use_sequence_length: bool = False
    value: float = 0.0
    axis: int = 0


def inputs(p):
    return ("data", "sequence_length") if p.use_sequence_length else ("data",)


def with_lengths(p, data, given):
    """All input shapes, when that of data is known as far as ``data``, a list of unknown sides otherwise."""
    require("sequence/layout", p.axis in (0, 1), f"axis {p.axis} must be 0 (time, batch) or 1 (batch, time)")
    if data is None:
        return [data, *given]
    require("sequence/layout", len(data) >= 2, f"data {list(data)} needs two axes, for time and batch")
    lengths = [merge("sequence/length", "sequence_length", each, (data[1 - p.axis],)) for each in given]
    batch = lengths[0][0] if lengths else data[1 - p.axis]
    return [(data[0], batch, *data[2:]) if p.axis == 0 else (batch, *data[1:]), *lengths]


def infer(p, ins, outs):
    ins = with_lengths(p, merge("sequence/layout", "output", outs[0], ins[0]), ins[1:])
    return ins, [ins[0]]


def infer_reverse(p, ins, outs):
    require("sequence/layout", p.axis == 0, f"SequenceReverse takes axis 0 only, given {p.axis}")
    return infer(p, ins, outs)


def infer_last(p, ins, outs):
    data, out = ins[0], outs[0]
    if out is not None:
        data = merge("sequence/layout", "data", data, (*out[: p.axis], UNKNOWN, *out[p.axis :]))
    ins = with_lengths(p, data, ins[1:])
    data = ins[0]
    if data is None:
        return ins, [out]
    out = (*data[: p.axis], *data[p.axis + 1 :])
    require_some("the axis of times", data[p.axis], out)
    return ins, [out]


def infer_type(p, ins, outs):
    kind = ins[0] if ins[0] is not None else outs[0]
    require(
        "sequence/length", outs[0] is None or outs[0] == kind,
        f"the output has the type of data, {kind}, not {outs[0]}",
    )
    return [kind, *(kind if each is None else each for each in ins[1:])], [kind]


# --- loops --------------------------------------------------------------------------------------
# Data is rows of ``rest`` elements, one per time and sequence; time varies slowest where ``first``.


@scalar
def time_of(row, time, batch, first):
    return row // batch if first else row % time


@scalar
def sequence_of(row, time, batch, first):
    return row % batch if first else row // time


@scalar
def length_of(lengths, b, time, given):
    if not given or lengths[b] >= time:
        return np.int64(time)
    if lengths[b] > 0:
        return np.int64(lengths[b])
    return np.int64(0)


def mask(data, lengths, out, time, batch, rest, first, given, value):
    for row in items(time * batch):
        length = length_of(lengths, sequence_of(row, time, batch, first), time, given)
        inside = time_of(row, time, batch, first) < length
        for i in range(row * rest, row * rest + rest):
            out[i] = data[i] if inside else value


def last(data, lengths, out, time, batch, rest, first, given):
    for b in items(batch):
        t = max(length_of(lengths, b, time, given) - 1, 0)
        read = (t * batch + b if first else b * time + t) * rest
        for i in range(rest):
            out[b * rest + i] = data[read + i]


def last_back(head, lengths, d_data, time, batch, rest, first, given):
    for row in items(time * batch):
        b = sequence_of(row, time, batch, first)
        taken = time_of(row, time, batch, first) == max(length_of(lengths, b, time, given) - 1, 0)
        for i in range(rest):
            d_data[row * rest + i] = head[b * rest + i] if taken else 0


def turn(data, lengths, out, time, batch, rest, first, given):
    for row in items(time * batch):
        b = sequence_of(row, time, batch, first)
        t = time_of(row, time, batch, first)
        length = length_of(lengths, b, time, given)
        read = ((length - 1 - t if t < length else t) * batch + b) * rest
        for i in range(rest):
            out[row * rest + i] = data[read + i]


MASK, LAST, LAST_BACK, TURN = Loop(mask), Loop(last), Loop(last_back), Loop(turn)


# --- the operators ------------------------------------------------------------------------------


def numbers(p, shape):
    return shape[p.axis], shape[1 - p.axis], prod(shape[2:]), p.axis == 0, p.use_sequence_length


def any_lengths(like, lengths):
    """What stands for lengths where there are none, so that no loop is compiled twice."""
    return scratch(like, 1)[0] if lengths is None else lengths


def forward_mask(p, data, lengths, out):
    MASK(data, any_lengths(data, lengths), out, *numbers(p, data.shape), p.value)


def backward_mask(p, head, lengths, d_data, d_lengths):
    zero(d_lengths)
    if d_data is not None:
        MASK(head, any_lengths(head, lengths), d_data, *numbers(p, head.shape), 0.0)


def forward_last(p, data, lengths, out):
    LAST(data, any_lengths(data, lengths), out, *numbers(p, data.shape))


def backward_last(p, head, lengths, d_data, d_lengths):
    zero(d_lengths)
    if d_data is not None:
        LAST_BACK(head, any_lengths(head, lengths), d_data, *numbers(p, d_data.shape))


def forward_reverse(p, data, lengths, out):
    TURN(data, any_lengths(data, lengths), out, *numbers(p, data.shape))


def backward_reverse(p, head, lengths, d_data, d_lengths):
    zero(d_lengths)
    if d_data is not None:
        TURN(head, any_lengths(head, lengths), d_data, *numbers(p, head.shape))


def same_again(name):
    """The gradient is the operator itself, applied to the head; what is masked becomes 0."""

    def gradient(make, p, heads, inputs, outputs):
        attrs = {**p._asdict(), "value": 0.0} if hasattr(p, "value") else p._asdict()
        return [make(name, [heads[0], *inputs[1:]], **attrs)[0], None][: len(inputs)]

    return gradient


def cases(draw):
    params = {"use_sequence_length": draw.boolean(), "axis": draw.integer(0, 1)}
    shape = draw.shape(2, 4)
    return Case(params, {"data": shape}, {"sequence_length": ("ints", 1, shape[params["axis"]])})


def cases_mask(draw):
    case = cases(draw)
    return case._replace(
        params={**case.params, "value": draw.choice([0.0, -1.5])}, values={"sequence_length": ("ints", 0, 5)}
    )


def cases_reverse(draw):
    case = cases(draw)
    return case._replace(params={**case.params, "axis": 0}, values={"sequence_length": ("ints", 0, 5)})


def refusals(name):
    flat = {"params": {}, "shapes": {"data": (3,)}}
    turned = {"params": {"axis": 1}, "shapes": {"data": (3, 2)}}
    longer = {"params": {"use_sequence_length": True}, "shapes": {"data": (3, 2), "sequence_length": (3,)}}
    return {"sequence/layout": turned if name == "SequenceReverse" else flat, "sequence/length": longer}


def page(name, params, infer, forward, backward, cases, gradient=None):
    return Op(
        name=name, doc=__doc__, params=params, inputs=inputs, all_inputs=("data", "sequence_length"),
        infer=infer, infer_type=infer_type, forward=forward, backward=backward, gradient=gradient,
        needs=("sequence_length",), no_gradient=("sequence_length",), cases=cases, refusals=refusals(name),
        tier=1, reports=Sources(1),
    )


register(page("SequenceMask", MaskParams, infer, forward_mask, backward_mask, cases_mask, same_again("SequenceMask")))
register(page(
    "SequenceReverse", Params, infer_reverse, forward_reverse, backward_reverse, cases_reverse,
    same_again("SequenceReverse"),
))
register_multilinear(page("SequenceLast", Params, infer_last, forward_last, backward_last, cases), ("data",))
