"""Paddle: the gradient of expm1 and of elu is the result plus 1, which is 0 from -18 down.

Paddle 3.3.1 from PyPI, CPU. The slope of exp(x) - 1 is exp(x): 4.14e-8 at -17 and 1.52e-8 at -18. Got: 5.96e-8 and 0.
The result is -1 there to nearly all digits, and the sum of it and 1 has no digits left; exp(x) would keep them. elu
gives the same numbers, so that it seems to add its alpha to the result in the same way.
"""

import numpy as np
import paddle

values = np.array([-17.0, -18.0, -1.0], np.float32)
right = np.exp(values.astype(np.float64))
wrong = []
for function in (paddle.expm1, paddle.nn.functional.elu):
    x = paddle.to_tensor(values, stop_gradient=False)
    got = paddle.grad(function(x).sum(), x)[0].numpy()
    print(paddle.__version__, function.__name__, "got", got, "right", right)
    wrong += list(abs(got - right) > 1e-5 * right)
assert not any(wrong)
