"""Writes the picture in ``ARCHITECTURE.md``: which part of the tree stands on which, read from its imports.

    python spec/picture.py            writes it
    python spec/picture.py --check    exit code 1 when it is out of date, or when the text beside it names a file,
                                      or a function or class in a file, that is not there

A part is a folder or a file directly in ``refimpl/`` or ``kernels/``; the pages of operators are one part. A part
stands one floor above the highest that it imports. An import inside a function counts too, unless the part that it
names stands on this one already: such an import reaches up, and is listed beneath the picture. Parts that import each
other share a floor, with ``=`` between them.
"""

from __future__ import annotations

import ast
import graphlib
import re
import sys
import textwrap
from collections import defaultdict
from collections.abc import Container
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from spec import generated  # noqa: E402
from tests.meta.imports import imports  # noqa: E402

FILE = Path("ARCHITECTURE.md")
BEGIN, END = "<!-- python spec/picture.py writes from here -->", "<!-- to here -->"
PAGES = "pages"
WIDTH = 88
MENTION = re.compile(r"`((?:refimpl|kernels|spec|tests)/[\w./-]*)`(?: \| `([\w.]+)` \|)?")

Edges = dict[str, set[str]]


class Parts(NamedTuple):
    """What the parts of a folder import from one another."""

    below: Edges
    up: Edges
    """Imports inside functions of what stands on the importing part."""


def _parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _reached(edges: Edges, part: str) -> set[str]:
    found, new = {part}, [part]
    while new:
        more = edges.get(new.pop(), set()) - found
        found |= more
        new += more
    return found


def _part(module: str, package: str, names: Container[str]) -> str:
    """The part that a module belongs to; none for another package, and for the package itself."""
    first, _, rest = module.partition(".")
    if first != package or not rest:
        return ""
    name = rest.partition(".")[0]
    return name if name in names else PAGES if PAGES in names else ""


def parts(root: Path) -> Parts:
    """The parts of ``refimpl/`` or ``kernels/``."""
    pages = root.name == "kernels"
    names = {PAGES} if pages else set()
    for path in root.iterdir():
        if path.is_dir() and not path.is_symlink() and (path / "__init__.py").is_file():
            names.add(path.name)
        elif path.suffix == ".py" and path.name != "__init__.py" and not pages:
            names.add(path.stem)
    below: Edges = {name: set() for name in sorted(names)}
    later: Edges = defaultdict(set)
    for each in imports(root):
        here, there = (_part(module, root.name, names) for module in (each.source, each.target))
        if here and there and here != there:
            (later if each.function else below)[here].add(there)
    up: Edges = {}
    for here in sorted(later):
        for there in sorted(later[here] - below[here]):
            if here in _reached(below, there):
                up.setdefault(here, set()).add(there)
            else:
                below[here].add(there)
    return Parts(below, up)


def groups(below: Edges) -> list[tuple[str, ...]]:
    """The parts; those that import each other, directly or not, are one group."""
    reached = {part: _reached(below, part) for part in below}
    return sorted({
        tuple(sorted(other for other in reached[part] if part in reached[other])) for part in below
    })


def floors(below: Edges) -> dict[tuple[str, ...], int]:
    """The floor of each group: 0 for one that imports no other."""
    of = {part: group for group in groups(below) for part in group}
    under = {group: {of[other] for part in group for other in below[part]} - {group} for group in of.values()}
    found: dict[tuple[str, ...], int] = {}
    for group in graphlib.TopologicalSorter(under).static_order():
        found[group] = 1 + max((found[other] for other in under[group]), default=-1)
    return found


def _stack(below: Edges) -> list[str]:
    """Rows of text for each floor, the highest first."""
    levels: dict[int, list[str]] = defaultdict(list)
    for group, floor in sorted(floors(below).items()):
        levels[floor].append(" = ".join(group))
    rows = []
    for floor in sorted(levels, reverse=True):
        lines = textwrap.wrap("   ".join(levels[floor]), WIDTH - 8)
        rows += [f"  {'' if number else floor:>2}  {line}" for number, line in enumerate(lines)]
    return rows


def picture(root: Path = ROOT) -> str:
    """The picture, and the parts that reach up."""
    machine, operators = parts(root / "refimpl"), parts(root / "kernels")
    out = [
        "```text", "refimpl/", *_stack(machine.below), "", "kernels/   (refimpl/kernels is a link to it)",
        *_stack(operators.below), "```", "",
    ]
    for here, there in sorted(machine.up.items()):
        out.append(f"* `{here}` reaches up to {', '.join(f'`{name}`' for name in sorted(there))} inside functions.")
    return "\n".join(out)


def written(root: Path = ROOT) -> str:
    """The whole file with the picture as it should be."""
    text = (root / FILE).read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{FILE} has no lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n{picture(root)}\n{END}{after}"


def _defined(file: Path) -> set[str]:
    """Names that a file binds at its top and in its classes: ``function``, ``Class``, ``Class.method``."""
    found: set[str] = set()

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.add(prefix + node.name)
                if isinstance(node, ast.ClassDef):
                    visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found.update(prefix + target.id for target in targets if isinstance(target, ast.Name))

    visit(_parsed(file).body, "")
    return found


def missing(root: Path = ROOT) -> list[str]:
    """Files, and functions in files, that the text names and that are not there."""
    found = []
    before, _, rest = (root / FILE).read_text(encoding="utf-8").partition(BEGIN)
    made, _, after = rest.partition(END)
    text = before + "\n" * made.count("\n") + after
    for mention in MENTION.finditer(text):
        path, name = root / mention[1], mention[2]
        line = text.count("\n", 0, mention.start()) + 1
        if not path.exists():
            found.append(f"{FILE}:{line}: there is no {mention[1]}")
        elif name and name not in _defined(path):
            found.append(f"{FILE}:{line}: {mention[1]} defines no {name}")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Run the script; returns its exit code."""
    check = generated.asks_check(arguments, "The picture of the parts and their imports.")
    problems = [*missing(), *generated.renew({ROOT / FILE: written()}, "picture", check=check)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
