"""The methods flatten, expand_dims and squeeze of arrays, which give a view when they are told ``inplace=True``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..base import MXNetError, decides, refusal
from ..kernels.foundation import Op
from .operators import ArrayFunction

if TYPE_CHECKING:
    from .ndarray import NDArray

_PARAMETERS = {"flatten": ("inplace",), "expand_dims": ("axis", "inplace"), "squeeze": ("axis", "inplace")}
"""What each method takes by position, in this order."""


@decides("NDArray/in-place-shapes")
class ViewMethod(ArrayFunction):
    """An operator that keeps the elements in their order, as a method that can share the array's memory."""

    def __call__(self, *given: Any, out: Any = None, **kwargs: Any) -> Any:
        """Run the operator, or with ``inplace`` read the array's memory with the operator's shape.

        Raises:
            AssertionError: with ``inplace``, there is no such axis, or its side is not 1.
            TypeError: an argument is given twice, or there are too many; or ``inplace`` and ``out``.
        """
        (array, *args), names = given, _PARAMETERS[self.__name__]
        if len(args) > len(names) or any(name in kwargs for name in names[: len(args)]):
            raise refusal("nd/arguments", f"{self.__name__} takes {', '.join(names)}, each once", TypeError)
        said = {**dict(zip(names, args, strict=False)), **kwargs}
        if not said.pop("inplace", False):
            return super().__call__(array, out=out, **said)
        if out is not None:
            raise refusal("nd/arguments", f"{self.__name__} takes inplace or out, not both", TypeError)
        return self._view(array, {key: value for key, value in said.items() if value is not None})

    def _view(self, array: NDArray, attrs: dict[str, Any]) -> NDArray:
        try:
            _, (shape,) = self.op.infer(self.op.parse(attrs), [array.shape], [None])
        except MXNetError as error:
            if (error.clause or "").startswith("params/"):
                raise
            raise refusal(
                "NDArray/in-place-axis", f"{self.__name__} of shape {array.shape}: {error}", AssertionError
            ) from None
        if array.is_sparse:
            return array.reshape(shape)  # which refuses
        return array._noted("Reshape", array._shared(shape, 0), shape=shape)


def method(op: Op, name: str) -> Callable:
    """The function of an operator that arrays have as a method."""
    return (ViewMethod if name in _PARAMETERS else ArrayFunction)(op, name)


__all__ = ["ViewMethod", "method"]
