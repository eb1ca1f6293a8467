"""The product with a matrix that every time of a recurrent layer multiplies by: it is brought into order once."""

from ..foundation import Loop, items
from ..tuned import packed


def keep(matrix, kept, k, m, row_step, step):
    """kept (k, m) row by row: element (t, j) of the matrix lies at t row_step + j step. A twin packs it."""
    for t in items(k):
        for j in range(m):
            kept[t * m + j] = matrix[t * row_step + j * step]


def by_kept(a, kept, out, n, m, k, row_step, step):
    """out (n, m) = a . kept, products added in increasing t below k; a[i, t] lies at i row_step + t step."""
    for i in items(n):
        for j in range(m):
            out[i * m + j] = 0
        for t in range(k):
            left = a[i * row_step + t * step]
            for j in range(m):
                out[i * m + j] += left * kept[t * m + j]


def by_kept_cuda(a, kept, out, n, m, k, row_step, step):
    """The same sums with one element per item."""
    for item in items(n * m):
        i, j = item // m, item % m
        out[item] = 0
        for t in range(k):
            out[item] += a[i * row_step + t * step] * kept[t * m + j]


KEEP = Loop(keep, tuned=packed.pack)
BY_KEPT = Loop(by_kept, cuda_function=by_kept_cuda, tuned=packed.product)


def room_for(k, m):
    """How many numbers a (k, m) matrix takes that is kept, packed or not."""
    return max(k * m, packed.size(k, m))
