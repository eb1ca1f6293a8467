"""Functions of ``math`` that return the results of IEEE 754 where Python raises."""

from __future__ import annotations

import math
from collections.abc import Callable


def plain(function: Callable[..., float], *at: float) -> float:
    """IEEE 754's result where Python raises."""
    try:
        return function(*at)
    except OverflowError:
        return math.copysign(math.inf, at[0]) if function is math.sinh else math.inf
    except ValueError:
        poles = {math.log: -math.inf, math.log2: -math.inf, math.log10: -math.inf, math.lgamma: math.inf}
        if at[0] == 0 and function in poles:
            return poles[function]
        if function is math.pow:
            return math.nan if at[0] else math.inf
        if function is math.log1p and at[0] == -1:
            return -math.inf
        if function is math.gamma and at[0] == 0:
            return math.copysign(math.inf, at[0])
        if function is math.lgamma:
            return math.inf
        return math.nan
