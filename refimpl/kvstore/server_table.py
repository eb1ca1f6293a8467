"""The rules of one store on a server: rounds of pushes, pulls, barriers and commands.

A :class:`Table` is a value. Each rule takes a table, and returns the table after a request with the answers;
``server.py`` passes the requests, in order.

Read ``push``, ``settle`` and ``pull`` first. The rules are in spec/reference/stores/cluster.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base import MXNetError, decides
from ..optimizer import Optimizer
from ..optimizer.states import loads_optimizer
from .compression import TwoBit
from .messages import (
    COMMANDS,
    MULTI_PRECISION,
    OPTIMIZER,
    SYNC,
    Answer,
    Command,
    Done,
    Held,
    Init,
    Packed,
    PartId,
    Pull,
    PullRows,
    Push,
    Refused,
    Value,
    size_of,
)
from .optimizer_step import NOTHING, copied, updated
from .server_arithmetic import add_up, cast, rows_of, stored_like, widened

QUEUED = 1 << 32
"""The most bytes of one worker's pushes to a part that a server queues until other workers have pushed."""

Sent = tuple[int, int, Answer]
"""An answer to send: (worker, number of its request, answer)."""


def replace(value: Any, /, **fields: Any) -> Any:
    """As :func:`dataclasses.replace`, in a third of the time."""
    new = object.__new__(type(value))
    new.__dict__.update(value.__dict__, **fields)
    return new


@dataclass(frozen=True)
class Stored:
    """A part of an array, the pushes to it that wait for other workers, and the pulls that wait for these pushes."""

    value: Value
    dtype: np.dtype
    version: int = 0
    queues: Mapping[int, tuple[Push, ...]] = field(default_factory=dict)
    pulls: tuple[tuple[int, int, Pull | PullRows], ...] = ()
    state: Any = NOTHING
    failure: Refused | None = None


@dataclass(frozen=True)
class Table:
    """One store: its kind, its parts, its optimizer, and the waiting workers.

    ``inits`` holds the workers (with request number and request) that wait until worker 0 has initialised a part;
    ``barrier`` the request numbers of the workers that wait at the barrier.
    """

    sync: bool
    parts: Mapping[PartId, Stored] = field(default_factory=dict)
    inits: Mapping[PartId, tuple[tuple[int, int, Init], ...]] = field(default_factory=dict)
    optimizer: Optimizer | None = None
    multi_precision: bool = False
    barrier: Mapping[int, int] = field(default_factory=dict)


def init(table: Table, worker: int, number: int, body: Init) -> tuple[Table, list[Sent]]:
    """Give a part the value of worker 0; an earlier value stays (worker 0 was started again)."""
    part, waiting = body.part, table.inits.get(body.part, ())
    held = table.parts.get(part)
    if held is None and body.value is None:
        return replace(table, inits={**table.inits, part: (*waiting, (worker, number, body))}), []
    if held is None:
        assert body.value is not None
        held = Stored(widened(body.value) if table.multi_precision else body.value, body.value.dtype)
        inits = {other: who for other, who in table.inits.items() if other != part}
        table = _with_part(replace(table, inits=inits), part, held)
    answers = []
    for who, which, asked in (*waiting, (worker, number, body)):
        answer: Answer = Done()
        if asked.shape != held.value.shape:
            answer = Refused(
                "Cluster/init-alike",
                f"worker {who} initialises {part} with shape {asked.shape}, worker 0 with {held.value.shape}",
            )
        answers.append((who, which, answer))
    return table, answers


