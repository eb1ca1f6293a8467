"""What a user writes: a property class that describes an operator, and a class that computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import did_you_mean, refusal
from ..context import Context
from ..kernels.foundation.forks import own_lock
from ..log import LOG
from ..ndarray import NDArray, array
from ..ndarray.tape import ASSIGNMENTS


class CustomOp:
    """Base of the classes that compute. One instance serves one node of one executor, or one call.

    What it remembers in ``self`` from ``forward`` is there in ``backward``.
    """

    def forward(
        self, is_train: bool, req: list[str], in_data: list[NDArray], out_data: list[NDArray], aux: list[NDArray]
    ) -> None:
        """Compute ``out_data`` from ``in_data``; ``aux`` may be read and written.

        Args:
            is_train: whether this is training.
            req: for each output how to write it ("write", "add" or "null"); give it to :meth:`assign`.
            in_data, out_data, aux: inputs, outputs and auxiliary states.
        """

    def backward(
        self, req: list[str], out_grad: list[NDArray], in_data: list[NDArray], out_data: list[NDArray],
        in_grad: list[NDArray], aux: list[NDArray],
    ) -> None:
        """Compute ``in_grad`` from ``out_grad`` and what the forward pass read and made.

        Args:
            req: for each gradient how to write it; "null" where nobody wants it.
            out_grad: gradients of the outputs.
            in_data, out_data, aux: inputs, outputs and auxiliary states of the forward pass.
            in_grad: where the gradients of the inputs go.
        """

    def assign(self, dst: NDArray, req: str, src: Any) -> None:
        """Write ``src`` into ``dst`` as ``req`` asks: "write" or "inplace", "add", or "null" for not at all.

        Raises:
            ValueError: ``req`` is none of these, or ``src`` does not broadcast to ``dst``.
        """
        if req == "null":
            return
        if req in ("write", "inplace"):
            dst[:] = src
        elif req == "add":
            dst[:] = dst + (array(src, dst.context, dst.dtype) if isinstance(src, (np.ndarray, list)) else src)
        else:
            raise refusal("Custom/req", f"req must be one of {', '.join(ASSIGNMENTS)}, got {req!r}", ValueError)


class CustomOpProp:
    """Base of the classes that describe: names, shapes and types, and which :class:`CustomOp` computes.

    Parameters given to ``Custom`` reach the constructor as strings. ``need_top_grad=False`` makes a loss:
    its gradient does not depend on what comes after it.
    """

    def __init__(self, need_top_grad: bool = True) -> None:
        self.need_top_grad_ = need_top_grad

    def list_arguments(self) -> list[str]:
        """Names of the inputs."""
        return ["data"]

    def list_outputs(self) -> list[str]:
        """Names of the outputs."""
        return ["output"]

    def list_auxiliary_states(self) -> list[str]:
        """Names of the states that the operator updates by itself."""
        return []

    def infer_shape(self, in_shape: list) -> Sequence[Any]:
        """(shapes of inputs, of outputs[, of auxiliary states]) from those of the inputs.

        A shape is a list of sides. An unknown shape comes as ``[]``, an unknown side as -1.
        By default every output has the shape of the first input.
        """
        return in_shape, [in_shape[0]] * len(self.list_outputs()), []

    def infer_type(self, in_type: list) -> Sequence[Any]:
        """(types of inputs, of outputs[, of auxiliary states]) from those of the inputs; None is unknown.

        By default every output and state has the type of the first input.
        """
        first = in_type[0]
        return in_type, [first] * len(self.list_outputs()), [first] * len(self.list_auxiliary_states())

    def infer_storage_type(self, in_stype: list[str]) -> Sequence[list[str]]:
        """Storage types of (inputs, outputs, states); the default knows dense arrays only.

        Raises:
            AssertionError: an input is sparse.
        """
        _require_dense(in_stype, "in_stype")
        return in_stype, ["default"] * len(self.list_outputs()), ["default"] * len(self.list_auxiliary_states())

    def infer_storage_type_backward(
        self, ograd_stype: list[str], in_stype: list[str], out_stype: list[str], igrad_stype: list[str],
        aux_stype: list[str],
    ) -> Sequence[list[str]]:
        """Storage types of all five groups of arrays in backward; the default knows dense arrays only.

        Args:
            ograd_stype, in_stype, out_stype: of the outputs' gradients, the inputs and the outputs.
            igrad_stype, aux_stype: of the inputs' gradients and the auxiliary states.

        Raises:
            AssertionError: a gradient is sparse.
        """
        _require_dense(ograd_stype, "ograd_stype")
        _require_dense([s for s in igrad_stype if s != "undefined"], "igrad_stype")
        groups = (ograd_stype, in_stype, out_stype, igrad_stype, aux_stype)
        return [["default"] * len(group) for group in groups]

    def declare_backward_dependency(
        self, out_grad: list[int], in_data: list[int], out_data: list[int]
    ) -> list[int]:
        """Which arrays, by number, ``backward`` reads; the others come empty.

        By default all of them, without ``out_grad`` where ``need_top_grad`` is False.
        """
        return [*(out_grad if self.need_top_grad_ else []), *in_data, *out_data]

    def create_operator(self, ctx: Context, in_shapes: list[list[int]], in_dtypes: list[int]) -> CustomOp:
        """The object that computes, for these inputs; auxiliary states come last, types as MXNet's flags."""
        return CustomOp()


