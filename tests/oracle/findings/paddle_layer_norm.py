"""Paddle: if the weight of layer_norm wants no gradient, the gradient of the input is that of a weight of ones.

Paddle 3.3.1 from PyPI, CPU, eager. paddle.nn.functional.layer_norm multiplies by "the weight tensor of layer norm",
whether it is trained or not. With x = (1, 2, 4), weight (1, 2, 3) and the head (0, 0, 1), d = (0, 0, 3), n the
normalized x and s = 1 / standard deviation the gradient is s (d - mean(d) - n mean(d n)). Got: that, if the weight has
stop_gradient=False. If it has stop_gradient=True: the gradient for the weight (1, 1, 1), a third. The result of the
forward pass is right. So where layer norms are frozen, as in fine-tuning, all layers below get wrong gradients.
"""

import numpy as np
import paddle

values, weight, head = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0])
s, d = 1 / np.sqrt(values.var() + 1e-5), head * weight
n = (values - values.mean()) * s
right = s * (d - d.mean() - n * (d * n).mean())
for fixed in (False, True):
    x, w = (paddle.to_tensor(v.astype(np.float32), stop_gradient=f) for v, f in ((values, False), (weight, fixed)))
    (paddle.nn.functional.layer_norm(x.reshape([1, 3]), [3], w)[0] * paddle.to_tensor(head, "float32")).sum().backward()
    print(paddle.__version__, "stop_gradient of the weight", fixed, "got", x.grad.numpy(), "right", right)
    assert np.allclose(x.grad.numpy(), right, rtol=1e-3, atol=1e-4)
