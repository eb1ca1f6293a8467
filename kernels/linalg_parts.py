"""_linalg_extractdiag, _linalg_makediag, _linalg_extracttrian, _linalg_maketrian: diagonals and triangles of square
matrices as vectors, and back.

[linalg_parts/diagonal] offset picks the diagonal: 0 the main one, 1 that above, -1 that below it.
    >>> run("_linalg_extractdiag", [[0, 1, 2], [3, 4, 5], [6, 7, 8]], offset=1)
    [1.0, 5.0]
    >>> run("_linalg_makediag", [1, 2], offset=-1)
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]

[linalg_parts/triangle] with offset 0 the lower triangle, or with lower=False the upper one, diagonal included. A
    negative offset means the triangle below that diagonal, a positive one that above, whatever lower says. A lower
    triangle is laid out row by row, an upper one column by column.
    >>> a = [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    >>> run("_linalg_extracttrian", a), run("_linalg_extracttrian", a, offset=-1)
    ([0.0, 3.0, 4.0, 6.0, 7.0, 8.0], [3.0, 6.0, 7.0])
    >>> run("_linalg_extracttrian", a, lower=False), run("_linalg_extracttrian", a, offset=2)
    ([0.0, 1.0, 4.0, 2.0, 5.0, 8.0], [2.0])
    >>> run("_linalg_maketrian", [1, 2, 3]), run("_linalg_maketrian", [1], offset=1)
    ([[1.0, 0.0], [2.0, 3.0]], [[0.0, 1.0], [0.0, 0.0]])

[linalg_parts/offset] extracting a diagonal outside the matrix is refused.

[linalg_parts/length] a triangle has 0, 1, 3, 6, 10 ... numbers; a vector of another length is refused. One without
    numbers makes a matrix of zeros, whose sides are those that offset leaves: |offset|.
    >>> run("_linalg_makediag", [], offset=1), run("_linalg_maketrian", [])
    ([[0.0]], [])

[linalg_parts/gradient] the gradient of extracting puts the head back, among zeros, where the numbers were; that of
    making extracts the numbers of the head.
    >>> grad("_linalg_extractdiag", [[0, 1], [2, 3]], head=[5, 7])
    [[5.0, 0.0], [0.0, 7.0]]
    >>> grad("_linalg_maketrian", [1, 2, 3], head=[[1, 2], [3, 4]])
    [1.0, 3.0, 4.0]
"""

from math import isqrt
from typing import NamedTuple

from .foundation import UNKNOWN, Case, Loop, Op, Sources, items, merge, register, require, scalar, told
from .shared.linalg import batch, infer_type, rows_of, square


class Diagonal(NamedTuple):
    offset: int = 0


class Triangle(NamedTuple):
    offset: int = 0
    lower: bool = True


# --- shapes -------------------------------------------------------------------------------------


def length_of(p, side):
    """Numbers on a diagonal or in a triangle of a matrix with this side."""
    inner = side - abs(p.offset)
    require(
        "linalg_parts/offset", not told(side) or inner >= 0,
        f"offset {p.offset} lies outside a matrix with sides of {side}",
    )
    return inner if isinstance(p, Diagonal) else inner * (inner + 1) // 2


def side_of(p, length):
    """The side of the matrix whose diagonal or triangle has this length."""
    if not told(length):
        return UNKNOWN
    inner = length if isinstance(p, Diagonal) else (isqrt(8 * length + 1) - 1) // 2
    require(
        "linalg_parts/length", isinstance(p, Diagonal) or inner * (inner + 1) // 2 == length,
        f"{length} numbers fill no triangle; {inner * (inner + 1) // 2} or {(inner + 1) * (inner + 2) // 2} would",
    )
    return inner + abs(p.offset)


def joined(p, matrix, vector):
    """Both shapes, each telling the other."""
    matrix = square("A", matrix)
    require("linalg/rank", vector is None or len(vector) >= 1, "a vector has an axis")
    if vector is not None:
        side = side_of(p, vector[-1])
        matrix = square("A", merge("linalg/shape", "A", matrix, (*vector[:-1], side, side)))
    if matrix is not None:
        vector = merge("linalg/shape", "vector", vector, (*matrix[:-2], length_of(p, matrix[-1])))
    return matrix, vector


