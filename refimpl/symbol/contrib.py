"""mx.sym.contrib: functions on symbols that are written with other operators."""

from __future__ import annotations

import math

from ..ndarray.contrib import expected_count
from . import random
from .symbol import Symbol


def rand_zipfian(true_classes: Symbol, num_sampled: int, range_max: int) -> tuple[Symbol, Symbol, Symbol]:
    """``mx.nd.contrib.rand_zipfian`` as a graph: classes drawn, expected counts of the true ones and of these."""
    drawn = random.uniform(0, math.log(range_max + 1), shape=(num_sampled,), dtype="float64")
    classes = (drawn.exp() - 1).astype("int64") % range_max
    given = expected_count(true_classes, num_sampled, range_max)
    return classes, given, expected_count(classes, num_sampled, range_max)


__all__ = ["rand_zipfian"]
