"""Servers and stores that break their word, one for each anomaly that a history can be accused of.

Most are those with which the oracle is tested (``refimpl.oracle.backends.broken_servers``); here are the others, and
programs and seeds with which each shows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from refimpl.kvstore import messages as say
from refimpl.kvstore.server import Server, step
from refimpl.oracle.backends.broken_servers import (
    After,
    Broken,
    Duplicated,
    EarlyRound,
    Forgetful,
    Lost,
    Stale,
    Torn,
    Unordered,
    WrongShard,
    frozen,
)
from refimpl.oracle.backends.simulated_cluster import Scripts


class Garbage(Broken):
    """Stores half of a push."""

    def __call__(self, server: Server, request: say.Request) -> After:
        """See :class:`Broken`."""
        return self.instead(server, request, request.body.value / 2) if self.hits(request) else step(server, request)


class Masking(Broken):
    """Changes what a worker's pulls of key "w" give: ``shown(worker, number of the pull, value)``."""

    def __init__(self, program: Scripts, choice: int) -> None:
        super().__init__(program, choice)
        self.pulls: dict[tuple[int, int], int] = {}

    def __call__(self, server: Server, request: say.Request) -> After:
        """See :class:`Broken`."""
        after, replies = step(server, request)
        body = request.body
        if isinstance(body, say.Pull) and body.part.key == "w":
            mine = [number for worker, number in self.pulls if worker == request.worker]
            self.pulls.setdefault((request.worker, request.number), len(mine))
        return after, [reply for one in replies for reply in self.changed(one)]

    def changed(self, reply: say.Reply) -> list[say.Reply]:
        """What is answered in the place of a reply."""
        number = self.pulls.get((reply.worker, reply.number))
        if number is None or not isinstance(reply.body, say.Held):
            return [reply]
        value = self.shown(reply.worker, number, reply.body.value)
        if value is None:
            return []
        return [say.Reply(reply.worker, reply.incarnation, reply.number, say.Held(frozen(value), reply.body.version))]

    def of(self, worker: int) -> slice:
        """The columns of a worker's pushes."""
        return slice(worker * self.program.pushes, (worker + 1) * self.program.pushes)

    def shown(self, worker: int, number: int, value: np.ndarray) -> np.ndarray | None:
        """The array that the pull gives; None for no answer."""
        return value.copy()


class Backwards(Masking):
    """Takes worker 0's pushes back from what worker 1 has seen of them."""

    def shown(self, worker: int, number: int, value: np.ndarray) -> np.ndarray:
        """Worker 1's second pull."""
        made = value.copy()
        if worker == 1 and number == 1:
            made[..., self.of(0)] = 0
        return made


class Incomparable(Masking):
    """Shows each worker its own pushes first."""

    def shown(self, worker: int, number: int, value: np.ndarray) -> np.ndarray:
        """Everybody's first pull."""
        made = np.zeros_like(value)
        made[..., self.of(worker)] = value[..., self.of(worker)]
        return made if number == 0 else value.copy()


class Unanswered(Masking):
    """Never answers worker 1's first pull."""

    def shown(self, worker: int, number: int, value: np.ndarray) -> np.ndarray | None:
        """Worker 1's first pull."""
        return None if worker == 1 and number == 0 else value.copy()


class Planted(NamedTuple):
    """A fault, and a run in which it shows."""

    kind: str
    script: list[tuple[str, Any]]
    server: type[Broken] | None = None
    rows: int = 1
    choice: int = 0
    seed: int = 0
    threshold: float | None = None
    spoil: Callable[[], Any] | None = None

    def arguments(self) -> dict[str, Any]:
        """What ``explain.cluster`` is called with."""
        program = Scripts(self.kind, 1, {"w": self.rows, "b": self.rows}, [self.script] * 2)
        server, choice = self.server, self.choice
        return {
            "program": program, "seed": self.seed, "threshold": self.threshold, "spoil": self.spoil,
            "server": None if server is None else lambda scripts: server(scripts, choice),
        }


ONCE = [("push", "w"), ("pull", "w")]
TWICE = [("push", "w"), ("pull", "w"), ("push", "w"), ("pull", "w")]
IN_A_ROW = [("push", "w"), ("push", "w"), ("pull", "w")]

PLANTED: dict[str, Planted] = {
    "garbage": Planted("dist_sync", TWICE, Garbage),
    "wrong key": Planted("dist_async", ONCE, WrongShard),
    "duplicated": Planted("dist_sync", TWICE, Duplicated, choice=1),
    "torn": Planted("dist_async", ONCE, Torn, rows=2),
    "lost": Planted("dist_async", TWICE, Lost, choice=2),
    "out of order": Planted("dist_async", IN_A_ROW, Unordered, seed=0),
    "read your writes": Planted("dist_async", TWICE, Stale),
    "backwards": Planted("dist_async", TWICE, Backwards),
    "early": Planted("dist_sync", TWICE, EarlyRound),
    "incomparable": Planted("dist_async", ONCE, Incomparable),
    "unanswered": Planted("dist_sync", TWICE, Unanswered),
    "residual": Planted("dist_sync", [*TWICE, *TWICE], threshold=0.5, spoil=Forgetful),
}
"""The name of an anomaly -> what is accused of it first."""
