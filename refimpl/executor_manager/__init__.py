"""mx.executor_manager: data-parallel executors of old scripts, and the rule that slices a batch over devices."""

from .executor_manager import (
    DataParallelExecutorGroup,
    DataParallelExecutorManager,
    _bind_exec,
    _check_arguments,
    _load_data,
    _load_general,
    _load_label,
    _split_input_slice,
)

__all__ = [
    "DataParallelExecutorGroup",
    "DataParallelExecutorManager",
    "_bind_exec",
    "_check_arguments",
    "_load_data",
    "_load_general",
    "_load_label",
    "_split_input_slice",
]
