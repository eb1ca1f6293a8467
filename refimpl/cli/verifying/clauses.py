"""Which clause is behind a difference: the rule of the layer's operator that the reference breaks."""

from __future__ import annotations

from ...kernels.foundation import REGISTRY
from ...op_registry import facts

_OF_KIND: dict[str, dict[str, str]] = {
    "batchnorm-eps": {"BatchNorm": "BatchNorm/evaluation"},
    "batchnorm-statistics": {"BatchNorm": "BatchNorm/evaluation"},
    "bias-missing": {
        "Convolution": "Convolution/bias-shape", "FullyConnected": "FullyConnected/bias-shape",
        "Deconvolution": "Deconvolution/bias-shape", "BatchNorm": "BatchNorm/evaluation", "RNN": "RNN/parameters",
    },
    "transposed": {
        "Convolution": "Convolution/weight-shape", "FullyConnected": "FullyConnected/weight-shape",
        "Deconvolution": "Deconvolution/weight-shape", "RNN": "RNN/parameters",
    },
    "channels-swapped": {
        "Convolution": "Convolution/cross-correlation", "FullyConnected": "FullyConnected/weight-shape",
        "Deconvolution": "Deconvolution/weight-shape", "BatchNorm": "BatchNorm/channel-shape",
        "Embedding": "Embedding/clip",
    },
    "pad-or-stride": {
        "Convolution": "Convolution/output-size", "Pooling": "Pooling/window",
        "Deconvolution": "Deconvolution/output-size",
    },
    "half-precision": {"Convolution": "Convolution/sum-order", "FullyConnected": "FullyConnected/sum-order"},
}
"""Of a kind of difference and an operator."""

_OF_OPERATOR = {
    "Convolution": "Convolution/cross-correlation", "FullyConnected": "FullyConnected/flatten",
    "Deconvolution": "Deconvolution/formula", "BatchNorm": "BatchNorm/evaluation", "Pooling": "Pooling/window",
    "Activation": "Activation/functions", "LeakyReLU": "LeakyReLU/functions", "Embedding": "Embedding/clip",
    "SoftmaxOutput": "SoftmaxOutput/rows", "Concat": "Concat/dim",
}
"""What the operator computes."""


def clause_of(kind: str, operator: str) -> str | None:
    """The name of a clause, for ``refimpl rule``; None for an operator whose page has none."""
    special = _OF_KIND.get(kind, {}).get(operator) or _OF_OPERATOR.get(operator)
    if special is not None:
        return special
    op = REGISTRY.get(operator)
    names = [clause.name for clause in facts.clauses(op)] if op is not None else []
    return names[0] if names else None


__all__ = ["clause_of"]
