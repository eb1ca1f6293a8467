"""Rows of elements put in order, as indices: equal elements keep their order, and NaN goes last.

data is (outer, side, inner); a row has the elements along side. order (outer, inner, side) holds indices.
"""

from ..foundation import Loop, items, scalar


@scalar
def goes_first(a, b, ascending):
    """Whether ``a`` goes before ``b``, whatever their old order."""
    return a == a and not b <= a if ascending else b == b and not a <= b


def sort_rows(data, order, merged, ascending):
    """Merge neighbouring sorted runs of 1, 2, 4 ... indices; of equals the left one goes first."""
    outer, inner, side = order.shape
    for n, j in items((outer, inner)):
        for i in range(side):
            order[n, j, i] = i
        width = 1
        while width < side:
            for first in range(0, side, 2 * width):
                middle, end = min(first + width, side), min(first + 2 * width, side)
                left, right = first, middle
                for at in range(first, end):
                    from_left = right >= end
                    if not from_left and left < middle:
                        from_left = not goes_first(
                            data[n, order[n, j, right], j], data[n, order[n, j, left], j], ascending
                        )
                    if from_left:
                        merged[n, j, at] = order[n, j, left]
                        left += 1
                    else:
                        merged[n, j, at] = order[n, j, right]
                        right += 1
            for at in range(side):
                order[n, j, at] = merged[n, j, at]
            width *= 2


def number(order):
    for n, j, i in items(order.shape):
        order[n, j, i] = i


def merge_runs(data, order, merged, width, ascending):
    """One step of sort_rows with one element per item, which counts the elements of the other run that go first."""
    for n, j, i in items(order.shape):
        start = i - i % (2 * width)
        middle, end = min(start + width, data.shape[1]), min(start + 2 * width, data.shape[1])
        key = data[n, order[n, j, i], j]
        is_left = i < middle
        low, high = (middle, end) if is_left else (start, middle)
        first = low
        while low < high:
            probe = (low + high) // 2
            other = data[n, order[n, j, probe], j]
            before = goes_first(other, key, ascending) if is_left else not goes_first(key, other, ascending)
            if before:
                low = probe + 1
            else:
                high = probe
        own = i - start if is_left else i - middle
        merged[n, j, start + own + low - first] = order[n, j, i]


SORT_ROWS, NUMBER, MERGE_RUNS = Loop(sort_rows), Loop(number), Loop(merge_runs)


def put_in_order(data, order, other, ascending):
    """Sort; returns the one of the int64 buffers ``order`` and ``other`` that holds every row's order."""
    if data.device == "cpu":
        SORT_ROWS(data, order, other, ascending)
        return order
    NUMBER(order)
    width = 1
    while width < data.shape[1]:
        MERGE_RUNS(data, order, other, width, ascending)
        order, other = other, order
        width *= 2
    return order
