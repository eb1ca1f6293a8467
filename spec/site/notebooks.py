"""A notebook of each chapter: its prose as text, its Python blocks as cells that run in their order."""

from __future__ import annotations

import doctest
import re

import nbformat
from nbformat import v4

from spec.trace import BLOCK

LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")
BEFORE = "import numpy as np\n\nimport refimpl as mx"


def notebook(text: str, name: str) -> nbformat.NotebookNode:
    """A notebook of the chapter with that text; links to other chapters become their words."""
    cells = [v4.new_code_cell(BEFORE)]
    end = 0
    for block in BLOCK.finditer(text):
        cells += [*_prose(text[end : block.start()]), v4.new_code_cell(_code(block[1]))]
        end = block.end()
    cells += _prose(text[end:])
    for number, cell in enumerate(cells):
        cell["id"] = f"{re.sub('[^A-Za-z0-9_-]', '-', name)}-{number}"[-64:]  # the same in every build
    made = v4.new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})
    nbformat.validate(made)
    return made


def _prose(text: str) -> list[nbformat.NotebookNode]:
    words = LINK.sub(r"\1", text).strip()
    return [v4.new_markdown_cell(words)] if words else []


def _code(block: str) -> str:
    """The code of a block; of an example with prompts only what is typed."""
    if not block.lstrip().startswith(">>>"):
        return block.rstrip()
    return "".join(example.source for example in doctest.DocTestParser().get_examples(block)).rstrip()
