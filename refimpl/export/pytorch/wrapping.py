"""Long lines of Python in several."""

from __future__ import annotations

from .parts import unmarked

WIDTH = 100


def wrapped(line: str) -> list[str]:
    """The line in several where it is too long: after an opening bracket, at the commas of its outermost level."""
    if len(unmarked(line)) <= WIDTH:
        return [line]
    if line.lstrip().startswith("return ") and _has_outer_comma(line):
        line = line.replace("return ", "return (", 1) + ")"
    indent = len(line) - len(line.lstrip())
    start, depth, pieces, place = None, 0, [], 0
    for index, sign in enumerate(line):
        if sign in "([{":
            depth += 1
            if depth == 1 and start is None and len(unmarked(line[index + 1:])) > 30:
                start = place = index + 1
        elif sign in ")]}":
            depth -= 1
            if depth == 0 and start is not None:
                pieces.append(line[place:index])
                head, tail = line[:start], line[index:]
                break
        elif sign == "," and depth == 1 and start is not None:
            pieces.append(line[place:index + 1])
            place = index + 1
    else:
        return [line]
    inner: list[str] = []
    for piece in pieces:
        text = piece.strip()
        if inner and len(unmarked(inner[-1])) + len(unmarked(text)) + 1 <= WIDTH:
            inner[-1] += f" {text}"
        else:
            inner.append(" " * (indent + 4) + text)
    return [head, *(part for each in inner for part in wrapped(each)), " " * indent + tail]


def _has_outer_comma(line: str) -> bool:
    depth = 0
    for sign in line:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            return True
    return False


__all__ = ["wrapped"]
