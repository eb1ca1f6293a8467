"""The tape: the operators that ran within ``autograd.record()``, as data.

An operator that reads an array on the tape leaves a :class:`Record`. An array is on the tape when it has a
:class:`Place`: it is a variable whose gradient is wanted, or an output of a record. ``refimpl/autograd/autograd.py``
reads the records backwards; this module computes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..base import decides, refusal
from ..context import Context
from ..kernels.foundation import Buffer, Op

if TYPE_CHECKING:
    from .ndarray import NDArray


REQUIREMENTS = {
    "null": "no gradient is computed",
    "write": "the gradient replaces what the array held",
    "add": "the gradient is added to what the array held",
}
"""The values of ``grad_req`` for one argument, and their meanings."""

ASSIGNMENTS = {**REQUIREMENTS, "inplace": "as write, where the array may be the memory of an input"}
"""The values of ``req`` for one array that a user's operator writes."""


def require_known(clause: str, found: Sequence[str]) -> None:
    """Refuse unknown requirements; ``clause`` is the clause of the error.

    Raises:
        KeyError: an entry of ``found`` is not in ``REQUIREMENTS``.
    """
    for req in found:
        if req not in REQUIREMENTS:
            raise refusal(clause, f"{req!r} is not one of {', '.join(sorted(REQUIREMENTS))}", KeyError)


@decides("autograd/thread")
class _State(threading.local):
    """The switches of one thread: each thread has its own recording and training mode."""

    recording = False
    training = False


STATE = _State()


class Record:
    """One operator that ran: its parameters, the places of its inputs, and the memory of its outputs.

    ``outputs`` holds hidden outputs too. A record is ``spent`` when a backward pass without ``retain_graph`` read it.
    """

    __slots__ = ("attrs", "context", "inputs", "op", "outputs", "params", "spent")

    def __init__(
        self, op: Op, params: Any, attrs: dict[str, Any], inputs: list[Place], outputs: list[Buffer],
        context: Context,
    ) -> None:
        self.op, self.params, self.attrs = op, params, attrs
        self.inputs, self.outputs = inputs, outputs
        self.context = context
        self.spent = False


class Place:
    """The place of an array on the tape: output ``index`` of ``record``, or a variable or constant (no ``record``).

    ``value`` is the array's memory. A variable has an array for its ``gradient``, and ``requirement`` says how the
    gradient is written; a constant has none. A constant has ``left`` the tape when a backward pass without
    ``retain_graph`` read it. ``origin`` is the sparse array of which ``value`` is the dense copy.
    """

    __slots__ = ("context", "gradient", "index", "left", "origin", "record", "requirement", "value")

    def __init__(
        self, value: Buffer, context: Context, record: Record | None = None, index: int = 0,
        gradient: NDArray | None = None, requirement: str = "null",
    ) -> None:
        self.value, self.context, self.record, self.index = value, context, record, index
        self.gradient, self.requirement = gradient, requirement
        self.left = False
        self.origin: NDArray | None = None


def on_tape(array: NDArray) -> bool:
    """Whether ``array`` has a place that a backward pass can still use."""
    place = array._place
    return place is not None and not (place.left if place.record is None else place.record.spent)


def refuse_overwriting(array: NDArray) -> None:
    """[autograd/in-place] While recording, an array that is on the tape may not be written."""
    if on_tape(array):
        raise refusal(
            "autograd/in-place",
            "Inplace operations (+=, -=, x[:]=, out=) are not supported on an array that is on the tape:"
            " its old value may be needed for gradients; make a new array, or leave autograd.record() first",
        )


@decides("autograd/attach")
def mark(variables: Sequence[NDArray], gradients: Sequence[NDArray], requirements: Sequence[str]) -> None:
    """Make arrays variables: ``backward`` writes their gradients into ``gradients``, as ``requirements`` say.

    Raises:
        KeyError: a requirement is none of write, add and null.
    """
    require_known("autograd/grad-req", requirements)
    for variable, made, requirement in zip(variables, gradients, requirements, strict=True):
        # the dense copy of a sparse variable is made when an operator reads it
        value: Any = None if variable.is_sparse else variable._buffer
        variable._place = Place(value, variable._ctx, gradient=made, requirement=requirement)


def require_writable(target: NDArray) -> None:
    """Refuse to write into a read-only array, or, while recording, into an array on the tape."""
    if not target.writable:
        raise refusal("NDArray/writable", "trying to assign to a readonly NDArray", ValueError)
    if STATE.recording:
        refuse_overwriting(target)


def note(
    op: Op, params: Any, attrs: dict[str, Any], inputs: Sequence[NDArray], outputs: list[Buffer],
    made: Sequence[NDArray], context: Context,
) -> None:
    """Record an operator that just ran, if one of its inputs is on the tape; ``made`` are its visible outputs."""
    there = [on_tape(array) for array in inputs]
    if True not in there:
        return
    for array, noted in zip(inputs, there, strict=True):
        if not noted:  # this input becomes a constant
            array._place = Place(array._buffer, array._ctx)
    record = Record(op, params, attrs, [array._place for array in inputs], outputs, context)  # type: ignore[misc]
    for index, array in enumerate(made):
        array._place = Place(array._buffer, array._ctx, record, index)
