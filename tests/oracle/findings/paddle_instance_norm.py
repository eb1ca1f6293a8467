"""Paddle: if the weight or the bias of instance_norm wants no gradient, the other one gets none.

Paddle 3.3.1 from PyPI, CPU, eager. The gradient of sum(w * n + b) for b is the number of elements of a channel, here
4, whatever w is. Got: 4 if w has stop_gradient=False. If it has stop_gradient=True, b.grad stays None. The
gradient of w is lost in the same way where b has stop_gradient=True. So if one of the two is frozen, the other does
not learn. (If x has stop_gradient=True, as an input has, backward() raises "The X@GRAD can't be nullptr".)
"""

import numpy as np
import paddle

x = paddle.to_tensor(np.arange(8.0, dtype=np.float32).reshape(1, 2, 4), stop_gradient=False)
for fixed in (False, True):
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=fixed)
    b = paddle.to_tensor([3.0, 4.0], stop_gradient=False)
    paddle.nn.functional.instance_norm(x, weight=w, bias=b).sum().backward()
    print(paddle.__version__, "stop_gradient of the weight", fixed, "gradient of the bias", b.grad)
    assert b.grad is not None and np.allclose(b.grad.numpy(), 4)
