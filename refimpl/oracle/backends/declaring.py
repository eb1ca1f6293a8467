"""Declaring the arithmetic of a backend that somebody else wrote.

    refimpl oracle check 'refimpl.oracle.backends:declaring("mypackage.backend:mine", products="tf32")'
"""

from __future__ import annotations

from typing import Any

from ..bounds import Declared
from .named import named


class Declaring:
    """A backend, and the arithmetic that it declares; everything else is the backend's.

    Args:
        backend: the backend.
        declares: the arithmetic.
    """

    def __init__(self, backend: Any, declares: Declared) -> None:
        self.backend, self.declares = backend, declares

    def __getattr__(self, name: str) -> Any:
        return getattr(self.backend, name)


def declaring(backend: Any, **fields: Any) -> Declaring:
    """A backend with a declared arithmetic.

    Args:
        backend: the backend, or its name; see ``named``.
        fields: those of :class:`bounds.Declared`.

    Raises:
        ValueError: there is no such backend, or no such arithmetic.
    """
    return Declaring(named(backend) if isinstance(backend, str) else backend, Declared(**fields))
