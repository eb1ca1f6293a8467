"""Layers and matrices in PyTorch, each by one of its functions; ``torch_operators`` has the others."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from ...kernels.reduce import reduced_axes
from .common import Rule, enlarging_rules, shape_after
from .protocol import Unsupported


def _pad(p: Any, x: Any) -> Any:
    pairs = list(zip(p.pad_width[0::2], p.pad_width[1::2], strict=True))[:1:-1]  # the last axis first
    mode = {"constant": "constant", "edge": "replicate", "reflect": "reflect"}[p.mode]
    if mode != "constant" and min(min(pair) for pair in pairs) < 0:
        raise Unsupported(f"Pad {p.mode} that takes elements away")
    value = {"value": p.constant_value} if mode == "constant" else {}
    return functional.pad(x, [side for pair in pairs for side in pair], mode, **value)


def _local_response(p: Any, x: Any) -> Any:
    if p.nsize % 2 == 0 or len(x.shape) < 3:
        raise Unsupported("LRN over an even number of channels, of which PyTorch sees one more, or of two axes")
    return functional.local_response_norm(x, p.nsize, p.alpha, p.beta, p.knorm)


def _product(p: Any, x: Any) -> Any:
    found = x
    for axis in sorted(reduced_axes(p, len(x.shape)), reverse=True):
        found = torch.prod(found, axis)
    return found.reshape(shape_after("prod", p, x))


def _sort(p: Any, x: Any) -> Any:
    along, axis = (x.reshape(-1), 0) if p.axis is None else (x, p.axis)
    return torch.sort(along, dim=axis, descending=not p.is_ascend, stable=True).values


def _dot(p: Any, a: Any, b: Any) -> Any:
    if len(a.shape) == len(b.shape) == 1:
        return torch.dot(a, b).reshape(1)
    return torch.tensordot(a, b, dims=([0 if p.transpose_a else len(a.shape) - 1], [
        len(b.shape) - 1 if p.transpose_b else 0
    ]))


def _triangle(p: Any, a: Any) -> Any:
    half = torch.tril(a) if p.lower else torch.triu(a)
    return half.mT if p.transpose else half


def _solved(p: Any, a: Any, b: Any) -> Any:
    upper = bool(p.lower) == bool(p.transpose)
    return torch.linalg.solve_triangular(_triangle(p, a), p.alpha * b, upper=upper, left=not p.rightside)


def _syrk(p: Any, a: Any) -> Any:
    return p.alpha * (a.mT @ a if p.transpose else a @ a.mT)


def _unfold(p: Any, x: Any, name: str) -> dict[str, Any]:
    if len(p.kernel) != 2:
        raise Unsupported(f"{name} of {len(p.kernel)} axes")
    return {"dilation": tuple(p.dilate) or 1, "padding": tuple(p.pad) or 0, "stride": tuple(p.stride) or 1}


def _entropy(p: Any, x: Any, label: Any) -> Any:
    if (torch.softmax(x.detach(), 1) < 1e-7).any():
        raise Unsupported("softmax_cross_entropy of small probabilities: PyTorch has no floor of 1e-8")
    rows = torch.clamp(label.detach().to(torch.int64), 0, x.shape[1] - 1)
    return functional.cross_entropy(x, rows, reduction="sum").reshape(1)


def _sampled(p: Any, x: Any, grid: Any) -> Any:
    if not torch.isfinite(grid).all():
        raise Unsupported("BilinearSampler at places that are not finite, where PyTorch makes NaN")
    return functional.grid_sample(x, grid.permute(0, 2, 3, 1), align_corners=True)


LAYERS: dict[str, Rule] = {
    **enlarging_rules(functional, "PyTorch takes the middle"),
    "Pad": _pad, "LRN": _local_response, "prod": _product, "sort": _sort, "dot": _dot,
    "_linalg_trsm": _solved, "_linalg_syrk": _syrk,
    "_linalg_potrf": lambda p, a: torch.linalg.cholesky(a, upper=not p.lower),
    "_linalg_slogdet": lambda p, a: [
        part.reshape(shape_after("_linalg_slogdet", p, a)) for part in torch.linalg.slogdet(a)
    ],
    "im2col": lambda p, x: functional.unfold(x, tuple(p.kernel), **_unfold(p, x, "im2col")),
    "col2im": lambda p, x: functional.fold(x, tuple(p.output_size), tuple(p.kernel), **_unfold(p, x, "col2im")),
    "_contrib_AdaptiveAvgPooling2D": lambda p, x: functional.adaptive_avg_pool2d(
        x, shape_after("_contrib_AdaptiveAvgPooling2D", p, x)[2:]
    ),
    "softmax_cross_entropy": _entropy, "BilinearSampler": _sampled,
}
