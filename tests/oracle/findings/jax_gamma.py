"""JAX: gamma is the exponential of gammaln, whose rounding grows with it: relative error 1e-5."""

import math

import jax
import numpy as np

x = np.array([12.6, 20.3, 34.2], np.float32)
got = np.array(jax.scipy.special.gamma(x), np.float64)
right = np.array([math.gamma(float(value)) for value in x])
print(jax.__version__, "got", got, "right", right, "units of 2**-24", abs(got - right) / right * 2**24)
assert (abs(got - right) <= 32 * 2.0**-24 * right).all()
