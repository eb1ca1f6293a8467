"""The rounds of each key in a log: when the pushes of a round arrived, and when the key had its new version."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...base import decides

Data = dict[str, Any]

_ASKS = re.compile(r"#(\d+) asks (\w+) (.+)", re.DOTALL)
_GETS = re.compile(r"#(\d+) gets (\w+)", re.DOTALL)


def asked(event: Mapping[str, Any]) -> tuple[int, str, str] | None:
    """(number, kind, key) of an arriving request; None for any other event."""
    found = _ASKS.fullmatch(event["what"]) if event["action"] == "arrives" else None
    return (int(found[1]), found[2], found[3]) if found else None


@decides("Explain/round-table")
def round_tables(run: Mapping[str, Any]) -> list[Data]:
    """A table for each key: rounds with the events at which each worker's push arrived, and that made the version.

    The n-th push of a worker to a key, by the number of its request, belongs to round n. A push that arrives again
    counts where it arrived first.
    """
    arrived: dict[str, dict[int, dict[int, int]]] = {}  # key: worker: number of the request: event
    made: dict[str, dict[int, int]] = {}
    for at, event in enumerate(run["events"], start=1):
        request = asked(event)
        if request is not None and request[1] == "Push":
            arrived.setdefault(request[2], {}).setdefault(event["worker"], {}).setdefault(request[0], at)
        for key, version in event.get("versions", {}).items():
            made.setdefault(key, {}).setdefault(version, at)
    return [
        {
            "key": key,
            "rounds": [
                {
                    "number": number + 1,
                    "arrived": [_nth(of_workers.get(worker, {}), number) for worker in range(run["workers"])],
                    "made": made.get(key, {}).get(number + 1),
                }
                for number in range(max(map(len, of_workers.values())))
            ],
        }
        for key, of_workers in arrived.items()
    ]


def _nth(arrived: dict[int, int], place: int) -> int | None:
    numbers = sorted(arrived)
    return arrived[numbers[place]] if place < len(numbers) else None


def answer_of(run: Mapping[str, Any], worker: int, key: str, number: int | None) -> list[int]:
    """The events at which a worker's pull of a key is asked and answered; without ``number``, its last pull.

    ``key`` is as ``repr`` writes it; the parts of an array are pulled one by one, and all count.
    """
    asks: dict[tuple[str, int, Any], int] = {}
    for at, event in enumerate(run["events"], start=1):
        request = asked(event)
        if request is not None and event["worker"] == worker and request[1] in ("Pull", "PullRows"):
            asks.setdefault((request[2], request[0], event["server"]), at)
    found: list[int] = []
    parts = {about for about, _, _ in asks if about == f"key {key}" or about.startswith(f"key {key} (part ")}
    for part in parts:
        mine = sorted((asked_number, server, at) for (about, asked_number, server), at in asks.items() if about == part)
        place = len(mine) - 1 if number is None else number
        if place >= len(mine):
            continue
        request_number, server, at = mine[place]
        found.append(at)
        found += [
            answered for answered, event in enumerate(run["events"], start=1)
            if (event["action"], event["worker"], event["server"]) == ("arrives", worker, server)
            and (gets := _GETS.match(event["what"])) is not None and int(gets[1]) == request_number
        ][:1]
    return sorted(found)
