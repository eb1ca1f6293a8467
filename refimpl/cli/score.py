"""``refimpl score``: how well a checkpoint does on data it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer

from .. import metric
from ..model import load_checkpoint
from ..module import Module
from . import datasets
from .errors import one_line, refuse
from .options import BatchOption, DataOption, DevicesOption, GpusOption, checkpoint_files, contexts
from .reports import reporting


@dataclass(frozen=True)
class Score:
    """What a network got right."""

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
) -> None:
    """Evaluate a checkpoint on the held-out part of a data set."""
    checkpoint_files(prefix, epoch)
    devices_used = contexts(devices, gpus, batch_size)

    net, arguments, auxiliary = load_checkpoint(prefix, epoch)
    dtype = np.dtype(next(iter(arguments.values())).dtype).name if arguments else "float32"
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
    print(result)


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
