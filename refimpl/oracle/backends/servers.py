"""Parameter servers to try the oracle on: each breaks its word in one way, see ``broken_servers``.

    refimpl oracle check refimpl.oracle.backends.servers:LosesAPush --programs 50
"""

from __future__ import annotations

from typing import ClassVar

from ..drawing.drawn_clusters import FEATURES
from ..judging.reference import Program
from . import broken_servers as rules
from .protocol import Unsupported
from .simulated_cluster import Simulated


class BrokenCluster:
    """A simulated cluster whose servers have one fault, which shows in worker 0's first push where it needs one."""

    capabilities = Simulated.capabilities._replace(operators=FEATURES - {"cluster/rows"})
    rule: ClassVar[type[rules.Broken]] = rules.Broken
    """The servers' rules; those of ``Broken`` itself are sound."""

    def run(self, program: Program) -> str:
        """The history as text."""
        if program["settings"].get("sparse"):
            raise Unsupported("row_sparse keys")
        return Simulated(lambda scripts: self.rule(scripts, 0)).run(program)


class LosesAPush(BrokenCluster):
    """Acknowledges a push, and drops it."""

    rule = rules.Lost


class CountsAPushTwice(BrokenCluster):
    """Applies a push twice."""

    rule = rules.Duplicated


class ActsAgain(BrokenCluster):
    """Acts again on a push that the network brings again."""

    rule = rules.Again


class TearsAPush(BrokenCluster):
    """Applies a push to half of an array."""

    rule = rules.Torn


class EndsARoundEarly(BrokenCluster):
    """Does not wait for the other workers of a round."""

    rule = rules.EarlyRound


class OpensABarrierEarly(BrokenCluster):
    """Lets workers through a barrier alone."""

    rule = rules.EarlyBarrier


class AnswersWithOldValues(BrokenCluster):
    """Answers a pull with the value from before the worker's last push."""

    rule = rules.Stale


class AppliesOutOfOrder(BrokenCluster):
    """Applies pushes as they arrive."""

    rule = rules.Unordered


class StoresUnderAnotherKey(BrokenCluster):
    """Stores a push under another key."""

    rule = rules.WrongShard
