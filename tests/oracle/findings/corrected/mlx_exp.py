"""exp of float32 stops at 2^-80 and 2^80: beyond 55.5 its result does not change any more.

Found in MLX 0.21.1 for the CPU; corrected in 0.25.2. ``mlx.core.exp`` is "element-wise", and float32 holds
the exponentials of -87 to 88. sigmoid has the same fault, as it calls exp.
Expected: exp(60) = 1.142e26, exp(-60) = 8.757e-27. Got: 1.209e24, 8.272e-25.
"""

import mlx.core as mx
import numpy as np

x = np.array([60, -60], np.float32)
expected = np.exp(x.astype(np.float64))
got = np.array(mx.exp(mx.array(x)))
print("got", got, "expected", expected)
assert np.allclose(got, expected, rtol=1e-2, atol=0)
