"""All that can happen to a small job: its messages arrive in every order, and faults strike at every place.

The rules of a server are a pure function, so the states of a job form a graph, which :func:`explore` walks breadth
first from the state after ``init``: the first violation that it meets has the shortest history. Two shortcuts lose
nothing. A worker sends all that it can without waiting, and gets each reply at once: a server cannot tell
a worker that is slow, or a reply that comes late, from a next request that comes late. Requests are never lost here: a
worker sends a lost request again, and the server sees that it comes late. Only replies are lost.

>>> found = explore(job(workers=2, servers=1, rounds=1))
>>> found.violation, found.states
(None, 21)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..base import decides
from ..ndarray import NDArray, array
from ..optimizer import Optimizer, create
from . import messages as say
from . import server as rules
from .histories import History, check
from .history_events import tag
from .placement import server_of
from .schedule import NONE, Faults, NetworkEvent
from .simulated import Packet, simulate

Step = tuple[str, Any]
"""What a worker does: ("push", key), ("pull", key) or ("barrier", None)."""


class Job(NamedTuple):
    """Workers' programs, and the servers when all keys have their first value of zeros.

    ``homes`` gives the server and the part of each key, and ``sent`` the number of requests that each worker has sent
    to each server so far.
    """

    kind: str
    programs: tuple[tuple[Step, ...], ...]
    servers: tuple[rules.Server, ...]
    homes: Mapping[say.Key, tuple[int, say.PartId]]
    sent: tuple[tuple[int, ...], ...]
    pushes: int
    """How many pushes a worker makes at most."""


def job(
    workers: int = 2, servers: int = 2, rounds: int = 2, kind: str = "dist_sync",
    programs: tuple[tuple[Step, ...], ...] | None = None, step: rules.Step = rules.step,
) -> Job:
    """A job of ``workers``: by default each pushes to and pulls a key of each server in each round, then a barrier.

    ``rounds`` counts the default program's rounds. The values are tags, see ``histories.py``, which the servers sum.
    """
    keys = [_key_of(server, servers) for server in range(servers)]
    if programs is None:
        one = (*((what, key) for what in ("push", "pull") for key in keys), ("barrier", None))
        programs = (one * rounds,) * workers
    most = max(sum(what == "push" for what, _ in program) for program in programs)
    cluster = simulate(workers, servers, faults=False, step=step, returning=True)
    stores = cluster.stores(kind)
    for rank, store in enumerate(stores):
        if rank == 0:
            store.set_optimizer(create("test"))
    zeros = array(np.zeros((1, workers * most), np.float32))
    for store in stores:
        for key in keys:
            store.init(key, zeros)
    sent = tuple(tuple(cluster.channel(rank, each).next for each in range(servers)) for rank in range(workers))
    homes: dict[say.Key, tuple[int, say.PartId]] = {
        key: (server, say.PartId(0, key)) for server, key in enumerate(keys)
    }
    return Job(kind, programs, tuple(cluster.states), homes, sent, most)


def _key_of(server: int, servers: int) -> int:
    return next(key for key in range(servers * 4) if server_of(key, servers) == server)


# --- the world ------------------------------------------------------------------------------------


class Worker(NamedTuple):
    """How far a worker is: its next step, whether it waits for the answer to it, and what it has seen.

    ``next`` has the number of its next request to each server, ``open`` its requests without an answer, ``seen`` the
    events of its history, ``pushed`` counts its pushes, and ``before`` the events that a killed process had seen.
    """

    at: int
    next: tuple[int, ...]
    waits: bool = False
    open: tuple[tuple[int, say.Request], ...] = ()
    seen: tuple[tuple[str, Any, Any], ...] = ()
    pushed: int = 0
    before: int = 0


@dataclass(frozen=True)
class World:
    """A state of the job: servers, workers, requests on their way, and the faults that are left."""

    servers: tuple[rules.Server, ...]
    workers: tuple[Worker, ...]
    flying: tuple[tuple[int, say.Request], ...]
    left: Faults


class Found(NamedTuple):
    """What a walk met: how many states, the first violation or None, and the shortest history that leads to it."""

    states: int
    ends: int
    violation: str | None
    history: tuple[NetworkEvent, ...]
    whole: bool
    """Whether all states were visited."""


@decides("Cluster/explored")
def explore(of: Job, faults: Faults = NONE, step: rules.Step = rules.step, most: int = 1_000_000) -> Found:
    """Walk all states of a job; stops at the first violation, or when ``most`` states were visited.

    Args:
        of: the job.
        faults: how many replies may be lost, requests arrive twice, servers crash and workers be killed, in any state.
        step: the servers' rules, which may be replaced to try others.
        most: how many states are visited.
    """
    walk = _Walk(of, faults, step)
    first = walk.settled(World(of.servers, tuple(Worker(0, sent) for sent in of.sent), (), faults))
    came: dict[Any, tuple[Any, NetworkEvent | None]] = {walk.key(first): (None, None)}
    waiting, ends = deque([first]), 0
    while waiting:
        world = waiting.popleft()
        here = walk.key(world)
        violation = walk.wrong(world)
        if violation or len(came) > most:
            return Found(len(came), ends, violation, _history(came, here), not violation and not waiting)
        ends += all(worker.at == len(of.programs[rank]) for rank, worker in enumerate(world.workers))
        for event, after in walk.events(world):
            key = walk.key(after)
            if key not in came:
                came[key] = here, event
                waiting.append(after)
    return Found(len(came), ends, None, (), True)


def _history(came: Mapping[Any, tuple[Any, NetworkEvent | None]], here: Any) -> tuple[NetworkEvent, ...]:
    events = []
    while here is not None:
        here, event = came[here]
        if event is not None:
            events.append(event)
    return tuple(reversed(events))


class _Walk:
    """The events of a job, and what is wrong in a state."""

    def __init__(self, of: Job, faults: Faults, step: rules.Step) -> None:
        self.job, self.step, self.returning = of, step, faults.kills > 0
        self._names: dict[int, tuple[Any, Any]] = {}  # values are shared between states: each is named once
        self._judged: dict[Any, str | None] = {}

    # --- events ----------------------------------------------------------------------------------

    def events(self, world: World) -> Iterator[tuple[NetworkEvent, World]]:
        """Each event that can happen, with the state after it."""
        for index, (server, request) in enumerate(world.flying):
            rest = (*world.flying[:index], *world.flying[index + 1 :])
            state, replies = self.step(world.servers[server], request)
            servers = (*world.servers[:server], state, *world.servers[server + 1 :])
            what = str(Packet(request.worker, server, request))
            for action, flying, left, lost in self._fates(world, index, rest, replies):
                after = World(servers, world.workers, flying, left)
                for number, reply in enumerate(replies):
                    after = self._lost(after, server, reply) if number in lost else self._taken(after, server, reply)
                yield NetworkEvent(action, request.worker, server, what), self.settled(after)
        if world.left.kills:
            for rank in range(len(world.workers)):
                yield from self._kills(world, rank)

    @staticmethod
    def _fates(
        world: World, index: int, rest: tuple[tuple[int, say.Request], ...], replies: list[say.Reply]
    ) -> Iterator[tuple[str, tuple[tuple[int, say.Request], ...], Faults, frozenset[int]]]:
        """(action, requests on their way, faults left, the replies that are lost) of a request that arrives."""
        left, none = world.left, frozenset[int]()
        yield "arrives", rest, left, none
        if left.duplicates:
            fewer = replace(left, duplicates=left.duplicates - 1)
            yield "duplicate", (*rest, world.flying[index]), fewer, none
        if left.drops:
            fewer = replace(left, drops=left.drops - 1)
            for number in range(len(replies)):
                yield "drop", rest, fewer, frozenset({number})
        if left.crashes and replies:
            fewer = replace(left, crashes=left.crashes - 1)
            yield "crash", rest, fewer, frozenset(range(len(replies)))

    def _kills(self, world: World, rank: int) -> Iterator[tuple[NetworkEvent, World]]:
        """A worker's process ends, and its newest requests were not sent; it begins again."""
        worker = world.workers[rank]
        if worker.at == len(self.job.programs[rank]):
            return
        own = [one for one in world.flying if one[1].worker == rank]
        left = replace(world.left, kills=world.left.kills - 1)
        for unsent in range(len(own) + 1):
            flying = tuple(one for one in world.flying if one not in own[len(own) - unsent :])
            again = Worker(0, self.job.sent[rank], before=max(len(worker.seen), worker.before))
            event = NetworkEvent("kill", rank, None, f"{unsent} requests not sent" if unsent else "")
            yield event, self.settled(_with(World(world.servers, world.workers, flying, left), rank, again))

    @staticmethod
    def _taken(world: World, server: int, reply: say.Reply) -> World:
        """A worker has a reply; one to a request that it has an answer to is ignored."""
        worker = world.workers[reply.worker]
        asked = _request(worker, server, reply.number)
        if asked is None:
            return world
        body, own = reply.body, asked[1].body
        worker = worker._replace(open=tuple(one for one in worker.open if one is not asked))
        if isinstance(body, say.Refused):
            worker = worker._replace(seen=(*worker.seen, ("refused", None, f"{body.message} [{body.clause}]")))
        elif isinstance(own, say.Pull) and not isinstance(body, say.Held):
            worker = worker._replace(seen=(*worker.seen, ("answered", None, f"a pull by {type(body).__name__}")))
        elif isinstance(own, say.Pull):
            event = ("pull", own.part.key, np.asarray(body.value).tobytes())
            worker = worker._replace(at=worker.at + 1, waits=False, seen=(*worker.seen, event))
        elif isinstance(own, say.Barrier):
            worker = worker._replace(at=worker.at + 1, waits=False, seen=(*worker.seen, ("barrier", None, b"")))
        return _with(world, reply.worker, worker)

    @staticmethod
    def _lost(world: World, server: int, reply: say.Reply) -> World:
        """A reply is lost: its request is sent again."""
        asked = _request(world.workers[reply.worker], server, reply.number)
        return world if asked is None else replace(world, flying=(*world.flying, asked))

    def settled(self, world: World) -> World:
        """The state when every worker has sent all that it can send."""
        for rank, program in enumerate(self.job.programs):
            while (worker := world.workers[rank]).at < len(program) and not worker.waits:
                what, key = program[worker.at]
                if what == "barrier" and worker.open:  # it waits for the answers to its pushes
                    break
                world = self._sent(world, rank, what, key)
        return world

    def _sent(self, world: World, rank: int, what: str, key: Any) -> World:
        """A worker sends the request of its next step, and waits for the answer unless it is a push."""
        worker = world.workers[rank]
        server, part = self.job.homes[key] if key is not None else (0, say.PartId(0, 0))
        number = worker.next[server]
        body: say.Body = say.Barrier(0)
        if what == "pull":
            body = say.Pull(part)
        if what == "push":
            body = say.Push(part, tag(rank, worker.pushed, len(world.workers), self.job.pushes))
            event = ("push", key, b"")
            worker = worker._replace(at=worker.at + 1, seen=(*worker.seen, event), pushed=worker.pushed + 1)
        unanswered = [one[1].number for one in worker.open if one[0] == server]
        answered = 0 if self.returning else min(unanswered, default=number)
        request = server, say.Request(rank, 0, number, answered, body)
        numbers = (*worker.next[:server], number + 1, *worker.next[server + 1 :])
        worker = worker._replace(next=numbers, waits=what != "push", open=(*worker.open, request))
        return _with(replace(world, flying=(*world.flying, request)), rank, worker)

    # --- what is wrong ---------------------------------------------------------------------------

    def wrong(self, world: World) -> str | None:
        """The promise that is broken in a state: a value that no server may hand out, or a wait without end."""
        waiting = [rank for rank, worker in enumerate(world.workers) if worker.waits or worker.open]
        if waiting and not world.flying:
            return self._told(world) or f"unanswered: worker {waiting[0]} waits without end"
        return self._told(world)

    def _told(self, world: World) -> str | None:
        """What is wrong with what the workers have seen."""
        if any(len(worker.seen) < worker.before for worker in world.workers):
            return None  # others may see what a killed process had pushed and the new one has not yet
        seen = tuple(worker.seen for worker in world.workers)
        if seen not in self._judged:
            self._judged[seen] = self._unfit(seen)
        return self._judged[seen]

    def _unfit(self, seen: tuple[tuple[tuple[str, Any, Any], ...], ...]) -> str | None:
        history = History(len(seen), self.job.pushes)
        for rank, events in enumerate(seen):
            for what, key, value in events:
                if what == "push":
                    history.push(rank, key)
                elif what == "pull":
                    history.pull(rank, key, np.frombuffer(value, np.float32).reshape(1, -1))
                elif what == "barrier":
                    history.barrier(rank)
                else:
                    return f"{what}: worker {rank}: {value}"
        found = check(history, self.job.kind)
        return str(found[0]) if found else None

    # --- states that are the same ----------------------------------------------------------------

    def key(self, world: World) -> Any:
        """What two states have in common that are the same."""
        workers = tuple(
            (
                worker.at, worker.next, worker.waits, worker.seen, max(0, worker.before - len(worker.seen)),
                frozenset((to, one.number) for to, one in worker.open),
            )
            for worker in world.workers
        )
        flying = tuple(sorted((to, one.worker, one.number, one.answered) for to, one in world.flying))
        return tuple(map(self._named, world.servers)), workers, flying, world.left

    def _named(self, value: Any) -> Any:
        """A value that equals that of an equal value, and can be a key."""
        if isinstance(value, (int, float, str, bytes, type(None), np.dtype)):
            return value
        known = self._names.get(id(value))
        if known is None:
            known = self._names[id(value)] = value, self._parts(value)
        return known[1]

    def _parts(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return value.shape, value.dtype.str, value.tobytes()
        if isinstance(value, Mapping):
            return frozenset((self._named(key), self._named(each)) for key, each in value.items())
        if isinstance(value, (tuple, list)):
            return tuple(map(self._named, value))
        if isinstance(value, (set, frozenset)):
            return frozenset(map(self._named, value))
        if isinstance(value, Optimizer):  # the test optimizer remembers no more
            return value.num_update, frozenset(value._index_update_count.items())
        if isinstance(value, NDArray):
            return self._parts(value.asnumpy())
        return (type(value).__name__, self._named(vars(value))) if is_dataclass(value) else repr(value)


def _request(worker: Worker, server: int, number: int) -> tuple[int, say.Request] | None:
    return next((one for one in worker.open if one[0] == server and one[1].number == number), None)


def _with(world: World, rank: int, worker: Worker) -> World:
    return replace(world, workers=(*world.workers[:rank], worker, *world.workers[rank + 1 :]))


__all__ = ["Found", "Job", "World", "explore", "job"]