@decides("Cluster/async", "Cluster/bytes-queued")
def push(
    table: Table, members: frozenset[int], worker: int, number: int, body: Push
) -> tuple[Table, list[Sent]]:
    """Take a push: dist_sync queues it until its round is full, dist_async applies it now."""
    part, held = body.part, table.parts.get(body.part)
    if held is None:
        return table, [(worker, number, _not_inited(part))]
    if body.value.shape != held.value.shape:
        return table, [(worker, number, Refused(
            "Cluster/push-alike",
            f"{part} has the shape {held.value.shape}, worker {worker} pushes {body.value.shape}",
        ))]
    if table.sync:
        queue = (*held.queues.get(worker, ()), body)
        if len(queue) > 1 and sum(map(size_of, queue)) > QUEUED:
            return table, [(worker, number, Refused(
                "Cluster/bytes-queued",
                f"{len(queue)} pushes of worker {worker} to {part} wait for other workers, more than {QUEUED} bytes:"
                " pull now and then, which waits for them",
            ))]
        held = replace(held, queues={**held.queues, worker: queue})
        table, answers = _settle(_with_part(table, part, held), members, part)
        return table, [(worker, number, Done()), *answers]
    if body.replace and worker != 0:
        return table, [(worker, number, Done())]
    if table.optimizer is None and not body.replace:
        return table, [(worker, number, Refused(
            "Cluster/async-optimizer",
            f"Updater needs to be set for async mode: worker {worker} pushes to {part} before any set_optimizer",
        ))]
    return _applied(table, part, held, _unpacked(body.value), body.replace), [(worker, number, Done())]


@decides("Cluster/sync-round")
def _with_round(table: Table, part: PartId, held: Stored) -> Table:
    """Apply the oldest push of each queue of a part."""
    ranked = [held.queues[worker][0] for worker in sorted(held.queues)]
    queues = {worker: queue[1:] for worker, queue in held.queues.items() if queue[1:]}
    held = replace(held, queues=queues)
    values = [_unpacked(push.value) for push in ranked]
    if all(push.replace for push in ranked):
        return _applied(table, part, held, values[0], replaces=True)
    if any(push.replace for push in ranked):
        failure = Refused("Cluster/replace-together", f"some workers pushed to {part} while others replaced it")
        return _with_part(table, part, replace(held, version=held.version + 1, failure=failure))
    return _applied(table, part, held, add_up(values, table.multi_precision), replaces=False)


@decides("Cluster/sync-round", "Cluster/ahead")
def _settle(table: Table, members: frozenset[int], part: PartId) -> tuple[Table, list[Sent]]:
    """Apply every full round of a part, then answer the pulls that waited for it.

    A round is full when every member has pushed. It adds up the oldest push of each queue, in the order of the workers'
    ranks; the pushes of workers that have left count too.
    """
    held = table.parts[part]
    while held.queues and all(held.queues.get(member) for member in members):
        table = _with_round(table, part, held)
        held = table.parts[part]
    ready = [pull for pull in held.pulls if not held.queues.get(pull[0])]
    if ready:
        held = replace(held, pulls=tuple(pull for pull in held.pulls if held.queues.get(pull[0])))
        table = _with_part(table, part, held)
    return table, [(worker, number, _answer_to(held, body)) for worker, number, body in ready]


@decides("Cluster/rank-order")
def _applied(table: Table, part: PartId, held: Stored, total: Value, replaces: bool) -> Table:
    """The table after one round or push; the new value comes from the optimizer, or is ``total`` without one."""
    optimizer, state, failure = table.optimizer, held.state, None if replaces else held.failure
    if optimizer is None or replaces:
        value = stored_like(total, held.value)
    else:
        try:
            gradient = widened(total) if table.multi_precision else total
            optimizer = copied(optimizer)
            state, value = updated(optimizer, state, part, held.version, held.value, gradient)
        except Exception as error:  # noqa: BLE001  # an optimizer may be a user's code
            optimizer = table.optimizer
            message = f"the optimizer failed to update {part}: {type(error).__name__}: {error}"
            value, failure = held.value, failure or Refused("Cluster/update-failed", message)
    held = replace(held, value=value, state=state, version=held.version + 1, failure=failure)
    return replace(_with_part(table, part, held), optimizer=optimizer)


def pull(table: Table, worker: int, number: int, body: Pull | PullRows) -> tuple[Table, list[Sent]]:
    """Answer with the value of a part, once the pulling worker's own pushes are applied to it."""
    held = table.parts.get(body.part)
    if held is None:
        return table, [(worker, number, _not_inited(body.part))]
    if held.queues.get(worker):
        held = replace(held, pulls=(*held.pulls, (worker, number, body)))
        return _with_part(table, body.part, held), []
    return table, [(worker, number, _answer_to(held, body))]


