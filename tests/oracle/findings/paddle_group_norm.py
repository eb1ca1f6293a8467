"""Paddle: the gradient of a weight of group_norm that is 0 is 0.

Paddle 3.3.1 from PyPI, CPU, eager. The gradient of sum(w * n + b) for w is the sum of the normalized input n over a
channel, whatever w is. With the values 1, 2 and 3, 5 of two groups of two channels it is (-1, 1, -1, 1). Got: that
for the weights (1, 1, 1, 1), and 0 for each weight that is 0; (0, 1, 0, 1) gives (0, 1, 0, 1). A weight that begins
with 0, as in residual blocks, thus stays 0. Assumed: the kernel takes n from the result, as (y - b) / w, and guards
the division; digits are lost, too, where b is large, as they would be.
"""

import numpy as np
import paddle

x = paddle.to_tensor(np.array([[[1.0], [2.0], [3.0], [5.0]]], np.float32))
for values in ([1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]):
    w, b = (paddle.to_tensor(v, stop_gradient=False) for v in (values, [0.0, 0.0, 0.0, 0.0]))
    paddle.nn.functional.group_norm(x, 2, 1e-5, w, b).sum().backward()
    print(paddle.__version__, "weight", values, "got", w.grad.numpy(), "right", [-1, 1, -1, 1])
    assert np.allclose(w.grad.numpy(), [-1, 1, -1, 1], atol=1e-3)
