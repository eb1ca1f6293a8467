"""JAX: sinh and cosh add log(0.5) to a large number before they take exp, which rounds it: relative error 1e-6."""

import jax.numpy as jnp
import numpy as np

x = np.array([38.7, 60.5, 88.2], np.float32)
for name in ("sinh", "cosh"):
    got = np.array(getattr(jnp, name)(x), np.float64)
    right = getattr(np, name)(x.astype(np.float64))
    print(name, "got", got, "right", right, "units of 2**-24", abs(got - right) / right * 2**24)
    assert (abs(got - right) <= 8 * 2.0**-24 * right).all()
