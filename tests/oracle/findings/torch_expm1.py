"""PyTorch: the gradient of expm1 is its result plus 1, which cancels for negative numbers."""

import numpy as np
import torch

x = np.array([-17.0, -5.0, -1.0], np.float32)
t = torch.from_numpy(x).requires_grad_()
torch.expm1(t).sum().backward()
got, right = t.grad.numpy().astype(np.float64), np.exp(x.astype(np.float64))
print(torch.__version__, "got", got, "right", right)
assert (abs(got - right) <= 8 * 2.0**-24 * right).all()
