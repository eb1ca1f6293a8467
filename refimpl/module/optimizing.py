"""The optimizer side of Module: where updates happen, and the files of optimizer states."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from .. import optimizer as opt
from ..base import decides, refusal
from ..context import Context
from ..kvstore import KVStore
from ..model import (
    _create_kvstore,
    _initialize_kvstore,
    _update_params,
    _update_params_on_kvstore,
)
from ..ndarray import NDArray
from ..ndarray.restoring import unchanged_on_failure
from ..optimizer import states
from ..quirks import declare
from .base_module import BaseModule
from .executor_group import DataParallelExecutorGroup
from .life_cycle import demand
from .state_files import ParamsFile, read_states, set_states

_KEEPS = declare(
    "store-keeps-weights", "Module/params-reach-store",
    "a store that updates goes on from its own weights: the next update takes set_params and init_params back",
    "values that were set would be lost, on several contexts only",
)
_ROW_SPARSE = "1"
"""What the attribute ``__storage_type__`` of a row_sparse variable says."""

_OF_THE_OPTIMIZER = (
    "_optimizer", "_kvstore", "_update_on_kvstore", "_updater", "_indexed_names", "_indexed_contexts",
)


class Devices:
    """What modules that share parameters know together: whether the contexts have newer ones than the host."""

    def __init__(self) -> None:
        self.newer = False


class OptimizingModule(BaseModule):
    """A module that owns an optimizer; ``Module`` adds the symbol, parameters and executors.

    Updates happen in one of three places:

    * on the store, when it holds the optimizer: gradients are pushed, new weights pulled;
    * beside the weights, after the store has summed the gradients of all contexts;
    * beside the weights, without a store: contexts then know nothing of each other.
    """

    # Module sets these before any method here is called
    _exec_group: DataParallelExecutorGroup
    _context: list[Context]
    _arg_params: dict[str, NDArray]
    _aux_params: dict[str, NDArray]
    _compression_params: Mapping[str, Any] | None

    def __init__(self, logger: Any) -> None:
        super().__init__(logger=logger)
        self._devices = Devices()
        self._optimizer: Any = None
        self._kvstore: Any = None
        self._update_on_kvstore: bool | None = None
        self._updater: Any = None
        self._preload_opt_states: str | None = None
        self._preload_params: ParamsFile | None = None
        # the parameters behind the optimizer's indices and the contexts per index; borrowers share both
        self._indexed_names: list[str] = []
        self._indexed_contexts = 1

    @property
    def _params_dirty(self) -> bool:
        """Whether the contexts have newer parameters than the host's copy."""
        return self._devices.newer

    @_params_dirty.setter
    def _params_dirty(self, newer: bool) -> None:
        self._devices.newer = newer

    @decides("Module/optimizer-twice")
    def init_optimizer(
        self, kvstore: Any = "local", optimizer: Any = "sgd",
        optimizer_params: Any = (("learning_rate", 0.01),), force_init: bool = False,
    ) -> None:
        """Install an optimizer (a name or an Optimizer) and the store that contexts meet in.

        ``rescale_grad`` defaults to 1 / batch size, of the whole batch, and stays what it is when the
        batch changes. A second call only warns, unless ``force_init``.

        Raises:
            ValueError: an unknown optimizer name.
            TypeError: ``kvstore`` is not a store, a name or None; an unknown optimizer parameter.
            AssertionError: ``optimizer`` is neither a name nor an Optimizer.
        """
        demand(self, "init_optimizer")
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring...")
            return
        with self._optimizer_kept_on_failure(kvstore, optimizer):
            self._install_optimizer(kvstore, optimizer, optimizer_params)

    @decides("Module/failed-optimizer")
    def _optimizer_kept_on_failure(self, kvstore: Any, optimizer: Any) -> AbstractContextManager[None]:
        """A block that installs an optimizer; when it fails, the store and the optimizer given are as before."""
        given = [vars(one) for one in (kvstore, optimizer) if hasattr(one, "__dict__")]
        stored = [kvstore._stored] if type(kvstore) is KVStore else []
        return unchanged_on_failure(
            self._exec_group.param_arrays, shallow=[vars(self), vars(self._devices), *given, *stored]
        )

    @decides("Module/compression", "Module/rescale", "Cluster/module")
    def _install_optimizer(self, kvstore: Any, optimizer: Any, optimizer_params: Any) -> None:
        content = b""
        if self._preload_opt_states is not None:
            content = read_states(self._preload_opt_states, self._preload_params)
        arg_params, _ = self.get_params()
        group = self._exec_group
        store, on_store = _create_kvstore(kvstore, len(self._context), arg_params)
        rows = group.batch_size or 1
        if store and "dist" in store.type and "_sync" in store.type:
            rows *= store.num_workers
        optimizer = self._made_optimizer(optimizer, optimizer_params, 1.0 / rows, on_store)

        updater = None if on_store else opt.get_updater(optimizer)
        if store:
            if self._compression_params:
                store.set_gradient_compression(self._compression_params)
            if on_store:
                store.set_optimizer(optimizer)
            _initialize_kvstore(
                kvstore=store, param_arrays=group.param_arrays, arg_params=arg_params,
                param_names=group.param_names, update_on_kvstore=on_store,
            )
        if self._preload_opt_states is not None:
            weights = _numbered(group.param_arrays, len(self._context))
            set_states(content, self._preload_opt_states, store, updater, weights)
            self._preload_opt_states = self._preload_params = None
        self._optimizer, self._kvstore = optimizer, store
        self._update_on_kvstore, self._updater = on_store, updater
        self._indexed_names, self._indexed_contexts = list(group.param_names), len(self._context)
        self.optimizer_initialized = True

    @decides("Module/index-names")
    def _made_optimizer(self, optimizer: Any, params: Any, rescale_grad: float, on_store: bool) -> Any:
        """An optimizer that knows the names of the parameters behind its indices."""
        names = self._exec_group.param_names
        count = 1 if on_store else len(self._context)
        index_names = {
            index * count + context: name
            for index, name in enumerate(names)
            for context in range(count)
        }
        if isinstance(optimizer, str):
            settings = {"rescale_grad": rescale_grad, **dict(params)}
            return opt.create(optimizer, sym=self._symbol, param_idx2name=index_names, **settings)
        if not isinstance(optimizer, opt.Optimizer):
            raise refusal(
                "Module/optimizer-kind",
                f"optimizer must be a name or an Optimizer, not {type(optimizer).__name__}",
                AssertionError,
            )
        if optimizer.rescale_grad != rescale_grad:
            warnings.warn(
                "Optimizer created manually outside Module but rescale_grad is not normalized to "
                f"1.0/batch_size/num_workers ({optimizer.rescale_grad} vs. {rescale_grad}). "
                "Is this intended?",
                stacklevel=3,
            )
        if not optimizer.idx2name:
            optimizer.idx2name = index_names
        return optimizer

    def borrow_optimizer(self, shared_module: Any) -> None:
        """Use the optimizer, store and states of another module.

        Parameters that both have meet in one state, whatever their order is here and there.
        """
        demand(shared_module, "borrow_optimizer")
        borrowed = {name: getattr(shared_module, name) for name in _OF_THE_OPTIMIZER}
        vars(self).update(borrowed, optimizer_initialized=True)  # in one step, which nothing interrupts

    @decides("Module/recorded-steps")
    def update(self) -> None:
        """Apply the gradients of the last backward to the parameters of every context."""
        demand(self, "update")
        self._params_dirty = True
        group = self._exec_group
        if self._update_on_kvstore:
            _update_params_on_kvstore(
                group.param_arrays, group.grad_arrays, self._kvstore, group.param_names
            )
        else:
            weights, gradients = self._by_index()
            _update_params(
                weights, gradients, updater=self._updater, kvstore=self._kvstore,
                num_device=max(self._indexed_contexts, len(self._context)), param_names=self._indexed_names,
            )

    @decides("Module/params-atomic")
    def _values_kept_on_failure(self) -> AbstractContextManager[None]:
        """A block that sets parameters; they, and what updates them, are as before when it fails."""
        group, store = self._exec_group, self._kvstore
        owned = (store._stored, store._unsent, store._updater) if type(store) is KVStore else ()
        return unchanged_on_failure(
            self._arg_params, self._aux_params, group.param_arrays, group.aux_arrays, self._updater, *owned,
            kinds=opt.REMEMBERING, shallow=[vars(self), vars(self._devices)],
        )

    def _tell_store(self) -> None:
        """Let who updates the parameters know of those just set; states stay as they are."""
        if not self.optimizer_initialized or _KEEPS.active:
            return
        if not self._update_on_kvstore:
            for index, weight in self._numbered_weights().items():
                self._updater.adopt(index, weight)
            return
        replace = getattr(self._kvstore, "replace", None)
        if replace is None or self._kvstore.num_workers > 1:
            return  # a store of the user's own, or weights that other workers train too
        for name, copies in zip(self._exec_group.param_names, self._exec_group.param_arrays, strict=True):
            replace(name, copies[0])

    def _numbered_weights(self) -> dict[int, Any]:
        """The weights of every context, by the number that an updater knows them by."""
        weights, _ = self._by_index()
        return _numbered(weights, max(self._indexed_contexts, len(self._context)))

    @decides("Module/borrow-names")
    def _by_index(self) -> tuple[list[Any], list[Any]]:
        """Weights and gradients in the order of the optimizer's indices; what is not here has none."""
        group, names = self._exec_group, self._indexed_names
        if group.param_names == names:
            return group.param_arrays, group.grad_arrays
        names.extend(name for name in group.param_names if name not in names)
        here = dict(
            zip(group.param_names, zip(group.param_arrays, group.grad_arrays, strict=True), strict=True)
        )
        found = [here.get(name, ([], [None])) for name in names]
        return [weights for weights, _ in found], [gradients for _, gradients in found]

    def save_optimizer_states(self, fname: str) -> None:
        """Write the optimizer's states to a file."""
        demand(self, "save_optimizer_states")
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname)
        else:
            states.save(fname, self._updater.get_states())

    def load_optimizer_states(self, fname: str, *, allow_other_params: bool = False) -> None:
        """Read the optimizer's states from a file of :meth:`save_optimizer_states` or :meth:`save_checkpoint`.

        Raises:
            MXNetError: the file is damaged, or was saved with another params file than lies beside it and
                ``allow_other_params`` is off.
            OSError: it cannot be read.
        """
        demand(self, "load_optimizer_states")
        content = read_states(fname, ParamsFile("", None) if allow_other_params else None)
        set_states(content, fname, self._kvstore, self._updater, self._numbered_weights())

    def prepare(self, data_batch: Any, sparse_row_id_fn: Callable | None = None) -> None:
        """Check which rows of row_sparse parameters ``data_batch`` will need.

        ``sparse_row_id_fn(data_batch)`` returns {parameter name: row ids}. A module holds parameters
        dense, and an update brings all of their rows, so that there is nothing to pull.

        Raises:
            AssertionError: ``sparse_row_id_fn`` does not return a dict.
            ValueError: it names what is no parameter.
        """
        demand(self, "prepare")
        if sparse_row_id_fn is None:
            return
        if not self._kvstore or not self._update_on_kvstore:
            warnings.warn(
                "Parameters are not updated in the KVStore. No need to call sparse_row_id_fn.", stacklevel=2
            )
            return
        names = self._exec_group.param_names
        rows = sparse_row_id_fn(data_batch)
        if not isinstance(rows, dict):
            raise refusal(
                "Module/sparse-rows",
                "Expected dict output from sparse_row_id_fn, {parameter name: row ids}, not "
                f"{type(rows).__name__}",
                AssertionError,
            )
        declared = self._symbol.attr_dict()
        for name in rows:
            if name not in names:
                raise refusal(
                    "Module/sparse-rows", f"sparse_row_id_fn names {name!r}, the parameters are {names}",
                    ValueError,
                )
            if declared.get(name, {}).get("__storage_type__") != _ROW_SPARSE:
                warnings.warn(f"{name}.stype is not 'row_sparse'. No need to pull rows.", stacklevel=2)


def _numbered(weights: Sequence[Sequence[Any]], contexts: int) -> dict[int, Any]:
    """Weights, each on several contexts, by the numbers that an updater knows them by."""
    return {
        index * contexts + context: weight for index, copies in enumerate(weights)
        for context, weight in enumerate(copies)
    }


@decides("Module/shared-module")
def group_to_share(shared_module: Any, contexts: int) -> DataParallelExecutorGroup:
    """The executor group of a module that another one, with so many contexts, may share with.

    Raises:
        AssertionError: it is no Module, not ready, or runs on fewer contexts.
    """
    if not isinstance(shared_module, OptimizingModule):
        raise refusal(
            "Module/shared-kind",
            f"shared_module must be a Module, not {type(shared_module).__name__}", AssertionError,
        )
    demand(shared_module, "bind to a shared module")
    group = shared_module._exec_group
    if len(group.execs) < contexts:
        raise refusal(
            "Module/shared-contexts",
            f"shared_module runs on {len(group.execs)} contexts, fewer than the {contexts} here",
            AssertionError,
        )
    return group
