"""mx.contrib.autograd: the first interface to the tape (MXNet 0.9), in terms of ``mx.autograd``.

Here training and recording are one switch: ``train_section`` records in training mode, ``test_section`` neither
records nor trains.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from .. import autograd as tape
from ..base import refusal
from ..ndarray import NDArray

Gradients = tuple[list[NDArray], Any]


def set_is_training(is_train: bool) -> bool:
    """Turn training mode and recording on or off in this thread; returns what training mode was."""
    before = tape.set_training(is_train)
    tape.set_recording(is_train)
    return before


class TrainingStateScope:
    """``with TrainingStateScope(True):`` records in training mode, ``False`` does neither."""

    def __init__(self, enter_state: bool) -> None:
        self._enter_state = enter_state
        self._before = (False, False)

    def __enter__(self) -> None:
        self._before = (tape.is_recording(), tape.is_training())
        set_is_training(self._enter_state)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tape.set_recording(self._before[0])
        tape.set_training(self._before[1])


def train_section() -> TrainingStateScope:
    """Record in training mode for a ``with`` block."""
    return TrainingStateScope(True)


def test_section() -> TrainingStateScope:
    """Neither record nor train for a ``with`` block."""
    return TrainingStateScope(False)


test_section.__test__ = False  # type: ignore[attr-defined]  # pytest: its name is MXNet's, it is no test


def mark_variables(variables: Any, gradients: Any, grad_reqs: Any = "write") -> None:
    """As ``mx.autograd.mark_variables``."""
    tape.mark_variables(variables, gradients, grad_reqs)


def _listed(outputs: Any) -> list[NDArray]:
    if not isinstance(outputs, (list, tuple)):
        raise refusal(
            "contrib-autograd/outputs", f"outputs must be a list or tuple of NDArrays, got {type(outputs).__name__}",
            AssertionError,
        )
    return list(outputs)


def backward(
    outputs: Sequence[NDArray], out_grads: Sequence[NDArray | None] | None = None, retain_graph: bool = False
) -> None:
    """As ``mx.autograd.backward``, for a list of outputs only.

    Raises:
        AssertionError: ``outputs`` is no list, or there are not as many ``out_grads``.
        MXNetError: as ``mx.autograd.backward``.
    """
    tape.backward(_listed(outputs), out_grads, retain_graph)


def compute_gradient(outputs: Sequence[NDArray]) -> None:
    """As ``backward`` with head gradients of ones."""
    backward(outputs)


def grad_and_loss(func: Callable, argnum: int | Sequence[int] | None = None) -> Callable[..., Gradients]:
    """A function that returns (gradients of ``func`` by its arguments, what ``func`` returned).

    ``argnum`` chooses the arguments, by their positions from 0; None means all.

    Raises:
        AssertionError: the returned function got an argument that is no NDArray.
    """

    @functools.wraps(func)
    def wrapped(*args: Any) -> Gradients:
        numbers = range(len(args)) if argnum is None else [argnum] if isinstance(argnum, int) else argnum
        variables = [args[number] for number in numbers]
        for variable in variables:
            if not isinstance(variable, NDArray):
                raise refusal(
                    "contrib-autograd/arguments", "gradients are taken of NDArrays, not of a"
                    f" {type(variable).__name__}", AssertionError,
                )
        for variable in variables:
            variable.attach_grad()
        with train_section():
            outputs = func(*args)
        backward([outputs] if isinstance(outputs, NDArray) else outputs)
        return [variable.grad for variable in variables], outputs

    return wrapped


def grad(func: Callable, argnum: int | Sequence[int] | None = None) -> Callable[..., list[NDArray]]:
    """A function that returns the gradients of ``func`` by its arguments; see ``grad_and_loss``."""
    with_loss = grad_and_loss(func, argnum)

    @functools.wraps(with_loss)
    def wrapped(*args: Any) -> list[NDArray]:
        return with_loss(*args)[0]

    return wrapped


__all__ = [
    "TrainingStateScope", "backward", "compute_gradient", "grad", "grad_and_loss", "mark_variables",
    "set_is_training", "test_section", "train_section",
]
