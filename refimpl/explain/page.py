"""The page: one HTML file that needs nothing but itself.

It is read without JavaScript, by keyboard, on small screens, in light and in dark. A content policy in its head
forbids the browser to fetch anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..base import decides
from . import changes, sections, trainers
from .markup import duration, prose, rules, size, text

Data = dict[str, Any]
ASSETS = Path(__file__).with_name("assets")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"

# Name of a part, its title, the title in short, and what makes it; a part is on the page if rules are cited for it.
PARTS: tuple[tuple[str, str, str, Callable[[Data], str]], ...] = (
    ("slices", "The batch is cut", "Slices", sections.slices),
    ("graph", "The graph runs forward and backward", "Graph", sections.graph),
    ("memory", "Values share memory", "Memory", sections.memory),
    ("buckets", "Buckets share one pool", "Buckets", trainers.buckets),
    ("times", "Each operator takes its time", "Times", sections.times),
    ("corrections", "Gradients are corrected", "Correction", trainers.corrections),
    ("store", "Gradients meet in the store", "Gradients", changes.store),
    ("update", "Weights move", "Weights", changes.update),
)


@decides("Explain/one-file", "Explain/words-first")
def page(data: Data) -> str:
    """One HTML file that shows a training step; ``data`` is the result of ``collect``."""
    title = f"One training step: {data['title']}"
    present = [part for part in PARTS if part[0] in data["cited"]]
    parts = "".join(
        _part(number, name, title, make, data) for number, (name, title, _, make) in enumerate(present, start=1)
    )
    navigation = _navigation([(name, short) for name, _, short, _ in present])
    made = ", ".join(f"{text(name)} {text(version)}" for name, version in data["made_by"].items())
    return document(
        title, f"{_header(data)}{navigation}", f"{parts}\n{rule_articles(data['rules'])}", f"Made by {made}.", "slices"
    )


def document(
    title: str, top: str, main: str, footer: str, first: str, more_style: str = "", more_script: str = ""
) -> str:
    """One HTML file: its title as text, its parts as HTML, and the identity of its first part."""
    style, script = ((ASSETS / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return (
        "<!DOCTYPE html>\n"
        f'<html lang="en"><head><meta charset="utf-8"><title>{text(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<style>{style}{more_style}</style></head>\n<body>"
        f'<a class="skip" href="#{first}">Skip to the first part</a>'
        f"{top}\n<main>{main}</main>"
        f"<footer><p>{footer}</p></footer>"
        '<dialog id="reader" aria-labelledby="reader-title"></dialog>'
        f"<script>{script}{more_script}</script></body></html>\n"
    )


def _header(data: Data) -> str:
    plan = data["memory"][0]
    numbers = (
        ("rows in the batch", str(data["slices"]["batch_size"] or "no batch axis")),
        ("devices", ", ".join(data["contexts"])),
        ("steps of the graph", str(len(plan["steps"]))),
        ("arena of each device", size(max(p["planned"] for p in data["memory"]))),
        ("forward and backward", duration(data["times"]["span"])),
        ("optimizer", data["update"]["optimizer"]),
    )
    cards = "".join(f"<div><dt>{text(name)}</dt><dd>{text(found)}</dd></div>" for name, found in numbers)
    return (
        f'<header><p class="over">One training step</p><h1>{text(data["title"])}</h1>'
        f"<p>Update {data['number']}, from {text(data['source'])}{_as_worker(data)}, followed from the batch"
        " to the new weights. Each part names the rules that decide it; choose one to read its words.</p>"
        f'<dl class="cards">{cards}</dl></header>'
    )


def _as_worker(data: Data) -> str:
    found = data["cluster"]
    return f", as worker {found['rank']} of {found['workers']} makes it" if found else ""


def _navigation(present: list[tuple[str, str]]) -> str:
    links = "".join(f'<li><a href="#{name}">{text(short)}</a></li>' for name, short in present)
    return f'<nav aria-label="Parts of the step"><ol>{links}<li><a href="#rules">Rules</a></li></ol></nav>'


def _part(number: int, name: str, title: str, make: Callable[[Data], str], data: Data) -> str:
    return (
        f'\n<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title"><span class="number"'
        f' aria-hidden="true">{number}</span>{text(title)}</h2>{make(data)}'
        f"{rules(data['cited'][name], f'Rules of: {title}')}</section>"
    )


def rule_articles(rules_by_name: Mapping[str, Data]) -> str:
    """Every rule that a page names, in its own words."""
    articles = "".join(
        f'<article class="rule-text" id="rule-{text(name)}"><h3>{text(name)}</h3><p>{prose(rule["text"])}</p>'
        + (f"<pre><code>{text(rule['example'].strip())}</code></pre>" if rule["example"] else "")
        + f'<p class="note">{text(rule["place"])}</p></article>'
        for name, rule in rules_by_name.items()
    )
    return (
        '\n<section id="rules" aria-labelledby="rules-title"><h2 id="rules-title">The rules</h2><p>What decides'
        " each step, in"
        " the words of the specification. Each name is that of one rule, and stands in the file below it.</p>"
        f'<div class="articles">{articles}</div></section>'
    )
