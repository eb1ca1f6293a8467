"""Our operators in JAX: those whose parameters mean the same there. Pages may not import JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...kernels.reduce import reduced_axes
from .common import Rule, layer_norm_rule, pooling_sides, rules, shape_after, softmax_rule, windows
from .protocol import Unsupported


class _Names:
    """NumPy's names, and the further names of ``common``."""

    stop = staticmethod(lax.stop_gradient)
    cast = staticmethod(lambda x, like: x.astype(like.dtype))
    whole = staticmethod(lambda x: lax.stop_gradient(x).astype(jnp.int32))
    ahead = staticmethod(jnp.take_along_axis)
    taken = staticmethod(lambda x, rows, axis: x[(slice(None),) * axis + (rows,)])
    double = None  # unless JAX is told to have them
    abs = staticmethod(lambda x: x * lax.stop_gradient(jnp.sign(x)))  # JAX's own slope at 0 is 1
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
    kernel, stride, pad = pooling_sides(p, x)
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
    return jax.nn.standardize(x, axis=-1, epsilon=p.eps) * gamma + beta


def _cumsum(p: Any, x: Any) -> Any:
    if p.dtype is not None:
        raise Unsupported("_np_cumsum with dtype")
    return jnp.cumsum(x, p.axis)


def _pad(p: Any, x: Any) -> Any:
    pairs = list(zip(p.pad_width[0::2], p.pad_width[1::2], strict=True))
    if min(map(min, pairs)) < 0:
        raise Unsupported("Pad that takes elements away")
    value = {"constant_values": p.constant_value} if p.mode == "constant" else {}
    return jnp.pad(x, pairs, mode=p.mode, **value)


def _sort(p: Any, x: Any) -> Any:
    return jnp.sort(x, axis=p.axis, stable=True, descending=not p.is_ascend)


def _solved(p: Any, a: Any, b: Any) -> Any:
    return lax.linalg.triangular_solve(
        a, p.alpha * b, left_side=not p.rightside, lower=bool(p.lower), transpose_a=bool(p.transpose)
    )


def _one_hot(p: Any, x: Any) -> Any:
    if p.dtype != "float32":
        raise Unsupported(f"one_hot with dtype {p.dtype}")
    rows = jax.nn.one_hot(lax.stop_gradient(x).astype(jnp.int32), p.depth)
    return jnp.where(rows == 1, jnp.float32(p.on_value), jnp.float32(p.off_value))


def _moments(p: Any, x: Any) -> list[Any]:
    return [part(x, p.axes).reshape(shape_after("moments", p, x)) for part in (jnp.mean, jnp.var)]


ACTIVATIONS = {
    "relu": jax.nn.relu, "sigmoid": jax.nn.sigmoid, "tanh": jnp.tanh, "softsign": jax.nn.soft_sign,
    "softrelu": jax.nn.softplus,
}
XP = _Names()
RULES: dict[str, Rule] = {
    **rules(XP), "LayerNorm": layer_norm_rule(XP, _layer_norm),
    "Convolution": _convolution, "Pooling": _pooling, "LeakyReLU": _leaky,
    "softmax": softmax_rule(XP, jax.nn.softmax), "log_softmax": softmax_rule(XP, jax.nn.log_softmax),
    "softmin": softmax_rule(XP, jax.nn.softmax, -1), "Activation": lambda p, x: ACTIVATIONS[p.act_type](x),
    "softsign": lambda p, x: jax.nn.soft_sign(x), "cbrt": lambda p, x: jnp.cbrt(x),
    "erf": lambda p, x: jax.scipy.special.erf(x), "_np_cumsum": _cumsum,
    "erfinv": lambda p, x: jax.scipy.special.erfinv(x), "gammaln": lambda p, x: jax.scipy.special.gammaln(x),
    "repeat": lambda p, x: jnp.repeat(x, p.repeats, p.axis), "_linalg_inverse": lambda p, x: jnp.linalg.inv(x),
    "argmax": lambda p, x: jnp.argmax(x, p.axis).astype(x.dtype).reshape(shape_after("argmax", p, x)),
    "argmin": lambda p, x: jnp.argmin(x, p.axis).astype(x.dtype).reshape(shape_after("argmin", p, x)),
    "Pad": _pad, "sort": _sort, "_linalg_trsm": _solved, "moments": _moments,
    "prod": lambda p, x: jnp.prod(x, reduced_axes(p, len(x.shape))).reshape(shape_after("prod", p, x)),
    "argsort": lambda p, x: jnp.argsort(x, axis=p.axis, stable=True, descending=not p.is_ascend).astype(p.dtype),
    "one_hot": _one_hot,
    "gamma": lambda p, x: jax.scipy.special.gamma(x), "_linalg_slogdet": lambda p, x: [
        part.reshape(shape_after("_linalg_slogdet", p, x)) for part in jnp.linalg.slogdet(x)
    ],
    "_linalg_potrf": lambda p, x: jnp.linalg.cholesky(x, upper=not p.lower),
    "_linalg_syrk": lambda p, x: p.alpha * (x.mT @ x if p.transpose else x @ x.mT),
    "_linalg_det": lambda p, x: jnp.linalg.det(x).reshape(shape_after("_linalg_det", p, x)),
}
