"""The events of a simulated cluster, and the choices between them: drawn from a seed, or read from a list."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from ..base import decides, refusal


@dataclass(frozen=True)
class Faults:
    """The most faults of each kind in one cluster. Delay and reordering are always possible.

    Args:
        drops: messages that never arrive; they are sent again.
        duplicates: messages that arrive twice.
        crashes: servers that go down with all messages on their way to and from them, and come back.
        kills: workers whose process ends and is started again; see ``SimulatedCluster.kill``.
    """

    drops: int = 0
    duplicates: int = 0
    crashes: int = 0
    kills: int = 0

    def __post_init__(self) -> None:
        counts = (self.drops, self.duplicates, self.crashes, self.kills)
        if not all(isinstance(count, int) and count >= 0 for count in counts):
            raise refusal("Cluster/weather", f"faults are counted by whole numbers from 0, got {self}", ValueError)


NONE = Faults()
SOME = Faults(drops=8, duplicates=8, crashes=2)

# One event in this many is a fault, while there are faults left.
RARITY = 12


@decides("Cluster/replay")
class Choices:
    """Chooses one of several possible events, and remembers its choices.

    With ``script`` the decisions are read from this list, and are 0 after its end; otherwise they are drawn from
    ``seed``. Decision 0 always means the oldest message, without a fault. So short lists of small numbers are schedules
    with few faults, and a tool that shrinks lists finds the smallest disturbance that matters.
    """

    def __init__(self, seed: int = 0, script: Sequence[int] | None = None) -> None:
        self._random = random.Random(seed)
        self._script = None if script is None else iter(script)
        self.made: list[int] = []

    def one_of(self, count: int) -> int:
        """A number below ``count``."""
        if count == 1:
            return 0
        drawn = self._random.randrange(count) if self._script is None else next(self._script, 0) % count
        self.made.append(drawn)
        return drawn


@dataclass(frozen=True)
class NetworkEvent:
    """An event in the network: the ``action``, the worker and the server, and the message ``what``."""

    action: str
    worker: int | None
    server: int | None
    what: str = ""

    def __str__(self) -> str:
        who = "" if self.worker is None else f"worker {self.worker}"
        which = "" if self.server is None else f"server {self.server}"
        return f"{self.action:<10}{who:<10}{which:<10}{self.what}".rstrip()


__all__ = ["NONE", "RARITY", "SOME", "Choices", "Faults", "NetworkEvent"]
