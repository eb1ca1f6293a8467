"""The parameter server as a pure function: ``step(server, request) -> (server, replies)``.

A :class:`Server` is a value. ``step`` does no input or output, reads no clock and changes no argument: it returns the
server after a request, and the replies to send. A program that runs ``step`` keeps the new server before it sends the
replies, so that a crash loses only messages, which the network may lose anyway.

Read ``step`` first (each message counts once, in order), then ``server_table.py`` (the rules of one store).
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
"""The kind and the subject of a request, with which a repeated request of the same number is compared."""


@dataclass(frozen=True)
class Connection:
    """The connection to one worker: the number of the next request, requests that came early, and the answers.

    ``incarnation`` counts how often the worker connected; see :class:`~refimpl.kvstore.messages.Request`. ``asked``
    and ``answers`` have the requests from number ``answered`` on: the worker has the answers to earlier requests.
    ``kept`` has the values that the worker gave to keep, by name; ``first`` has the requests before the first of these,
    with their answers.
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
    """The whole state of a server. ``members`` are the workers for which rounds and barriers wait."""

    members: frozenset[int]
    connections: Mapping[int, Connection] = field(default_factory=dict)
    tables: Mapping[int, Table] = field(default_factory=dict)
    stopped: bool = False


Step = Callable[[Server, Request], tuple[Server, list[Reply]]]
"""The rules of a server: :func:`step`, or another function with these arguments."""


def start(workers: int) -> Server:
    """Return a new server, which expects ``workers`` workers."""
    return Server(frozenset(range(workers)))


# --- once, and in order ---------------------------------------------------------------------------


@decides("Cluster/pure", "Cluster/once")
def step(server: Server, request: Request) -> tuple[Server, list[Reply]]:
    """The server after a message, and its replies.

    Requests of one worker count in the order of their numbers, each once: a request that comes too early is kept, a
    repeated request gets the same answer again. A worker that connects again begins a new incarnation: its numbers
    begin at 0 again, and requests of an older incarnation are dropped.
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
    """The connection with one more early request, and without the answers that the worker already has."""
    answered, asked, answers = max(connection.answered, request.answered), connection.asked, connection.answers
    if answered > connection.answered:
        asked = {number: what for number, what in asked.items() if number >= answered}
        answers = {number: answer for number, answer in answers.items() if number >= answered}
    early = {**connection.early, request.number: request}
    return replace(connection, answered=answered, early=early, asked=asked, answers=answers)


def _next(connection: Connection) -> tuple[Request, Connection]:
    """(request with the expected number, connection after it)."""
    early = dict(connection.early)
    now = early.pop(connection.expected)
    asked = {**connection.asked, now.number: _asked(now.body)}
    return now, replace(connection, expected=connection.expected + 1, early=early, asked=asked)


def _recalled(connection: Connection, request: Request) -> Reply:
    """The reply with the values that a worker of this incarnation gave to keep."""
    kept = connection.kept if request.incarnation == connection.incarnation else {}
    return Reply(request.worker, request.incarnation, request.number, Recalled(dict(kept)))


def _asked(body: Any) -> Asked:
    """The kind and the subject of a request, without its numbers."""
    about = getattr(body, "part", None) or (getattr(body, "table", None), getattr(body, "head", None))
    return type(body).__name__, about


def _again(connection: Connection, request: Request) -> list[Reply]:
    """The reply to a repeated request; no reply while the request waits for other workers."""
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
    """Store a value that a worker gives to keep; with the first one, store all earlier requests and answers."""
    first, answers = connection.first, connection.answers
    if first is None and body.name != START:
        first = {number: (asked, answers[number]) for number, asked in connection.asked.items() if number in answers}
    return replace(connection, first=first, kept={**connection.kept, body.name: body.content})


@decides("Cluster/leave")
def _act(server: Server, worker: int, number: int, body: Any) -> tuple[Server, list[Sent]]:
    """Carry out one request."""
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
    """Carry out one request to a store."""
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
    """Drop the pending requests of a worker in every store."""
    return replace(server, tables={name: server_table.forget(table, worker) for name, table in server.tables.items()})


def _with_table(server: Server, name: int, table: Table) -> Server:
    return replace(server, tables={**server.tables, name: table})


def _with_connection(server: Server, worker: int, connection: Connection) -> Server:
    return replace(server, connections={**server.connections, worker: connection})


__all__ = ["Connection", "Server", "Step", "Stored", "Table", "start", "step"]
