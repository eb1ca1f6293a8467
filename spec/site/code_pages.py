"""A Sphinx extension: a page for every Python file of the tree, with links back to the rules that it decides or proves.

A thousand pages take a minute less without the theme's navigation, so they are written as they are, in its colours.
"""

from __future__ import annotations

import html
from itertools import chain
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.application import Sphinx

import refimpl
from spec.site.rule_links import ROOT, documents, used_by

FOLDERS = ("refimpl", "kernels", "tests", "spec")
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title} - refimpl</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="{up}_static/styles/furo.css"><link rel="stylesheet" href="{up}_static/pygments.css">
<link rel="stylesheet" href="{up}_static/site.css"></head>
<body><script>document.body.dataset.theme = localStorage.getItem("theme") || "auto";</script>
<header class="of-code"><a href="{up}index.html">refimpl</a> <a href="{up}search.html">Search</a></header>
<main class="of-code"><h1>{title}</h1>{rules}<div class="source" role="region" tabindex="0" aria-label="The source">
{source}</div></main></body></html>
"""


def files() -> list[str]:
    """Every Python file of the tree; ``refimpl/kernels`` is a link to ``kernels``."""
    found = chain.from_iterable((ROOT / folder).rglob("*.py") for folder in FOLDERS)
    names = (file.relative_to(ROOT) for file in found if "__pycache__" not in file.parts)
    return sorted(name.as_posix() for name in names if name.parts[:2] != ("refimpl", "kernels"))


def page(file: str, used: dict[int, list[tuple[str, str]]]) -> str:
    """The page of a file: its rules with the lines that they belong to, then the source."""
    up = "../" * (1 + file.count("/"))
    rows = []
    for line, rules in sorted(used.items()):
        links = (
            f'{verb} <a href="{html.escape(f"{up}{documents()[name]}.html#{name}")}">{html.escape(name)}</a>'
            for verb, name in rules
        )
        rows.append(f'<li><a href="#L-{line}">line {line}</a> {", ".join(links)}</li>')
    return PAGE.format(
        title=html.escape(file), up=up,
        rules=f"<ul>{''.join(rows)}</ul>" if rows else "",
        source=highlight(
            (ROOT / file).read_text(encoding="utf-8"), PythonLexer(stripnl=False),
            HtmlFormatter(linespans="L"),
        ),
    )


def write(app: Sphinx, failure: Exception | None) -> None:
    """Write the pages beside the others."""
    used = used_by(refimpl.rules)
    for file in () if failure else files():
        target = Path(app.outdir, "code", f"{file}.html")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page(file, used.get(file, {})), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
