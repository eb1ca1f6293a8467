"""Answers ``import mxnet`` with refimpl, in this process and for as long as a block lasts."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from ...base import decides, refusal
from .instead import INSTEAD, OTHER, PAGE, instead

OWN = __name__.partition(".")[0]


def own_module(name: str) -> ModuleType | None:
    """The module of refimpl that replaces a module of MXNet; None where there is none.

    Attributes come first, so that ``mxnet.sym`` is ``refimpl.symbol``, then files.
    """
    module = importlib.import_module(OWN)
    parts = name.split(".")
    for part in parts[1:]:
        held = vars(module).get(part)
        if not isinstance(held, ModuleType):
            full = f"{module.__name__}.{part}"
            if not hasattr(module, "__path__") or PathFinder.find_spec(full, module.__path__) is None:
                return None
            held = importlib.import_module(full)
        module = held
    return module if module.__name__.partition(".")[0] == OWN else None


class _Alias(Loader):
    """Puts a module of refimpl under another name. The module keeps its own name, spec and loader."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None  # an empty one takes the attributes that the import system sets

    @decides("run/same-modules")
    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = self.module  # the import system hands out what stands here afterwards


def _missing(name: str) -> Exception:
    said = instead(name)
    error = refusal(
        "run/missing-module", f"{name} is not in refimpl: {said or f'see {PAGE}'}", ModuleNotFoundError,
    )
    error.name = name  # type: ignore[attr-defined]  # as the import system would set it
    return error


class Finder(MetaPathFinder):
    """Finds ``mxnet`` and everything below it; ``answered`` collects the names."""

    def __init__(self) -> None:
        self.answered: list[str] = []

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        """The spec of a module of refimpl.

        Raises:
            ModuleNotFoundError: refimpl has no such module.
        """
        top, _, rest = fullname.partition(".")
        name = f"{OTHER}.{rest}" if rest else OTHER
        if top == OWN:  # `from mxnet import gluon` asks the module found for its own submodule
            if name in INSTEAD and own_module(name) is None:
                raise _missing(name)
            return None
        if top != OTHER:
            return None
        module = own_module(fullname)
        if module is None:
            raise _missing(fullname)
        self.answered.append(fullname)
        return ModuleSpec(fullname, _Alias(module), is_package=hasattr(module, "__path__"))


def _below(name: str) -> bool:
    return name.partition(".")[0] == OTHER


@contextmanager
def answering() -> Iterator[Finder]:
    """Within the block ``import mxnet`` gives refimpl, whether or not MXNet is installed."""
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if _below(name)}
    finder = Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield finder
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if _below(name)]:
            del sys.modules[name]
        sys.modules.update(kept)
