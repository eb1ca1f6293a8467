"""Our operators in Paddle: those whose parameters mean the same there. Pages may not import Paddle."""

from __future__ import annotations

from typing import Any

import paddle
from paddle.nn import functional

from ...kernels.reduce import reduced_axes
from .common import (
    Rule,
    layer_norm_rule,
    pooling_sides,
    require_plain_batch_norm,
    rules,
    shape_after,
    softmax_rule,
    windows,
)
from .paddle_layers import LAYERS
from .protocol import Unsupported


def _reduction(function: Any) -> Any:
    return staticmethod(lambda x, axis=None, keepdims=False: function(x, axis, keepdim=keepdims))


class _Names:
    """NumPy's names, and the further names of ``common``."""

    stop = staticmethod(lambda x: x.detach())
    cast = staticmethod(lambda x, like: paddle.cast(x, like.dtype))
    whole = staticmethod(lambda x: paddle.cast(x.detach(), "int64"))
    double = staticmethod(lambda x: paddle.cast(x, "float64"))
    ahead = staticmethod(lambda x, rows, axis: paddle.take_along_axis(x, rows, axis, broadcast=False))
    taken = staticmethod(lambda x, rows, axis: x[(slice(None),) * axis + (rows,)])
    sum, mean = _reduction(paddle.sum), _reduction(paddle.mean)
    amax, amin = _reduction(paddle.max), _reduction(paddle.min)
    arcsin, arccos, arctan = staticmethod(paddle.asin), staticmethod(paddle.acos), staticmethod(paddle.atan)
    arcsinh, arccosh, arctanh = staticmethod(paddle.asinh), staticmethod(paddle.acosh), staticmethod(paddle.atanh)
    degrees, radians = staticmethod(paddle.rad2deg), staticmethod(paddle.deg2rad)
    concatenate = staticmethod(lambda parts, axis: paddle.concat(list(parts), axis))
    stack = staticmethod(lambda parts, axis: paddle.stack(list(parts), axis))
    reshape = staticmethod(lambda x, shape: paddle.reshape(x, list(shape)))

    def __getattr__(self, name: str) -> Any:
        return getattr(paddle, name)


