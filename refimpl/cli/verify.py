"""``refimpl verify``: which layer of another implementation differs first, and what the difference looks like."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..base import decides
from . import verifying
from .errors import refuse
from .feeding import ShapeOption
from .loaded import Network, Shapes
from .options import named_shapes
from .waiting import working


@decides("Cli/verify")
def verify(
    prefix: Annotated[str, typer.Argument(help="Checkpoint prefix.")],
    epoch: Annotated[int, typer.Argument(min=0, help="Checkpoint epoch.")],
    reference: Annotated[
        str,
        typer.Argument(
            help="An npz file with inputs and outputs of layers, a PyTorch module (.py), an ONNX file, or a second"
            " prefix."
        ),
    ],
    reference_epoch: Annotated[int | None, typer.Argument(min=0, help="Epoch of the second checkpoint.")] = None,
    shape: ShapeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Name the first layer whose output in a reference differs by more than rounding, and say what it looks like.

    Ends with exit code 1 when a layer differs.
    """
    given = named_shapes(shape)
    _require_reference(reference, reference_epoch, given=bool(given))
    with working("comparing", "outputs") as work:
        work.note = f"reading {prefix}"
        network = Network(prefix, epoch)
        if Path(reference).suffix in verifying.SUFFIXES:
            work.note = f"running {reference}"
            of_file = verifying.of_module if reference.endswith(".py") else verifying.of_onnx
            values = of_file(network, reference, given or _stated(network))
        elif reference_epoch is None:
            values = verifying.of_npz(network, reference)
        else:
            work.note = f"computing {reference}"
            other = Network(reference, reference_epoch)
            values = verifying.of_checkpoint(network, other, given or _stated(network))
        work.total, work.note = len(network.net.get_internals().entries) - len(network.net.list_inputs()), ""

        def told(done: int) -> None:
            work.done = done

        found = verifying.verified(network, values.inputs, values.outputs, values.unit, told)
    found |= {"epoch": epoch, "reference": reference, "reference_epoch": reference_epoch}
    if as_json:
        print(json.dumps(found, indent=1, allow_nan=False))
    else:
        for line in verifying.lines(found):
            print(line)
    raise typer.Exit(1 if found["first"] else 0)


def _stated(network: Network) -> Shapes:
    """The shape of the input that the symbol's file states."""
    name = network.data()
    stated = network.stated(name)
    if stated is None:
        raise refuse("Cli/input-shape", f"give the shape of the input: --shape {name}=1,3,224,224")
    return {name: (max(stated[0], 1), *stated[1:])}


def _require_reference(reference: str, epoch: int | None, *, given: bool) -> None:
    is_file = Path(reference).is_file()
    if epoch is None and not is_file:
        more = "; a second checkpoint needs its epoch behind it" if Path(f"{reference}-symbol.json").is_file() else ""
        what = "is no file" if Path(reference).exists() else "does not exist"
        raise refuse("Verify/reference", f"{reference} {what}; an npz file is expected{more}")
    if epoch is not None and is_file and Path(reference).suffix in verifying.SUFFIXES:
        raise refuse("Verify/reference", f"{reference} is a file; an epoch belongs to a second checkpoint")
    if epoch is None and given and Path(reference).suffix not in verifying.SUFFIXES:
        raise refuse("Verify/reference", f"{reference} holds the inputs; --shape is for a second checkpoint")
