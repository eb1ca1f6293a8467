"""Paddle: paddle.grad loses the share of an output that is itself an input.

Paddle 3.3.1 from PyPI, CPU, eager. By its text paddle.grad "computes the sum of gradients of outputs with respect to
each inputs". Of y and 3 y it is 1 + 3 = 4 for y. Got: 4 if y is a leaf, 3 if y is the result of an operation. For
the outputs z and -w the gradients of w and z are -1 and 1; got: -1, and None for z, although
paddle.grad([z], [z]) is 1.
"""

import numpy as np
import paddle

z, w = (paddle.to_tensor([1.0, 2.0], stop_gradient=False) for _ in range(2))
alone, other = paddle.grad([z], [z]), paddle.grad([z, -w], [w, z], allow_unused=True)
y = z * 2
leaf, result = paddle.grad([z, z * 3], [z])[0].numpy(), paddle.grad([y, y * 3], [y])[0].numpy()
print(paddle.__version__, "of z, -w:", other, "of z alone:", alone, "of y, 3y: leaf", leaf, "result", result, "right 4")
assert other[1] is not None and np.array_equal(result, leaf)
