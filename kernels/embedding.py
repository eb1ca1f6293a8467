"""Embedding, take, pick, one_hot: elements chosen by an array of indices.

[indexing/whole-numbers] indices may be of any type; a fraction is cut off towards zero, so -0.5 is index 0.

[Embedding/clip] out[i] = weight[data[i]]; an index below 0 counts as 0, one past the end as the last row.
    >>> run("Embedding", [0, 1.7, -1, 9], [[1, 2], [3, 4], [5, 6]], input_dim=3, output_dim=2)
    [[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [5.0, 6.0]]

[Embedding/weight-shape] weight is (input_dim, output_dim); an unknown weight is inferred, any other refused.

[Embedding/type] the output has the type of weight, which is dtype where nothing else is known.

[Embedding/gradient] d_weight[row] is the sum of the heads of all places that read the row, added in order.
    >>> grad("Embedding", [2, 0, 2], [[0], [0], [0]], input_dim=3, output_dim=1, head=[[1], [10], [100]])
    (None, [[10.0], [0.0], [101.0]])

[Embedding/data-gradient] the gradient of data cannot be asked for.

[take/axis] the indices of one axis of a are chosen; the axes of indices take its place.
    >>> run("take", [[1, 2, 3], [4, 5, 6]], [1, 0])
    [[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]
    >>> run("take", [[1, 2, 3], [4, 5, 6]], [[2, 0]], axis=1)
    [[[3.0, 1.0]], [[6.0, 4.0]]]

[take/mode] outside indices count as the nearest one (clip), or modulo the side (wrap).
    >>> run("take", [1, 2, 3], [-1, 4]), run("take", [1, 2, 3], [-1, 4], mode="wrap")
    ([1.0, 3.0], [3.0, 2.0])

[take/raise] with mode="raise" indices outside 0 .. side - 1 are refused when the operator runs.

[take/gradient] each element of a takes the sum of the heads that read it; indices take none.
    >>> grad("take", [1, 2, 3], [2, 0, 2], head=[1, 10, 100])
    ([10.0, 0.0, 101.0], [0.0, 0.0, 0.0])

[pick/axis] one element along axis for each index; the index array lacks the axis, or has one element there.
    With keepdims the result keeps the axis.
    >>> run("pick", [[1, 2, 3], [4, 5, 6]], [0, 2])
    [1.0, 6.0]
    >>> run("pick", [[1, 2, 3], [4, 5, 6]], [[0, 1, 1]], axis=0, keepdims=True)
    [[1.0, 5.0, 6.0]]

[pick/mode] clip and wrap are those of take.
    >>> run("pick", [[1, 2, 3]], [4]), run("pick", [[1, 2, 3]], [4], mode="wrap")
    ([3.0], [2.0])

[pick/gradient] the chosen elements take the heads, all others zero; index takes none.
    >>> grad("pick", [[1, 2, 3]], [1], head=[5])
    ([[0.0, 5.0, 0.0]], [0.0])

[one_hot/row] each index becomes a row of depth numbers, on_value at the index and off_value elsewhere;
    an index outside the row leaves it all off. The type is dtype.
    >>> run("one_hot", [1, 3, -1], depth=3)
    [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    >>> run("one_hot", [[1]], depth=2, on_value=5, off_value=-1, dtype="int32")
    [[[-1.0, 5.0]]]
"""

from math import prod
from typing import Annotated, Literal, NamedTuple

import numpy as np

from .foundation import (
    AtLeast,
    Case,
    Loop,
    Op,
    items,
    known,
    merge,
    normal_axis,
    register,
    require,
    scratch,
)
from .foundation.loops import clipped, outer_side_inner, truncated, wrapped, zero

DataType = Literal[
    "float32", "float64", "float16", "bfloat16", "int8", "uint8", "int32", "int64", "bool"
]
