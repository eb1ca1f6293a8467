"""The class of a row, and the random numbers that rows compute with."""

import collections

import numpy as np

FLOAT = 4  # bytes of a float32

Row = collections.namedtuple("Row", "group name family numbers threads")
Row.__doc__ = """One line of a table: its family makes a :class:`Case` of its numbers; peers get so many threads."""

Case = collections.namedtuple("Case", "mx torch")
Case.__doc__ = """How to make a row's :class:`Work` of ``mx`` (this library or MXNet) and of ``torch``, or None."""

Work = collections.namedtuple("Work", "step flops bytes items value", defaults=(0, 0, 1, None))
Work.__doc__ = """What is timed.

``step()`` does it once. ``flops`` and ``bytes`` are the least that it must compute and move, 0 where nobody knows.
A time is divided by ``items`` (nodes, keys). Where ``value`` is given, the row is what ``value()`` returns instead.
"""


def row(group, name, family, /, threads=1, **numbers):
    """A row; its numbers are the arguments of its family."""
    return Row(group, name, family, numbers, threads)


def at_most(value, most):
    """The same numbers, none larger than ``most``, so that a test can run every row."""
    if isinstance(value, tuple):
        return tuple(at_most(each, most) for each in value)
    return min(value, most) if isinstance(value, int) and most else value


def case_of(row, most=0):
    """Make the case of a row, in small if ``most`` is given."""
    return row.family(**{name: at_most(value, most) for name, value in row.numbers.items()})


class Uniform:
    """Random numbers of a shape."""

    def __init__(self, *shape, low=-1.0):
        self.shape, self.low = shape, low
        self.constant = False  # has a gradient

    def draw(self, random):
        """The numbers as MXNet takes them."""
        return random.uniform(self.low, 1.0, self.shape).astype(np.float32)

    def tensor(self, torch, random):
        """The same numbers as PyTorch takes them."""
        return torch.from_numpy(self.draw(random)).requires_grad_()


class Below:
    """Whole numbers from 0 to ``bound`` - 1, without gradient: float32 for MXNet, int64 for PyTorch."""

    def __init__(self, bound, *shape):
        self.bound, self.shape = bound, shape
        self.constant = True

    def draw(self, random):
        """The numbers as MXNet takes them."""
        return random.randint(0, self.bound, self.shape).astype(np.float32)

    def tensor(self, torch, random):
        """The same numbers as PyTorch takes them."""
        return torch.from_numpy(self.draw(random)).long()
