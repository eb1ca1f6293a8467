"""How an array leaves this library and comes back: other storage, NumPy, DLPack, pickles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import decides, dtype_of, refusal
from ..context import Context, cpu
from ..kernels.foundation import Buffer, as_buffer
from . import operators

if TYPE_CHECKING:
    from .ndarray import NDArray


class Exchange:
    """Methods of :class:`NDArray` that hand its values to somebody else."""

    __slots__ = ()

    if TYPE_CHECKING:
        _ctx: Context
        asnumpy: Callable[[], np.ndarray]
        copy: Callable[[], NDArray]

        @property
        def _data(self) -> Buffer: ...

    def tostype(self, stype: str) -> NDArray:
        """The same values in storage "default" (a copy), "row_sparse" or "csr"."""
        if stype == "default":
            return self.copy()
        from . import sparse

        return sparse.tostype(self, stype)  # type: ignore[arg-type]  # the class that this is mixed into

    def as_nd_ndarray(self) -> NDArray:
        """The array itself."""
        return self  # type: ignore[return-value]  # the class that this is mixed into

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """What ``numpy.asarray(a)`` sees: a copy of the values, the same elements and dtype."""
        if copy is False:
            raise refusal("NDArray/array-copy", "values are copied into NumPy: copy=False cannot be", ValueError)
        values = self.asnumpy()
        return values if dtype is None else values.astype(dtype)

    def _host(self) -> np.ndarray:
        """The memory as a NumPy array, shared."""
        memory = self._data
        if memory.device != "cpu":
            raise refusal(
                "NDArray/dlpack", f"DLPack is offered for arrays on the CPU, this one is on {self._ctx}", ValueError
            )
        return memory.flat.reshape(memory.shape)

    def __dlpack__(self, **kwargs: Any) -> Any:
        """The memory itself, shared, for ``numpy.from_dlpack`` and ``torch.from_dlpack`` (CPU only)."""
        return self._host().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        """(1, 0): DLPack's name for the CPU."""
        return self._host().__dlpack_device__()

    def to_dlpack_for_read(self) -> Any:
        """A DLPack capsule over this memory; whoever holds it should not write."""
        return self.__dlpack__()

    def to_dlpack_for_write(self) -> Any:
        """A DLPack capsule over this memory; writes through it are seen here."""
        return self.__dlpack__()

    def split_v2(self, *args: Any, **kwargs: Any) -> Any:
        """``mx.nd.split_v2`` of this array."""
        from . import split_v2

        return split_v2(self, *args, **kwargs)  # type: ignore[arg-type]  # the class that this is mixed into

    def slice_assign(self, rhs: NDArray, begin: Any, end: Any, step: Any = ()) -> NDArray:
        """Replace the part from ``begin`` to ``end`` by ``rhs``, in place; returns this array."""
        return operators.call("_slice_assign", self, rhs, begin=begin, end=end, step=step, out=self)

    def slice_assign_scalar(self, value: float, begin: Any, end: Any, step: Any = ()) -> NDArray:
        """Replace the part from ``begin`` to ``end`` by a number, in place; returns this array."""
        return operators.call(
            "_slice_assign_scalar", self, scalar=value, begin=begin, end=end, step=step, out=self
        )

    @decides("NDArray/pickle")
    def __reduce__(self) -> tuple:
        place = (self._ctx.device_type, self._ctx.device_id)
        return (_unpickled, (self.asnumpy(), place))


@decides("NDArray/pickle")
def _unpickled(values: np.ndarray, place: tuple[str, int]) -> NDArray:
    from .ndarray import array

    return array(values, Context(*place), values.dtype)


def from_dlpack(capsule: Any) -> NDArray:
    """A copy of what a DLPack capsule, or any object with ``__dlpack__``, holds (CPU only).

    Raises:
        TypeError: it is neither, or its element type or layout is not one of ours.
    """
    from .ndarray import NDArray

    held = capsule if hasattr(capsule, "__dlpack__") else _Capsule(capsule)
    try:
        values = np.from_dlpack(held)
    except (TypeError, ValueError, BufferError, RuntimeError) as error:
        raise refusal("NDArray/from-dlpack", f"this cannot be read as a DLPack capsule: {error}", TypeError) from None
    dtype_of(values.dtype)
    return NDArray(as_buffer(values), cpu(0))  # kernels may read past an array's end: foreign memory has none to spare


class _Capsule:
    """Gives a bare capsule the methods that NumPy asks for."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def to_dlpack_for_read(data: NDArray) -> Any:
    """A DLPack capsule over the memory of ``data``; whoever holds it should not write."""
    return data.to_dlpack_for_read()


def to_dlpack_for_write(data: NDArray) -> Any:
    """A DLPack capsule over the memory of ``data``; writes through it are seen there."""
    return data.to_dlpack_for_write()
