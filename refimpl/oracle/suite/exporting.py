"""Writing a suite: cases in JSON lines, a manifest with hashes, schemas, and judges of one file each."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..explaining import page_clauses
from ..explaining.clauses import RULES, STEPS
from ..judging.reference import Program
from ..programs.interpreter import Refused
from ..programs.program import operators
from .choosing import VERSION, Chosen, chosen
from .elements import with_elements
from .expecting import Unproved, expected_arrays

Case = dict[str, Any]
FORMAT = 1
"""The version of the files' form."""
LEVELS = (1, 2, 3, 4, 5, 6)
PROGRAMS = 8
"""Cases of level 2 that an operator has by default."""
LARGEST = 8000
"""Elements that the expected arrays of a case may have."""
HERE = Path(__file__).parent
WITH = ("judge.js", "judge.c", "RULE.md")
"""Files that every suite has, besides schemas."""
LICENCE = "Apache-2.0"


def cases(
    seed: int = 0, levels: Sequence[int] = LEVELS, programs: int = PROGRAMS, only: Sequence[str] | None = None
) -> Iterator[Case]:
    """The cases of a suite, one after the other.

    Args:
        seed: the seed of the drawing.
        levels: from 1 to 6.
        programs: how many cases of level 2 each operator has; see ``choosing.chosen``.
        only: names of operators; None for all, and for programs of several.
    """
    expected: dict[int, Any] = {}

    def usable(program: Program) -> bool:
        filled = with_elements(program)
        try:
            arrays = expected_arrays(filled)
        except (Refused, Unproved):
            return False
        expected.clear()
        expected[id(program)] = filled, arrays
        return sum(len(array.get("elements", ())) for array in arrays.values()) <= LARGEST

    for each in chosen(seed, levels, programs, only, usable):
        yield case_of(each, *expected[id(each.program)])


def case_of(each: Chosen, program: Program, arrays: dict[str, Any]) -> Case:
    """A case of a chosen program.

    Args:
        each: the program as it was drawn.
        program: the same with elements.
        arrays: its expected arrays.
    """
    return {
        "case": each.name, "level": program["level"], "operators": sorted(set(operators(program))),
        "clauses": clauses_of(program), "tier": tier_of(arrays), "corner": each.corner,
        "styles": sorted(_styles(each.program)), "program": program, "trace": arrays,
    }


def tier_of(arrays: dict[str, Any]) -> str:
    """``bounded`` if an element has a bound above 0, else ``exact`` if one has the bound 0, else ``free``."""
    kinds = set()
    for array in arrays.values():
        bounds = array["bound"] if isinstance(array["bound"], list) else [array["bound"]]
        kinds |= {"free" if b == "free" else "bounded" if b else "exact" for b in bounds}
    return "bounded" if "bounded" in kinds else "exact" if "exact" in kinds else "free"


def _styles(value: Any) -> set[str]:
    """The styles of values in a program."""
    if isinstance(value, list):
        return set().union(*map(_styles, value))
    if not isinstance(value, dict):
        return set()
    own = {value["style"]} if isinstance(value.get("style"), str) else set()
    return own.union(*map(_styles, value.values()))


def _decisive(node: dict[str, Any], place: str) -> str:
    """The clause of an operator's page that decides one place."""
    return page_clauses.decisive(page_clauses.Case(node["op"], place, node.get("attrs", {})))


def clauses_of(program: Program) -> list[str]:
    """The clauses that decide what a program shows: of its operators' pages, above level 2 of its steps."""
    level, steps = program["level"], program["steps"]
    if level <= 2:
        places = ["output", *({step["do"] for step in steps} & {"backward"} and ["gradient"])]
        nodes = [node for node in program["nodes"] if node["op"] != "null"]
        found = {_decisive(node, place) for node in nodes for place in places}
    else:
        known = STEPS[3] | STEPS[4] if level == 4 else STEPS[level]
        found = {known.get(step["do"], "") for step in steps}
        found |= {RULES.get(str(step.get("optimizer", "")).lower(), "") for step in steps}
    return sorted(found - {""})


def export(
    folder: Path, seed: int = 0, levels: Sequence[int] = LEVELS, programs: int = PROGRAMS,
    only: Sequence[str] | None = None, note: Callable[[str], None] | None = None, folders: Any = None,
) -> dict[str, Any]:
    """Write a suite; the same arguments give the same bytes.

    Args:
        folder: a folder that does not exist yet, or is empty.
        seed: the seed of the drawing.
        levels: from 1 to 6.
        programs: how many cases of level 2 each operator has.
        only: names of operators; None for all.
        note: is told the name of every case.
        folders: an ``onnx_folders.Folders`` of the same folder, which writes cases of level 1 as tests of ONNX too.

    Returns:
        the manifest.

    Raises:
        ValueError: the folder has content.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is no empty folder")
    (folder / "cases").mkdir(parents=True)
    counts: dict[str, Counter[str]] = {"levels": Counter(), "tiers": Counter(), "elements": Counter()}
    names: set[str] = set()
    files: list[dict[str, Any]] = []
    for level in levels:
        path = folder / "cases" / f"level{level}.jsonl"
        count = 0
        with path.open("w", encoding="utf-8", newline="\n") as file:
            for case in cases(seed, [level], programs, only):
                file.write(json.dumps(case, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n")
                count += 1
                names.update(case["operators"])
                _count(counts, case)
                if folders is not None and level == 1:
                    folders.write(case)
                if note is not None:
                    note(case["case"])
        files.append({"file": f"cases/{path.name}", "cases": count, "sha256": _hash(path)})
    for name in WITH:
        shutil.copyfile(HERE / name, folder / name)
    shutil.copytree(HERE / "schema", folder / "schema")
    manifest = {
        "suite": FORMAT, "version": VERSION, "licence": LICENCE, "seed": seed, "programs": programs,
        "cases": sum(file["cases"] for file in files), "files": files, "operators": sorted(names),
        **{key: dict(sorted(each.items())) for key, each in counts.items()},
        **({} if folders is None else {"onnx": folders.count}),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8", newline="\n")
    return manifest


def _count(counts: dict[str, Counter[str]], case: Case) -> None:
    counts["levels"][str(case["level"])] += 1
    counts["tiers"][case["tier"]] += 1
    for array in case["trace"].values():
        bounds = array["bound"]
        size = len(array.get("elements", ())) or 1
        for bound in bounds if isinstance(bounds, list) else [bounds] * size:
            counts["elements"]["free" if bound == "free" else "bounded" if bound else "exact"] += 1


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
