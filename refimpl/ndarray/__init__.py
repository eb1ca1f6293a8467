"""mx.nd: dense arrays, and every operator as a function on them."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from ..op_registry.publishing import furnish as _furnish
from ..op_registry.publishing import publish as _publish
from . import functions as _functions
from . import operators
from .creation import (
    concatenate,
    eye,
    from_numpy,
    full,
    histogram,
    linspace,
    moveaxis,
    onehot_encode,
    ones,
    set_value,
    split_v2,
    waitall,
    zeros,
)
from .exchange import from_dlpack, to_dlpack_for_read, to_dlpack_for_write
from .file_format import load, load_frombuffer, save
from .ndarray import NDArray, array, empty


def arange(
    start: float, stop: float | None = None, step: float = 1.0, repeat: int = 1,
    infer_range: bool = False, ctx: _Any = None, dtype: _Any = "float32",
) -> NDArray:
    """Evenly spaced values from ``start`` up to (not including) ``stop``, each ``repeat`` times."""
    return operators.call(
        "_arange", start=start, stop=stop, step=step, repeat=repeat, infer_range=infer_range,
        ctx=ctx, dtype=operators.dtype_of(dtype).name,
    )


_internal, op = _publish(__name__, globals(), operators.make_function)
_internal._set_value = set_value  # type: ignore[attr-defined]  # its shape comes from ``out`` alone: no operator
del set_value

globals().update(_functions.FUNCTIONS)  # add, subtract, ..., logical_xor

from . import contrib, random, sparse  # noqa: E402  # over the operators' namespaces of these names

_furnish(__name__, globals(), operators.make_function)  # contrib, and the rooms image and linalg

if _TYPE_CHECKING:

    def __getattr__(name: str) -> _Any:
        """Operators are made from their pages, which a type checker cannot see."""


__all__ = [
    "NDArray", "arange", "array", "concatenate", "contrib", "empty", "eye", "from_dlpack", "from_numpy",
    "full", "histogram", "linspace", "load", "load_frombuffer", "moveaxis", "onehot_encode", "ones", "random",
    "save", "sparse", "split_v2", "to_dlpack_for_read", "to_dlpack_for_write", "waitall", "zeros",
]
__all__ += list(_functions.FUNCTIONS)
