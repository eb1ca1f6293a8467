"""What the files for newcomers name is there: files, commands of the Makefile, lanes."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from refimpl.rules import rules
from spec.site.chapter import ABOUT, chapter, with_links_aimed
from spec.trace import chapters

ROOT = Path(__file__).parents[2]
TEXTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "ARCHITECTURE.md", ".github/PULL_REQUEST_TEMPLATE.md"]
PATH = re.compile(r"`((?:\.ci|\.github|kernels|refimpl|spec|tests)/[\w./-]*|[A-Z]+\.md|[\w.-]+\.(?:toml|yaml))`")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[\w-]+)?\)")
CHAPTER = re.compile(r"(?<![\w/])spec/[\w/-]+\.md")
TASK = re.compile(r"`make (\w+)`")
MODULE = re.compile(r"python -m (tests\.\w+)")
SCRIPT = re.compile(r"(?:python|bash) ([\w.]+/[\w.]+)")


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_named_is_there(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    links = [str(Path(name).parent / link) for link in LINK.findall(text)]
    modules = [module.replace(".", "/") for module in MODULE.findall(text)]
    files = [*PATH.findall(text), *SCRIPT.findall(text), *links, *modules]
    assert files or TASK.search(text)
    assert [file for file in files if not (ROOT / file).exists()] == []
    tasks = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(TASK.findall(text)) <= tasks


@pytest.mark.parametrize(
    "file",
    [*chapters(), *(ROOT / name for name in (*ABOUT, "README.md"))],
    ids=lambda file: str(file.relative_to(ROOT)),
)
def test_links_of_chapters_lead_to_pages_of_the_site(file: Path) -> None:
    chapter(file)


def test_every_chapter_is_listed() -> None:
    beneath = ROOT / "spec"
    linked = {beneath / link for link in LINK.findall((beneath / "README.md").read_text(encoding="utf-8"))}
    assert linked == {*chapters()} - {ROOT / "README.md", beneath / "README.md"}


def test_chapters_that_code_names_are_there() -> None:
    folders, kinds = ("refimpl", "kernels", "tests", "spec", ".ci", ".github"), ("py", "toml", "yml")
    files = {file for folder in folders for kind in kinds for file in (ROOT / folder).rglob(f"*.{kind}")}
    files -= {ROOT / "tests/meta/test_trace.py"}  # its chapters are those of small trees
    named = {(file, path) for file in files for path in CHAPTER.findall(file.read_text(encoding="utf-8"))}
    assert len(named) > 40
    assert {(str(file), path) for file, path in named if not (ROOT / path).is_file()} == set()


SHARED = {
    "__init__", "__main__", "conftest",  # Python's and pytest's
    "base", "contrib", "random",  # MXNet's: mx.base, mx.kvstore.base; mx.nd.random, mx.sym.random, ...
}


def test_a_file_is_found_by_its_name() -> None:
    """At most two files have one name; tests of one subject may, in the folders of several kinds of tests."""
    names = Counter(
        file.stem for folder in ("refimpl", "tests", "spec") for file in (ROOT / folder).rglob("*.py")
        if file.relative_to(ROOT).parts[:2] != ("refimpl", "kernels") and not file.stem.startswith("test_")
    )
    assert {name for name, files in names.items() if files > 2} == SHARED


def test_a_link_to_a_folder_is_refused() -> None:
    file, tests = ROOT / "spec/records/speed.md", "../../tests"
    law = f"{tests}/laws/test_tuned.py#L3"
    assert with_links_aimed(f"[law]({law})", file) == "[law](file:tests/laws/test_tuned.py#L3)"
    assert with_links_aimed(f"`[code]({tests})`", file) == f"`[code]({tests})`"
    with pytest.raises(ValueError, match=r"^spec/records/speed.md links to \.\./\.\./tests, which is not on the site$"):
        with_links_aimed(f"[all]({tests})", file)


def test_tasks_of_the_makefile_name_what_is_there() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = [*SCRIPT.findall(text), *(module.replace(".", "/") for module in MODULE.findall(text))]
    assert len(named) > 8
    assert [file for file in named if not (ROOT / file).exists()] == []
    listed = set(re.search(r"^\.PHONY: (.+)$", text, re.MULTILINE)[1].split())
    assert listed == set(re.findall(r"^(\w+):.*## ", text, re.MULTILINE))


def test_the_workflow_asks_for_lanes_that_there_are() -> None:
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    lanes = set(re.search(r'^lanes=" all (.+) "$', script, re.MULTILINE)[1].split())
    assert lanes == set(re.findall(r"^ *lane (\w+) ", script, re.MULTILINE))
    workflow = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    several = re.search(r"lane: \[(.+)\]", workflow)[1].split(", ")
    asked = " ".join(re.findall(r"bash \.ci/run ([a-z ]+)$", workflow, re.MULTILINE)).split()
    assert {*asked, *several} == lanes - {"mutants"}


def test_rules_that_the_page_on_security_names_are_there() -> None:
    named = re.findall(r"`([\w-]+/[\w-]+)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8"))
    assert len(named) > 15
    assert [name for name in named if name not in rules] == []
