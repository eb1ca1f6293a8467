"""What row_sparse and csr arrays share: components instead of memory, and what is refused."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...base import MXNetError, decides, dtype_of, numeric_types, refusal
from ...context import Context, current_context
from ...kernels.foundation import Buffer, as_buffer, get
from .. import classes, sparse_tape, tape
from ..convert import copy_into, tostype
from ..dense import sides_of
from ..ndarray import NDArray, Shape
from ..ndarray import array as dense_array
from .arithmetic import add, divide, multiply, subtract

if TYPE_CHECKING:
    from ...op_registry.argument_types import Number


class NotSupportedForSparseNDArray(MXNetError):
    """A method that makes sense for dense arrays only was asked of a sparse one."""


class BaseSparseNDArray(NDArray):
    """An array stored as values and the places where they belong; everything else is zero.

    It is made of ``values`` and ``indices`` (dense arrays on one context, the indices int64), which stand for an array
    of ``shape``; ``ordered`` says that the indices are known to ascend, each once. Index arrays are replaced,
    never written, so two sparse arrays may share them; the values belong to one array alone.
    """

    __slots__ = ("_indices", "_order", "_sides", "_values")
    is_sparse = True
    _STYPE: ClassVar[str] = ""

    def __init__(
        self, values: NDArray | None, indices: Sequence[NDArray] = (), shape: Shape = (), *, ordered: bool = False
    ) -> None:
        if values is None:  # it waits for the state of a pickle
            super().__init__(None)
            return
        self._sides = tuple(int(side) for side in shape)
        self._values = values
        self._indices = tuple(indices)
        self._order = ordered
        self._ctx = values.context
        self._place = None
        self.writable = True

    # --- what it is ------------------------------------------------------------------------------

    @property
    def _buffer(self) -> Buffer:  # type: ignore[override]  # dense arrays keep their memory here
        raise refusal(
            "Sparse/no-memory",
            f"a {self.stype} array has no flat memory of its own; use .data and .indices, or tostype('default')",
            TypeError,
        )

    _data = _buffer  # type: ignore[assignment]  # neither the one nor the other

    @property
    def stype(self) -> str:
        """Storage type: "row_sparse" or "csr"."""
        return self._STYPE

    @property
    def shape(self) -> Shape:
        """Sides of the array that is meant, zeros included."""
        return self._sides

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._sides)

    @property
    def size(self) -> int:
        """Refused: neither the number of elements nor of stored values is meant for certain."""
        raise refusal(
            "Sparse/size", "the size of a sparse array is ambiguous: use .shape, or .data.size for what is stored",
            NotImplementedError,
        )

    @property
    def dtype(self) -> type:
        """Type of the values."""
        return self._values.dtype

    @property
    @decides("Sparse/parts")
    def data(self) -> NDArray:
        """A copy of the stored values."""
        return self._values.copy()

    @data.setter
    def data(self, value: Any) -> None:
        raise _read_only("data")

    @property
    def indices(self) -> NDArray:
        """A copy of the places of the stored values, int64."""
        return self._indices[-1].copy()

    @indices.setter
    def indices(self, value: Any) -> None:
        raise _read_only("indices")

    def __bool__(self) -> bool:
        if prod(self._sides) > 1:
            raise refusal("NDArray/truth", "The truth value of an array with several elements is ambiguous", ValueError)
        return bool(self.asnumpy().any())

    def __repr__(self) -> str:
        sides = "x".join(str(side) for side in self._sides)
        return f"\n<{type(self).__name__} {sides} @{self._ctx}>"

    def wait_to_read(self) -> None:
        """Return when the array holds its values.

        Raises:
            MXNetError: the operator that should have written them failed.
        """
        for part in (self._values, *self._indices):
            part.wait_to_read()

    # --- format ----------------------------------------------------------------------------------

    @classmethod
    def _of_dense(cls, array: NDArray) -> BaseSparseNDArray:
        """The values of a dense array in this storage."""
        raise NotImplementedError

    @classmethod
    def _empty(cls, shape: Shape, ctx: Context | None, dtype: np.dtype) -> BaseSparseNDArray:
        """An array that stores nothing."""
        raise NotImplementedError

    @classmethod
    def _of_scipy(cls, source: Any, ctx: Context | None, dtype: Any) -> BaseSparseNDArray:
        """The values of a sparse matrix of scipy; csr takes them."""
        raise NotImplementedError

    def _dense(self) -> NDArray:
        """The values in dense storage."""
        raise NotImplementedError

    def _fault(self, *, full: bool) -> str:
        """What is wrong with the indices, as a sentence, or "". Without ``full`` only lengths are compared."""
        raise NotImplementedError

    def check_format(self, full_check: bool = True) -> None:
        """Check the lengths of the parts and, by default, every index.

        Raises:
            MXNetError: the indices are not ascending, come twice or lie outside, or lengths differ.
        """
        fault = self._fault(full=full_check)
        if fault:
            raise refusal("Sparse/format", f"this {self.stype} array is not valid: {fault}")

    def _ordered(self) -> BaseSparseNDArray:
        """Return this array with ascending indices: itself, or a sorted copy.

        Raises:
            MXNetError: indices come twice or lie outside, or lengths differ.
        """
        if self._order:
            return self
        if not self._fault(full=True):
            self._order = True
            return self
        found = self._sorted()
        found.check_format()
        found._order = True
        return found

    def _sorted(self) -> BaseSparseNDArray:
        """The same array with its places in ascending order, as far as they can be ordered."""
        raise NotImplementedError

    # --- out and in ------------------------------------------------------------------------------

    def tostype(self, stype: str) -> NDArray:
        """The same values in storage ``stype``.

        Raises:
            ValueError: from row_sparse to csr or from csr to row_sparse.
            MXNetError: there is no such storage.
        """
        return sparse_tape.cast(self, stype)

    def asnumpy(self) -> np.ndarray:
        """Copy to a dense NumPy array."""
        return tostype(self, "default").asnumpy()

    def astype(self, dtype: Any, copy: bool = True) -> NDArray:
        """Cast the values; returns ``self`` when the type is right and ``copy`` is False."""
        kind = dtype_of(dtype)
        if not copy and kind == self.dtype:
            return self
        return self._recorded("Cast", self._like(self._values.astype(kind)), dtype=kind.name)

    def copy(self) -> NDArray:
        """A copy on the same context."""
        return self._recorded("_copy", self.detach())

    def detach(self) -> NDArray:
        """A copy outside any computation: no gradient flows through it."""
        return self._like(self._values.copy())

    @decides("Sparse/gradient")
    def attach_grad(self, grad_req: str = "write", stype: str | None = None) -> None:
        """Make this array a variable; its gradient has storage ``stype``, its own by default.

        Raises:
            KeyError: ``grad_req`` is none of write, add and null.
        """
        super().attach_grad(grad_req, stype or self.stype)

    def _recorded(self, name: str, made: NDArray, **attrs: Any) -> NDArray:
        """``made``, which was computed by hand, on the tape as what operator ``name`` gives."""
        if not sparse_tape.recording(self):
            return made
        op = get(name)
        result = sparse_tape.execute(op, op.parse(attrs), attrs, [self], [], None)
        return sparse_tape.with_storage(result, made)

    def _like(self, values: NDArray) -> NDArray:
        """An array with the same places and other values."""
        return type(self)(values, self._indices, self._sides, ordered=self._order)

    def copyto(self, other: NDArray | Context) -> NDArray | bool:
        """Copy into an array (cast to its type) of this storage or dense, or onto a context; returns the target.

        Raises:
            MXNetError: the shapes differ.
            TypeError: ``other`` has another sparse storage, or is neither array nor Context.
        """
        if isinstance(other, Context):
            parts = [part.copyto(other) for part in self._indices]
            made = type(self)(self._values.copyto(other), parts, self._sides, ordered=self._order)  # type: ignore[arg-type]
            return self._recorded("_copyto", made)
        if not isinstance(other, NDArray):
            raise refusal("NDArray/copy-target", f"copyto does not support type {type(other)}", TypeError)
        if other is self:
            warnings.warn("You are attempting to copy an array to itself", RuntimeWarning, stacklevel=2)
            return False
        if other.stype not in ("default", self.stype):
            raise refusal(
                "Sparse/copy-storage",
                f"copyto does not support destination NDArray stype {other.stype}; go through tostype('default')",
                TypeError,
            )
        return copy_into(self, other)

    def _become(self, other: BaseSparseNDArray) -> None:
        """Take the value of an array of the same storage and shape, cast, on this array's context."""
        placed = [part.as_in_context(self._ctx) for part in (other._values, *other._indices)]
        values = placed[0].astype(self.dtype, copy=placed[0] is other._values)
        self._values, self._indices, self._order = values, tuple(placed[1:]), other._order
        if self._place is not None and self._place.record is not None:
            self._place = None  # this is no longer what the operator computed

    # --- indexing --------------------------------------------------------------------------------

    def __setitem__(self, key: Any, value: Any) -> None:
        """``x[:] = value`` replaces the whole array by another array or a NumPy array.

        Raises:
            ValueError: a part of the array is meant, or the array is read-only.
            TypeError: the value has a type or a storage that does not fit.
        """
        if not self.writable:
            raise refusal("NDArray/writable", f"Failed to assign to a readonly {type(self).__name__}", ValueError)
        if tape.STATE.recording:
            tape.refuse_overwriting(self)
        if not isinstance(key, slice) or key != slice(None):
            kind = ValueError if isinstance(key, slice) or self.stype == "csr" else TypeError
            raise refusal("Sparse/assign-whole", f"{type(self).__name__} only supports [:] for assignment", kind)
        if isinstance(value, NDArray):
            if value is not self:
                self._assign_array(value)
        elif isinstance(value, np.ndarray):
            warnings.warn(f"Assigning a NumPy array to {type(self).__name__} is not efficient", RuntimeWarning,
                          stacklevel=2)
            self._assign_array(dense_array(value, self._ctx))
        elif isinstance(value, numeric_types):
            self._fill(float(value))
        else:
            raise refusal("Sparse/assign-value", f"type {type(value)} not supported", TypeError)

    def _assign_array(self, value: NDArray) -> None:
        if value.is_sparse:
            value.copyto(self)
        else:
            copy_into(value, self)

    def _fill(self, value: float) -> None:
        """Make every element ``value``."""
        raise NotImplementedError

    # --- arithmetic ------------------------------------------------------------------------------

    def __add__(self, other: NDArray | Number) -> NDArray:
        return add(self, other)

    def __sub__(self, other: NDArray | Number) -> NDArray:
        return subtract(self, other)

    def __mul__(self, other: NDArray | Number) -> NDArray:
        return multiply(self, other)

    def __truediv__(self, other: NDArray | Number) -> NDArray:
        return divide(self, other)

    def __iadd__(self, other: NDArray | Number) -> NDArray:
        return self._into_self(self + other)

    def __isub__(self, other: NDArray | Number) -> NDArray:
        return self._into_self(self - other)

    def __imul__(self, other: NDArray | Number) -> NDArray:
        return self._into_self(self * other)

    def __itruediv__(self, other: NDArray | Number) -> NDArray:
        return self._into_self(self / other)

    def __imod__(self, other: NDArray | Number) -> NDArray:
        return self._into_self(self % other)

    def _into_self(self, result: NDArray) -> NDArray:
        self[:] = result
        return self

    # --- what dense arrays only can --------------------------------------------------------------

    def reshape(self, *shape: Any, **kwargs: Any) -> NDArray:
        """Refused: the places of stored values belong to the shape."""
        raise refusal(
            "Sparse/reshape",
            f"Function reshape with arguments ({', '.join(type(a).__name__ for a in shape)}) is not supported for"
            " SparseNDArray and only available in NDArray; use tostype('default') first",
            NotSupportedForSparseNDArray,
        )

    def __reduce__(self) -> tuple:
        parts = (self._values.asnumpy(), tuple(part.asnumpy() for part in self._indices))
        return (from_parts, (self.stype, self._sides, *parts, (self._ctx.device_type, self._ctx.device_id)))