def _convolution(p: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    stride, dilate, pad = windows(p, name="Convolution")
    run = (functional.conv1d, functional.conv2d, functional.conv3d)[len(p.kernel) - 1]
    return run(x, weight, bias, list(stride), list(pad), list(dilate), p.num_group)


def _pooling(p: Any, x: Any) -> Any:
    kernel, stride, pad = pooling_sides(p, x)
    rank = len(kernel)
    if p.pool_type not in ("max", "avg") or any(2 * a > k for a, k in zip(pad, kernel, strict=True)):
        raise Unsupported(f"Pooling {p.pool_type} with pad {pad}")
    sides = [list(part) for part in (kernel, stride, pad)]
    if p.pool_type == "max":
        return (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)[rank - 1](x, *sides)
    run = (functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d)[rank - 1]
    return run(x, *sides, exclusive=p.count_include_pad is False)


def _leaky(p: Any, x: Any, gamma: Any = None) -> Any:
    runs = {
        "leaky": lambda: paddle.where(x > 0, x, p.slope * x),  # Paddle's has the slope 1 at 0
        "selu": lambda: functional.selu(x),
        "elu": lambda: functional.elu(x, p.slope), "gelu": lambda: functional.gelu(x),
    }
    if p.act_type not in runs:
        raise Unsupported(f"LeakyReLU {p.act_type}")
    return runs[p.act_type]()


def _layer_norm(p: Any, x: Any, gamma: Any, beta: Any) -> Any:
    if len(x.shape) == 1:
        raise Unsupported("LayerNorm of one axis")
    if p.eps > 1e-3:
        raise Unsupported("LayerNorm with an eps above 0.001, which Paddle refuses")
    return functional.layer_norm(x, [x.shape[-1]], gamma, beta, p.eps)


def _instance_norm(p: Any, x: Any, gamma: Any, beta: Any) -> Any:
    if len({part.stop_gradient for part in (x, gamma, beta)}) > 1:
        raise Unsupported("InstanceNorm of inputs without gradients, beside which Paddle loses those of the others")
    return functional.instance_norm(x, weight=gamma, bias=beta, eps=p.eps)


def _batch_norm(p: Any, x: Any, gamma: Any, beta: Any, mean: Any, var: Any, *, train: bool) -> Any:
    require_plain_batch_norm(p, x, train=train, why="its statistics are inputs here, and Paddle's change in place")
    return functional.batch_norm(x, mean.detach(), var.detach(), gamma, beta, False, epsilon=p.eps)


def _cumsum(p: Any, x: Any) -> Any:
    if p.dtype is not None:
        raise Unsupported("_np_cumsum with dtype")
    return paddle.cumsum(x, p.axis)


def _sort(p: Any, x: Any) -> Any:
    along, axis = (x.reshape([-1]), 0) if p.axis is None else (x, p.axis)
    return paddle.sort(along, axis, descending=not p.is_ascend, stable=True)


def _argsort(p: Any, x: Any) -> Any:
    along, axis = (x.reshape([-1]), 0) if p.axis is None else (x, p.axis)
    return paddle.cast(paddle.argsort(along, axis, descending=not p.is_ascend, stable=True), p.dtype)


def _dot(p: Any, a: Any, b: Any) -> Any:
    axes = [[0 if p.transpose_a else len(a.shape) - 1], [len(b.shape) - 1 if p.transpose_b else 0]]
    product = paddle.tensordot(a, b, axes)
    return product if len(product.shape) else product.reshape([1])


def _solved(p: Any, a: Any, b: Any) -> Any:
    if p.rightside:
        raise Unsupported("_linalg_trsm from the right")
    return paddle.linalg.triangular_solve(a, p.alpha * b, upper=not p.lower, transpose=bool(p.transpose))


def _product(p: Any, x: Any) -> Any:
    axes = list(reduced_axes(p, len(x.shape)))
    return XP.reshape(paddle.prod(x, axes) if axes else x * 1, shape_after("prod", p, x))


def _best(name: str) -> Rule:
    function = getattr(paddle, name)
    return lambda p, x: paddle.cast(function(x, p.axis), x.dtype).reshape(list(shape_after(name, p, x)))


ACTIVATIONS = {
    "relu": functional.relu, "sigmoid": functional.sigmoid, "tanh": paddle.tanh, "softsign": functional.softsign,
    "softrelu": functional.softplus,
}
XP = _Names()
RULES: dict[str, Rule] = {
    **rules(XP), "LayerNorm": layer_norm_rule(XP, _layer_norm),
    **LAYERS, "Convolution": _convolution, "Pooling": _pooling, "LeakyReLU": _leaky,
    "softmax": softmax_rule(XP, functional.softmax), "log_softmax": softmax_rule(XP, functional.log_softmax),
    "softmin": softmax_rule(XP, functional.softmax, -1), "Activation": lambda p, x: ACTIVATIONS[p.act_type](x),
    "softsign": lambda p, x: functional.softsign(x), "relu": lambda p, x: functional.relu(x),
    "erf": lambda p, x: paddle.erf(x), "erfinv": lambda p, x: paddle.erfinv(x), "BatchNorm": _batch_norm,
    "gammaln": lambda p, x: paddle.lgamma(x), "rsqrt": lambda p, x: paddle.rsqrt(x), "_np_cumsum": _cumsum,
    "reciprocal": lambda p, x: paddle.reciprocal(x), "sort": _sort, "argsort": _argsort, "dot": _dot,
    "argmax": _best("argmax"), "argmin": _best("argmin"), "InstanceNorm": _instance_norm,
    "repeat": lambda p, x: paddle.repeat_interleave(x, p.repeats, p.axis),
    "prod": _product,
    "_linalg_inverse": lambda p, x: paddle.linalg.inv(x),
    "_linalg_potrf": lambda p, x: paddle.linalg.cholesky(x, upper=not p.lower),
    "_linalg_det": lambda p, x: XP.reshape(paddle.linalg.det(x), shape_after("_linalg_det", p, x)),
    "_linalg_trsm": _solved,
    "_linalg_syrk": lambda p, x: p.alpha * paddle.matmul(
        x, x, transpose_x=bool(p.transpose), transpose_y=not p.transpose
    ),
}
