"""Dense arrays: flat memory on a context, a shape, and views of leading slices."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import engine
from ..base import MXNetError, decides, dtype_of, refusal
from ..context import Context, current_context
from ..kernels.foundation import Buffer, allocate, get, size_of
from ..op_registry import methods
from ..op_registry.signatures import parsed
from . import classes, convert, dense, indexing, operators, rearranging, sparse_tape, tape, views

if TYPE_CHECKING:
    from ..op_registry.argument_types import Number, Sides
    from ._methods import ArrayMethods  # the methods that ``methods.install`` sets, in a generated stub
else:
    ArrayMethods = object

Shape = tuple[int, ...]
py_slice = slice  # MXNet's name: its module has an operator called slice


class NDArray(ArrayMethods):
    """A dense array of one dtype on one context.

    ``a[i]``, ``a[i:j]`` and ``reshape`` share memory with ``a``; any other indexing copies.
    Arrays are made by ``mx.nd.array``, ``zeros``, ``ones``, ``full``, ``empty``, ``arange``.
    """

    __slots__ = ("__weakref__", "_buffer", "_ctx", "_place", "writable")
    __array_priority__ = 1000.0
    __hash__ = object.__hash__  # == compares elements, yet arrays are hashed by identity
    is_sparse = False

    def __init__(self, data: Buffer | None, ctx: Context | None = None, writable: bool = True) -> None:
        if data is not None:  # NDArray(None) waits for the state of a pickle
            self._buffer = data
        self._ctx: Context = ctx  # type: ignore[assignment]  # as above
        self._place: tape.Place | None = None
        self.writable = writable

    @property
    def _data(self) -> Buffer:
        """The memory, after waiting for its values: for code that reads or writes it outside the engine."""
        if engine.attention:
            engine.settle(self._buffer)
        return self._buffer

    # --- what it is ------------------------------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """Dimensions of the array."""
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
        """Type of the elements, as a NumPy scalar class (``np.float32``)."""
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
        """The flat memory that kernels work on; None for ``NDArray(None)``, which has none yet."""
        buffer = getattr(self, "_buffer", None)
        if engine.attention and buffer is not None:
            engine.settle(buffer)
        return buffer  # type: ignore[return-value]  # see above

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
            message = f"The current array is not a scalar, its shape is {self.shape}"
            raise refusal("NDArray/asscalar", message, ValueError)
        return self.asnumpy().reshape(-1)[0]

    def wait_to_read(self) -> None:
        """Wait until the array holds its values.

        Raises:
            MXNetError: the operator that writes the array failed.
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
        """Record ``made``, computed without an operator, as the result of operator ``op_name``; returns ``made``."""
        if tape.STATE.recording:
            op = get(op_name)
            tape.note(op, parsed(op, attrs), attrs, [self], [made._buffer], [made], made._ctx)
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
                return convert.copy_into(self, other)
            if other._buffer is self._buffer:
                warnings.warn("You are attempting to copy an array to itself", RuntimeWarning, stacklevel=2)
                return False
            if other.shape != self.shape:
                raise refusal("NDArray/copy-shape", f"cannot copy an array of shape {self.shape} to {other.shape}")
            if tape.STATE.recording or not other.writable:
                tape.require_writable(other)
            dense.hand_over(self._buffer, other._buffer, other._ctx)
            return other
        if isinstance(other, Context):
            device = self._buffer.device if other is self._ctx else other.memory
            made = NDArray(allocate(self._buffer.shape, self._buffer.flat.dtype, device), other)
            dense.hand_over(self._buffer, made._buffer, other)
            return self._noted("_copyto", made) if tape.STATE.recording else made
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

    def _shared(self, shape: Shape, start: int) -> NDArray:
        """A view of ``prod(shape)`` elements from element ``start``."""
        flat = self._buffer.flat[start : start + prod(shape)]  # no wait: readers of the view wait for its bytes
        return NDArray(Buffer(flat, shape, self._buffer.device), self._ctx, self.writable)

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

    def reshape(self, *shape: Sides, **kwargs: Any) -> NDArray:
        """The same memory with another shape; the codes 0, -1, -2, -3, -4 mean the same as for ``nd.reshape``.

        Raises:
            ValueError: the new shape has fewer elements.
            MXNetError: the new shape has more elements, or wrong codes.
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
            larger = prod(side for side in p.shape if side > 0) > self.size
            raise refusal(
                "NDArray/reshape-size",
                f"Cannot reshape array of size {self.size} into shape {shape}",
                MXNetError if larger else ValueError,
            ) from None
        return self._noted("Reshape", self._shared(wanted, 0), shape=wanted)

    def broadcast_to(self, shape: Sequence[int], **_: Any) -> NDArray:
        """Repeat the array to ``shape``, which may have more axes in front.

        Raises:
            ValueError: a dimension that is not 1 would change, or ``shape`` has fewer axes.
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

    def attach_grad(self, grad_req: str = "write", stype: str | None = None) -> None:
        """Make this array a variable whose gradient ``backward`` writes into ``self.grad``.

        The gradient starts as zeros. The array loses its place on the tape as the result of an operator.

        Raises:
            KeyError: ``grad_req`` is none of write, add and null.
        """
        gradient = empty(self.shape, self._ctx, self.dtype, stype)
        if not gradient.is_sparse:
            gradient.handle.fill(0)
        tape.mark([self], [gradient], [grad_req])

    @property
    def grad(self) -> NDArray | None:
        """The gradient array made by ``attach_grad``; None before it."""
        return None if self._place is None else self._place.gradient

    def detach(self) -> NDArray:
        """An array on the same memory that is not on the tape: no gradient flows through it."""
        return NDArray(self._buffer, self._ctx, self.writable)

    def backward(
        self, out_grad: NDArray | None = None, retain_graph: bool = False, train_mode: bool = True
    ) -> None:
        """Compute the gradients of this array's sum, weighted by ``out_grad``; see ``autograd.backward``."""
        from .. import autograd  # listed in tests/meta: MXNet's API reaches up here

        autograd.backward([self], [out_grad], retain_graph, train_mode)

    # --- to and from other libraries ---------------------------------------------------------------

    def tostype(self, stype: str) -> NDArray:
        """The same values in storage "default" (a copy), "row_sparse" or "csr"."""
        return self.copy() if stype == "default" else sparse_tape.cast(self, stype)

    def as_nd_ndarray(self) -> NDArray:
        """The array itself."""
        return self

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """A copy of the values, for ``numpy.asarray(a)``, in ``dtype`` or the array's own dtype."""
        if copy is False:
            raise refusal("NDArray/array-copy", "values are copied into NumPy: copy=False cannot be", ValueError)
        values = self.asnumpy()
        return values if dtype is None else values.astype(dtype)

    def _host(self) -> np.ndarray:
        """A NumPy array that shares the memory."""
        memory = self._data
        if memory.device != "cpu":
            message = f"DLPack is offered for arrays on the CPU, this one is on {self._ctx}"
            raise refusal("NDArray/dlpack", message, ValueError)
        return memory.flat.reshape(memory.shape)

    def __dlpack__(self, **kwargs: Any) -> Any:
        """A capsule that shares the memory, for ``numpy.from_dlpack`` and ``torch.from_dlpack`` (CPU only)."""
        return self._host().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        """(1, 0): DLPack's name for the CPU."""
        return self._host().__dlpack_device__()

    def to_dlpack_for_read(self) -> Any:
        """A DLPack capsule over this memory, not to be written."""
        return self.__dlpack__()

    def to_dlpack_for_write(self) -> Any:
        """A DLPack capsule over this memory; writes through the capsule change this array."""
        return self.__dlpack__()

    @decides("NDArray/pickle")
    def __reduce__(self) -> tuple:
        return (_unpickled, (self.asnumpy(), (self._ctx.device_type, self._ctx.device_id)))

    # --- operators ---------------------------------------------------------------------------------
    # Methods that only call an operator, such as ``sum``, are set on the class below.

    def split_v2(self, *args: Any, **kwargs: Any) -> Any:
        """``mx.nd.split_v2`` of this array."""
        return rearranging.split_v2(self, *args, **kwargs)

    def slice_assign(self, rhs: NDArray, begin: Any, end: Any, step: Any = ()) -> NDArray:
        """Replace the part from ``begin`` to ``end``, every ``step``, by ``rhs``, in place; returns this array."""
        return operators.call("_slice_assign", self, rhs, begin=begin, end=end, step=step, out=self)

    def slice_assign_scalar(self, value: float, begin: Any, end: Any, step: Any = ()) -> NDArray:
        """Replace the part from ``begin`` to ``end``, every ``step``, by the number ``value``; returns this array."""
        return operators.call(
            "_slice_assign_scalar", self, scalar=value, begin=begin, end=end, step=step, out=self
        )

    def __add__(self, other: NDArray | Number) -> NDArray:
        return operators.binary(self, other, "broadcast_add", "_plus_scalar")

    __radd__ = __add__

    def __sub__(self, other: NDArray | Number) -> NDArray:
        return operators.binary(self, other, "broadcast_sub", "_minus_scalar")

    def __rsub__(self, other: NDArray | Number) -> NDArray:
        return operators.binary(self, other, "", "_rminus_scalar")

    def __mul__(self, other: NDArray | Number) -> NDArray:
        return operators.binary(self, other, "broadcast_mul", "_mul_scalar")

    __rmul__ = __mul__

    def __truediv__(self, other: NDArray | Number) -> NDArray:
        return operators.binary(self, other, "broadcast_div", "_div_scalar")

    def __rtruediv__(self, other: NDArray | Number) -> NDArray:
        return operators.binary(self, other, "", "_rdiv_scalar")

    def __mod__(self, other: NDArray | Number) -> NDArray:
        return operators.binary(self, other, "broadcast_mod", "_mod_scalar")

    def __rmod__(self, other: NDArray | Number) -> NDArray:
        return operators.binary(self, other, "", "_rmod_scalar")

    def __pow__(self, other: NDArray | Number) -> NDArray:
        return operators.binary(self, other, "broadcast_power", "_power_scalar")

    def __rpow__(self, other: NDArray | Number) -> NDArray:
        return operators.binary(self, other, "", "_rpower_scalar")

    @decides("NDArray/in-place")
    def __iadd__(self, other: NDArray | Number) -> NDArray:
        return operators.binary(self, other, "broadcast_add", "_plus_scalar", out=self)

    def __isub__(self, other: NDArray | Number) -> NDArray:
        return operators.binary(self, other, "broadcast_sub", "_minus_scalar", out=self)

    def __imul__(self, other: NDArray | Number) -> NDArray:
        return operators.binary(self, other, "broadcast_mul", "_mul_scalar", out=self)

    def __itruediv__(self, other: NDArray | Number) -> NDArray:
        return operators.binary(self, other, "broadcast_div", "_div_scalar", out=self)

    def __imod__(self, other: NDArray | Number) -> NDArray:
        return operators.binary(self, other, "broadcast_mod", "_mod_scalar", out=self)

    def __neg__(self) -> NDArray:
        return operators.call("negative", self)

    def __abs__(self) -> NDArray:
        return operators.call("abs", self)

    def __eq__(self, other: object) -> Any:
        return operators.binary(self, other, "broadcast_equal", "_equal_scalar")

    def __ne__(self, other: object) -> Any:
        return operators.binary(self, other, "broadcast_not_equal", "_not_equal_scalar")

    def __gt__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_greater", "_greater_scalar")

    def __ge__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_greater_equal", "_greater_equal_scalar")

    def __lt__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_lesser", "_lesser_scalar")

    def __le__(self, other: Any) -> NDArray:
        return operators.binary(self, other, "broadcast_lesser_equal", "_lesser_equal_scalar")


