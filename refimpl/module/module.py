"""Module: one symbol, trained data-parallel on one or several contexts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from .. import symbol as sym
from ..base import decides
from ..context import Context, cpu
from ..files.atomic import together
from ..io import DataDesc
from ..model import _update_params, _update_params_on_kvstore
from ..ndarray import NDArray
from ..quirks import declare
from .arrays import as_stored
from .base_module import INITIALIZER, BaseModule
from .batch_shapes import shapes_of_batch
from .bind_options import context_list, group_to_share, require_training, work_loads
from .delegation import delegated
from .descriptions import _check_input_names, _parse_data_desc, names_of, with_batch_size
from .executor_group import DataParallelExecutorGroup
from .life_cycle import ALREADY_BOUND, ALREADY_OPTIMIZED, demand
from .parameters import HostCopy, as_arrays, host_zeros, initial_values, stays_initialized
from .parts import undo_optimizer, undo_params, undo_shapes
from .returning import keeps_place
from .state_files import ParamsFile, read_params, read_states
from .updates import Updates, install

DEVICE = cpu()
"""The default context of a module."""
_REBIND = declare(
    "rebind-forgets", "Module/rebind-keeps-training",
    "a forced rebind brings back the parameters of the last get_params", "training since would be lost",
)


@keeps_place
class Module(BaseModule):
    """A symbol with its parameters, its executors (``_exec_group``), and its optimizer and store (``_updates``).

    A failed call leaves the module as it was.

    Args:
        symbol: the net, usually ending in a loss such as ``SoftmaxOutput``.
        data_names, label_names: the arguments that a batch provides; None means none. All arguments that are
            neither data, label nor state are parameters.
        logger: gets the log lines; the module ``logging`` or a ``Logger``.
        context: a Context or a list of Contexts; each batch is cut into a slice per context.
        work_load_list: the weight of each context, to which its slice is proportional; all 1 by default.
        fixed_param_names: parameters that are never trained.
        state_names: arguments that keep their value from batch to batch and are not saved.
        group2ctxs: the context of each ``ctx_group``: a dict, or a list with a dict per context.
        compression_params: gradient compression of the store, such as ``{"type": "2bit", "threshold": 0.5}``.

    Raises:
        ValueError: a name is not an argument of the symbol (a label name only warns).
        AssertionError: ``work_load_list`` does not have one weight per context.
        TypeError: ``context`` is not made of Contexts.
    """

    @decides("Module/parameters", "Module/states")
    def __init__(
        self, symbol: Any, data_names: Sequence[str] | None = ("data",),
        label_names: Sequence[str] | None = ("softmax_label",), logger: Any = logging,
        context: Context | Sequence[Context] = DEVICE, work_load_list: Sequence[float] | None = None,
        fixed_param_names: Sequence[str] | None = None, state_names: Sequence[str] | None = None,
        group2ctxs: Any = None, compression_params: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(logger=logger)
        self._context = context_list(context)
        self._work_load_list = work_loads(work_load_list, self._context)
        self._symbol = symbol
        self._data_names = names_of(data_names)
        self._label_names = names_of(label_names)
        self._state_names = names_of(state_names)
        self._fixed_param_names = names_of(fixed_param_names)
        for kind in ("data", "label", "state", "fixed_param"):
            _check_input_names(symbol, getattr(self, f"_{kind}_names"), f"{kind}_names", throw=kind != "label")

        inputs = {*self._data_names, *self._label_names, *self._state_names}
        self._param_names = [name for name in symbol.list_arguments() if name not in inputs]
        self._aux_names = symbol.list_auxiliary_states()
        self._output_names: list[str] = symbol.list_outputs()
        self._group2ctxs = group2ctxs
        self._compression_params = compression_params

        self._arg_params: dict[str, NDArray] = {}
        self._aux_params: dict[str, NDArray] = {}
        self._host_copy = HostCopy()
        self._exec_group: DataParallelExecutorGroup = None  # type: ignore[assignment]  # bind makes it
        self._data_shapes: list[DataDesc] = []
        self._label_shapes: list[DataDesc] | None = None
        self._updates = Updates()
        self._preload_opt_states: str | None = None
        self._preload_params: ParamsFile | None = None

    # MXNet's names for the optimizer, the store and the updater, which scripts use
    _optimizer = delegated("_updates.optimizer")
    _kvstore = delegated("_updates.kvstore")
    _update_on_kvstore = delegated("_updates.update_on_kvstore")
    _updater = delegated("_updates.updater")
    _params_dirty = delegated("_host_copy.stale")

    # --- files -----------------------------------------------------------------------------------

    @staticmethod
    @decides("Module/checkpoint")
    def load(
        prefix: str, epoch: int, load_optimizer_states: bool = False, *, allow_other_params: bool = False,
        **kwargs: Any,
    ) -> Module:
        """Make a module from a checkpoint. Its parameters are set; bind the module to use it.

        Args:
            prefix, epoch: name the files ``prefix-symbol.json`` and ``prefix-%04d.params``.
            load_optimizer_states: whether ``init_optimizer`` reads ``prefix-%04d.states`` too.
            allow_other_params: whether ``init_optimizer`` takes states that were saved with another params file.
            kwargs: arguments of the constructor.

        Raises:
            MXNetError: a file is missing or damaged.
        """
        symbol = sym.load(f"{prefix}-symbol.json")
        arg_params, aux_params, params = read_params(prefix, epoch, load_optimizer_states and not allow_other_params)
        module = Module(symbol=symbol, **kwargs)
        module._arg_params = arg_params
        module._aux_params = aux_params
        module.params_initialized = True
        if load_optimizer_states:
            module._preload_opt_states, module._preload_params = f"{prefix}-{epoch:04d}.states", params
        return module

    @decides("Module/checkpoint")
    def save_checkpoint(
        self, prefix: str, epoch: int, save_optimizer_states: bool = False, remove_amp_cast: bool = True
    ) -> None:
        """Write the symbol, the parameters and, if asked, the optimizer states.

        The states name the SHA-256 of the parameters' file. When one file cannot be written, none has changed.

        Args:
            prefix, epoch: name the files ``prefix-symbol.json`` and ``prefix-%04d.params``.
            save_optimizer_states: whether to write ``prefix-%04d.states``, which needs an optimizer.
            remove_amp_cast: whether to leave the casts of mixed precision out of the symbol.

        Raises:
            MXNetError: a file cannot be written.
        """
        demand(self, "save_checkpoint")
        if save_optimizer_states:
            demand(self, "save_optimizer_states")
        param_name, state_name = f"{prefix}-{epoch:04d}.params", f"{prefix}-{epoch:04d}.states"
        with together():
            self._symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
            self.save_params(param_name)
            if save_optimizer_states:
                self.save_optimizer_states(state_name)
        self.logger.info('Saved checkpoint to "%s"', param_name)
        if save_optimizer_states:
            self.logger.info('Saved optimizer state to "%s"', state_name)

    # --- names and shapes ------------------------------------------------------------------------

    @property
    def data_names(self) -> list[str]:
        """Names of the data inputs."""
        return self._data_names

    @property
    def label_names(self) -> list[str]:
        """Names of the labels."""
        return self._label_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs."""
        return self._output_names

    @property
    def data_shapes(self) -> list[DataDesc]:
        """Descriptions of the data inputs."""
        demand(self, "data_shapes")
        return self._data_shapes

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """Descriptions of the labels; None when bound without."""
        demand(self, "label_shapes")
        return self._label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """(name, shape) of each merged output."""
        demand(self, "output_shapes")
        return self._exec_group.get_output_shapes()

    # --- binding ---------------------------------------------------------------------------------

    @decides("Module/bind-twice")
    def bind(
        self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True,
        inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Make an executor per context for inputs of the given shapes. A second call only warns.

        :meth:`BaseModule.bind` explains the arguments. A ``shared_module`` is a Module; its optimizer is shared too.

        Raises:
            ValueError: data names differ from the declared ones.
            AssertionError: batch sizes differ, ``inputs_need_grad`` without ``for_training``, or an
                unfit ``shared_module``.
            MXNetError: the shapes do not suit the symbol.
        """
        if self.binded and not force_rebind:
            self.logger.warning(ALREADY_BOUND)
            return
        require_training(inputs_need_grad, for_training)
        with undo_shapes(self):
            data, labels = _parse_data_desc(self._data_names, self._label_names, data_shapes, label_shapes)
            shared_group = None if shared_module is None else group_to_share(shared_module, Module, len(self._context))
            group = DataParallelExecutorGroup(
                self._symbol, self._context, self._work_load_list, data, labels, self._param_names,
                for_training, inputs_need_grad, shared_group, logger=self.logger,
                fixed_param_names=self._fixed_param_names, grad_req=grad_req,
                state_names=self._state_names, group2ctxs=self._group2ctxs,
            )
            if shared_module is not None:
                arg_params, aux_params = shared_module.get_params()
            elif self.params_initialized:
                kept = (self._arg_params, self._aux_params) if _REBIND.active else self.get_params()
                arg_params, aux_params = kept
                group.set_params(arg_params, aux_params)
                arg_params.update(as_stored(arg_params, group.execs[0].arg_dict))  # a file may hold dense values
                aux_params.update(as_stored(aux_params, group.execs[0].aux_dict))
            else:
                arg_params = host_zeros(group.param_names, group.param_arrays)
                aux_params = host_zeros(group.aux_names, group.aux_arrays)
            self._exec_group = group
            self._host_copy = HostCopy() if shared_module is None else shared_module._host_copy
            self._data_shapes, self._label_shapes = data, labels
            self._arg_params, self._aux_params = arg_params, aux_params
            self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
            self.binded = True
            if shared_module is not None:
                self.params_initialized = True
                if shared_module.optimizer_initialized:
                    self.borrow_optimizer(shared_module)

    @decides("Module/reshape", "Module/reshape-labels")
    def reshape(self, data_shapes: Any, label_shapes: Any = None) -> None:
        """Bind again for other input shapes; parameters, gradients and auxiliary states stay shared.

        Without ``label_shapes`` the labels follow the batch size.

        Raises:
            MXNetError: a parameter would change its shape.
        """
        demand(self, "reshape")
        label_names = [] if label_shapes is None else self._label_names
        data, labels = _parse_data_desc(self._data_names, label_names, data_shapes, label_shapes)
        if labels is None and self._label_shapes:
            batch_size, _ = self._exec_group.decide_slices(data)
            labels = [with_batch_size(d, batch_size) for d in self._label_shapes]
        with undo_shapes(self):
            self._exec_group.reshape(data, labels)
            self._data_shapes, self._label_shapes = data, labels

    # --- parameters ------------------------------------------------------------------------------

    @decides("Module/init-order", "Module/init-twice")
    def init_params(
        self, initializer: Any = INITIALIZER, arg_params: Mapping[str, Any] | None = None,
        aux_params: Mapping[str, Any] | None = None, allow_missing: bool = False,
        force_init: bool = False, allow_extra: bool = False,
    ) -> None:
        """Give every parameter and auxiliary state a value, in the order of their names. A second call only warns.

        :meth:`BaseModule.init_params` explains the arguments.

        Raises:
            RuntimeError: a dict is given, lacks a name, and ``allow_missing`` is off.
            TypeError: no dict is given and there is no initializer. With a dict and ``allow_missing``, a parameter that
                the dict lacks keeps its value.
            MXNetError: a given value has another shape.
        """
        if stays_initialized(self, force_init, "init_params"):
            return
        demand(self, "init_params")
        attributes = self._symbol.attr_dict()
        values = [
            pair for hosts, given in ((self._arg_params, arg_params), (self._aux_params, aux_params))
            for pair in initial_values(hosts, given, initializer, attributes, allow_missing)
        ]
        # only now, when every value is known, is anything written
        with undo_params(self):
            for value, host in values:
                if value is not host:
                    value.copyto(host)
            self._exec_group.set_params(self._arg_params, self._aux_params)
            self._updates.adopt(self._exec_group, self._arg_params)
            self._host_copy.stale = False
            self.params_initialized = True

    @decides("Module/allow-missing")
    def set_params(
        self, arg_params: Mapping[str, Any], aux_params: Mapping[str, Any] | None,
        allow_missing: bool = False, force_init: bool = True, allow_extra: bool = False,
    ) -> None:
        """Set parameters by name.

        :meth:`BaseModule.set_params` explains the arguments. Without ``allow_missing`` names that the symbol does not
        have are always ignored.

        Raises:
            RuntimeError: a name is missing and ``allow_missing`` is off.
            ValueError: an unknown name, ``allow_missing`` on and ``allow_extra`` off.
            MXNetError: a value has another shape.
        """
        if not allow_missing:
            super().set_params(arg_params, aux_params, force_init=force_init, allow_extra=allow_extra)
            return
        if stays_initialized(self, force_init, "set_params"):
            return
        demand(self, "set_params")
        with undo_params(self):
            self._host_copy.stale = True
            self._exec_group.set_params(as_arrays(arg_params), as_arrays(aux_params), allow_extra=allow_extra)
            self._updates.adopt(self._exec_group, arg_params or {})
            self.params_initialized = True

    @decides("Module/params-identity")
    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Return (parameters, auxiliary states): the module's own copies, means over the contexts."""
        demand(self, "get_params")
        if self._host_copy.stale:
            self._sync_params_from_devices()
        return self._arg_params, self._aux_params

    @decides("Module/params-fresh")
    def _sync_params_from_devices(self) -> None:
        self._exec_group.get_params(self._arg_params, self._aux_params)
        self._updates.pull_all_rows(self._arg_params)
        self._host_copy.stale = False

    # --- computation -----------------------------------------------------------------------------

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs of a batch, whose arrays belong to the data shapes by position.

        A batch of another shape reshapes the module first. A list has one batch per context.
        ``is_train`` None means ``for_training``.
        """
        demand(self, "forward")
        group, wanted = self._exec_group, None
        if not group.fits(data_batch):
            wanted = shapes_of_batch(data_batch, self._data_shapes, self._label_shapes, len(self._context))
        with nullcontext() if wanted is None else undo_shapes(self):
            if wanted is not None:
                self.reshape(*wanted)
            self._host_copy.stale |= bool(self._aux_names)
            group.forward(data_batch, is_train)

    def forward_backward(self, data_batch: Any) -> None:
        """Forward in training mode, then backward."""
        demand(self, "forward_backward")
        self.forward(data_batch, is_train=True)
        self.backward()

    def backward(self, out_grads: Sequence[NDArray] | None = None) -> None:
        """Compute gradients; ``out_grads`` has one head gradient for the whole batch per output."""
        demand(self, "backward")
        self._host_copy.stale |= bool(self._aux_names)
        self._exec_group.backward(out_grads=out_grads)

    def get_outputs(self, merge_multi_context: bool = True) -> list:
        """Return the outputs: merged, or for each a list with one array per context."""
        demand(self, "get_outputs")
        return self._exec_group.get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list:
        """Return the gradients of the data inputs in the order of the data shapes, merged or per context."""
        demand(self, "get_input_grads")
        return self._exec_group.get_input_grads(merge_multi_context=merge_multi_context)

    def get_states(self, merge_multi_context: bool = True) -> list:
        """Return the arrays of each state, one per context; states cannot be merged."""
        demand(self, "get_states")
        return self._exec_group.get_states(merge_multi_context=merge_multi_context)

    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Set the states from ``states[state][context]``, or all to ``value``."""
        demand(self, "set_states")
        self._exec_group.set_states(states, value)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Add the last outputs and ``labels`` to a metric, context by context."""
        demand(self, "update_metric")
        self._exec_group.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon: Any) -> None:
        """Install a monitor on every executor."""
        demand(self, "install_monitor")
        self._exec_group.install_monitor(mon)

    # --- optimizer -------------------------------------------------------------------------------

    @decides("Module/optimizer-twice")
    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),), force_init: bool = False,
    ) -> None:
        """Install an optimizer and the store that sums the gradients of all contexts. A second call only warns.

        :meth:`BaseModule.init_optimizer` explains the arguments. ``rescale_grad``, unless ``optimizer_params`` has it,
        is 1 / (size of the whole batch), and does not change with later batches.

        Raises:
            ValueError: an unknown optimizer name.
            TypeError: ``kvstore`` is not a store, a name or None; an unknown optimizer parameter.
            AssertionError: ``optimizer`` is neither a name nor an Optimizer.
        """
        demand(self, "init_optimizer")
        if self.optimizer_initialized and not force_init:
            self.logger.warning(ALREADY_OPTIMIZED)
            return
        with undo_optimizer(self, kvstore, optimizer):
            file = self._preload_opt_states
            content = b"" if file is None else read_states(file, self._preload_params)
            updates = install(
                kvstore, optimizer, optimizer_params, self._exec_group, self.get_params()[0],
                self._compression_params, self._wrapped,
            )
            if file is not None:
                updates.set_states(content, file, self._exec_group)
                self._preload_opt_states = self._preload_params = None
            self._updates = updates
            self.optimizer_initialized = True

    def _wrapped(self, optimizer: Any) -> Any:
        """The optimizer to install in the place of ``optimizer``; subclasses may wrap it."""
        return optimizer

    def borrow_optimizer(self, shared_module: Any) -> None:
        """Use the optimizer, store and states of another module; a parameter of both modules has one state."""
        demand(shared_module, "borrow_optimizer")
        borrowed = shared_module._updates.borrowed()
        vars(self).update(_updates=borrowed, optimizer_initialized=True)  # in one step, which nothing interrupts

    @decides("Module/recorded-steps")
    def update(self) -> None:
        """Apply the gradients of the last backward to the parameters of every context."""
        demand(self, "update")
        self._host_copy.stale = True
        group, updates = self._exec_group, self._updates
        if updates.update_on_kvstore:
            _update_params_on_kvstore(group.param_arrays, group.grad_arrays, updates.kvstore, group.param_names)
            return
        count = updates.indices_per_name(group)
        _update_params(*updates.by_index(group), updates.updater, count, updates.kvstore, updates.names)

    def save_optimizer_states(self, fname: str) -> None:
        """Write the optimizer's states to a file."""
        demand(self, "save_optimizer_states")
        self._updates.save_states(fname)

    def load_optimizer_states(self, fname: str, *, allow_other_params: bool = False) -> None:
        """Read the optimizer's states from a file of :meth:`save_optimizer_states` or :meth:`save_checkpoint`.

        Raises:
            MXNetError: the file is damaged, or the params file beside it is not the one it was saved with and
                ``allow_other_params`` is off.
            OSError: the file cannot be read.
        """
        demand(self, "load_optimizer_states")
        content = read_states(fname, ParamsFile("", None) if allow_other_params else None)
        self._updates.set_states(content, fname, self._exec_group)

    def prepare(self, data_batch: Any, sparse_row_id_fn: Callable | None = None) -> None:
        """Pull rows of row_sparse parameters; ``sparse_row_id_fn(data_batch)`` returns {parameter name: row ids}.

        The contexts then hold these rows only. Nothing is pulled unless the store updates: contexts have all rows.

        Raises:
            AssertionError: ``sparse_row_id_fn`` does not return a dict, or row ids are no NDArrays.
            ValueError: a name in the dict is not the name of a parameter.
            MXNetError: a row id is out of range; no parameter has changed then.
        """
        demand(self, "prepare")
        if sparse_row_id_fn is not None:
            self._updates.pull_rows(self._exec_group, sparse_row_id_fn, data_batch)
