"""MLX: the gradient of expm1 is the result plus 1, which is 0 from -18 down.

MLX 0.32.4 with mlx-cpu 0.32.4 from PyPI, CPU. The slope of exp(x) - 1 is exp(x): 4.14e-8 at -17 and 1.52e-8 at -18.
Got: 5.96e-8 and 0. The result is -1 there to nearly all digits, and the sum of it and 1 has no digits left.
"""

import mlx.core as mx
import numpy as np

x = np.array([-17.0, -18.0, -1.0], np.float32)
got, right = np.array(mx.grad(lambda v: mx.sum(mx.expm1(v)))(mx.array(x))), np.exp(x.astype(np.float64))
print("got", got, "right", right)
assert (abs(got - right) <= 1e-5 * right).all()
