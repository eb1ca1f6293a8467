"""The gradient of a convolution loses elements of its input where the padding is larger than the kernel less one.

Found in MLX 0.21.1 for the CPU; there in 0.30.0 still, corrected in 0.32.4. A gradient has its argument's shape
(``mlx.core.vjp``: "the vector-Jacobian product").
Expected: three numbers, a kernel of one number, which is 1, and a padding of 1 give the gradient 1, 1, 1.
Got: a gradient of shape (1, 1, 1) for an input of shape (1, 3, 1).
"""

import mlx.core as mx
import numpy as np

x, weight = mx.ones((1, 3, 1)), mx.ones((1, 1, 1))


def convolve(x):
    return mx.conv1d(x, weight, padding=1)


head = mx.ones(convolve(x).shape)
_, (gradient,) = mx.vjp(convolve, [x], [head])
print("got shape", gradient.shape, "expected", x.shape)
assert np.array_equal(np.array(gradient), np.ones((1, 3, 1)))