classes.ndarray = NDArray
methods.install(NDArray, views.method)


def empty(
    shape: int | Sequence[int], ctx: Context | None = None, dtype: Any = None, stype: str | None = None
) -> NDArray:
    """An array of ``shape`` and ``dtype`` with unspecified content (zeros when ``stype`` is "row_sparse" or "csr").

    Raises:
        MXNetError: ``shape`` is not made of whole numbers, or ``ctx`` is no Context.
    """
    sides, kind = dense.sides_of(shape), dtype_of(dtype if dtype is not None else np.float32)
    if stype not in (None, "default"):
        size_of(sides, kind)
        return classes.sparse_class(stype)._empty(sides, ctx, kind)
    place = ctx if ctx is not None else current_context()
    if not isinstance(place, Context):
        raise refusal("NDArray/context-type", f"ctx must be a Context such as mx.cpu(0), got {place!r}")
    return NDArray(allocate(sides, kind, place.memory), place)


@decides("NDArray/default-type")
def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """Copy ``source_array`` (NDArray, NumPy array, nested lists, number) to a context.

    ``dtype`` defaults to the dtype of an NDArray, and to float32 for other sources.
    """
    if type(source_array).__module__.startswith("scipy."):
        return classes.SPARSE["csr"]._of_scipy(source_array, ctx, dtype)
    if isinstance(source_array, NDArray):
        if source_array.is_sparse:
            cast = source_array.astype(source_array.dtype if dtype is None else dtype)
            return cast.as_in_context(current_context() if ctx is None else ctx)
        values = source_array.asnumpy()
        kind = dtype_of(dtype) if dtype is not None else values.dtype
        place = ctx if ctx is not None else source_array.context
    else:
        try:
            values = np.asarray(source_array)
            if values.dtype.kind in "OUS":
                raise TypeError
        except (TypeError, ValueError):
            message = "source_array must be array like, with equal lengths at every level"
            raise refusal("NDArray/source", message, TypeError) from None
        kind = dtype_of(dtype if dtype is not None else np.float32)
        place = ctx if ctx is not None else current_context()
    made = empty(values.shape, place, kind)
    made._data.fill_from(values)
    return made


@decides("NDArray/pickle")
def _unpickled(values: np.ndarray, place: tuple[str, int]) -> NDArray:
    return array(values, Context(*place), values.dtype)
