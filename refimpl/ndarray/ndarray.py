"""Dense arrays: flat memory on a context, a shape, and views of leading slices."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from .. import engine
from ..base import MXNetError, decides, dtype_of, integer_types, refusal
from ..context import Context, current_context
from ..kernels.foundation import Buffer, allocate, get
from . import indexing, operators, tape
from .arithmetic import Arithmetic
from .exchange import Exchange

Shape = tuple[int, ...]


class NDArray(Arithmetic, Exchange):
    """A dense array of one dtype on one context.

    ``a[i]``, ``a[i:j]`` and ``reshape`` share memory with ``a``; any other indexing copies.
    Arrays are made by ``mx.nd.array``, ``zeros``, ``ones``, ``full``, ``empty``, ``arange``.
    """

    __slots__ = ("__weakref__", "_buffer", "_ctx", "_place", "writable")
    __array_priority__ = 1000.0
    is_sparse = False

    def __init__(self, data: Buffer, ctx: Context, writable: bool = True) -> None:
        self._buffer = data
        self._ctx = ctx
        self._place: tape.Place | None = None
        self.writable = writable

    @property
    def _data(self) -> Buffer:
        """The memory, once it holds its values: whoever touches it by hand waits for it."""
        if engine.attention:
            engine.settle(self._buffer)
        return self._buffer

    # --- what it is ------------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """Sides of the array."""
        return self._buffer.shape

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._buffer.size

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._buffer.shape)

    @property
    def dtype(self) -> type:
        """Element type, as a NumPy scalar class (``np.float32``)."""
        return self._buffer.flat.dtype.type

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
            raise refusal("NDArray/len", "len() of a 0-d array", IndexError)
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
        """Return when the array holds its values.

        Raises:
            MXNetError: the operator that should have written them failed.
        """
        engine.settle(self._buffer)

    def astype(self, dtype: Any, copy: bool = True) -> NDArray:
        """Cast; returns ``self`` when the dtype is already right and ``copy`` is False."""
        kind = dtype_of(dtype)
        if not copy and kind == self._buffer.flat.dtype:
            return self
        made = empty(self.shape, self._ctx, kind)
        self.copyto(made)
        self._noted("Cast", made, dtype=kind.name)
        return made

    def _noted(self, op_name: str, made: NDArray, **attrs: Any) -> NDArray:
        """Put what was computed by hand on the tape as the operator that it amounts to; returns ``made``."""
        if tape.STATE.recording:
            op = operators.get(op_name)
            tape.note(op, operators.parsed(op, attrs), attrs, [self], [made._buffer], [made], made._ctx)
        return made

    @decides("NDArray/copy-self")
    def copyto(self, other: NDArray | Context) -> NDArray | bool:
        """Copy into an array (cast to its dtype) or onto a context; returns the target.

        Raises:
            MXNetError: the shapes differ.
            TypeError: ``other`` is neither an NDArray nor a Context.
        """
        if isinstance(other, NDArray):
            if other.is_sparse:
                from . import sparse

                return sparse.copy_into(self, other)
            if other._buffer is self._buffer:
                warnings.warn("You are attempting to copy an array to itself", RuntimeWarning, stacklevel=2)
                return False
            if other.shape != self.shape:
                raise refusal(
                    "NDArray/copy-shape", f"cannot copy an array of shape {self.shape} to {other.shape}"
                )
            indexing.require_writable(other)
            operators.hand_over(self._buffer, other._buffer, other._ctx)
            return other
        if isinstance(other, Context):
            made = empty(self.shape, other, self.dtype)
            operators.hand_over(self._buffer, made._buffer, other)
            self._noted("_copyto", made)
            return made
        raise refusal("NDArray/copy-target", f"copyto does not support type {type(other)}", TypeError)

    def copy(self) -> NDArray:
        """Copy on the same context."""
        return self.copyto(self._ctx)  # type: ignore[return-value]  # a Context gives an NDArray

    @decides("NDArray/context")
    def as_in_context(self, context: Context) -> NDArray:
        """Return ``self`` when it is on ``context``, else a copy there."""
        return self if context == self._ctx else self.copyto(context)  # type: ignore[return-value]  # as above

    as_in_ctx = as_in_context

    # --- indexing --------------------------------------------------------------------------------

    @decides("NDArray/view")
    def _shared(self, shape: Shape, start: int) -> NDArray:
        """A view of ``prod(shape)`` elements from element ``start``."""
        memory = self._buffer  # a view holds values when the bytes do: nobody needs to wait for it
        flat = memory.flat[start : start + prod(shape)]
        return NDArray(Buffer(flat, shape, memory.device), self._ctx, self.writable)

    def __getitem__(self, key: Any) -> NDArray:
        """Index as NumPy does; one element comes as shape (1,).

        Raises:
            IndexError: the index is out of range, or has more axes than the array.
        """
        return indexing.get_item(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign an array, a NumPy array, a list or a number, broadcast and cast.

        Raises:
            ValueError: the value does not broadcast to the indexed part.
            IndexError: the index is out of range, or has more axes than the array.
            MXNetError: autograd is recording, and the array is on the tape.
        """
        indexing.set_item(self, key, value)

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
        return self._noted("Reshape", self._shared(wanted, 0), shape=wanted)

    def broadcast_to(self, shape: Sequence[int], **_: Any) -> NDArray:
        """Repeat the array to ``shape``, which may have more axes in front.

        Raises:
            ValueError: a side that is not 1 would change, or there are fewer axes.
        """
        wanted = (shape,) if isinstance(shape, int) else tuple(shape)
        sides = (1,) * (len(wanted) - self.ndim) + self.shape
        if len(sides) != len(wanted) or any(s not in (1, w) for s, w in zip(sides, wanted, strict=True)):
            raise refusal(
                "NDArray/broadcast-to", f"operands could not be broadcast together: {self.shape} and requested"
                f" shape {wanted}", ValueError,
            )
        return operators.call("broadcast_to", self if sides == self.shape else self.reshape(sides), shape=wanted)

    @property
    def T(self) -> NDArray:  # noqa: N802  # MXNet's name
        """The transposed array (a copy)."""
        return self.transpose()

    # --- gradients -------------------------------------------------------------------------------

    @decides("autograd/attach")
    def attach_grad(self, grad_req: str = "write", stype: str | None = None) -> None:
        """Make this array a variable whose gradient ``backward`` writes into ``self.grad``.

        The gradient starts as zeros. The array leaves whatever computation it came from.

        Raises:
            KeyError: ``grad_req`` is none of write, add and null.
        """
        from .. import autograd
        from .creation import zeros

        gradient = zeros(self.shape, self._ctx, self.dtype, stype=stype)
        autograd.mark_variables([self], [gradient], grad_req)

    @property
    def grad(self) -> NDArray | None:
        """The gradient array given by ``attach_grad``, None without one."""
        return None if self._place is None else self._place.gradient

    def detach(self) -> NDArray:
        """The same memory outside any computation: no gradient flows through the result."""
        return NDArray(self._buffer, self._ctx, self.writable)

    def backward(
        self, out_grad: NDArray | None = None, retain_graph: bool = False, train_mode: bool = True
    ) -> None:
        """Gradients of this array's sum (weighted by ``out_grad``); see ``autograd.backward``."""
        from .. import autograd

        autograd.backward([self], [out_grad], retain_graph, train_mode)

    # --- operators as methods --------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """``a.sum(axis=1)`` is ``mx.nd.sum(a, axis=1)``, for the operators MXNet offers as methods."""
        if name in operators.METHODS:
            return operators.bound_method(name, self)
        raise AttributeError(f"'NDArray' object has no attribute {name!r}")


