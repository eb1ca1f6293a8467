"""The process that runs a student's code: ``python -m refimpl.cli.labs.child LAB FILE``; a JSON line for each event."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from ...base import decides
from . import LABS
from .call_recorder import TOO_LONG, Watched, own_line


def main(name: str, file: str) -> None:
    """Judge a file, and write the verdict to the original standard output; the student's own output is discarded."""
    lab, out = LABS[name], os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  # as long as the process

    def tell(**event: Any) -> None:
        print(json.dumps(event), file=out, flush=True)

    def overdue(lines: list[str], line: str) -> None:
        tell(overdue={"calls": lines, "line": line, "seconds": lab.seconds})
        os._exit(TOO_LONG)

    module = sys.modules[f"lab_{lab.module}"] = ModuleType(f"lab_{lab.module}")
    module.__file__ = file
    if borrowed := lab.answers & _names(file):
        tell(borrowed=" and ".join(sorted(borrowed)))
        return
    watched = Watched(module, lab.seconds, overdue)
    try:
        watched.call("import", _run, (module, file), {})
    except BaseException as error:  # noqa: BLE001  # it is the student's code
        told = own_line(traceback.extract_tb(error.__traceback__), module)
        if isinstance(error, SyntaxError):
            told = f"line {error.lineno}: {(error.text or '').strip()}"
        tell(unread={"error": f"{type(error).__name__}: {error}", "line": told})
        return
    judging = importlib.import_module("refimpl.cli.labs.judging")  # Hypothesis is an extra
    verdicts = judging.judge(lab, watched, module, lambda clause: tell(trying=clause))
    tell(verdicts=[verdict.plain() for verdict in verdicts])


@decides("Labs/own-work")
def _names(file: str) -> set[str]:
    """The names that a file takes from modules, by import or with a dot; none where it cannot be parsed."""
    try:
        nodes = list(ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))))
    except (SyntaxError, ValueError):
        return set()  # running it will say where
    imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
    paths = [getattr(node, "module", None) or "" for node in imports]
    paths += [alias.name for node in imports for alias in node.names]
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return attributes | {part for path in paths for part in path.split(".")}


def _run(module: ModuleType, file: str) -> None:
    code = compile(Path(file).read_text(encoding="utf-8"), file, "exec")
    exec(code, module.__dict__)  # noqa: S102  # the student's own file, in a process of its own


if __name__ == "__main__":
    main(*sys.argv[1:])
