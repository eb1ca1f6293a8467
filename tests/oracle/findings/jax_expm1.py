"""JAX: the gradient of expm1 is its result plus 1, which cancels for negative numbers."""

import jax
import numpy as np

x = np.array([-17.0, -5.0, -1.0], np.float32)
got = np.array(jax.vmap(jax.grad(jax.numpy.expm1))(x), np.float64)
right = np.exp(x.astype(np.float64))
print(jax.__version__, "got", got, "right", right)
assert (abs(got - right) <= 8 * 2.0**-24 * right).all()
