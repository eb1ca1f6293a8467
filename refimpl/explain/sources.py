"""Where a training step to explain comes from: a module, a script, a checkpoint, or the packaged digits."""

from __future__ import annotations

import builtins
import runpy
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .. import initializer, random, symbol
from ..base import MXNetError, decides, refusal
from ..context import Context, cpu
from ..data import TRAINING
from ..data import digits as packaged_digits
from ..io import DataBatch, DataDesc
from ..kvstore import simulate
from ..model.networks import lenet
from ..module import Module
from ..module.life_cycle import demand
from ..name import NameManager
from ..ndarray import array
from ..symbol import Symbol
from ..symbol.checkpoint import load_checkpoint
from ..symbol.inference import is_shown_whole
from ..symbol.inferred_lists import known_shapes, known_types
from .collect import Data, collect
from .watching import Ended, Watched, watching

OPTIMIZER = {"learning_rate": 0.05, "momentum": 0.9, "wd": 0.0001}
"""What ``refimpl train`` uses too."""


def step(module: Any, batch: Any, title: str = "", source: str = "a module") -> Data:
    """Train a ready module on one batch, and return the data of this step.

    Args:
        module: a Module, bound for training and initialised, with an optimizer. Afterwards it is one step further.
        batch: a DataBatch.
        title: a name of the network; the name of its output by default.
        source: the file or command that made the module.

    Raises:
        AssertionError: the module is not ready, or is not bound for training.
    """
    demand(module, "update")
    found: list[Data] = []

    def take(inner: Module, update: Callable[[], None], number: int, watched: Watched) -> None:
        found.append(collect(inner, update, title or _title(inner), source, number, watched))

    with watching(1, take):
        module.forward_backward(batch)
        module.update()
    return found[0]


def _title(module: Any) -> str:
    return ", ".join(module.symbol.list_outputs()).replace("_output", "")


# --- a script ----------------------------------------------------------------------------------------


class _Seen(Ended):
    """The data of the step."""

    def __init__(self, found: Data) -> None:
        super().__init__("the training step has been seen")
        self.found = found


@decides("Explain/script")
def script(
    path: str | Path, arguments: Sequence[str] = (), number: int = 1, workers: int | None = None,
    servers: int | None = None,
) -> Data:
    """Run a script up to update ``number`` of the modules that it trains, and return the data of this step.

    The script runs as the main program, with its own folder first on ``sys.path``, and is ended after this update. In a
    cluster, the script's own or one of ``workers``, the step of worker 0 is returned.

    Args:
        path: the script.
        arguments: the script's ``sys.argv[1:]``.
        number: the number of the update, from 1.
        workers: the number of workers of a simulated cluster that run the script; None for one program.
        servers: the number of its servers; None for as many as workers.

    Raises:
        ValueError: the script ended before this update, or its store has no rounds.
        OSError: the script cannot be read.
    """
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"{file} does not exist; name a Python file, or the prefix of a checkpoint")
    kept_arguments, kept_path = sys.argv, list(sys.path)
    sys.argv, sys.path[0:0] = [str(file), *arguments], [str(file.absolute().parent)]
    ended = ""
    try:
        with watching(number, _taking(file.name)):
            if workers:
                _run_as_workers(file, workers, servers or workers)
            else:
                runpy.run_path(str(file), run_name="__main__")
    except _Seen as seen:
        return seen.found
    except SystemExit as left:
        ended = f" (it called sys.exit({left.code!r}))"
    finally:
        sys.argv, sys.path[:] = kept_arguments, kept_path
    raise refusal(
        "Explain/script-trains",
        f"{file} ended before update {number} of a Module{ended}; explain needs a script that calls fit() or update()",
        ValueError,
    )


def _taking(source: str) -> Callable[..., None]:
    """Raised to end a script; holds the data of the step."""

    def take(module: Module, update: Callable[[], None], number: int, watched: Watched) -> None:
        raise _Seen(collect(module, update, _title(module), source, number, watched))

    return take


