"""Dense arrays: flat memory on a context, a shape, and views of leading slices."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from ..base import MXNetError, dtype_of, integer_types, refusal
from ..context import Context, current_context
from ..kernels.foundation import Buffer, allocate, get
from ..kernels.foundation.shapes import strides_of
from . import operators
from .arithmetic import Arithmetic

Shape = tuple[int, ...]


class NDArray(Arithmetic):
    """A dense array of one dtype on one context.

    ``a[i]``, ``a[i:j]`` and ``reshape`` share memory with ``a``; any other indexing copies.
    Arrays are made by ``mx.nd.array``, ``zeros``, ``ones``, ``full``, ``empty``, ``arange``.
    """

    __slots__ = ("_ctx", "_data", "writable")
    __array_priority__ = 1000.0

    def __init__(self, data: Buffer, ctx: Context, writable: bool = True) -> None:
        self._data = data
        self._ctx = ctx
        self.writable = writable

    # --- what it is ------------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """Sides of the array."""
        return self._data.shape

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._data.size

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._data.shape)

    @property
    def dtype(self) -> type:
        """Element type, as a NumPy scalar class (``np.float32``)."""
        return self._data.flat.dtype.type

    @property
    def context(self) -> Context:
        """Device of the array."""
        return self._ctx

    ctx = context

    @property
    def stype(self) -> str:
        """Storage type: "default" for dense arrays."""
        return "default"

    @property
    def handle(self) -> Buffer:
        """The flat memory that kernels work on."""
        return self._data

    def __len__(self) -> int:
        if not self.shape:
            raise refusal("NDArray/len", "len() of a 0-d array", TypeError)
        return self.shape[0]

    def __iter__(self) -> Iterator[NDArray]:
        for index in range(len(self)):
            yield self[index]

    def __bool__(self) -> bool:
        if self.size == 0:
            return False
        if self.size == 1:
            return bool(self.asscalar())
        raise refusal(
            "NDArray/truth", "The truth value of an NDArray with several elements is ambiguous; reduce it first",
            ValueError,
        )

    def __repr__(self) -> str:
        sides = "x".join(str(s) for s in self.shape)
        return f"\n{self.asnumpy()!s}\n<NDArray {sides} @{self._ctx}>"

    # --- out and in ------------------------------------------------------------------------------

    def asnumpy(self) -> np.ndarray:
        """Copy to a NumPy array of the same shape and dtype."""
        return self._data.to_numpy()

    def asscalar(self) -> Any:
        """Return the only element.

        Raises:
            ValueError: the array does not have exactly one element.
        """
        if self.size != 1:
            raise refusal(
                "NDArray/asscalar", f"The current array is not a scalar, its shape is {self.shape}",
                ValueError,
            )
        return self.asnumpy().reshape(-1)[0]

    def wait_to_read(self) -> None:
        """Return when the array holds its value (always, on the CPU)."""

    def _view(self) -> np.ndarray:
        """The memory as a NumPy array (CPU only), shared."""
        return self._data.flat.reshape(self.shape)

    def astype(self, dtype: Any, copy: bool = True) -> NDArray:
        """Cast; returns ``self`` when the dtype is already right and ``copy`` is False."""
        kind = dtype_of(dtype)
        if not copy and kind == self._data.flat.dtype:
            return self
        made = empty(self.shape, self._ctx, kind)
        self.copyto(made)
        return made

    def copyto(self, other: NDArray | Context) -> NDArray | bool:
        """Copy into an array (cast to its dtype) or onto a context; returns the target.

        Raises:
            MXNetError: the shapes differ.
            TypeError: ``other`` is neither an NDArray nor a Context.
        """
        if isinstance(other, NDArray):
            if other._data is self._data:
                warnings.warn("You are attempting to copy an array to itself", RuntimeWarning, stacklevel=2)
                return False
            if other.shape != self.shape:
                raise refusal(
                    "NDArray/copy-shape", f"cannot copy an array of shape {self.shape} to {other.shape}"
                )
            _require_writable(other)
            other._data.copy_from(self._data)
            return other
        if isinstance(other, Context):
            made = empty(self.shape, other, self.dtype)
            made._data.copy_from(self._data)
            return made
        raise refusal("NDArray/copy-target", f"copyto does not support type {type(other)}", TypeError)

    def copy(self) -> NDArray:
        """Copy on the same context."""
        return self.copyto(self._ctx)  # type: ignore[return-value]  # a Context gives an NDArray

    def as_in_context(self, context: Context) -> NDArray:
        """Return ``self`` when it is on ``context``, else a copy there."""
        return self if context == self._ctx else self.copyto(context)  # type: ignore[return-value]  # as above

    as_in_ctx = as_in_context

    # --- indexing --------------------------------------------------------------------------------

    def _shared(self, shape: Shape, start: int) -> NDArray:
        """A view of ``prod(shape)`` elements from element ``start``."""
        flat = self._data.flat[start : start + prod(shape)]
        return NDArray(Buffer(flat, shape, self._data.device), self._ctx, self.writable)

    def _locate(self, key: Any) -> tuple[Shape, int] | None:
        """Shape and first element when basic indexing by ``key`` is one contiguous run of memory."""
        shape = self.shape
        if type(key) is int and shape and -shape[0] <= key < shape[0]:
            rest = shape[1:] or (1,)
            return rest, (key % shape[0]) * prod(shape[1:])
        if type(key) is slice and shape and key.step in (None, 1):
            first, last, _ = key.indices(shape[0])
            count = max(last - first, 0)
            return (count, *shape[1:]), first * prod(shape[1:]) if count else 0
        skeleton = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), shape, strides_of(shape))
        parts = key if isinstance(key, tuple) else (key,)
        # with an ellipsis one element stays an array: NumPy does not read it, and it is not there
        part = skeleton[parts if any(p is Ellipsis for p in parts) else (*parts, ...)]
        if not part.flags.c_contiguous:
            return None
        start = part.__array_interface__["data"][0] - skeleton.__array_interface__["data"][0]
        return part.shape or (1,), start if part.size else 0

    def __getitem__(self, key: Any) -> NDArray:
        """Index as NumPy does; one element comes as shape (1,).

        Raises:
            IndexError: the index is out of range, or has more axes than the array.
        """
        key = _plain_key(key)
        try:
            place = self._locate(key) if _is_basic(key) else None
            if place is not None:
                return self._shared(*place)
            values = np.atleast_1d(self.asnumpy()[key])
        except IndexError as error:
            raise refusal("NDArray/index-range", f"{error}; its shape is {self.shape}", IndexError) from None
        return array(values, self._ctx, self.dtype)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign an array, a NumPy array, a list or a number, broadcast and cast.

        Raises:
            ValueError: the value does not broadcast to the indexed part.
            IndexError: the index is out of range, or has more axes than the array.
        """
        _require_writable(self)
        key = _plain_key(key)
        if isinstance(value, NDArray):
            whole = isinstance(key, slice) and key == slice(None)
            if whole and value.shape == self.shape:
                if value._data is not self._data:
                    self._data.copy_from(value._data)
                return
            value = value.asnumpy()
        host = self._view() if self._data.device == "cpu" else self.asnumpy()
        try:
            host[key] = _fitting(value, host[key].shape)
        except IndexError as error:
            raise refusal("NDArray/index-range", f"{error}; its shape is {self.shape}", IndexError) from None
        except ValueError as error:
            raise refusal("NDArray/assign", f"{error}; the array has shape {self.shape}", ValueError) from None
        if self._data.device != "cpu":
            self._data.fill_from(host)

    def reshape(self, *shape: Any, **kwargs: Any) -> NDArray:
        """Read the same memory with another shape; the codes 0, -1, -2, -3, -4 are those of ``nd.reshape``.

        Raises:
            ValueError: the new shape holds fewer elements.
            MXNetError: it holds more, or its codes make no sense.
        """
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        elif not shape:
            if "shape" not in kwargs:
                raise refusal("NDArray/reshape-shape", "Shape must be provided", AssertionError)
            shape = tuple(kwargs.pop("shape"))
        reverse = kwargs.pop("reverse", False)
        if kwargs:
            raise refusal("NDArray/reshape-arguments", f"unknown arguments {sorted(kwargs)}", TypeError)
        op = get("Reshape")
        try:
            p = op.parse({"shape": shape, "reverse": reverse})
            _, (wanted,) = op.infer(p, [self.shape], [None])
        except MXNetError as error:
            if error.clause != "Reshape/size":
                raise
            larger = prod(side for side in shape if side > 0) > self.size
            raise refusal(
                "NDArray/reshape-size",
                f"Cannot reshape array of size {self.size} into shape {shape}",
                MXNetError if larger else ValueError,
            ) from None
        return self._shared(wanted, 0)

    @property
    def T(self) -> NDArray:  # noqa: N802  # MXNet's name
        """The transposed array (a copy)."""
        return self.transpose()

    # --- operators as methods --------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """``a.sum(axis=1)`` is ``mx.nd.sum(a, axis=1)``, for the operators MXNet offers as methods."""
        if name in operators.METHODS:
            return operators.bound_method(name, self)
        raise AttributeError(f"'NDArray' object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return {"values": self.asnumpy(), "context": (self._ctx.device_type, self._ctx.device_id)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        made = array(state["values"], Context(*state["context"]), state["values"].dtype)
        self._data, self._ctx, self.writable = made._data, made._ctx, True

    def __reduce__(self) -> tuple:
        return (_unpickled, (self.__getstate__(),))


def _unpickled(state: dict[str, Any]) -> NDArray:
    made = NDArray.__new__(NDArray)
    made.__setstate__(state)
    return made


def _require_writable(target: NDArray) -> None:
    if not target.writable:
        raise refusal("NDArray/writable", "trying to assign to a readonly NDArray", ValueError)


def _is_basic(key: Any) -> bool:
    parts = key if isinstance(key, tuple) else (key,)
    return all(
        part is None or part is Ellipsis or isinstance(part, (int, np.integer, slice)) for part in parts
    )


def _plain_key(key: Any) -> Any:
    """Arrays inside a key as integer NumPy arrays; anything NumPy would misread is refused."""
    if isinstance(key, tuple):
        return tuple(_plain_key(part) for part in key)
    if isinstance(key, NDArray):
        return key.asnumpy().astype(np.int64)
    if isinstance(key, (list, np.ndarray)):
        # boolean index arrays are read as the integers 0 and 1, as MXNet 1.x does
        return np.asarray(key).astype(np.int64)
    if isinstance(key, (int, np.integer)):
        return int(key)
    if key is None or key is Ellipsis or isinstance(key, slice):
        return key
    raise refusal(
        "NDArray/key", f"NDArray does not support slicing with key {key!r} of type {type(key)}", ValueError
    )


def _fitting(value: Any, shape: Shape) -> Any:
    """``value`` as it can be assigned to ``shape``: leading sides of 1 are dropped as in MXNet."""
    values = np.asarray(value)
    while values.ndim > len(shape) and values.shape[0] == 1:
        values = values[0]
    return values


def empty(shape: int | Sequence[int], ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """An array of ``shape`` with unspecified content.

    Raises:
        MXNetError: ``shape`` is not made of whole numbers, or ``ctx`` is no Context.
    """
    given = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    if not all(isinstance(side, integer_types) and side >= 0 for side in given):
        raise refusal("NDArray/shape", f"a shape is a tuple of whole numbers, none negative, got {shape!r}")
    sides = tuple(int(side) for side in given)
    place = ctx if ctx is not None else current_context()
    if not isinstance(place, Context):
        raise refusal("NDArray/context-type", f"ctx must be a Context such as mx.cpu(0), got {place!r}")
    kind = dtype_of(dtype if dtype is not None else np.float32)
    return NDArray(allocate(sides, kind, place.memory), place)


def array(source: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Copy ``source`` (NDArray, NumPy array, nested lists, number) to a context.

    dtype defaults to that of an NDArray source and to float32 for everything else.
    """
    if isinstance(source, NDArray):
        values = source.asnumpy()
        kind = dtype_of(dtype) if dtype is not None else values.dtype
        place = ctx if ctx is not None else source.context
    else:
        try:
            values = np.asarray(source)
            if values.dtype == object:
                raise TypeError
        except (TypeError, ValueError):
            raise refusal(
                "NDArray/source", "source_array must be array like, with equal lengths at every level",
                TypeError,
            ) from None
        kind = dtype_of(dtype if dtype is not None else np.float32)
        place = ctx if ctx is not None else current_context()
    made = empty(values.shape, place, kind)
    made._data.fill_from(values)
    return made
