"""``refimpl train``: a network, a data set, a checkpoint."""

from __future__ import annotations

import os
import tempfile
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .. import random
from ..base import DTYPE_FLAGS, decides
from ..initializer import Xavier
from ..lr_scheduler import MultiFactorScheduler
from ..model import load_checkpoint
from ..model.networks import NETWORKS
from ..module import Module
from ..name import NameManager
from ..symbol import Symbol
from . import datasets
from .errors import refuse, say
from .options import (
    MOMENTUM,
    BatchOption,
    DataOption,
    DevicesOption,
    Dtype,
    GpusOption,
    checkpoint_files,
    contexts,
    known_optimizer,
)
from .reports import reporting
from .score import evaluate


class Network(str, Enum):
    """The networks of refimpl/model/networks.py."""

    mlp = "mlp"
    lenet = "lenet"
    resnet_20 = "resnet-20"


class Store(str, Enum):
    """Where the gradients of several devices meet."""

    local = "local"
    device = "device"


def train(
    network: Annotated[Network, typer.Option(help="The network.")] = Network.lenet,
    data: DataOption = "digits",
    devices: DevicesOption = 2,
    gpus: GpusOption = None,
    kv_store: Annotated[Store, typer.Option(help="The key-value store.")] = Store.local,
    batch_size: BatchOption = 64,
    lr: Annotated[float, typer.Option(min=0, help="Learning rate.")] = 0.05,
    lr_factor: Annotated[float, typer.Option(help="Learning rate is multiplied by this ...")] = 0.1,
    lr_step_epochs: Annotated[
        str, typer.Option(help="... before these epochs, for example 5,8.")
    ] = "",
    momentum: Annotated[float, typer.Option("--momentum", "--mom", help="Momentum.")] = 0.9,
    wd: Annotated[float, typer.Option(min=0, help="Weight decay.")] = 0.0001,
    optimizer: Annotated[str, typer.Option(help="An optimizer by its MXNet name.")] = "sgd",
    num_epochs: Annotated[int, typer.Option(min=1, help="Train up to this epoch.")] = 10,
    model_prefix: Annotated[
        str, typer.Option(help="Write PREFIX-symbol.json and PREFIX-NNNN.params (default NETWORK-DATA).")
    ] = "",
    load_epoch: Annotated[
        int | None, typer.Option(min=0, help="Resume from PREFIX-NNNN.params of this epoch.")
    ] = None,
    save_period: Annotated[
        int, typer.Option(min=0, help="Also save every so many epochs (0: only the last).")
    ] = 0,
    disp_batches: Annotated[int, typer.Option(min=1, help="Log every so many batches.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Seed of weights and shuffling.")] = 0,
    dtype: Annotated[Dtype, typer.Option(help="Element type.")] = Dtype.float32,
) -> None:
    """Train a network; evaluate it on data it has not seen; write a checkpoint."""
    prefix = _prefix(model_prefix or f"{network.value}-{Path(data).name or 'data'}")
    devices_used = contexts(devices, gpus, batch_size)
    step_epochs = _step_epochs(lr_step_epochs)
    begin = load_epoch or 0
    if begin >= num_epochs:
        raise refuse(
            "Cli/epochs-left",
            f"--load-epoch {begin} leaves no epoch to train up to --num-epochs {num_epochs};"
            f" try --num-epochs {begin + 10}",
        )
    if load_epoch is not None:
        checkpoint_files(prefix, load_epoch)

    known_optimizer(optimizer)
    np.random.seed(seed % 2**32)  # noqa: NPY002  # NDArrayIter shuffles with it, as MXNet's does
    random.seed(seed)
    split = datasets.load(data, batch_size, dtype.value, devices_used)
    net = _network(network.value, split, dtype)
    arguments = auxiliary = None
    if load_epoch is not None:
        what = f"--network {network.value} --dtype {dtype.value} for {data}"
        arguments, auxiliary = _resumed(prefix, load_epoch, net, what)
    say(
        f"{network.value} on {split.name}: {split.trained} images to train, {split.held} held out;"
        f" {', '.join(map(str, devices_used))}; store {kv_store.value}",
        flush=True,
    )

    def save(epoch: int, *parameters: object) -> None:
        del parameters  # the module has them
        if save_period and (epoch + 1) % save_period == 0 and epoch + 1 < num_epochs:
            _save(module, prefix, epoch + 1)

    settings: dict[str, Any] = {"wd": wd, **_rate(lr, lr_factor, step_epochs, begin, split.batches)}
    if optimizer.lower() in MOMENTUM:
        settings["momentum"] = momentum
    if dtype is Dtype.float16:
        settings["multi_precision"] = True

    with reporting(batch_size, split.batches, num_epochs, disp_batches) as report:
        module = Module(net, context=devices_used)
        module.fit(
            split.train,
            eval_data=split.held_out,
            eval_metric=["accuracy", "ce"],
            optimizer=optimizer,
            optimizer_params=settings,
            initializer=Xavier(),
            arg_params=arguments,
            aux_params=auxiliary,
            kvstore=kv_store.value,
            begin_epoch=begin,
            num_epoch=num_epochs,
            batch_end_callback=report.batch_end,
            epoch_end_callback=save,
            eval_end_callback=report.eval_end,
        )
        result = evaluate(module, split)
    files = _save(module, prefix, num_epochs)
    say(result)
    say(f"wrote {' and '.join(map(str, files))}")
    same = "" if data == "digits" else f" --data {data}"
    say(f"next: refimpl score {prefix} {num_epochs}{same}")
    say(f"      refimpl plot {prefix} -o {Path(prefix).name}.svg")


