"""Our operators in PyTorch: those whose parameters mean the same there. Pages may not import PyTorch."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

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
from .torch_layers import LAYERS


class _Names:
    """NumPy's names for PyTorch's functions."""

    stop = staticmethod(lambda x: x.detach())
    cast = staticmethod(lambda x, like: x.to(like.dtype))
    whole = staticmethod(lambda x: x.detach().to(torch.int64))
    double = staticmethod(lambda x: x.to(torch.float64))
    ahead = staticmethod(lambda x, rows, axis: torch.gather(x, axis, rows))
    taken = staticmethod(lambda x, rows, axis: x[(slice(None),) * axis + (rows,)])
    concatenate, transpose = torch.concat, torch.permute
    degrees, radians = torch.rad2deg, torch.deg2rad

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)


def _convolution(p: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    stride, dilate, pad = windows(p, name="Convolution")
    run = (functional.conv1d, functional.conv2d, functional.conv3d)[len(p.kernel) - 1]
    return run(x, weight, bias, stride, pad, dilate, p.num_group)


def _deconvolution(p: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    stride, dilate, pad = windows(p, name="Deconvolution")
    if any(p.target_shape):
        raise Unsupported("Deconvolution with target_shape")
    adj = tuple(p.adj) or (0,) * len(p.kernel)
    if any(a >= max(s, d) for a, s, d in zip(adj, stride, dilate, strict=True)):
        raise Unsupported("Deconvolution with adj as long as its stride")
    run = (functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d)[len(p.kernel) - 1]
    return run(x, weight, bias, stride, pad, adj, p.num_group, dilate)


def _pooling(p: Any, x: Any) -> Any:
    kernel, stride, pad = pooling_sides(p, x)
    rank = len(kernel)
    if p.pool_type not in ("max", "avg") or any(2 * a > k for a, k in zip(pad, kernel, strict=True)):
        raise Unsupported(f"Pooling {p.pool_type} with pad {pad}")
    if p.pool_type == "max":
        run: Any = (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)[rank - 1]
        return run(x, kernel, stride, pad)
    run = (functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d)[rank - 1]
    return run(x, kernel, stride, pad, False, p.count_include_pad is not False)


def _leaky(p: Any, x: Any, gamma: Any = None) -> Any:
    if p.act_type == "prelu" and len(gamma.shape) == 1 and len(x.shape) > 1:
        return functional.prelu(x, gamma)
    runs = {
        "leaky": lambda: torch.where(x > 0, x, p.slope * x), "selu": lambda: functional.selu(x),
        "elu": lambda: functional.elu(x, p.slope), "gelu": lambda: functional.gelu(x),
    }
    if p.act_type not in runs:
        raise Unsupported(f"LeakyReLU {p.act_type}")
    return runs[p.act_type]()


def _layer_norm(p: Any, x: Any, gamma: Any, beta: Any) -> Any:
    return functional.layer_norm(x, (x.shape[-1],), gamma, beta, p.eps)


def _group_norm(p: Any, x: Any, gamma: Any, beta: Any) -> Any:
    if p.output_mean_var:
        raise Unsupported("GroupNorm with its statistics")
    if x[0].numel() == p.num_groups:
        raise Unsupported("GroupNorm of one element, which PyTorch refuses")
    return functional.group_norm(x, p.num_groups, None, None, p.eps) * _each(gamma, x) + _each(beta, x)


def _instance_norm(p: Any, x: Any, gamma: Any, beta: Any) -> Any:
    if all(side == 1 for side in x.shape[2:]):
        raise Unsupported("InstanceNorm of one element, which PyTorch refuses")
    return functional.instance_norm(x, weight=gamma, bias=beta, eps=p.eps)


def _cumsum(p: Any, x: Any) -> Any:
    if p.dtype is not None:
        raise Unsupported("_np_cumsum with dtype")
    return torch.cumsum(x.reshape(-1) if p.axis is None else x, p.axis or 0)


def _each(numbers: Any, x: Any) -> Any:
    """One number per group, for every channel."""
    return numbers.repeat_interleave(x.shape[1] // len(numbers)).reshape((-1, *(1,) * (len(x.shape) - 2)))


def _batch_norm(p: Any, x: Any, gamma: Any, beta: Any, mean: Any, var: Any, *, train: bool) -> Any:
    require_plain_batch_norm(p, x, train=train, why="PyTorch moves the unbiased variance")
    return functional.batch_norm(x, mean, var, gamma, beta, False, 0.0, p.eps)


ACTIVATIONS = {
    "relu": functional.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "softsign": functional.softsign,
    "softrelu": functional.softplus,
}
XP = _Names()
RULES: dict[str, Rule] = {
    **rules(XP), "LayerNorm": layer_norm_rule(XP, _layer_norm),
    **LAYERS, "Convolution": _convolution, "Deconvolution": _deconvolution, "Pooling": _pooling,
    "softmax": softmax_rule(XP, functional.softmax), "log_softmax": softmax_rule(XP, functional.log_softmax),
    "softmin": softmax_rule(XP, functional.softmax, -1), "LeakyReLU": _leaky,
    "GroupNorm": _group_norm, "Activation": lambda p, x: ACTIVATIONS[p.act_type](x),
    "softsign": lambda p, x: functional.softsign(x), "erf": lambda p, x: torch.erf(x),
    "erfinv": lambda p, x: torch.erfinv(x), "gammaln": lambda p, x: torch.lgamma(x), "BatchNorm": _batch_norm,
    "repeat": lambda p, x: torch.repeat_interleave(x, p.repeats, p.axis),
    "argmax": lambda p, x: torch.argmax(x, p.axis).to(x.dtype).reshape(shape_after("argmax", p, x)),
    "argmin": lambda p, x: torch.argmin(x, p.axis).to(x.dtype).reshape(shape_after("argmin", p, x)),
    "_linalg_inverse": lambda p, x: torch.linalg.inv(x), "_np_cumsum": _cumsum, "InstanceNorm": _instance_norm,
    "_linalg_det": lambda p, x: torch.linalg.det(x).reshape(shape_after("_linalg_det", p, x)),
}
