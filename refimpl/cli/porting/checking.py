"""Lists the names of MXNet in scripts that are missing here, and the deviations of the names that are here."""

from __future__ import annotations

import difflib
import importlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from ...base import decides
from ...quirks import quirks
from .imports import OWN, own_module
from .instead import PAGE, instead
from .touches import Deviation, touched
from .uses import Uses, scripts, uses


class Finding(NamedTuple):
    """A missing name: where it is used, and one line of advice."""

    file: Path
    line: int
    name: str
    said: str


class Report(NamedTuple):
    """The result of checking scripts."""

    files: list[Uses]
    missing: list[Finding]
    deviations: list[Deviation]

    @decides("check/report")
    def lines(self, *, whole: bool = False) -> Iterator[str]:
        """The report in lines: files in Python 2, missing names, quirks, deviations, and totals."""
        yield from (read.python_2 for read in self.files if read.python_2)
        for file, line, name, said in self.missing:
            yield f"{file}:{line}: {name} is missing: {said}"
        clauses = {one.clause for one in self.deviations}
        for quirk in quirks:
            if quirk.clause in clauses:
                yield f"quirk {quirk.name} [{quirk.clause}]: MXNet: {quirk.upstream}; here: {quirk.reason}"
        if whole:
            for clause, upstream, here in self.deviations:
                yield f"deviation {clause}: MXNet {upstream}; here: {here}"
        else:
            slugs = defaultdict(list)
            for one in self.deviations:
                subject, _, slug = one.clause.partition("/")
                slugs[subject].append(slug)
            for subject, names in slugs.items():
                yield f"deviations of {subject}: {', '.join(names)}"
        count = sum(len(read.names) for read in self.files)
        yield (
            f"files: {len(self.files)}; names of MXNet: {count}; missing: {len(self.missing)}; "
            f"deviations: {len(self.deviations)} (--deviations prints each)"
        )


def _listed(module: ModuleType) -> list[str]:
    return getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]


@decides("check/instead")
def _said(name: str, parent: ModuleType, part: str) -> str:
    """Advice about a missing name, from the table or from names like it."""
    known = instead(name)
    if known:
        return known
    near = difflib.get_close_matches(part, _listed(parent), n=1, cutoff=0.8)
    return f"did you mean {near[0]}?" if near else f"MXNet 1.9.1 may have it; see {PAGE}"


@cache
@decides("check/missing")
def absent(name: str) -> tuple[str, str] | None:
    """The shortest missing part of a dotted name, and its replacement; None where the whole name exists.

    Modules and the attributes of classes are followed; attributes of instances and results are not known.
    """
    here = importlib.import_module(OWN)
    path = name.split(".")
    for number, part in enumerate(path[1:], 2):
        whole = ".".join(path[:number])
        if isinstance(here, type):
            return None if hasattr(here, part) else (whole, f"{here.__name__} has no {part}")
        if not isinstance(here, ModuleType):
            return None
        if part in vars(here):
            here = vars(here)[part]
            continue
        below = own_module(whole)
        if below is not None:
            here = below
            continue
        try:
            found = getattr(here, part)
        except AttributeError:
            return whole, _said(whole, here, part)
        doc = getattr(found, "__doc__", None) or ""
        if doc.startswith("Not implemented: "):
            return whole, doc.removeprefix("Not implemented: ").rstrip(".")
        here = found
    return None


def check(paths: Iterable[Path]) -> Report:
    """Read scripts, and all below folders, without running them.

    Raises:
        OSError: a file cannot be read.
    """
    files = [uses(file) for file in scripts(paths)]
    missing: dict[tuple[Path, str], Finding] = {}
    for file in files:
        for use in file.names:
            gone = absent(use.name)
            if gone is not None:
                missing.setdefault((file.file, gone[0]), Finding(file.file, use.line, *gone))
    names = {use.name for file in files for use in file.names if absent(use.name) is None}
    words = {word for file in files for word in file.words}
    return Report(files, list(missing.values()), touched(names, words))
