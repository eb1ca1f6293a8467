"""A function of PyTorch tensors as the straight line of its calls, which ``torch.compile`` takes as a whole.

The adapter's own Python, with its tables and shape rules, would be a trial of the compiler's front end only.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map_only


class _Recorder(TorchFunctionMode):
    """Notes each call that gives tensors; ``nodes`` has the node of every tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.graph = torch.fx.Graph()
        self.nodes: dict[int, torch.fx.Node] = {}
        self.kept: list[torch.Tensor] = []  # alive, so that no identity is used twice

    def keep(self, tensor: torch.Tensor, node: torch.fx.Node) -> None:
        """Say which node a tensor is."""
        self.kept.append(tensor)
        self.nodes[id(tensor)] = node

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function, and note the call."""
        result = func(*args, **(kwargs or {}))
        several = isinstance(result, (tuple, list)) and any(isinstance(part, torch.Tensor) for part in result)
        if isinstance(result, torch.Tensor) or several:
            node = self.call(func, *tree_map_only(torch.Tensor, lambda t: self.nodes[id(t)], (args, kwargs or {})))
            for i, part in enumerate(result) if several else ():
                self.keep(part, self.graph.call_function(operator.getitem, (node, i)))
            if not several:
                self.keep(result, node)
        return result

    def call(self, func: Any, args: Any, kwargs: Any) -> torch.fx.Node:
        """The node of a call: an attribute as ``x.mT``, a method, or a function."""
        if func.__name__ == "__get__":
            return self.graph.call_function(getattr, (args[0], func.__self__.__name__))
        if getattr(torch.Tensor, func.__name__, None) is func or func.__module__ == "torch._tensor":
            return self.graph.call_method(func.__name__, args, kwargs)
        return self.graph.call_function(func, args, kwargs)


def recorded(evaluate: Callable[[Mapping[str, Any]], list[Any]], values: Mapping[str, torch.Tensor]) -> Any:
    """The calls of ``evaluate`` as a module of as many inputs and outputs as it has, in their order.

    Args:
        evaluate: a function of named tensors.
        values: tensors of the shapes and types that the module will be given.
    """
    recorder = _Recorder()
    for number, value in enumerate(values.values()):
        recorder.keep(value, recorder.graph.placeholder(f"v{number}"))
    with recorder:
        outputs = evaluate(values)
    recorder.graph.output([recorder.nodes[id(out)] for out in outputs])
    return torch.fx.GraphModule({}, recorder.graph)
