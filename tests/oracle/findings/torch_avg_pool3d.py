"""PyTorch: avg_pool3d compares its kernel with the input without the pad; avg_pool2d and max_pool3d do not."""

import numpy as np
import torch

x = torch.from_numpy(np.ones((1, 1, 2, 2, 2), np.float32))
print(torch.__version__, torch.nn.functional.max_pool3d(x, 3, 1, 1).shape)
print(torch.nn.functional.avg_pool2d(x[0], 3, 1, 1).shape)
try:
    got = torch.nn.functional.avg_pool3d(x, 3, 1, 1)
except RuntimeError as error:
    raise AssertionError(error) from error
assert np.allclose(got.numpy(), 8 / 27)