@decides("Cluster/pull-own")
def _answer_to(held: Stored, body: Pull | PullRows) -> Answer:
    value = held.value
    if held.failure:
        return held.failure
    if isinstance(body, PullRows):
        value = rows_of(value, body.ids)
    return Held(cast(value, held.dtype), held.version)


def barrier(table: Table, members: frozenset[int], worker: int, number: int) -> tuple[Table, list[Sent]]:
    """Let a worker wait at the barrier. A worker that waits there already has given up its earlier call."""
    given_up = [(worker, table.barrier[worker], Done("called again"))] if worker in table.barrier else []
    table, answers = _open_barrier(replace(table, barrier={**table.barrier, worker: number}), members)
    return table, [*given_up, *answers]


@decides("Cluster/barrier")
def _open_barrier(table: Table, members: frozenset[int]) -> tuple[Table, list[Sent]]:
    """Answer all workers at the barrier when every member is there."""
    if not table.barrier or not members <= table.barrier.keys():
        return table, []
    return replace(table, barrier={}), [(who, number, Done()) for who, number in sorted(table.barrier.items())]


@decides("Cluster/commands")
def command(table: Table, worker: int, number: int, body: Command) -> tuple[Table, list[Sent]]:
    """Carry out a command; an optimizer is taken from worker 0 only."""
    answer: Answer = Done()
    if body.head == OPTIMIZER and worker == 0:
        try:
            optimizer = loads_optimizer(body.body.encode("latin-1"), f"the optimizer from worker {worker}")
            forgotten = {part: replace(held, state=NOTHING) for part, held in table.parts.items()}
            table = replace(table, optimizer=optimizer, parts=forgotten)
        except (MXNetError, UnicodeEncodeError) as error:
            answer = Refused(getattr(error, "clause", "Command/optimizer"), str(error))
    elif body.head == MULTI_PRECISION:
        wide = {
            part: replace(held, value=widened(held.value), state=NOTHING) for part, held in table.parts.items()
            if widened(held.value) is not held.value
        }
        table = replace(table, multi_precision=True, parts={**table.parts, **wide})
    elif body.head == SYNC:
        table = replace(table, sync=True)
    elif body.head not in COMMANDS:
        answer = Done(f"unknown command {body.head} was ignored")
    return table, [(worker, number, answer)]


def settle_all(table: Table, members: frozenset[int]) -> tuple[Table, list[Sent]]:
    """After a member has left: apply rounds, answer pulls and open barriers that waited for it."""
    sent: list[Sent] = []
    for part in list(table.parts):
        table, answers = _settle(table, members, part)
        sent += answers
    table, answers = _open_barrier(table, members)
    return table, sent + answers


def forget(table: Table, worker: int) -> Table:
    """Drop the pulls, inits and barrier calls of a worker that wait. Its pushes stay: a taken push is never lost."""
    parts = {
        part: replace(held, pulls=tuple(pull for pull in held.pulls if pull[0] != worker))
        for part, held in table.parts.items()
    }
    inits = {part: tuple(one for one in who if one[0] != worker) for part, who in table.inits.items()}
    waiting = {who: number for who, number in table.barrier.items() if who != worker}
    return replace(table, parts=parts, inits=inits, barrier=waiting)


def _not_inited(part: PartId) -> Refused:
    return Refused("KVStore/initialised", f"{part} has not been inited; call init(key, array) first")


def _unpacked(value: Value | Packed) -> Value:
    if isinstance(value, Packed):
        return TwoBit(value.threshold).decode(value.words, value.shape, value.dtype)
    return value


def _with_part(table: Table, part: PartId, held: Stored) -> Table:
    return replace(table, parts={**table.parts, part: held})


__all__ = [
    "QUEUED", "Sent", "Stored", "Table", "barrier", "command", "forget", "init", "pull", "push", "settle_all",
]
