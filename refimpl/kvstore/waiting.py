"""What a request waits for on a server: for error messages about calls that cannot end."""

from __future__ import annotations

from collections.abc import Sequence

from .server import Server


def waits_for(server: Server, worker: int, number: int) -> tuple[str, Sequence[int]]:
    """What request ``number`` of a worker waits for, in words, and the workers that are missing."""
    for table in server.tables.values():
        if table.barrier.get(worker) == number:
            return "the barrier", sorted(server.members - table.barrier.keys())
        for part, waiting in table.inits.items():
            if any(one[:2] == (worker, number) for one in waiting):
                return f"the first value of {part}", [0]
        for part, held in table.parts.items():
            if any(pull[:2] == (worker, number) for pull in held.pulls):
                missing = sorted(member for member in server.members if not held.queues.get(member))
                return f"round {held.version + 1} of {part}", missing
    return "an answer", []


__all__ = ["waits_for"]
