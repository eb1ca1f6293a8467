"""The store of one process: ``_push_one`` and ``_sum`` have the rules of a push, ``_pull_one`` of a pull."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from .. import optimizer as opt
from ..base import decides, refusal, require
from ..context import _DEFAULT as HOST
from ..context import Context
from ..kernels.foundation import Buffer, NoParams, allocate, get
from ..kernels.foundation import run as runner
from ..log import LOG
from ..ndarray import NDArray
from ..optimizer import states, updater
from ..quirks import declare
from . import row_sparse
from .compression import TwoBit, working_type
from .interface import KVStoreBase
from .pairs import Groups, Key, paired, require_alike, require_shape

UpdateFunction = Callable[[Any, NDArray, NDArray], None]

# The number of arrays in a group that is added up before its sum joins the total; see `_sum`.
GROUP = {"local": 4, "device": 1}

_ALIAS = declare(
    "kvstore-alias", "KVStore/push-copies",
    "a single pushed array becomes the stored one, and an updater is handed the caller's array itself",
    "later writes to the array would change the store, and an updater the caller's gradient",
)
_PRINTED = declare(
    "kvstore-updater-errors", "KVStore/updater-errors",
    "an exception in an updater is printed, and training goes on with what the updater left",
    "an error is raised",
)
_STALE = declare(
    "rows-stale", "KVStore/held-rows",
    "an update leaves row_sparse weights on the devices as they were pulled last",
    "a training without sparse_row_id_fn would compute every gradient at the first weights",
)


class KVStore(KVStoreBase):
    """Arrays by key: made by :func:`mx.kv.create`.

    A key is an int or a string; all keys of a store have the same type. Every method that takes a key and an array also
    takes a key with a list of arrays (one per device), and a list of keys with an equally long list of either.
    ``priority`` is an int: a call of higher priority may be carried out earlier. It never changes a result here.
    """

    def __init__(self, name: str = "local") -> None:
        self._type = name
        self._mode = "device" if "device" in name else "local"
        self._stored: dict[Key, NDArray] = {}
        self._key_kind: type | None = None
        self._updater: UpdateFunction | None = None
        self._compression: TwoBit | None = None
        self._unsent: dict[tuple[Key, int], NDArray] = {}  # residuals, by key and place in the list of its arrays
        self._told = False

    # --- the two rules ---------------------------------------------------------------------------

    @decides("KVStore/push-replaces", "KVStore/updater", "KVStore/updater-key")
    def _push_one(self, key: Key, arrays: list[NDArray]) -> None:
        """Add up the pushed arrays; the sum replaces the stored array, or the updater is called with both."""
        stored = self._stored[key]
        unsent: dict[tuple[Key, int], NDArray] = {}
        if self._compression is not None:
            arrays, unsent = self._compressed(key, arrays, stored)
        merged = self._sum(key, arrays, stored)
        if self._updater is None:
            self._stored[key] = merged
        else:
            if stored.context is not merged.context and stored.context.memory != merged.context.memory:
                # the weight moves to the context of its summed gradient
                stored = self._stored[key] = stored.as_in_context(merged.context)
            try:
                self._updater(key.encode() if isinstance(key, str) else key, merged, stored)
            except Exception:
                if not _PRINTED.active:
                    raise
                traceback.print_exc()
        self._unsent |= unsent  # last, so that a failed push can be repeated

    @decides("KVStore/pull-copies")
    def _pull_one(self, key: Key, targets: list[NDArray]) -> None:
        """Copy the stored array into every target, cast to the target's dtype; the shapes are right."""
        stored = self._find(key)
        for target in targets:
            stored.copyto(target)

    def _sum(self, key: Key, arrays: list[NDArray], stored: NDArray) -> NDArray:
        """The sum of ``arrays``, in new memory.

        local: total = a0 + (a1 + a2 + a3 + a4) + (a5 + ...) ..., groups of four, each from the left.
        device: total = a0 + a1 + a2 + ..., from the left.
        Several arrays are cast to the stored type first.
        """
        context = HOST if self._mode == "local" else arrays[0].context
        for array in arrays:
            if array.is_sparse:
                row_sparse.require_rows(key, arrays, stored)
                return row_sparse.summed(arrays, context)
        if len(arrays) > 1 or self._updater is None:  # an updater may take a single array of another shape
            require_alike(key, arrays, stored)
        if len(arrays) > 1:
            return added_up(arrays, context, stored.dtype, GROUP[self._mode])
        if _ALIAS.active:
            return arrays[0] if arrays[0].context.memory == context.memory else arrays[0].as_in_context(context)
        return arrays[0].copyto(context)  # type: ignore[return-value]  # a Context gives an NDArray

    # --- calls -----------------------------------------------------------------------------------

    @decides("KVStore/init-copies")
    def init(self, key: Any, value: Any) -> None:
        """Give keys their first arrays, which are copied. An updater is not called.

        Raises:
            MXNetError: a key has an array already, or both int and str keys are used.
            AssertionError: keys and values do not pair up, or a key is neither int nor str.
        """
        made: dict[Key, NDArray] = {}
        twice: Key | None = None
        for name, array in self._pairs(key, value):
            if name in self._stored or name in made:
                twice = name
                break
            context = HOST if self._mode == "local" else array.context
            made[name] = array.copyto(context)  # type: ignore[assignment]  # a Context gives an NDArray
        self._stored |= made  # not reached when memory for one array is missing
        require(
            "KVStore/duplicate-init", twice is None,
            f"duplicate init of key {twice!r}: a key is initialised once; push to change its array",
        )

    def push(self, key: Any, value: Any, priority: int = 0) -> None:
        """Add up arrays by key and store the sums, or hand them to the updater.

        Raises:
            MXNetError: a key was not initialised, or arrays of a key do not have the stored shape (with an updater, a
                single array may have another shape).
            AssertionError: keys and values do not pair up.
        """
        groups = self._grouped(key, value, priority)
        with self._undo(groups):
            for name, arrays in groups:
                self._push_one(name, arrays)

    @decides("KVStore/atomic")
    def _undo(self, groups: Groups, targets: Groups = ()) -> AbstractContextManager[None]:
        """A block that pushes ``groups`` and pulls into ``targets``. If it fails, store and targets are as before."""
        names = [*dict(groups)]
        written = [] if self._updater is None else [*map(self._stored.get, names)]
        for _, arrays in targets:
            written += arrays
        return updater.undo_updates(self._updater, names, written, (self._stored, self._unsent))

    def pull(self, key: Any, out: Any = None, priority: int = 0, ignore_sparse: bool = True) -> None:
        """Copy stored arrays into ``out``.

        Args:
            key: a key, or a list of keys.
            out: the arrays to copy into.
            priority: see :class:`KVStore`.
            ignore_sparse: whether to leave sparse arrays in ``out`` as they are.

        Raises:
            MXNetError: a key was not initialised, or a shape differs.
            AssertionError: ``out`` is missing, or keys and arrays do not pair up.
        """
        require("KVStore/pull-out", out is not None, "pull needs out=, an array or a list", AssertionError)
        self._pull_all(self._targets(key, out, ignore_sparse, priority))

    @decides("KVStore/pull-sparse")
    def _targets(self, key: Any, out: Any, ignore_sparse: bool = True, priority: Any = 0) -> Groups:
        """The arrays to pull into, by key, with their shapes checked."""
        groups = self._grouped(key, out, priority)
        groups = [(name, self._dense(targets)) for name, targets in groups] if ignore_sparse else groups
        for name, targets in groups:
            for target in targets:
                require_shape(name, self._find(name).shape, target)
        return groups

    def _pull_all(self, groups: Groups) -> None:
        for name, targets in groups:
            self._pull_one(name, targets)

    def _dense(self, targets: list[NDArray]) -> list[NDArray]:
        """The dense arrays among ``targets``; sparse arrays are left out, which is logged once for each store."""
        kept = [target for target in targets if not target.is_sparse]
        if len(kept) < len(targets) and not self._told:
            self._told = True
            LOG.info(
                "pull leaves sparse arrays alone: use row_sparse_pull with row_ids, or pull with ignore_sparse=False"
            )
        return kept

    def row_sparse_pull(self, key: Any, out: Any = None, priority: int = 0, row_ids: Any = None) -> None:
        """Copy rows of stored row_sparse arrays into row_sparse arrays; rows that are not stored are zeros.

        Args:
            key: a key, or a list of keys.
            out: the arrays to copy into.
            priority: see :class:`KVStore`.
            row_ids: the ids of the rows, in any order, repeated ids allowed: an array for all of ``out``, or lists of
                arrays like ``out``.

        Raises:
            AssertionError: ``out`` or ``row_ids`` is missing or no NDArray, or they do not pair up.
            MXNetError: a key was not initialised, an array is not row_sparse, shapes differ, or an id is out of range.
        """
        require(
            "KVStore/row-ids", out is not None and row_ids is not None,
            "row_sparse_pull needs out= and row_ids=, arrays or lists", AssertionError,
        )
        if not isinstance(key, (list, tuple)):
            targets = [array for _, array in self._pairs(key, out, priority)]
            self._find(key)
            for target, ids in zip(targets, row_sparse.paired(targets, row_ids), strict=True):
                row_sparse.pull(key, self._holding(key, ids), target, ids)
            return
        for given in (out, row_ids):
            require(
                "KVStore/lengths", isinstance(given, (list, tuple)) and len(given) == len(key),
                f"{len(key)} keys need lists of {len(key)} arrays and row_ids", AssertionError,
            )
        self._pairs(key, out, priority)
        for one, targets, ids in zip(key, out, row_ids, strict=True):
            self.row_sparse_pull(one, targets, priority, ids)

    def _holding(self, key: Key, ids: NDArray) -> NDArray:
        """An array that has the rows ``ids`` of a key: here the whole stored array."""
        return self._find(key)

    def replace(self, key: Any, value: Any) -> None:
        """Replace stored arrays without updater and compression. Their dtype and storage type stay.

        When a dense value replaces a row_sparse array, every row is stored.

        Raises:
            MXNetError: a key was not initialised, or a shape differs; nothing has changed then.
            AssertionError: keys and values do not pair up.
        """
        pairs = self._pairs(key, value)
        for name, array in pairs:
            if array.shape != self._find(name).shape:
                raise refusal(
                    "KVStore/replace",
                    f"key {name!r} holds an array of shape {self._find(name).shape}, {array.shape} cannot replace it",
                )
        with updater.undo_updates(self._updater, [*dict(pairs)], [], [self._stored]):
            for name, array in pairs:
                self._stored[name] = self._fitting(array, self._stored[name])
                if isinstance(self._updater, opt.Updater):
                    self._updater.adopt(name, self._stored[name])

    def _fitting(self, array: NDArray, stored: NDArray) -> NDArray:
        """A copy of ``array`` with the dtype, context and storage of ``stored``."""
        made = array.astype(stored.dtype).as_in_context(stored.context)
        return made if made.stype == stored.stype else row_sparse.stored_as(made, stored.stype)

    @decides("KVStore/pushpull")
    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """Push, then pull; after a failure of either, nothing has changed.

        Args:
            key: a key, or a list of keys.
            value: the arrays to push.
            out: the arrays to pull into; None means ``value``.
            priority: see :class:`KVStore`.

        Raises:
            MXNetError, AssertionError: as :meth:`push` and :meth:`pull`.
        """
        groups, targets = self._grouped(key, value, priority), self._targets(key, value if out is None else out)
        with self._undo(groups, targets):
            for name, arrays in groups:
                self._push_one(name, arrays)
            self._pull_all(targets)

    @decides("KVStore/held-rows")
    def _pushpull_all(self, names: list[Key], grads: list[Any], weights: list[Any]) -> None:
        """:meth:`pushpull` of all parameters; a row_sparse weight of a device gets the rows that it already stores."""
        if _STALE.active:
            self.pushpull(names, grads, out=weights)
            return
        groups, targets = self._grouped(names, grads), self._targets(names, weights, ignore_sparse=False)
        with self._undo(groups, targets):
            for name, arrays in groups:
                self._push_one(name, arrays)
            self._pull_all([(name, [one for one in arrays if one.stype != "row_sparse"]) for name, arrays in targets])
            for name, arrays in targets:
                for array in arrays:
                    if array.stype == "row_sparse":
                        self.row_sparse_pull(name, array, row_ids=array.indices)  # type: ignore[attr-defined]

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """Initialise keys and pull them into ``out``.

        Args:
            key: a new key, or a list of new keys.
            value: their first arrays.
            out: the arrays to pull into.
            priority: see :class:`KVStore`.

        Raises:
            MXNetError, AssertionError: as :meth:`init` and :meth:`pull`.
        """
        self.init(key, value)
        self.pull(key, out, priority)

    # --- the optimizer ---------------------------------------------------------------------------

    def set_updater(self, updater: UpdateFunction | None) -> None:
        """Call ``updater(key, merged, stored)`` on each push; it changes ``stored`` in place.

        String keys are passed as bytes. ``merged`` belongs to the store. With None a push replaces the stored array.
        """
        self._updater = updater

    _set_updater = set_updater

    @decides("KVStore/set-optimizer")
    def set_optimizer(self, optimizer: opt.Optimizer) -> None:
        """Update stored weights with ``optimizer`` on each push, starting without states."""
        if not isinstance(optimizer, opt.Optimizer):
            raise refusal(
                "KVStore/optimizer-type",
                f"set_optimizer takes an Optimizer, got {optimizer!r}; make one with mx.optimizer.create", TypeError,
            )
        self.set_updater(opt.get_updater(optimizer))

    @decides("KVStore/states")
    def save_optimizer_states(self, fname: str, dump_optimizer: bool = False) -> None:
        """Write the optimizer's states to a ``.states`` file.

        Raises:
            AssertionError: no optimizer was set.
            MXNetError: the file cannot be written.
        """
        states.save(fname, self._require_updater("save").get_states(dump_optimizer))

    @decides("KVStore/states")
    def load_optimizer_states(self, fname: str) -> None:
        """Read a file of :meth:`save_optimizer_states`, or of MXNet 1.x.

        Raises:
            AssertionError: no optimizer was set.
            MXNetError: the file is damaged, or a state does not fit the weight of its key.
            OSError: the file cannot be read.
        """
        self._require_updater("load").set_states(states.read_file(fname), str(fname), self._stored)

    def _require_updater(self, what: str) -> opt.Updater:
        if not isinstance(self._updater, opt.Updater):
            raise refusal(
                "KVStore/states-need-optimizer",
                f"cannot {what} optimizer states: the store has no optimizer, call set_optimizer first",
                AssertionError,
            )
        return self._updater

    # --- compression -----------------------------------------------------------------------------

    def set_gradient_compression(self, compression_params: dict[str, Any]) -> None:
        """Compress later pushes: {"type": "2bit", "threshold": 0.5}. Residuals of earlier pushes are kept.

        Raises:
            Exception: the store is a "local" one, whose devices do not send gradients to each other.
            AssertionError: ``compression_params`` is not a dict.
            MXNetError: the type is unknown, the threshold is not above 0, or a setting is unknown.
        """
        require(
            "KVStore/compression-stores", self._mode == "device",
            f"Gradient compression is not supported for kvstore {self._type!r}; use 'device'", Exception,
        )
        self._compression = TwoBit.from_parameters(compression_params)

    @decides("KVStore/compression", "KVStore/compression-residual")
    def _compressed(
        self, key: Key, arrays: Sequence[NDArray], stored: NDArray
    ) -> tuple[list[NDArray], dict[tuple[Key, int], NDArray]]:
        """(arrays that the store decodes, new residuals by key and place) of compressed ``arrays``."""
        assert self._compression is not None
        row_sparse.require_dense(key, arrays)
        if len(arrays) > 1:
            require_alike(key, arrays, stored)
        for array in arrays:
            working_type(array.dtype)
        arrived, unsent = [], {}
        for place, array in enumerate(arrays):
            sent, unsent[key, place] = self._compression.sent(array, self._unsent.get((key, place)))
            arrived.append(sent)
        return arrived, unsent

    # --- one worker ------------------------------------------------------------------------------

    @staticmethod
    def is_capable(capability: str) -> bool:
        """Whether the store has a capability; "optimizer" is the only one.

        Raises:
            ValueError: the capability is unknown.
        """
        require(
            "KVStore/capability", capability.lower() == KVStoreBase.OPTIMIZER,
            f"Unknown capability: {capability}", ValueError,
        )
        return True

    def _words(self) -> str:
        keys = f"{len(self._stored)} key{'s' * (len(self._stored) != 1)}"
        return f"{self.type}, {keys}{', with an updater' if self._updater is not None else ''}"

    @property
    def type(self) -> str:
        """The name by which the store was created, in lower case."""
        return self._type

    @property
    def rank(self) -> int:
        """0: there is one worker."""
        return 0

    @property
    def num_workers(self) -> int:
        """1: there is one worker."""
        return 1

    @decides("KVStore/alone")
    def _barrier(self) -> None:
        """Return at once: there are no other workers."""

    @decides("KVStore/alone")
    def _send_command_to_servers(self, head: int, body: str) -> None:
        """Do nothing: this store has no servers."""

    # --- keys ------------------------------------------------------------------------------------

    def _find(self, key: Key) -> NDArray:
        if key not in self._stored:
            raise refusal(
                "KVStore/initialised", f"key {key!r} has not been inited; call init(key, array) first"
            )
        return self._stored[key]

    @decides("KVStore/pairing")
    def _pairs(self, keys: Any, values: Any, priority: Any = 0) -> list[tuple[Key, NDArray]]:
        """All (key, array) pairs of one call; the first call fixes the type of the store's keys."""
        pairs, self._key_kind = paired(keys, values, self._key_kind, priority)
        return pairs

    @decides("KVStore/push-merges", "KVStore/push-order", "KVStore/sum-order-call")
    def _grouped(self, keys: Any, values: Any, priority: Any = 0) -> list[tuple[Key, list[NDArray]]]:
        """The arrays of one call by key: int keys ascending, str keys in the order of their init."""
        groups: dict[Key, list[NDArray]] = {}
        pairs, self._key_kind = paired(keys, values, self._key_kind, priority)
        for key, array in pairs:
            if key not in self._stored:
                self._find(key)  # which refuses it
            groups.setdefault(key, []).append(array)
        if len(groups) == 1:  # the usual case of a training step
            return [*groups.items()]
        if self._key_kind is int:
            return sorted(groups.items())  # type: ignore[type-var]  # ints only
        return [(key, groups[key]) for key in self._stored if key in groups]


@decides("KVStore/sum-order-local", "KVStore/sum-order-device", "ExecutorGroup/same-result")
def added_up(arrays: Sequence[NDArray], context: Context, dtype: Any, size: int) -> NDArray:
    """The sum on ``context`` of two or more arrays of one shape, cast to ``dtype``.

    The first array is the total; each group of ``size`` later arrays is added up, and its sum is added to the total.
    """
    memory, terms = "cpu" if context is HOST else context.memory, list[Buffer]()
    for array in arrays:
        cast = array if array.dtype is dtype else array.astype(dtype)
        # copied where an operator on ``context`` could not read it
        terms.append(cast.handle if cast._buffer.device == memory else cast.as_in_context(context).handle)
    total, *rest = terms
    for start in range(0, len(rest), size):
        group, *others = rest[start : start + size]
        for other in others:
            group = _added(group, other)
        total = _added(total, group)
    return NDArray(total, context)


def _added(left: Buffer, right: Buffer) -> Buffer:
    """``elemwise_add(left, right)``, for arrays that are known to be alike."""
    total = allocate(left.shape, left.flat.dtype, left.device)
    runner.forward(get("elemwise_add"), NoParams(), [left, right], [total])
    return total


__all__ = ["KVStore"]
