"""The operators that arrays and symbols have as methods (``Op.method``), set on both classes when they are imported.

A method is the operator's own function (``function.py``), which is a descriptor: ``NDArray.sum`` is a real attribute
of the class, and explains itself when it is asked.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ..base import refusal
from ..kernels.foundation import Op, distinct

IN_PLACE = {"flatten": ("inplace",), "expand_dims": ("axis", "inplace"), "squeeze": ("axis", "inplace")}
"""The methods that take ``inplace`` too, and what each takes by position, in this order."""


def split_in_place(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The arguments of a method of ``IN_PLACE``, by name, and whether it shall work in place.

    Raises:
        TypeError: an argument is given twice, or there are too many.
    """
    names = IN_PLACE[name]
    if len(args) > len(names) or any(each in kwargs for each in names[: len(args)]):
        raise refusal("nd/arguments", f"{name} takes {', '.join(names)}, each once", TypeError)
    said = {**dict(zip(names, args, strict=False)), **kwargs}
    in_place = bool(said.pop("inplace", False))
    return said, in_place


def signature_in_place(found: inspect.Signature) -> inspect.Signature:
    """The signature of a method of ``IN_PLACE``, from that of its operator."""
    before = [each for each in found.parameters.values() if each.kind is each.POSITIONAL_OR_KEYWORD]
    behind = list(found.parameters.values())[len(before) :]
    flag = inspect.Parameter("inplace", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=False)
    return found.replace(parameters=[*before, flag, *behind])


def missing_in(owner: type) -> dict[str, Op]:
    """Method -> operator, for the methods that a class does not define itself."""
    return {op.method: op for op in distinct() if op.method and op.method not in vars(owner)}


def install(owner: type, make: Callable[[Op, str], Any]) -> None:
    """Set the functions that ``make(op, name)`` gives on a class, as methods."""
    for name, op in missing_in(owner).items():
        setattr(owner, name, make(op, name))
