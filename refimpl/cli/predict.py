"""``refimpl predict``: the outputs of a checkpoint's network for pictures or arrays."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from ..files.atomic import write_atomically
from . import feeding
from .answers import Answers, finds_boxes, read_synset
from .errors import refuse, say
from .feeding import (
    Feed,
    MeanOption,
    NpzOption,
    RecOption,
    ResizeOption,
    ScaleOption,
    ShapeOption,
    StdOption,
)
from .loaded import Network, Shapes
from .options import BucketOption, named_shapes
from .waiting import working


def predict(
    prefix: Annotated[str, typer.Argument(help="Checkpoint prefix.")],
    epoch: Annotated[int, typer.Argument(min=0, help="Checkpoint epoch.")],
    more: Annotated[list[str] | None, typer.Argument(help="More pictures.", metavar="[FILE]...")] = None,
    image: Annotated[
        list[str] | None, typer.Option(help="A picture; others may follow, as --image a.jpg b.jpg.")
    ] = None,
    npz: NpzOption = None,
    rec: RecOption = None,
    shape: ShapeOption = None,
    bucket: BucketOption = None,
    mean: MeanOption = None,
    std: StdOption = None,
    scale: ScaleOption = 1.0,
    resize: ResizeOption = None,
    synset: Annotated[str | None, typer.Option(help="Names of the classes, one a line.")] = None,
    top: Annotated[int, typer.Option(min=1, help="Classes that are named for each row.")] = 5,
    threshold: Annotated[float, typer.Option(help="The least score of a box that is named.")] = 0.5,
    batch_size: Annotated[
        int | None, typer.Option(min=1, help="Rows of one batch (default: 16 pictures, a whole npz file).")
    ] = None,
    output: Annotated[
        str | None, typer.Option(help="An output of a layer, such as pool_output, in place of the network's.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Write inputs and outputs to this npz file.")] = None,
) -> None:
    """Run a checkpoint on pictures, arrays or records, and say which classes or boxes it finds.

    With --shape alone the input is random numbers.
    """
    seen = feeding.look(mean, std, scale, resize)
    names = None if synset is None else read_synset(synset)
    if save is not None:
        _require_folder(save)
    given = named_shapes(shape)
    _require_source(image, more, npz, rec, given)
    with working("predicting", "rows") as work:
        work.note = f"reading {prefix}"
        network = Network(prefix, epoch, output, bucket=bucket)
        feed = _feed(network, [*(image or []), *(more or [])], npz, rec, given, seen, batch_size)
        work.total, work.note = feed.rows, "binding"
        module = network.module(feed.shapes)
        answers = Answers(network.net, names, top, threshold)
        answers.require_names([shape for _, shape in module.output_shapes])
        inputs: list[list[np.ndarray]] = []
        outputs: list[list[np.ndarray]] = []
        work.note = ""
        for batch in feed.batches:
            module.forward(batch, is_train=False)
            pad, rows = batch.pad or 0, len(batch.data[0])
            outputs.append([feeding.without(value.asnumpy(), pad, rows) for value in module.get_outputs()])
            if save is not None:
                inputs.append([feeding.without(value.asnumpy(), pad, rows) for value in batch.data])
            work.done += rows - pad
    joined = [np.concatenate(parts) if len(parts) > 1 else parts[0] for parts in zip(*outputs, strict=True)]
    for line in answers.lines(joined, feed.names):
        say(line)
    if save is not None:
        held = [np.concatenate(parts) for parts in zip(*inputs, strict=True)]
        _save(save, dict(zip([*feed.shapes, *network.net.list_outputs()], held + joined, strict=True)))
        say(f"wrote {save}")


def _require_folder(save: Path) -> None:
    folder = save.absolute().parent
    if not folder.is_dir() or save.is_dir() or not os.access(folder, os.W_OK):
        raise refuse("Cli/folder-exists", f"--save {save}: its folder does not exist or cannot be written to")


def _require_source(
    image: list[str] | None, more: list[str] | None, npz: str | None, rec: str | None, given: Shapes
) -> None:
    if more and not image:
        raise refuse("Cli/source", f"{more[0]}: pictures stand behind --image")
    sources = [flag for flag, value in (("--image", image), ("--npz", npz), ("--rec", rec)) if value]
    if len(sources) > 1 or not (sources or given):
        raise refuse(
            "Cli/source",
            f"give one of --image, --npz, --rec, or --shape for random input, not {' and '.join(sources) or 'none'}",
        )


def _feed(
    network: Network, files: list[str], npz: str | None, rec: str | None, given: Shapes, seen: feeding.Look,
    size: int | None,
) -> Feed:
    if files:
        return feeding.pictures(network, files, given, seen, size, whole=finds_boxes(network.net))
    if rec is not None:
        return feeding.records(network, rec, given, seen, size)
    if npz is not None:
        arrays = feeding.read_npz(npz)
        named = network.data_of(arrays, f"--npz {npz}")
        return feeding.sliced(named, size, network.types)
    network.require_inputs(given, "--shape")
    network.shapes(given)  # before numbers are drawn
    return feeding.randomly(given, network.types)


def _save(file: Path, arrays: dict[str, np.ndarray]) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as members:  # numpy.savez takes no array that is called file
        for name, value in arrays.items():
            with members.open(f"{name}.npy", "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, value, allow_pickle=False)
    write_atomically(file, content.getvalue())
