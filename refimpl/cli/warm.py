"""``refimpl warm``: compile the kernels of a network before its first run."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from ..base import decides
from ..kernels.foundation.ahead import AHEAD, processes
from ..module import Module
from . import feeding
from .errors import refuse, say
from .feeding import ShapeOption
from .loaded import Network, Shapes
from .options import MOMENTUM, BucketOption, known_optimizer, named_shapes
from .waiting import working


@decides("Cli/warm")
def warm(
    prefix: Annotated[str, typer.Argument(help="Checkpoint prefix.")],
    epoch: Annotated[int | None, typer.Argument(min=0, help="Checkpoint epoch; the symbol is enough.")] = None,
    shape: ShapeOption = None,
    bucket: BucketOption = None,
    train: Annotated[bool, typer.Option("--train", help="Also what a training step needs.")] = False,
    optimizer: Annotated[str, typer.Option(help="The optimizer of that step.")] = "sgd",
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes that compile (default: one a core).")] = None,
) -> None:
    """Compile the kernels that a network needs, in several processes, into the kernel cache."""
    known_optimizer(optimizer)
    given = named_shapes(shape)
    started = time.monotonic()
    with working("warming", "") as work, AHEAD.by(jobs or processes()):
        network = Network(prefix, epoch, bucket=bucket, with_labels=train)
        given = given or _stated(network)
        network.require_inputs(given, "--shape")
        module = network.module(given, training=train)
        AHEAD.compile_all()
        batch = next(feeding.randomly(given, network.types).batches)
        if train:
            _train(module, batch, optimizer)
        else:
            module.forward(batch, is_train=False)
        for value in module.get_outputs():
            value.wait_to_read()
    made, seconds = work.compiled, time.monotonic() - started
    say(f"compiled {made.done} kernels ({made.seconds:.1f} s of compilation) in {seconds:.1f} s")


def _stated(network: Network) -> Shapes:
    """The shape of the data as the symbol's file states it."""
    name = network.data()
    stated = network.stated(name)
    if stated is None:
        raise refuse(
            "Cli/input-shape",
            f"{network.file} does not state the shape of {name}; give --shape {name}=1,3,224,224",
        )
    return {name: (max(stated[0], 1), *stated[1:])}


def _train(module: Module, batch: Any, optimizer: str) -> None:
    """One step, which nobody keeps."""
    settings = {"momentum": 0.9} if optimizer.lower() in MOMENTUM else {}
    module.init_optimizer(optimizer=optimizer, optimizer_params={"learning_rate": 0.01, "wd": 0.0001, **settings})
    module.forward_backward(batch)
    module.update()
