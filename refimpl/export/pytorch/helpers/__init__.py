"""Functions that a file in PyTorch has where it needs them. They are copied as text; nothing here imports PyTorch."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

FILES = ("norms", "window_sums", "sampling", "sequences", "boxes", "regions", "quantized")


@cache
def sources() -> dict[str, str]:
    """The text of each function and class, by its name, in the order of the files."""
    found: dict[str, str] = {}
    for name in FILES:
        text = (Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8")
        lines = text.splitlines()
        for node in ast.parse(text).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                begin = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                found[node.name] = "\n".join(lines[begin - 1:node.end_lineno])
    return found


__all__ = ["sources"]
