"""TensorFlow: levels 1 and 2, whose gradients are those of ``tf.GradientTape``, and level 5.

    refimpl oracle check 'refimpl.oracle.backends.tensorflow:on(mode="xla")' --level 2

Run it where TensorFlow is: ``isolate("refimpl.oracle.backends.tensorflow:backend", python=...)``, or in process.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from .decorators import Arrays
from .describing import described
from .optimizing import Life, WithOptimizers
from .passes import Answer, Evaluate, Heads, Packed, Run, alone
from .tensorflow_operators import RULES, XP

MODES = {
    "eager": lambda function: function, "function": lambda function: tf.function(function, autograph=False),
    "xla": lambda function: tf.function(function, autograph=False, jit_compile=True),
}
"""How functions run: one operation at a time, as a graph of TensorFlow's own, or compiled by XLA."""


class _Runner:
    """Runs passes by ``tf.GradientTape`` on a device; ``compiled`` is one of MODES."""

    def __init__(self, device: str, compiled: Any) -> None:
        self.device, self.compiled = device, compiled

    def __call__(self, evaluate: Evaluate) -> Run:
        """See ``passes``."""
        def outputs_of(wanted: Any, fixed: Any) -> list[Any]:
            return [tf.identity(out) for out in evaluate({**fixed, **wanted})]

        def with_slopes(wanted: Any, fixed: Any, heads: Any) -> tuple[list[Any], Any]:
            with tf.GradientTape() as tape:
                tape.watch(wanted)
                outputs = outputs_of(wanted, fixed)
            ones = [tf.ones_like(out) if head is None else head for out, head in zip(outputs, heads, strict=True)]
            slopes = tape.gradient(outputs, wanted, ones)
            return outputs, {name: slope for name, slope in slopes.items() if slope is not None}

        forward, both = self.compiled(outputs_of), self.compiled(with_slopes)

        def run(wanted: Arrays, fixed: Arrays, heads: Heads | None) -> Answer:
            with tf.device(self.device):
                inputs = [{name: tf.constant(value) for name, value in part.items()} for part in (wanted, fixed)]
                given = [None if head is None else tf.constant(head) for head in heads or ()]
                outputs, slopes = (forward(*inputs), {}) if heads is None else both(*inputs, given)
            return [out.numpy() for out in outputs], {
                name: tf.convert_to_tensor(slope).numpy() for name, slope in slopes.items()
            }

        return run


class _TensorFlow:
    """TensorFlow's functions for level 5; the optimizers of Keras are not used."""

    xp = XP
    array = staticmethod(tf.constant)
    numpy = staticmethod(np.asarray)

    @staticmethod
    def own(rule: str, given: dict[str, Any], life: Life) -> None:
        """None: the formulas are used."""


def on(
    mode: str = "eager", device: str = "/CPU:0", dtypes: tuple[str, ...] = ("float32",), pack: int = 8,
) -> WithOptimizers:
    """TensorFlow on a device.

    Args:
        mode: "eager" for one operation at a time, "function" for ``tf.function``, "xla" for XLA's compiler.
        device: a device of ``tf.device``; also one that a plugin registers.
        dtypes: the floating types that are drawn: of float16, float32 and float64.
        pack: how many programs are compiled as one function.

    Raises:
        ValueError: there is no such mode.
    """
    if mode not in MODES:
        raise ValueError(f"mode {mode!r} is none of {', '.join(MODES)}")
    runner = _Runner(device, MODES[mode])
    graphs = alone(RULES, runner, dtypes=dtypes) if mode == "eager" else Packed(RULES, runner, pack, dtypes=dtypes)
    return described(WithOptimizers(graphs, _TensorFlow()), f"TensorFlow {tf.__version__}, {mode}, on {device}")


def backend() -> WithOptimizers:
    """What ``--oracle-backend=refimpl.oracle.backends.tensorflow:backend`` finds: one operation at a time."""
    return on()