def _require_dense(stypes: Sequence[str], what: str) -> None:
    for index, stype in enumerate(stypes):
        if stype != "default":
            raise refusal(
                "Custom/dense",
                f"{what}[{index}] is {stype!r}; an operator that takes sparse arrays defines infer_storage_type"
                " and infer_storage_type_backward",
                AssertionError,
            )


class Registration(NamedTuple):
    """A property class under its name; ``number`` grows with every registration."""

    number: int
    prop: Callable[..., CustomOpProp]


_LOCK = own_lock()
_REGISTERED: dict[str, Registration] = {}
_COUNT = 0


def add(name: str, prop: Callable[..., CustomOpProp]) -> None:
    """Remember ``prop`` under ``name``, in place of what had the name."""
    global _COUNT  # noqa: PLW0603  # numbers are never used twice in a process
    with _LOCK:
        _COUNT += 1
        _REGISTERED[name] = Registration(_COUNT, prop)


def register(reg_name: str) -> Callable[[type], type]:
    """Decorate a :class:`CustomOpProp` class so that ``Custom(..., op_type=reg_name)`` finds it.

    Raises:
        TypeError: the name is not a string, or what is decorated is not such a class.
    """
    if not isinstance(reg_name, str):
        raise refusal("Custom/register", f"the name of an operator is a string, got {reg_name!r}", TypeError)

    def decorate(prop_cls: type) -> type:
        if not (isinstance(prop_cls, type) and issubclass(prop_cls, CustomOpProp)):
            raise refusal(
                "Custom/register",
                f"mx.operator.register({reg_name!r}) decorates a subclass of CustomOpProp, got {prop_cls!r}",
                TypeError,
            )
        if reg_name in _REGISTERED:
            LOG.warning("custom operator %s had another class until now, whose place this one takes", reg_name)
        add(reg_name, prop_cls)
        return prop_cls

    return decorate


def find(op_type: str) -> Registration:
    """The registration of ``op_type``.

    Raises:
        MXNetError: there is none.
    """
    found = _REGISTERED.get(op_type)
    if found is None:
        raise refusal(
            "Custom/registered",
            f"Cannot find custom operator {op_type}; {did_you_mean(op_type, _REGISTERED)}decorate its CustomOpProp with"
            f" mx.operator.register({op_type!r}) before it is used or loaded."
            f" Registered: {', '.join(sorted(n for n in _REGISTERED if n[0] != '_')) or 'none'}",
        )
    return found
