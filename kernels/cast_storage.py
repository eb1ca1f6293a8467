"""cast_storage: the same numbers in another storage; the loops between dense, csr and row_sparse memory.

On dense memory, which is all that a graph sees, the operator is the identity. `refimpl.ndarray.sparse`
runs the loops below: what is stored is counted first and filled in second, so that memory is exact.

[cast_storage/identity] dense values pass through unchanged, whatever stype asks for.
    >>> run("cast_storage", [[0, 1], [2, 0]], stype="csr")
    [[0.0, 1.0], [2.0, 0.0]]

[cast_storage/gradient] the head gradient passes through.
    >>> grad("cast_storage", [[0, 1]], stype="default", head=[[3, 4]])
    [[3.0, 4.0]]

[cast_storage/rank] csr holds matrices only: data of any other rank is refused.
"""

from typing import Literal, NamedTuple

from .foundation import Case, Loop, Op, allocate, decides, items, merge, register, require
from .foundation.loops import COPY
from .shared.starts import INDEX, LIST_MARKED, starts_of


class Params(NamedTuple):
    stype: Literal["default", "row_sparse", "csr"]


def infer(p, ins, outs):
    shape = merge("cast_storage/identity", "output", outs[0], ins[0])
    require(
        "cast_storage/rank", p.stype != "csr" or not shape or len(shape) == 2,
        f"csr storage is for arrays with 2 axes, the shape is {shape}",
    )
    return [shape], [shape]


# --- loops --------------------------------------------------------------------------------------


def count_nonzero(dense, counts, rows, width):
    """counts[r] = how many elements of row r differ from zero (NaN does, -0.0 does not)."""
    for r in items(rows):
        found = 0
        for c in range(width):
            if dense[r * width + c] != 0:
                found += 1
        counts[r] = found


def fill_csr(dense, values, indices, indptr, rows, width):
    for r in items(rows):
        at = indptr[r]
        for c in range(width):
            if dense[r * width + c] != 0:
                values[at] = dense[r * width + c]
                indices[at] = c
                at += 1


def spread_csr(values, indices, indptr, dense, rows, width):
    for r in items(rows):
        for c in range(width):
            dense[r * width + c] = 0
        for e in range(indptr[r], indptr[r + 1]):
            dense[r * width + indices[e]] = values[e]


def mark_rows(dense, marks, rows, width):
    """marks[r] = 1 where row r holds anything but zeros."""
    for r in items(rows):
        marks[r] = 0
        for c in range(width):
            if dense[r * width + c] != 0:
                marks[r] = 1


def gather_rows(values, places, out, n, width):
    """Row i of out is row places[i] of values, zeros where that is negative."""
    for i in items(n):
        if places[i] < 0:
            for c in range(width):
                out[i * width + c] = 0
        else:
            for c in range(width):
                out[i * width + c] = values[places[i] * width + c]


def scatter_rows(values, places, out, n, width):
    """Row places[i] of out becomes row i of values; no place comes twice."""
    for i in items(n):
        for c in range(width):
            out[places[i] * width + c] = values[i * width + c]


COUNT, MARK_ROWS = Loop(count_nonzero), Loop(mark_rows)
FILL_CSR, SPREAD_CSR = Loop(fill_csr), Loop(spread_csr)
GATHER_ROWS, SCATTER_ROWS = Loop(gather_rows), Loop(scatter_rows)

@decides("Sparse/exact")
def csr_of(dense):
    """(values, indices, indptr) of a dense matrix, columns in ascending order."""
    rows, width = dense.shape
    counts = allocate((rows,), INDEX, dense.device)
    COUNT(dense, counts, rows, width)
    indptr, stored = starts_of(counts, rows)
    values = allocate((stored,), dense.dtype, dense.device)
    indices = allocate((stored,), INDEX, dense.device)
    FILL_CSR(dense, values, indices, indptr, rows, width)
    return values, indices, indptr


@decides("Sparse/exact")
def rows_of(dense):
    """(values, indices) of the rows of a dense array that hold anything but zeros."""
    rows = dense.shape[0]
    width = dense.size // rows if rows else 0
    marks = allocate((rows,), INDEX, dense.device)
    MARK_ROWS(dense, marks, rows, width)
    starts, stored = starts_of(marks, rows)
    indices = allocate((stored,), INDEX, dense.device)
    LIST_MARKED(marks, starts, indices, rows)
    values = allocate((stored, *dense.shape[1:]), dense.dtype, dense.device)
    GATHER_ROWS(dense, indices, values, stored, width)
    return values, indices


# --- the operator -------------------------------------------------------------------------------


@decides("cast_storage/identity")
def forward(p, data, out):
    COPY(data, out, data.size)


def backward(p, head, d_data):
    if d_data is not None:
        COPY(head, d_data, head.size)


def cases(draw):
    stype = draw.choice(("default", "row_sparse", "csr"))
    return Case({"stype": stype}, {"data": draw.shape(2, 2) if stype == "csr" else draw.shape(1, 3)})


register(Op(
    name="cast_storage", doc=__doc__, params=Params, infer=infer, forward=forward, backward=backward,
    inplace=((0, 0),), inplace_backward=(("head", "data"),), aliases=("_sparse_cast_storage",), cases=cases,
    refusals={"cast_storage/rank": {"params": {"stype": "csr"}, "shapes": {"data": (2, 3, 4)}}},
    tier=1, numbered_input=True, gradient_rows="head",
))
