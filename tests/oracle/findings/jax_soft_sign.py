"""JAX: the gradient of soft_sign is a difference of two quotients, 0 for large numbers."""

import jax
import numpy as np

x = np.array([1e8, 1e4, 2.0], np.float32)
got = np.array(jax.vmap(jax.grad(jax.nn.soft_sign))(x), np.float64)
right = 1 / (1 + abs(x.astype(np.float64))) ** 2
print(jax.__version__, "got", got, "right", right)
assert (abs(got - right) <= 8 * 2.0**-24 * right).all()
