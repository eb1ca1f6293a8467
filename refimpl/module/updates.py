"""Updates: the optimizer, the store and the optimizer states of a module."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from .. import ndarray as nd
from .. import optimizer as opt
from ..base import decides, refusal
from ..kvstore import KVStore
from ..model import _create_kvstore, _initialize_kvstore
from ..ndarray import NDArray
from ..ndarray.undo import undo
from ..optimizer import states
from ..quirks import declare
from .executor_group import DataParallelExecutorGroup
from .parameters import sparse_rows
from .state_files import set_states

_KEEPS = declare(
    "store-keeps-weights", "Module/params-reach-store",
    "a store that updates goes on from its own weights: the next update takes set_params and init_params back",
    "values that were set would be lost, on several contexts only",
)


class Updates:
    """What updates the parameters of a module, in one of three ways; :meth:`Module.update` calls it.

    * On the store, when the store holds the optimizer: gradients are pushed, new weights pulled.
    * On the contexts, after the store has summed the gradients of all contexts.
    * On the contexts, without a store: each context then learns from its own gradients only.

    Args and attributes:
        optimizer: an Optimizer; None before ``init_optimizer``.
        kvstore: the store, or None.
        update_on_kvstore: whether the store holds the optimizer; None before ``init_optimizer``.
        names: the parameters in the order of the optimizer's indices; modules that share parameters share this list.
        contexts: the number of contexts for which the optimizer's indices were given.

    ``updater`` calls the optimizer for weights on the contexts; None when the store holds the optimizer.
    """

    def __init__(
        self, optimizer: opt.Optimizer | None = None, kvstore: Any = None, update_on_kvstore: bool | None = None,
        names: Sequence[str] = (), contexts: int = 1,
    ) -> None:
        self.optimizer: Any = optimizer
        self.kvstore = kvstore
        self.update_on_kvstore = update_on_kvstore
        self.updater: Any = None if optimizer is None or update_on_kvstore else opt.get_updater(optimizer)
        self.names = list(names)
        self.contexts = contexts

    def borrowed(self) -> Updates:
        """The same optimizer, store and states for another module with the same parameters."""
        return copy.copy(self)

    def adopt(self, group: DataParallelExecutorGroup, names: Container[str]) -> None:
        """Let the updater or the store use the new values of parameters ``names``; optimizer states do not change."""
        if _KEEPS.active or self.optimizer is None:
            return
        if not self.update_on_kvstore:
            for index, weight in self._numbered_weights(group).items():
                self.updater.adopt(index, weight)
            return
        replace = getattr(self.kvstore, "replace", None)
        if replace is None or self.kvstore.num_workers > 1:
            return  # a user's own store, or weights that other workers train too
        for name, copies in zip(group.param_names, group.param_arrays, strict=True):
            if name in names or not copies[0].is_sparse:  # a sparse copy may lack rows
                replace(name, copies[0])

    @decides("Module/sparse-rows")
    def pull_rows(
        self, group: DataParallelExecutorGroup, sparse_row_id_fn: Callable[[Any], Any], data_batch: Any
    ) -> None:
        """Pull the rows that ``sparse_row_id_fn(data_batch)`` returns; it is called only if the store updates.

        Raises:
            AssertionError: ``sparse_row_id_fn`` does not return a dict, or row ids are no NDArrays.
            ValueError: a name in the dict is not the name of a parameter.
            MXNetError: a row id is out of range; no parameter has changed then.
        """
        if not self.kvstore or not self.update_on_kvstore:
            warnings.warn(
                "Parameters are not updated in the KVStore. No need to call sparse_row_id_fn.", stacklevel=3
            )
            return
        names, arrays = group.param_names, group.param_arrays
        wanted = sparse_rows(sparse_row_id_fn(data_batch), names, arrays)
        with undo([arrays[names.index(name)] for name in wanted]):
            for name, ids in wanted.items():
                self.kvstore.row_sparse_pull(name, arrays[names.index(name)], row_ids=ids)

    @decides("Module/sparse-parameters")
    def pull_all_rows(self, values: Mapping[str, NDArray]) -> None:
        """Fill row_sparse ``values`` with all rows from a store that updates; contexts only have the pulled rows."""
        if not self.update_on_kvstore or not isinstance(self.kvstore, KVStore):
            return
        for name in self.names:
            value = values.get(name)
            if value is not None and value.stype == "row_sparse":
                self.kvstore.row_sparse_pull(name, value, row_ids=nd.arange(value.shape[0], dtype="int64"))

    # --- optimizer states ------------------------------------------------------------------------

    def save_states(self, fname: str) -> None:
        """Write the optimizer's states to a file."""
        if self.update_on_kvstore:
            self.kvstore.save_optimizer_states(fname)
        else:
            states.save(fname, self.updater.get_states())

    def set_states(self, content: bytes, fname: str, group: DataParallelExecutorGroup) -> None:
        """Take the optimizer's states from the ``content`` of the file ``fname``."""
        set_states(content, fname, self.kvstore, self.updater, self._numbered_weights(group))

    def changed_by_steps(self) -> list[Any]:
        """The updater and the tables of the store: all that changes in an update, beside parameters on the contexts."""
        store = self.kvstore
        return [self.updater, *((store._stored, store._unsent, store._updater) if type(store) is KVStore else ())]

    # --- the numbers of parameters ---------------------------------------------------------------

    def indices_per_name(self, group: DataParallelExecutorGroup) -> int:
        """The number of the updater's indices for one parameter: one per context."""
        return max(self.contexts, len(group.contexts))

    def _numbered_weights(self, group: DataParallelExecutorGroup) -> dict[int, Any]:
        """The weights of every context, by their index in the updater."""
        weights, _ = self.by_index(group)
        count = self.indices_per_name(group)
        return {
            index * count + context: weight for index, copies in enumerate(weights)
            for context, weight in enumerate(copies)
        }

    @decides("Module/borrow-names")
    def by_index(self, group: DataParallelExecutorGroup) -> tuple[list[Any], list[Any]]:
        """Weights and gradients in the order of ``names``; empty for a name that ``group`` lacks."""
        names = self.names
        gradients = group.grad_arrays or [[None] * len(copies) for copies in group.param_arrays]
        if group.param_names == names:
            return group.param_arrays, gradients
        names.extend(name for name in group.param_names if name not in names)
        here = dict(
            zip(group.param_names, zip(group.param_arrays, gradients, strict=True), strict=True)
        )
        found = [here.get(name, ([], [None])) for name in names]
        return [weights for weights, _ in found], [ours for _, ours in found]