def as_worker(file: Path) -> Callable[[], None]:
    """A function that runs a file as one worker of a cluster, with its own module ``__main__``."""
    code = compile(file.read_bytes(), str(file), "exec", dont_inherit=True)

    def work() -> None:
        main = ModuleType("__main__")
        vars(main).update(__file__=str(file), __builtins__=builtins)
        sys.modules["__main__"] = main
        exec(code, vars(main))  # noqa: S102  # that is what running a script is

    return work


@decides("Explain/workers")
def _run_as_workers(file: Path, workers: int, servers: int) -> None:
    """Run a file as each worker of a cluster without faults."""
    kept = sys.modules["__main__"]
    try:
        simulate(workers, servers, faults=False).run(as_worker(file), kind=None)
    finally:
        sys.modules["__main__"] = kept


# --- a checkpoint, the digits ------------------------------------------------------------------------


def digits(contexts: Sequence[Context] = (cpu(0), cpu(1)), batch_size: int = 64, store: str = "local") -> Data:
    """The first step of LeNet on the packaged digits, as ``refimpl train`` would make it.

    Raises:
        ValueError: the batch is larger than the training set.
    """
    if batch_size > TRAINING:
        raise refusal(
            "Cli/batch-within-data", f"a batch of {batch_size} rows is more than the {TRAINING} training images",
            ValueError,
        )
    random.seed(0)
    with NameManager():
        net = lenet(10, (1, 8, 8))
    module = _ready(net, contexts, {"data": (batch_size, 1, 8, 8)}, {"softmax_label": (batch_size,)}, store, None)
    return step(module, _digits_batch(batch_size), "LeNet on handwritten digits", "the packaged digits")


def _digits_batch(rows: int) -> DataBatch:
    images, labels, _, _ = packaged_digits()
    return DataBatch([array(images[:rows])], [array(labels[:rows])])


@decides("Explain/checkpoint")
def checkpoint(
    prefix: str, epoch: int, contexts: Sequence[Context] = (cpu(0), cpu(1)), batch_size: int = 64,
    shapes: Mapping[str, Sequence[int]] | None = None, store: str = "local",
) -> Data:
    """The step that would follow a checkpoint: on the packaged digits where they fit, else on random numbers.

    Args:
        prefix, epoch: of the checkpoint.
        contexts: where to train.
        batch_size: rows of the batch, where ``shapes`` does not say.
        shapes: shapes of inputs by name, batch included, where the parameters do not determine them.
        store: kind of the store.

    Raises:
        ValueError: the shapes of the inputs are not known.
        MXNetError: a file is missing or damaged.
    """
    net, arguments, auxiliary = load_checkpoint(prefix, epoch)
    net = _with_losses(net)
    inputs = [name for name in net.list_arguments() if name not in arguments]
    given = {name: tuple(shape) for name, shape in (shapes or {}).items()}
    fits = not given and _digits_fit(net, arguments, inputs, batch_size)
    if fits:
        given = {"data": (batch_size, 1, 8, 8)}
    found = _input_shapes(net, arguments, inputs, given, batch_size)
    labels = {name: shape for name, shape in found.items() if name.endswith("label")}
    data = {name: shape for name, shape in found.items() if name not in labels}
    module = _ready(net, contexts, data, labels, store, (arguments, auxiliary))
    batch = _digits_batch(batch_size) if fits else _random_batch(data, labels)
    rows = "packaged digits" if fits else "random numbers"
    return step(module, batch, f"{Path(prefix).name}, epoch {epoch}", f"the checkpoint {prefix} on {rows}")


@decides("Explain/no-loss")
def _with_losses(net: Symbol) -> Symbol:
    """The network; an output that is no loss, as in files that only predict, becomes one by ``make_loss``."""
    if all(entry.node.op is None or entry.node.signature.is_loss for entry in net.entries):
        return net
    parts = [Symbol([entry]) for entry in net.entries]
    return symbol.Group([
        part if part.entries[0].node.op is None or part.entries[0].node.signature.is_loss
        else symbol.make_loss(part, name=f"{part.entries[0].node.name}_loss") for part in parts
    ])


