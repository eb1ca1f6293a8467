"""Our operators in TensorFlow: those whose parameters mean the same there. Pages may not import TensorFlow."""

from __future__ import annotations

from typing import Any, ClassVar

import tensorflow as tf

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
from .protocol import Unsupported


class _Names:
    """NumPy's names, and the further names of ``common``, for TensorFlow's functions."""

    names: ClassVar = {
        "stop": tf.stop_gradient, "flip": tf.reverse, "sum": tf.reduce_sum, "mean": tf.reduce_mean,
        "amax": tf.reduce_max, "amin": tf.reduce_min, "arcsin": tf.math.asin, "arccos": tf.math.acos,
        "arctan": tf.math.atan, "arcsinh": tf.math.asinh, "arccosh": tf.math.acosh, "arctanh": tf.math.atanh,
        "concatenate": tf.concat, "arange": tf.range, "tile": tf.experimental.numpy.tile,
        "ahead": tf.experimental.numpy.take_along_axis,
    }
    cast = staticmethod(lambda x, like: tf.cast(x, like.dtype))
    whole = staticmethod(lambda x: tf.cast(tf.stop_gradient(x), tf.int64))
    double = staticmethod(lambda x: tf.cast(x, tf.float64))
    taken = staticmethod(lambda x, rows, axis: tf.gather(x, rows, axis=axis))

    @staticmethod
    def clip(x: Any, low: Any, high: Any) -> Any:
        """Numbers between two bounds, each of which may be None."""
        x = x if low is None else tf.maximum(x, low)
        return x if high is None else tf.minimum(x, high)

    def __getattr__(self, name: str) -> Any:
        return self.names.get(name) or getattr(tf.math, name, None) or getattr(tf, name)


def _channels_last(x: Any) -> Any:
    rank = len(x.shape)
    return tf.transpose(x, (0, *range(2, rank), 1))


def _channels_second(x: Any) -> Any:
    rank = len(x.shape)
    return tf.transpose(x, (0, rank - 1, *range(1, rank - 1)))


