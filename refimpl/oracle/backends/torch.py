"""PyTorch on the CPU, levels 1 and 2: gradients are those of autograd.

Run it where PyTorch is: ``isolate("refimpl.oracle.backends.torch:backend", python=...)``, or in process.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .decorators import Arrays, Symbol, executor_backend
from .describing import described
from .torch_operators import RULES

STYLES = ("dyadic", "smooth", "normal", "tied", "wide", "onehot")
"""Not "special": gradients at NaN are MXNet's own (unary/nan, Activation/relu-nan, clip/gradient)."""


@executor_backend(operators=RULES, styles=STYLES)
def _run(
    symbol: Symbol, args: Arrays, aux: Arrays, grads_in: Arrays, grad_req: dict[str, str], head_grads: Any,
    is_train: bool,
) -> tuple[list[np.ndarray], Arrays, Arrays]:
    """Levels 1 and 2 by autograd."""
    values = {name: torch.from_numpy(np.array(value)) for name, value in {**args, **aux}.items()}
    wanted = [name for name in grads_in if values[name].dtype.is_floating_point]
    for name in wanted:
        values[name].requires_grad_(True)

    def rule(node: Any, inputs: list[Any]) -> Any:
        options = {"train": is_train} if node.op == "BatchNorm" else {}
        return RULES[node.op](node.p, *inputs, **options)

    outputs = symbol.evaluate(values, rule)
    gradients: Arrays = {}
    if head_grads is not None:
        pairs = [
            (out, torch.ones_like(out) if head is None else torch.from_numpy(head))
            for out, head in zip(outputs, head_grads, strict=True) if out.requires_grad
        ]
        found: Any = [None] * len(wanted)
        if pairs and wanted:
            found = torch.autograd.grad(
                [out for out, _ in pairs], [values[n] for n in wanted], [h for _, h in pairs], allow_unused=True
            )
        for name, slope in zip(wanted, found, strict=True):
            new = np.zeros_like(grads_in[name]) if slope is None else slope.numpy()
            gradients[name] = grads_in[name] + new if grad_req[name] == "add" else new
    return [out.detach().numpy() for out in outputs], gradients, aux


backend = described(_run, f"PyTorch {torch.__version__}")
"""What ``--oracle-backend=refimpl.oracle.backends.torch`` finds."""