def _ready(
    net: Symbol, contexts: Sequence[Context], data: Mapping[str, Any], labels: Mapping[str, Any], store: str,
    values: tuple[Any, Any] | None,
) -> Module:
    """A module that is ready to train; its parameters are ``values``, or drawn."""
    module = Module(net, list(data), list(labels), context=list(contexts))
    types = known_types(net.entries)
    module.bind(_described(data, types), [DataDesc(name, shape, types[name]) for name, shape in labels.items()] or None)
    arguments, auxiliary = values or (None, None)
    module.init_params(initializer.Xavier(), arg_params=arguments, aux_params=auxiliary)
    module.init_optimizer(kvstore=store, optimizer="sgd", optimizer_params=OPTIMIZER)
    return module


def _described(data: Mapping[str, Any], types: Mapping[str, Any]) -> list[DataDesc]:
    """Inputs for a bind; states of recurrent layers have their rows along the second axis."""
    rows = next(iter(data.values()))[0] if data else None
    return [
        DataDesc(name, shape, types[name], "TNC" if shape[0] != rows and shape[1:2] == (rows,) else "NCHW")
        for name, shape in data.items()
    ]


def _known_shapes(arguments: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: value.shape for name, value in arguments.items()}


def _digits_fit(net: Symbol, arguments: Mapping[str, Any], inputs: list[str], batch_size: int) -> bool:
    """Whether a network classifies pictures of 8 x 8 pixels into ten classes, as far as its shapes tell."""
    if sorted(inputs) != ["data", "softmax_label"] or batch_size > TRAINING:
        return False
    try:
        _, outputs, _ = known_shapes(net.entries, {"data": (batch_size, 1, 8, 8), **_known_shapes(arguments)})
    except MXNetError:
        return False
    return [tuple(shape) for shape in outputs] == [(batch_size, 10)]


def _inferred(net: Symbol, shapes: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Shapes of all arguments as far as they follow; 0 and () are unknown."""
    found, _, _ = known_shapes(net.entries, shapes)
    return {name: tuple(shape or ()) for name, shape in zip(net.list_arguments(), found, strict=True)}


def _input_shapes(
    net: Symbol, arguments: Mapping[str, Any], inputs: list[str], given: Mapping[str, Any], batch_size: int
) -> dict[str, tuple[int, ...]]:
    """Shapes of all inputs, from those given, the parameters and the size of the batch."""
    settled = {**_known_shapes(arguments), **given}
    found = _inferred(net, settled)
    data = [name for name in inputs if name not in given and not name.endswith("label")]
    guess = {name: (batch_size, *(found[name][1:] or (0,))) for name in data}  # rows of numbers, unless more is known
    try:
        found = _inferred(net, {**settled, **guess})
    except MXNetError:
        found = _inferred(net, settled)
    unknown = [name for name in inputs if not is_shown_whole(found[name])]
    if unknown and all(name.endswith("label") for name in unknown):
        found = _with_labels(net, {**settled, **{name: found[name] for name in data}}, unknown, inputs) or found
        unknown = [name for name in inputs if not is_shown_whole(found[name])]
    if unknown:
        raise refusal(
            "Explain/input-shapes",
            f"the parameters do not determine the shapes of {', '.join(unknown)}; give them, with the batch, such as"
            f" --shape {unknown[0]}=64,1,28,28", ValueError,
        )
    return {name: found[name] for name in inputs}


def _with_labels(
    net: Symbol, settled: Mapping[str, Any], labels: list[str], inputs: list[str]
) -> dict[str, tuple[int, ...]] | None:
    """Shapes of labels that have an input's shape, as labels of sequences do; None where no input's shape fits."""
    for name in inputs:
        shape = settled.get(name, ())
        if not is_shown_whole(shape):
            continue
        try:
            return _inferred(net, {**settled, **dict.fromkeys(labels, shape)})
        except MXNetError:
            continue
    return None


def _random_batch(data: Mapping[str, Any], labels: Mapping[str, Any]) -> DataBatch:
    """Numbers between 0 and 1, and labels 0 and 1, from one seed."""
    stream = np.random.RandomState(0)  # a stream that NumPy has frozen
    return DataBatch(
        [array(stream.uniform(size=shape)) for shape in data.values()],
        [array(stream.randint(0, 2, size=shape)) for shape in labels.values()],
    )
