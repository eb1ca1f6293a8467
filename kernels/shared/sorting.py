"""Rows of elements put in order, as indices: equal elements keep their order, and NaN goes last.

data is (outer, side, inner); a row has the elements along side. order (rows, side) holds indices.
"""

from ..foundation import Loop, items, scalar


@scalar
def goes_first(a, b, ascending):
    """Whether ``a`` stands before ``b`` wherever it was."""
    return a == a and not b <= a if ascending else b == b and not a <= b


def sort_rows(data, order, merged, rows, side, inner, ascending):
    """Merge neighbouring sorted runs of 1, 2, 4 ... indices; of equals the left one goes first."""
    for row in items(rows):
        base = (row // inner) * side * inner + row % inner
        start = row * side
        for i in range(side):
            order[start + i] = i
        width = 1
        while width < side:
            for first in range(0, side, 2 * width):
                middle, end = min(first + width, side), min(first + 2 * width, side)
                left, right = start + first, start + middle
                for at in range(start + first, start + end):
                    from_left = right >= start + end
                    if not from_left and left < start + middle:
                        from_left = not goes_first(
                            data[base + order[right] * inner], data[base + order[left] * inner], ascending
                        )
                    if from_left:
                        merged[at] = order[left]
                        left += 1
                    else:
                        merged[at] = order[right]
                        right += 1
            for at in range(start, start + side):
                order[at] = merged[at]
            width *= 2


def number(order, rows, side):
    for t in items(rows * side):
        order[t] = t % side


def merge_runs(data, order, merged, rows, side, inner, width, ascending):
    """One step of sort_rows with one element per item, which counts those of the other run that go first."""
    for t in items(rows * side):
        row = t // side
        place = t - row * side
        start = place // (2 * width) * (2 * width)
        middle, end = min(start + width, side), min(start + 2 * width, side)
        base = (row // inner) * side * inner + row % inner
        key = data[base + order[t] * inner]
        is_left = place < middle
        low, high = (middle, end) if is_left else (start, middle)
        first = low
        while low < high:
            probe = (low + high) // 2
            other = data[base + order[row * side + probe] * inner]
            before = goes_first(other, key, ascending) if is_left else not goes_first(key, other, ascending)
            if before:
                low = probe + 1
            else:
                high = probe
        own = place - start if is_left else place - middle
        merged[row * side + start + own + low - first] = order[t]


SORT_ROWS, NUMBER, MERGE_RUNS = Loop(sort_rows), Loop(number), Loop(merge_runs)


def put_in_order(data, order, other, rows, side, inner, ascending):
    """The one of the int64 buffers ``order`` and ``other``, as large as data, that then holds every row's order."""
    if data.device == "cpu":
        SORT_ROWS(data, order, other, rows, side, inner, ascending)
        return order
    NUMBER(order, rows, side)
    width = 1
    while width < side:
        MERGE_RUNS(data, order, other, rows, side, inner, width, ascending)
        order, other = other, order
        width *= 2
    return order
