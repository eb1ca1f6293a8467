"""Small pieces of HTML: escaped text, numbers with units, pictures as data, links to rules."""

from __future__ import annotations

import base64
import html
import re
import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..base import printable
from .update_arithmetic import number

NEGATIVE, POSITIVE = (37, 99, 235), (217, 98, 11)
CELLS, WIDE, ROW = (6, 16), 240, 16  # pixels: sides of a number, a picture, and the height of a single row
STRENGTHS = 7
"""Strengths of a color in a picture of numbers: with none of both they fit four bits."""
PALETTE = (
    (b"PLTE", bytes([*NEGATIVE, *NEGATIVE * STRENGTHS, *POSITIVE * STRENGTHS])),
    (b"tRNS", bytes([0, *[255 * step // STRENGTHS for step in range(1, STRENGTHS + 1)] * 2])),
)


def text(value: Any) -> str:
    """Escaped text."""
    return html.escape(printable(str(value)), quote=True)


def prose(value: str) -> str:
    """The words of a rule: code between backticks, links by their words alone."""
    plain = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", value)
    pieces = re.split(r"`([^`]+)`", plain)
    return "".join(f"<code>{text(p)}</code>" if i % 2 else text(p.replace("**", "")) for i, p in enumerate(pieces))


def shape(sides: Sequence[int]) -> str:
    """The sides of an array with crosses between them; one number alone is called so."""
    return " \N{MULTIPLICATION SIGN} ".join(map(str, sides)) or "one number"


def size(count: float) -> str:
    """Bytes, in the largest unit that leaves a number above one."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count:.0f} bytes"


def duration(microseconds: float) -> str:
    """Microseconds or milliseconds."""
    if microseconds >= 1000:
        return f"{microseconds / 1000:.2f} ms"
    return f"{microseconds:.0f} \N{MICRO SIGN}s" if microseconds >= 10 else f"{microseconds:.1f} \N{MICRO SIGN}s"


def value(given: float | None) -> str:
    """A number, or that it is none."""
    return "not finite" if given is None else number(given)


def rules(names: Iterable[str], label: str = "Rules") -> str:
    """Links to rules, as a list."""
    links = "".join(f'<li><a class="rule" href="#rule-{text(name)}">{text(name)}</a></li>' for name in names)
    return f'<ul class="rules" aria-label="{text(label)}">{links}</ul>' if links else ""


def figure(content: str, caption: str, kind: str = "") -> str:
    """A picture with words beneath it."""
    return f'<figure class="{kind}">{content}<figcaption>{caption}</figcaption></figure>'


def folded(summary: str, content: str, identity: str = "", opened: bool = False) -> str:
    """A part of the page that a click opens and closes; ``opened`` says which it is at first."""
    mark = f' id="{text(identity)}"' if identity else ""
    return f"<details{mark}{' open' if opened else ''}><summary>{summary}</summary>{content}</details>"


def table(heads: list[str], rows: list[list[str]], caption: str) -> str:
    """A table whose first column names the row; cells are HTML already."""
    top = "".join(f'<th scope="col">{head}</th>' for head in heads)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>{"".join(f"<td>{cell}</td>" for cell in row[1:])}</tr>' for row in rows
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{text(caption)}"><table>'
        f"<caption>{caption}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


# --- pictures ----------------------------------------------------------------------------------------


def png(pixels: np.ndarray) -> str:
    """A picture as a ``data:`` address; ``pixels`` has shape (height, width, 4), red, green, blue, opacity."""
    return _png(pixels.shape[:2], (8, 6), [row.tobytes() for row in pixels.astype(np.uint8)])


def _png(sides: Sequence[int], kind: tuple[int, int], lines: list[bytes], *chunks: tuple[bytes, bytes]) -> str:
    """A picture of lines of packed pixels; ``kind`` is the bits of a sample and PNG's number of the color type."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">IIBBBBB", sides[1], sides[0], *kind, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + line for line in lines), 9)
    parts = ((b"IHDR", header), *chunks, (b"IDAT", body), (b"IEND", b""))
    content = b"\x89PNG\r\n\x1a\n" + b"".join(chunk(name, part) for name, part in parts)
    return "data:image/png;base64," + base64.b64encode(content).decode()


def _numbers(rows: Any) -> np.ndarray:
    """Nested lists as an array; entries that are not finite become NaN."""
    return np.array(rows, dtype=np.float64)


def largest(windows: Iterable[dict[str, Any]]) -> float:
    """The largest magnitude in some windows, 1 where there is none."""
    found = [np.nanmax(np.abs(v), initial=0) for w in windows if (v := _numbers(w["window"])).size]
    return float(max(found, default=0)) or 1.0


def heat(window: dict[str, Any], scale: float, alt: str) -> str:
    """A window as a picture: blue below zero, orange above, the stronger the further; ``scale`` is full strength."""
    values = _numbers(window["window"])
    if not values.size:
        return '<p class="note">no numbers</p>'
    strength = np.clip(np.nan_to_num(np.abs(values) / scale, nan=1.0), 0, 1)
    steps = np.rint(STRENGTHS * np.sqrt(strength)).astype(np.uint8)
    indices = np.where((values < 0) | (steps == 0), steps, STRENGTHS + steps)
    pairs = np.pad(indices, ((0, 0), (0, values.shape[1] % 2)))
    lines = [row.tobytes() for row in pairs[:, ::2] << 4 | pairs[:, 1::2]]
    height, width = values.shape
    cell = min(max(WIDE // max(width, height), CELLS[0]), CELLS[1])
    tall = ROW if height == 1 else cell * height
    return (
        f'<img class="heat" alt="{text(alt)}" width="{cell * width}" height="{tall}"'
        f' src="{_png((height, width), (4, 3), lines, *PALETTE)}">'
    )


def cropped(window: dict[str, Any]) -> str:
    """The part of an array that a window shows, as text; empty where the window shows the whole array."""
    part = window["window"]
    height, width = len(part), len(part[0]) if part else 0
    if (height, width) == (window["rows"], window["columns"]):
        return ""
    return f"first {height} of {window['rows']} rows, first {width} of {window['columns']} columns"


def sprites(pictures: list[Any], across: int, alt: str) -> str:
    """Pictures side by side, ``across`` in a row, each scaled to its own brightest point."""
    stack = np.nan_to_num(_numbers(pictures))
    count, channels, height, width = stack.shape
    low = stack.min(axis=(1, 2, 3), keepdims=True)
    stack = (stack - low) / np.maximum(stack.max(axis=(1, 2, 3), keepdims=True) - low, 1e-12)
    down = -(-count // across)
    canvas = np.zeros((down * (height + 1) - 1, across * (width + 1) - 1, 4))
    for position, picture in enumerate(stack):
        top, left = position // across * (height + 1), position % across * (width + 1)
        color = np.moveaxis(picture if channels == 3 else np.repeat(picture[:1], 3, axis=0), 0, -1)
        canvas[top : top + height, left : left + width, :3] = 255 * color
        canvas[top : top + height, left : left + width, 3] = 255
    factor = max(1, 48 // max(height, width))
    return (
        f'<img class="sprites" alt="{text(alt)}" width="{canvas.shape[1] * factor}"'
        f' height="{canvas.shape[0] * factor}" src="{png(canvas)}">'
    )
