"""Pieces of Python text with places for inputs, for numbers that may differ, and for the layer's own attribute."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...symbol.ir import Entry

Key = tuple[int, int]
"""A value of the network: the id of its node, and which output of the node it is."""


class Input(NamedTuple):
    """The place of an input."""

    number: int


class Number(NamedTuple):
    """A value that is written as it is, or as an argument where repeated blocks differ in it."""

    label: str
    value: Any
    default: Any = ...
    """With a default the place is that of a keyword, which is left out where the value is the default."""


class Own:
    """The place of the layer's attribute: ``self.conv1``."""

    def __repr__(self) -> str:
        return "Own"


OWN = Own()
Part = str | Input | Number | Own
Parts = list[Part]


class State(NamedTuple):
    """Where an array of the state dict comes from: a parameter, and the function that changes it."""

    parameter: str
    change: str = ""
    """What of the parameter: "" for the array itself, else a text that ``weights.py`` knows."""


@dataclass
class Item:
    """A statement of ``forward``: a layer, a parameter that is read as it is, or a block of layers.

    ``forward`` and ``init`` are the expressions; ``suffixes`` has what is written behind the result for each output.
    """

    name: str
    inputs: list[Key]
    outputs: list[Key]
    forward: Parts
    suffixes: list[str] = field(default_factory=lambda: [""])
    init: Parts | None = None
    state: dict[str, State] = field(default_factory=dict)
    heavy: bool = False
    """Whether its input is computed in a statement before: layers with many weights, and blocks."""
    light: bool = False
    """Whether the layer only moves elements; its expression is then written inside that of the layer that reads it."""
    entries: list[str | None] = field(default_factory=list)
    """The names of its outputs in the network, None where a block has them inside."""
    inner: list[Item] = field(default_factory=list)
    """The items of a block."""
    block: str = ""
    """The class of a block."""
    fixed: bool = False
    """Whether it is a parameter that is read as it is."""
    kind: str = ""
    """The operator."""

    def signature(self) -> tuple[Any, ...]:
        """What must be equal where one text stands for several items."""
        return (
            self.kind, self.fixed, tuple(map(_shape_of, self.forward)), tuple(self.suffixes),
            None if self.init is None else tuple(map(_shape_of, self.init)),
        )

    def numbers(self) -> list[Number]:
        """The numbers of its texts, those of the constructor first."""
        return [part for part in [*(self.init or []), *self.forward] if isinstance(part, Number)]


def _shape_of(part: Part) -> Any:
    if isinstance(part, Number):
        return ("number", part.label, part.default is ...)
    return part if isinstance(part, (str, Input)) else "own"


def parts(template: str, **numbers: Any) -> Parts:
    """The pieces of a text.

    Args:
        template: with ``{0}`` for the first input, ``{self}`` for the own attribute and ``{name}`` for a number.
        numbers: values by name; a pair in a list, ``[value, default]``, is a keyword argument.
    """
    found: Parts = []
    for index, piece in enumerate(re.split(r"\{(\w+)\}", template)):
        if index % 2 == 0:
            if piece:
                found.append(piece)
        elif piece == "self":
            found.append(OWN)
        elif piece.isdigit():
            found.append(Input(int(piece)))
        else:
            value = numbers[piece]
            found.append(Number(piece, *value) if isinstance(value, list) else Number(piece, value))
    return found


def literal(value: Any) -> str:
    """The text of a number, a text, or a tuple of them."""
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return f'float("{value}")'
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, str) and value.startswith("torch."):
        return value
    return f'"{value}"' if isinstance(value, str) else repr(value)


def short(sides: Sequence[int]) -> Any:
    """One number where all sides are alike."""
    sides = tuple(int(side) for side in sides)
    return sides[0] if len(set(sides)) == 1 else sides


def written(found: Sequence[Part], inputs: Sequence[str], own: str, names: Sequence[str | None]) -> str:
    """The text of an expression.

    Args:
        found: the pieces.
        inputs: the texts of the inputs.
        own: the text of the own attribute.
        names: for each number the argument that stands for it, None for the number itself.
    """
    texts: list[str] = []
    waiting = iter(names)
    for index, part in enumerate(found):
        if isinstance(part, Number):
            texts.append(_number(part, next(waiting), "".join(texts)))
        elif isinstance(part, Input):
            given = inputs[part.number]
            bare = _is_atom(given) or _is_argument("".join(texts), found, index) or _is_term(given, found, index)
            texts.append(given if bare else f"({given})")
        elif isinstance(part, Own):
            texts.append(own)
        else:
            texts.append(part)
    return "".join(texts)


def _number(part: Number, name: str | None, before: str) -> str:
    """The text of a number; nothing for a keyword that has its default."""
    value = name or literal(part.value)
    if part.default is ...:
        return value
    if name is None and part.value == part.default:
        return ""
    return f"{'' if before.endswith('(') else ', '}{part.label}={value}"


def _is_argument(before: str, found: Sequence[Part], index: int) -> bool:
    """Whether an input stands alone between commas or brackets, or is the whole expression."""
    if len(found) == 1:
        return True
    after = found[index + 1] if index + 1 < len(found) else ""
    closed = isinstance(after, (Number, Input)) or (isinstance(after, str) and after[:1] in (")", "]", ","))
    return closed and before.endswith(("(", "[", "=", ", ", "(*"))


MARKS = re.compile("\x02[^\x03]*\x03|\x04")


def unmarked(text: str) -> str:
    """The text without the marks around expressions of items."""
    return MARKS.sub("", text)


def _is_term(text: str, found: Sequence[Part], index: int) -> bool:
    """Whether an expression is a product in a sum, or a sum to which more is added."""
    around = [found[place] for place in (index - 1, index + 1) if 0 <= place < len(found)]
    if not around or any(part not in (" + ", " - ") for part in around):
        return False
    try:
        body = ast.parse(unmarked(text), mode="eval").body
    except SyntaxError:
        return False
    if not isinstance(body, ast.BinOp):
        return False
    return isinstance(body.op, (ast.Mult, ast.Div, ast.MatMult)) or (
        index == 0 and isinstance(body.op, (ast.Add, ast.Sub))
    )


def _is_atom(text: str) -> bool:
    """Whether an expression may stand beside an operator or a dot without parentheses."""
    try:
        body = ast.parse(unmarked(text), mode="eval").body
    except SyntaxError:
        return False
    if isinstance(body, ast.Constant):
        return isinstance(body.value, str)
    return isinstance(body, (ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.List, ast.Tuple))


def key(entry: Entry) -> Key:
    """The key of an entry of the graph."""
    return id(entry.node), entry.index


__all__ = [
    "OWN", "Input", "Item", "Key", "Number", "Own", "Part", "Parts", "State", "key", "literal", "parts", "short",
    "unmarked", "written",
]
