"""JAX on a platform: levels 1 and 2, whose gradients are those of ``jax.vjp``, and level 5.

    refimpl oracle check 'refimpl.oracle.backends.jax:on(platform="gpu")' --level 2

Run it where JAX is: ``isolate("refimpl.oracle.backends.jax:backend", python=...)``, or in process. Every program is
compiled, which takes a quarter of a second; one operation at a time takes three times as long.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .decorators import Arrays
from .describing import described
from .jax_operators import RULES
from .optimizing import Life, WithOptimizers
from .passes import Answer, Evaluate, Heads, Run, alone


class _Runner:
    """Runs passes by ``jax.vjp`` on a device; ``compiled`` is ``jax.jit``, or leaves a function as it is."""

    def __init__(self, device: Any, compiled: Any) -> None:
        self.device, self.compiled = device, compiled

    def __call__(self, evaluate: Evaluate) -> Run:
        """See ``passes``."""
        def outputs_of(wanted: Any, fixed: Any) -> list[Any]:
            return evaluate({**fixed, **wanted})

        def with_slopes(wanted: Any, fixed: Any, heads: Any) -> tuple[list[Any], Any]:
            outputs, pull = jax.vjp(lambda inputs: outputs_of(inputs, fixed), wanted)
            ones = [jnp.ones_like(out) if head is None else head for out, head in zip(outputs, heads, strict=True)]
            return outputs, pull(ones)[0]

        forward, both = self.compiled(outputs_of), self.compiled(with_slopes)

        def run(wanted: Arrays, fixed: Arrays, heads: Heads | None) -> Answer:
            with jax.default_device(self.device):
                outputs, slopes = (forward(wanted, fixed), {}) if heads is None else both(wanted, fixed, heads)
            return [np.asarray(out) for out in outputs], {name: np.asarray(slope) for name, slope in slopes.items()}

        return run


class _Jax:
    """JAX's functions for level 5; it has no optimizers of its own."""

    xp = jnp

    def __init__(self, device: Any) -> None:
        self.device = device

    def array(self, value: np.ndarray) -> jax.Array:
        """An array on the device."""
        return jax.device_put(value, self.device)

    @staticmethod
    def numpy(value: jax.Array) -> np.ndarray:
        """An array of NumPy."""
        return np.asarray(value)

    @staticmethod
    def own(rule: str, given: dict[str, Any], life: Life) -> None:
        """None: the formulas are used."""


def on(platform: str = "cpu", compiled: bool = True, dtypes: tuple[str, ...] = ("float32",)) -> WithOptimizers:
    """JAX on the first device of a platform, each program compiled as a whole, or one operation at a time.

    Args:
        platform: a platform of ``jax.devices``; also one that a plugin registers.
        compiled: whether ``jax.jit`` compiles forward and backward passes of levels 1 and 2.
        dtypes: the floating types that are drawn: of float16, float32 and float64.

    Raises:
        RuntimeError: JAX knows no such platform.
    """
    if "float64" in dtypes:
        jax.config.update("jax_enable_x64", True)  # JAX's own signature
    device = jax.devices(platform)[0]
    runner = _Runner(device, jax.jit if compiled else lambda function: function)
    version = f"JAX {jax.__version__} on {platform}" + ("" if compiled else ", one operation at a time")
    return described(WithOptimizers(alone(RULES, runner, dtypes=dtypes), _Jax(device)), version)


def backend() -> WithOptimizers:
    """What ``--oracle-backend=refimpl.oracle.backends.jax:backend`` finds: each program is compiled as a whole."""
    return on()


def eager() -> WithOptimizers:
    """``--oracle-backend=refimpl.oracle.backends.jax:eager``: each operation is compiled alone, which takes longer."""
    return on(compiled=False)
