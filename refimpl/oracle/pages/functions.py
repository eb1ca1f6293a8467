"""The functions of ``math`` as loops call them: each compiled alone, for loops that run as Python beside machine code.

A loop that runs as Python computes sums, products and quotients as machine code does, but NumPy's ``exp`` and its like
differ from the compiled ones by a few units in the last place. With the compiled ones it has the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba

from ...kernels.foundation.ieee import FUNCTIONS, namespace, precision, typed


def _compiled(function: Callable) -> Callable:
    """A function of ``math`` as machine code, for floats of one precision."""
    machine_code = numba.njit(error_model="numpy")(lambda *args: function(*args))  # noqa: PLW0108  # no text of its own
    return lambda *args: precision(*args)(machine_code(*map(precision(*args), args)))


COMPILED = FUNCTIONS if numba.config.DISABLE_JIT else {function: _compiled(function) for function in FUNCTIONS}
"""The functions whose results are rounded; compiled for a precision at their first call."""
_MATH = namespace(COMPILED)


def given_compiled(value: Any) -> Any:
    """What a loop that runs as Python gets for a global, with compiled functions of ``math``."""
    if value is math:
        return _MATH
    return COMPILED.get(value, value) if type(value) is type(math.sqrt) else typed(value)
