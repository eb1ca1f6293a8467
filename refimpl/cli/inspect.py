"""``refimpl inspect``: the content of a checkpoint, its problems, and the deviations of its operators."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..base import decides
from . import inspecting
from .errors import refuse
from .options import BucketOption, checkpoint_epochs, named_shapes, symbol_file
from .waiting import working


@decides("Cli/inspect")
def inspect(
    prefix: Annotated[str, typer.Argument(help="Prefix of the checkpoint: PREFIX-symbol.json, PREFIX-0010.params.")],
    epoch: Annotated[int | None, typer.Argument(min=0, help="Epoch of the parameters; default: the newest.")] = None,
    shape: Annotated[
        list[str] | None, typer.Option(help="Shape of an input, batch included: data=1,3,224,224. May be repeated."),
    ] = None,
    bucket: BucketOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
    deviations: Annotated[bool, typer.Option("--deviations", help="Print each deviation, not only its name.")] = False,
) -> None:
    """Describe a checkpoint: layers, shapes, parameters, damage, deviations; compute nothing.

    Ends with exit code 1 when something is damaged or missing.
    """
    shapes = named_shapes(shape)
    here = checkpoint_epochs(prefix)
    if bucket is not None:
        symbol_file(prefix, bucket)
    if not here and not any(Path(f"{prefix}{end}").is_file() for end in ("-symbol.json", ".buckets")):
        raise refuse(
            "Cli/inspect-source",
            f"{prefix} is no checkpoint: neither {prefix}-symbol.json nor {prefix}-NNNN.params exists",
        )
    if epoch is not None and epoch not in here:
        there = f"there are {', '.join(map(str, here))}" if here else "there is none"
        raise refuse("Cli/inspect-source", f"{prefix} has no params file of epoch {epoch}; {there}")
    chosen = here[-1] if epoch is None and here else epoch
    with working("inspecting", ""):
        found = inspecting.inspected(prefix, chosen, shapes, bucket)
    if as_json:
        print(json.dumps(found, indent=1, allow_nan=False))
    else:
        for line in inspecting.lines(found, whole=deviations):
            print(line)
    raise typer.Exit(1 if found["problems"] else 0)
