"""Which gradients of a symbol are row_sparse: an update then leaves the rows alone that no batch read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base import decides, dtype_of
from ..symbol import inference, storage


@decides("Module/sparse-gradients")
def gradient_stypes(symbol: Any, shapes: Mapping[str, Any], types: Mapping[str, Any]) -> dict[str, str]:
    """Return the storage type of each gradient that is not dense, by the name of its argument.

    The weight of an ``Embedding`` with ``sparse_grad`` has such a gradient, and the right side of a ``dot`` whose left
    side was declared csr. ``shapes`` and ``types`` are those of the described inputs, by name.
    """
    order = symbol.order()
    declared = any("__storage_type__" in node.attrs for node in order)
    if not declared and not any(getattr(node.params, "sparse_grad", False) for node in order):
        return {}
    arguments, auxiliary = symbol._variables()
    variables = storage.declared([*arguments, *auxiliary], None)
    found = inference.shapes(order, {name: inference.read_shape(shape) for name, shape in shapes.items()})
    dtypes = inference.types(
        order, {name: dtype_of(dtype) for name, dtype in types.items()}, np.dtype(np.float32)
    )
    gradients = storage.GradientStorage(order, symbol.entries, storage.values(order, variables, found, dtypes))
    stypes = {node.name: gradients.stype((id(node), 0)) for node in arguments}
    return {name: stype for name, stype in stypes.items() if stype != "default"}
