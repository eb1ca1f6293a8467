"""``refimpl score``: how well a checkpoint does on data it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer

from .. import metric
from ..base import decides
from ..model import load_checkpoint
from ..module import Module
from ..symbol.inferred_lists import known_types
from . import datasets, feeding
from .errors import one_line, refuse, say
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
from .options import BatchOption, DataOption, DevicesOption, GpusOption, checkpoint_files, contexts, named_shapes
from .reports import reporting
from .waiting import working

TOP = 5


@dataclass(frozen=True)
class Score:
    """The counts of right answers."""

    right: int
    count: int
    loss: float

    def __str__(self) -> str:
        return (
            f"held-out accuracy {self.right / self.count:.4f} ({self.right} of {self.count}),"
            f" cross-entropy {self.loss:.4f}"
        )


def score(
    prefix: Annotated[str, typer.Argument(help="Checkpoint prefix.")],
    epoch: Annotated[int, typer.Argument(min=0, help="Checkpoint epoch.")],
    data: DataOption = "digits",
    devices: DevicesOption = 1,
    gpus: GpusOption = None,
    batch_size: BatchOption = 64,
    npz: NpzOption = None,
    rec: RecOption = None,
    shape: ShapeOption = None,
    mean: MeanOption = None,
    std: StdOption = None,
    scale: ScaleOption = 1.0,
    resize: ResizeOption = None,
) -> None:
    """Evaluate a checkpoint on the held-out part of a data set, or on a file of yours.

    An npz file has the arrays data and softmax_label (or label); --mean, --std, --scale and --resize are for --rec.
    """
    if npz is not None or rec is not None:
        if (npz is not None and rec is not None) or data != "digits" or devices != 1 or gpus is not None:
            raise refuse("Cli/source", "score takes one of --data, --npz and --rec; a file is scored on cpu(0)")
        seen = feeding.look(mean, std, scale, resize)
        say(scored(prefix, epoch, npz, rec, named_shapes(shape), seen, batch_size))
        return
    checkpoint_files(prefix, epoch)
    devices_used = contexts(devices, gpus, batch_size)

    net, arguments, auxiliary = load_checkpoint(prefix, epoch)
    dtype = known_types(net.entries).get("data", np.dtype(np.float32)).name
    split = datasets.load(data, batch_size, dtype, devices_used, training=False)
    module = Module(net, context=devices_used)
    with reporting(batch_size, split.batches, 1, 1):
        try:
            module.bind(split.held_out.provide_data, split.held_out.provide_label, for_training=False)
            module.set_params(arguments, auxiliary)
        except (RuntimeError, ValueError) as error:
            if getattr(error, "clause", None) is None:
                raise
            raise refuse(
                "Cli/fits-data",
                f"the network of {prefix}-symbol.json does not fit {data} with images of"
                f" {split.image_shape}: {one_line(error)}",
            ) from error
        result = evaluate(module, split)
    say(result)


def evaluate(module: Module, split: datasets.Dataset) -> Score:
    """Count every held-out image once (``Module.score`` also counts the rows that pad a batch)."""
    accuracy, loss = metric.create("accuracy"), metric.create("ce")
    for outputs, _, batch in module.iter_predict(split.held_out):
        rows = outputs[0].shape[0]
        labels = [label[0:rows] for label in batch.label]
        accuracy.update(labels, outputs)
        loss.update(labels, outputs)
    count = int(accuracy.num_inst)
    return Score(round(accuracy.sum_metric), count, loss.get()[1])


# --- files of users -----------------------------------------------------------------------------------


@decides("Cli/score-file")
def scored(
    prefix: str, epoch: int, npz: str | None, rec: str | None, given: Shapes, seen: feeding.Look, size: int
) -> str:
    """How many rows of a file get the right class, and how many have it among their first five.

    Raises:
        CommandError: the file or the checkpoint cannot be read, they do not fit, or labels are no classes.
        MXNetError: a record is damaged.
    """
    with working("scoring", "rows") as work:
        network = Network(prefix, epoch)
        if npz is not None:
            feed = _with_labels(network, npz, size)
        else:
            feed = feeding.records(network, str(rec), given, seen, size)
        work.total = feed.rows
        module = network.module(feed.shapes)
        first = last = count = 0
        for batch in feed.batches:
            module.forward(batch, is_train=False)
            pad, rows = batch.pad or 0, len(batch.data[0])
            found, told = (
                feeding.without(value.asnumpy(), pad, rows) for value in (module.get_outputs()[0], batch.label[0])
            )
            labels = _classes(network, found, told)
            order = np.argsort(-found, axis=1, kind="stable")[:, :TOP]
            first += int((order[:, 0] == labels).sum())
            last += int((order == labels[:, None]).any(axis=1).sum())
            count += len(labels)
            work.done += rows - pad
    top = f", top-{TOP} {last / count:.4f} ({last} of {count})" if found.shape[1] > TOP else ""
    return f"accuracy {first / count:.4f} ({first} of {count}){top}"


def _with_labels(network: Network, npz: str, size: int) -> Feed:
    arrays = feeding.read_npz(npz)
    names = [name for name in (*network.labels, "softmax_label", "label") if name in arrays]
    if not names:
        held = ", ".join(arrays)
        raise refuse("Cli/score-labels", f"{npz} holds {held}; it needs labels, named softmax_label or label")
    data = network.data_of(arrays, f"--npz {npz}")
    return feeding.sliced(data, size, network.types, arrays[names[0]])


def _classes(network: Network, found: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The labels of rows, which must be numbers of classes."""
    if found.ndim != 2 or len(found) != labels.size:
        raise refuse(
            "Cli/score-labels",
            f"score needs a row of classes and one label for each row; {network.net.list_outputs()[0]} is"
            f" {found.shape}, the labels are {labels.shape}",
        )
    labels = labels.ravel()  # a sequence has a label for each of its steps, and as many rows of the output
    wrong = labels[(labels < 0) | (labels >= found.shape[1]) | (labels % 1 != 0)]
    if len(wrong):
        raise refuse("Cli/score-labels", f"the label {wrong[0]:g} is no class; there are 0 to {found.shape[1] - 1}")
    return labels.astype(np.int64)  # type: ignore[no-any-return]  # an array
