"""``refimpl check``: names that scripts written for MXNet use and that are missing or different here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import porting
from .errors import refuse, say


def check(
    paths: Annotated[list[Path], typer.Argument(help="Python files, or folders of them.")],
    deviations: Annotated[bool, typer.Option("--deviations", help="Print each deviation, not only its name.")] = False,
) -> None:
    """List the names of MXNet in scripts that are missing here, with a replacement, or that differ; run nothing.

    Ends with exit code 1 when a name is missing.
    """
    for path in paths:
        if not path.exists():
            raise refuse("Cli/check-exists", f"{path} does not exist; `refimpl check` takes files and folders")
    report = porting.check(paths)
    for line in report.lines(whole=deviations):
        say(line)
    raise typer.Exit(1 if report.missing else 0)
