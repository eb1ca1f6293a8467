"""Functions of executor groups on arrays: copy and join slices of a batch, allocate or share memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..base import decides, refusal
from ..context import Context, cpu
from ..io import DataDesc
from ..ndarray import NDArray
from ..quirks import declare

_ROUNDS = declare(
    "mean-rounds", "Module/params-mean",
    "the mean of equal copies is their sum divided by their number, which rounds on 3, 5, 6, ... contexts",
    "a checkpoint would not hold the weights that training goes on with",
)


def along(axis: int, part: slice) -> Any:
    """The index that selects ``part`` of an axis; for axis -1 the whole array."""
    if axis == -1:
        return Ellipsis
    return part if axis == 0 else (*(slice(None),) * axis, part)


def sliced_shape(description: DataDesc, part: slice | None) -> tuple[int, ...]:
    """The shape of one context's slice of the described array."""
    shape = list(description.shape)
    axis = DataDesc.get_batch_axis(description.layout)
    if axis != -1 and part is not None:
        shape[axis] = part.stop - part.start
    return tuple(shape)


@decides("ExecutorGroup/merge")
def merged(outputs: Sequence[Sequence[NDArray]], axes: Sequence[int]) -> list[NDArray]:
    """Join each output's parts along its axis, on the first context; for axis -1 return the first part."""
    return [
        parts[0] if len(parts) == 1 or axis == -1
        else nd.concatenate([part.as_in_context(parts[0].context) for part in parts], axis)
        for parts, axis in zip(outputs, axes, strict=True)
    ]


def inferred(clause: str, infer: Any, described: Mapping[str, Any]) -> tuple[list, list]:
    """Return the results of ``infer`` (of shapes or types) for all arguments and all auxiliary states, or refuse."""
    arguments, _, states = infer(**described)
    if arguments is None:
        raise refusal(
            clause, f"the net cannot be inferred from {dict(described)}; describe every input"
        )
    return arguments, states


def owned(
    owner: Mapping[str, NDArray | None] | None, name: str, shape: Any, dtype: Any, context: Context,
    stype: str = "default",
) -> NDArray:
    """The owner's array of this name, which must fit, or a new one of zeros when there is no owner."""
    if owner is not None and name not in owner:
        raise refusal(
            "Module/shared-names",
            f"{name} is no parameter or auxiliary state of the module to share with, which has "
            f"{sorted(owner)}; share with the module that has them all",
        )
    found = owner.get(name) if owner else None
    if found is None:
        return nd.zeros(shape, context, dtype, stype=stype)
    if found.shape != tuple(shape):
        raise refusal(
            "ExecutorGroup/shared-shape",
            f"{name} has shape {found.shape} but these input shapes need {tuple(shape)}; "
            "only the batch may change size, not the parameters",
        )
    return found


@decides("Module/states")
def pooled(
    pool: dict[str, NDArray], name: str, shape: Any, dtype: Any, context: Context, stype: str = "default"
) -> NDArray:
    """A view of the pool's array ``name`` if that is large enough, else of a new array, which replaces it in the pool.

    A sparse array is always new: it has no memory that another array could view.
    """
    if stype != "default":
        return nd.zeros(shape, context, dtype, stype=stype)
    size = prod(shape)
    memory = pool.get(name)
    if memory is None or memory.size < size or memory.dtype != dtype or memory.context != context:
        memory = pool[name] = nd.zeros(shape, context, dtype)
    return memory if memory.shape == tuple(shape) else memory.reshape((-1,))[:size].reshape(shape)


@decides("ExecutorGroup/head-gradients")
def cut_heads(
    out_grads: Any, execs: Sequence[Any], contexts: Sequence[Context], axes: Sequence[int]
) -> list[list[NDArray]]:
    """Head gradients per context: each is cut along the axis on which :func:`merged` joins its output."""
    whole = [out_grads] if isinstance(out_grads, NDArray) else list(out_grads)
    ends = [0] * len(whole)
    heads = []
    for executor, context in zip(execs, contexts, strict=True):
        mine = []
        for output, (gradient, axis) in enumerate(zip(whole, axes, strict=False)):
            part = gradient
            if axis != -1 and len(execs) > 1:
                rows = executor.outputs[output].shape[axis]
                part = gradient[along(axis, slice(ends[output], ends[output] + rows))]
                ends[output] += rows
            mine.append(part.as_in_context(context))
        heads.append(mine)
    return heads


@decides("Module/no-store")
def mean_of(copies: Sequence[NDArray]) -> NDArray:
    """The mean of arrays, added in order, on the host. The mean of equal arrays is a copy of the first, unrounded."""
    total = copies[0].astype(copies[0].dtype).as_in_context(cpu())
    if not _ROUNDS.active and all(np.array_equal(copy.asnumpy(), total.asnumpy()) for copy in copies[1:]):
        return total
    for copy in copies[1:]:
        total = nd.elemwise_add(total, copy.as_in_context(cpu()))  # type: ignore[attr-defined]  # published by name
    if len(copies) > 1:
        total /= len(copies)
    return total
