"""The state of a server as bytes, for snapshots. Reading a snapshot makes values, and never runs code.

A snapshot is one value as :mod:`refimpl.kvstore.plain` writes it. Messages and arrays are written as in a frame
(``wire.py``), optimizers and their states as in a ``.states`` file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...base import MXNetError, decides, refusal
from ...optimizer.states import dumps, dumps_optimizer, loads, loads_optimizer
from ..optimizer_step import NOTHING
from ..plain import parts, unpack
from ..server import Connection, Server
from ..server_table import Stored, Table
from .wire import message_of, plain

VERSION = 1


# --- writing --------------------------------------------------------------------------------------


@decides("Cluster/server-bytes")
def encode_server(server: Server) -> bytes:
    """The state of ``server`` as bytes."""
    return b"".join(pieces_of_server(server))


def pieces_of_server(server: Server) -> list[bytes | memoryview]:
    """The pieces of bytes that :func:`encode_server` joins; arrays are not copied."""
    return parts([
        VERSION, sorted(server.members), server.stopped,
        {worker: _plain_connection(one) for worker, one in server.connections.items()},
        {name: _plain_table(one) for name, one in server.tables.items()},
    ])


def _plain_connection(one: Connection) -> list[Any]:
    first = one.first
    return [
        one.incarnation, one.expected, one.answered,
        [plain(request) for request in one.early.values()],
        {number: _plain_asked(asked) for number, asked in one.asked.items()},
        {number: plain(answer) for number, answer in one.answers.items()},
        None if first is None else {n: [_plain_asked(asked), plain(answer)] for n, (asked, answer) in first.items()},
        dict(one.kept),
    ]


def _plain_asked(asked: tuple[str, Any]) -> list[Any]:
    return [asked[0], plain(asked[1])]


def _plain_table(table: Table) -> list[Any]:
    held = list(table.parts.values())
    states = {number: one.state for number, one in enumerate(held) if one.state is not NOTHING}
    return [
        table.sync, [[plain(part), _plain_stored(one)] for part, one in table.parts.items()], dumps(states),
        [[plain(part), [[who, number, plain(body)] for who, number, body in waiting]]
         for part, waiting in table.inits.items()],
        None if table.optimizer is None else dumps_optimizer(table.optimizer), table.multi_precision,
        dict(table.barrier),
    ]


def _plain_stored(one: Stored) -> list[Any]:
    return [
        plain(one.value), one.dtype.str, one.version,
        {worker: [plain(push) for push in queue] for worker, queue in one.queues.items()},
        [[who, number, plain(body)] for who, number, body in one.pulls],
        None if one.failure is None else plain(one.failure),
    ]


# --- reading --------------------------------------------------------------------------------------


@decides("Cluster/server-bytes")
def decode_server(content: bytes, name: str = "a snapshot") -> Server:
    """The server from bytes of :func:`encode_server`.

    Raises:
        MXNetError: the bytes hold no server; the message begins with ``name``.
    """
    try:
        version, members, stopped, connections, tables = unpack(content, name)
        if version != VERSION:
            raise ValueError(f"its version is {version}, {VERSION} can be read")
        return Server(
            frozenset(members), {worker: _connection(one) for worker, one in connections.items()},
            {number: _table(one, name) for number, one in tables.items()}, stopped,
        )
    except (MXNetError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise refusal("Cluster/server-bytes", f"{name} holds no server: {error}") from error


def _value(given: Any) -> Any:
    return message_of(given) if isinstance(given, list) else given


def _asked(given: list[Any]) -> tuple[str, Any]:
    return given[0], _value(given[1])


def _connection(given: list[Any]) -> Connection:
    incarnation, expected, answered, early, asked, answers, first, kept = given
    requests = [message_of(one) for one in early]
    return Connection(
        incarnation, expected, answered, {request.number: request for request in requests},
        {number: _asked(one) for number, one in asked.items()},
        {number: message_of(one) for number, one in answers.items()},
        None if first is None else {n: (_asked(one), message_of(answer)) for n, (one, answer) in first.items()},
        kept,
    )


def _table(given: list[Any], name: str) -> Table:
    sync, parts, states, inits, optimizer, multi_precision, barrier = given
    known, _ = loads(states, name)
    return Table(
        sync,
        {message_of(part): _stored(one, known.get(number, NOTHING)) for number, (part, one) in enumerate(parts)},
        {message_of(part): tuple((who, number, message_of(body)) for who, number, body in waiting)
         for part, waiting in inits},
        None if optimizer is None else loads_optimizer(optimizer, name), multi_precision, barrier,
    )


def _stored(given: list[Any], state: Any) -> Stored:
    value, dtype, version, queues, pulls, failure = given
    waiting: Mapping[int, Any] = {worker: tuple(message_of(one) for one in queue) for worker, queue in queues.items()}
    return Stored(
        _value(value), np.dtype(dtype), version, waiting,
        tuple((who, number, message_of(body)) for who, number, body in pulls), state,
        None if failure is None else message_of(failure),
    )


__all__ = ["decode_server", "encode_server", "pieces_of_server"]
