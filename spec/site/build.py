"""Builds the site: chapters, pages of operators, the API, the code, notebooks, and pages of running steps.

    python spec/site/build.py            into build/site
    python spec/site/build.py FOLDER     into FOLDER; open FOLDER/html/index.html

It needs no network, only ``pip install ".[docs]"``. Sources are first gathered in FOLDER/source as they stand in the
tree, so that links keep their places; a link that leads nowhere fails the build, and so does the name of a rule that
there is not.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import nbformat  # noqa: E402
from sphinx.cmd.build import build_main  # noqa: E402

import refimpl as mx  # noqa: E402
from refimpl import explain  # noqa: E402
from spec import ops, trace  # noqa: E402
from spec.site import api, matrix, notebooks, operator_pages  # noqa: E402
from spec.site.chapter import ABOUT, chapter, with_links_aimed  # noqa: E402
from spec.site.moved import MOVED, leading_to  # noqa: E402
from spec.site.myst import fenced  # noqa: E402

ACCESS = {
    "<pre>": '<pre tabindex="0">',  # wide code is scrolled by keyboard too
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
}
"""What is written into every page; text of files is escaped, so it holds neither."""
SCRIPTS = ROOT / "tests/examples/scripts"


class Running(NamedTuple):
    """A page of the running system: its title, the command that writes one like it, and what writes it here."""

    title: str
    command: str
    page: Callable[[], str]


RUNNING = {
    "lenet-step": Running(
        "A training step, from inside", "refimpl explain", lambda: explain.page(explain.digits())
    ),
    "svrg-step": Running(
        "A step of SVRG, from inside", "refimpl explain --step 50 svrg_digits.py -- --passes 3 --rows 64",
        lambda: explain.page(explain.script(SCRIPTS / "svrg_digits.py", ["--passes", "3", "--rows", "64"], 50)),
    ),
    "buckets-step": Running(
        "Buckets over one pool", "refimpl explain char_lstm_bucketing.py",
        lambda: explain.page(explain.script(SCRIPTS / "char_lstm_bucketing.py")),
    ),
    "cluster": Running(
        "A cluster, with faults and without", "refimpl explain --cluster",
        lambda: explain.cluster_page(explain.cluster()),
    ),
}
"""The pages that are made by running something, by their names."""
INTRODUCTIONS = {
    "operators": "A page of the tree holds everything about an operator or a family: what it computes, by which rules,"
    " and its parameters. [A table](ops.md) says what there is of each.",
    "api": "Every public class and function, from its docstring. The functions of `mx.nd` and `mx.sym` that are"
    " operators are on [their pages](operators.md).",
}


def tree(title: str, names: list[str], depth: int = 1) -> str:
    """A list of documents, for the navigation."""
    return fenced(f":caption: {title}\n:maxdepth: {depth}\n:hidden:\n\n" + "\n".join(names), "{toctree}")


def documents() -> Iterator[tuple[str, str]]:
    """(name, text) of every document."""
    for file in [*trace.chapters(), *(ROOT / name for name in ABOUT)]:
        name = file.relative_to(ROOT).with_suffix("").as_posix()
        head, _, rest = chapter(file).partition("\n")
        if file in trace.chapters() and trace.BLOCK.search(rest):
            link = f'<a href="{"../" * name.count("/")}notebooks/{name}.ipynb" download>This chapter as a notebook</a>'
            head += f'\n\n```{{raw}} html\n<p class="notebook">{link}</p>\n```'
        yield name, f"{head}\n{rest}"
    for folder, title, pages in (("operators", "Operators", operator_pages.pages()), ("api", "API", api.pages())):
        found = dict(pages)
        # Three hundred entries in every page's navigation would double the time of a build.
        yield from ((name, f"---\norphan: true\n---\n\n{text}") for name, text in found.items())
        listed = "".join(f"- [](<{name}.md>)\n" for name in found)
        yield folder, f"# {title}\n\n{INTRODUCTIONS[folder]}\n\n{listed}"
    yield "rules", _rules()
    yield "ops", with_links_aimed(ops.text(), ROOT / "ops.md")
    yield "matrix", matrix.text()
    for name, running in RUNNING.items():
        yield name, (
            f"# {running.title}\n\n`{running.command}` writes such a page;"
            f" [explain](spec/reference/tools/explain.md) says how to make one of your own script.\n\n```{{raw}} html\n"
            f'<p><a href="explain/{name}.html">The page alone</a></p>\n'
            f'<iframe class="whole" src="explain/{name}.html" title="{running.title}"></iframe>\n```\n'
        )


def _rules() -> str:
    subjects: dict[str, list[str]] = {}
    for name in mx.rules:
        subjects.setdefault(name.partition("/")[0], []).append(f"[{name}]")
    out = [f"# All rules\n\n{len(mx.rules)} rules by subject. The search finds a rule by its name too.\n"]
    out += [f"## {subject}\n\n{', '.join(names)}\n" for subject, names in sorted(subjects.items())]
    return "\n".join(out)


def listed() -> dict[str, list[str]]:
    """Heading of spec/README.md -> the documents of the chapters that stand beneath it; the course comes first."""
    _, *parts = re.split(r"^##+ (.+)\n", (ROOT / "spec/README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    found = {
        title: [f"spec/{name}" for name in dict.fromkeys(re.findall(r"\]\(([\w/-]+)\.md\)", beneath))]
        for title, beneath in zip(parts[::2], parts[1::2], strict=True)
    }
    return {title: chapters for title, chapters in found.items() if chapters}


def index() -> str:
    """The first page: README, and what leads everywhere."""
    (way, course), (reference, first), *shelves = listed().items()
    return "\n".join([
        chapter(ROOT / "README.md"), "",
        tree(way, course),
        tree("From inside", list(RUNNING)),
        tree(reference, ["spec/README", *first]),
        *(tree(title, chapters) for title, chapters in shelves),
        tree("Lists", ["rules", *INTRODUCTIONS, "ops", "matrix"]),
        tree("The project", [Path(name).stem for name in ABOUT]),
    ])


def write_sources(folder: Path) -> None:
    """Write every document, and the pictures of chapters."""
    shutil.rmtree(folder, ignore_errors=True)
    found = {name: text for name, text in documents() if name != "README"}
    found["index"] = index()
    for name, text in found.items():
        file = folder / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for picture in sorted((ROOT / "spec").rglob("*.svg")):
        target = folder / picture.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(picture, target)


def write_extras(html: Path) -> None:
    """Write what Sphinx does not make: notebooks, old addresses, pages of running steps, and help for keyboards."""
    for page in html.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for plain, better in ACCESS.items():
            text = text.replace(plain, better)
        page.write_text(text, encoding="utf-8")
    for file in trace.chapters():
        text = file.read_text(encoding="utf-8")
        name = file.relative_to(ROOT).with_suffix("")
        if trace.BLOCK.search(text):
            target = html / "notebooks" / name.with_suffix(".ipynb")
            target.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(notebooks.notebook(text, name.as_posix()), target)
    for old, new in MOVED.items():
        (html / f"{old}.html").write_text(leading_to(old, new), encoding="utf-8")
    (html / "explain").mkdir(exist_ok=True)
    for name, running in RUNNING.items():
        with contextlib.redirect_stdout(io.StringIO()):  # what a script prints
            (html / "explain" / f"{name}.html").write_text(running.page(), encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Run the script; returns its exit code."""
    parser = argparse.ArgumentParser(description="The site of the specification.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build/site", help="where to (build/site)")
    folder = parser.parse_args(arguments).folder.absolute()
    write_sources(folder / "source")
    options = ["-W", "--keep-going", "-q", "-b", "html", "-c", str(Path(__file__).parent), "-d", str(folder / "read")]
    failed = build_main([*options, str(folder / "source"), str(folder / "html")])
    if not failed:
        write_extras(folder / "html")
        print(f"open {folder / 'html/index.html'}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
