"""Our operators in MLX: those whose parameters mean the same there. Pages may not import MLX."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
from mlx import nn

from ...kernels.reduce import reduced_axes
from .common import Rule, layer_norm_rule, pooling_sides, rules, shape_after, softmax_rule, windows
from .protocol import Unsupported


class _Names:
    """NumPy's names, and the further names of ``common``."""

    stop = staticmethod(mx.stop_gradient)
    cast = staticmethod(lambda x, like: x.astype(like.dtype))
    whole = staticmethod(lambda x: mx.stop_gradient(x).astype(mx.int32))
    double = staticmethod(lambda x: x.astype(mx.float64))
    ahead = staticmethod(mx.take_along_axis)
    taken = staticmethod(mx.take)
    flip = staticmethod(lambda x, axes: mx.flip(x, list(axes)))
    amax, amin = staticmethod(mx.max), staticmethod(mx.min)

    def __getattr__(self, name: str) -> Any:
        return getattr(mx, name)


def _channels_last(x: Any) -> Any:
    return mx.moveaxis(x, 1, -1)


def _convolution(p: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    stride, dilate, pad = windows(p, name="Convolution")
    if p.num_group != 1 and len(p.kernel) == 3:
        raise Unsupported("Convolution of three axes in groups")
    run = (mx.conv1d, mx.conv2d, mx.conv3d)[len(p.kernel) - 1]
    sides: Any = (stride, pad, dilate) if len(p.kernel) > 1 else (stride[0], pad[0], dilate[0])
    made = mx.moveaxis(run(_channels_last(x), _channels_last(weight), *sides, p.num_group), -1, 1)
    return made if bias is None else made + mx.reshape(bias, (-1, *(1,) * len(p.kernel)))


def _pooling(p: Any, x: Any) -> Any:
    kernel, stride, pad = pooling_sides(p, x)
    rank = len(kernel)
    if p.pool_type not in ("max", "avg") or (p.pool_type == "avg" and any(pad) and p.count_include_pad is False):
        raise Unsupported(f"Pooling {p.pool_type} that leaves pads out of a mean")
    kinds = {"max": (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d), "avg": (nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)}
    sides: Any = (kernel, stride, pad) if rank > 1 else (kernel[0], stride[0], pad[0])
    return mx.moveaxis(kinds[p.pool_type][rank - 1](*sides)(_channels_last(x)), -1, 1)


def _leaky(p: Any, x: Any, gamma: Any = None) -> Any:
    runs = {
        "leaky": lambda: mx.where(x > 0, x, p.slope * x),  # MLX's has the slope 1 at 0
        "selu": lambda: nn.selu(x), "elu": lambda: nn.elu(x, p.slope),
        "gelu": lambda: nn.gelu(x),
    }
    if p.act_type not in runs:
        raise Unsupported(f"LeakyReLU {p.act_type}")
    return runs[p.act_type]()


def _layer_norm(p: Any, x: Any, gamma: Any, beta: Any) -> Any:
    return mx.fast.layer_norm(x, gamma, beta, p.eps)


def _log_softmax(x: Any, axis: int) -> Any:
    if x.shape[axis] == 1:
        raise Unsupported("log_softmax along a side of 1, for which MLX 0.32 ends the process")
    return nn.log_softmax(x, axis=axis)


def _cumsum(p: Any, x: Any) -> Any:
    if p.dtype is not None:
        raise Unsupported("_np_cumsum with dtype")
    return mx.cumsum(mx.reshape(x, (-1,)) if p.axis is None else x, axis=p.axis or 0)


def _pad(p: Any, x: Any) -> Any:
    pairs = list(zip(p.pad_width[0::2], p.pad_width[1::2], strict=True))
    if p.mode == "reflect" or min(map(min, pairs)) < 0:
        raise Unsupported("Pad reflect, or one that takes elements away")
    return mx.pad(x, pairs, p.mode, mx.array(p.constant_value if p.mode == "constant" else 0, dtype=x.dtype))


def _sort(p: Any, x: Any) -> Any:
    if not p.is_ascend:
        raise Unsupported("sort downwards")
    return mx.sort(x, axis=p.axis)


def _dot(p: Any, a: Any, b: Any) -> Any:
    axes = [0 if p.transpose_a else len(a.shape) - 1], [len(b.shape) - 1 if p.transpose_b else 0]
    product = mx.tensordot(a, b, axes)
    return product if len(product.shape) else mx.reshape(product, (1,))


def _best(name: str) -> Rule:
    function = getattr(mx, name)
    return lambda p, x: mx.reshape(function(x, axis=p.axis).astype(x.dtype), shape_after(name, p, x))


ACTIVATIONS = {
    "relu": nn.relu, "sigmoid": mx.sigmoid, "tanh": mx.tanh, "softsign": nn.softsign, "softrelu": nn.softplus,
}
XP = _Names()
RULES: dict[str, Rule] = {
    **rules(XP), "LayerNorm": layer_norm_rule(XP, _layer_norm),
    "Convolution": _convolution, "Pooling": _pooling, "LeakyReLU": _leaky,
    "softmax": softmax_rule(XP, lambda x, axis: mx.softmax(x, axis=axis)),
    "softmin": softmax_rule(XP, lambda x, axis: mx.softmax(x, axis=axis), -1),
    "log_softmax": softmax_rule(XP, _log_softmax),
    "Activation": lambda p, x: ACTIVATIONS[p.act_type](x), "softsign": lambda p, x: nn.softsign(x),
    "relu": lambda p, x: nn.relu(x), "erf": lambda p, x: mx.erf(x), "erfinv": lambda p, x: mx.erfinv(x),
    "rsqrt": lambda p, x: mx.rsqrt(x), "reciprocal": lambda p, x: mx.reciprocal(x), "_np_cumsum": _cumsum,
    "Pad": _pad, "sort": _sort, "dot": _dot, "argmax": _best("argmax"), "argmin": _best("argmin"),
    "repeat": lambda p, x: mx.repeat(x, p.repeats, p.axis),
    "prod": lambda p, x: mx.reshape(mx.prod(x, axis=reduced_axes(p, len(x.shape)) or ()), shape_after("prod", p, x)),
    "moments": lambda p, x: [
        mx.reshape(part(x, axis=p.axes), shape_after("moments", p, x)) for part in (mx.mean, mx.var)
    ],
    "_linalg_syrk": lambda p, x: p.alpha * (
        mx.matmul(mx.swapaxes(x, -1, -2), x) if p.transpose else mx.matmul(x, mx.swapaxes(x, -1, -2))
    ),
}
