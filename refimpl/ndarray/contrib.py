"""mx.nd.contrib: the operators ``_contrib_...``, and functions that are written with other operators."""

from __future__ import annotations

import math
from typing import Any

import refimpl.ndarray.contrib_operators as contrib_operators  # noqa: PLR0402  # what pyright reads in __all__

from ..base import decides
from ..context import current_context
from ..op_registry import known
from . import random
from .contrib_operators import *  # noqa: F403  # the operators ``_contrib_...``
from .contrib_updates import (
    adamw_update,
    mp_adamw_update,
    multi_adamw_update,
    multi_lamb_update,
    multi_mp_adamw_update,
    multi_mp_lamb_update,
)
from .loops import boolean_mask, cond, foreach, isfinite, isinf, isnan, while_loop
from .ndarray import NDArray


def expected_count(classes: Any, num_sampled: int, range_max: int) -> Any:
    """The expected number of times that each of ``classes`` comes in ``num_sampled`` draws of :func:`rand_zipfian`."""
    wide = classes.astype("float64")
    return ((wide + 2.0) / (wide + 1.0)).log() / math.log(range_max + 1) * num_sampled


@decides("random/zipfian")
def rand_zipfian(
    true_classes: NDArray, num_sampled: int, range_max: int, ctx: Any = None
) -> tuple[NDArray, NDArray, NDArray]:
    """Draw candidate classes for a sampled softmax: class c comes with probability ln((c+2)/(c+1)) / ln(range_max+1).

    ``range_max`` is the number of classes, ``ctx`` the context to draw on (default the current context).
    Returns the ``num_sampled`` drawn classes (int64, repetitions included), and the expected number of times that each
    of ``true_classes``, and each drawn class, comes among them (float64).
    """
    ctx = current_context() if ctx is None else ctx
    drawn = random.uniform(0, math.log(range_max + 1), shape=(num_sampled,), dtype="float64", ctx=ctx)
    classes = (drawn.exp() - 1).astype("int64") % range_max
    given = expected_count(true_classes.as_in_context(ctx), num_sampled, range_max)
    return classes, given, expected_count(classes, num_sampled, range_max)


globals()["__getattr__"] = known.attributes(__name__, "_contrib_")

__all__ = [
    "adamw_update", "boolean_mask", "cond", "foreach", "isfinite", "isinf", "isnan", "mp_adamw_update",
    "multi_adamw_update", "multi_lamb_update", "multi_mp_adamw_update", "multi_mp_lamb_update", "rand_zipfian",
    "while_loop",
]
__all__ += contrib_operators.__all__
