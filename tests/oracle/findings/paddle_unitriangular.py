"""Paddle: the gradient of triangular_solve(unitriangular=True, upper=False) is not strictly lower triangular.

Paddle 3.3.1 from PyPI, CPU. By its text the diagonal of the matrix is "assumed to be 1 and not referenced", nor is the
upper triangle, so both have the gradient 0. With a = [[1, 0], [1/2, 1]] and right side (1, 3) the solution is (1, 5/2)
and the gradient of its sum [[0, 0], [-1, 0]]: only a21 counts, in x2 = 3 - a21. Got: [[-1/2, -5/4], [-1, -5/2]]. With
upper=True all is right. TriangularSolveGradKernel (phi/kernels/impl/triangular_solve_grad_kernel_impl.h) gives
"unitriangular", a 1, to TrilTriuCompute as the number of the diagonal; for a lower triangle it should be -1.
"""

import numpy as np
import paddle

a = paddle.to_tensor([[1.0, 0.0], [0.5, 1.0]], stop_gradient=False)
b = paddle.to_tensor([[1.0], [3.0]], stop_gradient=False)
solution = paddle.linalg.triangular_solve(a, b, upper=False, unitriangular=True)
got, right = paddle.grad(solution.sum(), [a, b])[0].numpy(), np.array([[0.0, 0.0], [-1.0, 0.0]])
print(paddle.__version__, "solution", solution.numpy().tolist(), "got", got.tolist(), "right", right.tolist())
assert np.allclose(got, right)
