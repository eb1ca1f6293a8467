"""``refimpl explain``: one training step, as a page for a browser."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import explain as explaining
from ..context import Context
from ..files.atomic import write_atomically
from .errors import refuse
from .options import BatchOption, DevicesOption, GpusOption, checkpoint_epochs, checkpoint_files, contexts, named_shapes
from .waiting import working


def explain(
    source: Annotated[
        str | None,
        typer.Argument(help="A script that trains a Module, or a checkpoint's prefix; default: LeNet on digits."),
    ] = None,
    arguments: Annotated[list[str] | None, typer.Argument(help="Arguments of the script, after --.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path("step.html"),
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON; write no page.")] = False,
    step: Annotated[int, typer.Option(min=1, help="Which update of a script is explained.")] = 1,
    epoch: Annotated[int | None, typer.Option(min=0, help="Epoch of the checkpoint (default: the last).")] = None,
    shape: Annotated[
        list[str] | None,
        typer.Option(help="Shape of a checkpoint's input, batch included: data=64,1,28,28. May be repeated."),
    ] = None,
    devices: DevicesOption = 2,
    gpus: GpusOption = None,
    batch_size: BatchOption = 64,
) -> None:
    """Show one training step: slices, graph, memory, times, gradients, weights, and the rules behind them.

    A script runs until its first update, and no further. A checkpoint and the digits are trained one step here, on
    --devices, with a batch of --batch-size.
    """
    shapes = named_shapes(shape)
    if not as_json:
        _require_folder(output)
    used = contexts(devices, gpus, batch_size)
    is_script = source is not None and source.endswith(".py")  # which prints what it wants
    with contextlib.nullcontext() if is_script else working("explaining", "steps"):
        found = _found(source, arguments or [], step, epoch, shapes, used, batch_size)
    if as_json:
        print(json.dumps(found, indent=1, allow_nan=False))
        return
    write_atomically(str(output), explaining.page(found).encode())
    print(f"wrote {output}: {found['title']}, {len(found['rules'])} rules")


def _require_folder(output: Path) -> None:
    if not output.absolute().parent.is_dir() or output.is_dir():
        raise refuse("Cli/folder-exists", f"{output} is a folder, or the folder that it should go to does not exist")


def _found(
    source: str | None, arguments: list[str], step: int, epoch: int | None, shapes: dict[str, tuple[int, ...]],
    devices: list[Context], batch_size: int,
) -> dict[str, Any]:
    if source is None:
        return explaining.digits(devices, batch_size)
    if source.endswith(".py") or Path(source).is_file():
        if not Path(source).is_file():
            raise refuse("Cli/explain-source", f"{source} does not exist; name a script, or the prefix of a checkpoint")
        return explaining.script(source, arguments, step)
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
