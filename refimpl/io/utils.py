"""mxnet.io.utils: how the sources of an iterator become arrays with names."""

from __future__ import annotations

from typing import Any

from ..base import decides, require
from ..ndarray import NDArray
from ..ndarray.sparse import array as sparse_array  # noqa: F401  # scripts import it from here
from .ndarray_iter import _named_arrays


@decides("conventions/submodules")
def _init_data(data: Any, allow_empty: bool, default_name: str) -> list[tuple[str, NDArray]]:
    """The arrays of ``data`` with their names, as NDArrayIter has them.

    Args:
        data: an array, a list of arrays, a dict of arrays by name, or None.
        allow_empty: whether there may be none.
        default_name: the name of a single array, and the ending of names in a list.

    Raises:
        AssertionError: there is none, and ``allow_empty`` is False.
        TypeError: ``data`` is something else.
    """
    named = _named_arrays(data, default_name)
    require(
        "NDArrayIter/data", bool(named) or allow_empty,
        f"{default_name} is empty, give at least one array, or allow_empty", AssertionError,
    )
    return named


__all__ = ["_init_data"]
