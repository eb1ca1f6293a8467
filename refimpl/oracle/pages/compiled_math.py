"""The functions of ``math`` as loops call them: each compiled alone, for loops that run as Python beside machine code.

A loop that runs as Python computes sums, products and quotients as machine code does, but NumPy's ``exp`` and its like
differ from the compiled ones by a few units in the last place. With the compiled ones it has the same bits.
"""

from __future__ import annotations

from collections.abc import Callable

import numba

from ...kernels.foundation.ieee import FUNCTIONS, given, precision


def _compiled(function: Callable) -> Callable:
    """A function of ``math`` as machine code, for floats of one precision."""
    machine_code = numba.njit(error_model="numpy")(lambda *args: function(*args))  # noqa: PLW0108  # no text of its own
    return lambda *args: precision(*args)(machine_code(*map(precision(*args), args)))


COMPILED = FUNCTIONS if numba.config.DISABLE_JIT else {function: _compiled(function) for function in FUNCTIONS}
"""The functions whose results are rounded; compiled for a precision at their first call."""
given_compiled = given(COMPILED)
"""What a loop that runs as Python gets for a global, with compiled functions of ``math``."""
