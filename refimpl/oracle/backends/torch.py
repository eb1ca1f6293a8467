"""PyTorch: levels 1 and 2, whose gradients are those of autograd, and level 5.

    refimpl oracle check 'refimpl.oracle.backends.torch:on(device="cpu", compile=True)' --level 2

Run it where PyTorch is: ``isolate("refimpl.oracle.backends.torch:backend", python=...)``, or in process.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import torch

from .decorators import Arrays
from .describing import described
from .optimizing import Life, WithOptimizers
from .passes import Answer, Evaluate, Heads, Packed, Pass, Run, alone
from .torch_operators import RULES
from .torch_recording import recorded


class _Runner:
    """Runs passes by autograd on a device; ``compiled`` makes a function of a recorded one, or is None."""

    def __init__(self, device: Any, compiled: Any) -> None:
        self.device, self.compiled = device, compiled

    def given(self, arrays: Arrays) -> dict[str, torch.Tensor]:
        """Arrays on the device."""
        return {name: torch.from_numpy(np.array(value)).to(self.device) for name, value in arrays.items()}

    def check(self, one: Pass) -> None:
        """Run a pass without compiling it: what it refuses, is no matter of the compiler."""
        with torch.no_grad():
            one.evaluate(self.given({**one.wanted, **one.fixed}))

    def __call__(self, evaluate: Evaluate) -> Run:
        """See ``passes``."""
        functions: list[Any] = []

        def outputs_of(values: dict[str, torch.Tensor]) -> list[torch.Tensor]:
            if self.compiled is None:
                return evaluate(values)
            if not functions:
                torch.compiler.reset()  # else PyTorch compiles nothing more after eight functions of one name
                functions.append(self.compiled(recorded(evaluate, values)))
            return list(functions[0](*values.values()))

        def run(wanted: Arrays, fixed: Arrays, heads: Heads | None) -> Answer:
            inputs = self.given(wanted)
            values = {**{name: value.requires_grad_() for name, value in inputs.items()}, **self.given(fixed)}
            outputs = outputs_of(values)
            shown = [out.detach().cpu().numpy() for out in outputs]
            pairs = [
                (out, torch.ones_like(out) if head is None else torch.from_numpy(head).to(self.device))
                for out, head in zip(outputs, heads or [None] * len(outputs), strict=True) if out.requires_grad
            ]
            if heads is None or not pairs:
                return shown, {}
            found = torch.autograd.grad(
                [out for out, _ in pairs], list(inputs.values()), [head for _, head in pairs], allow_unused=True
            )
            return shown, {
                name: slope.cpu().numpy() for name, slope in zip(wanted, found, strict=True) if slope is not None
            }

        return run


class _Own:
    """An optimizer of ``torch.optim`` for one weight."""

    def __init__(self, make: Any) -> None:
        self.make = make
        self.optimizer: Any = None
        self.state: Any = None

    def __call__(self, weight: Any, gradient: Any, lr: float, wd: float) -> torch.Tensor:
        """The weight after a step."""
        if self.optimizer is None:
            self.weight = torch.nn.Parameter(weight.clone())
            self.optimizer = self.make([self.weight])
            if self.state is not None:
                self.optimizer.load_state_dict(self.state)
        self.weight.data, self.weight.grad = weight, gradient
        self.optimizer.param_groups[0].update(lr=lr, weight_decay=wd)
        self.optimizer.step()
        return self.weight.detach()

    def kept(self) -> Any:
        """The part of the state that a file keeps."""
        return self.state if self.optimizer is None else self.optimizer.state_dict()

    def restore(self, state: Any) -> None:
        """Go on from there."""
        self.state = state


class _Torch:
    """PyTorch's functions for level 5, and its optimizers where they compute the same as MXNet's."""

    xp = torch

    def __init__(self, device: Any) -> None:
        self.device = device

    def array(self, value: np.ndarray) -> torch.Tensor:
        """An array on the device."""
        return torch.from_numpy(value).to(self.device)

    @staticmethod
    def numpy(value: torch.Tensor) -> np.ndarray:
        """An array of NumPy."""
        return value.detach().cpu().numpy()

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


def on(
    device: str = "cpu", compile: bool = False, dynamic: bool | None = None, backend: str = "inductor",  # noqa: A002
    dtypes: tuple[str, ...] = ("float32",), pack: int = 16, import_first: str = "",
) -> WithOptimizers:
    """PyTorch on a device, one operation at a time or compiled.

    Args:
        device: a device of ``torch.device``; also one that an extension registers.
        compile: whether ``torch.compile`` compiles forward and backward passes of levels 1 and 2.
        dynamic: whether compiled code is made for any shapes; None lets PyTorch decide.
        backend: the compiler's name, one of ``torch.compiler.list_backends(None)``.
        dtypes: the floating types that are drawn: of float16, float32 and float64.
        pack: how many programs are compiled as one function.
        import_first: the name of a package that registers the device or the compiler.

    Raises:
        ImportError: there is no such package.
        RuntimeError: PyTorch knows no such device.
        ValueError: PyTorch knows no such compiler.
    """
    if import_first:
        import_module(import_first)
    place, version = torch.device(device), f"PyTorch {torch.__version__} on {device}"
    torch.zeros(1, device=place)  # a device of no machine has no such array
    if not compile:
        graphs = alone(RULES, _Runner(place, None), dtypes=dtypes)
        return described(WithOptimizers(graphs, _Torch(place)), version)
    if backend not in torch.compiler.list_backends(None):
        raise ValueError(f"torch.compile has no backend {backend}; it has {torch.compiler.list_backends(None)}")

    def compiled(function: Any) -> Any:
        return torch.compile(function, backend=backend, dynamic=dynamic)

    runner = _Runner(place, compiled)
    graphs = Packed(RULES, runner, pack, runner.check, dtypes=dtypes)
    return described(WithOptimizers(graphs, _Torch(place)), f"{version}, {backend} with dynamic={dynamic}")


backend = on()
"""What ``--oracle-backend=refimpl.oracle.backends.torch:backend`` finds: PyTorch on the CPU."""
