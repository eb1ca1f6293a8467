"""A worker's store in a cluster: it adds up the arrays of the worker's devices, and the servers do the rest.

The calls, the forms of keys and values, and the order of keys are the same as for :class:`KVStore`; but the servers
keep the arrays. ``server.py`` has the rules of a push, ``placement.py`` the placement of arrays on servers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import optimizer as opt
from ..base import decides, refusal, require
from ..log import LOG
from ..ndarray import NDArray
from ..optimizer.states import dumps_optimizer
from . import messages as say
from . import row_sparse
from .compression import TwoBit
from .local import KVStore, UpdateFunction
from .optimizer_step import as_array, as_value
from .pairs import Groups, Key
from .placement import Part, big_array_bound, parts_of
from .plain import pack, unpack
from .server_arithmetic import cut, from_plain, joined, plain_value
from .transport import Channel, Ticket, Transport

AT_ONCE = 1 << 18
"""The number of bytes of arrays that are compared at once: the result of comparing more would not fit into a cache."""

PLACE = "place"
"""The name under which servers keep the progress of a worker."""


@dataclass(frozen=True)
class Known:
    """A worker's description of an array that the servers keep."""

    shape: tuple[int, ...]
    dtype: Any
    stype: str
    parts: tuple[Part, ...]


class Pulled(NamedTuple):
    """The numbers of the requests of the last pull of a whole array, and their results, for each part."""

    numbers: list[int]
    values: list[say.Value]


