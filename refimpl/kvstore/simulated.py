"""A cluster within one process: ``mx.kv.simulate(workers=4, servers=2, seed=7)``.

Servers are values that ``server.step`` replaces; the network is a list of packets; workers are functions that run one
at a time, each in a thread of its own that sleeps while it waits for a server. Each call of ``_move`` carries out one
event: a packet arrives, is lost, or arrives twice; a server goes down or comes back; a worker runs on. :class:`Choices`
makes all choices between events, so that a run can be repeated, and made shorter.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..base import decides, refusal, require
from ..log import LOG
from . import messages as say
from . import server as rules
from .distributed import DistributedKVStore
from .schedule import NONE, RARITY, SOME, Choices, Faults, NetworkEvent
from .transport import Channel, Ticket
from .waiting import waits_for
from .worker_threads import Worker, worker_here

_HERE = threading.local()  # .member is (cluster, rank) in code that runs as a worker


@dataclass(frozen=True, eq=False)
class Packet:
    """A message in the network."""

    worker: int
    server: int
    message: say.Request | say.Reply

    def __str__(self) -> str:
        arrow = "asks" if isinstance(self.message, say.Request) else "gets"
        return f"#{self.message.number} {arrow} {describe(self.message.body)}"


class SimulatedCluster:
    """Workers, servers and a network between them; :func:`simulate` makes one.

    Args:
        workers, servers: the numbers of workers and servers.
        choices: chooses the next event.
        faults: the most faults of each kind.
        step: the servers' rules.
        returning: whether workers may be killed, see :meth:`kill`.

    Attributes:
        events: the last 100,000 events, oldest first; ``for event in cluster.events: print(event)``.
        states: the state of each server, a :class:`refimpl.kvstore.server.Server`.
        schedule: the decisions made so far; ``simulate(..., schedule=...)`` repeats them.
    """

    def __init__(
        self, workers: int, servers: int, choices: Choices, faults: Faults, step: rules.Step = rules.step,
        *, returning: bool = False,
    ) -> None:
        self.workers, self.servers, self.returning = workers, servers, returning or faults.kills > 0
        self.events: deque[NetworkEvent] = deque(maxlen=100_000)
        self.states: list[rules.Server] = []
        self._choices, self._step = choices, step
        self._left = {
            "drop": faults.drops, "duplicate": faults.duplicates, "crash": faults.crashes, "kill": faults.kills,
        }
        self._in_flight: list[Packet] = []
        self._lost: dict[tuple[int, int, int], None] = {}  # (worker, server, number) to be sent again
        self._down: dict[int, bool] = {}  # server: whether it comes back by itself
        self._channels: dict[tuple[int, int], Channel] = {}
        self._opened, self._restarts = [0] * workers, [0] * workers
        self._gone: dict[int, str] = {}
        self._running: list[Worker] = []
        self.start()
        for rank in range(workers):
            self.connect(rank)

    # --- servers and members ---------------------------------------------------------------------

    def start(self) -> None:
        """Start the servers, with empty states."""
        self.states = [rules.start(self.workers) for _ in range(self.servers)]

    @decides("Cluster/return")
    def connect(self, rank: int) -> None:
        """Connect a worker to every server, in a new incarnation if the worker was lost or had left."""
        self._require("worker", rank, self.workers)
        self._new_life(rank)
        if self._gone.pop(rank, None):
            for server in range(self.servers):
                self.send(rank, server, say.Join())

    def membership(self) -> frozenset[int]:
        """The workers that have not left."""
        return frozenset(range(self.workers)) - self._gone.keys()

    # --- the three calls of a transport (see transport.py) ----------------------------------------

    def send(self, rank: int, server: int, body: say.Body, number: int | None = None) -> Ticket:
        """Put a message into the network; for a worker that is gone, the returned ticket has failed.

        Args:
            rank: the worker that sends the message.
            server: the server that gets the message.
            body: the content of the message.
            number: the number of an earlier request that is repeated; None for a new request.
        """
        if rank in self._gone and not isinstance(body, say.Leave):
            ticket = Ticket(rank, server, -1, self._await)
            ticket.failure = f"worker {rank} {self._gone[rank]}; cluster.connect({rank}) lets it come back"
            return ticket
        worker = worker_here()
        if worker is not None and worker.cluster is self and worker.dismissed:
            raise SystemExit  # a process that was killed sends nothing
        request, ticket = self._channels[rank, server].ask(server, body, self._await, number)
        self._in_flight.append(Packet(rank, server, request))
        return ticket

    def channel(self, rank: int, server: int) -> Channel:
        """The worker's end of its connection to a server."""
        return self._channels[rank, server]

    def stop(self, rank: int) -> None:
        """Let a worker leave; its earlier messages still count."""
        self._gone[rank] = "has left"
        for ticket in [self.send(rank, server, say.Leave()) for server in range(self.servers)]:
            ticket.wait()

    # --- running workers, and faults on demand ---------------------------------------------------

    def stores(self, kind: str = "dist_sync") -> list[DistributedKVStore]:
        """Return a store for each worker, so that one program can call them in turn."""
        return [self.store(rank, kind) for rank in range(self.workers)]

    @decides("Cluster/pairing")
    def store(self, rank: int, kind: str = "dist_sync") -> DistributedKVStore:
        """A store for one worker. The n-th store of one worker and the n-th of another are the same store."""
        self._require("worker", rank, self.workers)
        name = kind.lower()
        require("Cluster/kind", "dist" in name, f"a cluster has stores with 'dist' in their names, not {kind!r}")
        table = self._opened[rank]
        self._opened[rank] += 1
        return DistributedKVStore(name, self, rank, table)

    @contextmanager
    @decides("Cluster/by-hand")
    def worker(self, rank: int) -> Iterator[None]:
        """Run code as worker ``rank``: ``mx.kv.create("dist_sync")`` makes its store."""
        self._require("worker", rank, self.workers)
        before = getattr(_HERE, "member", None)
        _HERE.member = self, rank
        try:
            yield
        finally:
            _HERE.member = before

    @decides("Cluster/worker-error")
    def run(self, function: Callable[..., Any], kind: str | None = "dist_sync") -> list[Any]:
        """Call ``function(store)`` as each worker, all workers concurrently; return the results by rank.

        With ``kind=None`` the function is called without a store, and makes one itself with ``mx.kv.create``. Each
        worker has its own automatic names, random numbers, ``__main__`` and root logger, as a process would.

        Raises:
            Exception: the first exception that a worker did not catch. A worker that waits for a worker that has ended
                or left gets an MXNetError that says so.
            MXNetError: the cluster is running already, or the system cannot start a thread for a worker.
        """
        require(
            "Cluster/run", not self._running,
            "this cluster is running: a worker that needs another cluster makes one with mx.kv.simulate",
        )
        running = self._running
        try:
            for rank in range(self.workers):
                running.append(Worker(self, rank, function, kind))
            while not all(worker.ended for worker in running):
                if not self._move():
                    self._give_up([worker.ticket for worker in running if worker.ticket and not worker.ended])
        finally:
            self._running = []
            for worker in running:
                worker.dismiss()
        _raise_first_failure(running)
        return [worker.result for worker in running]

    @decides("Cluster/crash")
    def crash(self, server: int, for_good: bool = False) -> None:
        """Bring a server down: all messages to and from it are lost. It comes back later, unless ``for_good``."""
        self._require("server", server, self.servers)
        self._down[server] = not for_good
        for packet in [packet for packet in self._in_flight if packet.server == server]:
            self._lose_packet(packet)
        self._tell("crash", None, server)

    def restart(self, server: int) -> None:
        """Bring a server back, with its state after the last request that it took."""
        self._require("server", server, self.servers)
        self._down.pop(server, None)
        self._tell("restart", None, server)

    @decides("Cluster/lose")
    def lose(self, rank: int) -> None:
        """Lose a worker: rounds and barriers stop waiting for the worker, and its waiting calls fail."""
        self._require("worker", rank, self.workers)
        self._gone[rank] = "was lost"
        for server in range(self.servers):
            for _, ticket in self._channels[rank, server].unanswered.values():
                ticket.failure = f"worker {rank} was lost"
        self._new_life(rank)
        for server in range(self.servers):
            self.send(rank, server, say.Leave())
        self._tell("lose", rank, None)

    @decides("Cluster/kill")
    def kill(self, rank: int, unsent: int = 0) -> None:
        """End the process of a running worker while it waits, and start it again, as a launcher does.

        The new process calls the worker's function from the beginning: repeated requests get their earlier answers.

        Args:
            rank: the worker.
            unsent: the number of its newest requests in the network that count as not sent.

        Raises:
            MXNetError: the worker does not run, calls kill itself, or the cluster was not made with ``returning=True``.
        """
        self._require("worker", rank, self.workers)
        worker = next((one for one in self._running if one.rank == rank), None)
        require(
            "Cluster/kill", self.returning and worker in self._killable(),
            f"worker {rank} cannot be killed: it does not run now, has left, or is the one that calls; or"
            " mx.kv.simulate was called without returning=True",
        )
        assert worker is not None
        worker.dismiss()
        worker.thread.join()
        own = [p for p in self._in_flight if p.worker == rank and isinstance(p.message, say.Request)]
        for packet in own[len(own) - unsent :]:
            self._in_flight.remove(packet)
        self._restarts[rank] += 1
        self._new_life(rank, again=True)
        self._running[self._running.index(worker)] = Worker(self, rank, worker.function, worker.kind, worker)
        self._tell("kill", rank, None)

    def _killable(self) -> list[Worker]:
        here = worker_here()
        return [one for one in self._running if not one.ended and one is not here and one.rank not in self._gone]

    @property
    def schedule(self) -> list[int]:
        """The decisions made so far."""
        return list(self._choices.made)

    # --- what happens next -----------------------------------------------------------------------

    def _await(self, ticket: Ticket) -> None:
        """Carry out events until a ticket has its answer."""
        worker = worker_here()
        if worker is not None and worker.cluster is self:
            worker.sleep(ticket)
            return
        while ticket.answer is None and not ticket.failure:
            if not self._move():
                self._give_up([ticket])

    def _move(self) -> bool:
        """Carry out one possible event; False if there is none."""
        if self._in_flight and any(self._left.values()) and self._choices.one_of(RARITY) == RARITY - 1:
            self._fault()
            return True
        events: list[tuple[Callable[[Any], None], Any]] = [
            *((self._deliver, packet) for packet in self._in_flight if packet.server not in self._down),
            *((self._resend, which) for which in self._lost if which[1] not in self._down),
            *((Worker.go_on, worker) for worker in self._running if worker.ready),
            *((self.restart, server) for server, by_itself in self._down.items() if by_itself),
        ]
        if not events:
            return False
        act, what = events[self._choices.one_of(len(events))]
        act(what)
        return True

    @decides("Cluster/durable")
    def _deliver(self, packet: Packet) -> None:
        self._tell("arrives", packet.worker, packet.server, str(packet))
        if isinstance(packet.message, say.Reply):
            self._in_flight.remove(packet)
            if self._channels[packet.worker, packet.server].take(packet.message):
                self._lost.pop((packet.worker, packet.server, packet.message.number), None)
            return
        state, replies = self._step(self.states[packet.server], packet.message)
        self._in_flight.remove(packet)  # after the step: an interrupted server has not taken the message
        self.states[packet.server] = state  # kept before any reply leaves
        self._in_flight += [Packet(reply.worker, packet.server, reply) for reply in replies]

    def _fault(self) -> None:
        kinds = [kind for kind, left in self._left.items() if left]
        kind = kinds[self._choices.one_of(len(kinds))]
        self._left[kind] -= 1
        if kind == "kill":
            victims = self._killable()
            if victims:
                rank = victims[self._choices.one_of(len(victims))].rank
                own = sum(p.worker == rank and isinstance(p.message, say.Request) for p in self._in_flight)
                self.kill(rank, self._choices.one_of(own + 1))
            return
        packet = self._in_flight[self._choices.one_of(len(self._in_flight))]
        if kind == "crash":
            if packet.server not in self._down:
                self.crash(packet.server)
            return
        self._tell(kind, packet.worker, packet.server, str(packet))
        if kind == "drop":
            self._lose_packet(packet)
        else:
            self._in_flight.append(packet)

    def _lose_packet(self, packet: Packet) -> None:
        self._in_flight.remove(packet)
        self._lost[packet.worker, packet.server, packet.message.number] = None

    @decides("Cluster/durable")
    def _resend(self, which: tuple[int, int, int]) -> None:
        """Repeat a request that may have been lost, if it is still unanswered."""
        del self._lost[which]
        worker, server, number = which
        waiting = self._channels[worker, server].unanswered.get(number)
        if waiting is not None:
            self._tell("again", worker, server, f"#{number}")
            self._in_flight.append(Packet(worker, server, waiting[0]))

    def _give_up(self, tickets: Sequence[Ticket]) -> None:
        """Fail tickets whose answers can never come; the errors name the missing workers."""
        reasons = [self._reason(ticket) for ticket in tickets]
        for ticket, reason in zip(tickets, reasons, strict=True):
            ticket.failure = reason

    def _reason(self, ticket: Ticket) -> str:
        if ticket.server in self._down:
            return f"worker {ticket.worker} waits for server {ticket.server}, which is down"
        what, missing = waits_for(self.states[ticket.server], ticket.worker, ticket.number)
        names = ", ".join(f"worker {rank} ({self._doing(rank)})" for rank in missing)
        return f"worker {ticket.worker} waits for {what} in vain: {names or 'the answer'} is missing"

    def _doing(self, rank: int) -> str:
        if rank in self._gone:
            return self._gone[rank]
        worker = next((w for w in self._running if w.rank == rank), None)
        if worker is None:
            return "has not called"
        if worker.failure is not None:
            return f"ended with {type(worker.failure).__name__}"
        return "has ended" if worker.ended else "waits for something else"

    def _new_life(self, rank: int, *, again: bool = False) -> None:
        """Begin a new incarnation of a worker, or the same one ``again``."""
        for server in range(self.servers):
            before = self._channels.get((rank, server))
            incarnation = before.incarnation + (not again) if before else 0
            self._channels[rank, server] = Channel(
                rank, incarnation, self._restarts[rank], returning=self.returning
            )
            self._lost = {lost: None for lost in self._lost if lost[:2] != (rank, server)}
        self._opened[rank] = 0

    @staticmethod
    def _require(what: str, number: int, count: int) -> None:
        if number not in range(count):
            raise refusal(
                "Cluster/numbers", f"there is no {what} {number!r}, they are numbered from 0 to {count - 1}", ValueError
            )

    def _tell(self, action: str, worker: int | None, server: int | None, what: str = "") -> None:
        self.events.append(NetworkEvent(action, worker, server, what))


