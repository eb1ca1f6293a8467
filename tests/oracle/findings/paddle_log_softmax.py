"""Paddle: log_softmax and softmax cut the distance from the largest element off at -64, in float64 too.

Paddle 3.3.1 from PyPI, CPU. The text of paddle.nn.functional.log_softmax gives log(exp(x_j) / sum(exp(x))), so that
of 0 and -100 it is 0 and -100 to all digits of float32. Got: 0 and -64, whatever stands in the place of -100; with
float64, which has exp(-100) = 3.7e-44, softmax gives 1.6e-28. The gradient is right. The kernel on the CPU clips the
shifted elements with the functor ValueClip (phi/kernels/funcs/softmax_impl.h, threshold -64), which the installed
headers have for softmax; that log_softmax has its own copy is assumed, as it gives the same numbers.
"""

import numpy as np
import paddle

x = np.array([0.0, -100.0])
log, soft = (paddle.nn.functional.log_softmax, paddle.nn.functional.softmax)
got = np.array([log(paddle.to_tensor(x.astype(np.float32)))[1], log(paddle.to_tensor(x))[1]], np.float64)
print(paddle.__version__, "log_softmax", got, "right", -100, "softmax", float(soft(paddle.to_tensor(x))[1]))
assert (abs(got + 100) < 1e-4).all()
