"""``refimpl run``: a script written for MXNet, unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import porting
from .errors import refuse
from .options import ServersOption, require_workers


def run_script(
    script: Annotated[Path, typer.Argument(help="A Python file that imports mxnet.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="Arguments of the script, flags too.")] = None,
    cpu: Annotated[bool, typer.Option("--cpu", help="Take cpu(i) wherever the script says gpu(i).")] = False,
    workers: Annotated[
        int | None, typer.Option("-n", "--workers", min=1, help="Run it as so many workers of a simulated cluster.")
    ] = None,
    servers: ServersOption = None,
) -> None:
    """Run a script that was written for MXNet, with refimpl in MXNet's place.

    Everything after the script's name goes to the script. Replaced names are listed on standard error at the end.
    """
    require_workers(workers, servers)
    if not script.is_file():
        raise refuse("Cli/script-exists", f"{script} is not a file; `refimpl run` takes a Python script")
    raise typer.Exit(porting.run(script, arguments or [], cpu=cpu, workers=workers, servers=servers))
