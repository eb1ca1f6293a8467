"""An operator as a function of ``mx.nd`` or ``mx.sym``: it explains itself only when it is asked.

There are more than a thousand such functions, and most programs never read the text of one. So a function is
an object whose ``__doc__`` and ``__signature__`` are properties; ``docs.py`` makes them from the page.
"""

from __future__ import annotations

import inspect
from types import MethodType
from typing import Any, ClassVar

from .. import op_registry
from ..kernels.foundation import Op


class OperatorFunction:
    """What the functions of both namespaces have in common; the subclasses are called."""

    value: ClassVar[str]
    """What goes in and comes out: the name of a class."""

    def __init_subclass__(cls) -> None:
        """A class has a text of its own, which would hide the property."""
        cls.__doc__ = OperatorFunction.__dict__["__doc__"]  # type: ignore[method-assign]  # a property

    def __init__(self, op: Op, name: str) -> None:
        self.op = op
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply the operator."""
        raise TypeError(f"{type(self).__name__} does not say how it is called")

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """In a class it is a method, as functions are."""
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<operator {self.__name__} on {self.value}s>"

    @property
    def __signature__(self) -> inspect.Signature:
        """Inputs and parameters, for ``inspect.signature`` and for editors."""
        return op_registry.docs.signature(self.op, self.value)

    @property
    def __doc__(self) -> str:  # type: ignore[override]  # a class may answer for its instances
        """The operator's page as a docstring of one function."""
        return op_registry.docs.document(self.op, self.__name__, self.value)
