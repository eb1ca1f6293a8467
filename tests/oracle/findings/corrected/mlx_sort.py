"""The gradient of sort goes to the wrong elements: it is gathered by the permutation and not scattered.

Found in MLX 0.21.1 for the CPU; there in 0.30.0 still, corrected in 0.32.4. ``mlx.core.sort`` returns "a sorted copy of
the array", so element i of the result is element ``argsort(x)[i]`` of x, whose gradient is head i.
Expected: x = 3, 1, 2 and heads 10, 20, 30 give 30, 10, 20. Got: 20, 30, 10.
"""

import mlx.core as mx
import numpy as np

x, head = np.array([3, 1, 2], np.float32), np.array([10, 20, 30], np.float32)
expected = np.zeros_like(x)
expected[np.argsort(x)] = head
_, (gradient,) = mx.vjp(mx.sort, [mx.array(x)], [mx.array(head)])
print("got", np.array(gradient), "expected", expected)
assert (np.array(gradient) == expected).all()