def empty(
    shape: int | Sequence[int], ctx: Context | None = None, dtype: Any = None, stype: str | None = None
) -> NDArray:
    """An array of ``shape`` with unspecified content (zeros when ``stype`` is "row_sparse" or "csr").

    Raises:
        MXNetError: ``shape`` is not made of whole numbers, or ``ctx`` is no Context.
    """
    if stype not in (None, "default"):
        from . import sparse

        return sparse.empty(stype, shape, ctx, dtype)
    given = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    if not all(isinstance(side, integer_types) and side >= 0 for side in given):
        raise refusal("NDArray/shape", f"a shape is a tuple of whole numbers, none negative, got {shape!r}")
    sides = tuple(int(side) for side in given)
    place = ctx if ctx is not None else current_context()
    if not isinstance(place, Context):
        raise refusal("NDArray/context-type", f"ctx must be a Context such as mx.cpu(0), got {place!r}")
    kind = dtype_of(dtype if dtype is not None else np.float32)
    return NDArray(allocate(sides, kind, place.memory), place)


@decides("NDArray/default-type")
def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Copy ``source_array`` (NDArray, NumPy array, nested lists, number) to a context.

    dtype defaults to that of an NDArray and to float32 for everything else.
    """
    if getattr(source_array, "is_sparse", False) or type(source_array).__module__.startswith("scipy."):
        from . import sparse

        return sparse.array(source_array, ctx, dtype)
    if isinstance(source_array, NDArray):
        values = source_array.asnumpy()
        kind = dtype_of(dtype) if dtype is not None else values.dtype
        place = ctx if ctx is not None else source_array.context
    else:
        try:
            values = np.asarray(source_array)
            if values.dtype.kind in "OUS":
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
