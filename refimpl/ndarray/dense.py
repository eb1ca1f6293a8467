"""Operators on dense arrays: find memory for the results, let the page fill it, record the call on the tape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import engine
from ..base import MXNetError, decides, integer_types, refusal
from ..context import Context, current_context
from ..engine import fast_road
from ..engine.tasks import overlap, owner_of, span_of
from ..kernels.foundation import Buffer, Op, allocate
from ..kernels.foundation import run as runner
from ..kernels.foundation.run import Plan
from ..op_registry.signatures import parsed, signature
from ..resource import random_streams
from . import classes, tape
from .run_operator import run_operator, watched

if TYPE_CHECKING:
    from .ndarray import NDArray


def sides_of(shape: Any) -> tuple[int, ...]:
    """A shape as a tuple, from a sequence of whole numbers or one whole number.

    Raises:
        MXNetError: a dimension is not a whole number, or negative.
    """
    given = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    if not all(isinstance(side, integer_types) and side >= 0 for side in given):
        raise refusal("NDArray/shape", f"a shape is a tuple of whole numbers, none negative, got {shape!r}")
    return tuple(int(side) for side in given)


def plan_of(op: Op, p: Any, inputs: Sequence[Buffer], targets: Sequence[NDArray] = ()) -> Plan:
    """The plan of a call: its output shapes and dtypes. An operator without inputs takes the shapes of ``targets``."""
    try:
        return runner.plan(op, p, inputs, [target.shape for target in targets])
    except MXNetError as error:
        explained = MXNetError(f"Error in operator {op.name}: {error}")
        explained.clause = error.clause
        raise explained from error.__cause__


def _overlap(left: Buffer, right: Buffer) -> bool:
    if left.device != right.device or (left.device == "cpu" and owner_of(left) is not owner_of(right)):
        return False
    return overlap([span_of(left)], [span_of(right)])


def _may_write(op: Op, target: NDArray, index: int, sources: list[NDArray], dtype: np.dtype) -> bool:
    """Whether a kernel may write into the memory of ``target``: it has the right dtype and overlaps no input."""
    memory = target._buffer
    if memory.flat.dtype != dtype:
        return False
    for position, source in enumerate(sources):
        if source._buffer is memory:
            if (position, index) not in op.inplace:
                return False
        elif _overlap(memory, source._buffer):
            return False
    return True


@decides("NDArray/out")
def listed_targets(op: Op, out: Any) -> list[NDArray]:
    """The arrays of ``out=``, as a list."""
    targets = list(out) if isinstance(out, (list, tuple)) else [out]
    if not all(isinstance(target, classes.ndarray) for target in targets):
        raise refusal("nd/out-type", f"{op.name}: out must be an NDArray or a list of them, got {out!r}", TypeError)
    return targets


def invoke(
    op: Op, inputs: list[NDArray], attrs: dict[str, Any], targets: list[NDArray], out: Any = None
) -> Any:
    """Run ``op`` on dense arrays and return its visible outputs: one array, or a list of several.

    ``attrs`` are the parameters by name. ``targets`` receive the results; ``out``, if not None, is returned instead.

    Raises:
        MXNetError: a parameter, shape or dtype is refused, or the context is absent.
    """
    asked = attrs.pop("ctx", None) if attrs else None
    if op.variadic and op.variadic not in attrs:
        attrs[op.variadic] = len(inputs)
    if targets and not inputs and "dtype" not in attrs and "dtype" in op.params._fields:
        attrs["dtype"] = targets[0].dtype.__name__
    p = parsed(op, attrs)
    names = signature(op, p).inputs
    if len(names) != len(inputs):
        raise refusal(
            "nd/input-count", f"{op.name} takes {len(names)} inputs ({', '.join(names[:9])}), got {len(inputs)}"
        )
    return execute(op, p, attrs, inputs, _context_of(inputs, targets, asked), targets, out)


def execute(
    op: Op, p: Any, attrs: dict[str, Any], inputs: list[NDArray], ctx: Context,
    targets: Sequence[NDArray] = (), out: Any = None,
) -> Any:
    """Run an operator with parsed parameters on dense arrays: find memory, run, record on the tape."""
    memory = ctx.memory
    sources = [a if a._ctx is ctx or a._ctx.memory == memory else a.as_in_context(ctx) for a in inputs]
    memories = [a._buffer for a in sources]
    plan = plan_of(op, p, memories, targets)
    visible = signature(op, p).visible
    made: Sequence[NDArray]
    elsewhere: list[tuple[Buffer, NDArray]] = []
    if targets:
        made = targets = _fitting(op, plan, targets, visible)
        results, elsewhere = _results_in(targets, op, plan, sources, memory)
    else:
        results = [allocate(shape, dtype, memory) for shape, dtype in plan.results]
        made = [classes.ndarray(result, ctx) for result in results[:visible]]
    p = op.own(p, ctx, memories)
    if op.partial is not None and op.partial(p):
        _begin_partial(targets, results)
    _run(op, p, memories, results, ctx)
    if op.mutates:
        _copy_back(inputs, sources)
    for result, target in elsewhere:
        hand_over(result, target._buffer, target._ctx)
    if tape.STATE.recording:
        tape.note(op, p, attrs, sources, results, made, ctx)
    if out is not None:
        return out
    return made[0] if visible == 1 else made


@decides("NDArray/no-uninitialised")
def _begin_partial(targets: Sequence[NDArray], results: Sequence[Buffer]) -> None:
    """Fill results that an operator may leave unwritten in part: with the values of the targets, else with zeros."""
    for result in results[len(targets) :]:
        result.fill(0)
    for target, result in zip(targets, results, strict=False):
        if target._buffer is not result:
            result.copy_from(target._data)


def _fitting(op: Op, plan: Plan, targets: Sequence[NDArray], visible: int) -> Sequence[NDArray]:
    """The targets that receive an output; their number and shapes are checked."""
    for target, (shape, _) in zip(targets, plan.results, strict=False):
        if target.shape != shape:
            raise refusal("nd/out-shape", f"{op.name}: out has shape {target.shape}, expected {shape}")
    if len(targets) < visible:
        raise refusal("nd/out-count", f"{op.name} has {visible} outputs, out holds {len(targets)}")
    if tape.STATE.recording:
        for target in targets[:visible]:
            tape.refuse_overwriting(target)
    return targets[:visible]


def _results_in(
    targets: Sequence[NDArray], op: Op, plan: Plan, sources: list[NDArray], memory: str
) -> tuple[list[Buffer], list[tuple[Buffer, NDArray]]]:
    """Memory for all results: a target's own where a kernel may write it, else new; and (memory, target) to copy."""
    results, elsewhere = [], []
    for index, (shape, dtype) in enumerate(plan.results):
        if index < len(targets) and _may_write(op, targets[index], index, sources, dtype):
            results.append(targets[index]._buffer)
            continue
        results.append(allocate(shape, dtype, memory))
        if index < len(targets):
            elsewhere.append((results[-1], targets[index]))
    return results, elsewhere


