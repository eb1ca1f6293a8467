"""Layers in Paddle, each by one of its functions; ``paddle_operators`` has the others."""

from __future__ import annotations

from typing import Any

import paddle
from paddle.nn import functional

from .common import Rule, enlarging_rules, shape_after, windows
from .protocol import Unsupported


def _deconvolution(p: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    stride, dilate, pad = (list(part) for part in windows(p, name="Deconvolution"))
    adj = list(p.adj) or [0] * len(p.kernel)
    if any(p.target_shape) or any(a >= max(s, d) for a, s, d in zip(adj, stride, dilate, strict=True)):
        raise Unsupported("Deconvolution with target_shape, or with adj as long as its stride")
    run = (functional.conv1d_transpose, functional.conv2d_transpose, functional.conv3d_transpose)[len(p.kernel) - 1]
    return run(x, weight, bias, stride, pad, adj, groups=p.num_group, dilation=dilate)


def _pad(p: Any, x: Any) -> Any:
    pairs = list(zip(p.pad_width[0::2], p.pad_width[1::2], strict=True))[:1:-1]  # the last axis first
    if min(min(pair) for pair in pairs) < 0:
        raise Unsupported(f"Pad {p.mode} that takes elements away")
    mode = {"constant": "constant", "edge": "replicate", "reflect": "reflect"}[p.mode]
    layout = {4: "NCHW", 5: "NCDHW"}[len(x.shape)]
    return functional.pad(x, [side for pair in pairs for side in pair], mode, p.constant_value or 0.0, layout)


def _local_response(p: Any, x: Any) -> Any:
    if p.nsize % 2 == 0 or len(x.shape) not in (3, 4, 5):
        raise Unsupported("LRN over an even number of channels, or of other than three to five axes")
    layout = {3: "NCL", 4: "NCHW", 5: "NCDHW"}[len(x.shape)]
    return functional.local_response_norm(x, p.nsize, p.alpha, p.beta, p.knorm, layout)


def _group_norm(p: Any, x: Any, gamma: Any, beta: Any) -> Any:
    if p.output_mean_var:
        raise Unsupported("GroupNorm with its statistics")
    each = x.shape[1] // gamma.shape[0]
    gamma, beta = (paddle.repeat_interleave(part, each, 0) for part in (gamma, beta))
    return functional.group_norm(x, p.num_groups, p.eps, gamma, beta)


def _unfold(p: Any, name: str) -> tuple[list[int], list[int], list[int], list[int]]:
    if len(p.kernel) != 2:
        raise Unsupported(f"{name} of {len(p.kernel)} axes")
    return list(p.kernel), list(p.stride) or [1, 1], list(p.pad) or [0, 0], list(p.dilate) or [1, 1]


def _entropy(p: Any, x: Any, label: Any) -> Any:
    if bool((functional.softmax(x.detach(), 1) < 1e-7).any()):
        raise Unsupported("softmax_cross_entropy of small probabilities: Paddle has no floor of 1e-8")
    rows = paddle.clip(paddle.cast(label.detach(), "int64"), 0, x.shape[1] - 1)
    return functional.cross_entropy(x, rows, reduction="sum").reshape([1])


def _sampled(p: Any, x: Any, grid: Any) -> Any:
    if not bool(paddle.isfinite(grid).all()):
        raise Unsupported("BilinearSampler at places that are not finite")
    if x.stop_gradient and not grid.stop_gradient:
        raise Unsupported("BilinearSampler with a gradient of the grid alone, which ends Paddle's process")
    return functional.grid_sample(x, paddle.transpose(grid, (0, 2, 3, 1)), align_corners=True)


def _slogdet(p: Any, x: Any) -> list[Any]:
    parts, shape = paddle.linalg.slogdet(x), list(shape_after("_linalg_slogdet", p, x))
    return [paddle.reshape(parts[i], shape) for i in range(2)]


LAYERS: dict[str, Rule] = {
    **enlarging_rules(functional, "Paddle takes the first element"),
    "Deconvolution": _deconvolution, "Pad": _pad, "LRN": _local_response,
    "GroupNorm": _group_norm, "softmax_cross_entropy": _entropy,
    "BilinearSampler": _sampled, "_linalg_slogdet": _slogdet,
    "im2col": lambda p, x: functional.unfold(x, *_unfold(p, "im2col")),
    "col2im": lambda p, x: functional.fold(x, list(p.output_size), *_unfold(p, "col2im")),
    "_contrib_AdaptiveAvgPooling2D": lambda p, x: functional.adaptive_avg_pool2d(
        x, list(shape_after("_contrib_AdaptiveAvgPooling2D", p, x)[2:])
    ),
    "hard_sigmoid": lambda p, x: functional.hardsigmoid(x, p.alpha, p.beta),
    "moments": lambda p, x: [
        paddle.reshape(part(x, list(p.axes)), list(shape_after("moments", p, x)))
        for part in (paddle.mean, lambda x, axes: paddle.var(x, axes, unbiased=False))
    ],
    "clip": lambda p, x: paddle.clip(x, p.a_min, p.a_max),
    "Embedding": lambda p, x, weight: functional.embedding(
        paddle.clip(paddle.cast(x.detach(), "int64"), 0, p.input_dim - 1), weight
    ),
}