@decides("Module/compression", "Module/rescale", "Cluster/module")
def install(
    kvstore: Any, optimizer: Any, optimizer_params: Any, group: DataParallelExecutorGroup,
    arg_params: Mapping[str, NDArray], compression_params: Mapping[str, Any] | None, wrap: Callable[[Any], Any],
) -> Updates:
    """Make the Updates for the parameters of ``group``, and initialise the parameters in the store.

    Args:
        kvstore, optimizer, optimizer_params: the arguments of ``init_optimizer``.
        group: the executors whose parameters are updated.
        arg_params: the parameters on the host, by name.
        compression_params: settings of the store's gradient compression, or None.
        wrap: returns the optimizer to install in the place of ``optimizer``.
    """
    store, on_store = _create_kvstore(kvstore, len(group.contexts), arg_params)
    rows = group.batch_size or 1
    if store and "dist" in store.type and "_sync" in store.type:
        rows *= store.num_workers
    made = wrap(_made_optimizer(optimizer, optimizer_params, group, 1.0 / rows, on_store))
    updates = Updates(made, store, on_store, group.param_names, len(group.contexts))
    if store:
        if compression_params:
            store.set_gradient_compression(compression_params)
        if on_store:
            store.set_optimizer(made)
        _initialize_kvstore(
            kvstore=store, param_arrays=group.param_arrays, arg_params=arg_params,
            param_names=group.param_names, update_on_kvstore=on_store,
        )
    return updates


def _kind(optimizer: Any) -> str:
    """The name of a wrong ``optimizer`` argument in an error message."""
    if isinstance(optimizer, type):
        return f"the class {optimizer.__name__}; call it, as in optimizer={optimizer.__name__}()"
    return type(optimizer).__name__


@decides("Module/index-names")
def _made_optimizer(
    optimizer: Any, params: Any, group: DataParallelExecutorGroup, rescale_grad: float, on_store: bool
) -> opt.Optimizer:
    """Return an optimizer that knows the names of the parameters behind its indices.

    Args:
        optimizer: a name, or an Optimizer, which gets the parameters' names only if it has none.
        params: settings by name, or pairs, for an optimizer that is made by its name.
        group: the executors whose parameters the optimizer will update.
        rescale_grad: the factor on gradients, unless ``params`` has another.
        on_store: whether the store updates; a parameter then has one index, not one for each context.

    Raises:
        AssertionError: ``optimizer`` is neither a name nor an Optimizer.
        ValueError: the name is unknown.
        TypeError: ``params`` has an unknown setting.
    """
    count = 1 if on_store else len(group.contexts)
    index_names = {
        index * count + context: name
        for index, name in enumerate(group.param_names)
        for context in range(count)
    }
    if isinstance(optimizer, str):
        settings = {"rescale_grad": rescale_grad, **dict(params)}
        return opt.create(optimizer, sym=group.symbol, param_idx2name=index_names, **settings)
    if not isinstance(optimizer, opt.Optimizer):
        raise refusal(
            "Module/optimizer-kind",
            f"optimizer must be a name or an Optimizer, not {_kind(optimizer)}",
            AssertionError,
        )
    if optimizer.rescale_grad != rescale_grad:
        warnings.warn(
            # scripts silence MXNet's warning by its first words
            f"Optimizer created manually outside Module: its rescale_grad is {optimizer.rescale_grad}; one that is made"
            f" by its name has {rescale_grad}, 1 / (rows of a batch * workers)",
            stacklevel=3,
        )
    if not optimizer.idx2name:
        optimizer.idx2name = index_names
    return optimizer
