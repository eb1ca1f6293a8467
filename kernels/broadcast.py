"""Binary operators that broadcast: shapes are aligned at the last axis, an axis of 1 is stretched.

[broadcast/shape] each side of the output is the larger of the operands' sides, of which one must be 1 unless
    they are equal; a missing leading axis counts as 1.
    >>> run("broadcast_add", [[1, 2]], [[10], [20]])
    [[11.0, 12.0], [21.0, 22.0]]
    >>> run("broadcast_sub", [[1, 2], [3, 4]], [1, 2])
    [[0.0, 0.0], [2.0, 2.0]]

[broadcast/gradient] an operand's gradient is the elementwise one, summed over the axes along which the
    operand was stretched, as reduce/sum-order says.
    >>> grad("broadcast_add", [[1, 2]], [[10], [20]])
    ([[2.0, 2.0]], [[2.0], [2.0]])
    >>> grad("broadcast_mul", [[1, 2]], [[10], [20]], head=[[1, 1], [1, 0]])
    ([[30.0, 10.0]], [[3.0], [1.0]])

[broadcast/as-elementwise] the numbers are those of the operator's namesake in elementwise.py: ties go to the
    left operand, comparisons and logical operators have gradient zero.
    >>> grad("broadcast_maximum", [1, 2, 3], [2])
    ([0.0, 1.0, 1.0], [1.0])
    >>> run("broadcast_lesser_equal", [1, 2, 3], [2]), run("broadcast_mod", [-3, 3], [2])
    ([1.0, 1.0, 0.0], [1.0, 1.0])
    >>> run("broadcast_div", [1, 2, 3], [2]), run("broadcast_power", [1, 2, 3], [2])
    ([0.5, 1.0, 1.5], [1.0, 4.0, 9.0])
    >>> run("broadcast_hypot", [3], [4]), run("broadcast_minimum", [1, 2, 3], [2])
    ([5.0], [1.0, 2.0, 2.0])
    >>> run("broadcast_equal", [1, 2, 3], [2]), run("broadcast_not_equal", [1, 2, 3], [2])
    ([0.0, 1.0, 0.0], [1.0, 0.0, 1.0])
    >>> run("broadcast_greater", [1, 2, 3], [2]), run("broadcast_greater_equal", [1, 2, 3], [2])
    ([0.0, 0.0, 1.0], [0.0, 1.0, 1.0])
    >>> run("broadcast_lesser", [1, 2, 3], [2]), run("broadcast_logical_and", [0, 2], [3])
    ([1.0, 0.0, 0.0], [0.0, 1.0])
    >>> run("broadcast_logical_or", [0, 2], [0]), run("broadcast_logical_xor", [0, 2], [3])
    ([0.0, 1.0], [1.0, 0.0])
"""

from .elementwise import CHAINS, MAPS
from .foundation import UNKNOWN, Case, Loop, Op, either, items, merge, register, scratch, told
from .foundation import broadcast as broadcast_shapes
from .foundation.loops import zero
from .foundation.pairs import PAIRS
from .foundation.walks import RowSizes, offset_of, rows_of
from .reduce import sum_into
from .shared.terms import PAIR_SLOPES, Term


def infer(p, ins, outs):
    lhs, rhs = ins
    if lhs is None or rhs is None:
        return list(ins), list(outs)
    rank = max(len(lhs), len(rhs))
    # an unknown side is 1 or the output's: it stretches, or tells nothing
    left, right = (tuple(either(side, 1) for side in shape) for shape in ins)
    stretched = broadcast_shapes("broadcast/shape", left, right)
    pairs = zip((1,) * (rank - len(lhs)) + lhs, (1,) * (rank - len(rhs)) + rhs, stretched, strict=True)
    sides = tuple(side if told(a, b) or side != 1 else UNKNOWN for a, b, side in pairs)
    out = merge("broadcast/shape", "output", outs[0], sides)
    return list(ins), [out]


# --- loops ---------------------------------------------------------------------------------------


def map_rows(a, b, out, sides, a_steps, b_steps, g: RowSizes):
    """Along a row of out each operand either advances by one or stands still."""
    for r in items(g.rows):
        i = offset_of(r, sides, a_steps, g.rank)
        j = offset_of(r, sides, b_steps, g.rank)
        if g.a_step == 0:
            for c in range(g.length):
                out[r, c] = formula(a[i], b[j + c])  # noqa: F821  # bound by Loop
        elif g.b_step == 0:
            for c in range(g.length):
                out[r, c] = formula(a[i + c], b[j])  # noqa: F821
        else:
            for c in range(g.length):
                out[r, c] = formula(a[i + c], b[j + c])  # noqa: F821


def map_rows_cuda(a, b, out, sides, a_steps, b_steps, g: RowSizes):
    """The same with one element per item."""
    for r, c in items(out.shape):
        i = offset_of(r, sides, a_steps, g.rank) + c * g.a_step
        j = offset_of(r, sides, b_steps, g.rank) + c * g.b_step
        out[r, c] = formula(a[i], b[j])  # noqa: F821  # bound by Loop


def chain_rows(head, a, b, full, sides, a_steps, b_steps, g: RowSizes):
    """full = head . slope, in the output's shape."""
    for r in items(g.rows):
        i = offset_of(r, sides, a_steps, g.rank)
        j = offset_of(r, sides, b_steps, g.rank)
        if g.a_step == 0:
            for c in range(g.length):
                full[r, c] = head[r, c] * slope(a[i], b[j + c])  # noqa: F821  # bound by Loop
        elif g.b_step == 0:
            for c in range(g.length):
                full[r, c] = head[r, c] * slope(a[i + c], b[j])  # noqa: F821
        else:
            for c in range(g.length):
                full[r, c] = head[r, c] * slope(a[i + c], b[j + c])  # noqa: F821


