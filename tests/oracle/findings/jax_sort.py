"""JAX: sort(descending=True, stable=True) sends the gradients of equal numbers to others than argsort says."""

import jax
import jax.numpy as jnp
import numpy as np

x, head = jnp.array([1.0, 0.0, 0.0]), jnp.array([0.0, 1.0, 0.0])
order = np.array(jnp.argsort(x, descending=True, stable=True))
got, right = np.array(jax.vjp(lambda v: jnp.sort(v, descending=True, stable=True), x)[1](head)[0]), np.zeros(3)
right[order] = head
print(jax.__version__, "order", order, "got", got, "right", right)
assert (got == right).all()
