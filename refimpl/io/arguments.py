"""Arguments of the iterators over files: numbers, truth values and shapes, also as text, as MXNet reads them."""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ..base import decides, refusal, require

_WORDS = {"true": True, "1": True, "false": False, "0": False}


class Arguments:
    """Reads arguments for one iterator; what cannot be read is refused (MXNetError) in its name.

    The clause of a refusal is ``SUBJECT/argument``, or ``SUBJECT/required`` for one that is missing; the message names
    the iterator, which is called like the subject unless said otherwise.
    """

    def __init__(self, subject: str, iterator: str | None = None) -> None:
        self.subject, self.iterator = subject, iterator or subject

    @decides("CSVIter/argument", "LibSVMIter/argument", "ImageRecordIter/argument")
    def refused(self, name: str, wanted: str, value: Any) -> Exception:
        """The refusal of one argument."""
        return refusal(f"{self.subject}/argument", f"{self.iterator}: {name} must be {wanted}, got {value!r}")

    @decides("CSVIter/required", "LibSVMIter/required", "ImageRecordIter/required")
    def required(self, **given: Any) -> None:
        """Refuse an argument that is None."""
        for name, value in given.items():
            missing = f"Required parameter {name} is not presented; give it"
            require(f"{self.subject}/required", value is not None, missing)

    def integer(self, name: str, value: Any, least: int | None = None) -> int:
        """A whole number, of ``least`` or more."""
        try:
            number = int(value) if isinstance(value, (str, int, np.integer)) else None
        except ValueError:
            number = None
        if number is None or (least is not None and number < least):
            raise self.refused(name, "an integer" if least is None else f"an integer of {least} or more", value)
        return number

    def real(self, name: str, value: Any) -> float:
        """A finite number."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise self.refused(name, "a number", value)
        return number

    def flag(self, name: str, value: Any) -> bool:
        """A truth value."""
        word = str(value).lower()
        if word not in _WORDS:
            raise self.refused(name, "True or False", value)
        return _WORDS[word]

    def shape(self, name: str, value: Any) -> tuple[int, ...]:
        """Sizes of 1 or more; one number is a shape of one axis."""
        if isinstance(value, str):
            try:
                value = ast.literal_eval(value.strip())
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                raise self.refused(name, "a shape", value) from None
        sizes = (value,) if isinstance(value, (int, np.integer)) else value
        whole = isinstance(sizes, (tuple, list)) and len(sizes) > 0
        if not whole or not all(isinstance(size, (int, np.integer)) and size >= 1 for size in sizes):
            raise self.refused(name, "a shape, sizes of 1 or more", value)
        return tuple(int(size) for size in sizes)

    def part(self, num_parts: Any, part_index: Any) -> tuple[int, int]:
        """(number of parts, which one)."""
        parts, part = self.integer("num_parts", num_parts, 1), self.integer("part_index", part_index, 0)
        if part >= parts:
            raise self.refused("part_index", f"less than num_parts, {parts}", part)
        return parts, part

    def unknown(self, others: Mapping[str, Any], without_effect: Collection[str]) -> None:
        """Warn of arguments that nobody knows; those ``without_effect`` are accepted in silence."""
        names = sorted(set(others) - set(without_effect))
        if names:
            warnings.warn(f"{self.iterator} ignores unknown arguments: {', '.join(names)}", stacklevel=4)


__all__ = ["Arguments"]
