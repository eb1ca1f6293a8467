"""Paddle: the gradient of prod is NaN where an element is zero.

Paddle 3.3.1 from PyPI, CPU. The slope of a product along one element is the product of the others: of 0, 2 and 3 the
gradient is 6, 0, 0. Got: NaN, 0, 0, and with the zeros of 0, 0, 3 NaN twice. The functor ProdGradFunctor
(phi/kernels/funcs/reduce_functor.h) multiplies the head by the result and by 1 / x, which is 0 * infinity. The text of
paddle.prod does not leave zeros out. A zero in a product is ordinary, such as a mask.
"""

import numpy as np
import paddle

for values, right in (([0.0, 2.0, 3.0], [6.0, 0.0, 0.0]), ([0.0, 0.0, 3.0], [0.0, 0.0, 0.0])):
    x = paddle.to_tensor(values, stop_gradient=False)
    got = paddle.grad(paddle.prod(x), x)[0].numpy()
    print(paddle.__version__, "x", values, "got", got, "right", right)
    assert np.array_equal(got, right)
