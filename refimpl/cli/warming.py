"""Compiles the kernels of a network in several processes: each takes an operator, as the network uses it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from numba.core.event import register

from .. import ndarray as nd
from .. import symbol
from ..context import cpu
from ..engine.compiling import NOTICE, CompileWatch
from ..symbol import Symbol
from ..symbol.inference import is_shown_whole, key_of
from ..symbol.ir import Entry, Node
from .loaded import Shapes


class Part(NamedTuple):
    """One operator of a network, with variables as its inputs."""

    text: str
    """JSON of the symbol."""
    shapes: tuple[tuple[str, tuple[int, ...]], ...]
    types: tuple[tuple[str, str], ...]


class Compiled(NamedTuple):
    """What was compiled."""

    kernels: int
    seconds: float


def parts(net: Symbol, shapes: Shapes, types: Mapping[str, Any]) -> dict[str, list[Part]]:
    """The operators of a network by name; what is used twice alike is there once.

    Args:
        net: the network.
        shapes: of its inputs.
        types: of its inputs and parameters.
    """
    internals = net.get_internals()
    sizes, kinds = internals.infer_shape_partial(**shapes)[1], internals.infer_type_partial(**types)[1]
    known = {key_of(entry): told for entry, *told in zip(internals.entries, sizes, kinds, strict=True)}
    found: dict[str, dict[Part, None]] = {}
    for node in internals.order():
        told = [known.get(key_of(entry)) for entry in node.inputs]
        if node.op is not None and all(one and is_shown_whole(one[0]) and one[1] is not None for one in told):
            found.setdefault(node.op.name, {})[_part(node, told)] = None
    return {name: list(uses) for name, uses in found.items()}


def _part(node: Node, told: list[Any]) -> Part:
    places: dict[Any, int] = {}
    for entry in node.inputs:  # an input that is read twice is one variable
        places.setdefault(key_of(entry), len(places))
    names = [f"in{places[key_of(entry)]}" for entry in node.inputs]
    variables = {name: Node(None, name) for name in names}
    lone = node.reading([Entry(variables[name], 0) for name in names])
    lone.name = "part"
    made = Symbol([Entry(lone, index) for index in range(node.signature.visible)])
    arguments = set(made.list_arguments())
    used = {name: one for name, one in zip(names, told, strict=True) if name in arguments}
    return Part(
        made.tojson(remove_amp_cast=False), tuple((name, tuple(shape)) for name, (shape, _) in used.items()),
        tuple((name, np.dtype(kind).name) for name, (_, kind) in used.items()),
    )


def run(uses: list[Part], train: bool) -> Compiled:
    """Run each part once, forward and for training backward, and say what had to be compiled."""
    watch = _listening[0]
    before = Compiled(watch.done, watch.seconds)
    for part in uses:
        shapes: dict[str, Any] = dict(part.shapes)
        types = dict(part.types)
        wanted = {name: "write" if train and np.dtype(kind).kind == "f" else "null" for name, kind in types.items()}
        try:
            bound = symbol.load_json(part.text).simple_bind(cpu(), wanted or "null", types, **shapes)
            outputs = bound.forward(is_train=train)
            if "write" in wanted.values():
                bound.backward([nd.ones(value.shape, dtype=value.dtype) for value in outputs])
            nd.waitall()
        except RuntimeError as error:  # binding refuses so
            if getattr(error, "clause", None) is None:
                raise
            continue  # zeros are no input for it, it has no gradient, or no shape alone; the network runs as a whole
    return Compiled(watch.done - before.kernels, watch.seconds - before.seconds)


_listening = [CompileWatch()]
"""What counts in this process."""


def _begin(reports: Any) -> None:
    """Prepare a process: it says when a kernel is done, and leaves an interruption to the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    NOTICE.silence()
    _listening[0] = CompileWatch(lambda watch: None if watch.current else reports.put(1))
    register("numba:compile", _listening[0])


def compile_parts(
    uses: dict[str, list[Part]], jobs: int, train: bool, told: Callable[[int, int], None]
) -> Compiled:
    """Compile the kernels of all operators in ``jobs`` processes.

    Args:
        uses: what :func:`parts` found.
        jobs: the number of processes.
        train: whether to run backward too.
        told: called with the numbers of operators and of kernels that are done.

    Raises:
        BrokenProcessPool: a process was killed.
    """
    spawning = get_context("spawn")
    reports = spawning.SimpleQueue()
    results: list[Compiled] = []
    kernels = 0
    with ProcessPoolExecutor(jobs, spawning, _begin, (reports,)) as pool:
        waiting = {pool.submit(run, parts, train) for parts in _slowest_first(uses)}
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=0.1)
                results += [future.result() for future in done]
                while not reports.empty():
                    kernels += reports.get()
                told(len(results), kernels)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return Compiled(sum(one.kernels for one in results), sum(one.seconds for one in results))


def _slowest_first(uses: dict[str, list[Part]]) -> list[list[Part]]:
    """So that no process is left with a long one at the end: convolutions, recurrent layers, products, then others."""
    slow = ["Convolution", "RNN", "Deconvolution", "FullyConnected", "Pooling", "SoftmaxOutput"]
    order = sorted(uses, key=lambda name: slow.index(name) if name in slow else len(slow))
    return [uses[name] for name in order]