class DistributedKVStore(KVStore):
    """The store of one worker among several: made by :func:`mx.kv.create` inside a cluster.

    ``dist_sync`` (and any other name with ``dist`` but without ``_async``): a push waits on the servers for the pushes
    of the other workers, and their sum is stored or handed to the optimizer. ``dist_async``: every push is handed to
    the optimizer as it comes. With ``device`` in the name a worker's own arrays are added up left to right.

    Args:
        name: the kind of store, such as ``dist_sync``.
        transport: the transport of messages to the servers.
        rank: the number of this worker, from 0.
        table: the number of this store on the servers.
    """

    @decides("Cluster/sync-names")
    def __init__(self, name: str, transport: Transport, rank: int, table: int) -> None:
        super().__init__(name)
        self._transport, self._rank, self._table = transport, rank, table
        self._bound = big_array_bound()
        self._known: dict[Key, Known] = {}
        self._stored = self._known  # type: ignore[assignment]  # keys are looked up there, arrays are not
        self._sent: dict[Key, list[Ticket]] = {}
        self._residuals: dict[Any, np.ndarray] = {}
        self.fits = 0
        """The number of calls of ``fit`` that have trained with this store and keep their progress."""
        self._pulled: dict[Key, Pulled] = {}
        self._to_hold: list[int] | None = None
        self._channels[0].stores += 1
        self._ask_all(say.Open(table, "_async" not in name))

    # --- calls -------------------------------------------------------------------------------

    @decides("Cluster/init")
    def init(self, key: Any, value: Any) -> None:
        """Give keys their first arrays, the arrays of worker 0; return when the servers have them.

        Raises:
            MXNetError: a key has an array already, both int and str keys are used, worker 0's array has another shape,
                or an array is csr. No key is initialised for this worker then: it may call init again.
            AssertionError: keys and values do not pair up, or a key is neither int nor str.
        """
        pairs, tickets = self._pairs(key, value), list[Ticket]()
        new: dict[Key, Known] = {}
        for name, array in pairs:
            require(
                "KVStore/duplicate-init", name not in self._known and name not in new,
                f"duplicate init of key {name!r}: a key is initialised once; push to change its array",
            )
            require(
                "Cluster/no-csr", array.stype != "csr",
                f"servers keep no csr arrays (key {name!r}); use array.tostype('default') or a row_sparse array",
            )
            parts = parts_of(name, array.shape, self._transport.servers, self._bound)
            new[name] = Known(array.shape, array.dtype, array.stype, parts)
        for name, array in pairs:
            known = new[name]
            whole = as_value(array) if self._rank == 0 else None
            for number, part in enumerate(known.parts):
                piece = None if whole is None else cut(whole, part.begin, part.end)
                body = say.Init(self._part_id(name, number), _shape_of(known, part), piece)
                tickets.append(self._send(part.server, body))
        for ticket in tickets:
            ticket.wait()
        self._known.update(new)

    def _push_one(self, key: Key, arrays: list[NDArray]) -> None:
        """Send the sum of one key's arrays to the servers that have the key."""
        known = self._known[key]
        if self._compression is not None:
            row_sparse.require_dense(key, arrays)
        for array in arrays:
            if array.shape != known.shape or array.dtype != known.dtype:
                raise refusal(
                    "Cluster/push-alike",
                    f"the arrays pushed to key {key!r} must be {np.dtype(known.dtype).name} of shape {known.shape}, as"
                    f" initialised; got {np.dtype(array.dtype).name} {array.shape}",
                )
        alone = len(arrays) == 1 and not arrays[0].is_sparse
        total = arrays[0] if alone else self._sum(key, arrays, known)  # type: ignore[arg-type]  # shape and dtype will do
        self._send_push(key, as_value(total))

    def _undo(self, groups: Groups, targets: Groups = ()) -> AbstractContextManager[None]:
        """A block that undoes nothing: sent messages cannot be taken back."""
        return nullcontext()

    def _send_push(self, key: Key, whole: say.Value, replace: bool = False) -> None:
        tickets = self._sent.setdefault(key, [])
        for number, part in enumerate(self._known[key].parts):
            piece: Any = cut(whole, part.begin, part.end)
            if self._compression is not None and not replace:
                piece = self._packed(key, number, piece)
            tickets.append(self._send(part.server, say.Push(self._part_id(key, number), piece, replace)))

    @decides("Cluster/pull-all")
    def _pull_all(self, groups: Groups) -> None:
        """Ask for all parts of all keys at once, and copy the answers into every target."""
        asked = [(key, targets, self._asked(key)) for key, targets in groups if targets]
        for key, targets, tickets in asked:
            parts = self._received_parts(key, tickets)
            self._note_pulled(key, [ticket.number for _, ticket in tickets], parts)
            _fill(targets, parts)

    def _note_pulled(self, key: Key, numbers: list[int], parts: Sequence[tuple[int, say.Value]]) -> None:
        if self._transport.returning:
            self._pulled[key] = Pulled(numbers, [value for _, value in parts])

    def _asked(self, key: Key, numbers: Sequence[int | None] = ()) -> list[tuple[int, Ticket]]:
        """(first row, ticket of a pull) for each part of a key; ``numbers`` are those of repeated requests."""
        parts = self._known[key].parts
        return [
            (part.begin, self._send(part.server, say.Pull(self._part_id(key, i)), number))
            for i, (part, number) in enumerate(zip(parts, numbers or [None] * len(parts), strict=True))
        ]

    @decides("Cluster/rows")
    def _holding(self, key: Key, ids: NDArray) -> NDArray:
        """The rows ``ids`` of a key, from the servers that have these rows."""
        known = self._known[key]
        wanted = row_sparse.listed(ids)
        asked = []
        for number, part in enumerate(known.parts):
            there = wanted[(wanted >= part.begin) & (wanted < part.end)] - part.begin
            body = say.PullRows(self._part_id(key, number), there)
            asked.append((part.begin, self._send(part.server, body)))
        return as_array(self._received(key, asked))

    def _received(self, key: Key, asked: Sequence[tuple[int, Ticket]]) -> say.Value:
        """Return the array whose parts were requested; raise first if a push of this key was refused."""
        return joined(self._received_parts(key, asked))

    def _received_parts(self, key: Key, asked: Sequence[tuple[int, Ticket]]) -> list[tuple[int, say.Value]]:
        for ticket in self._sent.pop(key, []):
            ticket.wait()
        answers = [(begin, ticket.wait()) for begin, ticket in asked]
        return [(begin, answer.value) for begin, answer in answers if isinstance(answer, say.Held)]

    @decides("Cluster/replace")
    def replace(self, key: Any, value: Any) -> None:
        """Replace stored arrays by the arrays of worker 0, without the optimizer, when all workers have called.

        Raises:
            MXNetError: a key was not initialised, or a shape differs; no message was sent then.
        """
        pairs = self._pairs(key, value)
        for name, array in pairs:
            self._find(name)
            if array.shape != self._known[name].shape:
                raise refusal(
                    "Cluster/push-alike",
                    f"key {name!r} holds an array of shape {self._known[name].shape}, {array.shape} cannot replace it",
                )
        for name, array in pairs:
            self._send_push(name, as_value(array), replace=True)

    def _find(self, key: Key) -> Any:
        if key not in self._known:
            raise refusal(
                "KVStore/initialised",
                f"key {key!r} has not been inited by worker {self._rank}; every worker calls init(key, array) first",
            )
        return self._known[key]

    # --- compression -----------------------------------------------------------------------------

    def set_gradient_compression(self, compression_params: dict[str, Any]) -> None:
        """Send later gradients as 2-bit codes; the difference to the gradient is kept for the next push.

        Raises:
            MXNetError: the type is unknown, or the threshold is not above 0.
        """
        self._compression = TwoBit.from_parameters(compression_params)
        self._send_command_to_servers(say.COMPRESSION, str(sorted(compression_params.items())))

    @decides("Cluster/compression")
    def _packed(self, key: Key, number: int, piece: say.Value) -> say.Packed:
        assert self._compression is not None
        assert not isinstance(piece, say.Rows)
        words, self._residuals[key, number] = self._compression.encode(piece, self._residuals.get((key, number)))
        return say.Packed(words, self._compression.threshold, piece.shape, piece.dtype)

    # --- a worker that is started again ----------------------------------------------------------

    @property
    def returning(self) -> bool:
        """Whether this worker is started again when its process ends, and continues from its kept progress."""
        return self._transport.returning

    def keep(self, name: str, memory: Any) -> None:
        """Let server 0 keep plain values under ``name`` for this worker, replacing earlier values."""
        self._send(0, say.Keep(name, pack(memory)))

    @decides("Cluster/keep", "Cluster/keep-one-store")
    def keep_place(self, memory: Any, weights: Mapping[Key, Sequence[NDArray]]) -> None:
        """Let the servers keep the progress of this worker, from which it continues when it is started again.

        Args:
            memory: plain values that :meth:`return_to_place` returns.
            weights: copies of the arrays of the store, by key. An array that equals the last pulled one is kept as the
                number of that pull, which is repeated; the values of other arrays are kept.

        Raises:
            MXNetError: a push was refused, the worker has other stores, or ``memory`` is not made of plain values.
        """
        channels = self._channels
        require(
            "Cluster/keep-one-store", channels[0].stores == 1,
            f"worker {self._rank} has {channels[0].stores} stores, and only what one store sent can be repeated;"
            " use one store where workers are started again",
        )
        for channel in channels:  # an answer that has not come could not be repeated in order
            for _, ticket in list(channel.unanswered.values()):
                ticket.wait()
        if self._to_hold is not None:
            for channel, number in zip(channels, self._to_hold, strict=True):
                channel.hold(number)
        numbers = [channel.next for channel in channels]
        self._to_hold = list(numbers)
        pulled, others = self._kept(weights, self._to_hold)
        residuals = [[key, number, residual] for (key, number), residual in self._residuals.items()]
        place = {"memory": memory, "numbers": numbers, "pulled": pulled, "others": others, "residuals": residuals}
        for server in range(self._transport.servers):
            self._send(server, say.Keep(PLACE, pack(place) if server == 0 else b""))

    @decides("Cluster/keep")
    def _kept(self, weights: Mapping[Key, Sequence[NDArray]], to_hold: list[int]) -> tuple[list[Any], list[Any]]:
        """(keys with the numbers of their pulls, whose answers the servers must keep; keys with their values)."""
        pulled: list[Any] = []
        others: list[Any] = []
        for key, copies in weights.items():
            values = [as_value(copy) for copy in copies]
            last = self._pulled.get(key)
            if last is None or not all(_same(value, self._known[key].parts, last.values) for value in values):
                others.append([key, [plain_value(value) for value in values]])
                continue
            pulled.append([key, last.numbers])
            for part, number in zip(self._known[key].parts, last.numbers, strict=True):
                to_hold[part.server] = min(to_hold[part.server], number)
        return pulled, others

    @decides("Cluster/kill")
    def recall(self) -> dict[str, Any]:
        """The values that this worker gave to keep before it was started again, by name."""
        if not self.returning:
            return {}
        answer = self._send(0, say.Recall()).wait()
        assert isinstance(answer, say.Recalled)
        return {name: unpack(content, f"what worker {self._rank} kept") for name, content in answer.kept.items()}

    def return_to_place(self, place: Mapping[str, Any], weights: Mapping[Key, Sequence[NDArray]]) -> Any:
        """Restore the progress kept by :meth:`keep_place`: fill ``weights``, and return its argument ``memory``.

        Raises:
            MXNetError: the servers no longer have the answers to the kept pulls.
        """
        for channel, number in zip(self._channels, place["numbers"], strict=True):
            channel.next = number
        self._residuals = {(key, number): residual for key, number, residual in place["residuals"]}
        asked = [(key, numbers, self._asked(key, numbers)) for key, numbers in place["pulled"]]
        for key, numbers, tickets in asked:
            parts = self._received_parts(key, tickets)
            self._note_pulled(key, numbers, parts)
            _fill(weights[key], parts)
        for key, values in place["others"]:
            for target, value in zip(weights[key], values, strict=True):
                _fill([target], [(0, from_plain(value))])
        return place["memory"]

    # --- the servers -----------------------------------------------------------------------------

    def set_updater(self, updater: UpdateFunction | None) -> None:
        """Refuse: the servers update the arrays, and a function cannot be sent to them."""
        raise refusal(
            "Cluster/no-updater",
            f"the servers of a {self._type!r} store update the arrays: give them an optimizer with set_optimizer",
        )

    _set_updater = set_updater

    @decides("Cluster/optimizer")
    def set_optimizer(self, optimizer: opt.Optimizer) -> None:
        """Update stored weights on the servers with worker 0's optimizer, starting without states.

        Raises:
            TypeError: ``optimizer`` is not an Optimizer.
            MXNetError: the servers do not know the class of the optimizer.
        """
        require(
            "KVStore/optimizer-type", isinstance(optimizer, opt.Optimizer),
            f"set_optimizer takes an Optimizer, got {optimizer!r}; make one with mx.optimizer.create", TypeError,
        )
        self._send_command_to_servers(say.OPTIMIZER, dumps_optimizer(optimizer).decode("latin-1"))
        if optimizer.multi_precision:
            self._send_command_to_servers(say.MULTI_PRECISION, "")

    def _require_updater(self, what: str) -> opt.Updater:
        raise refusal(
            "Cluster/states",
            f"Cannot {what} states for distributed training: they are on the servers", AssertionError,
        )

    def _send_command_to_servers(self, head: int, body: str) -> None:
        """Send every server a command; return when all have answered.

        Raises:
            MXNetError: a server refuses.
        """
        for answer in self._ask_all(say.Command(self._table, head, body)):
            if isinstance(answer, say.Done) and answer.note:
                LOG.info(answer.note)

    def _barrier(self) -> None:
        """Wait until every worker is here; what any of them pushed before is then on the servers."""
        for key in list(self._sent):
            for ticket in self._sent.pop(key):
                ticket.wait()
        self._send(0, say.Barrier(self._table)).wait()  # server 0 counts the calls

    @decides("Cluster/leave")
    def leave(self) -> None:
        """Leave the cluster; the other workers go on without this one."""
        self._transport.stop(self._rank)

    @property
    def rank(self) -> int:
        """Number of this worker, from 0."""
        return self._rank

    @property
    def num_workers(self) -> int:
        """How many workers the cluster was started with."""
        return self._transport.workers

    @property
    def _channels(self) -> list[Channel]:
        return [self._transport.channel(self._rank, server) for server in range(self._transport.servers)]

    def _send(self, server: int, body: say.Body, number: int | None = None) -> Ticket:
        return self._transport.send(self._rank, server, body, number)

    def _ask_all(self, body: say.Body) -> list[say.Answer]:
        """Send a message to every server, then wait for the answers."""
        tickets = [self._send(server, body) for server in range(self._transport.servers)]
        return [ticket.wait() for ticket in tickets]

    def _part_id(self, key: Key, number: int) -> say.PartId:
        return say.PartId(self._table, key, number)


