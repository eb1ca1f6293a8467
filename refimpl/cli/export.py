"""``refimpl export``: a checkpoint as an ONNX file or as a PyTorch module, checked layer by layer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from .. import symbol
from ..base import decides
from ..export import cutting, pytorch
from ..export.judging import Verdict
from ..export.onnx_check import check
from ..files.atomic import write_atomically
from ..files.reading import read_file
from ..model import load_params
from ..onnx import writing
from ..onnx.converting import converted, with_batch
from ..symbol.prediction import Prediction, prediction
from . import feeding
from .answers import finds_boxes, read_synset
from .errors import refuse, say
from .feeding import MeanOption, ResizeOption, ScaleOption, StdOption
from .loaded import Network, Shapes
from .options import checkpoint_files, named_shapes
from .waiting import working

Arrays = dict[str, np.ndarray]
_ANY = "any"
_OTHER_BATCH = 3  # with which a file that takes any batch is checked too


class Asked(NamedTuple):
    """What the command line says of the file."""

    file: Path
    free_batch: bool
    opset: int | None
    checked: bool
    images: list[str]
    look: feeding.Look
    size: tuple[int, ...]
    labels: list[str]


@decides("Cli/export")
def export(
    prefix: Annotated[str, typer.Argument(help="Checkpoint prefix.")],
    epoch: Annotated[int, typer.Argument(min=0, help="Checkpoint epoch.")],
    more: Annotated[list[str] | None, typer.Argument(help="More pictures.", metavar="[FILE]...")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file: .onnx, or .py for a PyTorch module.")
    ] = None,
    shape: Annotated[
        list[str] | None,
        typer.Option("--input", help="Shape of an input, batch included: data=1,3,224,224. May be repeated."),
    ] = None,
    batch: Annotated[str | None, typer.Option(help="any: the ONNX file takes batches of any size.")] = None,
    until: Annotated[str | None, typer.Option(help="The layer with which the exported part ends.")] = None,
    opset: Annotated[
        int | None, typer.Option(help="Version of ONNX's operators (default: the oldest that will do, from 17 on).")
    ] = None,
    no_check: Annotated[bool, typer.Option("--no-check", help="Write the file, and do not run it.")] = False,
    image: Annotated[
        list[str] | None, typer.Option(help="A picture for the check; others may follow, as --image a.jpg b.jpg.")
    ] = None,
    mean: MeanOption = None,
    std: StdOption = None,
    scale: ScaleOption = 1.0,
    resize: ResizeOption = None,
    size: Annotated[str | None, typer.Option(help="Height,width of the pictures that a .py file reads.")] = None,
    labels: Annotated[str | None, typer.Option(help="Names of the classes, one a line, for a .py file.")] = None,
) -> None:
    """Write what a checkpoint predicts as an ONNX file or a PyTorch module, run it, and compare each layer.

    Ends with exit code 1 when a layer differs.
    """
    images = [*(image or []), *(more or [])]
    if more and not image:
        raise refuse("Cli/source", f"{more[0]}: pictures stand behind --image")
    asked = Asked(
        _file(output), _is_free(batch), opset, not no_check, images, feeding.look(mean, std, scale, resize),
        _size(size), [] if labels is None else read_synset(labels),
    )
    _require_kind(asked, given_opset=opset is not None)
    given = named_shapes(shape, "--input")
    with working("exporting", "") as work:
        work.note = f"reading {prefix}"
        found = _prediction(prefix, epoch, given, until)
        work.note = ""
        written, verdicts = _exported(found, asked, prefix, epoch, given, until)
    for line in _lines(verdicts):
        say(line)
    for file in written:
        say(f"wrote {file}")
    raise typer.Exit(0 if all(verdict.ok for verdict in verdicts) else 1)


# --- what is asked ------------------------------------------------------------------------------------


def _file(output: Path | None) -> Path:
    if output is None or output.suffix not in (".onnx", ".py"):
        raise refuse("Cli/export", f"name a file that ends in .onnx or .py: -o net.onnx, not {output}")
    folder = output.absolute().parent
    if not folder.is_dir() or output.is_dir() or not os.access(folder, os.W_OK):
        raise refuse("Cli/folder-exists", f"-o {output}: its folder does not exist or cannot be written to")
    return output


def _is_free(batch: str | None) -> bool:
    if batch not in (None, _ANY):
        raise refuse("Cli/export", f"--batch takes any, not {batch!r}; --input states a fixed batch")
    return batch == _ANY


def _size(text: str | None) -> tuple[int, ...]:
    try:
        sides = tuple(int(side) for side in text.split(",")) if text is not None else ()
    except ValueError:
        sides = (0,)
    if len(sides) > 2 or any(side < 1 for side in sides):
        raise refuse("Cli/export", f"--size takes height,width such as 224,224, not {text!r}")
    return sides


def _require_kind(asked: Asked, *, given_opset: bool) -> None:
    if asked.file.suffix == ".py" and (asked.free_batch or given_opset):
        raise refuse("Cli/export", "--batch and --opset are for ONNX files; a PyTorch module takes any batch")
    if asked.file.suffix == ".onnx" and (asked.size or asked.labels):
        raise refuse("Cli/export", "--size and --labels are for PyTorch modules; an ONNX file takes numbers")


# --- the network --------------------------------------------------------------------------------------


@decides("Cli/export", "Export/custom")
def _prediction(prefix: str, epoch: int, given: Mapping[str, Any], until: str | None) -> Prediction:
    file, _ = checkpoint_files(prefix, epoch)
    text = read_file(str(file)).decode("utf-8", "replace")
    if until is not None:
        text = cutting.cut(text, until)
    for name, kind, before in cutting.customs(text):
        so = f"; the part before it can be exported: --until {before[0]}" if before else ""
        raise refuse(
            "Export/custom", f"layer {name} is a Custom operator, {kind}, whose Python code is not in the file{so}"
        )
    arguments, auxiliary = load_params(prefix, epoch)
    return prediction(symbol.load_json(text), arguments, auxiliary, given, until)


def _exported(
    found: Prediction, asked: Asked, prefix: str, epoch: int, given: Shapes, until: str | None
) -> tuple[list[Path], list[Verdict]]:
    """The files, and what became of each layer."""
    feeds = list(_feeds(found, asked, prefix, epoch, given)) if asked.checked else []
    if asked.file.suffix == ".py":
        return _module(found, asked, Path(prefix).name, feeds)
    writing.imported()
    graph = converted(found.symbol, found.params, found.inputs, asked.opset, free_batch=asked.free_batch)
    write_atomically(asked.file, writing.content(writing.model(graph)))
    verdicts: list[Verdict] = []
    if feeds:
        proto = writing.imported().load_model(str(asked.file))
        for feed in feeds:
            verdicts = _worse(verdicts, check(found, graph, proto, feed))
        if asked.free_batch:
            shapes = with_batch(found.symbol, found.params, found.inputs, _OTHER_BATCH)
            other = _prediction(prefix, epoch, shapes, until)
            verdicts = _worse(verdicts, check(other, graph, proto, _drawn(other)))
    return [asked.file], verdicts


def _module(found: Prediction, asked: Asked, name: str, feeds: Sequence[Arrays]) -> tuple[list[Path], list[Verdict]]:
    look = asked.look
    shape = next(iter(found.inputs.values()))[0]
    channels = shape[1] if len(shape) == 4 else 1
    mean, std = (
        look.channels(values, channels, flag) if values else []
        for values, flag in ((look.mean, "--mean"), (look.std or (1.0,) * (look.scale != 1), "--std"))
    )
    files = pytorch.write(
        found, asked.file, name, size=asked.size, mean=mean, std=[part / look.scale for part in std],
        labels=asked.labels, resize=look.resize,
    )
    verdicts: list[Verdict] = []
    for number, feed in enumerate(feeds):
        checked = pytorch.check(found, asked.file, feed, name, gradients=number == 0)
        gradients = [one._replace(operator=f"gradient of {one.operator}") for one in checked.gradients]
        verdicts = _worse(verdicts, [*checked.layers, *gradients])
    return files, verdicts


# --- the check ----------------------------------------------------------------------------------------


def _feeds(found: Prediction, asked: Asked, prefix: str, epoch: int, given: Shapes) -> Iterable[Arrays]:
    """Drawn inputs, and batches of pictures."""
    drawn = _drawn(found)
    yield drawn
    if asked.images:
        network = Network(prefix, epoch)
        name = network.data()
        shapes = {**given, **{key: shape for key, (shape, _) in found.inputs.items()}}
        shapes = {key: shape for key, shape in shapes.items() if key in network.inputs}
        size = shapes[name][0]
        feed = feeding.pictures(network, asked.images, shapes, asked.look, size, whole=finds_boxes(network.net))
        for batch in feed.batches:
            pixels = batch.data[0].asnumpy()
            rows = np.resize(np.arange(len(pixels)), size)
            yield {**drawn, name: pixels[rows].astype(found.inputs[name][1])}


def _drawn(found: Prediction) -> Arrays:
    return pytorch.drawn(found)


def _worse(first: Sequence[Verdict], second: Sequence[Verdict]) -> list[Verdict]:
    """The worse verdict on each layer, of two runs."""
    if not first:
        return list(second)
    others = {(verdict.layer, verdict.operator): verdict for verdict in second}
    return [
        max(verdict, others.get((verdict.layer, verdict.operator), verdict), key=lambda one: (not one.ok, one.worst))
        for verdict in first
    ]


def _lines(verdicts: Sequence[Verdict]) -> list[str]:
    """The table, and what it says."""
    if not verdicts:
        return []
    wide = max(len("layer"), *(len(verdict.layer) for verdict in verdicts))
    kinds = max(len("operator"), *(len(verdict.operator) for verdict in verdicts))
    lines = [f"{'layer':{wide}}  {'operator':{kinds}}  elements   error / bound"]
    for one in verdicts:
        note = f"  {one.note}" if one.note else ""
        lines.append(f"{one.layer:{wide}}  {one.operator:{kinds}}  {one.elements:8d}  {one.worst:14.3g}{note}".rstrip())
    wrong = [verdict for verdict in verdicts if not verdict.ok]
    if wrong:
        lines.append(f"{len(wrong)} of {len(verdicts)} differ; the first is {wrong[0].layer} ({wrong[0].operator})")
    else:
        lines.append(f"all {len(verdicts)} are within their bounds")
    return lines