def _copy_back(inputs: list[NDArray], sources: list[NDArray]) -> None:
    """Copy inputs that were copied to the device of the first input back, as the operator may have changed them."""
    for given, used in zip(inputs, sources, strict=True):
        if used is not given:
            given[:] = used


def _run(op: Op, p: Any, sources: list[Buffer], results: list[Buffer], ctx: Context) -> None:
    """Let the page fill ``results``, now or when the engine decides; after a failure, ``results`` hold it."""
    is_train = tape.STATE.training
    if fast_road.is_quiet():
        try:
            run_operator(op, p, sources, results, ctx, is_train=is_train)
        except MXNetError as error:
            engine.fail(error, results)
        return

    def work() -> None:
        with watched(op.name, ctx, sources):
            run_operator(op, p, sources, results, ctx, is_train=is_train)

    changed = [s for name, s in zip(signature(op, p).inputs, sources, strict=True) if name in op.mutates]
    if op.random:
        changed.append(random_streams(ctx))
    engine.run(op.name, str(ctx), work, sources, results, changed, engine.goes_alone(p))


def hand_over(source: Buffer, target: Buffer, ctx: Context) -> None:
    """Copy values into other memory, cast to its dtype, or the reason why there are none."""
    if engine.attention:
        engine.run("_copyto", str(ctx), lambda: target.copy_from(source), [source], [target])
    else:
        target.copy_from(source)


def _context_of(inputs: list[NDArray], targets: list[NDArray], attr: Any) -> Context:
    if inputs:
        return inputs[0]._ctx
    if targets:
        return targets[0]._ctx
    if attr is None or attr == "":
        return current_context()
    if isinstance(attr, Context):
        return attr
    kind, _, number = str(attr).rstrip(")").partition("(")
    if kind not in Context.devstr2type or not (number or "0").isdigit():
        raise refusal("nd/context", f"Invalid context string {attr}, expected one like cpu(0)")
    return Context(kind, int(number or 0))
