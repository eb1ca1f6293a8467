"""The parameter server: ``step(server, request) -> (server, replies)``, and nothing else.

A :class:`Server` is a value. ``step`` does no input and no output, looks at no clock and changes nothing: it
returns the server that comes after a request, and what is to be sent. Whoever runs it keeps the new value before
the replies leave, so that a crash loses no more than messages, which the network may lose anyway.

Read ``step`` first (what makes a message count once and in order), then ``server_table.py`` (what a store does).
The rules are in spec/reference/stores/cluster.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..base import decides
from . import server_table
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
from .server_table import Sent, Stored, Table, replace

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


Step = Callable[[Server, Request], tuple[Server, list[Reply]]]
"""The rules of a server: :func:`step`, or others."""


def start(workers: int) -> Server:
    """Return a server that has received nothing yet and expects ``workers`` workers."""
    return Server(frozenset(range(workers)))


# --- once, and in order ---------------------------------------------------------------------------


@decides("Cluster/pure", "Cluster/once")
def step(server: Server, request: Request) -> tuple[Server, list[Reply]]:
    """The server after a message, and its replies.

    Requests of one worker count in the order of their numbers, each once: one that comes too early is kept, one
    that comes again is answered again as it was the first time. A worker that comes back begins a new incarnation:
    its numbers begin at 0 again, and requests of an older incarnation are dropped.
    """
    worker, connection = request.worker, server.connections.get(request.worker, Connection())
    if request.incarnation < connection.incarnation:
        return server, []
    if isinstance(request.body, Recall):
        return server, [_recalled(connection, request)]
    if request.incarnation > connection.incarnation:
        server, connection = _forget(server, worker), Connection(request.incarnation)
    if request.number < connection.expected:
        return server, _again(connection, request)
    server, replies = _with_connection(server, worker, _received(connection, request)), list[Reply]()
    while (connection := server.connections[worker]).expected in connection.early:
        now, connection = _next(connection)
        server, answers = _act(_with_connection(server, worker, connection), worker, now.number, now.body)
        for to, number, answer in answers:
            other = server.connections.get(to, Connection())
            server = _with_connection(server, to, replace(other, answers={**other.answers, number: answer}))
            replies.append(Reply(to, other.incarnation, number, answer))
    return server, replies


def _received(connection: Connection, request: Request) -> Connection:
    """The connection with a request that waits for its turn, without the answers that have come."""
    answered, asked, answers = max(connection.answered, request.answered), connection.asked, connection.answers
    if answered > connection.answered:
        asked = {number: what for number, what in asked.items() if number >= answered}
        answers = {number: answer for number, answer in answers.items() if number >= answered}
    early = {**connection.early, request.number: request}
    return replace(connection, answered=answered, early=early, asked=asked, answers=answers)


def _next(connection: Connection) -> tuple[Request, Connection]:
    """The request whose turn it is, and the connection after it."""
    early = dict(connection.early)
    now = early.pop(connection.expected)
    asked = {**connection.asked, now.number: _asked(now.body)}
    return now, replace(connection, expected=connection.expected + 1, early=early, asked=asked)


def _recalled(connection: Connection, request: Request) -> Reply:
    """What a worker of this incarnation gave to keep."""
    kept = connection.kept if request.incarnation == connection.incarnation else {}
    return Reply(request.worker, request.incarnation, request.number, Recalled(dict(kept)))


def _asked(body: Any) -> Asked:
    """A request without its numbers: its kind, and what it is about."""
    about = getattr(body, "part", None) or (getattr(body, "table", None), getattr(body, "head", None))
    return type(body).__name__, about


def _again(connection: Connection, request: Request) -> list[Reply]:
    """The reply to a request that came before; none to one that waits for somebody."""
    answer = _answer_again(connection, request)
    return [] if answer is None else [Reply(request.worker, connection.incarnation, request.number, answer)]


@decides("Cluster/forgotten", "Cluster/repeat-alike")
def _answer_again(connection: Connection, request: Request) -> Answer | None:
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
def _keep(connection: Connection, body: Keep) -> Connection:
    """Hold what a worker gives to keep; with the first, hold for good how it came there."""
    first, answers = connection.first, connection.answers
    if first is None and body.name != START:
        first = {number: (asked, answers[number]) for number, asked in connection.asked.items() if number in answers}
    return replace(connection, first=first, kept={**connection.kept, body.name: body.content})


@decides("Cluster/leave")
def _act(server: Server, worker: int, number: int, body: Any) -> tuple[Server, list[Sent]]:
    """Do what one request asks."""
    if isinstance(body, Keep):
        kept = _keep(server.connections[worker], body)
        return _with_connection(server, worker, kept), [(worker, number, Done())]
    if isinstance(body, Join):
        return replace(server, members=server.members | {worker}), [(worker, number, Done())]
    if isinstance(body, Leave):
        server, sent = replace(_forget(server, worker), members=server.members - {worker}), list[Sent]()
        for name, table in server.tables.items():
            settled, answers = server_table.settle_all(table, server.members)
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
    table, answers = _act_on(table, members, worker, number, body)
    return _with_table(server, name, table), answers


def _act_on(
    table: Table, members: frozenset[int], worker: int, number: int, body: Any
) -> tuple[Table, list[Sent]]:
    """Do what one request asks of a store."""
    if isinstance(body, Init):
        return server_table.init(table, worker, number, body)
    if isinstance(body, Push):
        return server_table.push(table, members, worker, number, body)
    if isinstance(body, (Pull, PullRows)):
        return server_table.pull(table, worker, number, body)
    if isinstance(body, Barrier):
        return server_table.barrier(table, members, worker, number)
    return server_table.command(table, worker, number, body)


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
    return replace(server, tables={name: server_table.forget(table, worker) for name, table in server.tables.items()})


def _with_table(server: Server, name: int, table: Table) -> Server:
    return replace(server, tables={**server.tables, name: table})


def _with_connection(server: Server, worker: int, connection: Connection) -> Server:
    return replace(server, connections={**server.connections, worker: connection})


__all__ = ["Connection", "Server", "Step", "Stored", "Table", "start", "step"]
