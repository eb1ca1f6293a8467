"""Functions of executor groups on arrays: copy and join slices of a batch, allocate or share memory, storage types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .. import ndarray as nd
from ..base import decides, dtype_of, refusal
from ..context import Context, cpu
from ..io import DataDesc
from ..kvstore.local import added_up
from ..kvstore.row_sparse import summed
from ..ndarray import NDArray
from ..ndarray.sparse import stored_as
from ..quirks import declare
from ..symbol import inference, storage

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
    """The owner's array of this name, which must have ``shape``; zeros if there is no owner, or its entry is None."""
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
    if len(copies) > 1:
        total = summed(copies, cpu()) if total.is_sparse else added_up(copies, cpu(), total.dtype, 1)
        total /= len(copies)
    return total


# --- sparse arrays ---------------------------------------------------------------------------------


class Storages(NamedTuple):
    """The sparse storage types of variables and of their gradients, by name; other arrays are dense."""

    variables: Mapping[str, str] = {}
    gradients: Mapping[str, str] = {}


@decides("Module/sparse-gradients", "Module/sparse-parameters")
def storages(symbol: Any, shapes: Mapping[str, Any], types: Mapping[str, Any]) -> Storages:
    """Return the storage types of the arrays that a symbol is bound to.

    A variable has its declared storage. The weight of an ``Embedding`` with ``sparse_grad`` has a row_sparse gradient,
    and so has the right input of a ``dot`` whose left input was declared csr. ``shapes`` and ``types`` are the shapes
    and dtypes of the described inputs, by name.
    """
    order = symbol.order()
    declared = any("__storage_type__" in node.attrs for node in order)
    if not declared and not any(getattr(node.params, "sparse_grad", False) for node in order):
        return Storages()
    arguments, auxiliary = symbol._variables()
    variables = storage.declared([*arguments, *auxiliary], None)
    found = inference.shapes(order, {name: inference.read_shape(shape) for name, shape in shapes.items()})
    dtypes = inference.types(
        order, {name: dtype_of(dtype) for name, dtype in types.items()}, np.dtype(np.float32)
    )
    gradients = storage.GradientStorage(order, symbol.entries, storage.values(order, variables, found, dtypes).stypes)
    return Storages(
        _sparse({node.name: variables[id(node)] for node in (*arguments, *auxiliary)}),
        _sparse({node.name: gradients.stype((id(node), 0)) for node in arguments}),
    )


def _sparse(stypes: Mapping[str, str]) -> dict[str, str]:
    return {name: stype for name, stype in stypes.items() if stype != "default"}


@decides("Module/every-row")
def as_stored(values: Mapping[str, NDArray], targets: Mapping[str, NDArray]) -> Mapping[str, NDArray]:
    """``values`` for copies into ``targets``: a dense value of a sparse target becomes sparse, with all rows stored."""
    stypes = {
        name: targets[name].stype for name, value in values.items()
        if name in targets and targets[name].is_sparse and not value.is_sparse
    }
    return {**values, **{name: stored_as(values[name], stype) for name, stype in stypes.items()}} if stypes else values
