"""The lab on SVRG: gradients without their noise."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ...oracle.drawing.draws import Draw
from .lab import Lab, Law, demand

STUB = '''
"""Stochastic variance reduced gradient.

{rules}

In this lab numbers are exact: weights and gradients are lists of fractions.Fraction. A problem is a function
gradient(weights, rows): the gradient of half the squared errors of a line, summed over rows, a list of row numbers.
Ask for the gradient of each batch once at the weights and once at the snapshot, and divide by the number of its rows.
"""

from fractions import Fraction


def full_gradient(gradient, weights, batches, batch_size):
    """The mean: the gradient of every row at some weights, for a batch of batch_size rows.

    Args:
        gradient: gradient(weights, rows), see above.
        weights: where.
        batches: a list of (rows, pad): row numbers, and how many of the last of them only fill up the batch.
        batch_size: rows of a batch.

    Returns:
        sum * batch_size / number of rows, a list as long as weights.
    """
    raise NotImplementedError("write this function")


def corrected(new, old, mean, rows, batch_size):
    """The gradient of a batch of so many rows: at the weights, less at the snapshot, plus its part of the mean.

    >>> corrected([5], [3], [Fraction(4)], 1, 2)
    [Fraction(4, 1)]
    """
    raise NotImplementedError("write this function")


def train(gradient, weights, batches, batch_size, rate, epochs, update_freq):
    """Train from weights, which stay as they are; the weights after each epoch, a list of lists.

    Each epoch makes a step for each batch: weights - rate * corrected gradient / rows of the batch.
    """
    raise NotImplementedError("write this function")
'''

Row = tuple[list[Fraction], Fraction]


def slope(weights: Sequence[Fraction], rows: Sequence[Row]) -> list[Fraction]:
    """The gradient of half the squared errors of a linear model, summed over rows."""
    errors = [sum(w * x for w, x in zip(weights, row, strict=True)) - target for row, target in rows]
    pairs = list(zip(errors, rows, strict=True))
    return [sum((error * row[j] for error, (row, _) in pairs), Fraction()) for j in range(len(weights))]


def svrg(
    rows: list[Row], batches: list[list[Row]], weights: Sequence[int | Fraction], rate: Fraction, epochs: int,
    frequency: int = 1,
) -> list[list[Fraction]]:
    """R. Johnson and T. Zhang (2013), figure 1, the weights after each epoch; the last iterate is the next snapshot."""
    now, seen = [Fraction(weight) for weight in weights], []
    snapshot, mean = now, [Fraction()] * len(now)
    for epoch in range(epochs):
        if epoch % frequency == 0:
            snapshot = now
            mean = [total / len(rows) for total in slope(snapshot, rows)]
        for batch in batches:
            pairs = zip(slope(now, batch), slope(snapshot, batch), mean, strict=True)
            step = [(new - old) / len(batch) + each for new, old, each in pairs]
            now = [weight - rate * each for weight, each in zip(now, step, strict=True)]
        seen.append(now)
    return seen


class Problem:
    """Rows of a line, their batches, and ``gradient(weights, rows)``."""

    def __init__(self, draw: Draw, *, padded: bool = True, sizes: bool = False) -> None:
        count = draw.integer(1, 4)
        self.rows: list[Row] = [
            ([Fraction(draw.integer(-2, 2)), Fraction(1)], Fraction(draw.integer(-2, 2))) for _ in range(count)
        ]
        self.size = draw.integer(1, 3)
        numbers, self.batches = list(range(count)), list[tuple[list[int], int]]()
        for begin in range(0, count, self.size):
            part = numbers[begin : begin + self.size]
            pad = 0 if sizes else self.size - len(part)
            self.batches.append((part + [(begin + len(part) + i) % count for i in range(pad)], pad))
        if not padded and any(pad for _, pad in self.batches):
            self.batches = [(batch[: len(batch) - pad], 0) for batch, pad in self.batches]
        self.weights = [Fraction(draw.integer(-2, 2)) for _ in range(2)]

    def __call__(self, weights: Sequence[Fraction], rows: Sequence[int]) -> list[Fraction]:
        """The gradient, summed over rows."""
        return slope(weights, [self.rows[row] for row in rows])

    def __repr__(self) -> str:
        rows = [([str(x) for x in row], str(target)) for row, target in self.rows]
        return f"gradient of rows {rows}".replace("'", "")


def _words(numbers: Any) -> str:
    return str([[str(x) for x in one] if isinstance(one, list) else str(one) for one in numbers]).replace("'", "")


def _same(got: Any, expected: Any) -> None:
    right = isinstance(got, (list, tuple)) and list(got) == list(expected)
    demand(right, _words(expected), _words(got) if isinstance(got, (list, tuple)) else got)


def _full(student: Any, draw: Draw) -> None:
    problem = Problem(draw)
    expected = [total * problem.size / len(problem.rows) for total in slope(problem.weights, problem.rows)]
    _same(student.full_gradient(problem, problem.weights, problem.batches, problem.size), expected)


def _step(student: Any, draw: Draw) -> None:
    new, old, mean = ([Fraction(draw.integer(-4, 4)) for _ in range(2)] for _ in range(3))
    rows = draw.integer(1, 4)
    _same(student.corrected(new, old, mean, rows, rows), [n - o + m for n, o, m in zip(new, old, mean, strict=True)])


def _small_batch(student: Any, draw: Draw) -> None:
    new, old, mean = ([Fraction(draw.integer(-4, 4)) for _ in range(2)] for _ in range(3))
    rows, size = draw.integer(1, 4), draw.integer(1, 4)
    expected = [n - o + m * rows / size for n, o, m in zip(new, old, mean, strict=True)]
    _same(student.corrected(new, old, mean, rows, size), expected)


def _trained(student: Any, draw: Draw, frequency: int, *, padded: bool = True) -> None:
    problem, rate, epochs = Problem(draw, padded=padded), Fraction(1, 8), draw.integer(1, 4)
    batches = [[problem.rows[row] for row in batch] for batch, _ in problem.batches]
    expected = svrg(problem.rows, batches, problem.weights, rate, epochs, frequency)
    given = list(problem.weights)
    got = student.train(problem, problem.weights, problem.batches, problem.size, rate, epochs, frequency)
    _same(got, expected)
    demand(problem.weights == given, f"the caller's weights, still {_words(given)}", _words(problem.weights))


LAB = Lab(
    name="svrg", title="Steps that do not tremble", chapter="spec/reference/training/svrg.md",
    task="""
