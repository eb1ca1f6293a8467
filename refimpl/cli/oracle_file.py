"""``refimpl oracle file``: backends in other languages, and the schemas of programs and messages."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..base import did_you_mean
from .errors import refuse

PACKAGE = Path(__file__).resolve().parents[1] / "oracle"
FOLDERS = ("languages", "schema")
"""Those of the package ``refimpl.oracle`` whose files are printed."""


def file(
    name: Annotated[str, typer.Argument(help="A file; without a name all are listed.")] = "",
) -> None:
    """Print a file for people who write in other languages: `refimpl oracle file backend.js > backend.js`."""
    files = {path.name: path for folder in FOLDERS for path in sorted((PACKAGE / folder).iterdir()) if path.is_file()}
    if name and name not in files:
        raise refuse("Cli/oracle-input", f"there is no file {name!r}; {did_you_mean(name, list(files))}"
                                         "`refimpl oracle file` lists them")
    sys.stdout.write(files[name].read_text(encoding="utf-8") if name else "\n".join(files) + "\n")
