"""``refimpl launch``: one script as several workers, each a process, with servers between them."""

from __future__ import annotations

import re
import sys
from enum import Enum
from itertools import takewhile
from pathlib import Path
from typing import Annotated

import typer

from ..base import decides
from ..kvstore.machines.launch import Job
from ..kvstore.machines.launch import launch as run_job
from ..kvstore.machines.ray import RayEngine, is_near, shared_memory_is_small
from .errors import refuse


class Keep(str, Enum):
    """Where servers keep their state."""

    none = "none"
    process = "process"
    disk = "disk"
    peer = "peer"


_SWITCHES = re.compile(r"-[bBdEiIOqsSuvx]+")
"""The options of Python that take no value."""


@decides("Cli/launcher")
def _require_ours(launcher: str, hostfile: str | None) -> None:
    """Refuse options of MXNet's launcher that Ray replaces."""
    if hostfile is not None:
        raise refuse(
            "Cli/launcher",
            f"-H {hostfile}: machines are not listed in a file; start Ray on each (`ray start`), and give the first"
            " one's --address",
        )
    if launcher != "local":
        raise refuse(
            "Cli/launcher",
            f"--launcher {launcher}: jobs are started by Ray, on this machine or with --address on a Ray cluster;"
            " leave --launcher out",
        )


@decides("Cli/launch-command")
def _command(words: list[str]) -> list[str]:
    """The command of each worker: a Python file runs as with `refimpl run`, `refimpl` runs with this Python."""
    if not words:
        raise refuse("Cli/launch-command", "nothing to launch: `refimpl launch -n 2 -s 2 python train.py`")
    flags: list[str] = []
    if words[0] in ("python", "python3"):
        flags = list(takewhile(_SWITCHES.fullmatch, words[1:]))
        words = words[1 + len(flags):]
    elif words[0] == "refimpl":
        words = ["-m", "refimpl.cli", *words[1:]]
    elif not words[0].endswith(".py"):
        return words
    script = bool(words) and words[0].endswith(".py")
    return [sys.executable, *flags, *(["-m", "refimpl.cli", "run"] if script else []), *words]


def launch(
    command: Annotated[list[str] | None, typer.Argument(help="What each worker runs, with its arguments.")] = None,
    workers: Annotated[int, typer.Option("-n", "--num-workers", "--workers", min=1, help="How many workers.")] = 1,
    servers: Annotated[
        int | None, typer.Option("-s", "--num-servers", "--servers", min=1, help="How many servers; default: workers.")
    ] = None,
    keep: Annotated[
        Keep,
        typer.Option(
            help="none: a kill ends the job; process: it survives kills; disk: and power cuts; peer: and a lost disk,"
            " since the next server has a copy."
        ),
    ] = Keep.process,
    state: Annotated[
        Path | None, typer.Option(help="Where servers keep it; the same command goes on after the launcher was killed.")
    ] = None,
    address: Annotated[str | None, typer.Option(help="A Ray cluster that is there already, HOST:PORT.")] = None,
    events: Annotated[Path | None, typer.Option(help="Write what happens there, one JSON object to a line.")] = None,
    patience: Annotated[float, typer.Option(min=1, help="Seconds after which a worker gives up a wait.")] = 3600.0,
    launcher: Annotated[str, typer.Option("--launcher", hidden=True)] = "local",
    hostfile: Annotated[str | None, typer.Option("-H", "--hostfile", hidden=True)] = None,
) -> None:
    """Run a script as several workers, each a process, with servers between them.

    The script makes its store with mx.kv.create("dist_sync"). Processes that are killed are started again, and the
    job ends as if nothing had happened.
    """
    _require_ours(launcher, hostfile)
    small = shared_memory_is_small()
    if small:
        print(f"refimpl launch: {small}", file=sys.stderr)
    job = Job(
        workers, servers or workers, _command(command or []), keep.value, state, events, patience,
        remote=address is not None and not is_near(address),
    )
    raise typer.Exit(run_job(job, lambda folder, say: RayEngine(folder, address, say)))
