"""JAX on the CPU: levels 1 and 2, whose gradients are those of ``jax.vjp``, and level 5.

Run it where JAX is: ``isolate("refimpl.oracle.backends.jax", python=...)``, or in process. Every new shape is compiled,
so programs are slow.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .common import Rule, rules, shape_after, softmax_rule, windows
from .decorators import Arrays, Symbol, executor_backend
from .describing import described
from .optimizing import Life, WithOptimizers
from .protocol import Unsupported

STYLES = ("dyadic", "smooth", "normal", "tied", "wide", "onehot")
"""Not "special": gradients at NaN are MXNet's own (unary/nan, Activation/relu-nan, clip/gradient)."""


class _Names:
    """NumPy's names, and those that ``common`` adds."""

    stop = staticmethod(lax.stop_gradient)
    cast = staticmethod(lambda x, like: x.astype(like.dtype))
    whole = staticmethod(lambda x: lax.stop_gradient(x).astype(jnp.int32))
    ahead = staticmethod(jnp.take_along_axis)
    double = None  # unless JAX is told to have them
    amax, amin, sigmoid = staticmethod(jnp.max), staticmethod(jnp.min), staticmethod(jax.nn.sigmoid)

    def __getattr__(self, name: str) -> Any:
        return getattr(jnp, name)


def _convolution(p: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    stride, dilate, pad = windows(p, name="Convolution")
    made = lax.conv_general_dilated(
        x, weight, stride, [(a, a) for a in pad], rhs_dilation=dilate, feature_group_count=p.num_group
    )
    return made if bias is None else made + bias.reshape((-1, *(1,) * len(p.kernel)))


def _pooling(p: Any, x: Any) -> Any:
    stride, _, pad = windows(p, name="Pooling")
    rank = len(x.shape) - 2
    if p.global_pool:
        kernel, stride, pad = tuple(x.shape[2:]), (1,) * rank, (0,) * rank
    elif p.pooling_convention != "valid" or p.pool_type not in ("max", "avg", "sum"):
        raise Unsupported(f"Pooling {p.pool_type} with convention {p.pooling_convention}")
    else:
        kernel = tuple(p.kernel)
    sides = (1, 1, *kernel), (1, 1, *stride), ((0, 0), (0, 0), *((a, a) for a in pad))
    if p.pool_type == "max":
        return lax.reduce_window(x, -jnp.inf, lax.max, *sides)
    if p.pool_type == "lp":
        raise Unsupported("Pooling lp")
    total = lax.reduce_window(x, 0.0, lax.add, *sides)
    if p.pool_type == "sum":
        return total
    if p.count_include_pad is False:
        return total / lax.reduce_window(jnp.ones_like(x), 0.0, lax.add, *sides)
    return total / int(np.prod(kernel))


def _leaky(p: Any, x: Any, gamma: Any = None) -> Any:
    runs = {
        "leaky": lambda: jnp.where(x > 0, x, p.slope * x), "selu": lambda: jax.nn.selu(x),
        "elu": lambda: jax.nn.elu(x, p.slope), "gelu": lambda: jax.nn.gelu(x, approximate=False),
    }
    if p.act_type not in runs:
        raise Unsupported(f"LeakyReLU {p.act_type}")
    return runs[p.act_type]()


def _layer_norm(p: Any, x: Any, gamma: Any, beta: Any) -> Any:
    if p.output_mean_var or p.axis % len(x.shape) != len(x.shape) - 1:
        raise Unsupported("LayerNorm along another axis than the last, or with its statistics")
    return jax.nn.standardize(x, axis=-1, epsilon=p.eps) * gamma + beta


def _cumsum(p: Any, x: Any) -> Any:
    if p.dtype is not None:
        raise Unsupported("_np_cumsum with dtype")
    return jnp.cumsum(x, p.axis)


ACTIVATIONS = {
    "relu": jax.nn.relu, "sigmoid": jax.nn.sigmoid, "tanh": jnp.tanh, "softsign": jax.nn.soft_sign,
    "softrelu": jax.nn.softplus,
}
XP = _Names()
RULES: dict[str, Rule] = {
    **rules(XP), "Convolution": _convolution, "Pooling": _pooling, "LeakyReLU": _leaky, "LayerNorm": _layer_norm,
    "softmax": softmax_rule(XP, jax.nn.softmax), "log_softmax": softmax_rule(XP, jax.nn.log_softmax),
    "softmin": softmax_rule(XP, jax.nn.softmax, -1), "Activation": lambda p, x: ACTIVATIONS[p.act_type](x),
    "abs": lambda p, x: x * lax.stop_gradient(jnp.sign(x)),  # JAX's own slope at 0 is 1
    "softsign": lambda p, x: jax.nn.soft_sign(x), "cbrt": lambda p, x: jnp.cbrt(x),
    "erf": lambda p, x: jax.scipy.special.erf(x), "_np_cumsum": _cumsum,
    "erfinv": lambda p, x: jax.scipy.special.erfinv(x), "gammaln": lambda p, x: jax.scipy.special.gammaln(x),
    "repeat": lambda p, x: jnp.repeat(x, p.repeats, p.axis), "_linalg_inverse": lambda p, x: jnp.linalg.inv(x),
    "argmax": lambda p, x: jnp.argmax(x, p.axis).astype(x.dtype).reshape(shape_after("argmax", p, x)),
    "argmin": lambda p, x: jnp.argmin(x, p.axis).astype(x.dtype).reshape(shape_after("argmin", p, x)),
    "_linalg_det": lambda p, x: jnp.linalg.det(x).reshape(shape_after("_linalg_det", p, x)),
}


@executor_backend(operators=RULES, styles=STYLES)
def _run(
    symbol: Symbol, args: Arrays, aux: Arrays, grads_in: Arrays, grad_req: dict[str, str], head_grads: Any,
    is_train: bool,
) -> tuple[list[np.ndarray], Arrays, Arrays]:
    """Levels 1 and 2 by ``jax.vjp``."""
    fixed = {name: jnp.asarray(value) for name, value in {**args, **aux}.items() if name not in grads_in}

    def outputs_of(wanted: dict[str, Any]) -> list[Any]:
        return symbol.evaluate({**fixed, **wanted}, lambda node, inputs: RULES[node.op](node.p, *inputs))

    wanted = {name: jnp.asarray(args[name]) for name in grads_in}
    if head_grads is None:
        return [np.asarray(out) for out in outputs_of(wanted)], {}, aux
    outputs, pull = jax.vjp(outputs_of, wanted)
    pairs = zip(outputs, head_grads, strict=True)
    found = pull([jnp.ones_like(out) if head is None else jnp.asarray(head) for out, head in pairs])[0]
    slopes = {name: np.asarray(slope) for name, slope in found.items()}
    gradients = {n: grads_in[n] + slope if grad_req[n] == "add" else slope for n, slope in slopes.items()}
    return [np.asarray(out) for out in outputs], gradients, aux


class _Jax:
    """JAX's functions for level 5; it has no optimizers of its own."""

    xp = jnp
    array = staticmethod(jnp.asarray)

    @staticmethod
    def own(rule: str, given: dict[str, Any], life: Life) -> None:
        """None: the formulas are used."""


backend = described(WithOptimizers(_run, _Jax()), f"JAX {jax.__version__}")
"""What ``--oracle-backend=refimpl.oracle.backends.jax`` finds."""
