"""PyTorch: sinh and cosh of float32 arrays are infinite from 88.73 on, where they are finite up to 89.41."""

import numpy as np
import torch

x = np.full(96, 89, np.float32)  # of a single number both are right: other code computes them
for name in ("sinh", "cosh"):
    got, right = getattr(torch, name)(torch.from_numpy(x)).numpy(), getattr(np, name)(x.astype(np.float64))
    print(torch.__version__, name, "got", got[0], "right", right[0], torch.backends.cpu.get_cpu_capability())
    assert (abs(got - right) <= 8 * 2.0**-24 * right).all()
