"""A small training with checkpoints that can be stopped at any moment.

    python -m tests.stateful.training_to_kill PREFIX KIND MOMENT stay|run

It runs in 4 GiB of memory.

A moment is a batch, or a line of the code that writes files whole. At the given one the program prints "now"; then
it either stays there until it is killed, or runs on into whatever moment the kill finds it in.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import refimpl as mx
from refimpl.files import atomic, staging

EPOCHS, BATCHES = 3, 4
MEMORY = 4 * 2**30
DATA = (np.random.RandomState(1).uniform(-1, 1, (8, 5)) * 8).round() / 8
LABEL = np.arange(8) % 3
# How checkpoints are made -> (optimizer, its own arguments, contexts)
# ("one name" writes every checkpoint over the last one; the others number them)
KINDS: dict[str, tuple[str, dict[str, Any], int]] = {
    "do_checkpoint": ("sgd", {}, 2),
    "module_checkpoint": ("adam", {}, 2),
    "one name": ("sgd", {"momentum": 0.9}, 1),
    "buckets": ("nag", {"momentum": 0.9}, 1),
}


def network(_: Any = None) -> tuple[mx.sym.Symbol, list[str], list[str]]:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, name="fc1")
    net = mx.sym.BatchNorm(net, fix_gamma=False, name="bn")
    net = mx.sym.FullyConnected(net, num_hidden=3, name="fc2")
    return mx.sym.SoftmaxOutput(net, name="softmax"), ["data"], ["softmax_label"]


class Batches(mx.io.NDArrayIter):
    """All batches have the key of the only bucket."""

    default_bucket_key = 1

    def next(self) -> mx.io.DataBatch:
        batch = super().next()
        batch.bucket_key, batch.provide_data, batch.provide_label = 1, self.provide_data, self.provide_label
        return batch


def checkpoints(kind: str, module: Any, prefix: str) -> Callable[..., None]:
    """The callback of a kind of checkpoints."""
    if kind == "do_checkpoint":
        return mx.callback.do_checkpoint(prefix)
    if kind == "module_checkpoint":
        return mx.callback.module_checkpoint(module, prefix, save_optimizer_states=True)
    if kind == "one name":
        return lambda *_: module.save_checkpoint(prefix, 0, save_optimizer_states=True)
    return lambda epoch, *_: module.save_checkpoint(prefix, epoch + 1, save_optimizer_states=True)


def train(
    prefix: str, kind: str, *, begin: int = 0, batch_end: Callable[..., None] | None = None,
    epoch_end: Callable[..., None] | None = None, allow_other_params: bool = False,
) -> None:
    """Train to the last epoch; from the checkpoint of epoch ``begin`` unless 0."""
    optimizer, own, count = KINDS[kind]
    number = 0 if kind == "one name" else begin
    contexts = [mx.cpu(index) for index in range(count)]
    if kind == "buckets":
        module = mx.mod.BucketingModule(network, default_bucket_key=1, context=contexts)
        if begin:
            module = mx.mod.BucketingModule.load(
                prefix, number, network, default_bucket_key=1, load_optimizer_states=True, context=contexts,
                allow_other_params=allow_other_params,
            )
    elif begin:
        states = kind != "do_checkpoint"
        module = mx.mod.Module.load(
            prefix, number, load_optimizer_states=states, context=contexts, allow_other_params=allow_other_params
        )
    else:
        module = mx.mod.Module(network()[0], context=contexts)
    mx.random.seed(2)
    schedule = mx.lr_scheduler.MultiFactorScheduler([3, 7, 10], 0.5, base_lr=0.25)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Parameters already initialized")
        module.fit(
            Batches(DATA, LABEL, batch_size=len(DATA) // BATCHES), num_epoch=EPOCHS, begin_epoch=begin,
            initializer=mx.init.Uniform(0.5), optimizer=optimizer, batch_end_callback=batch_end or [],
            epoch_end_callback=[checkpoints(kind, module, prefix), epoch_end or (lambda *_: None)],
            optimizer_params={
                "learning_rate": 0.25, "lr_scheduler": schedule, "begin_num_update": begin * BATCHES, **own,
            },
        )


def main(prefix: str, kind: str, moment: str, then: str) -> None:
    """Train from the beginning and announce the moment, and each epoch once its checkpoint is made."""
    left = int(moment)

    def pass_moment(*_: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            print("now", flush=True)
            if then == "stay":
                sys.stdin.read()

    def trace_line(frame: Any, event: str, _: Any) -> Any:
        pass_moment()
        return trace_line

    def trace_call(frame: Any, event: str, _: Any) -> Any:
        return trace_line if frame.f_code.co_filename in (atomic.__file__, staging.__file__) else None

    limit_memory()
    sys.settrace(trace_call)
    train(
        prefix, kind, batch_end=pass_moment,
        epoch_end=lambda epoch, *_: print(f"saved {epoch + 1}", flush=True),
    )
    sys.settrace(None)
    print(f"moments {int(moment) - left}", flush=True)


def limit_memory() -> None:
    """Let this process have no more than 4 GiB, where the system can be told so."""
    with contextlib.suppress(ImportError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def files(prefix: str) -> dict[str, bytes]:
    """The files of checkpoints that lie there, by what follows the prefix."""
    folder, name = Path(prefix).parent, Path(prefix).name
    return {path.name[len(name):]: path.read_bytes() for path in sorted(folder.glob(f"{name}*"))}


if __name__ == "__main__":
    main(*sys.argv[1:])
