"""Steps that do not run in the plain loop of ``executor.py``: as tasks of the engine, or watched by a monitor.

When an engine with threads is chosen, when some memory holds a failure, or when the profiler is on, each step is handed
to the engine, with the memory that it reads and writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .. import engine
from ..base import decides
from ..context import Context
from ..engine import profiling_hook
from ..kernels.foundation import Buffer
from ..ndarray import NDArray, zeros
from ..resource import random_streams
from ..symbol.ir import is_placeholder
from .monitored_names import monitored_inputs
from .steps import AddStep, BackwardStep, CopyStep, ForwardStep, Step, ZeroStep

if TYPE_CHECKING:
    from .program import Wanted

MonitorCallback = Callable[[str, NDArray], None]


class Touched(NamedTuple):
    """The memory that a step uses. ``changes`` are written like ``writes``, but hold values even after a failure."""

    name: str
    reads: list[Buffer]
    writes: list[Buffer]
    changes: list[Buffer]


def touched(step: Step) -> Touched:
    """The buffers that ``step`` reads and writes, for the engine and for ``refimpl explain``."""
    if isinstance(step, ForwardStep):
        return _touched_forward(step)
    if isinstance(step, BackwardStep):
        return _touched_backward(step)
    if isinstance(step, CopyStep):
        return Touched("copy", [step.source], [step.target], [])
    if isinstance(step, AddStep):
        return Touched("add", step.inputs, [step.target], [])
    if isinstance(step, ZeroStep):
        return Touched("zero", [], [step.target], [])
    return Touched(type(step).__name__, [], [], [])


def _touched_forward(step: ForwardStep) -> Touched:
    names = step.op.input_names(step.params)
    changed = [b for name, b in zip(names, step.inputs, strict=True) if name in step.op.mutates]
    if step.op.random:
        changed.append(random_streams(step.context))
    return Touched(step.node.name, step.inputs, step.outputs, changed)


def _touched_backward(step: BackwardStep) -> Touched:
    needs = zip(step.op.need_names(step.params), step.needs, strict=True)
    changed = [b for name, b in needs if b is not None and name in step.op.mutates]
    reads = [*step.heads, *[b for b in step.needs if b is not None]]
    return Touched(step.node.name, reads, [b for b in step.gradients if b is not None], changed)


@decides("Executor/monitor", "passes/monitored")
def run_monitored(
    steps: Sequence[Step], is_train: bool, context: Context, callback: MonitorCallback, monitor_all: bool,
    without_gradient: Mapping[int, Wanted],
) -> None:
    """Run ``steps`` and report every node.

    Args:
        steps: the steps, in the order in which they run.
        is_train: whether operators run as in training.
        context: the context of steps that belong to no node.
        callback: called with a name and an array after every node, for each output.
        monitor_all: whether ``callback`` is also called before every node, for each input.
        without_gradient: the wanted gradients that are zero, such as a label's, by the id of the argument.
    """
    for step in steps:
        if not isinstance(step, (ForwardStep, BackwardStep)):
            run_one(step, is_train, context)
            continue
        if monitor_all and isinstance(step, ForwardStep):
            _report_inputs(step, callback)
        run_one(step, is_train, context)
        if isinstance(step, ForwardStep):
            node = step.node
            for index in range(node.visible_count()):
                callback(node.entry_name(index), NDArray(step.outputs[index], step.context))
        else:
            _report_gradients(step, callback, without_gradient)


@decides("Executor/monitor", "passes/monitored")
def _report_inputs(step: ForwardStep, callback: MonitorCallback) -> None:
    names = monitored_inputs(step.node)
    for name, entry, buffer in zip(names, step.node.inputs, step.inputs, strict=True):
        if is_placeholder(entry.node):  # a placeholder has a shape and no values
            continue
        if entry.node.is_variable:
            callback(entry.node.name, NDArray(buffer, step.context))
        callback(name, NDArray(buffer, step.context))


@decides("Executor/monitor")
def _report_gradients(
    step: BackwardStep, callback: MonitorCallback, without_gradient: Mapping[int, Wanted]
) -> None:
    node = step.node
    for index, buffer in enumerate(step.gradients):
        name = f"{node.name}_output{index if len(step.gradients) > 1 else ''}"
        if buffer is not None:
            callback(name, NDArray(buffer, step.context))
        elif node.primal is not None and id(node.primal.inputs[index].node) in without_gradient:
            callback(name, _zero(without_gradient[id(node.primal.inputs[index].node)]))


def _zero(wanted: Wanted) -> NDArray:
    """The array that MXNet reports for a gradient that is zero: zeros, or with 'add' the accumulated gradient."""
    if wanted.requirement == "add":
        return wanted.array
    return zeros(wanted.argument.shape, wanted.argument.context, wanted.argument.dtype)


def run_one(step: Step, is_train: bool, context: Context) -> None:
    """Hand a step to the engine; a step that writes no memory runs here at once."""
    name, reads, writes, changes = touched(step)
    place = getattr(step, "context", context)
    if not writes:  # bookkeeping of the executor itself, done in the order of the program
        step.run(is_train)
    else:
        alone = engine.goes_alone(getattr(step, "params", None))
        engine.run(name, str(place), _work(step, is_train, place), reads, writes, changes, alone)


def _work(step: Step, is_train: bool, context: Context) -> Callable[[], None]:
    watch = profiling_hook.symbolic
    if watch is None:
        return lambda: step.run(is_train)
    return lambda: profiling_hook.run_steps(watch, [step], is_train, context)
