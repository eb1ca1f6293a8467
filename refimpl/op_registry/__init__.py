"""What is known about operators: names, signatures, pages, facts and documentation, made from their pages."""

from importlib import import_module
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """``docs`` is imported when it is asked for: most programs never read the text of an operator."""
    if name == "docs":
        return import_module(f"{__name__}.docs")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
