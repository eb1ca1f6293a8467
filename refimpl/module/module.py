"""Module: one symbol, trained data-parallel on one or several contexts."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from .. import symbol as sym
from ..base import decides, refusal
from ..context import Context, cpu
from ..files.atomic import together
from ..initializer import InitDesc
from ..io import DataDesc
from ..ndarray import NDArray
from ..quirks import declare
from .base_module import INITIALIZER
from .batch_shapes import shapes_differ, shapes_of_batch
from .described import Described
from .descriptions import _check_input_names, _parse_data_desc, names_of, with_batch_size
from .executor_group import DataParallelExecutorGroup
from .life_cycle import demand
from .optimizing import Devices, OptimizingModule, group_to_share
from .parameters import as_arrays, fitting, host_zeros, require_initializer
from .rollback import shapes_kept_on_failure
from .state_files import read_params

DEVICE = cpu()
"""Where a module runs unless told otherwise."""
_REBIND = declare(
    "rebind-forgets", "Module/rebind-keeps-training",
    "a forced rebind brings back the parameters of the last get_params", "training since would be lost",
)


class Module(Described, OptimizingModule):
    """A symbol with its parameters and executors; the optimizer side is :class:`OptimizingModule`.

    A failed call leaves the module as it was.

    Parameters
    ----------
    symbol : the net, usually ending in a loss such as ``SoftmaxOutput``.
    data_names, label_names : which arguments a batch provides; None means none. All arguments that are
        neither data, label nor state are parameters.
    context : a Context or a list; each batch is cut between them.
    work_load_list : the weight of each context when it is cut, all 1 by default.
    fixed_param_names : parameters that are never trained.
    state_names : arguments that keep their value from batch to batch and are not saved.
    group2ctxs, compression_params : where each ``ctx_group`` lives; gradient compression of the store.

    Raises
    ------
    ValueError : a name is not an argument of the symbol (a label name only warns).
    AssertionError : ``work_load_list`` does not have one weight per context.
    TypeError : ``context`` is not made of Contexts.
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
        self._context = [context] if isinstance(context, Context) else list(context)
        if not self._context or not all(isinstance(one, Context) for one in self._context):
            raise refusal(
                "Module/contexts",
                f"context must be a Context or a list such as [mx.cpu(0), mx.cpu(1)], not {context!r}",
                TypeError,
            )
        self._work_load_list = list(work_load_list or [1] * len(self._context))
        if len(self._work_load_list) != len(self._context):
            raise refusal(
                "Module/work-load",
                f"work_load_list has {len(self._work_load_list)} weights for {len(self._context)} contexts",
                AssertionError,
            )
        self._symbol = symbol
        self._data_names = names_of(data_names)
        self._label_names = names_of(label_names)
        self._state_names = names_of(state_names)
        self._fixed_param_names = names_of(fixed_param_names)
        _check_input_names(symbol, self._data_names, "data_names", True)
        _check_input_names(symbol, self._label_names, "label_names", False)
        _check_input_names(symbol, self._state_names, "state_names", True)
        _check_input_names(symbol, self._fixed_param_names, "fixed_param_names", True)

        inputs = {*self._data_names, *self._label_names, *self._state_names}
        self._param_names = [name for name in symbol.list_arguments() if name not in inputs]
        self._aux_names = symbol.list_auxiliary_states()
        self._output_names: list[str] = symbol.list_outputs()
        self._group2ctxs = group2ctxs
        self._compression_params = compression_params

        self._arg_params: dict[str, NDArray] = {}
        self._aux_params: dict[str, NDArray] = {}
        self._exec_group = None  # type: ignore[assignment]  # bind makes it
        self._data_shapes: list[DataDesc] = []
        self._label_shapes: list[DataDesc] | None = None

    # --- files -----------------------------------------------------------------------------------

    @staticmethod
    @decides("Module/checkpoint")
    def load(
        prefix: str, epoch: int, load_optimizer_states: bool = False, *, allow_other_params: bool = False,
        **kwargs: Any,
    ) -> Module:
        """Make a module from a checkpoint; ``kwargs`` go to the constructor.

        Its parameters are set; bind it to use it. Optimizer states are read by ``init_optimizer``, which refuses
        those that were saved with another params file unless ``allow_other_params``.

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
        """Write ``prefix-symbol.json``, ``prefix-%04d.params`` and, if asked, ``prefix-%04d.states``.

        The states name the SHA-256 of the parameters' file. When one file cannot be written, none has changed.

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
        """Make an executor per context for inputs of these shapes: DataDesc or (name, shape) pairs.

        Bound already, it only warns, unless ``force_rebind``. Parameters and optimizer survive a
        rebind. With ``shared_module`` (bound and initialised) parameters, gradients, auxiliary states,
        memory and optimizer are that module's.

        Raises:
            ValueError: data names differ from the declared ones.
            AssertionError: batch sizes differ, ``inputs_need_grad`` without ``for_training``, or an
                unfit ``shared_module``.
            MXNetError: the shapes do not suit the symbol.
        """
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        if inputs_need_grad and not for_training:
            raise refusal(
                "Module/input-gradients-train",
                "inputs_need_grad=True needs for_training=True: gradients come from backward",
                AssertionError,
            )
        with shapes_kept_on_failure([self]):
            self._bind(data_shapes, label_shapes, for_training, inputs_need_grad, shared_module, grad_req)

    @decides("Module/shared-module")
    def _bind(
        self, data_shapes: Any, label_shapes: Any, for_training: bool, inputs_need_grad: bool, shared_module: Any,
        grad_req: Any,
    ) -> None:
        data, labels = _parse_data_desc(self._data_names, self._label_names, data_shapes, label_shapes)
        shared_group = None if shared_module is None else group_to_share(shared_module, len(self._context))
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
        else:
            arg_params = host_zeros(group.param_names, group.param_arrays)
            aux_params = host_zeros(group.aux_names, group.aux_arrays)

        self._exec_group = group
        self._devices = Devices() if shared_module is None else shared_module._devices
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
        with shapes_kept_on_failure([self]):
            self._exec_group.reshape(data, labels)
            self._data_shapes, self._label_shapes = data, labels

    # --- parameters ------------------------------------------------------------------------------

    @decides("Module/init-order", "Module/init-twice")
    def init_params(
        self, initializer: Any = INITIALIZER, arg_params: Mapping[str, Any] | None = None,
        aux_params: Mapping[str, Any] | None = None, allow_missing: bool = False,
        force_init: bool = False, allow_extra: bool = False,
    ) -> None:
        """Give every parameter and auxiliary state a value, in the order of their names.

        A name comes from ``arg_params`` or ``aux_params`` when given; otherwise ``initializer`` fills
        it. Names that the symbol does not have are ignored.

        Raises:
            RuntimeError: a dict is given, lacks a name, and ``allow_missing`` is off.
            TypeError: a name is left to the initializer and there is none.
            MXNetError: a given value has another shape.
        """
        if self.params_initialized and not force_init:
            warnings.warn(
                "Parameters already initialized and force_init=False. init_params call ignored.",
                stacklevel=2,
            )
            return
        demand(self, "init_params")
        attributes = self._symbol.attr_dict()
        values = []
        for hosts, given in ((self._arg_params, arg_params), (self._aux_params, aux_params)):
            for name, host in sorted(hosts.items()):
                if given is not None and name in given:
                    value = fitting(name, given[name], host)
                else:
                    require_initializer(name, initializer, given, allow_missing)
                    value = host.copy()
                    if initializer is not None:
                        initializer(InitDesc(name, attributes.get(name)), value)
                values.append((value, host))

        # only now, when every value is known, is anything written
        with self._values_kept_on_failure():
            for value, host in values:
                if value is not host:
                    value.copyto(host)
            self._exec_group.set_params(self._arg_params, self._aux_params)
            self._tell_store()
            self._params_dirty = False
            self.params_initialized = True

    @decides("Module/allow-missing")
    def set_params(
        self, arg_params: Mapping[str, Any], aux_params: Mapping[str, Any] | None,
        allow_missing: bool = False, force_init: bool = True, allow_extra: bool = False,
    ) -> None:
        """Set parameters by name.

        With ``allow_missing`` only the given names change; a name that the symbol does not have is
        then refused unless ``allow_extra``. Without it every name must be given, and others are ignored.

        Raises:
            RuntimeError: a name is missing and ``allow_missing`` is off.
            ValueError: an unknown name, ``allow_missing`` on and ``allow_extra`` off.
            MXNetError: a value has another shape.
        """
        if not allow_missing:
            self.init_params(
                initializer=None, arg_params=arg_params, aux_params=aux_params,
                allow_missing=False, force_init=force_init, allow_extra=allow_extra,
            )
            return
        if self.params_initialized and not force_init:
            warnings.warn(
                "Parameters already initialized and force_init=False. set_params call ignored.",
                stacklevel=2,
            )
            return
        demand(self, "set_params")
        with self._values_kept_on_failure():
            self._params_dirty = True
            self._exec_group.set_params(as_arrays(arg_params), as_arrays(aux_params), allow_extra=allow_extra)
            self._tell_store()
            self.params_initialized = True

    @decides("Module/params-identity")
    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Return (parameters, auxiliary states): the module's own copies, means over the contexts."""
        demand(self, "get_params")
        if self._params_dirty:
            self._sync_params_from_devices()
        return self._arg_params, self._aux_params

    @decides("Module/params-fresh")
    def _sync_params_from_devices(self) -> None:
        self._exec_group.get_params(self._arg_params, self._aux_params)
        self._params_dirty = False

    # --- computation -----------------------------------------------------------------------------

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs of a batch, matched with the data shapes by position.

        Another shape than the bound one reshapes the module first. A list holds one batch per context.
        ``is_train`` None means ``for_training``.
        """
        demand(self, "forward")
        first = data_batch[0] if isinstance(data_batch, list) else data_batch
        other = isinstance(data_batch, list) or shapes_differ(first.data, self._data_shapes)
        with shapes_kept_on_failure([self]) if other else nullcontext():
            if other:
                self._follow(data_batch)
            self._params_dirty |= bool(self._aux_names)
            self._exec_group.forward(data_batch, is_train)

    @decides("Module/automatic-reshape")
    def _follow(self, data_batch: Any) -> None:
        """Reshape to the shapes of ``data_batch`` unless they are bound already."""
        wanted = shapes_of_batch(
            data_batch, self._data_shapes, self._label_shapes, len(self._context)
        )
        if wanted is not None:
            self.reshape(*wanted)

    def backward(self, out_grads: Sequence[NDArray] | None = None) -> None:
        """Compute gradients; ``out_grads`` has one head gradient for the whole batch per output."""
        demand(self, "backward")
        self._params_dirty |= bool(self._aux_names)
        self._exec_group.backward(out_grads=out_grads)

    def get_outputs(self, merge_multi_context: bool = True) -> list:
        """Return the outputs, merged, or as a list per context each."""
        demand(self, "get_outputs")
        return self._exec_group.get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list:
        """Return the gradients of the data inputs in the order of the data shapes."""
        demand(self, "get_input_grads")
        return self._exec_group.get_input_grads(merge_multi_context=merge_multi_context)

    def get_states(self, merge_multi_context: bool = True) -> list:
        """Return the arrays of each state, one per context; they cannot be merged."""
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
