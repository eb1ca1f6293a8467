"""Makes a schedule smaller that shows a fault: fewer decisions that are not 0, and smaller ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Schedule = list[int]
MOST_RUNS = 400


def shrunk(schedule: Sequence[int], fails: Callable[[Schedule], bool], most: int = MOST_RUNS) -> Schedule:
    """A schedule with which ``fails`` still holds, after at most ``most`` runs.

    Decision 0 is the quietest, and a list that ends goes on with zeros: so blocks of decisions become 0, halves first
    and then smaller blocks; then each decision that is left becomes as small as it can.
    """
    left = most

    def still(candidate: Schedule) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and fails(candidate)

    best = _trimmed(schedule)
    size = max(len(best), 1)
    while size >= 1 and left > 0:
        at = 0
        while at < len(best) and left > 0:
            candidate = _trimmed([*best[:at], *[0] * len(best[at : at + size]), *best[at + size :]])
            if candidate != best and still(candidate):
                best = candidate
            at += size
        size //= 2
    for at in range(len(best)):
        for smaller in range(1, best[at] if at < len(best) else 0):
            candidate = [*best[:at], smaller, *best[at + 1 :]]
            if left > 0 and still(candidate):
                best = candidate
                break
    return best


def _trimmed(schedule: Sequence[int]) -> Schedule:
    """Without the last zeros, which change nothing."""
    made = list(schedule)
    while made and not made[-1]:
        made.pop()
    return made
