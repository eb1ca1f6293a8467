"""The training loop of ``FeedForward``: batches, a manager of executors, a store or an updater."""

from __future__ import annotations

import time
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ..base import decides, refusal
from ..context import Context
from ..executor_manager import DataParallelExecutorManager
from ..log import chosen
from ..ndarray import NDArray
from ..optimizer import Optimizer, get_updater
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
    update = _updating(executor_manager, arg_params, optimizer, kvstore, update_on_kvstore, len(ctx))

    def step(batch: Any) -> None:
        """Forward, backward and update on one batch."""
        executor_manager.load_data_batch(batch)
        if monitor is not None:
            monitor.tic()
        executor_manager.forward(is_train=True)
        executor_manager.backward()
        update()
        if monitor is not None:
            monitor.toc_print()
        executor_manager.update_metric(eval_metric, batch.label)

    train_data.reset()
    # Callbacks find executor_manager, data_batch and nbatch by these names in ``locals``. Lines are MXNet's: tools that
    # plot logs look for them.
    for epoch in range(begin_epoch, end_epoch):
        start = time.time()
        eval_metric.reset()
        passed = partial(logger.info, "Epoch[%d] Resetting Data Iterator", epoch)
        for nbatch, data_batch in enumerate(_of_one_epoch(train_data, epoch_size, passed), start=1):
            step(data_batch)
            _call_all(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
        logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - start)

        if epoch_end_callback or epoch + 1 == end_epoch:
            executor_manager.copy_to(arg_params, aux_params)
        _call_all(epoch_end_callback, epoch, symbol, arg_params, aux_params)
        if not eval_data:
            continue
        eval_metric.reset()
        eval_data.reset()
        scored = 0
        for eval_batch in eval_data:
            executor_manager.load_data_batch(eval_batch)
            executor_manager.forward(is_train=False)
            executor_manager.update_metric(eval_metric, eval_batch.label)
            _call_all(eval_batch_end_callback, BatchEndParam(epoch, scored, eval_metric, locals()))
            scored += 1
        _call_all(eval_end_callback, BatchEndParam(epoch, scored, eval_metric, locals()))
        eval_data.reset()


@decides("FeedForward/epochs", "FeedForward/epoch-size")
def _of_one_epoch(source: Any, size: int | None, passed: Callable[[], None]) -> Iterator[Any]:
    """What is left of an iterator, or ``size`` batches over several passes; after each pass it is reset."""
    given = empty = 0
    while size is None or given < size:
        before = given
        for given, batch in enumerate(source, start=before + 1):
            yield batch
            if given == size:
                return
        passed()
        source.reset()
        if size is None:
            return
        empty = empty + 1 if given == before else 0
        if empty == EMPTY_PASSES:
            raise refusal(
                "FeedForward/no-batches", f"the iterator has no batches, epoch_size asks for {size}", ValueError
            )


def _updating(
    manager: DataParallelExecutorManager, arg_params: dict[str, NDArray], optimizer: Optimizer, kvstore: Any,
    update_on_kvstore: bool, devices: int,
) -> Callable[[], None]:
    """Prepare the store, and return what updates the weights of every device after a backward."""
    weights, gradients = manager.param_arrays, manager.grad_arrays
    if kvstore is not None:
        _initialize_kvstore(kvstore, weights, arg_params, manager.execgrp.param_names, update_on_kvstore)
    if update_on_kvstore:
        kvstore.set_optimizer(optimizer)
        return lambda: _update_params_on_kvstore(weights, gradients, kvstore, manager.execgrp.param_names)
    updater = get_updater(optimizer)
    return lambda: _update_params(weights, gradients, updater, devices, kvstore, manager.execgrp.param_names)


def _call_all(callbacks: Any, *arguments: Any) -> None:
    """Call one callback, a list of them, or none."""
    if callbacks is None:
        return
    for callback in callbacks if isinstance(callbacks, list) else [callbacks]:
        callback(*arguments)
