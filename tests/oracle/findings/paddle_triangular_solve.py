"""Paddle: the gradient of triangular_solve for the matrix is made of unwritten memory if the right side wants none.

Paddle 3.3.1 from PyPI, CPU, eager. With matrix a = [[2, 0], [1, 4]] and right side (1, 3) the solution is x = (1/2,
5/8). Its sum has the gradient [[-3/16, 0], [-1/8, -5/32]] for a: minus g x', where a' g = (1, 1), g = (3/8, 1/4).
Got: that, if the right side's gradient is computed too. If it is not, because the right side has stop_gradient=True,
as tensors have by default, or because paddle.grad is asked for a alone: other numbers at each call, up to 1e38.
TriangularSolveGradKernel (phi/kernels/impl/triangular_solve_grad_kernel_impl.h, in the installed headers) allocates
dy_bst with Empty, fills it in "if (dy)" only, and multiplies it with the solution for dx in any case. The file is not
of the CPU alone; GPUs were not tried.
"""

import numpy as np
import paddle

right = np.array([[-3 / 16, 0], [-1 / 8, -5 / 32]])
for fixed in [False] + 20 * [True]:
    a = paddle.to_tensor([[2.0, 0.0], [1.0, 4.0]], stop_gradient=False)
    b = paddle.to_tensor([[1.0], [3.0]], stop_gradient=fixed)
    paddle.linalg.triangular_solve(a, b, upper=False).sum().backward()
    got = a.grad.numpy()
    print(paddle.__version__, "stop_gradient of the right side", fixed, "got", got.tolist(), "right", right.tolist())
    assert np.allclose(got, right, rtol=1e-5, atol=0)
