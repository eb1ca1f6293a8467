"""_sparse_retain: keep some rows of an array, the others become zero.

Of a row_sparse array only the rows asked for are stored in the result; here is the meaning on dense memory.

[sparse_retain/rows] rows that indices list keep their values, every other row becomes zero.
    >>> run("_sparse_retain", [[1, 2], [3, 4], [5, 6]], [2, 0])
    [[1.0, 2.0], [0.0, 0.0], [5.0, 6.0]]

[sparse_retain/whole-numbers] indices may have any type; they are cut to whole numbers, and read as one list
    whatever their shape.
    >>> run("_sparse_retain", [[1], [3]], [[1.9]])
    [[0.0], [3.0]]

[sparse_retain/range] an index below 0 or beyond the last row is refused when the operator runs.

[sparse_retain/shape] data has at least one axis; the output has its shape.

[sparse_retain/gradient] the head gradient in the rows kept, zero elsewhere; indices have none.
    >>> grad("_sparse_retain", [[1, 2], [3, 4]], [1], head=[[5, 6], [7, 8]])
    ([[0.0, 0.0], [7.0, 8.0]], [0.0])
"""

import numpy as np

from .foundation import Case, Loop, Op, as_buffer, items, merge, register, require
from .foundation.loops import FILL
from .shared.starts import INDEX


def infer(p, ins, outs):
    data, indices = ins
    shape = merge("sparse_retain/shape", "output", outs[0], data)
    require("sparse_retain/shape", shape is None or len(shape) >= 1, "data must have at least one axis")
    return [shape, indices], [shape]


def infer_type(p, ins, outs):
    kind = ins[0] if ins[0] is not None else outs[0]
    return [kind, ins[1] if ins[1] is not None else INDEX], [kind]


# --- loops --------------------------------------------------------------------------------------


def copy_rows(data, rows, out, n):
    """Rows listed in ``rows``, each once, are copied to their own places."""
    for i in items(n):
        for c in range(data.shape[1]):
            out[rows[i], c] = data[rows[i], c]


COPY_ROWS = Loop(copy_rows)


# --- the operator -------------------------------------------------------------------------------


def wanted_rows(indices, side):
    """The rows asked for, ascending, each once, as int64; refused when there is no such row."""
    asked = np.trunc(indices.to_numpy().reshape(-1))
    require(
        "sparse_retain/range", bool(np.all((asked >= 0) & (asked < side))),
        f"indices must lie between 0 and {side - 1}, given {asked[:8].tolist()}",
    )
    return as_buffer(np.unique(asked).astype(INDEX), indices.device)


def forward(p, data, indices, out):
    side = data.shape[0]
    rows = wanted_rows(indices, side)
    FILL(out, 0.0, out.size)
    by_row = (side, data.size // side if side else 0)
    COPY_ROWS(data.reshape(by_row), rows, out.reshape(by_row), rows.size)


def backward(p, head, data, indices, d_data, d_indices):
    if d_data is not None:
        forward(p, head, indices, d_data)
    if d_indices is not None:
        FILL(d_indices, 0.0, d_indices.size)


def cases(draw):
    data = draw.shape(1, 3)
    return Case({}, {"data": data, "indices": (draw.integer(1, 4),)}, {"indices": ("labels", data[0])})


register(Op(
    name="_sparse_retain", doc=__doc__, inputs=("data", "indices"), infer=infer, infer_type=infer_type,
    forward=forward, backward=backward, needs=("data", "indices"), no_gradient=("indices",), cases=cases,
    refusals={"sparse_retain/shape": {"shapes": {"data": (2, 3), "indices": (1,), "output": (3, 3)}}},
    tier=1,
))
