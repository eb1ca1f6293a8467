"""The parameter server: ``step(server, request) -> (server, replies)``, and nothing else.

A :class:`Server` is a value. ``step`` does no input and no output, looks at no clock and changes nothing: it
returns the server that comes after a request, and what is to be sent. Whoever runs it keeps the new value before
the replies leave, so that a crash loses no more than messages, which the network may lose anyway. ``step_all`` takes
many requests, and makes the copies that this needs once for all of them.

Read ``_stepped`` first (what makes a message count once and in order), then ``tables.py`` (what a store does). The
rules are in spec/cluster.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..base import decides
from . import tables
from .messages import (
    START,
    STOP,
    Answer,
    Barrier,
    Command,
    Done,
    Init,
    Join,
    Keep,
    Leave,
    Open,
    Pull,
    PullRows,
    Push,
    Recall,
    Recalled,
    Refused,
    Reply,
    Request,
)
from .tables import Draft, Sent, Stored, Table, UpdateFailed

Asked = tuple[str, Any]
"""What a request asked, in so far as one that comes again is compared with it."""


@dataclass(frozen=True)
class Connection:
    """The connection to one worker: which request comes next, which came too early, what was answered.

    ``incarnation`` counts how often the worker connected; see :class:`~refimpl.kvstore.messages.Request`. ``asked``
    and ``answers`` tell of numbers from ``answered`` on: answers to those below have come. ``kept`` is what the worker
    gave to keep, by name; ``first`` holds what it had asked before that for the first time, with the answers.
    """

    incarnation: int = 0
    expected: int = 0
    answered: int = 0
    early: Mapping[int, Request] = field(default_factory=dict)
    asked: Mapping[int, Asked] = field(default_factory=dict)
    answers: Mapping[int, Answer] = field(default_factory=dict)
    first: Mapping[int, tuple[Asked, Answer]] | None = None
    kept: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Server:
    """All that a server knows. ``members`` are the workers that rounds and barriers wait for."""

    members: frozenset[int]
    connections: Mapping[int, Connection] = field(default_factory=dict)
    tables: Mapping[int, Table] = field(default_factory=dict)
    stopped: bool = False


def start(workers: int) -> Server:
    """Return a server that has received nothing yet and expects ``workers`` workers."""
    return Server(frozenset(range(workers)))


# --- once, and in order ---------------------------------------------------------------------------


def step(server: Server, request: Request) -> tuple[Server, list[Reply]]:
    """The server after a message, and its replies: :func:`step_all` of one."""
    return step_all(server, [request])


@decides("Cluster/pure", "Cluster/batch")
def step_all(server: Server, requests: Sequence[Request]) -> tuple[Server, list[Reply]]:
    """The server after several messages in their order, and its replies: as after one :func:`step` for each.

    Requests of one worker count in the order of their numbers, each once: one that comes too early is kept, one
    that comes again is answered again as it was the first time. A worker that comes back begins a new incarnation:
    its numbers begin at 0 again, and requests of an older incarnation are dropped.
    """
    try:
        return _stepped(server, requests, Draft(sharing=True))
    except UpdateFailed:
        return _stepped(server, requests, Draft(sharing=False))


@decides("Cluster/once")
def _carried_out(server: Server, worker: int, lines: _Lines, replies: list[Reply], draft: Draft) -> Server:
    """Do what a worker has asked and is next in its order; ``lines`` and ``replies`` get the answers."""
    line = lines[worker]
    while (now := line.early.pop(line.expected, None)) is not None:
        line.asked[now.number] = _asked(now.body)
        line.expected += 1
        if isinstance(now.body, Keep):
            line.known = _keep(line, now.body)
            answers: list[Sent] = [(worker, now.number, Done())]
        else:
            server, answers = _act(server, worker, now.number, now.body, draft)
        for to, number, answer in answers:
            other = lines[to]
            other.answers[number] = answer
            replies.append(Reply(to, other.known.incarnation, number, answer))
    return server


class _Line:
    """A connection that a step may change."""

    def __init__(self, known: Connection) -> None:
        self.known = known
        self.expected, self.answered = known.expected, known.answered
        self.early, self.asked, self.answers = dict(known.early), dict(known.asked), dict(known.answers)

    @property
    def value(self) -> Connection:
        """The connection as it is now, without the answers that have come."""
        asked, answers = self.asked, self.answers
        if asked and next(iter(asked)) < self.answered:
            asked = {number: what for number, what in asked.items() if number >= self.answered}
            answers = {number: answer for number, answer in answers.items() if number >= self.answered}
        return replace(
            self.known, expected=self.expected, answered=self.answered, early=self.early, asked=asked, answers=answers
        )


class _Lines(dict[int, _Line]):
    """The connections that a step changes, by worker."""

    def __init__(self, connections: Mapping[int, Connection]) -> None:
        super().__init__()
        self.connections = connections

    def __missing__(self, worker: int) -> _Line:
        line = self[worker] = _Line(self.connections.get(worker, Connection()))
        return line


@decides("Cluster/once")
def _stepped(server: Server, requests: Sequence[Request], draft: Draft) -> tuple[Server, list[Reply]]:
    lines, replies = _Lines(server.connections), list[Reply]()
    for request in requests:
        worker = request.worker
        known = lines[worker].known if worker in lines else server.connections.get(worker, Connection())
        expected = lines[worker].expected if worker in lines else known.expected
        if request.incarnation < known.incarnation:
            continue
        if isinstance(request.body, Recall):
            kept = known.kept if request.incarnation == known.incarnation else {}
            replies.append(Reply(worker, request.incarnation, request.number, Recalled(dict(kept))))
            continue
        if request.incarnation > known.incarnation:
            server = _forget(server, worker)
            lines[worker] = _Line(Connection(request.incarnation))
        elif request.number < expected:
            answer = _again(lines[worker].value if worker in lines else known, request)
            replies += [] if answer is None else [Reply(worker, known.incarnation, request.number, answer)]
            continue
        line = lines[worker]
        line.answered = max(line.answered, request.answered)
        line.early[request.number] = request
        server = _carried_out(server, worker, lines, replies, draft)
    if not lines:
        return server, replies
    ended = {name: replace(table, draft=None) if table.draft else table for name, table in server.tables.items()}
    connections = {**server.connections, **{worker: line.value for worker, line in lines.items()}}
    return replace(server, connections=connections, tables=ended), replies


def _asked(body: Any) -> Asked:
    """A request without its numbers: its kind, and what it is about."""
    about = getattr(body, "part", None) or (getattr(body, "table", None), getattr(body, "head", None))
    return type(body).__name__, about


@decides("Cluster/forgotten", "Cluster/repeat-alike")
def _again(connection: Connection, request: Request) -> Answer | None:
    """The answer to a request that came before; None to one that waits for somebody."""
    number, first = request.number, connection.first or {}
    asked = first[number][0] if number in first else connection.asked.get(number)
    if asked is not None and asked != _asked(request.body):
        return Refused(
            "Cluster/repeat-alike",
            f"worker {request.worker} asks for {_words(_asked(request.body))} as #{number}, and has asked for"
            f" {_words(asked)} as #{number} before: a program that is run again must make the same calls",
        )
    if number in first:
        return first[number][1]
    if number < connection.answered:
        return Refused(
            "Cluster/forgotten",
            f"worker {request.worker} asks #{number} again, but has said that all below #{connection.answered} is"
            " answered; the answer is no longer kept",
        )
    return connection.answers.get(number)


def _words(asked: Asked) -> str:
    kind, about = asked
    return kind if isinstance(about, tuple) else f"{kind} {about}"


@decides("Cluster/keep")
def _keep(line: _Line, body: Keep) -> Connection:
    """Hold what a worker gives to keep; with the first, hold for good how it came there."""
    first = line.known.first
    if first is None and body.name != START:
        answered = line.answers.keys()
        first = {number: (asked, line.answers[number]) for number, asked in line.asked.items() if number in answered}
    return replace(line.known, first=first, kept={**line.known.kept, body.name: body.content})


@decides("Cluster/leave")
def _act(
    server: Server, worker: int, number: int, body: Any, draft: Draft | None = None
) -> tuple[Server, list[Sent]]:
    """Do what one request asks; tables that belong to ``draft`` change in place."""
    if isinstance(body, Join):
        return replace(server, members=server.members | {worker}), [(worker, number, Done())]
    if isinstance(body, Leave):
        server, sent = replace(_forget(server, worker), members=server.members - {worker}), list[Sent]()
        for name, table in server.tables.items():
            settled, answers = tables.settle_all(table, server.members)
            server, sent = _with_table(server, name, settled), sent + answers
        return server, [*sent, (worker, number, Done())]
    if server.stopped:
        return server, [(worker, number, Refused("Cluster/stopped", "the server was told to stop"))]
    if isinstance(body, Open):
        return _open(server, worker, number, body)
    name = body.table if isinstance(body, (Barrier, Command)) else body.part.table
    if name not in server.tables:
        return server, [(worker, number, Refused("Cluster/open", f"store {name} was not opened"))]
    if isinstance(body, Command) and body.head == STOP:
        return replace(server, stopped=True), [(worker, number, Done())]
    table, members = server.tables[name], server.members
    if draft is not None:
        table = draft.table(table)
    table, answers = _act_on(table, members, worker, number, body)
    return server if server.tables[name] is table else _with_table(server, name, table), answers


def _act_on(
    table: Table, members: frozenset[int], worker: int, number: int, body: Any
) -> tuple[Table, list[Sent]]:
    """Do what one request asks of a store."""
    if isinstance(body, Init):
        return tables.init(table, worker, number, body)
    if isinstance(body, Push):
        return tables.push(table, members, worker, number, body)
    if isinstance(body, (Pull, PullRows)):
        return tables.pull(table, worker, number, body)
    if isinstance(body, Barrier):
        return tables.barrier(table, members, worker, number)
    return tables.command(table, worker, number, body)


def _open(server: Server, worker: int, number: int, body: Open) -> tuple[Server, list[Sent]]:
    table = server.tables.get(body.table, Table(body.sync))
    if table.sync != body.sync:
        kinds = ("dist_async", "dist_sync")
        message = f"worker {worker} opens a {kinds[body.sync]} store where others have a {kinds[table.sync]} one"
        return server, [(worker, number, Refused("Cluster/one-kind", message))]
    return _with_table(server, body.table, table), [(worker, number, Done())]



@decides("Cluster/lose")
def _forget(server: Server, worker: int) -> Server:
    """Drop what a worker waits for in every store."""
    return replace(server, tables={name: tables.forget(table, worker) for name, table in server.tables.items()})


def _with_table(server: Server, name: int, table: Table) -> Server:
    return replace(server, tables={**server.tables, name: table})


__all__ = ["Connection", "Server", "Stored", "Table", "start", "step", "step_all"]
