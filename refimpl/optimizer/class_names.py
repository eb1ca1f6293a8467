"""The names of optimizers and learning rate schedulers in ``.states`` files, and the classes that they stand for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..base import decides, refusal
from ..lr_scheduler import LRScheduler
from .rule import Optimizer

_OF_MXNET = {
    "Optimizer", "AdaDelta", "AdaGrad", "Adam", "Adamax", "DCASGD", "FTML", "Ftrl", "GroupAdaGrad", "LAMB", "LARS",
    "LBSGD", "NAG", "Nadam", "RMSProp", "SGD", "SGLD", "Signum", "Test", "ccSGD", "LRScheduler", "CosineScheduler",
    "FactorScheduler", "MultiFactorScheduler", "PolyScheduler",
}
_MODULES = {
    "GroupAdaGrad": "mxnet.optimizer.contrib",
    "_SVRGOptimizer": "mxnet.contrib.svrg_optimization.svrg_optimizer",
    "_AssignmentOptimizer": "mxnet.contrib.svrg_optimization.svrg_optimizer",
}
"""MXNet's modules of the optimizers that are not in ``mxnet.optimizer.optimizer``."""


def _same_class(known: tuple[str, str], named: tuple[str, str]) -> bool:
    """Whether the (module, name) ``named`` of a file stands for ``known``: releases of MXNet moved their classes."""
    if known == named:
        return True
    return known[1] == named[1] in _OF_MXNET and _is_home(known[0]) and _is_home(named[0])


def _is_home(module: str) -> bool:
    """Whether a release of MXNet has its optimizers or schedulers in this module."""
    return ".".join(module.split(".")[:2]) in ("mxnet.optimizer", "mxnet.lr_scheduler", "mxnet.misc")


def is_optimizer(kind: type) -> bool:
    """Whether a class is a subclass of Optimizer."""
    return issubclass(kind, Optimizer)


def _with_subclasses(base: type) -> Iterator[Any]:
    yield base
    direct: list[type] = base.__subclasses__()
    for kind in direct:
        yield from _with_subclasses(kind)


def written_name(kind: type) -> tuple[str, str]:
    """(module, name) of a class in a file: for a class of this package, MXNet's module."""
    if issubclass(kind, LRScheduler):
        module = "mxnet.lr_scheduler"
    elif is_optimizer(kind):
        module = _MODULES.get(kind.__name__, "mxnet.optimizer.optimizer")
    else:
        raise refusal(
            "States/content",
            "a .states file, or a message to servers, holds numbers, text, arrays, optimizers and schedulers, not"
            f" {kind.__name__}",
        )
    own = kind.__module__.partition(".")[0] == __name__.partition(".")[0]
    return (module if own else kind.__module__), kind.__qualname__


@decides("States/own-classes", "States/classes")
def known_class(module: str, name: str) -> Any:
    """The optimizer or scheduler class with this (module, name) in a file; None when there is none.

    Of several classes with the same name, the result is the registered class, or else the class defined last.
    """
    found = None
    registered: list[type] = list(Optimizer.opt_registry.values())
    for base in (Optimizer, LRScheduler):
        for known in _with_subclasses(base):
            own_name = known.__module__, known.__qualname__
            if (module, name) == own_name or _same_class(written_name(known), (module, name)):
                if known in registered:
                    return known
                found = known
    return found


def absent(module: str, name: str) -> str:
    """The reason in the error about a class that :func:`known_class` does not find."""
    if _is_home(module) and name in _OF_MXNET:
        return "a class of MXNet that does not exist here; save the states without the optimizer"
    return (
        "not an optimizer or learning rate scheduler known here; import the module that defines it first, if you"
        " trust the file"
    )


__all__ = ["absent", "is_optimizer", "known_class", "written_name"]
