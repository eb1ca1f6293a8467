"""MLX: levels 1 and 2, whose gradients are those of ``mx.vjp``, and level 5.

    refimpl oracle check 'refimpl.oracle.backends.mlx:on(device="gpu")' --level 2

Run it where MLX is: ``isolate("refimpl.oracle.backends.mlx:backend", python=...)``, or in process. On Linux it needs
the package ``mlx-cpu`` beside ``mlx``.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import mlx.core as mx
import numpy as np

from .decorators import Arrays
from .describing import described
from .mlx_operators import RULES
from .optimizing import Life, WithOptimizers
from .passes import Answer, Evaluate, Heads, Packed, Run, alone


class _Runner:
    """Runs passes by ``mx.vjp`` on a device; ``compiled`` is ``mx.compile``, or leaves a function as it is."""

    def __init__(self, device: Any, compiled: Any) -> None:
        self.device, self.compiled = device, compiled

    def __call__(self, evaluate: Evaluate) -> Run:
        """See ``passes``."""
        functions: dict[bool, Any] = {}

        def run(wanted: Arrays, fixed: Arrays, heads: Heads | None) -> Answer:
            names, count = [*wanted, *fixed], len(wanted)

            def outputs_of(*values: Any) -> list[Any]:
                # an output that is itself a stop_gradient takes its head gradient away from the next output
                return [out + mx.zeros_like(out) for out in evaluate(dict(zip(names, values, strict=True)))]

            def with_slopes(*values: Any) -> list[Any]:
                given, cotangents = values[: len(names)], values[len(names) :]
                outputs, slopes = mx.vjp(
                    lambda *some: outputs_of(*some, *given[count:]), list(given[:count]), list(cotangents)
                )
                return [*outputs, *slopes]

            with mx.stream(self.device):
                inputs = [mx.array(value) for value in (*wanted.values(), *fixed.values())]
                if heads is None or not wanted:
                    function = functions.setdefault(False, self.compiled(outputs_of))
                    return [np.array(out) for out in function(*inputs)], {}
                ones = [np.ones(1, np.float32) if head is None else head for head in heads]
                if any(head is None for head in heads):
                    shapes = [out.shape for out in outputs_of(*inputs)]
                    ones = [np.broadcast_to(head, shape) for head, shape in zip(ones, shapes, strict=True)]
                function = functions.setdefault(True, self.compiled(with_slopes))
                found = [np.array(each) for each in function(*inputs, *(mx.array(head) for head in ones))]
            return found[: len(heads)], dict(zip(wanted, found[len(heads) :], strict=True))

        return run


class _MLX:
    """MLX's functions for level 5; its optimizers are not used."""

    xp = mx

    @staticmethod
    def array(value: np.ndarray) -> Any:
        """An array of MLX."""
        return mx.array(value)

    @staticmethod
    def numpy(value: Any) -> np.ndarray:
        """An array of NumPy."""
        return np.array(value)

    @staticmethod
    def own(rule: str, given: dict[str, Any], life: Life) -> None:
        """None: the formulas are used."""


def on(
    device: str = "cpu", compiled: bool = False, dtypes: tuple[str, ...] = ("float32",), pack: int = 8,
) -> WithOptimizers:
    """MLX on a device, one operation at a time or compiled.

    Args:
        device: "cpu" or "gpu".
        compiled: whether ``mx.compile`` compiles forward and backward passes of levels 1 and 2.
        dtypes: the floating types that are drawn: of float16 and float32, and float64 on the CPU.
        pack: how many programs are compiled as one function.

    Raises:
        AttributeError: MLX has no such device.
    """
    place = mx.Device(getattr(mx, device))
    runner = _Runner(place, mx.compile if compiled else lambda function: function)
    graphs = Packed(RULES, runner, pack, dtypes=dtypes) if compiled else alone(RULES, runner, dtypes=dtypes)
    text = f"MLX {version('mlx')} on {device}" + (", compiled" if compiled else "")
    return described(WithOptimizers(graphs, _MLX()), text)


def backend() -> WithOptimizers:
    """What ``--oracle-backend=refimpl.oracle.backends.mlx:backend`` finds: one operation at a time, on the CPU."""
    return on()
