"""MLX: vjp gives the cotangent of an output made by stop_gradient to the next output.

MLX 0.32.4 with mlx-cpu 0.32.4 from PyPI, CPU. Its text says that the cotangents are "the same in number, shape, and
type as the outputs". For the outputs stop_gradient(x), 2x and 3x with cotangents 100, 1 and 1 the product is
0 * 100 + 2 * 1 + 3 * 1 = 5. Got: 203, which is 2 * 100 + 3 * 1: each output after the stopped one has the cotangent of
its neighbour before. With the stopped output in the middle it is 302, at the end 5. A constant output does no harm. If
the shapes differ, ValueError says that a cotangent has the wrong shape.
"""

import mlx.core as mx
import numpy as np

x, ones = mx.array([1.0]), mx.array([1.0])
heads = [mx.array([100.0]), ones, ones]
got = np.array(mx.vjp(lambda v: [mx.stop_gradient(v), 2 * v, 3 * v], [x], heads)[1][0])
print("got", got, "right 5")
assert np.array_equal(got, [5.0])
