"""The operators of 2015: one object that describes and computes, on NumPy arrays or on NDArrays."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ..base import refusal
from ..ndarray import NDArray
from ..symbol import Symbol
from .custom import CustomOp, CustomOpProp, add
from .functions import compose_custom

_NUMBERS = itertools.count()


class PythonOp:
    """Base of :class:`NumpyOp` and :class:`NDArrayOp`. Calling the object gives a symbol.

    ``need_top_grad=False`` makes a loss.
    """

    _called: ClassVar[str] = ""
    _op_type: str | None = None

    def __init__(self, need_top_grad: bool = True) -> None:
        warnings.warn(f"{type(self).__name__} is an older kind of operator; CustomOp took its place", stacklevel=2)
        self.need_top_grad_ = need_top_grad

    def __call__(self, *args: Symbol, **kwargs: Any) -> Symbol:
        """:meth:`get_symbol`."""
        return self.get_symbol(*args, **kwargs)

    def get_symbol(self, *args: Symbol, **kwargs: Any) -> Symbol:
        """A node that runs this object; inputs by position or by name, and ``name=``.

        The node works as long as the process lives: a saved graph cannot bring the object back.

        Raises:
            NotImplementedError: the class is PythonOp itself, which does not say what arrays it takes.
        """
        if not self._called:
            raise refusal("Custom/legacy", "subclass NumpyOp or NDArrayOp, not PythonOp", NotImplementedError)
        if self._op_type is None:
            self._op_type = f"{self._called}_{next(_NUMBERS)}"
            add(self._op_type, lambda: _Described(self))
        name = kwargs.pop("name", None)
        return compose_custom(self._called, args, {**kwargs, "op_type": self._op_type}, name)

    def forward(self, in_data: list[Any], out_data: list[Any]) -> None:
        """Write the outputs; by default a copy of the first input."""
        out_data[0][:] = in_data[0]

    def backward(self, out_grad: list[Any], in_data: list[Any], out_data: list[Any], in_grad: list[Any]) -> None:
        """Write the gradients; by default the first input's is 1.

        Args:
            out_grad: gradients of the outputs.
            in_data, out_data: inputs and outputs of the forward pass.
            in_grad: where the gradients of the inputs go.
        """
        in_grad[0][:] = 1.0

    def infer_shape(self, in_shape: list) -> Sequence[Any]:
        """(shapes of inputs, of outputs); by default the output is like the first input."""
        return in_shape, [in_shape[0]]

    def list_outputs(self) -> list[str]:
        """Names of the outputs."""
        return ["output"]

    def list_arguments(self) -> list[str]:
        """Names of the inputs."""
        return ["data"]

    def need_top_grad(self) -> bool:
        """Whether the gradient depends on what comes after."""
        return self.need_top_grad_

    def _run(self, function: Callable[..., None], read: Sequence[list], written: list[NDArray]) -> None:
        """Call ``function`` with the arrays as this class sees them."""
        function(*read, written)


class NumpyOp(PythonOp):
    """An operator on NumPy arrays: ``forward`` and ``backward`` write into those that they get."""

    _called = "_native"

    def _run(self, function: Callable[..., None], read: Sequence[list], written: list[NDArray]) -> None:
        values = [np.array(target.asnumpy()) for target in written]
        function(*[[a.asnumpy() for a in group] for group in read], values)
        for target, value in zip(written, values, strict=True):
            target[:] = value


class NDArrayOp(PythonOp):
    """An operator on NDArrays."""

    _called = "_ndarray"

    def declare_backward_dependency(
        self, out_grad: list[int], in_data: list[int], out_data: list[int]
    ) -> list[int]:
        """Which arrays, by number, ``backward`` reads."""
        return [*(out_grad if self.need_top_grad() else []), *in_data, *out_data]


class _Described(CustomOpProp):
    """A legacy object as a property class sees it."""

    def __init__(self, legacy: PythonOp) -> None:
        super().__init__(legacy.need_top_grad())
        self.legacy = legacy
        self.list_arguments = legacy.list_arguments  # type: ignore[method-assign]  # the object answers itself
        self.list_outputs = legacy.list_outputs  # type: ignore[method-assign]  # as above
        self.infer_shape = legacy.infer_shape  # type: ignore[method-assign]  # as above
        if isinstance(legacy, NDArrayOp):
            self.declare_backward_dependency = legacy.declare_backward_dependency  # type: ignore[method-assign]

    def create_operator(self, ctx: Any, in_shapes: Any, in_dtypes: Any) -> CustomOp:
        return _Computing(self.legacy)


class _Computing(CustomOp):
    def __init__(self, legacy: PythonOp) -> None:
        self.legacy = legacy

    def forward(self, is_train: bool, req: Any, in_data: Any, out_data: Any, aux: Any) -> None:
        self.legacy._run(self.legacy.forward, [in_data], out_data)

    def backward(self, req: Any, out_grad: Any, in_data: Any, out_data: Any, in_grad: Any, aux: Any) -> None:
        self.legacy._run(self.legacy.backward, [out_grad, in_data, out_data], in_grad)