def infer_extract(p, ins, outs):
    matrix, vector = joined(p, ins[0], outs[0])
    require(
        "linalg_parts/offset", vector is None or vector[-1] != 0,
        f"offset {p.offset} leaves nothing of a matrix with sides of {matrix and matrix[-1]}",
    )
    return [matrix], [vector]


def infer_make(p, ins, outs):
    matrix, vector = joined(p, outs[0], ins[0])
    return [vector], [matrix]


# --- loops --------------------------------------------------------------------------------------


@scalar
def triangle_index(i, j, offset, lower):
    """The index of element (i, j) in the vector of a triangle, -1 outside the triangle.

    A lower triangle is stored row by row, an upper one column by column.
    """
    below = i + offset if offset < 0 else i
    right = j - offset if offset > 0 else j
    if lower:
        return below * (below + 1) // 2 + j if j <= below else -1
    return right * (right + 1) // 2 + i if i <= right else -1


class Part(NamedTuple):
    """A diagonal, or a triangle of matrices; ``lower`` says which triangle, and means nothing for a diagonal."""

    offset: int
    lower: int


def take_diagonal(matrix, vector, part: Part):
    for g, k in items(vector.shape):
        vector[g, k] = matrix[g, k + max(-part.offset, 0), k + max(part.offset, 0)]


def put_diagonal(vector, matrix, part: Part):
    for g, i, j in items(matrix.shape):
        matrix[g, i, j] = vector[g, min(i, j)] if j - i == part.offset else 0


def take_triangle(matrix, vector, part: Part):
    for g, i, j in items(matrix.shape):
        k = triangle_index(i, j, part.offset, part.lower)
        if k >= 0:
            vector[g, k] = matrix[g, i, j]


def put_triangle(vector, matrix, part: Part):
    for g, i, j in items(matrix.shape):
        k = triangle_index(i, j, part.offset, part.lower)
        matrix[g, i, j] = vector[g, k] if k >= 0 else 0


TAKE = {Diagonal: Loop(take_diagonal), Triangle: Loop(take_triangle)}
PUT = {Diagonal: Loop(put_diagonal), Triangle: Loop(put_triangle)}


# --- the operators ------------------------------------------------------------------------------


def part_of(p):
    return Part(p.offset, int(p.offset < 0 if isinstance(p, Diagonal) or p.offset else p.lower))


def take(p, matrix, vector):
    if vector is not None:
        TAKE[type(p)](batch(matrix), rows_of(vector), part_of(p))


def put(p, vector, matrix):
    if matrix is not None:
        PUT[type(p)](rows_of(vector), batch(matrix), part_of(p))


def cases_extract(draw):
    leading, n = draw.shape(0, 2, 2), draw.integer(1, 4)
    return Case({"offset": draw.integer(1 - n, n - 1)}, {"A": (*leading, n, n)})


def cases_make(draw):
    return Case({"offset": draw.integer(-2, 2)}, {"A": (*draw.shape(0, 2, 2), draw.integer(1, 3))})


def with_lower(cases):
    def wider(draw):
        case = cases(draw)
        return case._replace(params={**case.params, "lower": draw.boolean()})

    return wider


def cases_triangle(draw):
    return Case({"offset": draw.integer(-2, 2)}, {"A": (*draw.shape(0, 2, 2), draw.choice((1, 3, 6)))})


OUTSIDE = {"linalg_parts/offset": {"params": {"offset": 3}, "shapes": {"A": (3, 3)}}}
for name, params, cases in (("diag", Diagonal, cases_extract), ("trian", Triangle, with_lower(cases_extract))):
    register(Op(
        name=f"_linalg_extract{name}", doc=__doc__, params=params, inputs=("A",), infer=infer_extract,
        infer_type=infer_type, forward=take, backward=put, aliases=(f"linalg_extract{name}",), cases=cases,
        refusals={**OUTSIDE, "linalg/square": {"params": {}, "shapes": {"A": (2, 3)}}},
        tier=2, reports=Sources(),
    ))
for name, params, cases, refusals in (
    ("diag", Diagonal, cases_make, {}),
    (
        "trian", Triangle, with_lower(cases_triangle),
        {"linalg_parts/length": {"params": {}, "shapes": {"A": (4,)}}},
    ),
):
    register(Op(
        name=f"_linalg_make{name}", doc=__doc__, params=params, inputs=("A",), infer=infer_make,
        infer_type=infer_type, forward=put, backward=take, aliases=(f"linalg_make{name}",), cases=cases,
        refusals=refusals,
        tier=2, reports=Sources(),
    ))
