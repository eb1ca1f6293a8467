"""Pages of operators: what ``refimpl ops NAME`` prints, as chapters of the site."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from refimpl.kernels import distinct
from refimpl.kernels.foundation import Op
from refimpl.op_registry import docs, facts
from refimpl.op_registry.pages import read
from spec.site.myst import escaped, fenced
from spec.trace import ROOT, written


def pages(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """(name of the document, its text) for every file in ``kernels/`` that states rules."""
    files = {clause.file for clause in written(root) if clause.file.parts[0] == "kernels"}
    operators: dict[str, list[Op]] = {}
    for op in distinct():
        operators.setdefault(facts.file_of(op), []).append(op)
    for file in sorted(files | {Path(name) for name in operators if name.startswith("kernels/")}):
        yield document(file), _page(root, file, operators.get(file.as_posix(), []))


def document(file: Path) -> str:
    """The document about a file of ``kernels/``."""
    return "/".join(("operators", *file.with_suffix("").parts[1:]))


def _page(root: Path, file: Path, ops: list[Op]) -> str:
    page = read(ast.get_docstring(ast.parse((root / file).read_text(encoding="utf-8"))) or "")
    names = [op.name for op in ops if not facts.is_internal(op)]
    title = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "") if names else file.stem.replace("_", " ")
    out = [f"# {escaped(title)}\n", escaped(page.summary[:1].upper() + page.summary[1:]) + "\n"]
    out.append(f"The page in the tree is ``{file.as_posix()}``.\n")
    if page.notes:
        out.append(fenced(page.notes, "text"))
    out += ["## Rules\n"] if page.clauses else []
    for clause in page.clauses:
        out.append(f"**[{clause.name}]** {escaped(clause.text)}\n")
        out += [fenced("\n".join(clause.examples))] if clause.examples else []
    for op in ops:
        if not facts.is_internal(op):
            out += _operator(op)
    return "\n".join(out)


def _operator(op: Op) -> Iterator[str]:
    yield f"## {escaped(op.name)}\n"
    yield fenced(f"mx.nd.{op.name}{docs.signature(op, 'NDArray')}")
    yield escaped(f"Gradient: {docs.gradient(op)[:1].lower()}{docs.gradient(op)[1:]}") + "\n"
    rows = docs.parameters(op)
    if rows:
        yield "| parameter | type | default |\n|---|---|---|"
        yield "\n".join(f"| ``{name}`` | {escaped(kind)} | {escaped(given)} |" for name, kind, given in rows) + "\n"