def describe(body: Any) -> str:
    """A message in a few words."""
    name = type(body).__name__
    if isinstance(body, say.Held):
        return f"Held version {body.version}"
    if isinstance(body, say.Refused):
        return f"Refused {body.clause}"
    part = getattr(body, "part", None)
    return f"{name} {part}" if part else name


def simulate(
    workers: int = 1, servers: int = 1, seed: int = 0, faults: Faults | bool = True,
    schedule: Sequence[int] | None = None, step: rules.Step = rules.step, *, returning: bool = False,
) -> SimulatedCluster:
    """A cluster of workers and servers within this process.

    Args:
        workers: how many workers; each pushes to every round of a ``dist_sync`` store.
        servers: the number of servers that share the arrays.
        seed: the seed of all random choices of events.
        faults: the most lost and repeated messages and crashes of servers; True for a few, False for none.
        schedule: choices to repeat instead of random ones: another cluster's ``schedule``.
        step: the servers' rules, which may be replaced to try others.
        returning: whether workers may be killed (``cluster.kill``), as with ``mx.kv.Faults(kills=1)``.

    Raises:
        ValueError: ``workers`` or ``servers`` is no whole number above 0.
        TypeError: ``faults`` is neither a Faults nor a bool.
    """
    if not all(isinstance(count, int) and count >= 1 for count in (workers, servers)):
        raise refusal(
            "Cluster/size", f"a cluster needs a worker and a server, got workers={workers!r}, servers={servers!r}",
            ValueError,
        )
    if isinstance(faults, bool):
        faults = SOME if faults else NONE
    if not isinstance(faults, Faults):
        raise refusal("Cluster/weather", f"faults is True, False or mx.kv.Faults(...), got {faults!r}", TypeError)
    return SimulatedCluster(workers, servers, Choices(seed, schedule), faults, step, returning=returning)


