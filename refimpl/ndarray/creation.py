"""Functions that make arrays of numbers or of NumPy arrays: zeros, ones, full, eye, linspace, histogram, from_numpy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import engine
from ..base import dtype_of, integer_types, numeric_types, refusal
from ..context import Context
from ..kernels.foundation import Shape, allocate, get, reserving
from . import operators
from .ndarray import NDArray, array, empty


def full(shape: Any, val: Any, ctx: Context | None = None, dtype: Any = None, out: Any = None) -> NDArray:
    """An array of ``shape`` and ``dtype`` on ``ctx``, filled with ``val``; or ``out``, filled with ``val``."""
    made = out if out is not None else empty(shape, ctx, dtype)
    if out is None and isinstance(val, numeric_types):
        made.handle.fill(val)  # type: ignore[arg-type]  # any number
    else:
        made[:] = val
    return made


def zeros(
    shape: Any, ctx: Context | None = None, dtype: Any = None, stype: str | None = None, **kwargs: Any
) -> NDArray:
    """An array of zeros.

    Args:
        shape: the shape, a tuple or one whole number.
        ctx: the context of the array; None for the current context.
        dtype: the dtype of the array; None for float32.
        stype: "default" for a dense array, "row_sparse" or "csr"; None for dense.
        kwargs: ``out``, an array that is filled and returned instead of a new one.
    """
    if stype not in (None, "default"):
        return empty(shape, ctx, dtype, stype)
    return full(shape, 0, ctx, dtype, kwargs.get("out"))


def zeros_of(shape: Shape, ctx: Context, dtype: np.dtype) -> NDArray:
    """A dense array of zeros, made without checks: ``shape`` and ``dtype`` come from inference."""
    memory = allocate(shape, dtype, ctx.memory)
    if memory.device == "cpu":
        memory.flat.fill(0)
    else:
        memory.fill(0)
    return NDArray(memory, ctx)


def ones(shape: Any, ctx: Context | None = None, dtype: Any = None, **kwargs: Any) -> NDArray:
    """An array of ones."""
    return full(shape, 1, ctx, dtype, kwargs.get("out"))


def waitall() -> None:
    """Wait until all work is done.

    Raises:
        MXNetError: an operator failed, and its failure has not been raised yet.
    """
    engine.wait_all()


def eye(
    N: int, M: int = 0, k: int = 0, ctx: Context | None = None, dtype: Any = None, **kwargs: Any  # noqa: N803  # MXNet's
) -> NDArray:
    """A matrix of ``N`` rows and ``M`` columns (0: ``N`` columns) with ones on diagonal ``k``, zeros elsewhere.

    ``ctx`` is the context of the result, ``dtype`` its dtype (default float32).
    """
    kind = "float32" if dtype is None else dtype_of(dtype).name
    return operators.call("_eye", N=N, M=M, k=k, ctx=ctx, dtype=kind, **kwargs)


def linspace(
    start: float, stop: float, num: int, endpoint: bool = True, ctx: Context | None = None,
    dtype: Any = "float32",
) -> NDArray:
    """``num`` evenly spaced numbers from ``start`` to ``stop``; ``stop`` is excluded unless ``endpoint``.

    ``ctx`` and ``dtype`` are the context and the dtype of the result.
    """
    return operators.call(
        "_linspace", start=start, stop=stop, num=num, endpoint=endpoint, ctx=ctx,
        dtype=dtype_of(dtype).name,
    )


def set_value(src: float, out: NDArray) -> NDArray:
    """Overwrite every element of ``out`` with the number ``src``, cast to the dtype of ``out``; returns ``out``."""
    out[:] = src
    return out


def onehot_encode(indices: NDArray, out: NDArray) -> NDArray:
    """Set row ``i`` of ``out`` (rows, columns) to 1 at column ``indices[i]`` and to 0 elsewhere; returns ``out``.

    Raises:
        AssertionError: an argument is not an NDArray.
        MXNetError: the shapes do not fit.
    """
    return _function("_onehot_encode")(indices, out, out=out)


def _function(name: str) -> Callable[..., Any]:
    """The function of operator ``name``, which checks that its inputs are arrays."""
    return operators.make_function(get(name), name)


def histogram(
    a: NDArray, bins: int | NDArray = 10, range: tuple[float, float] | None = None  # noqa: A002  # MXNet's name
) -> list[NDArray]:
    """The number of elements in each bin (int64), and the edges of the bins.

    ``bins`` is an array of the edges, or the number of bins of equal width in ``range``. Without ``range`` NumPy
    counts, and both arrays are float32.

    Raises:
        ValueError: ``bins`` is neither a positive whole number nor an NDArray, or ``range`` is missing and an element
            of ``a`` is not finite.
        MXNetError: there is no memory for so many bins.
    """
    if isinstance(bins, NDArray):
        return _function("_histogram")(a, bins)
    if not isinstance(bins, integer_types) or bins < 1:
        raise refusal(
            "NDArray/histogram", f"bins argument should be either a positive integer or an NDArray, got {bins!r}",
            ValueError,
        )
    if range is not None:
        return _function("_histogram")(a, bin_cnt=int(bins), range=tuple(range))
    warnings.warn("range is not specified, using NumPy's result", UserWarning, stacklevel=2)
    numbers = a.asnumpy().astype(np.float64)
    if not np.isfinite(numbers).all():
        raise refusal("NDArray/histogram", "a holds NaN or infinities, so it has no range; give range=", ValueError)
    with reserving((int(bins) + 1,), np.float64):
        parts = np.histogram(numbers, bins=int(bins))
    return [array(part, ctx=a.context, dtype="float32") for part in parts]


def from_numpy(ndarray: np.ndarray, zero_copy: bool | None = None, array_cls: type = NDArray) -> NDArray:
    """An array of the values and dtype of a NumPy array, copied.

    MXNet shares the memory unless ``zero_copy`` is False. Here the memory cannot be shared: without ``zero_copy`` a
    warning says so, and the array has to be C-contiguous as in MXNet. ``array_cls`` is the class of the result.

    Raises:
        TypeError: ``ndarray`` is not a NumPy array.
        ValueError: ``zero_copy`` is True; or the array is not C-contiguous and ``zero_copy`` is not given; or no
            NDArray can have its dtype.
    """
    if not isinstance(ndarray, np.ndarray):
        raise refusal("NDArray/from-numpy", f"expected a numpy.ndarray, got {type(ndarray)}", TypeError)
    if zero_copy is not False and not ndarray.flags.c_contiguous:
        raise refusal(
            "NDArray/from-numpy",
            "Only c-contiguous arrays are supported for zero-copy; use numpy.ascontiguousarray or zero_copy=False",
            ValueError,
        )
    if ndarray.dtype.name not in _FROM_NUMPY:
        raise refusal(
            "NDArray/from-numpy", f"{ndarray.dtype} is not supported, use one of {', '.join(_FROM_NUMPY)}", ValueError
        )
    if zero_copy:
        raise refusal(
            "NDArray/from-numpy-shared",
            "the memory of a NumPy array cannot be shared: kernels may read past its end; give zero_copy=False for a"
            " copy", ValueError,
        )
    if zero_copy is None:
        warnings.warn("from_numpy copies; give zero_copy=False if that is meant", UserWarning, stacklevel=2)
    made = empty(ndarray.shape, dtype=ndarray.dtype)
    made._data.fill_from(ndarray)
    return made if array_cls is NDArray else array_cls(made._data, made.context)


_FROM_NUMPY = ("float16", "float32", "float64", "uint8", "int8", "int32", "int64", "bool")
