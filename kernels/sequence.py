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
# Data is (time, batch, rest) where time is ``first``, else (batch, time, rest); rest is all other axes.


@scalar
def length_of(lengths, b, time, given):
    if not given or lengths[b] >= time:
        return np.int64(time)
    if lengths[b] > 0:
        return np.int64(lengths[b])
    return np.int64(0)


def mask(data, lengths, out, first, given, value):
    time = data.shape[0] if first else data.shape[1]
    for k, m in items(data.shape[:2]):
        t, b = (k, m) if first else (m, k)
        inside = t < length_of(lengths, b, time, given)
        for i in range(data.shape[2]):
            out[k, m, i] = data[k, m, i] if inside else value


def last(data, lengths, out, first, given):
    """out[b, i] = the element at the last time of sequence b."""
    time = data.shape[0] if first else data.shape[1]
    for b in items(out.shape[0]):
        t = max(length_of(lengths, b, time, given) - 1, 0)
        k, m = (t, b) if first else (b, t)
        for i in range(out.shape[1]):
            out[b, i] = data[k, m, i]


def last_back(head, lengths, d_data, first, given):
    time = d_data.shape[0] if first else d_data.shape[1]
    for k, m in items(d_data.shape[:2]):
        t, b = (k, m) if first else (m, k)
        taken = t == max(length_of(lengths, b, time, given) - 1, 0)
        for i in range(d_data.shape[2]):
            d_data[k, m, i] = head[b, i] if taken else 0


def turn(data, lengths, out, given):
    """out[t, b, i] = data[length - 1 - t, b, i] within a sequence's length, where time is first."""
    for t, b in items(data.shape[:2]):
        length = length_of(lengths, b, data.shape[0], given)
        read = length - 1 - t if t < length else t
        for i in range(data.shape[2]):
            out[t, b, i] = data[read, b, i]


MASK, LAST, LAST_BACK, TURN = Loop(mask), Loop(last), Loop(last_back), Loop(turn)


# --- the operators ------------------------------------------------------------------------------


def rows(buffer):
    """An array with time under the axes of the loops."""
    return buffer.reshape((*buffer.shape[:2], prod(buffer.shape[2:])))


def of_batch(buffer):
    """An array without time as (batch, rest)."""
    return buffer.reshape((buffer.shape[0], prod(buffer.shape[1:])))


def any_lengths(like, lengths):
    """What stands for lengths where there are none, so that no loop is compiled twice."""
    return scratch(like, 1)[0] if lengths is None else lengths


def forward_mask(p, data, lengths, out):
    MASK(rows(data), any_lengths(data, lengths), rows(out), p.axis == 0, p.use_sequence_length, p.value)


def backward_mask(p, head, lengths, d_data, d_lengths):
    zero(d_lengths)
    if d_data is not None:
        MASK(rows(head), any_lengths(head, lengths), rows(d_data), p.axis == 0, p.use_sequence_length, 0.0)


def forward_last(p, data, lengths, out):
    LAST(rows(data), any_lengths(data, lengths), of_batch(out), p.axis == 0, p.use_sequence_length)


def backward_last(p, head, lengths, d_data, d_lengths):
    zero(d_lengths)
    if d_data is not None:
        lengths = any_lengths(head, lengths)
        LAST_BACK(of_batch(head), lengths, rows(d_data), p.axis == 0, p.use_sequence_length)


def forward_reverse(p, data, lengths, out):
    TURN(rows(data), any_lengths(data, lengths), rows(out), p.use_sequence_length)


def backward_reverse(p, head, lengths, d_data, d_lengths):
    zero(d_lengths)
    if d_data is not None:
        TURN(rows(head), any_lengths(head, lengths), rows(d_data), p.use_sequence_length)


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
