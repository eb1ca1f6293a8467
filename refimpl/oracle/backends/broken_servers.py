"""Faulty servers, each with one fault: ``step=Lost(...)`` in ``mx.kv.simulate``.

Each counts in ``triggered`` how often its fault must become visible to a worker: a fault that no worker can notice does
not count. Values are tags (see ``refimpl.kvstore.histories``): each push sets a column of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ...kvstore import messages as say
from ...kvstore.server import Connection, Server, _act, step
from .simulated_cluster import Scripts

After = tuple[Server, list[say.Reply]]


def held_in(replies: list[say.Reply]) -> list[tuple[int, np.ndarray]]:
    """The versions and arrays that replies hand out, of dense keys."""
    bodies = [reply.body for reply in replies]
    return [(b.version, b.value) for b in bodies if isinstance(b, say.Held) and isinstance(b.value, np.ndarray)]


def frozen(value: np.ndarray) -> np.ndarray:
    """The array, which nobody may write to any more."""
    value.flags.writeable = False
    return value


class Broken:
    """A correct server; ``kinds`` lists the stores in which a fault shows, ``names`` its possible first violations."""

    kinds: tuple[str, ...] = ("dist_sync", "dist_async")
    names: tuple[str, ...] = ()
    given: ClassVar[Mapping[str, Any]] = {}
    """What programs need for the fault to show."""

    def __init__(self, program: Scripts, choice: int) -> None:
        self.program = program
        self.victim = choice % (program.workers * program.pushes)  # a push, by its column
        self.triggered = 0
        self.seen: set[tuple] = set()

    def __call__(self, server: Server, request: say.Request) -> After:
        """Handle a request: returns the next state and the replies."""
        return step(server, request)

    def hits(self, request: say.Request) -> bool:
        """Whether this is the push that goes wrong."""
        body = request.body
        dense = isinstance(body, say.Push) and isinstance(body.value, np.ndarray)
        return dense and bool(np.any(body.value[..., self.victim]))

    def first(self, request: say.Request) -> bool:
        """Whether this message came for the first time."""
        which = (request.worker, request.number, getattr(request.body, "part", None))
        new = which not in self.seen
        self.seen.add(which)
        return new

    def instead(self, server: Server, request: say.Request, value: np.ndarray) -> After:
        """As if the push had another value."""
        self.triggered += bool(np.any(value != request.body.value))
        return step(server, replace(request, body=replace(request.body, value=frozen(value))))


class Lost(Broken):
    """Acknowledges a push, and drops it."""

    names = ("lost",)

    def __call__(self, server: Server, request: say.Request) -> After:
        """See :class:`Broken`."""
        if self.hits(request):
            return self.instead(server, request, np.zeros_like(request.body.value))
        return step(server, request)


class Duplicated(Broken):
    """Applies a push twice."""

    names = ("duplicated",)

    def __call__(self, server: Server, request: say.Request) -> After:
        """See :class:`Broken`."""
        if self.hits(request):
            return self.instead(server, request, request.body.value * 2)
        return step(server, request)


class Again(Broken):
    """Acts again on a push that comes again; noticed if somebody pulls after it."""

    kinds = ("dist_async",)
    names = ("duplicated",)

    def __call__(self, server: Server, request: say.Request) -> After:
        """See :class:`Broken`."""
        connection = server.connections.get(request.worker, Connection())
        if isinstance(request.body, say.Push) and request.number < connection.expected:
            server, _ = _act(server, request.worker, request.number, request.body)
        after, replies = step(server, request)
        new = request.number >= connection.expected
        for _, value in held_in(replies) if new else ():
            self.triggered += bool(np.any(value > 1))
        return after, replies


class Torn(Broken):
    """Applies a push to the first half of an array, or in parts of one row to every other part."""

    names = ("torn",)

    def __call__(self, server: Server, request: say.Request) -> After:
        """See :class:`Broken`."""
        if self.hits(request):
            value = request.body.value.copy()
            value[len(value) // 2 if len(value) > 1 else 1 - request.body.part.number % 2 :] = 0
            return self.instead(server, request, value)
        return step(server, request)


class EarlyRound(Broken):
    """Does not wait for the other workers: a push ends its round. Noticed if somebody pulls before all is stuck."""

    kinds = ("dist_sync",)
    names = ("early",)
    given: ClassVar = {"rows": 1}

    def __call__(self, server: Server, request: say.Request) -> After:
        """See :class:`Broken`."""
        waited_for = {request.worker} if self.hits(request) else server.members
        after, replies = step(replace(server, members=frozenset(waited_for)), request)
        for version, value in held_in(replies):
            self.triggered += bool(value.sum() < version * self.program.workers)
        return replace(after, members=server.members), replies


class EarlyBarrier(Broken):
    """Lets a worker through a barrier alone; noticed if it pulls before another one's push of before has come."""

    kinds = ("dist_async",)
    names = ("early",)
    given: ClassVar = {"barriers": False}

    def __init__(self, program: Scripts, choice: int) -> None:
        super().__init__(program, choice)
        self.through: set[int] = set()

    def __call__(self, server: Server, request: say.Request) -> After:
        """See :class:`Broken`."""
        body = request.body
        if isinstance(body, say.Barrier):
            after, replies = step(replace(server, members=frozenset({request.worker})), request)
            self.through.update(reply.worker for reply in replies)
            return replace(after, members=server.members), replies
        after, replies = step(server, request)
        if isinstance(body, say.Pull) and request.worker in self.through and self.first(request):
            for _, value in held_in(replies):
                self.triggered += bool(value.sum() < self.program.total(body.part.key) * len(value))
        return after, replies


