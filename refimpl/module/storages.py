"""The storages of a module's arrays: declared sparse parameters and inputs, and gradients with few rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..base import decides, dtype_of
from ..ndarray import NDArray
from ..ndarray.sparse import stored_as
from ..symbol import inference, storage


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
