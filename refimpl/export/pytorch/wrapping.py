"""Long lines of Python in several."""

from __future__ import annotations

import itertools

from .parts import unmarked

WIDTH = 100


def wrapped(line: str) -> list[str]:
    """The line in several where it is too long: after an opening bracket, at the commas of its outermost level."""
    if len(unmarked(line)) <= WIDTH:
        return [line]
    if line.lstrip().startswith("return ") and _has_outer_comma(line):
        line = line.replace("return ", "return (", 1) + ")"
    indent = len(line) - len(line.lstrip())
    cuts = _cuts(line)
    if cuts is None:
        return [line]
    pieces = [line[begin:end] for begin, end in itertools.pairwise(cuts)]
    head, tail = line[:cuts[0]], line[cuts[-1]:]
    inner: list[str] = []
    for piece in pieces:
        text = piece.strip()
        if inner and len(unmarked(inner[-1])) + len(unmarked(text)) + 1 <= WIDTH:
            inner[-1] += f" {text}"
        else:
            inner.append(" " * (indent + 4) + text)
    return [head, *(part for each in inner for part in wrapped(each)), " " * indent + tail]


def _cuts(line: str) -> list[int] | None:
    """Where a line is cut: behind a bracket of the outermost level, behind the commas in it, before its end."""
    cuts: list[int] = []
    depth = 0
    for index, sign in enumerate(line):
        depth += (sign in "([{") - (sign in ")]}")
        if not cuts:
            if depth == 1 and sign in "([{" and len(unmarked(line[index + 1:])) > 30:
                cuts.append(index + 1)
        elif depth == 0:
            return [*cuts, index]
        elif sign == "," and depth == 1:
            cuts.append(index + 1)
    return None


def _has_outer_comma(line: str) -> bool:
    depth = 0
    for sign in line:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            return True
    return False


__all__ = ["wrapped"]
