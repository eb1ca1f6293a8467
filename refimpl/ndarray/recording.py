"""Recording on and off, training mode on and off: switches of each thread, and scopes that put them back."""

from __future__ import annotations

from types import TracebackType

from ..base import decides
from .tape import STATE


def set_recording(is_recording: bool) -> bool:
    """Turn recording on or off in this thread; returns what it was."""
    before, STATE.recording = STATE.recording, bool(is_recording)
    return before


def set_training(train_mode: bool) -> bool:
    """Turn training mode on or off in this thread; returns what it was."""
    before, STATE.training = STATE.training, bool(train_mode)
    return before


def is_recording() -> bool:
    """Whether operators are put on the tape."""
    return STATE.recording


def is_training() -> bool:
    """Whether operators such as Dropout behave as in training."""
    return STATE.training


@decides("autograd/scopes")
class Scope:
    """Sets recording and training mode (None: leave as it is) for a block, and puts back what was."""

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self._wanted = (recording, training)

    def __enter__(self) -> None:
        self._before = before = (STATE.recording, STATE.training)
        # in one step: nobody puts back what an interruption has left here
        STATE.recording, STATE.training = (
            old if new is None else new for old, new in zip(before, self._wanted, strict=True)
        )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        STATE.recording, STATE.training = self._before


def record(train_mode: bool = True) -> Scope:
    """Within the block operators are put on the tape, and run as in training unless told otherwise."""
    return Scope(True, train_mode)


def pause(train_mode: bool = False) -> Scope:
    """Within the block nothing is put on the tape."""
    return Scope(False, train_mode)


def train_mode() -> Scope:
    """Within the block operators run as in training; recording stays as it is."""
    return Scope(None, True)


def predict_mode() -> Scope:
    """Within the block operators run as in prediction; recording stays as it is."""
    return Scope(None, False)
