"""where: elements of one array or the other.

[where/choice] x where condition is not 0 (NaN is not), else y.
    >>> run("where", [[0, 1], [float("nan"), -2]], [[1, 2], [3, 4]], [[5, 6], [7, 8]])
    [[5.0, 2.0], [3.0, 4.0]]

[where/rows] a condition of rank 1 beside arrays of higher rank chooses whole rows, one for each index of axis 0.
    >>> run("where", [0, 1], [[1, 2], [3, 4]], [[5, 6], [7, 8]])
    [[5.0, 6.0], [3.0, 4.0]]

[where/shape] x, y and the output have one shape and type; condition has that shape, or one number a row, and any
    type. x and y take the shape of a condition of rank 2 or more; condition is not inferred.

[where/gradient] the head goes to the array that was chosen, zero to the other; condition takes none.
    >>> grad("where", [0, 1], [1, 2], [3, 4], head=[5, 6])
    ([0.0, 0.0], [0.0, 6.0], [5.0, 0.0])
"""

from .foundation import Case, Loop, Op, items, known, merge, merge_all, register, same_type
from .foundation.loops import zero


def infer(p, ins, outs):
    condition, *values = ins
    shape = merge_all("where/shape", "x, y and output", [*values, *outs])
    if shape is not None and condition is not None:
        wanted = shape[:1] if len(condition) == 1 else shape
        condition = merge("where/shape", "condition", condition, wanted)
    elif condition is not None and len(condition) > 1:
        shape = condition
    return [condition, shape, shape], [shape]


def infer_type(p, ins, outs):
    values, outs = same_type(p, ins[1:], outs)
    return [ins[0], *values], outs


# --- loops --------------------------------------------------------------------------------------


def choose(x, y, condition, out, n):
    for i in items(n):
        from_x, from_y = x[i], y[i]
        out[i] = from_x if condition[i] != 0 else from_y


def choose_rows(x, y, condition, out):
    for r, k in items(out.shape):
        out[r, k] = x[r, k] if condition[r] != 0 else y[r, k]


def chosen(head, condition, d_x, n, wanted):
    """The head where condition is not 0 (``wanted`` 1) or is 0 (``wanted`` 0)."""
    for i in items(n):
        value = head[i]
        if (condition[i] != 0) == (wanted != 0):
            d_x[i] = value
        else:
            d_x[i] = 0


def chosen_rows(head, condition, d_x, wanted):
    for r, k in items(d_x.shape):
        d_x[r, k] = head[r, k] if (condition[r] != 0) == (wanted != 0) else 0


CHOOSE, CHOOSE_ROWS, CHOSEN, CHOSEN_ROWS = Loop(choose), Loop(choose_rows), Loop(chosen), Loop(chosen_rows)


# --- the operator -------------------------------------------------------------------------------


def forward(p, condition, x, y, out):
    if condition.size == out.size:
        CHOOSE(x, y, condition, out, out.size)
        return
    rows = (condition.size, out.size // condition.size)
    CHOOSE_ROWS(x.reshape(rows), y.reshape(rows), condition, out.reshape(rows))


def backward(p, head, condition, d_condition, d_x, d_y):
    zero(d_condition)
    for gradient, wanted in ((d_x, 1), (d_y, 0)):
        if gradient is None:
            continue
        if condition.size == head.size:
            CHOSEN(head, condition, gradient, head.size, wanted)
        else:
            rows = (condition.size, head.size // condition.size)
            CHOSEN_ROWS(head.reshape(rows), condition, gradient.reshape(rows), wanted)


def cases(draw):
    shape = draw.shape(1, 4)
    condition = shape[:1] if draw.boolean() else shape
    return Case({}, {"condition": condition, "x": shape}, {"condition": ("ints", -1, 1)})


def report(infer, p, ins, outs):
    """What MXNet reports: nothing before all is known of the condition, and something of x, y or the output."""
    return infer(p, ins, outs) if known(ins[0]) and [*ins[1:], *outs] != [None] * 3 else (ins, outs)


register(Op(
    name="where", doc=__doc__, inputs=("condition", "x", "y"), infer=infer, infer_type=infer_type,
    forward=forward, backward=backward, needs=("condition",), no_gradient=("condition",),
    inplace=((1, 0), (2, 0)), aliases=("_sparse_where",), cases=cases,
    refusals={"where/shape": {"shapes": {"condition": (3,), "x": (2, 3), "y": (2, 3)}}},
    tier=1, reports=report,
))
