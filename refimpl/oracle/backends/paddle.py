"""Paddle: levels 1 and 2, whose gradients are those of ``paddle.grad``, and level 5.

    refimpl oracle check 'refimpl.oracle.backends.paddle:on(device="gpu")' --level 2

Run it where Paddle is: ``isolate("refimpl.oracle.backends.paddle:backend", python=...)``, or in process.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import paddle

from .decorators import Arrays
from .describing import described
from .optimizing import Life, WithOptimizers
from .paddle_operators import RULES, XP
from .passes import Answer, Evaluate, Heads, Run, alone


class _Runner:
    """Runs passes by ``paddle.grad`` on a device."""

    def __init__(self, device: str) -> None:
        self.device = device

    def given(self, arrays: Arrays, *, fixed: bool) -> dict[str, Any]:
        """Arrays on the device."""
        return {
            name: paddle.to_tensor(value, place=self.device, stop_gradient=fixed) for name, value in arrays.items()
        }

    def __call__(self, evaluate: Evaluate) -> Run:
        """See ``passes``."""
        def run(wanted: Arrays, fixed: Arrays, heads: Heads | None) -> Answer:
            inputs = self.given(wanted, fixed=False)
            outputs = evaluate({**inputs, **self.given(fixed, fixed=True)})
            # paddle.grad has no gradient for an output that is itself an input
            outputs = [out * 1 if out.is_leaf and not out.stop_gradient else out for out in outputs]
            shown = [out.numpy() for out in outputs]
            pairs = [
                (out, paddle.ones_like(out) if head is None else paddle.to_tensor(head, place=self.device))
                for out, head in zip(outputs, heads or [None] * len(outputs), strict=True) if not out.stop_gradient
            ]
            if heads is None or not pairs:
                return shown, {}
            found = paddle.grad(
                [out for out, _ in pairs], list(inputs.values()), [head for _, head in pairs], allow_unused=True
            )
            return shown, {name: slope.numpy() for name, slope in zip(wanted, found, strict=True) if slope is not None}

        return run


class _Paddle:
    """Paddle's functions for level 5; its optimizers are not used."""

    xp = XP

    def __init__(self, device: str) -> None:
        self.device = device

    def array(self, value: np.ndarray) -> Any:
        """An array on the device."""
        return paddle.to_tensor(value, place=self.device)

    @staticmethod
    def numpy(value: Any) -> np.ndarray:
        """An array of NumPy."""
        return np.asarray(value.numpy())

    @staticmethod
    def own(rule: str, given: dict[str, Any], life: Life) -> None:
        """None: the formulas are used."""


def on(device: str = "cpu", dtypes: tuple[str, ...] = ("float32",)) -> WithOptimizers:
    """Paddle on a device, one operation at a time.

    Args:
        device: a device of ``paddle.device``; also one that a plugin registers.
        dtypes: the floating types that are drawn: of float16, float32 and float64.
    """
    paddle.device.set_device(device)
    graphs = alone(RULES, _Runner(device), dtypes=dtypes)
    return described(WithOptimizers(graphs, _Paddle(device)), f"Paddle {paddle.__version__} on {device}")


def backend() -> WithOptimizers:
    """What ``--oracle-backend=refimpl.oracle.backends.paddle:backend`` finds: Paddle on the CPU."""
    return on()
