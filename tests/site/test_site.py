"""The built site: every rule has its address, every link leads somewhere, and notebooks run as their chapters do.

    pytest -m long tests/site                     builds the site, in about a minute
    REFIMPL_SITE=FOLDER pytest -m long tests/site   reads the one that ``python spec/site/build.py FOLDER`` built
"""

from __future__ import annotations

import json
import os
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

import refimpl as mx
from spec import trace
from spec.site.moved import MOVED

pytest.importorskip("sphinx", reason="the site needs pip install '.[docs]'")
pytest.importorskip("myst_parser", reason="the site needs pip install '.[docs]'")
build = pytest.importorskip("spec.site.build", reason="the site needs pip install '.[docs]'")
pytestmark = pytest.mark.long


# Names between angle brackets in docstrings, chapters and sources: no page may have such an element.
WORDS = {"node", "class", "required", "lambda", "this", "hr2", "stdin", "module"}


class Page(HTMLParser):
    """Addresses on a page, where it links to, and what its title says."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.add(tag)
        self.ids += [found["id"]] if found.get("id") else []
        self.links += [found[name] for name in ("href", "src") if found.get(name)]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(os.environ.get("REFIMPL_SITE") or tmp_path_factory.mktemp("site"))
    if not os.environ.get("REFIMPL_SITE"):
        assert build.main([str(folder)]) == 0
    return folder / "html"


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[Path, Page]:
    return {file: Page(file) for file in site.rglob("*.html")}


def test_every_rule_has_its_address(site: Path, pages: dict[Path, Page]) -> None:
    wrong = []
    for name, clause in _clauses():
        page = pages[site / f"{clause}.html"]
        if page.ids.count(name) != 1:
            wrong.append((name, clause, page.ids.count(name)))
    assert not wrong


def _clauses():
    for clause in trace.written():
        parts = clause.file.with_suffix("").parts
        yield clause.name, "/".join(("operators", *parts[1:]) if parts[0] == "kernels" else parts)


def test_every_link_leads_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    """Also those that no tool of the build looks at: between pages of code, notebooks and anchors."""
    broken = set()
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            lost = parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids
            if lost or not target.exists():
                broken.add((file.relative_to(site).as_posix(), link))
    assert not broken, sorted(broken)[:20]


def test_old_addresses_lead_to_pages_that_are_there(site: Path, pages: dict[Path, Page]) -> None:
    for old, new in MOVED.items():
        page = site / f"{old}.html"
        assert not (trace.ROOT / f"{old}.md").exists()
        assert {(page.parent / link).resolve() for link in pages[page].links} == {(site / f"{new}.html").resolve()}
        assert f'location.replace("../{new}.html" + location.hash)' in page.read_text(encoding="utf-8")
        assert site / f"{new}.html" in pages


def test_a_rule_leads_to_its_code_and_tests_and_back(site: Path, pages: dict[Path, Page]) -> None:
    chapter = (site / "spec/reference/running/slicing.html").read_text(encoding="utf-8")
    for rule in ("split/half-to-even", "split/empty"):
        beneath = chapter[chapter.index(f'id="{rule}"') :].partition('class="rule-links"')[2].partition("</p>")[0]
        found = mx.rules[rule]
        for place in (*found.code, *found.tests):
            assert f'code/{place.file}.html#L-{place.line}"' in beneath
            back = pages[site / f"code/{place.file}.html"].links
            assert any(link.endswith(f"spec/reference/running/slicing.html#{rule}") for link in back)


def test_text_of_files_is_shown_as_it_stands(site: Path, pages: dict[Path, Page]) -> None:
    """No tag in a docstring, chapter or source becomes one."""
    # Names of tags that stand in docstrings and chapters, and that neither Sphinx nor the theme writes.
    assert {tag for page in pages.values() for tag in page.tags}.isdisjoint(WORDS)
    assert "&lt;!DOCTYPE html&gt;" in (site / "spec/reference/tools/explain.html").read_text(encoding="utf-8")


HOSTILE = [
    "<script>alert(1)</script>", "*a* _b_ **c**", "[x](javascript:alert(1))", "# no title", "a | b | c", "&lt; $x^2$",
    "{py:class} and {{ x }}", "1 < 2 > 0", "~~gone~~ ![no](picture.png)", "back\\slash", "a lone ` tick",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_escaped_text_is_read_as_it_was(text: str) -> None:
    """Through the parser of the site, with its settings."""
    from docutils.core import publish_doctree
    from myst_parser.docutils_ import Parser

    from spec.site.myst import escaped

    made = publish_doctree(
        f"before {escaped(text)}", parser=Parser(),
        settings_overrides={"myst_disable_syntax": ["html_block", "html_inline"], "report_level": 2, "halt_level": 2},
    )
    assert made.astext() == f"before {text}"
    assert {type(node).__name__ for node in made.findall()} == {"document", "paragraph", "Text"}


def test_the_api_is_made_of_entries(site: Path, pages: dict[Path, Page]) -> None:
    module = site / "api/mx.mod.html"
    assert {"refimpl.module.Module", "refimpl.module.Module.bind"} <= set(pages[module].ids)
    shown = "".join(file.read_text(encoding="utf-8") for file in (site / "api").glob("*.html"))
    assert ":::" not in shown
    assert "{py:" not in shown


def test_search_finds_rules_by_name(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert '"split/half-to-even"' in index


@pytest.mark.parametrize("name", ["spec/reference/running/slicing", "spec/reference/graphs/gradient"])
def test_a_notebook_runs_as_its_chapter_does(site: Path, name: str, tmp_path: Path, monkeypatch) -> None:
    cells = json.loads((site / f"notebooks/{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    text = (trace.ROOT / f"{name}.md").read_text(encoding="utf-8")
    assert len(code) == 1 + len(trace.BLOCK.findall(text))
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    for cell in code:
        exec(cell, scope)
    assert scope["mx"] is mx
    assert scope["np"] is np


def test_every_chapter_with_python_has_a_notebook(site: Path) -> None:
    missing = [
        file for file in trace.chapters()
        if trace.BLOCK.search(file.read_text(encoding="utf-8"))
        and not (site / "notebooks" / file.relative_to(trace.ROOT).with_suffix(".ipynb")).is_file()
    ]
    assert not missing


@pytest.mark.parametrize(("name", "text"), [
    ("lenet-step", "The batch is cut"), ("svrg-step", "snapshot"), ("buckets-step", "one pool"),
    ("cluster", "Messages"),
])
def test_pages_of_the_running_system_are_embedded(site: Path, pages: dict[Path, Page], name: str, text: str) -> None:
    assert f"explain/{name}.html" in pages[site / f"{name}.html"].links
    assert text in (site / f"explain/{name}.html").read_text(encoding="utf-8")
