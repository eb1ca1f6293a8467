"""The training loop of ``FeedForward``: batches, a manager of executors, a store or an updater."""

from __future__ import annotations

import time
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from ..base import decides, refusal
from ..context import Context
from ..executor_manager import DataParallelExecutorManager
from ..ndarray import NDArray
from ..optimizer import Optimizer, get_updater
from ..root_log import chosen
from .updating import _initialize_kvstore, _update_params, _update_params_on_kvstore

# The parameters of a batch-end callback.
BatchEndParam = namedtuple("BatchEndParam", ["epoch", "nbatch", "eval_metric", "locals"])  # noqa: PYI024  # MXNet's fields have no types

# An iterator that gives nothing so many times in a row is taken for empty.
EMPTY_PASSES = 100


@decides(
    "FeedForward/epochs", "FeedForward/nbatch", "FeedForward/epoch-size", "FeedForward/callback-params",
    "FeedForward/same-as-module",
)
def _train_multi_device(
    symbol: Any, ctx: Sequence[Context], arg_names: Sequence[str], param_names: Sequence[str],
    aux_names: Sequence[str], arg_params: dict[str, NDArray], aux_params: dict[str, NDArray],
    begin_epoch: int, end_epoch: int, epoch_size: int | None, optimizer: Optimizer, kvstore: Any,
    update_on_kvstore: bool, train_data: Any, eval_data: Any = None, eval_metric: Any = None,
    epoch_end_callback: Any = None, batch_end_callback: Any = None, logger: Any = None,
    work_load_list: list[float] | None = None, monitor: Any = None, eval_end_callback: Any = None,
    eval_batch_end_callback: Any = None, sym_gen: Callable[[Any], Any] | None = None,
) -> None:
    """Train from ``begin_epoch`` up to ``end_epoch``; ``arg_params`` and ``aux_params`` are changed in place.

    Args:
        symbol: the net (with ``sym_gen``: that of the default bucket).
        ctx: the devices.
        arg_names, param_names, aux_names: names of the symbol's arguments, parameters and states.
        arg_params, aux_params: their first values; what was learnt is written here.
        epoch_size: batches in an epoch; None: as many as the iterator has.
        optimizer: an Optimizer.
        kvstore, update_on_kvstore: the store, or None, and whether it runs the optimizer.
        train_data, eval_data: iterators.
        eval_metric: an EvalMetric.
        epoch_end_callback, batch_end_callback, eval_end_callback, eval_batch_end_callback: functions or lists of
            them, called as :meth:`FeedForward.fit` says.
        logger: where log lines go; the root logger when None.
        work_load_list: weight of each device.
        monitor: a Monitor that watches every executor, or None.
        sym_gen: function from a bucket key to a symbol.

    Raises:
        ValueError: the iterator has no batch to fill an epoch with.
    """
    logger = chosen(logger)
    executor_manager = DataParallelExecutorManager(
        symbol, ctx, train_data, arg_names, param_names, aux_names, work_load_list, logger, sym_gen
    )
    if monitor is not None:
        executor_manager.install_monitor(monitor)
    executor_manager.set_params(arg_params, aux_params)
    weights, gradients = executor_manager.param_arrays, executor_manager.grad_arrays
    if kvstore is not None:
        _initialize_kvstore(kvstore, weights, arg_params, executor_manager.execgrp.param_names, update_on_kvstore)
    if update_on_kvstore:
        kvstore.set_optimizer(optimizer)
    else:
        updater = get_updater(optimizer)

    def step(data_batch: Any) -> None:
        """Forward, backward and update on one batch."""
        executor_manager.load_data_batch(data_batch)
        if monitor is not None:
            monitor.tic()
        executor_manager.forward(is_train=True)
        executor_manager.backward()
        names = executor_manager.execgrp.param_names
        if update_on_kvstore:
            _update_params_on_kvstore(weights, gradients, kvstore, names)
        else:
            _update_params(weights, gradients, updater, len(ctx), kvstore, names)
        if monitor is not None:
            monitor.toc_print()
        executor_manager.update_metric(eval_metric, data_batch.label)

    train_data.reset()
    for epoch in range(begin_epoch, end_epoch):
        tic = time.time()
        eval_metric.reset()
        nbatch = empty_passes = 0
        while epoch_size is None or nbatch < epoch_size:
            before = nbatch
            for data_batch in train_data:
                step(data_batch)
                nbatch += 1
                _call_all(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
                if nbatch == epoch_size:
                    break
            else:
                logger.info("Epoch[%d] Resetting Data Iterator", epoch)
                train_data.reset()
            if epoch_size is None:
                break
            empty_passes = empty_passes + 1 if nbatch == before else 0
            if empty_passes == EMPTY_PASSES:
                raise refusal(
                    "FeedForward/no-batches", f"the iterator has no batches, epoch_size asks for {epoch_size}",
                    ValueError,
                )
        logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - tic)

        if epoch_end_callback or epoch + 1 == end_epoch:
            executor_manager.copy_to(arg_params, aux_params)
        _call_all(epoch_end_callback, epoch, symbol, arg_params, aux_params)
        if eval_data:
            eval_metric.reset()
            eval_data.reset()
            seen = 0
            for eval_batch in eval_data:
                executor_manager.load_data_batch(eval_batch)
                executor_manager.forward(is_train=False)
                executor_manager.update_metric(eval_metric, eval_batch.label)
                _call_all(eval_batch_end_callback, BatchEndParam(epoch, seen, eval_metric, locals()))
                seen += 1
            _call_all(eval_end_callback, BatchEndParam(epoch, seen, eval_metric, locals()))
            eval_data.reset()


def _call_all(callbacks: Any, *arguments: Any) -> None:
    """Call one callback, a list of them, or none."""
    if callbacks is None:
        return
    for callback in callbacks if isinstance(callbacks, list) else [callbacks]:
        callback(*arguments)