def chain_rows_cuda(head, a, b, full, sides, a_steps, b_steps, g: RowSizes):
    """The same with one element per item."""
    for r, c in items(full.shape):
        i = offset_of(r, sides, a_steps, g.rank) + c * g.a_step
        j = offset_of(r, sides, b_steps, g.rank) + c * g.b_step
        full[r, c] = head[r, c] * slope(a[i], b[j])  # noqa: F821  # bound by Loop


# --- the table -----------------------------------------------------------------------------------

TABLE = (
    # row of PAIRS, aliases, tier
    ("add", ("broadcast_plus", "_sparse_broadcast_add", "_sparse_broadcast_plus"), 1),
    ("sub", ("broadcast_minus", "_sparse_broadcast_sub", "_sparse_broadcast_minus"), 1),
    ("mul", ("_sparse_broadcast_mul",), 1),
    ("div", ("_sparse_broadcast_div",), 1),
    ("power", (), 1),
    ("mod", (), 1),
    ("hypot", (), 2),
    ("maximum", (), 1),
    ("minimum", (), 1),
    ("equal", (), 1),
    ("not_equal", (), 1),
    ("greater", (), 1),
    ("greater_equal", (), 1),
    ("lesser", (), 1),
    ("lesser_equal", (), 1),
    ("logical_and", (), 2),
    ("logical_or", (), 2),
    ("logical_xor", (), 2),
)


def nothing(make, p, heads, inputs, outputs):
    return [None, None]


def _backward(row, pair):
    """The two gradients of a row of the table."""
    alike = CHAINS[row]
    chains = Loop(chain_rows, cuda_function=chain_rows_cuda, slope=pair.left), Loop(
        chain_rows, cuda_function=chain_rows_cuda, slope=pair.right
    )

    def backward(p, head, lhs, rhs, d_lhs, d_rhs):
        walk = rows_of(lhs.shape, rhs.shape, head.shape, head.device)
        for chain, chain_alike, target in zip(chains, alike, (d_lhs, d_rhs), strict=True):
            if target is None:
                continue
            if pair.is_flat(head):
                zero(target)
            elif lhs.shape == rhs.shape:
                chain_alike(head, lhs, rhs, target, head.size)
            elif target.size == head.size:
                chain(walk.under(head), lhs, rhs, walk.under(target), *walk)
            else:
                (full,) = scratch(head, head.size)
                chain(walk.under(head), lhs, rhs, walk.under(full), *walk)
                sum_into(full.reshape(head.shape), target)

    return backward


def composed(row):
    """The same two gradients made of operators, which can be differentiated again."""

    def gradient(make, p, heads, inputs, outputs):
        head, lhs, rhs = (Term(make, entry, stretch=True) for entry in (heads[0], *inputs))
        to_left, to_right = PAIR_SLOPES[row]
        return [
            to_left(head, lhs, rhs)._sum_like(lhs).entry, to_right(head, lhs, rhs)._sum_like(rhs).entry,
        ]

    return gradient


def backward_add(p, head, d_lhs, d_rhs):
    for target in (d_lhs, d_rhs):
        if target is not None:
            sum_into(head, target)


def report(infer, p, ins, outs):
    """What MXNet reports: a side of the output is unknown where that of either operand is."""
    ins, new_outs = infer(p, ins, [None])
    if new_outs[0] is None:
        return ins, outs
    rank = len(new_outs[0])
    left, right = ((1,) * (rank - len(shape)) + shape for shape in ins)
    sides = zip(left, right, new_outs[0], strict=True)
    return ins, [tuple(side if told(a, b) else UNKNOWN for a, b, side in sides)]


def _register(row, aliases, tier):
    pair = PAIRS[row]
    apply, alike = Loop(map_rows, cuda_function=map_rows_cuda, formula=pair.formula), MAPS[row]

    def forward(p, lhs, rhs, out):
        if lhs.shape == rhs.shape:  # nothing is stretched: the namesake's loop, which is called in less time
            alike(lhs, rhs, out, out.size)
            return
        walk = rows_of(lhs.shape, rhs.shape, out.shape, out.device)
        apply(lhs, rhs, walk.under(out), *walk)

    backward = None
    if row == "add":
        backward = backward_add
    elif pair.left:
        backward = _backward(row, pair)

    register(Op(
        name=f"broadcast_{row}", doc=__doc__, inputs=("lhs", "rhs"), infer=infer,
        forward=forward, backward=backward, gradient=composed(row) if backward else nothing,
        needs=("lhs", "rhs") if backward and row != "add" else (), aliases=aliases,
        cases=lambda draw: cases(draw, pair),
        refusals={"broadcast/shape": {"shapes": {"lhs": (2, 3), "rhs": (2,)}}},
        tier=tier, reports=report, elementwise=True,
    ))


def cases(draw, pair):
    shape = draw.shape(1, 4)
    lhs, rhs = (tuple(1 if draw.boolean() else side for side in shape) for _ in range(2))
    if draw.boolean():
        rhs = rhs[draw.integer(0, len(rhs) - 1):]
    return Case({}, {"lhs": lhs, "rhs": rhs}, {"lhs": pair.left_values, "rhs": pair.right_values})


for row in TABLE:
    _register(*row)
