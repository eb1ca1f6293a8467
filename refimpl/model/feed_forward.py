"""FeedForward: a net with its parameters and its settings for training, which MXNet had before Module."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .. import metric, optimizer
from ..base import decides, refusal, require
from ..callback import LogValidationMetricsCallback
from ..context import Context, cpu
from ..executor_manager.slicing import _check_arguments, _load_data
from ..initializer import Uniform
from ..io import DataDesc, DataIter, NDArrayIter
from ..ndarray import NDArray, zeros
from ..symbol import Symbol
from ..symbol.checkpoint import load_checkpoint, save_checkpoint
from .multi_device import BatchEndParam, _call_all, _train_multi_device
from .updating import _create_kvstore

BASE_ESTIMATOR = object
SKLEARN_INSTALLED = False

_INITIALIZER = Uniform(0.01)
_LOG_VALIDATION = LogValidationMetricsCallback()


class FeedForward(BASE_ESTIMATOR):
    """A net, its parameters, and how to train them. Deprecated in MXNet: ``mx.mod.Module`` took its place.

    Args:
        symbol: the net, or a function from a bucket key to the net of that bucket.
        ctx: a device or a list of devices; the first one predicts.
        num_epoch: the epoch to stop before.
        epoch_size: batches in an epoch; None: as many as the data have.
        optimizer: its name, or an Optimizer.
        initializer: fills the parameters that ``arg_params`` does not give; called with plain names.
        numpy_batch_size: largest batch out of arrays.
        arg_params, aux_params: parameters and auxiliary states by name.
        allow_extra_params: leave out of these what the net does not have.
        begin_epoch: the epoch to begin with.
        kwargs: what the optimizer is made with.
    """

    @decides("FeedForward/deprecated")
    def __init__(
        self, symbol: Any, ctx: Any = None, num_epoch: int | None = None, epoch_size: int | None = None,
        optimizer: Any = "sgd", initializer: Any = _INITIALIZER, numpy_batch_size: int = 128,
        arg_params: Mapping[str, NDArray] | None = None, aux_params: Mapping[str, NDArray] | None = None,
        allow_extra_params: bool = False, begin_epoch: int = 0, **kwargs: Any,
    ) -> None:
        warnings.warn(
            "FeedForward is deprecated; use mx.mod.Module", DeprecationWarning, stacklevel=2,
        )
        require(
            "FeedForward/symbol", isinstance(symbol, Symbol) or callable(symbol),
            f"symbol must be a Symbol, or a function that makes one of a bucket key; got {symbol!r}", AssertionError,
        )
        known = isinstance(symbol, Symbol)
        self.symbol: Any = symbol if known else None
        self.sym_gen: Callable[[Any], Any] | None = None if known else symbol
        self.ctx: list[Context] = [cpu()] if ctx is None else [ctx] if isinstance(ctx, Context) else ctx
        # what training is to be
        self.begin_epoch, self.num_epoch, self.epoch_size = begin_epoch, num_epoch, epoch_size
        self.optimizer, self.kwargs = optimizer, kwargs
        self.initializer, self.numpy_batch_size = initializer, numpy_batch_size
        # what it has learnt
        self.arg_params: Any = arg_params
        self.aux_params: Any = aux_params
        self.allow_extra_params, self.argument_checked = allow_extra_params, False
        self._pred_exec: Any = None
        if known:
            self._check_arguments()

    def _check_arguments(self) -> None:
        """Refuse names that occur twice; drop extra parameters if that is allowed. Once is enough."""
        if self.argument_checked:
            return
        require(
            "FeedForward/symbol-known", self.symbol is not None,
            "the net is not known before fit: it is made for the default bucket of the data", AssertionError,
        )
        _check_arguments(self.symbol)
        if self.allow_extra_params:
            self.arg_params = _only(self.symbol.list_arguments(), self.arg_params)
            self.aux_params = _only(self.symbol.list_auxiliary_states(), self.aux_params)
        self.argument_checked = True

    # --- data ---

    @decides("FeedForward/arrays")
    def _init_iter(self, X: Any, y: Any, is_train: bool) -> Any:  # noqa: N803  # MXNet's names
        """An iterator over arrays, shuffled for training; an iterator is returned as it is."""
        if isinstance(X, DataIter):
            return X
        require(
            "FeedForward/data", isinstance(X, (np.ndarray, NDArray)),
            f"X is an iterator, an NDArray or a NumPy array, not {type(X).__name__}", TypeError,
        )
        rows = X.shape[0]
        labels = np.zeros(rows) if y is None and not is_train else y
        require("FeedForward/labels-needed", labels is not None, "an array X needs its labels: give y", ValueError)
        require(
            "FeedForward/labels-type", isinstance(labels, (np.ndarray, NDArray)),
            f"y is an NDArray or a NumPy array, as X is one, not {type(labels).__name__}", TypeError,
        )
        require(
            "FeedForward/labels-count", labels.shape[0] == rows,
            f"y has {labels.shape[0]} labels for the {rows} rows of X; give each row one", ValueError,
        )
        require(
            "FeedForward/labels-shape", labels.shape in ((rows,), (rows, 1)),
            f"y has shape ({rows},) or ({rows}, 1), not {labels.shape}", ValueError,
        )
        return NDArrayIter(
            X, labels.reshape((-1,)), min(rows, self.numpy_batch_size), shuffle=is_train,
            last_batch_handle="roll_over" if is_train else "pad",
        )

    @decides("FeedForward/arrays")
    def _init_eval_iter(self, eval_data: Any) -> Any:
        """An iterator over a pair of arrays or lists; an iterator, alone or in a pair, is returned as it is."""
        if eval_data is None or isinstance(eval_data, DataIter):
            return eval_data
        if not (isinstance(eval_data, (tuple, list)) and len(eval_data) == 2):
            raise refusal(
                "FeedForward/eval-data",
                f"eval_data is an iterator or a pair (data, labels), not {type(eval_data).__name__}", TypeError,
            )
        data, label = (np.array(one) if isinstance(one, list) else one for one in eval_data)
        require("FeedForward/eval-none", data is not None, "eval_data has no data; leave it out", ValueError)
        return self._init_iter(data, label, is_train=True)

    # --- training ---

    @decides("FeedForward/init")
    def _init_params(self, inputs: Sequence[Any], overwrite: bool = False) -> tuple[list[str], list[str], list[str]]:
        """Give every parameter and state a value: the one that is there, or the initializer's.

        Returns the names of arguments, parameters and auxiliary states.
        """
        descriptions = [one if isinstance(one, DataDesc) else DataDesc(*one) for one in inputs]
        shapes = {one.name: one.shape for one in descriptions}
        arg_shapes, _, aux_shapes = self.symbol.infer_shape(**shapes)
        require(
            "FeedForward/shapes-known", arg_shapes is not None,
            f"the inputs {shapes} do not determine the shapes of the net", AssertionError,
        )
        arg_types, _, aux_types = self.symbol.infer_type(**{one.name: one.dtype for one in descriptions})
        arg_names, aux_names = self.symbol.list_arguments(), self.symbol.list_auxiliary_states()
        param_names = [name for name in arg_names if name not in shapes]
        found = {
            "arg": (self.arg_params or {}, zip(arg_names, arg_shapes, arg_types, strict=True)),
            "aux": (self.aux_params or {}, zip(aux_names, aux_shapes, aux_types, strict=True)),
        }
        made: dict[str, dict[str, NDArray]] = {}
        for kind, (given, described) in found.items():
            made[kind] = {}
            for name, shape, dtype in described:
                if name in shapes:
                    continue
                value = made[kind][name] = zeros(shape, dtype=dtype)
                if name in given and not overwrite:
                    require(
                        "FeedForward/param-shape", given[name].shape == shape,
                        f"{name} has shape {given[name].shape}, the net needs {shape}", ValueError,
                    )
                    given[name].copyto(value)
                else:
                    self.initializer(name, value)
        self.arg_params, self.aux_params = made["arg"], made["aux"]
        return arg_names, param_names, aux_names

    @decides("FeedForward/rescale")
    def _make_optimizer(self, data: Any, names: Sequence[str], kvstore: Any, on_kvstore: bool) -> Any:
        """The optimizer: its gradient is the mean over the batch, unless it came as an instance."""
        count = len(self.ctx)
        if on_kvstore:
            by_index = dict(enumerate(names))
        else:
            by_index = {i * count + k: name for i, name in enumerate(names) for k in range(count)}
        if isinstance(self.optimizer, optimizer.Optimizer):
            if not on_kvstore:
                self.optimizer.idx2name = by_index
            return self.optimizer
        rows = data.batch_size
        if kvstore is not None and "dist" in kvstore.type and "_async" not in kvstore.type:
            rows *= kvstore.num_workers
        settings = {"rescale_grad": 1.0 / rows, **self.kwargs}
        return optimizer.create(self.optimizer, sym=self.symbol, param_idx2name=by_index, **settings)

    def fit(
        self, X: Any, y: Any = None, eval_data: Any = None, eval_metric: Any = "acc",  # noqa: N803
        epoch_end_callback: Any = None, batch_end_callback: Any = None, kvstore: Any = "local",
        logger: Any = None, work_load_list: list[float] | None = None, monitor: Any = None,
        eval_end_callback: Any = _LOG_VALIDATION, eval_batch_end_callback: Any = None,
    ) -> None:
        """Train from epoch ``begin_epoch`` to the one before ``num_epoch``. Batches are counted from 1 in callbacks.

        Args:
            X, y: an iterator; or an array, and an array of one label for each row.
            eval_data: an iterator or a pair of arrays that is scored after each epoch, or None.
            eval_metric: an EvalMetric, or what :func:`mx.metric.create` accepts.
            epoch_end_callback: function or list, called with (epoch, symbol, arg_params, aux_params) after each epoch.
            batch_end_callback: function or list, called with a BatchEndParam after each training batch.
            kvstore: a store, the name of one, or None, as for :meth:`Module.init_optimizer`.
            logger: where log lines go; the root logger when None.
            work_load_list: list with the weight of each device; equal weights when None.
            monitor: a Monitor that watches every executor, or None.
            eval_end_callback: function or list, called with a BatchEndParam after each scoring; logs it by default.
            eval_batch_end_callback: function or list, called with a BatchEndParam after each batch of a scoring.

        Raises:
            TypeError, ValueError: the data are of another kind, or there is no ``num_epoch``.
        """
        data = self._init_iter(X, y, is_train=True)
        eval_data = self._init_eval_iter(eval_data)
        require(
            "FeedForward/num-epoch", self.num_epoch is not None,
            "num_epoch is None: say how many epochs when the FeedForward is made", TypeError,
        )
        if self.sym_gen is not None:
            self.symbol = self.sym_gen(data.default_bucket_key)
        self._check_arguments()
        arg_names, param_names, aux_names = self._init_params([*data.provide_data, *data.provide_label])
        if not isinstance(eval_metric, metric.EvalMetric):
            eval_metric = metric.create(eval_metric)
        store, on_store = _create_kvstore(kvstore, len(self.ctx), self.arg_params)
        _train_multi_device(
            self.symbol, self.ctx, arg_names, param_names, aux_names, self.arg_params, self.aux_params,
            begin_epoch=self.begin_epoch, end_epoch=int(self.num_epoch or 0), epoch_size=self.epoch_size,
            optimizer=self._make_optimizer(data, param_names, store, on_store), kvstore=store,
            update_on_kvstore=on_store, train_data=data, eval_data=eval_data, eval_metric=eval_metric,
            epoch_end_callback=epoch_end_callback, batch_end_callback=batch_end_callback, logger=logger,
            work_load_list=work_load_list, monitor=monitor, eval_end_callback=eval_end_callback,
            eval_batch_end_callback=eval_batch_end_callback, sym_gen=self.sym_gen,
        )

    # --- prediction ---

    @decides("FeedForward/extra-params", "FeedForward/fresh")
    def _init_predictor(self, inputs: Sequence[Any]) -> list[NDArray]:
        """Bind for inputs of these shapes, copy the parameters there, and return the input arrays."""
        require(
            "FeedForward/params", self.arg_params is not None,
            "there are no parameters yet: fit, load, or give arg_params", AttributeError,
        )
        self._check_arguments()
        shapes = {one[0]: tuple(one[1]) for one in inputs}
        bound = self._pred_exec
        if bound is None or any(bound.arg_dict[name].shape != shape for name, shape in shapes.items()):
            types = {one[0]: getattr(one, "dtype", np.float32) for one in inputs}
            bound = self.symbol.simple_bind(self.ctx[0], grad_req="null", type_dict=types, **shapes)
        bound.copy_params_from(self.arg_params, self.aux_params)
        self._pred_exec = bound
        return [bound.arg_dict[name] for name in shapes]

    @decides("FeedForward/predict")
    def predict(
        self, X: Any, num_batch: int | None = None, return_data: bool = False, reset: bool = True,  # noqa: N803
    ) -> Any:
        """Predict every row of the data, without padded rows: a NumPy array, or a list with one for each output.

        Args:
            X: an iterator or an array.
            num_batch: at most so many batches; None for all.
            return_data: whether to return (outputs, data, labels), each an array or a list.
            reset: whether to reset the iterator first.

        Raises:
            ValueError: there is no batch.
            AttributeError: there are no parameters yet.
        """
        X = self._init_iter(X, None, is_train=False)  # noqa: N806
        rows: list[list[Sequence[np.ndarray]]] = [[], [], []]
        for count, (batch, outputs) in enumerate(self._forwarded(X, reset), start=1):
            real = X.batch_size - (batch.pad or 0)
            kept = (outputs, batch.data, batch.label) if return_data else (outputs,)
            for batches, arrays in zip(rows, kept, strict=False):
                batches.append([array[:real].asnumpy() for array in arrays or ()])
            if count == num_batch:
                break
        require("FeedForward/nothing", rows[0], "the data have no batch left to predict; reset them", ValueError)
        joined = tuple(_joined(batches) for batches in rows)
        return joined if return_data else joined[0]

    def _forwarded(self, source: Any, reset: bool, num_batch: int | None = None) -> Iterator[tuple[Any, list[NDArray]]]:
        """Batches of an iterator and their outputs; the batch after ``num_batch`` of them is taken and left."""
        if reset:
            source.reset()
        inputs = self._init_predictor(source.provide_data)
        for number, batch in enumerate(source):
            if number == num_batch:
                return
            _load_data(batch, inputs)
            self._pred_exec.forward(is_train=False)
            yield batch, self._pred_exec.outputs

    @decides("FeedForward/score")
    def score(
        self, X: Any, eval_metric: Any = "acc", num_batch: int | None = None,  # noqa: N803
        batch_end_callback: Any = None, reset: bool = True,
    ) -> Any:
        """Evaluate on the data, padded rows included; return the value of the metric, a list if it has several.

        Args:
            X: an iterator.
            eval_metric: an EvalMetric, or what :func:`mx.metric.create` accepts.
            num_batch: at most so many batches; None for all.
            batch_end_callback: function or list, called with a BatchEndParam after each batch.
            reset: whether to reset the iterator first.
        """
        eval_metric = eval_metric if isinstance(eval_metric, metric.EvalMetric) else metric.create(eval_metric)
        eval_metric.reset()
        X = self._init_iter(X, None, is_train=False)  # noqa: N806
        for i, (batch, outputs) in enumerate(self._forwarded(X, reset, num_batch)):
            eval_metric.update(batch.label, outputs)
            _call_all(batch_end_callback, BatchEndParam(0, i, eval_metric, locals()))
        return eval_metric.get()[1]

    # --- files ---

    @decides("FeedForward/files")
    def save(self, prefix: str, epoch: int | None = None, remove_amp_cast: bool = True) -> None:
        """Write a checkpoint, of ``num_epoch`` unless an epoch is given."""
        epoch = self.num_epoch if epoch is None else epoch
        if epoch is None or self.arg_params is None:
            raise refusal(
                "FeedForward/save", "save needs parameters and an epoch: give epoch, or num_epoch when making it",
                AssertionError,
            )
        save_checkpoint(prefix, epoch, self.symbol, self.arg_params, self.aux_params or {}, remove_amp_cast)

    @staticmethod
    @decides("FeedForward/files")
    def load(prefix: str, epoch: int, ctx: Any = None, **kwargs: Any) -> FeedForward:
        """Make a FeedForward out of a checkpoint; training goes on with that epoch."""
        symbol, arguments, states = load_checkpoint(prefix, epoch)
        return FeedForward(
            symbol, ctx=ctx, arg_params=arguments, aux_params=states, begin_epoch=epoch, **kwargs
        )

    @staticmethod
    def create(
        symbol: Any, X: Any, y: Any = None, ctx: Any = None, num_epoch: int | None = None,  # noqa: N803
        epoch_size: int | None = None, optimizer: Any = "sgd", initializer: Any = _INITIALIZER,
        eval_data: Any = None, eval_metric: Any = "acc", epoch_end_callback: Any = None,
        batch_end_callback: Any = None, kvstore: Any = "local", logger: Any = None,
        work_load_list: list[float] | None = None, eval_end_callback: Any = _LOG_VALIDATION,
        eval_batch_end_callback: Any = None, **kwargs: Any,
    ) -> FeedForward:
        """Make a FeedForward and train it.

        Args:
            symbol, ctx, num_epoch, epoch_size, optimizer, initializer, kwargs: see :class:`FeedForward`.
            X, y, eval_data, eval_metric, epoch_end_callback, batch_end_callback, kvstore, logger, work_load_list,
                eval_end_callback, eval_batch_end_callback: see :meth:`fit`.
        """
        network = FeedForward(
            symbol, ctx=ctx, num_epoch=num_epoch, epoch_size=epoch_size, optimizer=optimizer,
            initializer=initializer, **kwargs,
        )
        network.fit(
            X, y, eval_data=eval_data, eval_metric=eval_metric, epoch_end_callback=epoch_end_callback,
            batch_end_callback=batch_end_callback, kvstore=kvstore, logger=logger, work_load_list=work_load_list,
            eval_end_callback=eval_end_callback, eval_batch_end_callback=eval_batch_end_callback,
        )
        return network


def _joined(batches: list[Sequence[np.ndarray]]) -> Any:
    """Join the batches of each array; return a bare array if there is only one."""
    whole = [np.concatenate(parts) for parts in zip(*batches, strict=True)]
    return whole[0] if len(whole) == 1 else whole


def _only(names: Collection[str], arrays: Any) -> Any:
    """The arrays by name, without those of other names; None and {} as they are."""
    return {name: arrays[name] for name in arrays if name in names} if arrays else arrays
