"""Pages of the API: every public class and function of a module with its docstring."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from spec.site.myst import docstring, escaped

MODULES = {
    "mx.nd": "ndarray", "mx.nd.sparse": "ndarray.sparse", "mx.sym": "symbol", "mx.autograd": "autograd",
    "mx.executor": "executor", "mx.mod": "module", "mx.model": "model", "mx.kv": "kvstore",
    "mx.kv.histories": "kvstore.histories", "mx.io": "io", "mx.image": "image", "mx.recordio": "recordio",
    "mx.init": "initializer", "mx.optimizer": "optimizer", "mx.lr_scheduler": "lr_scheduler",
    "mx.metric": "metric", "mx.callback": "callback", "mx.mon": "monitor", "mx.random": "random",
    "mx.rnn": "rnn", "mx.operator": "operator", "mx.executor_manager": "executor_manager",
    "mx.profiler": "profiler", "mx.engine": "engine", "mx.viz": "visualization", "mx.context": "context",
    "mx.attribute": "attribute", "mx.name": "name", "mx.quirks": "quirks", "mx.rules": "rules",
    "mx.test_utils": "test_utils", "refimpl.oracle": "oracle", "refimpl.explain": "explain",
    "contrib.svrg_optimization": "contrib.svrg_optimization",
}
"""The name under which users know a module -> where it is in the package."""


class _Left:
    """Stands for a default whose text would be an address in memory."""

    def __repr__(self) -> str:
        return "..."


def pages() -> Iterator[tuple[str, str]]:
    """(name of the document, its text) for every module."""
    seen: set[int] = set()
    for shown, name in MODULES.items():
        module = import_module(f"refimpl.{name}")
        body = [part for each, value in public(module) for part in _entry(module.__name__, each, value, seen)]
        yield f"api/{shown}", "\n".join([f"# {shown}\n", docstring(module.__doc__), *body])


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Classes and functions that a module offers and that are written in this package; no operators."""
    for name in sorted(getattr(module, "__all__", None) or vars(module)):
        value = getattr(module, name, None)
        inside = (getattr(value, "__module__", None) or "").startswith(module.__name__)
        if not name.startswith("_") and inside and (inspect.isclass(value) or inspect.isfunction(value)):
            yield name, value


def _entry(module: str, name: str, value: Any, seen: set[int]) -> Iterator[str]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if not inspect.isclass(value):
        yield _directive("function", f"{module}.{name}{_signature(value)}", docstring(value.__doc__), 3)
        return
    methods = []
    for each, method in vars(value).items():
        kind = "attribute" if isinstance(method, property) or not inspect.isroutine(_inner(method)) else "method"
        text = inspect.getdoc(_inner(method)) if kind == "method" or isinstance(method, property) else None
        if not each.startswith("_") and text:
            sides = _signature(_inner(method), bound=not isinstance(method, staticmethod)) if kind == "method" else ""
            methods.append(_directive(kind, f"{each}{sides}", docstring(text), 3))
    bases = [base.__name__ for base in value.__mro__[1:-1] if base.__module__.startswith("refimpl")]
    inherits = [f"It has the methods of {escaped(', '.join(bases))} too.\n"] if bases else []
    text = "\n".join([docstring(inspect.getdoc(value) or ""), *inherits, *methods])
    yield _directive("class", f"{module}.{name}{_signature(value)}", text, 4)


def _inner(method: Any) -> Any:
    return method.__func__ if isinstance(method, classmethod | staticmethod) else method


def _directive(kind: str, head: str, text: str, ticks: int) -> str:
    fence = ":" * ticks
    return f"{fence}{{py:{kind}}} {' '.join(head.split())}\n\n{text}\n{fence}\n"


def _signature(value: Any, *, bound: bool = False) -> str:
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "()"
    given = list(found.parameters.values())[1 if bound else 0 :]
    shown = [
        each.replace(
            annotation=each.empty,
            default=_Left() if repr(each.default).startswith("<") and each.default is not each.empty else each.default,
        )
        for each in given
    ]
    return str(found.replace(parameters=shown, return_annotation=found.empty))
