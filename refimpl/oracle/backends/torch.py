"""PyTorch on the CPU: levels 1 and 2, whose gradients are those of autograd, and level 5.

Run it where PyTorch is: ``isolate("refimpl.oracle.backends.torch:backend", python=...)``, or in process.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .decorators import Arrays, Symbol, executor_backend
from .describing import described
from .optimizing import Life, WithOptimizers
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


class _Own:
    """An optimizer of ``torch.optim`` for one weight."""

    def __init__(self, make: Any) -> None:
        self.make = make
        self.optimizer: Any = None
        self.state: Any = None

    def __call__(self, weight: Any, gradient: Any, lr: float, wd: float) -> np.ndarray:
        """The weight after a step."""
        if self.optimizer is None:
            self.weight = torch.nn.Parameter(weight.clone())
            self.optimizer = self.make([self.weight])
            if self.state is not None:
                self.optimizer.load_state_dict(self.state)
        self.weight.data, self.weight.grad = weight, gradient
        self.optimizer.param_groups[0].update(lr=lr, weight_decay=wd)
        self.optimizer.step()
        return self.weight.detach().numpy()

    def kept(self) -> Any:
        """The part of the state that a file keeps."""
        return self.state if self.optimizer is None else self.optimizer.state_dict()

    def restore(self, state: Any) -> None:
        """Go on from there."""
        self.state = state


class _Torch:
    """PyTorch's functions for level 5, and its optimizers where they compute the same as MXNet's."""

    xp = torch
    array = staticmethod(torch.from_numpy)

    @staticmethod
    def own(rule: str, given: dict[str, Any], life: Life) -> _Own | None:
        """See ``optimizing.Library``. Optimizers with more parameters than rate and decay differ: see the chapter."""
        momentum = given.get("momentum", 0.0)
        if life.sparse or (momentum and not life.constant):  # its momentum holds gradients, MXNet's holds steps
            return None
        if rule in ("sgd", "ccsgd", "nag") and not given["wd"]:  # it adds the decay up in another order
            return _Own(lambda w: torch.optim.SGD(w, 1.0, momentum=momentum, nesterov=rule == "nag" and momentum > 0))
        if rule == "adadelta" and not given["wd"]:
            rho, epsilon = given["rho"], given["epsilon"]
            return _Own(lambda w: _Adadelta(w, 1.0, rho=rho, eps=epsilon))
        betas = given.get("beta1"), given.get("beta2")
        if rule == "nadam" and not given["wd"] and not life.resumed:  # it counts its own updates
            return _Own(lambda w: torch.optim.NAdam(
                w, betas=betas, eps=given["epsilon"], momentum_decay=given["schedule_decay"],
            ))
        return None


class _Adadelta(torch.optim.Adadelta):
    """MXNet's has no learning rate."""

    def step(self, closure: Any = None) -> Any:
        """A step with rate 1."""
        self.param_groups[0]["lr"] = 1.0
        return super().step(closure)


backend = described(WithOptimizers(_run, _Torch()), f"PyTorch {torch.__version__}")
"""What ``--oracle-backend=refimpl.oracle.backends.torch:backend`` finds."""