class Stale(Broken):
    """Answers a pull with the value from before the worker's last push."""

    names = ("read your writes",)
    given: ClassVar = {"workers": 2}  # if nobody else pulls, a push that shows nowhere may as well be lost

    def __init__(self, program: Scripts, choice: int) -> None:
        super().__init__(program, choice)
        self.before: dict[tuple, np.ndarray] = {}
        self.worker = choice % program.workers

    def __call__(self, server: Server, request: say.Request) -> After:
        """See :class:`Broken`."""
        body, worker = request.body, request.worker
        if not isinstance(body, (say.Push, say.Pull)):
            return step(server, request)
        part = body.part
        table = server.tables.get(part.table)
        held = table.parts.get(part) if table else None
        if held is None or not isinstance(held.value, np.ndarray):
            return step(server, request)
        if isinstance(body, say.Pull) and worker == self.worker and not self.triggered and self.first(request):
            old = self.before.get((part, worker))
            if old is not None and np.any(old != held.value) and not held.queues.get(worker):
                after, replies = step(_holding(server, part, old), request)
                answered = any(isinstance(reply.body, say.Held) for reply in replies)
                self.triggered += answered
                if answered or after.tables[part.table].parts[part].value is old:
                    after = _holding(after, part, held.value)
                return after, replies
        after, replies = step(server, request)
        now = after.tables[part.table].parts[part]
        if isinstance(body, say.Push) and now.version > held.version:
            for who in range(self.program.workers):
                if self.program.kind == "dist_sync" or who == worker:
                    self.before[part, who] = held.value
        return after, replies


def _holding(server: Server, part: say.PartId, value: Any) -> Server:
    table = server.tables[part.table]
    parts = {**table.parts, part: replace(table.parts[part], value=value)}
    return replace(server, tables={**server.tables, part.table: replace(table, parts=parts)})


class Unordered(Broken):
    """Applies pushes as they arrive, even a push that overtook an earlier one of the same worker."""

    names = ("out of order",)

    def __init__(self, program: Scripts, choice: int) -> None:
        super().__init__(program, choice)
        self.swapped: list[tuple[say.PartId, int, int]] = []

    def __call__(self, server: Server, request: say.Request) -> After:
        """See :class:`Broken`."""
        connection, early = server.connections.get(request.worker, Connection()), []
        if isinstance(request.body, say.Push) and request.number > connection.expected and self.first(request):
            overtaken = self._overtaken(connection, request)
            server, answers = _act(server, request.worker, request.number, request.body)
            early = [
                say.Reply(who, 0, number, answer) for who, number, answer in answers if (who, number)
                != (request.worker, request.number)
            ]
            for reply in early:
                known = server.connections[reply.worker]
                known = replace(known, answers={**known.answers, reply.number: reply.body})
                server = replace(server, connections={**server.connections, reply.worker: known})
            self.swapped += overtaken
        if isinstance(request.body, say.Push) and (request.worker, request.number, request.body.part) in self.seen:
            request = replace(request, body=say.Join())  # it has been done
        after, replies = step(server, request)
        for _, value in held_in([*early, *replies]):
            if value.size:
                has = value[0] > 0
                self.triggered += any(has[late] and not has[soon] for _, soon, late in self.swapped)
        return after, [*early, *replies]

    def _overtaken(self, connection: Connection, request: say.Request) -> list[tuple[say.PartId, int, int]]:
        """The earlier push of the same worker to the same key, if there is one, and this one: their columns."""
        column = int(np.argmax(request.body.value[0])) if request.body.value.size else 0
        worker, number = divmod(column, self.program.pushes)
        keys = [key for verb, key in self.program.scripts[worker] if verb == "push"]
        return [
            (request.body.part, column - number + other, column)
            for other in range(number) if keys[other] == request.body.part.key
        ]


class WrongShard(Broken):
    """Stores a push under another key."""

    names = ("wrong key",)

    def __call__(self, server: Server, request: say.Request) -> After:
        """See :class:`Broken`."""
        if not self.hits(request):
            return step(server, request)
        part, value = request.body.part, request.body.value
        table = server.tables.get(part.table)
        others = [] if table is None else [
            other for other, held in table.parts.items() if other.key != part.key and held.value.shape == value.shape
        ]
        if not others or not self.first(request):
            still = (request.worker, request.number, part) in self.moved
            return step(server, self._without(request) if still else request)
        self.moved.add((request.worker, request.number, part))
        self.triggered += 1
        table = server.tables[part.table]
        server = _holding(server, others[0], frozen(table.parts[others[0]].value + value))
        return step(server, self._without(request))

    def __init__(self, program: Scripts, choice: int) -> None:
        super().__init__(program, choice)
        self.moved: set[tuple] = set()

    def _without(self, request: say.Request) -> say.Request:
        return replace(request, body=replace(request.body, value=frozen(np.zeros_like(request.body.value))))


BROKEN: tuple[type[Broken], ...] = (
    Lost, Duplicated, Again, Torn, EarlyRound, EarlyBarrier, Stale, Unordered, WrongShard,
)


class Forgetful:
    """Makes a worker's store forget the residual of its 2-bit codes: ``forgetful(store)``."""

    def __init__(self) -> None:
        self.triggered = 0

    def __call__(self, store: Any) -> None:
        """Change a store."""
        packed = store._packed
        kept: dict[tuple[Any, int], np.ndarray] = {}

        def forgetting(key: Any, number: int, piece: np.ndarray) -> say.Packed:
            sound, kept[key, number] = store._compression.encode(piece, kept.get((key, number)))
            store._residuals.clear()
            sent = packed(key, number, piece)
            self.triggered += bool((sent.words != sound).any())
            return sent

        store._packed = forgetting
