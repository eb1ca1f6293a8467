"""erfinv: the inverse of the error function.

[erfinv/value] y with erf(y) = x, to the last digits of float64; infinite at -1 and 1, NaN outside and for NaN.
    >>> run("erfinv", [0, 0.5, -0.5, 0.999999, 1e-20]), run("erfinv", [1, -1, 1.5, float("nan")])
    ([0.0, 0.476936, -0.476936, 3.457075, 0.0], [inf, -inf, nan, nan])

[erfinv/slope] the slope is exp(y^2) sqrt(pi) / 2; infinite where y is.
    >>> grad("erfinv", [0, 0.5, 1])
    [0.886227, 1.112585, inf]
"""

import math

import numpy as np

from .foundation import decides, scalar
from .unary import OUT, register_unary

HALF_ROOT_PI = math.sqrt(math.pi) / 2.0


@scalar
def erfinv(x):
    """A guess that is right to 0.2 %, then three steps of Halley's method, each of which triples the digits."""
    y = np.float64(x)
    size = abs(y)
    if not size < 1:
        return math.inf * y if size == 1 else math.nan
    bend = math.log((1.0 - size) * (1.0 + size))
    half = 2.0 / (math.pi * 0.147) + 0.5 * bend
    root = math.sqrt(math.sqrt(half * half - bend / 0.147) - half)
    for _ in range(3):
        # near 1 the error function has no digits left, its complement has all of them
        over = (1.0 - size) - math.erfc(root) if size > 0.5 else math.erf(root) - size
        step = over * HALF_ROOT_PI * math.exp(root * root)
        root = root - step / (1.0 + root * step)
    return math.copysign(root, y)


@scalar
@decides("erfinv/slope")
def erfinv_slope(y):
    return HALF_ROOT_PI * math.exp(np.float64(y) * y)


register_unary(__doc__, "erfinv", erfinv, erfinv_slope, OUT, (), "unit", 2)
