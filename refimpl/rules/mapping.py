"""``mx.rules``: a mapping from names to rules."""

from __future__ import annotations

import difflib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from ..base import decides, refusal
from ..op_registry import pages
from . import deviations
from .one_rule import Deviation, Rule

INDEX = Path(__file__).with_name("index.json")


class Row(NamedTuple):
    """What ``index.json`` holds of a rule; the words of a page's rules are on the page, which is installed."""

    name: str
    written: str
    decided: list[str]
    proven: list[str]
    text: str = ""
    example: str = ""


class Rules(Mapping[str, Rule]):
    """Every rule of the specification by its name; printed, it says how to ask."""

    def __getitem__(self, name: str) -> Rule:
        """The rule of that name.

        Raises:
            KeyError: no rule has the name; the message lists those that are near.
        """
        row = self._rows.get(name)
        if row is None:
            raise self.unknown(name)
        text, example = (row.text, row.example) if row.text else _on_page(row.written)[row.name]
        differences = tuple(_deviations().get(name, ()))
        return Rule(name, text, row.written, example, differences, tuple(row.decided), tuple(row.proven))

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f'<{len(self)} rules of the specification; mx.rules["split/half-to-even"] is one>'

    def near(self, name: str) -> list[str]:
        """Names that are like ``name``: those that begin so, those with the same slug, then those spelled alike."""
        lower = name.lower()
        begins = [known for known in self if known.lower().startswith(lower)]
        slug = [known for known in self if lower and lower in known.lower().split("/")]
        return list(dict.fromkeys([*begins, *slug, *difflib.get_close_matches(name, self, n=5, cutoff=0.6)]))

    @decides("Rules/known")
    def unknown(self, name: str) -> Exception:
        """The error that says which names are near."""
        near = self.near(name)[:5]
        hint = f"did you mean {', '.join(near)}?" if near else "`refimpl rule` lists them all"
        return refusal("Rules/known", f"no rule is called {name!r}; {hint}", UnknownRule)

    @cached_property
    def _rows(self) -> dict[str, Row]:
        rows: list[list[Any]] = json.loads(INDEX.read_text(encoding="utf-8"))
        return {row[0]: Row(*row) for row in rows}


class UnknownRule(KeyError):
    """A name that no rule has; a KeyError whose message is printed as it is."""

    def __str__(self) -> str:
        return str(self.args[0])


@cache
def _on_page(file: str) -> dict[str, tuple[str, str]]:
    """The words and the examples of the rules on an operator's page."""
    name = file.removesuffix(".py").replace("/", ".")
    page = pages.read(import_module(f"refimpl.{name}").__doc__ or "")
    return {clause.name: (clause.text, "\n".join(clause.examples)) for clause in page.clauses}


@cache
def _deviations() -> dict[str, list[Deviation]]:
    found: dict[str, list[Deviation]] = defaultdict(list)
    for name, upstream, here in deviations.rows():
        found[name].append(Deviation(upstream, here))
    return found


rules = Rules()
