"""A server's rules with one line changed: faults that an explorer of all interleavings must find."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any, NamedTuple

from refimpl.kvstore import server, server_table
from refimpl.kvstore.schedule import NONE, Faults

AHEAD = (("push", 0), ("push", 0), ("pull", 0), ("barrier", None))
"""A worker that pushes twice before it pulls."""
APART = (("push", 0), ("barrier", None), ("pull", 0), ("barrier", None), ("push", 0), ("barrier", None), ("pull", 0))
"""Pushes and pulls that barriers keep apart."""


BEHIND = (("push", 0), ("pull", 0), ("push", 0), ("pull", 0))
"""A worker that pulls after each push."""
TWO_PULLS = (("push", 0), ("push", 0), ("pull", 0), ("pull", 0))


class Mutant(NamedTuple):
    """A change of one line, the job and the faults with which it shows, and what then is wrong."""

    file: str
    old: str
    new: str
    wrong: str
    kind: str = "dist_sync"
    program: tuple[tuple[str, Any], ...] | None = None
    faults: Faults = NONE
    workers: int = 2
    other: tuple[tuple[str, Any], ...] | None = None
    """The program of the last worker, if it is another."""


RULES, TABLE = "server.py", "server_table.py"
DROP, TWICE = Faults(drops=1), Faults(duplicates=1)

_AGAIN = "return [] if answer is None else [Reply(request.worker, connection.incarnation, request.number, answer)]"
_ALWAYS = "return [Reply(request.worker, connection.incarnation, request.number, answer or Done())]"
_APPLIED = "_applied(table, part, held, _unpacked(body.value), body.replace)"

MUTANTS = (
    Mutant(RULES, "return server, _again(connection, request)", "return server, []", "unanswered", faults=DROP),
    Mutant(
        RULES, "if request.number < connection.expected:", "if request.number < -1:", "unanswered", faults=DROP
    ),
    Mutant(RULES, "{**connection.early, request.number: request}", "{request.number: request}", "unanswered"),
    Mutant(
        RULES, "answer for number, answer in answers.items() if number >= answered",
        "answer for number, answer in answers.items() if number > answered", "unanswered", program=TWO_PULLS,
        faults=DROP,
    ),
    Mutant(RULES, "answers={**other.answers, number: answer}", "answers={}", "unanswered", faults=DROP),
    Mutant(
        RULES, "replies.append(Reply(to, other.incarnation, number, answer))",
        "replies += [Reply(to, other.incarnation, number, answer)] * (to == worker)", "unanswered",
    ),
    Mutant(RULES, "while (connection := server", "if (connection := server", "unanswered"),
    Mutant(RULES, _AGAIN, _ALWAYS, "answered", faults=TWICE),
    Mutant(
        RULES, "server_table.barrier(table, members,", "server_table.barrier(table, {worker},", "early", "dist_async",
        APART,
    ),
    Mutant(RULES, "return server_table.push(table, members,", "return server_table.push(table, {worker},", "early"),
    Mutant(
        TABLE, "(*held.queues.get(worker, ()), body)", "(body, *held.queues.get(worker, ()))", "", program=AHEAD,
        other=BEHIND,
    ),
    Mutant(
        TABLE, "queue[1:] for worker, queue in held.queues.items() if queue[1:]",
        "queue[2:] for worker, queue in held.queues.items() if queue[2:]", "", program=AHEAD,
    ),
    Mutant(TABLE, "held.queues[worker][0] for", "held.queues[worker][-1] for", "", program=AHEAD),
    Mutant(TABLE, "all(held.queues.get(member)", "any(held.queues.get(member)", "early"),
    Mutant(
        TABLE, "pulls=tuple(pull for pull in held.pulls if held.queues.get(pull[0]))", "pulls=()", "unanswered",
        program=AHEAD, other=BEHIND, workers=3,
    ),
    Mutant(TABLE, "    if held.queues.get(worker):\n", "    if False:\n", ""),
    Mutant(
        TABLE, "if not table.barrier or not members <= table.barrier.keys():", "if not table.barrier:", "early",
        "dist_async", APART,
    ),
    Mutant(TABLE, "return replace(table, barrier={}), [", "return table, [", "early", "dist_async", APART),
    Mutant(TABLE, "    if body.replace and worker != 0:", "    if worker != 0:", "", "dist_async"),
    Mutant(TABLE, "add_up(values, table.multi_precision)", "values[0]", ""),
    Mutant(TABLE, _APPLIED, "table", "", "dist_async"),
    Mutant(
        TABLE, "in sorted(table.barrier.items())]", "in sorted(table.barrier.items())[:1]]", "unanswered"
    ),
    Mutant(
        TABLE, "ready = [pull for pull in held.pulls if not held.queues.get(pull[0])]", "ready = list(held.pulls)",
        "", program=AHEAD, workers=3,
    ),
)
"""An empty text as what is wrong: the first violation depends on which of several the shortest history shows."""


def programs_of(mutant: Mutant) -> tuple[tuple[tuple[str, Any], ...], ...] | None:
    """The programs of the workers; None for those of every job."""
    if mutant.program is None:
        return None
    return (*(mutant.program,) * (mutant.workers - 1), mutant.other or mutant.program)


def step_of(mutant: Mutant) -> Any:
    """The rules with the line changed."""
    table = _changed("server_table.py", mutant) if mutant.file == TABLE else server_table
    made = _changed("server.py", mutant) if mutant.file != TABLE else _module("server.py")
    made.server_table = table  # type: ignore[attr-defined]
    return made.step


def _changed(file: str, mutant: Mutant) -> types.ModuleType:
    return _module(file, mutant.old, mutant.new)


def _module(file: str, old: str = "", new: str = "") -> types.ModuleType:
    package = server_table if file == TABLE else server
    text = Path(package.__file__).read_text(encoding="utf-8")
    assert not old or text.count(old) == 1, old
    made = types.ModuleType(package.__name__)
    made.__package__ = package.__package__
    exec(compile(text.replace(old, new) if old else text, file, "exec"), made.__dict__)  # our own source
    return made
