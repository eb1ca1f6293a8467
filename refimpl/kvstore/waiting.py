"""The reasons why requests wait on a server: for error messages about calls that cannot end, and for job monitors."""

from __future__ import annotations

from collections.abc import Sequence

from .server import Server


def waits_for(server: Server, worker: int, number: int) -> tuple[str, Sequence[int]]:
    """(event that request ``number`` of a worker waits for, in words, workers that the event waits for)."""
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


def waits(server: Server) -> dict[int, tuple[str, int, list[int]]]:
    """Waiting worker -> (event that it waits for, round of the event or 0, workers that the event waits for)."""
    found: dict[int, tuple[str, int, list[int]]] = {}
    for table in server.tables.values():
        for worker in table.barrier:
            found.setdefault(worker, ("the barrier", 0, sorted(server.members - table.barrier.keys())))
        for part, waiting in table.inits.items():
            for worker, _, _ in waiting:
                found.setdefault(worker, (f"the first value of {part}", 0, [0]))
        for part, held in table.parts.items():
            for worker, _, _ in held.pulls:
                missing = sorted(member for member in server.members if not held.queues.get(member))
                found.setdefault(worker, (str(part), held.version + 1, missing))
    return found


__all__ = ["waits", "waits_for"]
