"""PyTorch: the gradient of hypot multiplies its head by x before it divides by the result, and overflows."""

import numpy as np
import torch

x, head = np.array([3e7, 3.0], np.float32), np.array([-1.5e37, -1.5e37], np.float32)
t = torch.from_numpy(x).requires_grad_()
torch.hypot(t, torch.tensor(0.75)).backward(torch.from_numpy(head))
got, wide = t.grad.numpy().astype(np.float64), x.astype(np.float64)
right = head * (wide / np.hypot(wide, 0.75))
print(torch.__version__, "got", got, "right", right)
assert (abs(got - right) <= 8 * 2.0**-24 * abs(right)).all()
