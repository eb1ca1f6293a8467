"""BucketingModule: a net for several lengths; a module is bound for each length, and all share their parameters."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..base import decides, refusal
from ..context import Context
from ..files.atomic import together
from ..initializer import Initializer
from ..io import DataDesc
from ..ndarray import NDArray
from ..ndarray.undo import undo
from .base_module import INITIALIZER, BaseModule
from .bucket_files import read_buckets, require_whole_numbers, write_buckets
from .buckets import Buckets
from .delegation import delegated
from .life_cycle import ALREADY_BOUND, ALREADY_OPTIMIZED, STEPS, demand
from .module import DEVICE, Module
from .parts import undo_optimizer, undo_shapes


class BucketingModule(BaseModule):
    """A module per bucket key (see :class:`Buckets`), all sharing parameters, gradients, memory and optimizer.

    ``sym_gen(key)`` returns (symbol, data names, label names). Its symbols must give a parameter the same name in all
    buckets; automatic names do, because each call counts from zero. The module of ``default_bucket_key`` owns the
    shared arrays; a batch chooses its module by its ``bucket_key``. A failed call changes nothing.

    Args:
        sym_gen: returns (symbol, data names, label names) of a bucket key.
        default_bucket_key: the key of the largest bucket.
        logger, context, work_load_list, fixed_param_names, state_names, group2ctxs, compression_params: arguments
            of every bucket's :class:`~refimpl.module.Module`.

    Raises:
        AssertionError: ``default_bucket_key`` is missing, or Module raises it.
        ValueError: ``sym_gen`` does not return three items, or a name is not an argument of the symbol.
        TypeError: ``sym_gen`` is not callable, or ``context`` is not made of Contexts.
    """

    def __init__(
        self, sym_gen: Callable[[Any], tuple[Any, Any, Any]], default_bucket_key: Any = None,
        logger: Any = logging, context: Context | Sequence[Context] = DEVICE,
        work_load_list: Sequence[float] | None = None, fixed_param_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None, group2ctxs: Any = None,
        compression_params: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(logger=logger)
        self._bucket_modules = Buckets(sym_gen, default_bucket_key, {
            "logger": logger, "context": context, "work_load_list": work_load_list,
            "fixed_param_names": fixed_param_names, "state_names": state_names,
            "group2ctxs": group2ctxs, "compression_params": compression_params,
        })

    # MXNet's names for the buckets, which scripts use
    _buckets = delegated("_bucket_modules.modules")
    _curr_module = delegated("_bucket_modules.current")
    _curr_bucket_key = delegated("_bucket_modules.current_key")
    _default_bucket_key = delegated("_bucket_modules.default_key")
    _sym_gen = delegated("_bucket_modules.sym_gen")
    _grad_req = delegated("_bucket_modules.grad_req")
    _monitors = delegated("_bucket_modules.monitors")

    @property
    def _owner(self) -> Module:
        """The module of the default bucket, which owns the shared arrays."""
        return self._bucket_modules.owner

    def _copy_flags(self) -> None:
        """Copy the flags of the life cycle from the default bucket."""
        vars(self).update({flag: getattr(self._owner, flag) for flag in STEPS})

    # --- names and shapes ------------------------------------------------------------------------

    @property
    def symbol(self) -> Any:
        """The symbol of the current bucket."""
        return self._curr_module.symbol

    @property
    def data_names(self) -> list[str]:
        """Names of the data inputs of the current bucket."""
        return self._curr_module.data_names

    @property
    def label_names(self) -> list[str]:
        """Names of the labels of the current bucket."""
        return self._curr_module.label_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs of the current bucket."""
        return self._curr_module.output_names

    @property
    def data_shapes(self) -> list[DataDesc]:
        """Descriptions of the data inputs of the current bucket."""
        return self._curr_module.data_shapes

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """Descriptions of the labels of the current bucket; None when bound without."""
        return self._curr_module.label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """(name, shape) of each merged output of the current bucket."""
        return self._curr_module.output_shapes

    # --- binding ---------------------------------------------------------------------------------

    @decides("Bucketing/rebind")
    def bind(
        self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True,
        inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Bind the default bucket; another bucket is bound with the same options when its first batch comes.

        :meth:`BaseModule.bind` explains the arguments. ``force_rebind`` also drops all other buckets.

        Raises:
            AssertionError: ``shared_module`` is given, or :meth:`Module.bind` raises it.
        """
        if self.binded and not force_rebind:
            self.logger.warning(ALREADY_BOUND)
            return
        if shared_module is not None:
            raise refusal(
                "Bucketing/shared", "buckets share with each other only: leave shared_module out", AssertionError
            )
        if self.params_initialized:
            self.get_params()
        with undo_shapes(self):
            self._owner.bind(
                data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind, grad_req=grad_req
            )
            self._bucket_modules.begin(grad_req, forget=self.binded)
            self._copy_flags()

    @decides("Bucketing/switch")
    def switch_bucket(self, bucket_key: Any, data_shapes: Any, label_shapes: Any = None) -> None:
        """Make the bucket of ``bucket_key`` the current one; the shapes are used only for a new bucket.

        Raises:
            AssertionError: the module is not bound, or the bucket is new and parameters have no values yet.
            TypeError: a new key comes without shapes, or a key is not hashable.
            MXNetError: a new bucket has a parameter that the default bucket does not have, or of another shape.
        """
        demand(self, "switch_bucket")
        self._bucket_modules.get(bucket_key, data_shapes, label_shapes, self.logger, choose=True)

    @decides("Bucketing/prepare")
    def prepare(self, data_batch: Any, sparse_row_id_fn: Callable | None = None) -> None:
        """Bind the bucket of ``data_batch`` if it is new; the current bucket stays."""
        demand(self, "prepare")
        _, module = self._bucket_modules.of_batch(data_batch, self.logger)
        module.prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)

    @decides("Bucketing/monitor")
    def install_monitor(self, mon: Any) -> None:
        """Install a monitor on every bucket, later ones included."""
        demand(self, "install_monitor")
        bound = self._bucket_modules.bound()
        groups = [module._exec_group for module in bound]
        watched = [vars(executor) for group in groups for executor in group.execs]
        with undo(self._monitors, getattr(mon, "exes", None), [group.monitors for group in groups], dicts=watched):
            for module in bound:
                module.install_monitor(mon)
            self._monitors.append(mon)

    # --- parameters -------------------------------------------------------------------

    @decides("Bucketing/params")
    def init_params(
        self, initializer: Initializer | Callable | None = INITIALIZER,
        arg_params: Mapping[str, Any] | None = None, aux_params: Mapping[str, Any] | None = None,
        allow_missing: bool = False, force_init: bool = False, allow_extra: bool = False,
    ) -> None:
        """Give every parameter of the default bucket, and so of all buckets, a value, as :meth:`Module.init_params`.

        A second call does nothing, unless ``force_init``.
        """
        if self.params_initialized and not force_init:
            return
        demand(self, "init_params")
        self._owner.init_params(
            initializer, arg_params, aux_params, allow_missing, force_init=True, allow_extra=allow_extra
        )
        self._copy_flags()

    def set_params(
        self, arg_params: Mapping[str, Any], aux_params: Mapping[str, Any] | None,
        allow_missing: bool = False, force_init: bool = True, allow_extra: bool = False,
    ) -> None:
        """Set parameters by name, see :meth:`Module.set_params`."""
        demand(self, "set_params")
        self._owner.set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
        self._copy_flags()

    @decides("Bucketing/params")
    def get_params(self) -> tuple[dict[str, NDArray], dict[str, NDArray]]:
        """Return (parameters, auxiliary states) of the default bucket, whatever bucket was trained."""
        demand(self, "get_params")
        return self._owner.get_params()

    # --- computation -----------------------------------------------------------------------------

    @decides("Bucketing/forward", "Bucketing/equals-padded", "Bucketing/same-result")
    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Compute the outputs of a batch in its bucket, which becomes the current one."""
        demand(self, "forward")
        key, module = self._bucket_modules.of_batch(data_batch, self.logger)
        with undo(dicts=[vars(self._bucket_modules)]):
            self._bucket_modules.choose(key, module)
            module.forward(data_batch, is_train=is_train)

    def forward_backward(self, data_batch: Any) -> None:
        """Forward in training mode, then backward."""
        demand(self, "forward_backward")
        super().forward_backward(data_batch)

    def backward(self, out_grads: Sequence[NDArray] | None = None) -> None:
        """Compute gradients in the current bucket."""
        demand(self, "backward")
        self._curr_module.backward(out_grads=out_grads)

    def get_outputs(self, merge_multi_context: bool = True) -> list:
        """Return the outputs of the current bucket."""
        demand(self, "get_outputs")
        return self._curr_module.get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context: bool = True) -> list:
        """Return the gradients of the data inputs of the current bucket."""
        demand(self, "get_input_grads")
        return self._curr_module.get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Add the last outputs of the current bucket and ``labels`` to a metric."""
        demand(self, "update_metric")
        self._curr_module.update_metric(eval_metric, labels, pre_sliced)

    def get_states(self, merge_multi_context: bool = True) -> list:
        """Return the states of the current bucket."""
        return self._curr_module.get_states(merge_multi_context=merge_multi_context)

    @decides("Bucketing/states")
    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Set the states of the current bucket."""
        self._curr_module.set_states(states, value)

    # --- optimizer -------------------------------------------------------------------------------

    @decides("Bucketing/optimizer")
    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),), force_init: bool = False,
    ) -> None:
        """Install an optimizer on the default bucket; every other bucket borrows it."""
        demand(self, "init_optimizer")
        if self.optimizer_initialized and not force_init:
            self.logger.warning(ALREADY_OPTIMIZED)
            return
        others = [module for module in self._bucket_modules.bound() if module is not self._owner]
        with undo_optimizer(self._owner, kvstore, optimizer), undo(dicts=[vars(self), *map(vars, others)]):
            self._owner.init_optimizer(kvstore, optimizer, optimizer_params, force_init=force_init)
            for module in others:
                module.borrow_optimizer(self._owner)
            self._copy_flags()

    @decides("Bucketing/equals-padded")
    def update(self) -> None:
        """Apply the gradients of the current bucket to the parameters that all share."""
        demand(self, "update")
        self._curr_module.update()

    def save_optimizer_states(self, fname: str) -> None:
        """Write the optimizer's states to a file."""
        demand(self, "save_optimizer_states")
        self._owner.save_optimizer_states(fname)

    def load_optimizer_states(self, fname: str, *, allow_other_params: bool = False) -> None:
        """Read the optimizer's states from a file, see :meth:`Module.load_optimizer_states`."""
        demand(self, "load_optimizer_states")
        self._owner.load_optimizer_states(fname, allow_other_params=allow_other_params)

    # --- files -----------------------------------------------------------------------------------

    @decides("Bucketing/checkpoint")
    def save_checkpoint(
        self, prefix: str, epoch: int, remove_amp_cast: bool = False, save_optimizer_states: bool = False
    ) -> None:
        """Write the symbol of every bucket, the list of keys, the parameters and, if asked, the optimizer states.

        Args:
            prefix, epoch: writes ``prefix-KEY-symbol.json``, ``prefix.buckets`` and ``prefix-%04d.params``.
            remove_amp_cast: bool, whether to leave the casts of mixed precision out of the symbols.
            save_optimizer_states: bool, whether to write ``prefix-%04d.states``, which needs an optimizer.

        Raises:
            TypeError: a key is not a whole number: ``prefix.buckets`` holds only int32 numbers.
        """
        demand(self, "save_checkpoint")
        if save_optimizer_states:
            demand(self, "save_optimizer_states")
        require_whole_numbers(self._buckets)
        symbols = {key: module.symbol for key, module in self._buckets.items()}
        with together():
            write_buckets(prefix, symbols, remove_amp_cast)
            self.save_params(f"{prefix}-{epoch:04d}.params")
            if save_optimizer_states:
                self.save_optimizer_states(f"{prefix}-{epoch:04d}.states")

    @staticmethod
    def load(
        prefix: str, epoch: int, sym_gen: Callable | None = None, default_bucket_key: Any = None,
        load_optimizer_states: bool = False, *, allow_other_params: bool = False, **kwargs: Any,
    ) -> BucketingModule:
        """Make a module from a checkpoint. Its parameters are set; bind the module to use it.

        Args:
            prefix, epoch: name the files of :meth:`save_checkpoint`.
            sym_gen, default_bucket_key: as for the constructor; both are needed.
            load_optimizer_states: bool, whether ``init_optimizer`` reads ``prefix-%04d.states`` too.
            allow_other_params: bool, whether ``init_optimizer`` takes states saved with another params file.
            kwargs: other arguments of the constructor.

        Raises:
            AssertionError: ``sym_gen`` or ``default_bucket_key`` is missing.
            MXNetError: a file is missing or damaged.
        """
        _require(sym_gen, "sym_gen is required for loading BucketingModule")
        _require(default_bucket_key, "default_bucket_key is required for loading BucketingModule")
        symbols, arg_params, aux_params, params = read_buckets(
            prefix, epoch, load_optimizer_states and not allow_other_params
        )
        module = BucketingModule.load_dict(
            symbols, sym_gen, default_bucket_key, arg_params, aux_params, **kwargs
        )
        if load_optimizer_states:
            module._owner._preload_opt_states = f"{prefix}-{epoch:04d}.states"
            module._owner._preload_params = params
        return module

    @staticmethod
    def load_dict(
        sym_dict: Mapping[Any, Any] | None = None, sym_gen: Callable | None = None,
        default_bucket_key: Any = None, arg_params: dict[str, NDArray] | None = None,
        aux_params: dict[str, NDArray] | None = None, **kwargs: Any,
    ) -> BucketingModule:
        """Make a module from symbols and parameters.

        Args:
            sym_dict: symbols by bucket key; a bucket without a symbol here gets the symbol of ``sym_gen``.
            sym_gen, default_bucket_key: as for the constructor.
            arg_params, aux_params: parameters and auxiliary states by name.
            kwargs: other arguments of the constructor.

        Raises:
            AssertionError: one of these five arguments is None.
        """
        _require(sym_dict, "sym_dict needs to be provided for BucketingModule.load_dict")
        _require(arg_params, "arg_params need to be provided for BucketingModule.load_dict")
        _require(aux_params, "aux_params need to be provided for BucketingModule.load_dict")
        _require(sym_gen, "sym_gen is required for loading BucketingModule")
        _require(default_bucket_key, "default_bucket_key is required for loading BucketingModule")
        module = BucketingModule(sym_gen, default_bucket_key, **kwargs)  # type: ignore[arg-type]  # not None
        for key, symbol in sym_dict.items():  # type: ignore[union-attr]  # not None, as required
            module._buckets[key] = module._bucket_modules.made(key, symbol)
        owner = module._curr_module = module._owner
        owner._arg_params, owner._aux_params = dict(arg_params or {}), dict(aux_params or {})
        owner.params_initialized = True
        module._copy_flags()
        return module


def _require(given: Any, message: str) -> None:
    if given is None:
        raise refusal("Bucketing/load", message, AssertionError)
