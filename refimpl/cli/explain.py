"""``refimpl explain``: one training step, as a page for a browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import explain as explaining
from ..context import Context
from ..files.atomic import write_atomically
from .errors import refuse, say
from .options import (
    BatchOption,
    GpusOption,
    ServersOption,
    checkpoint_epochs,
    checkpoint_files,
    contexts,
    named_shapes,
    require_workers,
)
from .waiting import working


def explain(
    source: Annotated[
        str | None,
        typer.Argument(help="A script that trains a Module, or a checkpoint's prefix; default: LeNet on digits."),
    ] = None,
    arguments: Annotated[list[str] | None, typer.Argument(help="Arguments of the script, after --.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The page to write (default: step.html or cluster.html).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON; write no page.")] = False,
    step: Annotated[int, typer.Option(min=1, help="Which update of a script is explained.")] = 1,
    epoch: Annotated[int | None, typer.Option(min=0, help="Epoch of the checkpoint (default: the last).")] = None,
    cluster: Annotated[
        bool, typer.Option("--cluster", help="Show a cluster: of a script, an event log or a built-in program.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="With --cluster: what the network's faults are drawn from.")] = None,
    kvstore: Annotated[
        str | None, typer.Option(help="With --cluster: the store of the built-in program, dist_sync or dist_async.")
    ] = None,
    events: Annotated[
        Path | None, typer.Option(help="With --cluster: write the run with faults there too, one event to a line.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option("-n", "--workers", min=1, help="Run a script as so many workers of a cluster.")
    ] = None,
    servers: ServersOption = None,
    shape: Annotated[
        list[str] | None,
        typer.Option(help="Shape of a checkpoint's input, batch included: data=64,1,28,28. May be repeated."),
    ] = None,
    devices: Annotated[
        int | None, typer.Option(min=1, help="Train on cpu(0) to cpu(N-1) (default: 2, or 1 for a batch of one row).")
    ] = None,
    gpus: GpusOption = None,
    batch_size: BatchOption = 64,
) -> None:
    """Show one training step: slices, graph, memory, times, gradients, weights, and the rules behind them.

    A script runs until its first update, and no further. A checkpoint and the digits are trained one step here, on
    --devices, with a batch of --batch-size. With --cluster: the messages of workers and servers, with and without
    faults of the network.
    """
    target = output or Path("cluster.html" if cluster else "step.html")
    if not as_json:
        _require_folder(target)
    if cluster:
        shown = _of_cluster(source, arguments or [], workers, servers, seed, kvstore)
        if events is not None:
            explaining.write_events({**shown, **shown["runs"][0]}, events)
        _hand_out(shown, explaining.cluster_page, target, f"{len(shown['runs'][0]['events'])} events", as_json)
        return
    for option, given in (("--seed", seed), ("--kvstore", kvstore), ("--events", events)):
        if given is not None:
            raise refuse("Cli/cluster-options", f"{option} {given} is about a cluster: it needs --cluster")
    shapes = named_shapes(shape)
    require_workers(workers, servers)
    if source is not None and _is_script(source):
        found = explaining.script(source, arguments or [], step, workers, servers)
    else:
        if workers is not None:
            raise refuse("Cli/workers-need-script", f"--workers {workers} needs a script that each of them runs")
        least = min((sides[0] for sides in shapes.values() if sides), default=2)
        used = contexts(devices or max(1, min(2, least)), gpus, batch_size)
        with working("explaining", "steps"):
            found = _found(source, epoch, shapes, used, batch_size)
    _hand_out(found, explaining.page, target, f"{len(found['rules'])} rules", as_json)


def _hand_out(
    found: dict[str, Any], page: Callable[[dict[str, Any]], str], target: Path, counted: str, as_json: bool
) -> None:
    if as_json:
        print(json.dumps(found, indent=1, allow_nan=False))
        return
    write_atomically(str(target), page(found).encode())
    say(f"wrote {target}: {found['title']}, {counted}")


def _of_cluster(
    source: str | None, arguments: list[str], workers: int | None, servers: int | None, seed: int | None,
    kvstore: str | None,
) -> dict[str, Any]:
    given: dict[str, Any] = {
        name: value for name, value in (("workers", workers), ("servers", servers), ("seed", seed)) if value is not None
    }
    if source is None:
        return explaining.cluster(**given, kind=kvstore or "dist_sync")
    if kvstore is not None:
        raise refuse("Cli/cluster-options", f"--kvstore {kvstore} is for the built-in program: {source} has its own")
    if _is_script(source) and source.endswith(".py"):
        return explaining.cluster_script(source, arguments, **given)
    if not Path(source).is_file():
        raise refuse("Cli/explain-source", f"{source} does not exist; name a script, or an event log of a cluster")
    if given:
        raise refuse("Cli/cluster-options", f"{source} is an event log, which has its own workers, servers and seed")
    return explaining.logged(source)


def _require_folder(output: Path) -> None:
    if not output.absolute().parent.is_dir() or output.is_dir():
        raise refuse("Cli/folder-exists", f"{output} is a folder, or the folder that it should go to does not exist")


def _is_script(source: str) -> bool:
    if source.endswith(".py") and not Path(source).is_file():
        raise refuse("Cli/explain-source", f"{source} does not exist; name a script, or the prefix of a checkpoint")
    return Path(source).is_file()


def _found(
    source: str | None, epoch: int | None, shapes: dict[str, tuple[int, ...]], devices: list[Context], batch_size: int
) -> dict[str, Any]:
    if source is None:
        return explaining.digits(devices, batch_size)
    chosen = _last_epoch(source) if epoch is None else epoch
    checkpoint_files(source, chosen)
    return explaining.checkpoint(source, chosen, devices, batch_size, shapes)


def _last_epoch(prefix: str) -> int:
    """The greatest epoch of which there is a file."""
    numbers = checkpoint_epochs(prefix)
    if not numbers:
        raise refuse(
            "Cli/explain-source",
            f"{prefix} is no script and no checkpoint: neither {prefix} nor {prefix}-NNNN.params exists",
        )
    return numbers[-1]