def _read_only(name: str) -> Exception:
    return refusal("Sparse/parts-read-only", f".{name} cannot be assigned; make a new array", NotImplementedError)


def dense_of(values: np.ndarray, ctx: Context) -> NDArray:
    """A dense array of NumPy values, their type kept."""
    return NDArray(as_buffer(values, ctx.memory), ctx)


def from_parts(
    stype: str, shape: Any, data: np.ndarray, indices: Sequence[np.ndarray], ctx: Any = None
) -> BaseSparseNDArray:
    """A sparse array of storage ``stype`` and of ``shape``, made of its parts as NumPy arrays, which are copied.

    ``data`` holds the stored values; ``indices`` are (rows,), or (indptr, columns) for csr. ``ctx`` is a Context or
    (type, id). Lengths are checked here, the indices themselves by ``check_format`` and by whatever operator first
    reads them: files and pickles may hold anything.

    Raises:
        MXNetError: the lengths of the parts do not fit each other or the shape.
        ValueError: there is no such storage.
    """
    kind = classes.sparse_class(stype)
    place = current_context() if ctx is None else ctx if isinstance(ctx, Context) else Context(*ctx)
    parts = [dense_of(np.asarray(part).astype(np.int64), place) for part in indices]
    made = kind(dense_of(np.asarray(data), place), parts, sides_of(shape))
    made.check_format(full_check=False)
    return made
