"""The methods flatten, expand_dims and squeeze of arrays, which return a view with ``inplace=True``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..base import MXNetError, decides, refusal
from ..kernels.foundation import Op
from ..op_registry import methods
from .operators import ArrayFunction

if TYPE_CHECKING:
    from .ndarray import NDArray


@decides("NDArray/in-place-shapes")
class ViewMethod(ArrayFunction):
    """A method for an operator that keeps the order of the elements, so that its result can share memory."""

    def __call__(self, *given: Any, out: Any = None, **kwargs: Any) -> Any:
        """Run the operator; with ``inplace``, return a view of the array with the shape of the operator's result.

        Raises:
            AssertionError: with ``inplace``, there is no such axis, or its length is not 1.
            TypeError: an argument is given twice, or there are too many; or both ``inplace`` and ``out`` are given.
        """
        array, *args = given
        said, in_place = methods.split_in_place(self.__name__, args, kwargs)
        if not in_place:
            return super().__call__(array, out=out, **said)
        if out is not None:
            raise refusal("nd/arguments", f"{self.__name__} takes inplace or out, not both", TypeError)
        return self._view(array, {key: value for key, value in said.items() if value is not None})

    @property
    def __signature__(self) -> inspect.Signature:
        return methods.signature_in_place(super().__signature__)

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
            return array.reshape(shape)  # raises: a sparse array has no views
        return array._noted("Reshape", array._shared(shape, 0), shape=shape)


class _LikeMethod(ArrayFunction):
    """``broadcast_like``, whose second array may be called ``other`` as in MXNet."""

    def __call__(self, *given: Any, out: Any = None, **kwargs: Any) -> Any:
        """Run the operator."""
        if "other" in kwargs:
            given, kwargs = (*given, kwargs["other"]), {k: v for k, v in kwargs.items() if k != "other"}
        return super().__call__(*given, out=out, **kwargs)

    @property
    def __signature__(self) -> inspect.Signature:
        found = super().__signature__
        named = [each.replace(name="other") if each.name == "rhs" else each for each in found.parameters.values()]
        return found.replace(parameters=named)


def method(op: Op, name: str) -> Callable:
    """The function of ``op`` that becomes the method ``name`` of arrays."""
    if name == "broadcast_like":
        return _LikeMethod(op, name)
    return (ViewMethod if name in methods.IN_PLACE else ArrayFunction)(op, name)


__all__ = ["ViewMethod", "method"]