def _fill(targets: Sequence[NDArray], parts: Sequence[tuple[int, say.Value]]) -> None:
    """Copy the parts of an array, each (first row, values), into targets, if possible without joining them first."""
    for target in targets:
        if target.is_sparse or not all(
            isinstance(part, np.ndarray) and part.ndim and part.dtype == target.dtype for _, part in parts
        ):
            as_array(joined(parts)).copyto(target)
        elif len(parts) == 1:
            target[:] = parts[0][1]
        else:
            for begin, part in parts:
                if len(part):  # type: ignore[arg-type]  # it is an array
                    target[begin : begin + len(part)] = part  # type: ignore[arg-type]


def _same(value: say.Value, parts: Sequence[Part], others: Sequence[say.Value]) -> bool:
    """Whether an array has the same bits as its parts."""
    return all(
        _alike(cut(value, part.begin, part.end), other) for part, other in zip(parts, others, strict=True)
    )


def _alike(value: say.Value, other: say.Value) -> bool:
    """Whether two arrays have the same bits."""
    if isinstance(value, say.Rows) or isinstance(other, say.Rows):
        return False
    if value.dtype != other.dtype or value.shape != other.shape:
        return False
    one, two = _bits(value), _bits(other)
    return all(np.array_equal(one[i : i + AT_ONCE], two[i : i + AT_ONCE]) for i in range(0, len(one), AT_ONCE))


def _bits(value: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(value).reshape(-1).view(np.uint8)


def _shape_of(known: Known, part: Part) -> tuple[int, ...]:
    return (part.end - part.begin, *known.shape[1:]) if known.shape else ()


__all__ = ["PLACE", "DistributedKVStore"]
