"""What the scripts that write files have in common: a file is written anew, or with ``--check`` only compared."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def asks_check(arguments: Sequence[str] | None, description: str) -> bool:
    """Whether the command line says ``--check``."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is out of date")
    return parser.parse_args(arguments).check


def outdated(files: Mapping[Path, str]) -> list[Path]:
    """The files that are not there, or hold another text than the one given."""
    return [file for file, text in files.items() if not file.is_file() or file.read_text(encoding="utf-8") != text]


def renew(files: Mapping[Path, str], script: str, *, check: bool) -> list[str]:
    """Write the files that are out of date; with ``check`` nothing is written, and each is a problem.

    Args:
        files: what each file should hold.
        script: the name of the script in ``spec/`` that writes them.
        check: whether the files are only compared.
    """
    old = outdated(files)
    if check:
        return [f"{file.relative_to(ROOT).as_posix()} is out of date: run python spec/{script}.py" for file in old]
    for file in old:
        file.write_text(files[file], encoding="utf-8")
    return []
