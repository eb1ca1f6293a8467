"""mx.autograd: records operators, and computes gradients of the recorded computation."""

from .autograd import (
    Function,
    NDArray,
    Symbol,
    array,
    backward,
    get_symbol,
    grad,
    is_recording,
    is_training,
    mark_variables,
    pause,
    predict_mode,
    record,
    set_recording,
    set_training,
    train_mode,
)

__all__ = [
    "Function",
    "NDArray",
    "Symbol",
    "array",
    "backward",
    "get_symbol",
    "grad",
    "is_recording",
    "is_training",
    "mark_variables",
    "pause",
    "predict_mode",
    "record",
    "set_recording",
    "set_training",
    "train_mode",
]
