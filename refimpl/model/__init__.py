"""mx.model: checkpoints, the steps of an update, and FeedForward, the oldest way to train."""

from __future__ import annotations

from ..base import mx_real_t
from ..callback import LogValidationMetricsCallback
from ..context import Context, cpu
from ..executor_manager import DataParallelExecutorManager
from ..initializer import Uniform
from ..io import DataDesc
from ..optimizer import get_updater
from ..symbol.checkpoint import load_checkpoint, load_params, save_checkpoint
from .feed_forward import BASE_ESTIMATOR, SKLEARN_INSTALLED, FeedForward
from .multi_device import BatchEndParam, _train_multi_device
from .updating import (
    _create_kvstore,
    _initialize_kvstore,
    _update_params,
    _update_params_on_kvstore,
)

__all__ = [
    "BASE_ESTIMATOR",
    "SKLEARN_INSTALLED",
    "BatchEndParam",
    "Context",
    "DataDesc",
    "DataParallelExecutorManager",
    "FeedForward",
    "LogValidationMetricsCallback",
    "Uniform",
    "_create_kvstore",
    "_initialize_kvstore",
    "_train_multi_device",
    "_update_params",
    "_update_params_on_kvstore",
    "cpu",
    "get_updater",
    "load_checkpoint",
    "load_params",
    "mx_real_t",
    "save_checkpoint",
]
