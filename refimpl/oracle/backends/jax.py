"""JAX on the CPU: levels 1 and 2, whose gradients are those of ``jax.vjp``, and level 5.

Run it where JAX is: ``isolate("refimpl.oracle.backends.jax:backend", python=...)``, or in process. Every program is
compiled, which takes a quarter of a second; one operation at a time takes three times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .decorators import Arrays, Symbol, executor_backend
from .describing import described
from .jax_operators import RULES
from .optimizing import Life, WithOptimizers

STYLES = ("dyadic", "smooth", "normal", "tied", "wide", "onehot")
"""Not "special": gradients at NaN are MXNet's own (unary/nan, Activation/relu-nan, clip/gradient)."""


def _runner(compiled: Callable[..., Any]) -> Any:
    """Levels 1 and 2 by ``jax.vjp``. ``compiled`` is ``jax.jit``, or leaves a function as it is."""
    def functions_of(symbol: Symbol) -> tuple[Callable[..., Any], Callable[..., Any]]:
        def outputs_of(wanted: Any, fixed: Any) -> list[Any]:
            return symbol.evaluate({**fixed, **wanted}, lambda node, inputs: RULES[node.op](node.p, *inputs))

        def with_slopes(wanted: Any, fixed: Any, heads: Any) -> tuple[list[Any], Any]:
            outputs, pull = jax.vjp(lambda given: outputs_of(given, fixed), wanted)
            ones = [jnp.ones_like(out) if head is None else head for out, head in zip(outputs, heads, strict=True)]
            return outputs, pull(ones)[0]

        return compiled(outputs_of), compiled(with_slopes)

    last: list[Any] = []  # the passes of one program are compiled once, as long as their shapes stay

    def run(
        symbol: Symbol, args: Arrays, aux: Arrays, grads_in: Arrays, grad_req: dict[str, str], head_grads: Any,
        is_train: bool,
    ) -> tuple[list[np.ndarray], Arrays, Arrays]:
        if not last or last[0] is not symbol:
            last[:] = symbol, functions_of(symbol)
        outputs_of, with_slopes = last[1]
        wanted = {name: jnp.asarray(args[name]) for name in grads_in}
        fixed = {name: jnp.asarray(value) for name, value in {**args, **aux}.items() if name not in grads_in}
        if head_grads is None:
            return [np.asarray(out) for out in outputs_of(wanted, fixed)], {}, aux
        heads = [None if head is None else jnp.asarray(head) for head in head_grads]
        outputs, found = with_slopes(wanted, fixed, heads)
        slopes = {name: np.asarray(slope) for name, slope in found.items()}
        gradients = {n: grads_in[n] + slope if grad_req[n] == "add" else slope for n, slope in slopes.items()}
        return [np.asarray(out) for out in outputs], gradients, aux

    return executor_backend(operators=RULES, styles=STYLES)(run)


class _Jax:
    """JAX's functions for level 5; it has no optimizers of its own."""

    xp = jnp
    array = staticmethod(jnp.asarray)

    @staticmethod
    def own(rule: str, given: dict[str, Any], life: Life) -> None:
        """None: the formulas are used."""


backend = described(WithOptimizers(_runner(jax.jit), _Jax()), f"JAX {jax.__version__}")
"""What ``--oracle-backend=refimpl.oracle.backends.jax:backend`` finds: each program is compiled as a whole."""
eager = described(
    WithOptimizers(_runner(lambda function: function), _Jax()), f"JAX {jax.__version__}, one operation at a time"
)
"""``--oracle-backend=refimpl.oracle.backends.jax:eager``: each operation is compiled alone, which takes longer."""