The gradient of a batch is the gradient of the whole data plus noise. SVRG takes the noise off: it asks for the gradient
of each batch twice, at the weights and at a snapshot of them, and adds the mean gradient of the whole data at the
snapshot. Write the three functions; numbers are fractions, so what is equal is equal exactly.
""",
    stub=STUB,
    answers=frozenset({"SVRGModule", "svrg_optimization"}),
    words={
        "SVRG/full-gradient": "The mean is the sum of the gradient over all rows, starting from zero, times the batch"
        " size, divided by the number of rows. Rows that only fill up the last batch are left out.",
        "SVRG/step": "The gradient of a step is that of the batch at the weights, less that at the snapshot, plus the"
        " mean.",
        "SVRG/batch-size": "The mean belongs to a batch of the full size. A smaller batch adds its part of it, so"
        " that it takes a smaller step.",
        "SVRG/fit": "train takes a new snapshot, and its mean, at the beginning of each epoch whose number is a"
        " multiple of update_freq, the first one included.",
    },
    laws=(
        Law(_full, "SVRG/full-gradient"), Law(_step, "SVRG/step", 40), Law(_small_batch, "SVRG/batch-size", 60),
        Law(lambda student, draw: _trained(student, draw, 1), "SVRG/step"),
        Law(lambda student, draw: _trained(student, draw, draw.integer(2, 3)), "SVRG/fit"),
    ),
)
"""The lab."""
