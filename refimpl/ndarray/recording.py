"""The switches of each thread for recording and training mode, and scopes that restore them."""

from __future__ import annotations

from types import TracebackType

from ..base import decides
from .tape import STATE


def set_recording(is_recording: bool) -> bool:
    """Turn recording on or off in this thread; returns whether it was on."""
    before, STATE.recording = STATE.recording, bool(is_recording)
    return before


def set_training(train_mode: bool) -> bool:
    """Turn training mode on or off in this thread; returns whether it was on."""
    before, STATE.training = STATE.training, bool(train_mode)
    return before


def is_recording() -> bool:
    """Whether operators are recorded on the tape in this thread."""
    return STATE.recording


def is_training() -> bool:
    """Whether operators such as Dropout run as in training in this thread."""
    return STATE.training


@decides("autograd/scopes")
class Scope:
    """Sets recording and training mode for a block (None: unchanged), and restores both after it."""

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self._wanted = (recording, training)

    def __enter__(self) -> None:
        self._before = before = (STATE.recording, STATE.training)
        # in one step: after an interrupt inside __enter__, __exit__ would not restore the switches
        STATE.recording, STATE.training = (
            old if new is None else new for old, new in zip(before, self._wanted, strict=True)
        )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        STATE.recording, STATE.training = self._before


def record(train_mode: bool = True) -> Scope:
    """Within the block operators are recorded on the tape, and run as in training unless ``train_mode`` is False."""
    return Scope(True, train_mode)


def pause(train_mode: bool = False) -> Scope:
    """Within the block no operator is recorded, and operators run as in prediction unless ``train_mode``."""
    return Scope(False, train_mode)


def train_mode() -> Scope:
    """Within the block operators run as in training; recording stays as it is."""
    return Scope(None, True)


def predict_mode() -> Scope:
    """Within the block operators run as in prediction; recording stays as it is."""
    return Scope(None, False)
