"""Formulas of reductions, which make one total of many elements.

``combine(total, x)`` adds one element to a total, ``join(total, other)`` makes one total of two totals, and
``finish(total, count)`` computes the result from the total.
"""

import numpy as np

from ..foundation import scalar


@scalar
def add(total, x):
    return total + x


@scalar
def add_numbers(total, x):
    return total + x if x == x else total


@scalar
def multiply(total, x):
    return total * x


@scalar
def multiply_numbers(total, x):
    return total * x if x == x else total


@scalar
def multiply_others(total, x):
    return total * x if x != 0 else total


@scalar
def multiply_other_numbers(total, x):
    return total * x if x != 0 and x == x else total


@scalar
def count_zeros(total, x):
    return total + 1 if x == 0 else total


@scalar
def larger(total, x):
    return x if x > total or x != x else total


@scalar
def smaller(total, x):
    return x if x < total or x != x else total


@scalar
def as_it_is(total, count):
    return total


@scalar
def divided(total, count):
    return total / np.float64(count)  # none of 0 elements, in Python too
