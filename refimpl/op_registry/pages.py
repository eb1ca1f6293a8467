"""The text of operator pages: which clauses and worked examples are about which operator, and their tables."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import takewhile
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, NamedTuple

from .. import kernels
from ..kernels.foundation import REGISTRY, Op, distinct

_CLAUSE = re.compile(r"\[([A-Za-z_][\w-]*/[A-Za-z0-9][\w-]*)\] ?(.*)")


class Clause(NamedTuple):
    """One rule of a page: its name, its words, its worked examples (each with what it prints)."""

    name: str
    text: str
    examples: tuple[str, ...]


class Page(NamedTuple):
    """The text of a page: what it computes, its rules, and whatever else it says."""

    summary: str
    clauses: tuple[Clause, ...]
    notes: str


def _paragraphs(doc: str) -> Iterator[list[str]]:
    """Blocks that begin at the margin, each with the indented lines and examples beneath it."""
    block: list[str] = []
    after_gap = True
    for line in doc.strip().splitlines():
        begins = line[:1].strip() and (after_gap or line.startswith("["))
        if begins and block and not line.startswith(">>>"):
            yield block
            block = []
        after_gap = not line.strip()
        if line.strip() or block:
            block.append(line)
    if block:
        yield block


def _clause(name: str, lines: Sequence[str]) -> Clause:
    words: list[str] = []
    examples: list[list[str]] = []
    printing = False
    for line in lines:
        bare = line.strip()
        if bare.startswith(">>>"):
            examples.append([line])
            printing = True
        elif not bare:
            printing = False
        elif printing:
            examples[-1].append(line)
        else:
            words.append(bare)
    return Clause(name, " ".join(words), tuple(textwrap.dedent("\n".join(e)) for e in examples))


@cache
def read(doc: str) -> Page:
    """The text of a page, from its docstring."""
    first, *rest = _paragraphs(doc) if doc.strip() else [[""]]
    clauses, notes = [], []
    for block in rest:
        head = _CLAUSE.match(block[0])
        if head:
            clauses.append(_clause(head[1], [head[2], *block[1:]]))
        else:
            notes.append("\n".join(block).strip())
    summary = " ".join(line.strip() for line in first if line.strip())
    before, colon, after = summary.partition(": ")
    named = colon and (before in REGISTRY or before.count(" ") < 4)
    return Page(after if named else summary, tuple(clauses), "\n\n".join(notes))


def page(op: Op) -> Page:
    """The text of the page that an operator stands on."""
    return read(op.doc)


@cache
def page_of() -> dict[str, str]:
    """Text of a page -> the name of its file."""
    found = {}
    for each in iter_modules(kernels.__path__):
        if not each.ispkg and (doc := _module(each.name).__doc__):
            found[doc] = each.name
    return found


def _module(page: str) -> ModuleType:
    """The module of a page; all of them are imported when ``refimpl`` is."""
    return import_module(f"{kernels.__name__}.{page}")


def file_of(op: Op) -> str:
    """The file of an operator's page, from the root of a checkout."""
    found = page_of().get(op.doc)
    return f"kernels/{found}.py" if found else f"{op.forward.__module__.replace('.', '/')}.py"


@cache
def family(op: Op) -> tuple[Op, ...]:
    """Every operator of the same page, this one included."""
    return tuple(other for other in distinct() if other.doc == op.doc)


def says(text: str, names: Sequence[str]) -> bool:
    """Whether a text has one of the names as a word of its own."""
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)


def own_names(op: Op) -> tuple[str, ...]:
    """Name and aliases."""
    return (op.name, *op.aliases)


def calls(op: Op, example: str) -> bool:
    """Whether a worked example runs this very operator."""
    return any(f'"{name}"' in example for name in own_names(op))


def _named_after(clause: Clause, op: Op) -> bool:
    """Whether a clause bears an operator's name, as subject or as slug: [stack/axis], [random/uniform]."""
    subject, _, slug = clause.name.partition("/")
    slug = slug.replace("-", "_")
    short = op.name.removeprefix("_random").removeprefix("_sample").removeprefix("_")
    return subject in own_names(op) or slug in (*own_names(op), short)


def concerns(op: Op, clause: Clause) -> bool:
    """Whether a clause is about this operator, not only about others of its page."""
    if _named_after(clause, op) or says(clause.text, own_names(op)) or any(calls(op, e) for e in clause.examples):
        return True
    siblings = [other for other in family(op) if other is not op]
    own_page = clause.name.partition("/")[0] == page_of().get(op.doc)
    if any(_named_after(clause, o) and not (own_page and o.name == page_of().get(op.doc)) for o in siblings):
        return False
    return not any(says(clause.text, own_names(other)) for other in siblings)


def clauses(op: Op) -> list[Clause]:
    """The clauses that concern an operator; each keeps the examples that run it, or all when none does.

    On a page that speaks only of others by name every clause counts.
    """
    found = []
    for clause in page(op).clauses:
        if concerns(op, clause):
            own = tuple(e for e in clause.examples if calls(op, e))
            found.append(clause._replace(examples=own or clause.examples))
    return found or list(page(op).clauses)


def examples(op: Op) -> int:
    """How many worked examples of its page run this very operator."""
    return sum(calls(op, e) for clause in page(op).clauses for e in clause.examples)


def page_examples(op: Op) -> int:
    """How many worked examples its page has."""
    return sum(len(clause.examples) for clause in page(op).clauses)


@cache
def _tables(page_name: str) -> tuple[dict[str, str], dict[str, str]]:
    """Rows of a page's tables by operator, and the comments that head each row's table."""
    source = inspect.getsource(_module(page_name))
    rows: dict[str, str] = {}
    heads: dict[str, str] = {}
    for node in ast.parse(source).body:
        value = getattr(node, "value", None)
        for key, row in _rows(value):
            name: Any = getattr(key, "value", None)
            if isinstance(name, str) and name in REGISTRY and name not in rows:
                text = " ".join((ast.get_source_segment(source, row) or "").split())
                rows[name] = f"{name!r}: {text}" if isinstance(value, ast.Dict) else text
                top = (ast.get_source_segment(source, value) or "").splitlines()  # type: ignore[arg-type]  # has rows
                heads[name] = "\n".join(takewhile(lambda line: line.startswith("#"), map(str.strip, top[1:])))
    return rows, heads


def _rows(value: Any) -> list[tuple[Any, Any]]:
    """The key and the whole of each row of a table: of a tuple or a list of tuples, or of a dict."""
    if isinstance(value, (ast.Tuple, ast.List)):
        return [(e.elts[0], e) for e in value.elts if isinstance(e, ast.Tuple) and e.elts]
    if isinstance(value, ast.Dict):
        return [(k, v) for k, v in zip(value.keys, value.values, strict=True) if k is not None]
    return []


def row(op: Op) -> str:
    """The line of a family's table that this operator is, with the table's heading; empty where there is none."""
    name = page_of().get(op.doc)
    if name is None or len(family(op)) < 2:
        return ""
    rows, heads = _tables(name)
    return "\n".join(line for line in (heads.get(op.name, ""), rows.get(op.name, "")) if line)
