"""BucketingModule: one net in several lengths, each bound once, all with the same parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..base import decides, refusal
from ..files.atomic import together
from ..initializer import Initializer
from ..ndarray import NDArray
from ..ndarray.restoring import unchanged_on_failure
from .base_module import INITIALIZER
from .bucket_files import read_buckets, require_whole_numbers, write_buckets
from .buckets import Buckets
from .life_cycle import demand
from .rollback import shapes_kept_on_failure


class BucketingModule(Buckets):
    """A module per bucket key, all of them sharing parameters, gradients, memory and optimizer.

    ``sym_gen(key)`` gives (symbol, data names, label names); its symbols name their parameters alike, which
    automatic names do too because each call counts from zero. The module of ``default_bucket_key`` owns
    everything shared; a batch chooses its module by its ``bucket_key``. A failed call leaves everything as
    it was.

    Parameters
    ----------
    sym_gen, default_bucket_key : the maker of symbols, and the key of the largest one.
    logger, context, work_load_list, fixed_param_names, state_names, group2ctxs, compression_params : for
        every bucket, see :class:`~refimpl.module.Module`.

    Raises
    ------
    AssertionError : no ``default_bucket_key``, or what Module refuses so.
    ValueError : ``sym_gen`` does not return three things, or a name is not an argument of the symbol.
    TypeError : ``sym_gen`` is not callable, or ``context`` is not made of Contexts.
    """

    # --- binding ---------------------------------------------------------------------------------

    @decides("Bucketing/rebind")
    def bind(
        self, data_shapes: Any, label_shapes: Any = None, for_training: bool = True,
        inputs_need_grad: bool = False, force_rebind: bool = False, shared_module: Any = None,
        grad_req: Any = "write",
    ) -> None:
        """Bind the default bucket; the others are bound like it when their first batch comes.

        Bound already, it only warns, unless ``force_rebind``: then parameters and optimizer stay, and the
        other buckets are forgotten.

        Raises:
            AssertionError: ``shared_module`` is given, or what :meth:`Module.bind` refuses.
        """
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        if shared_module is not None:
            raise refusal(
                "Bucketing/shared", "shared_module for BucketingModule is not supported", AssertionError
            )
        if self.params_initialized:
            self.get_params()
        with shapes_kept_on_failure([self]):
            self._owner.bind(
                data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind, grad_req=grad_req
            )
            if self.binded:
                self._buckets = {self._default_bucket_key: self._owner}
            self._grad_req, self._monitors = grad_req, []
            self._largest = dict(self._owner.data_shapes)
            self._choose(self._default_bucket_key, self._owner)
            self._follow_owner()

    @decides("Bucketing/switch")
    def switch_bucket(self, bucket_key: Any, data_shapes: Any, label_shapes: Any = None) -> None:
        """Make the bucket of ``bucket_key`` the current one; shapes only matter the first time.

        Raises:
            AssertionError: not bound, or the bucket is new and parameters have no values yet.
            TypeError: a new key without shapes, or a key that cannot be looked up.
            MXNetError: a new bucket has a parameter that the default one has not, or of another shape.
        """
        demand(self, "switch_bucket")
        self._bucket(bucket_key, data_shapes, label_shapes, choose=True)

    @decides("Bucketing/prepare")
    def prepare(self, data_batch: Any, sparse_row_id_fn: Callable | None = None) -> None:
        """Bind the bucket of ``data_batch`` if it is new; the current bucket stays."""
        demand(self, "prepare")
        _, module = self._bucket_of(data_batch)
        module.prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)

    @decides("Bucketing/monitor")
    def install_monitor(self, mon: Any) -> None:
        """Install a monitor on every bucket, those to come included."""
        demand(self, "install_monitor")
        bound = [module for module in self._buckets.values() if module.binded]
        groups = [module._exec_group for module in bound]
        watched = [vars(executor) for group in groups for executor in group.execs]
        with unchanged_on_failure(
            self._monitors, getattr(mon, "exes", None), [group.monitors for group in groups], shallow=watched
        ):
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
        """Give every parameter of the default bucket, and so of all, a value; once, unless ``force_init``."""
        if self.params_initialized and not force_init:
            return
        demand(self, "init_params")
        self._owner.init_params(
            initializer, arg_params, aux_params, allow_missing, force_init=True, allow_extra=allow_extra
        )
        self._follow_owner()

    def set_params(
        self, arg_params: Mapping[str, Any], aux_params: Mapping[str, Any] | None,
        allow_missing: bool = False, force_init: bool = True, allow_extra: bool = False,
    ) -> None:
        """Set parameters by name, see :meth:`Module.set_params`."""
        demand(self, "set_params")
        self._owner.set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
        self._follow_owner()

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
        key, module = self._bucket_of(data_batch)
        before = self._curr_bucket_key, self._curr_module
        try:
            self._choose(key, module)
            module.forward(data_batch, is_train=is_train)
        except BaseException:
            self._choose(*before)
            raise

    # --- optimizer -------------------------------------------------------------------------------

    @decides("Bucketing/optimizer")
    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),), force_init: bool = False,
    ) -> None:
        """Install an optimizer on the default bucket; every other one borrows it."""
        demand(self, "init_optimizer")
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring.")
            return
        others = [module for module in self._buckets.values() if module is not self._owner and module.binded]
        with (
            self._owner._optimizer_kept_on_failure(kvstore, optimizer),
            unchanged_on_failure(shallow=[vars(self), *map(vars, others)]),
        ):
            self._owner.init_optimizer(kvstore, optimizer, optimizer_params, force_init=force_init)
            for module in others:
                module.borrow_optimizer(self._owner)
            self._follow_owner()

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
        """Write ``prefix-KEY-symbol.json`` per bucket, ``prefix.buckets``, and what a Module writes.

        Raises:
            TypeError: a key is not a whole number, which is all that ``prefix.buckets`` can hold.
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
        """Make a module from a checkpoint; ``kwargs`` go to the constructor. Bind it to use it.

        Optimizer states are read by ``init_optimizer``, see :meth:`Module.load`.

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
        """Make a module from symbols by bucket key and parameters by name.

        A bucket without a symbol here gets that of ``sym_gen``.

        Raises:
            AssertionError: one of the five is missing.
        """
        _require(sym_dict, "sym_dict needs to be provided for BucketingModule.load_dict")
        _require(arg_params, "arg_params need to be provided for BucketingModule.load_dict")
        _require(aux_params, "aux_params need to be provided for BucketingModule.load_dict")
        _require(sym_gen, "sym_gen is required for loading BucketingModule")
        _require(default_bucket_key, "default_bucket_key is required for loading BucketingModule")
        module = BucketingModule(sym_gen, default_bucket_key, **kwargs)  # type: ignore[arg-type]  # not None
        for key, symbol in sym_dict.items():  # type: ignore[union-attr]  # not None, as required
            module._buckets[key] = module._made(key, symbol)
        owner = module._curr_module = module._owner
        owner._arg_params, owner._aux_params = dict(arg_params or {}), dict(aux_params or {})
        owner.params_initialized = True
        module._follow_owner()
        return module


def _require(given: Any, message: str) -> None:
    if given is None:
        raise refusal("Bucketing/load", message, AssertionError)
