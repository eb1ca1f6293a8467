"""PyTorch: the gradient of softsign is a difference of two quotients, 0 for large numbers."""

import numpy as np
import torch

x = np.array([1e8, 1e4, 2.0], np.float32)
t = torch.from_numpy(x).requires_grad_()
torch.nn.functional.softsign(t).sum().backward()
got, right = t.grad.numpy().astype(np.float64), 1 / (1 + abs(x.astype(np.float64))) ** 2
print(torch.__version__, "got", got, "right", right)
assert (abs(got - right) <= 8 * 2.0**-24 * right).all()