def _resumed(prefix: str, epoch: int, net: Symbol, what: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters of a checkpoint, which must be of the same network."""
    saved, arguments, auxiliary = load_checkpoint(prefix, epoch)
    if saved.tojson() != net.tojson():
        raise refuse(
            "Cli/same-network",
            f"{prefix}-symbol.json holds another network than {what}; name the right one, or another"
            " --model-prefix",
        )
    return arguments, auxiliary


def _rate(lr: float, factor: float, step_epochs: list[int], begin: int, batches: int) -> dict[str, Any]:
    """The learning rate at epoch ``begin``, and the scheduler of the steps that are still to come."""
    steps = [(epoch - begin) * batches for epoch in step_epochs if epoch > begin]
    now = lr * factor ** (len(step_epochs) - len(steps))
    if not steps:
        return {"learning_rate": now}
    return {"learning_rate": now, "lr_scheduler": MultiFactorScheduler(steps, factor, now)}


def _prefix(text: str) -> str:
    folder = Path(text).absolute().parent
    if not folder.is_dir():
        raise refuse("Cli/folder-exists", f"--model-prefix {text}: the folder {folder} does not exist")
    if not os.access(folder, os.W_OK):
        raise refuse("Cli/folder-exists", f"--model-prefix {text}: {folder} cannot be written to")
    return text


def _step_epochs(text: str) -> list[int]:
    words = [word for word in text.split(",") if word.strip()]
    if not all(word.strip().isdigit() for word in words):
        raise refuse("Cli/lr-step-epochs", f"--lr-step-epochs takes epochs such as 5,8, not {text!r}")
    epochs = [int(word) for word in words]
    if 0 in epochs or epochs != sorted(set(epochs)):
        raise refuse(
            "Cli/lr-step-epochs", f"--lr-step-epochs must increase from 1 upwards, not {text!r}"
        )
    return epochs


@decides("Cli/input-types")
def _network(name: str, split: datasets.Dataset, dtype: Dtype) -> Symbol:
    """The network, named as in a fresh process, so that equal networks have equal JSON.

    Its file states the type of the data where that is not the default, because nothing else says it.
    """
    with NameManager():
        net = NETWORKS[name](split.classes, split.image_shape)
    if dtype is not Dtype.float32:
        net.get_internals()["data"]._set_attr(__dtype__=str(DTYPE_FLAGS[dtype.value]))
    return net


@decides("Cli/whole-checkpoint")
def _save(module: Module, prefix: str, epoch: int) -> list[Path]:
    """Write a checkpoint: both files are complete before either takes its name."""
    target = Path(prefix)
    with tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=".saving-") as folder:
        module.save_checkpoint(str(Path(folder) / target.name), epoch)
        made = sorted(Path(folder).iterdir(), key=lambda file: file.suffix)
        return [file.replace(target.parent / file.name) for file in made]


