"""A Sphinx extension: every rule has its exact name as address, and links to its code and its tests.

``**[split/half-to-even]**`` at the head of a paragraph becomes the address ``#split/half-to-even``, with a line beneath
it that names what decides and what proves the rule. ``[split/half-to-even]`` anywhere else, a cell of a table that
holds only the name, and a link whose words begin with it lead there; a name that no rule has fails the build. A path of
a Python file of the tree, and a link ``file:PATH``, lead to the page of that file (``code_pages.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains import Domain, ObjType
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

import refimpl
from refimpl.rules.one_rule import Place, Rule
from spec.deciding import NAME
from spec.site import operator_pages

ROOT = Path(__file__).resolve().parents[2]
TAG = re.compile(rf"\[({NAME})\]")
FILE = re.compile(r"(?:refimpl|kernels|tests|spec)/[\w./-]+\.py")
UNTOUCHED = (nodes.literal, nodes.literal_block, nodes.reference, nodes.raw, nodes.comment)
log = logging.getLogger(__name__)


@cache
def documents() -> dict[str, str]:
    """Name of every rule -> the document that states it."""
    found = {}
    for name, rule in refimpl.rules.items():
        file = Path(rule.written)
        found[name] = operator_pages.document(file) if file.parts[0] == "kernels" else file.with_suffix("").as_posix()
    return found


def code_page(file: str) -> str:
    """The page of a Python file of the tree, without its suffix."""
    return f"code/{file}"


class Rules(Domain):
    """Rules are found by the search under their names, and listed in ``objects.inv``."""

    name, label = "clause", "Rules"
    object_types = {"rule": ObjType("rule")}  # noqa: RUF012  # Sphinx's attribute

    def get_objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        """Name, shown name, kind, document, address in it and weight of every rule."""
        for name, document in documents().items():
            yield name, name, "rule", document, name, 1

    def merge_domaindata(self, docnames: Any, otherdata: Any) -> None:
        """Processes that read in parallel have nothing to hand over."""

    def resolve_any_xref(self, *_: Any) -> list[Any]:
        """No roles lead here."""
        return []


class Links(SphinxPostTransform):
    """Puts addresses at rules, and links where they are named."""

    default_priority = 400

    def run(self, **_: Any) -> None:
        """Change the document that is about to be written."""
        here = self.env.docname
        for paragraph in list(self.document.findall(nodes.paragraph)):
            head = next((child for child in paragraph if child.astext()), None)  # an empty text stands before
            if isinstance(head, nodes.strong) and (tag := TAG.fullmatch(head.astext())):
                self._state(paragraph, head, tag[1], here)
        for reference in list(self.document.findall(nodes.reference)):
            self._aim(reference, here)
        for literal in list(self.document.findall(nodes.literal)):
            file = literal.astext()
            if FILE.fullmatch(file) and (ROOT / file).is_file() and not isinstance(literal.parent, nodes.reference):
                named = (ROOT / file).resolve().relative_to(ROOT).as_posix()  # refimpl/kernels is a link
                literal.replace_self(self._link(here, code_page(named), "", literal.deepcopy()))
        for text in list(self.document.findall(nodes.Text)):
            if not any(isinstance(node, UNTOUCHED) for node in _above(text)):
                self._name(text, here)

    def _state(self, paragraph: nodes.paragraph, head: nodes.strong, name: str, here: str) -> None:
        if documents().get(name) != here:
            log.warning("%s is not known to be stated here: python spec/rules.py", name, location=paragraph)
            return
        paragraph["ids"].append(name)
        paragraph["classes"].append("rule")
        head.children = []
        head += self._link(here, here, name, nodes.Text(f"[{name}]"))
        rule = refimpl.rules[name]
        line = nodes.paragraph(classes=["rule-links"])
        for label, found in (("code", rule.code), ("tests", rule.tests)):
            for number, place in enumerate(found):
                line += nodes.Text(" \N{MIDDLE DOT} " if number else f"{'   ' if len(line) else ''}{label}: ")
                line += self._place(here, place)
        if len(line):
            after = paragraph.parent.index(paragraph) + 1
            paragraph.parent.insert(after, line)

    def _place(self, here: str, place: Place) -> nodes.reference:
        words = nodes.literal("", place.name or place.file)
        return self._link(here, code_page(place.file), f"L-{place.line}", words, title=f"{place.file}:{place.line}")

    def _aim(self, reference: nodes.reference, here: str) -> None:
        target = reference.get("refuri", "")
        if target.startswith("file:"):
            file, _, anchor = target.removeprefix("file:").partition("#")
            reference["refuri"] = self._address(here, code_page(file), anchor)
            reference["internal"] = True
        elif (name := reference.astext().strip("[]")) in documents() and reference.get("internal"):
            reference["refuri"] = self._address(here, documents()[name], name)

    def _name(self, text: nodes.Text, here: str) -> None:
        words = text.astext()
        if isinstance(text.parent.parent, nodes.entry) and words in documents():
            text.parent.replace(text, self._link(here, documents()[words], words, nodes.Text(words)))
            return
        parts: list[nodes.Node] = []
        end = 0
        for tag in TAG.finditer(words):
            if tag[1] not in documents():
                log.warning("no rule is called %s", tag[1], location=text.parent)
                continue
            parts += [nodes.Text(words[end : tag.start()])]
            parts += [self._link(here, documents()[tag[1]], tag[1], nodes.Text(tag[0]))]
            end = tag.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(words[end:])])

    def _address(self, here: str, there: str, anchor: str) -> str:
        address = "" if here == there else self.app.builder.get_relative_uri(here, there)
        return f"{address}#{anchor}" if anchor else address

    def _link(self, here: str, there: str, anchor: str, content: nodes.Node, title: str = "") -> nodes.reference:
        made = nodes.reference("", "", content, internal=True, refuri=self._address(here, there, anchor))
        if title:
            made["reftitle"] = title
        return made


def _above(node: nodes.Node) -> Iterator[nodes.Node]:
    while node.parent is not None:
        node = node.parent
        yield node


def used_by(rules: dict[str, Rule]) -> dict[str, dict[int, list[tuple[str, str]]]]:
    """File -> line -> (``decides`` or ``proves``, name of the rule)."""
    found: dict[str, dict[int, list[tuple[str, str]]]] = {}
    for name, rule in rules.items():
        for verb, places in (("decides", rule.code), ("proves", rule.tests)):
            for place in places:
                found.setdefault(place.file, {}).setdefault(place.line, []).append((verb, name))
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_domain(Rules)
    app.add_post_transform(Links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
