"""The matrix of operators and runtimes as a table of HTML, in which shapes and words say what colour might."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from .drawing.drawn_graphs import drawable
from .matrix import STATES, Runtime, counts, state

SIGNS = {
    "right": "\N{CHECK MARK}", "digits": "\N{ALMOST EQUAL TO}", "differs": "\N{NOT EQUAL TO}",
    "fails": "\N{MULTIPLICATION X}",
    "not reached": "\N{WHITE CIRCLE}", "not offered": "\N{EN DASH}",
}
MEANINGS = {
    "right": "right wherever it was judged", "digits": "wrong by less than a percent",
    "differs": "wrong numbers, shape or type", "fails": "a valid program is refused, or ends the process",
    "not reached": "no judged program had it", "not offered": "the adapter or the runtime lacks it",
}
STYLE = """
.matrix { max-height: 90vh; max-width: 100%; overflow: auto; }
.matrix table { border-collapse: separate; border-spacing: 0; font-size: .8rem; line-height: 1.3; }
.matrix th, .matrix td { border-bottom: 1px solid #8888; padding: .1rem .35rem; text-align: center; }
.matrix thead th { background: var(--color-background-primary, Canvas); position: sticky; top: 0; z-index: 1; }
.matrix thead th span { display: inline-block; writing-mode: vertical-rl; }
.matrix th:first-child { background: var(--color-background-primary, Canvas); left: 0; max-width: 9.5rem;
  overflow-wrap: anywhere; position: sticky; text-align: left; z-index: 1; }
.matrix thead th:first-child { z-index: 2; }
.matrix .differs, .matrix .fails { font-weight: bold; }
.matrix a { display: block; text-decoration: none; }
"""
"""Colours are those of the page; a narrow screen scrolls the table beneath its first column and row."""
Shown = Callable[[str], str]


def page(runtimes: Sequence[Runtime], shown: Shown = html.escape) -> str:
    """The table, how each runtime was searched, and the causes.

    Args:
        runtimes: lines of the file.
        shown: makes HTML of a text that may name files.
    """
    names = short_names(runtimes)
    offered = [name for name in drawable() if any(state(each, name)[0] != "not offered" for each in runtimes)]
    absent = [name for name in drawable() if name not in offered]
    key = ", ".join(f"<b>{SIGNS[name]}</b> {name}: {text}" for name, text in MEANINGS.items())
    rest = f"<p>No runtime was offered {', '.join(map(html.escape, absent))}.</p>" if absent else ""
    return (
        f"<style>{STYLE}</style><p>{key}.</p>{_cells(runtimes, names, offered)}{rest}"
        f"<h2>Searches</h2>{_searches(runtimes, names)}<h2>Causes</h2>{_causes(runtimes, names, shown)}"
    )


def short_names(runtimes: Sequence[Runtime]) -> list[str]:
    """Names for the heads of columns: the first words, and of equal ones the arguments of the backend too."""
    firsts = [re.split(r"[,(]", each["runtime"] or each["backend"])[0] for each in runtimes]
    again = Counter(firsts)
    return [
        f"{first} {_arguments(each)}".strip() if again[first] > 1 else first
        for first, each in zip(firsts, runtimes, strict=True)
    ]


def _arguments(runtime: Runtime) -> str:
    given = re.search(r"\((.*)\)$", runtime["backend"])
    return given[1].replace("'", "") if given else ""


def _cells(runtimes: Sequence[Runtime], names: Sequence[str], operators: Sequence[str]) -> str:
    heads = "".join(f"<th scope=col><span>{html.escape(name)}</span>" for name in names)
    rows = []
    for operator in operators:
        cells = "".join(_cell(state(each, operator), f"{n}-{operator}") for n, each in enumerate(runtimes))
        rows.append(f"<tr><th scope=row>{html.escape(operator)}{cells}")
    return (
        "<div class=matrix role=region tabindex=0 aria-label='Operators by runtimes'><table>"
        f"<thead><tr><th scope=col>operator{heads}<tbody>{''.join(rows)}</table></div>"
    )


def _cell(found: tuple[str, str], anchor: str) -> str:
    name, why = found
    told = html.escape(f"{name}: {why}"[:300])
    sign = SIGNS[name]
    if name in STATES[:3]:
        return f'<td class={name}><a href="#{html.escape(anchor)}" title="{told}" aria-label="{name}">{sign}</a>'
    return f'<td title="{told}">{sign}'


def _searches(runtimes: Sequence[Runtime], names: Sequence[str]) -> str:
    rows = []
    for name, each in zip(names, runtimes, strict=True):
        count = counts(each)
        for number, (seed, programs, seconds, processor) in enumerate(each["searches"]):
            levels = " ".join(f"--level {level}" for level in each["levels"])
            line = f'refimpl oracle check "{each["backend"]}" {levels} --seed {seed} --programs {programs}'
            told = [str(count.get(name, 0)) if number == 0 else "" for name in MEANINGS]
            cells = "".join(f"<td>{text}" for text in (*told, seed, programs, processor or "", seconds))
            runtime = html.escape(each["runtime"] or each["backend"])
            rows.append(
                f"<tr><th scope=row>{html.escape(name)}{cells}<td>{each['date']}<td>{runtime}"
                f"<td><code>{html.escape(line)}</code>"
            )
    heads = (*MEANINGS, "seed", "programs", "seconds of the processor", "seconds", "date", "version", "the same again")
    head = "".join(f"<th scope=col>{text}" for text in heads)
    return (
        "<div class=matrix role=region tabindex=0 aria-label='Searches'><table>"
        f"<thead><tr><th scope=col>runtime{head}<tbody>{''.join(rows)}</table></div>"
    )


def _causes(runtimes: Sequence[Runtime], names: Sequence[str], shown: Shown) -> str:
    out = []
    for number, (name, each) in enumerate(zip(names, runtimes, strict=True)):
        by_operator: dict[str, list[dict[str, Any]]] = {}
        for cause in each["causes"]:
            by_operator.setdefault(cause["operator"], []).append(cause)
        items = "".join(
            f'<li id="{number}-{html.escape(operator)}">{"<br>".join(_cause(cause, shown) for cause in causes)}'
            for operator, causes in sorted(by_operator.items())
        )
        out.append(f"<h3>{html.escape(name)}</h3>{f'<ul>{items}</ul>' if items else '<p>Nothing differs.</p>'}")
    return "".join(out)


def _cause(cause: dict[str, Any], shown: Shown) -> str:
    clause = f" [{html.escape(cause['clause'])}]" if cause["clause"] else ""
    return f"{SIGNS[cause['state']]} {html.escape(cause['text'])}{clause}: {shown(cause['reason'])}"
