"""The lab on slices: who gets which rows of a batch."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ...executor_manager import _split_input_slice
from ...oracle.drawing.draws import Draw
from .lab import Broken, Lab, Law, demand

STUB = '''
"""How a batch is cut between devices.

{rules}
"""


def split(batch_size, weights):
    """The slice of each device: a list of slice(begin, end), in the order of the devices.

    Args:
        batch_size: how many rows there are.
        weights: one number for each device, its share of the work.

    >>> split(8, [1, 3])
    [slice(0, 2, None), slice(2, 8, None)]
    >>> split(5, [1, 1])
    [slice(0, 2, None), slice(2, 5, None)]
    """
    raise NotImplementedError("write this function")
'''


def shares_of(rows: int, weights: list[int]) -> list[int]:
    """The exact share of each device."""
    return [round(Fraction(weight * rows, sum(weights))) for weight in weights]


def _case(draw: Draw) -> tuple[int, list[int], list[int]]:
    weights = [draw.integer(1, 5) for _ in range(draw.integer(1, 5))]
    rows = 1 + 4 * draw.integer(0, 9) + draw.integer(0, 3)  # in two choices, which become small one by one
    return rows, weights, shares_of(rows, weights)


def _refused(rows: int, weights: list[int]) -> type[Exception] | None:
    try:
        _split_input_slice(rows, weights)
    except (ValueError, IndexError, ZeroDivisionError) as error:
        return type(error)
    return None


def _half_to_even(student: Any, draw: Draw) -> None:
    """Two shares that end in a half, one above an even number and one above an odd one: no row is left over."""
    weights = draw.choice([[3, 1], [5, 3], [3, 5], [1, 3]])
    rows = sum(weights) // 2 * (2 * draw.integer(1, 6) + 1)
    expected, got = _split_input_slice(rows, weights), student.split(rows, weights)
    demand(got == expected, expected, got)


def _all_rows(student: Any, draw: Draw, difference: int) -> None:
    rows, weights, shares = _case(draw)
    sign = (sum(shares) > rows) - (sum(shares) < rows)
    if sign == difference and not _refused(rows, weights):
        expected, got = _split_input_slice(rows, weights), student.split(rows, weights)
        demand(got == expected, expected, got)


def partition(student: Any, draw: Draw) -> None:
    """Every row belongs to one device, in order; each but the last gets its rounded share or less; or ValueError."""
    rows, weights, shares = _case(draw)
    if 0 in shares or sum(shares[:-1]) >= rows:  # some device is owed nothing, or those before it take all
        return
    parts = student.split(rows, weights)
    covered = [row for part in parts for row in range(rows)[part]]
    demand(covered == list(range(rows)), f"all {rows} rows, in order", parts)
    ends = [end for part in parts for end in (part.start, part.stop)]
    demand(all(type(end) is int for end in ends), "ends that are ints", parts)
    for part, share in zip(parts[:-1], shares[:-1], strict=True):
        demand(part.stop - part.start <= share, f"at most {shares} rows", parts)


def refuses(student: Any, rows: int, weights: list[int], kind: type[Exception]) -> None:
    """The call raises an error of this type."""
    try:
        got = student.split(rows, weights)
    except kind:
        return
    raise Broken(f"{kind.__name__} raised", got)


def empty(student: Any, draw: Draw) -> None:
    """A device that would get no row is refused."""
    rows, weights, _ = _case(draw)
    if _refused(rows, weights):
        refuses(student, rows, weights, ValueError)


def zero_weights(student: Any, draw: Draw) -> None:
    """Weights of zero are refused."""
    refuses(student, draw.integer(1, 9), [0] * draw.integer(1, 3), ZeroDivisionError)


def no_device(student: Any, draw: Draw) -> None:
    """Without a device there is nothing to cut."""
    refuses(student, draw.integer(1, 9), [], IndexError)


LAB = Lab(
    name="slicing", title="Who gets which rows", chapter="spec/reference/running/slicing.md",
    task="""
Two devices train one net. Each batch has to be cut between them. Write the function that says which rows each device
gets. It is a few lines, and there are two traps: what becomes of a half, and what becomes of the rest.
""",
    stub=STUB,
    answers=frozenset({"_split_input_slice"}),
    words={
        "split/half-to-even": "The share of device i is round(weights[i] * batch_size / sum(weights)) rows. A half is"
        " rounded to the even neighbour, as Python's round does: 2.5 to 2, 3.5 to 4.",
        "split/shortfall": "Where the shares add up to fewer rows than the batch has, the last device gets the rest.",
        "split/excess": "Where the shares add up to more rows than the batch has, slices are laid out from the left"
        " and cut off at the end of the batch, so that the last devices get less than their shares.",
        "split/partition": "The slices follow each other without gap or overlap, in the order of the devices, from"
        " row 0 to the last row. Their ends are ints.",
        "split/empty": "A device that would get no row is refused with ValueError: there are more devices than rows,"
        " a share rounds to zero, the batch is empty, or the devices before the last have used it up.",
        "split/zero-weights": "Weights that add up to zero raise ZeroDivisionError.",
        "split/no-device": "An empty list of weights raises IndexError.",
    },
    laws=(
        Law(_half_to_even, "split/half-to-even", 30),
        Law(lambda student, draw: _all_rows(student, draw, -1), "split/shortfall"),
        Law(lambda student, draw: _all_rows(student, draw, 1), "split/excess", 200),
        Law(partition, "split/partition"),
        Law(empty, "split/empty"),
        Law(zero_weights, "split/zero-weights", 5),
        Law(no_device, "split/no-device", 5),
    ),
)
"""The lab."""
