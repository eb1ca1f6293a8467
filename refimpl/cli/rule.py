"""``refimpl rule``: the text of a rule, the code that decides it, the tests that prove it."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Console

from ..rules import Place, Rule, rules
from .errors import refuse


def _completions(incomplete: str) -> list[str]:
    return [name for name in rules if name.startswith(incomplete)]


def rule(
    name: Annotated[
        str | None,
        typer.Argument(help="A rule, as errors name it, or a subject; without it, list the subjects.",
                       autocompletion=_completions),
    ] = None,
    whole: Annotated[bool, typer.Option("--all", help="Print the source of all its code and tests.")] = False,
) -> None:
    """Print a rule of the specification: words, example, the code that decides it, its tests, MXNet's difference."""
    console = Console(highlight=False, markup=False, emoji=False)
    if name is None:
        _subjects(console)
    elif name in rules:
        for line in _lines(rules[name], console.width, whole=whole):
            console.print(line, soft_wrap=True)
    elif _of_subject(name):
        _list(name, console)
    else:
        raise refuse("Rules/known", str(rules.unknown(name)).removesuffix(" [Rules/known]"))


def _of_subject(subject: str) -> list[str]:
    return [name for name in rules if name.partition("/")[0] == subject]


def _subjects(console: Console) -> None:
    counts = Counter(name.partition("/")[0] for name in rules)
    console.print(", ".join(f"{subject} ({count})" for subject, count in counts.items()))
    console.print(f"{len(rules)} rules; `refimpl rule SUBJECT` lists those of a subject, `refimpl rule NAME` tells one")


def _list(subject: str, console: Console) -> None:
    for name in _of_subject(subject):
        console.print(f"{name}  {_shortened(rules[name].text, console.width - len(name) - 2)}", soft_wrap=True)


def _shortened(text: str, width: int) -> str:
    return textwrap.shorten(text, max(width, 20), placeholder=" ...")


def _lines(found: Rule, width: int, *, whole: bool) -> Iterator[str]:
    yield f"{found.name}   ({found.written})"
    yield ""
    yield from textwrap.wrap(found.text, min(width, 100))
    if found.example:
        yield from _indented(found.example)
    for row in found.deviations:
        yield ""
        yield from textwrap.wrap(f"MXNet 1.9.1: {row.upstream}", min(width, 100))
        yield from textwrap.wrap(f"Here: {row.here}", min(width, 100))
    for quirk in found.quirks:
        yield ""
        yield f'With mx.quirks("{quirk.name}"): {quirk.upstream}'
    for what, places in (("Decided by", found.code), ("Proven by", found.tests)):
        yield from _sources(what, places, whole=whole)


def _sources(what: str, places: list[Place], *, whole: bool) -> Iterator[str]:
    for number, place in enumerate(places):
        yield ""
        yield f"{what}: {place}"
        if place.source and (whole or not number):
            yield from _indented(place.source)


def _indented(text: str) -> Iterator[str]:
    yield ""
    yield from ("    " + line if line else "" for line in textwrap.dedent(text).splitlines())
