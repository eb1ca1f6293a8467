"""The JSON text of symbol files: its layout, its brackets and words, and the characters that it must not hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..base import decides, refusal

MAX_DIGITS = 18
UNWRITABLE = "holds a NUL or half a character, which no file of MXNet can"
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"})
_NO_CHARACTERS = re.compile("[\0\ud800-\udfff]")


def unwritable(text: str) -> bool:
    """Whether text has a character that no symbol file of MXNet can hold."""
    return not text.isprintable() and bool(_NO_CHARACTERS.search(text))


@decides("symbol-file/text")
def quoted(text: str) -> str:
    """Text in quotes as MXNet writes it: five characters are escaped, the others are written unchanged."""
    if not text.isprintable() or '"' in text or "\\" in text:
        if unwritable(text):
            raise refusal("symbol-file/characters", f"{text[:80]!r} {UNWRITABLE}")
        text = text.translate(_ESCAPES)
    return f'"{text}"'


def block(brackets: str, lines: Iterable[str], indent: int) -> str:
    """Lines in the layout of MXNet's writer, which indents by two spaces."""
    pad = "\n" + "  " * (indent + 1)
    return f"{brackets[0]}{pad}{f', {pad}'.join(lines)}{pad[:-2]}{brackets[1]}"


def fields_of(fields: Sequence[str], indent: int) -> str:
    """A JSON map with these ``fields``, at nesting level ``indent``."""
    return "{" + fields[0] + "}" if len(fields) == 1 else block("{}", fields, indent)


def numbers_of(values: Sequence[int], indent: int) -> str:
    """A JSON list of the numbers ``values``, at nesting level ``indent``."""
    return str(values) if len(values) <= 10 else block("[]", map(str, values), indent)


def parts_outside_text(text: str) -> Iterator[re.Match[str]]:
    """The brackets and unquoted words of JSON text, as matches with positions."""
    for match in re.finditer(r'"(?:[^"\\]|\\.)*(?:"|\Z)|[\[\]{}]|[A-Za-z]+', text, re.DOTALL):
        if match[0][0] != '"':
            yield match


def first_beyond(text: str, depth: int) -> int:
    """The position at which the nesting first becomes deeper than ``depth``; -1 if it never does."""
    level = 0
    for match in parts_outside_text(text):
        level += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if level > depth:
            return match.start()
    return -1


def short_integer(digits: str) -> int:
    """A whole number of at most ``MAX_DIGITS`` digits: converting a very long number would take very long."""
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"the number {digits[:MAX_DIGITS]}... is too long")
    return int(digits)


def no_constant(word: str) -> float:
    """Refuse NaN and Infinity, which are not JSON."""
    raise ValueError(f"{word} is not JSON")


def is_count(value: Any) -> bool:
    """Whether a value is a whole number that is not negative."""
    return type(value) is int and value >= 0


__all__ = [
    "MAX_DIGITS", "UNWRITABLE", "block", "fields_of", "first_beyond", "is_count", "no_constant", "numbers_of",
    "parts_outside_text", "quoted", "short_integer", "unwritable",
]
