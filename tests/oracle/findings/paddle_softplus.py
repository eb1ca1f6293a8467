"""Paddle: softplus is 0 from -17 down, and loses digits before.

Paddle 3.3.1 from PyPI, CPU. paddle.nn.functional.softplus is log(1 + exp(x)), so 4.14e-8 at -17 and 4.5398899e-5 at
-10, numbers that float32 holds with seven digits. Got: 0 at -17 and 4.5420e-5 at -10. The functor SoftplusFunctor
(phi/kernels/funcs/activation_functor.h) computes log of 1 + exp(x), a sum that has no digits left of a small second
term; log1p keeps them all.
"""

import numpy as np
import paddle

x = np.array([-17.0, -10.0], np.float32)
got = paddle.nn.functional.softplus(paddle.to_tensor(x)).numpy()
right = np.log1p(np.exp(x.astype(np.float64)))
print(paddle.__version__, "x", x, "got", got, "right", right)
assert (abs(got - right) <= 1e-5 * right).all()
