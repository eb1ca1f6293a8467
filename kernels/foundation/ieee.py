"""The functions of ``math`` as machine code has them: they return NaN or infinity where Python's own raise."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

_IEEE: dict[Any, Any] = {
    getattr(math, name): getattr(np, known_as)
    for name, known_as in {
        **{n: n for n in ("sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "hypot", "fmod")},
        **{n: n for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
        **{f"a{n}": f"arc{n}" for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
        "pow": "float_power", "copysign": "copysign",
    }.items()
}


def _gamma(x: float) -> np.float64:
    """``math.gamma``: infinity beyond the largest double and at 0, NaN at its other poles."""
    try:
        return np.float64(math.gamma(x))
    except OverflowError:
        return np.float64(math.copysign(math.inf, x))
    except ValueError:
        return np.float64(math.copysign(math.inf, x) if x == 0 else math.nan)


def _lgamma(x: float) -> np.float64:
    """``math.lgamma``: infinity at its poles and where no double is as large."""
    try:
        return np.float64(math.lgamma(x))
    except (OverflowError, ValueError):
        return np.float64(math.inf)


_IEEE[math.gamma], _IEEE[math.lgamma] = _gamma, _lgamma
_MATH = SimpleNamespace(**{
    name: _IEEE.get(value, value) if callable(value) else value for name, value in vars(math).items()
})


def for_python(value: Any) -> Any:
    """Return what plain Python gets for a global: ``math`` with functions that raise no exceptions."""
    if value is math:
        return _MATH
    return _IEEE.get(value, value) if type(value) is type(math.sqrt) else value
