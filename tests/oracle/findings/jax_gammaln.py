"""JAX: gammaln is right to an absolute, not to a relative error near its zeros 1 and 2."""

import math

import jax
import numpy as np

x = np.array([2.001, 0.999, 3.5], np.float32)
got = np.array(jax.scipy.special.gammaln(x), np.float64)
right = np.array([math.lgamma(float(value)) for value in x])
print(jax.__version__, "got", got, "right", right)
assert (abs(got - right) <= 32 * 2.0**-23 * abs(right)).all()
