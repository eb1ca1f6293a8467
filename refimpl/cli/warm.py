"""``refimpl warm``: compile what a network needs before it is needed."""

from __future__ import annotations

import os
import time
from concurrent.futures.process import BrokenProcessPool
from typing import Annotated, Any

import typer

from ..base import decides
from ..module import Module
from . import feeding, warming
from .errors import refuse, say
from .feeding import ShapeOption
from .loaded import Network, Shapes
from .options import MOMENTUM, BucketOption, known_optimizer, named_shapes
from .waiting import Work, working


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
    with working("warming", "operators") as work:
        network = Network(prefix, epoch, bucket=bucket, with_labels=train)
        given = given or _stated(network)
        network.require_inputs(given, "--shape")
        shapes = network.shapes(given)
        made = _in_processes(network, shapes, jobs or os.cpu_count() or 1, train, work)
        work.what, work.note = "running the whole network", ""
        module = network.module(given, training=train)
        batch = next(feeding.randomly(given, network.types).batches)
        if train:
            _train(module, batch, optimizer)
        else:
            module.forward(batch, is_train=False)
        for value in module.get_outputs():
            value.wait_to_read()
        kernels, seconds = made.kernels + work.compiled.done, made.seconds + work.compiled.seconds
    say(f"compiled {kernels} kernels ({seconds:.1f} s of compilation) in {time.monotonic() - started:.1f} s")


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


def _in_processes(network: Network, shapes: Shapes, jobs: int, train: bool, work: Work) -> warming.Compiled:
    uses = warming.parts(network.net, shapes, network.types)
    work.total = len(uses)
    if jobs == 1 or len(uses) < 2:
        return warming.Compiled(0, 0.0)

    def told(done: int, kernels: int) -> None:
        work.done, work.note = done, f"{kernels} kernels compiled"

    try:
        return warming.compile_parts(uses, min(jobs, len(uses)), train, told)
    except BrokenProcessPool:
        raise refuse(
            "Cli/warm-process", f"one of the {jobs} processes was killed, perhaps for its memory; give fewer --jobs"
        ) from None


def _train(module: Module, batch: Any, optimizer: str) -> None:
    """One step, which nobody keeps."""
    settings = {"momentum": 0.9} if optimizer.lower() in MOMENTUM else {}
    module.init_optimizer(optimizer=optimizer, optimizer_params={"learning_rate": 0.01, "wd": 0.0001, **settings})
    module.forward_backward(batch)
    module.update()