@decides("Cluster/worker-error")
def _raise_first_failure(workers: list[Worker]) -> None:
    failed = sorted((w for w in workers if w.failure is not None), key=lambda w: (w.failed_at, w.rank))
    for worker in failed:
        LOG.error("worker %d ended with %s: %s", worker.rank, type(worker.failure).__name__, worker.failure)
    if failed:
        assert failed[0].failure is not None
        raise failed[0].failure


def member_here() -> tuple[SimulatedCluster, int] | None:
    """(simulated cluster, rank) of the worker whose code runs here; None outside a worker."""
    return getattr(_HERE, "member", None)


@decides("Cluster/create")
def store_here(kind: str) -> DistributedKVStore:
    """The store that ``mx.kv.create`` makes for code that runs as a worker.

    Raises:
        MXNetError: the code does not run as a worker; the message says how to run it as one.
    """
    member = member_here()
    if member is None:
        raise refusal(
            "Cluster/needed",
            f"kvstore {kind!r} needs a cluster: cluster = mx.kv.simulate(workers=2, servers=1), then"
            " cluster.run(train) calls train(store) as each worker, and mx.kv.create works in there;"
            " `refimpl run -n 2 script.py` runs a file so, and `refimpl launch -n 2 -s 1 python script.py` starts"
            " processes",
        )
    cluster, rank = member
    return cluster.store(rank, kind)


__all__ = ["Packet", "SimulatedCluster", "describe", "member_here", "simulate", "store_here"]
