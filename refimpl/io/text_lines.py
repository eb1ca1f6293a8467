"""Files of text, one sample to a line: which files, which lines, and which part of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..base import decides, refusal
from ..files.reading import open_file, size_of

_MARK = b"\xef\xbb\xbf"  # some editors begin a UTF-8 file with it


class TextLine(NamedTuple):
    """One line that is not empty, and where it stands."""

    file: Path
    number: int
    text: bytes
    inside: bool  # whether it belongs to the part that was asked for


@decides("CSVIter/open", "LibSVMIter/open")
def files_of(iterator: str, name: str | os.PathLike) -> list[Path]:
    """The files that a name stands for: a file, the files of a folder by name, or several between ``;``.

    Raises:
        MXNetError: there is none.
    """
    found: list[Path] = []
    for path in map(Path, os.fspath(name).split(";")):
        is_folder = os.path.isdir(path)  # noqa: PTH112  # a Path raises where a name is too long
        found += sorted(each for each in path.iterdir() if each.is_file()) if is_folder else [path]
    if not found:
        raise refusal(f"{iterator}/open", f'the folder "{name}" has no file in it')
    return found


@decides("CSVIter/empty", "CSVIter/open", "LibSVMIter/empty", "LibSVMIter/open", "LibSVMIter/parts")
def lines_of(iterator: str, name: str | os.PathLike, parts: int = 1, part: int = 0) -> Iterator[TextLine]:
    """The lines that are not empty, and whether each is in the part.

    All files count as one text of n bytes, cut at each byte c = ceil(n / m) * k. A line that begins just there
    belongs to the part before the cut, the first line of a file to the part behind it.

    Raises:
        MXNetError: a file cannot be read, or the part has no line.
    """
    files = files_of(iterator, name)
    try:
        sizes = [size_of(file) for file in files]
        step = -(-sum(sizes) // parts)
        first, last = step * part, step * (part + 1)
        seen = False
        for file, start in zip(files, np.cumsum([0, *sizes[:-1]]), strict=True):
            for number, begin, text in _lines(file):
                if text:
                    place = start + begin if begin else start + 0.5
                    inside = bool(first < place <= last)
                    seen = seen or inside
                    yield TextLine(file, number, text, inside)
    except OSError as error:
        raise refusal(
            f"{iterator}/open", f'cannot open "{error.filename or name}": {error.strerror or error}'
        ) from error
    if not seen:
        raise refusal(f"{iterator}/empty", f'"{name}" has no line{" in this part" if parts > 1 else ""}')


def _lines(file: Path) -> Iterator[tuple[int, int, bytes]]:
    """(number, first byte, text) of each line; lines end with LF, CR or both."""
    begin = number = 0
    with open_file(file) as stream:
        for block in stream:
            rest = begin
            for text in block.rstrip(b"\r\n").split(b"\r"):
                number += 1
                kept = text[3:] if rest == 0 and text.startswith(_MARK) else text
                yield number, rest, kept.strip()
                rest += len(text) + 1
            begin += len(block)


def numbers(cells: list[bytes], dtype: np.dtype) -> np.ndarray | None:
    """The cells as numbers, rounded to the nearest of their type; None when one is none."""
    if any(b"_" in cell for cell in cells):
        return None
    try:
        if dtype.kind == "i":
            whole = np.array([int(cell) for cell in cells], np.int64)
            found = whole.astype(dtype)
            return found if (found == whole).all() else None
        with np.errstate(over="ignore"):
            return np.array([float(cell) for cell in cells], np.float64).astype(dtype)
    except (ValueError, OverflowError):
        return None


def bad_cell(cells: list[bytes], dtype: np.dtype) -> str:
    """The first cell that is no number, as text for a message."""
    for cell in cells:
        if numbers([cell], dtype) is None:
            return repr(cell[:40].decode("utf-8", "replace"))
    return repr(b",".join(cells)[:40].decode("utf-8", "replace"))


__all__ = ["TextLine", "bad_cell", "files_of", "lines_of", "numbers"]
