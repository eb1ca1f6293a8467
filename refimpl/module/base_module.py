"""BaseModule: training, scoring and predicting, and the meaning of the arguments of every module."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .. import metric
from .. import ndarray as nd
from ..base import _as_list, decides, described, refusal
from ..context import cpu
from ..initializer import Uniform
from ..io import DataBatch, DataDesc
from ..io.iterator import Batches
from ..log import chosen
from ..model import BatchEndParam
from ..ndarray import NDArray
from .batches import Lookahead, call_all, first, resumed
from .descriptions import _check_input_names, _check_names_match, _parse_data_desc
from .life_cycle import demand, in_words

__all__ = ["BaseModule", "_as_list", "_check_input_names", "_check_names_match", "_parse_data_desc"]

INITIALIZER = Uniform(0.01)
"""The default initializer of parameters."""


class BaseModule:
    """The base class of modules. ``print(refimpl.module.life_cycle.table())`` shows which call needs which flags.

    A concrete module provides ``bind``, ``init_params``, ``init_optimizer``, ``forward``, ``backward``,
    ``update``, ``update_metric``, ``get_outputs``, ``get_input_grads``, ``get_params``,
    ``install_monitor`` and the properties about names and shapes.

    Attributes: ``binded``, ``for_training``, ``inputs_need_grad``, ``params_initialized``,
    ``optimizer_initialized`` (the flags of the life cycle), ``logger``.
    """

    def __init__(self, logger: Any = logging) -> None:
        self.logger = chosen(logger)
        self.binded = False
        self.for_training = False
        self.inputs_need_grad = False
        self.params_initialized = False
        self.optimizer_initialized = False
        self._symbol: Any = None

    def __repr__(self) -> str:
        return described(self, lambda: in_words(self))

    # --- training and inference ------------------------------------------------------------------

    @decides("Module/own-modules")
    def forward_backward(self, data_batch: Any) -> None:
        """Forward in training mode, then backward; both check the flags of the life cycle."""
        self.forward(data_batch, is_train=True)
        self.backward()

    @decides("Module/score-counts-padding")
    def score(
        self, eval_data: Batches, eval_metric: Any, num_batch: int | None = None,
        batch_end_callback: Any = None, score_end_callback: Any = None, reset: bool = True,
        epoch: int = 0, sparse_row_id_fn: Callable | None = None,
    ) -> list[tuple[str, float]]:
        """Evaluate on the batches of ``eval_data``, padded rows included; return (name, value) pairs of the metric.

        Args:
            eval_data: a DataIter.
            eval_metric: an EvalMetric, or an argument of :func:`mx.metric.create`.
            num_batch: int, the most batches to use; None for all.
            batch_end_callback: function or list of functions, called with a BatchEndParam after each batch.
            score_end_callback: function or list of functions, called with a BatchEndParam after the last batch.
            reset: bool, whether to reset ``eval_data`` first.
            epoch: int, the epoch in the BatchEndParam of callbacks.
            sparse_row_id_fn: function from a batch to {parameter: row ids}, handed to :meth:`prepare`.

        Raises:
            AssertionError: the module is not bound or has no parameters.
        """
        demand(self, "score")
        eval_metric = eval_metric if isinstance(eval_metric, metric.EvalMetric) else metric.create(eval_metric)
        eval_metric.reset()
        nbatch = -1
        for nbatch, batch in self._forwarded(eval_data, num_batch, reset, sparse_row_id_fn):
            self._count(eval_metric, batch)
            call_all(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
        call_all(score_end_callback, BatchEndParam(epoch, nbatch + 1, eval_metric, locals()))
        results: list[tuple[str, float]] = eval_metric.get_name_value()
        return results

    def _forwarded(
        self, eval_data: Any, num_batch: int | None, reset: bool, sparse_row_id_fn: Any
    ) -> Iterator[tuple[int, Any]]:
        """Compute the outputs of each batch for inference, and yield (number, batch)."""
        if reset:
            eval_data.reset()
        for number, batch in enumerate(first(num_batch, eval_data)):
            self.prepare(batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(batch, is_train=False)
            yield number, batch

    @decides("Module/predict-pad")
    def iter_predict(
        self, eval_data: Any, num_batch: int | None = None, reset: bool = True,
        sparse_row_id_fn: Callable | None = None,
    ) -> Iterator[tuple[list[NDArray], int, Any]]:
        """Yield (outputs without padded rows, batch number, batch); the next batch overwrites the outputs.

        Args:
            eval_data: a DataIter.
            num_batch: int, the most batches to use; None for all.
            reset: bool, whether to reset ``eval_data`` first.
            sparse_row_id_fn: function from a batch to {parameter: row ids}, handed to :meth:`prepare`.

        Raises:
            AssertionError: the module is not bound or has no parameters.
        """
        demand(self, "iter_predict")
        for nbatch, batch in self._forwarded(eval_data, num_batch, reset, sparse_row_id_fn):
            pad = getattr(batch, "pad", None) or 0
            yield [output[: len(output) - pad] for output in self.get_outputs()], nbatch, batch

    @decides("Module/predict-pad", "Module/predict-array")
    def predict(
        self, eval_data: Any, num_batch: int | None = None, merge_batches: bool = True,
        reset: bool = True, always_output_list: bool = False,
        sparse_row_id_fn: Callable | None = None,
    ) -> Any:
        """Predict every row of an iterator, or of one array.

        Returns a list with one NDArray per output, all batches joined, without padded rows; [] when there is no batch.
        For an array, which is one batch: the first output.

        Args:
            eval_data: a DataIter, an NDArray or a NumPy array.
            num_batch: int, the most batches to use; None for all.
            merge_batches: bool; False returns a list with the list of outputs of each batch.
            reset: bool, whether to reset ``eval_data`` first.
            always_output_list: bool; False returns a single output as an NDArray, not as a list of one.
            sparse_row_id_fn: function from a batch to {parameter: row ids}, handed to :meth:`prepare`.

        Raises:
            ValueError: ``eval_data`` is neither an array nor an iterator.
            AssertionError: batches to merge differ in their number of outputs.
        """
        demand(self, "predict")
        if isinstance(eval_data, NDArray) or hasattr(eval_data, "__array__"):
            array = eval_data if isinstance(eval_data, NDArray) else nd.array(eval_data)
            self.forward(DataBatch([array]), is_train=False)
            return self.get_outputs()[0]
        if not hasattr(eval_data, "reset"):
            raise refusal(
                "Module/predict-input",
                f"predict takes an iterator, an NDArray or a NumPy array, not {type(eval_data).__name__}", ValueError,
            )
        batches = [
            [output.copy() for output in outputs]
            for outputs, _, _ in self.iter_predict(eval_data, num_batch, reset, sparse_row_id_fn)
        ]
        if not batches or not merge_batches:
            return batches
        if len({len(outputs) for outputs in batches}) > 1:
            raise refusal(
                "Module/predict-merge",
                "batches have different numbers of outputs; pass merge_batches=False", AssertionError,
            )
        merged = [nd.concatenate(list(parts)) for parts in zip(*batches, strict=True)]
        return merged if len(merged) > 1 or always_output_list else merged[0]

    @decides("Module/fit", "Module/failed-fit")
    def fit(
        self, train_data: Batches, eval_data: Batches | None = None, eval_metric: Any = "acc",
        epoch_end_callback: Any = None, batch_end_callback: Any = None, kvstore: Any = "local",
        optimizer: Any = "sgd", optimizer_params: Any = (("learning_rate", 0.01),),
        eval_end_callback: Any = None, eval_batch_end_callback: Any = None,
        initializer: Any = INITIALIZER, arg_params: Mapping[str, Any] | None = None,
        aux_params: Mapping[str, Any] | None = None, allow_missing: bool = False, force_rebind: bool = False,
        force_init: bool = False, begin_epoch: int = 0, num_epoch: int | None = None,
        validation_metric: Any = None, monitor: Any = None, sparse_row_id_fn: Callable | None = None,
    ) -> None:
        """Bind, initialise and train, from epoch ``begin_epoch`` to the one before ``num_epoch``.

        Args:
            train_data: DataIter; reset after each epoch, not before the first.
            eval_data: DataIter that is scored after each epoch, or None.
            eval_metric: EvalMetric, or an argument of :func:`mx.metric.create`; measures the training batches.
            epoch_end_callback: function or list, called with (epoch, symbol, arg_params, aux_params) after each epoch.
            batch_end_callback: function or list, called with a BatchEndParam after each training batch.
            kvstore, optimizer, optimizer_params: see :meth:`init_optimizer`.
            eval_end_callback: function or list, called with a BatchEndParam after each scoring of ``eval_data``.
            eval_batch_end_callback: function or list, called with a BatchEndParam after each batch of a scoring.
            initializer, arg_params, aux_params, allow_missing: see :meth:`init_params`.
            force_rebind: bool, whether to bind again a module that is bound.
            force_init: bool, whether to give parameters new values when they have some.
            begin_epoch: int, number of the first epoch, such as the epoch of a checkpoint.
            num_epoch: int, the epoch to stop before; required.
            validation_metric: the metric for ``eval_data``, like ``eval_metric``; None for the same metric.
            monitor: Monitor that watches every executor, or None.
            sparse_row_id_fn: function from a batch to {parameter: row ids}, handed to :meth:`prepare`.

        Raises:
            AssertionError: ``num_epoch`` is missing.
            StopIteration: ``train_data`` is exhausted; reset it first.
        """
        if num_epoch is None:
            raise refusal("Module/num-epoch", "num_epoch is None: give the epoch to stop before", AssertionError)
        self.bind(
            data_shapes=train_data.provide_data, label_shapes=train_data.provide_label,
            for_training=True, force_rebind=force_rebind,
        )
        if monitor is not None:
            self.install_monitor(monitor)
        self.init_params(
            initializer=initializer, arg_params=arg_params, aux_params=aux_params,
            allow_missing=allow_missing, force_init=force_init,
        )
        self.init_optimizer(kvstore=kvstore, optimizer=optimizer, optimizer_params=optimizer_params)
        eval_metric = eval_metric if isinstance(eval_metric, metric.EvalMetric) else metric.create(eval_metric)
        validation_metric = eval_metric if validation_metric is None else validation_metric

        callbacks = (batch_end_callback, epoch_end_callback, eval_end_callback, eval_batch_end_callback)
        epochs, train_data, eval_data = resumed(
            self, range(begin_epoch, num_epoch), train_data, eval_data, monitor,
            (eval_metric, validation_metric, *callbacks),
        )
        for epoch in epochs:
            start = time.time()
            self._begin_epoch(epoch, train_data)
            eval_metric.reset()
            batches = Lookahead(train_data)
            for nbatch, data_batch in batches:
                if monitor is not None:
                    monitor.tic()
                self.forward_backward(data_batch)
                self.update()
                self._count(eval_metric, data_batch)
                upcoming = batches.fetch()  # before the callbacks of this batch
                if upcoming is not None:
                    self.prepare(upcoming, sparse_row_id_fn=sparse_row_id_fn)
                else:
                    results = eval_metric.get_global_name_value()
                if monitor is not None:
                    monitor.toc_print()
                call_all(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            self._report(epoch, "Train", results)
            self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - start)

            # every context restarts from the mean over contexts, and callbacks may save the mean
            arg_params, aux_params = self.get_params()
            self.set_params(arg_params, aux_params)
            call_all(epoch_end_callback or None, epoch, self.symbol, arg_params, aux_params)
            if eval_data is not None:
                results = self.score(
                    eval_data, validation_metric, score_end_callback=eval_end_callback,
                    batch_end_callback=eval_batch_end_callback, epoch=epoch,
                )
                self._report(epoch, "Validation", results)
            self._end_epoch(train_data)

    def _report(self, epoch: int, kind: str, results: list[tuple[str, float]]) -> None:
        """Log values of a metric, in MXNet's format, which tools that plot logs parse."""
        for name, value in results:
            self.logger.info("Epoch[%d] %s-%s=%f", epoch, kind, name, value)

    def _begin_epoch(self, epoch: int, train_data: Any) -> None:
        """Prepare an epoch of ``fit``; subclasses override this."""

    def _end_epoch(self, train_data: Any) -> None:
        """Prepare the next epoch of ``fit``: reset the iterator."""
        train_data.reset()

    def _count(self, eval_metric: Any, batch: Any) -> None:
        """Update the metric with the labels of a batch, or of a list with one batch per context."""
        if isinstance(batch, list):
            self.update_metric(eval_metric, [one.label for one in batch], pre_sliced=True)
        else:
            self.update_metric(eval_metric, batch.label)

    def prepare(self, data_batch: Any, sparse_row_id_fn: Callable | None = None) -> None:
        """Prepare for ``data_batch``, the next batch; subclasses override this."""
        if sparse_row_id_fn is not None:
            warnings.warn("sparse_row_id_fn is not called: this module pulls no rows", stacklevel=2)

    # --- parameters ------------------------------------------------------------------------------

    def save_params(self, fname: str) -> None:
        """Write all parameters (``arg:NAME``) and auxiliary states (``aux:NAME``) to a file."""
        demand(self, "save_params")
        pairs = zip(("arg", "aux"), self.get_params(), strict=True)
        arrays = {f"{kind}:{name}": array for kind, values in pairs for name, array in values.items()}
        nd.save(fname, {name: array.as_in_context(cpu()) for name, array in arrays.items()})

    def load_params(self, fname: str) -> None:
        """Set parameters from a file of :meth:`save_params`.

        Raises:
            ValueError: an entry is not named ``arg:NAME`` or ``aux:NAME``.
        """
        demand(self, "load_params")
        loaded = nd.load(fname)
        found: dict[str, dict[str, NDArray]] = {"arg": {}, "aux": {}}
        entries = loaded if isinstance(loaded, dict) else dict.fromkeys(["(no name)"], loaded)
        for key, value in entries.items():
            kind, colon, name = key.partition(":")
            if not colon or kind not in found:
                raise refusal(
                    "Module/param-file",
                    f"{fname}: array {key!r} is named neither arg:NAME nor aux:NAME",
                    ValueError,
                )
            found[kind][name] = value
        self.set_params(found["arg"], found["aux"])

    def set_params(
        self, arg_params: Mapping[str, Any], aux_params: Mapping[str, Any] | None, allow_missing: bool = False,
        force_init: bool = True, allow_extra: bool = False,
    ) -> None:
        """Set parameters by name.

        Args:
            arg_params, aux_params: parameters and auxiliary states by name.
            allow_missing: bool, whether parameters that are not given keep their values; otherwise all must be given.
            force_init: bool; False changes nothing when parameters have values.
            allow_extra: bool, whether names that the module does not have are ignored.

        Raises:
            RuntimeError: a name is missing and ``allow_missing`` is off.
        """
        self.init_params(
            initializer=None, arg_params=arg_params, aux_params=aux_params,
            allow_missing=allow_missing, force_init=force_init, allow_extra=allow_extra,
        )

    # --- states ----------------------------------------------------------------------------------

    def get_states(self, merge_multi_context: bool = True) -> list:
        """Return the states; [] when a module has none."""
        demand(self, "get_states")
        return []

    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Set the states; a module without states refuses them.

        Raises:
            AssertionError: states or a value were given.
        """
        demand(self, "set_states")
        if states or value:
            raise refusal("Module/no-states", "this module has no states to set", AssertionError)

    # --- what a concrete module provides ---------------------------------------------------------

    @property
    def symbol(self) -> Any:
        """The symbol of this module."""
        return self._symbol

    @property
    def data_names(self) -> list[str]:
        """Names of the data inputs."""
        raise NotImplementedError

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        raise NotImplementedError

    @property
    def data_shapes(self) -> list[DataDesc]:
        """Descriptions of the data inputs."""
        raise NotImplementedError

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """Descriptions of the labels; None when bound without."""
        raise NotImplementedError

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """(name, shape) pairs of the outputs."""
        raise NotImplementedError

    def bind(
        self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True,
        inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Make executors for inputs of the given shapes. A second call only warns, unless ``force_rebind``.

        Args:
            data_shapes: list of DataDesc or (name, shape) pairs, one for each of ``data_names``.
            label_shapes: the same for the labels; None when batches have no labels.
            for_training: bool; False for inference, without gradients.
            inputs_need_grad: bool, whether ``backward`` computes gradients of the data too.
            force_rebind: bool, whether to bind a bound module again; parameters and optimizer stay.
            shared_module: a bound, initialised module to share parameters, gradients and memory with, or None.
            grad_req: "write", "add" or "null" for all parameters, or a list or dict of these by argument.

        Raises:
            AssertionError: ``inputs_need_grad`` without ``for_training``.
        """
        raise NotImplementedError

    def init_params(
        self, initializer: Any = INITIALIZER, arg_params: Mapping[str, Any] | None = None,
        aux_params: Mapping[str, Any] | None = None, allow_missing: bool = False, force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Give every parameter and auxiliary state a value.

        Args:
            initializer: Initializer for the parameters without a given value; None when all values are given.
            arg_params, aux_params: NDArrays or NumPy arrays by name; None leaves all to ``initializer``.
            allow_missing: bool, whether ``initializer`` may set parameters that a given dict lacks.
            force_init: bool, whether to give new values to parameters that have values.
            allow_extra: bool, whether a given dict may have other names; they are always ignored here.

        Raises:
            RuntimeError: a dict is given, lacks a name, and ``allow_missing`` is off.
            TypeError: a parameter has no given value and ``initializer`` is None.
        """
        raise NotImplementedError

    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Return (parameters, auxiliary states) by name."""
        raise NotImplementedError

    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),), force_init: bool = False,
    ) -> None:
        """Install an optimizer and the store that sums the gradients of all contexts.

        Args:
            kvstore: a store, the name of a store for :func:`mx.kv.create`, or None.
            optimizer: name for :func:`mx.optimizer.create`, or an Optimizer.
            optimizer_params: dict or pairs: settings of an optimizer that is made by its name.
            force_init: bool, whether to replace an installed optimizer.

        Raises:
            ValueError: an unknown optimizer name.
            TypeError: ``kvstore`` is not a store, a name or None; an unknown optimizer parameter.
        """
        raise NotImplementedError

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs of a batch."""
        raise NotImplementedError

    def backward(self, out_grads: Sequence[NDArray] | None = None) -> None:
        """Compute the gradients."""
        raise NotImplementedError

    def get_outputs(self, merge_multi_context: bool = True) -> list:
        """Return the outputs of the last forward."""
        raise NotImplementedError

    def get_input_grads(self, merge_multi_context: bool = True) -> list:
        """Return the gradients of the data inputs."""
        raise NotImplementedError

    def update(self) -> None:
        """Update parameters from their gradients."""
        raise NotImplementedError

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Add the last outputs and ``labels`` to a metric."""
        raise NotImplementedError

    def install_monitor(self, mon: Any) -> None:
        """Install a monitor on every executor."""
        raise NotImplementedError
