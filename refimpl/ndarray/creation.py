"""Arrays made from nothing or from others: zeros, ones, full, concatenate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import engine
from ..base import numeric_types, refusal
from ..context import Context
from . import operators
from .ndarray import NDArray, empty


def full(shape: Any, val: Any, ctx: Context | None = None, dtype: Any = None, out: Any = None) -> NDArray:
    """An array filled with ``val``."""
    made = out if out is not None else empty(shape, ctx, dtype)
    if out is None and isinstance(val, numeric_types):
        made.handle.fill(val)  # type: ignore[arg-type]  # any number
    else:
        made[:] = val
    return made


def zeros(
    shape: Any, ctx: Context | None = None, dtype: Any = None, stype: str | None = None, **kwargs: Any
) -> NDArray:
    """An array of zeros, dense unless ``stype`` is "row_sparse" or "csr"."""
    if stype not in (None, "default"):
        from . import sparse

        return sparse.zeros(stype, shape, ctx, dtype)
    return full(shape, 0, ctx, dtype, kwargs.get("out"))


def ones(shape: Any, ctx: Context | None = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """An array of ones."""
    return full(shape, 1, ctx, dtype, kwargs.get("out"))


def waitall() -> None:
    """Return when all work is done.

    Raises:
        MXNetError: an operator failed, and nobody has heard of it yet.
    """
    engine.wait_all()


def concatenate(arrays: Sequence[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """Join arrays along ``axis``; a single array is returned as it is unless ``always_copy``."""
    if not arrays:
        raise refusal("NDArray/concatenate", "concatenate needs at least one array", ValueError)
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    return operators.call("Concat", *arrays, dim=axis)


def moveaxis(tensor: NDArray, source: Any, destination: Any) -> NDArray:
    """Move axes to other places, as ``numpy.moveaxis``.

    Raises:
        ValueError: an axis is out of range or named twice, or there are not as many places as axes.
    """
    sources = [source] if isinstance(source, int) else list(source)
    targets = [destination] if isinstance(destination, int) else list(destination)
    rank = tensor.ndim
    if not all(-rank <= axis < rank for axis in (*sources, *targets)):
        raise refusal(
            "NDArray/moveaxis", f"axes {sources} and {targets} must lie between {-rank} and {rank - 1}", ValueError
        )
    sources = [s % rank for s in sources]
    targets = [t % rank for t in targets]
    if not len(sources) == len(targets) == len(set(sources)) == len(set(targets)):
        raise refusal("NDArray/moveaxis", f"axes {sources} cannot go to {targets}: one place each", ValueError)
    rest = [axis for axis in range(rank) if axis not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        rest.insert(target, origin)
    return operators.call("transpose", tensor, axes=tuple(rest))