def _convolution(p: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    stride, dilate, pad = windows(p, name="Convolution")
    if p.num_group != 1:
        raise Unsupported("Convolution in groups, which TensorFlow has on the CPU without a gradient")
    if max(stride) > 1 and max(dilate) > 1:
        raise Unsupported("Convolution with strides and dilation, which tf.nn.convolution refuses")
    rank = len(p.kernel)
    padded = tf.pad(_channels_last(x), [(0, 0), *((a, a) for a in pad), (0, 0)])
    made = tf.nn.convolution(
        padded, tf.transpose(weight, (*range(2, rank + 2), 1, 0)), strides=stride, dilations=dilate, padding="VALID"
    )
    return _channels_second(made if bias is None else tf.nn.bias_add(made, bias))


def _pooling(p: Any, x: Any) -> Any:
    kernel, stride, pad = pooling_sides(p, x)
    rank = len(kernel)
    if p.pool_type not in ("max", "avg") or any(pad):
        raise Unsupported(f"Pooling {p.pool_type} with pad {pad}: TensorFlow's pads have no place in a mean")
    run = tf.nn.max_pool if p.pool_type == "max" else tf.nn.avg_pool
    layout = ("NWC", "NHWC", "NDHWC")[rank - 1]  # without it the gradient of three axes fails
    return _channels_second(run(_channels_last(x), kernel, stride, "VALID", layout))


def _leaky(p: Any, x: Any, gamma: Any = None) -> Any:
    runs = {
        "leaky": lambda: tf.nn.leaky_relu(x, p.slope), "selu": lambda: tf.nn.selu(x),
        "gelu": lambda: tf.nn.gelu(x, approximate=False), **({"elu": lambda: tf.nn.elu(x)} if p.slope == 1 else {}),
    }
    if p.act_type not in runs:
        raise Unsupported(f"LeakyReLU {p.act_type} with slope {p.slope}")
    return runs[p.act_type]()


def _layer_norm(p: Any, x: Any, gamma: Any, beta: Any) -> Any:
    mean, variance = tf.nn.moments(x, -1, keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, p.eps)


def _batch_norm(p: Any, x: Any, gamma: Any, beta: Any, mean: Any, var: Any, *, train: bool) -> Any:
    require_plain_batch_norm(p, x, train=train, why="TensorFlow moves the unbiased variance")
    return _channels_second(tf.nn.batch_normalization(_channels_last(x), mean, var, beta, gamma, p.eps))


def _local_response(p: Any, x: Any) -> Any:
    if p.nsize % 2 == 0 or len(x.shape) != 4:
        raise Unsupported("LRN over an even number of channels, or of other than four axes")
    return _channels_second(tf.nn.local_response_normalization(
        _channels_last(x), p.nsize // 2, p.knorm, p.alpha / p.nsize, p.beta
    ))


def _cumsum(p: Any, x: Any) -> Any:
    if p.dtype is not None:
        raise Unsupported("_np_cumsum with dtype")
    return tf.cumsum(tf.reshape(x, (-1,)) if p.axis is None else x, p.axis or 0)


def _pad(p: Any, x: Any) -> Any:
    pairs = list(zip(p.pad_width[0::2], p.pad_width[1::2], strict=True))
    if p.mode == "edge" or min(map(min, pairs)) < 0:
        raise Unsupported("Pad edge, or one that takes elements away")
    return tf.pad(x, pairs, p.mode, p.constant_value if p.mode == "constant" else 0)


def _sort(p: Any, x: Any) -> Any:
    along, axis = (tf.reshape(x, (-1,)), 0) if p.axis is None else (x, p.axis)
    return tf.sort(along, axis, "ASCENDING" if p.is_ascend else "DESCENDING")


def _argsort(p: Any, x: Any) -> Any:
    along, axis = (tf.reshape(x, (-1,)), 0) if p.axis is None else (x, p.axis)
    return tf.cast(tf.argsort(along, axis, "ASCENDING" if p.is_ascend else "DESCENDING", stable=True), p.dtype)


def _one_hot(p: Any, x: Any) -> Any:
    if p.dtype != "float32":
        raise Unsupported(f"one_hot with dtype {p.dtype}")
    return tf.one_hot(XP.whole(x), p.depth, p.on_value, p.off_value, dtype=tf.float32)


def _cholesky(p: Any, x: Any) -> Any:
    if not p.lower:
        raise Unsupported("_linalg_potrf with an upper triangle")
    return tf.linalg.cholesky(x)


def _solved(p: Any, a: Any, b: Any) -> Any:
    if p.rightside:
        raise Unsupported("_linalg_trsm from the right")
    return tf.linalg.triangular_solve(a, p.alpha * b, lower=bool(p.lower), adjoint=bool(p.transpose))


def _dot(p: Any, a: Any, b: Any) -> Any:
    axes = 0 if p.transpose_a else len(a.shape) - 1, len(b.shape) - 1 if p.transpose_b else 0
    product = tf.tensordot(a, b, axes)
    return product if len(product.shape) else tf.reshape(product, (1,))


def _gathered(p: Any, x: Any, indices: Any) -> Any:
    rows = XP.whole(indices)
    rows = tf.stack([rows[i] % x.shape[i] for i in range(rows.shape[0])], -1)
    return tf.gather_nd(x, rows)


def _resize(p: Any, x: Any, like: Any = None) -> Any:
    size = shape_after("_contrib_BilinearResize2D", p, x, *([] if like is None else [like]))[2:]
    if 1 in size and not p.align_corners:
        raise Unsupported("_contrib_BilinearResize2D to a side of 1, for which TensorFlow takes the middle")
    return _channels_second(tf.raw_ops.ResizeBilinear(
        images=_channels_last(x), size=size, align_corners=bool(p.align_corners),
        half_pixel_centers=not p.align_corners,
    ))


def _best(name: str) -> Rule:
    function = getattr(tf, name)
    return lambda p, x: tf.reshape(
        tf.cast(function(tf.reshape(x, (-1,)) if p.axis is None else x, p.axis or 0), x.dtype), shape_after(name, p, x)
    )


ACTIVATIONS = {
    "relu": tf.nn.relu, "sigmoid": tf.sigmoid, "tanh": tf.tanh, "softsign": tf.nn.softsign, "softrelu": tf.nn.softplus,
}
XP = _Names()
RULES: dict[str, Rule] = {
    **rules(XP), "LayerNorm": layer_norm_rule(XP, _layer_norm),
    "Convolution": _convolution, "Pooling": _pooling, "LeakyReLU": _leaky,
    "softmax": softmax_rule(XP, tf.nn.softmax), "log_softmax": softmax_rule(XP, tf.nn.log_softmax),
    "softmin": softmax_rule(XP, tf.nn.softmax, -1), "Activation": lambda p, x: ACTIVATIONS[p.act_type](x),
    "softsign": lambda p, x: tf.nn.softsign(x), "relu": lambda p, x: tf.nn.relu(x), "BatchNorm": _batch_norm,
    "erf": lambda p, x: tf.math.erf(x), "erfinv": lambda p, x: tf.math.erfinv(x), "LRN": _local_response,
    "gammaln": lambda p, x: tf.math.lgamma(x), "rsqrt": lambda p, x: tf.math.rsqrt(x),
    "reciprocal": lambda p, x: tf.math.reciprocal(x), "_np_cumsum": _cumsum, "Pad": _pad, "sort": _sort,
    "repeat": lambda p, x: tf.repeat(tf.reshape(x, (-1,)) if p.axis is None else x, p.repeats, p.axis or 0),
    "argmax": _best("argmax"), "argmin": _best("argmin"), "one_hot": _one_hot, "dot": _dot, "gather_nd": _gathered,
    "argsort": _argsort,
    "prod": lambda p, x: tf.reshape(tf.reduce_prod(x, reduced_axes(p, len(x.shape))), shape_after("prod", p, x)),
    "moments": lambda p, x: [tf.reshape(part, shape_after("moments", p, x)) for part in tf.nn.moments(x, p.axes)],
    "_linalg_inverse": lambda p, x: tf.linalg.inv(x), "_linalg_potrf": _cholesky, "_linalg_trsm": _solved,
    "_linalg_det": lambda p, x: tf.reshape(tf.linalg.det(x), shape_after("_linalg_det", p, x)),
    "_linalg_slogdet": lambda p, x: [
        tf.reshape(part, shape_after("_linalg_slogdet", p, x)) for part in tf.linalg.slogdet(x)
    ],
    "_linalg_syrk": lambda p, x: p.alpha * tf.matmul(x, x, transpose_a=bool(p.transpose), transpose_b=not p.transpose),
    "_contrib_BilinearResize2D": _resize,
}
