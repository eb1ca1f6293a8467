"""The events of a job, as the lines of ``--events``: servers note events, the launcher writes them in order of time.

The lines are the events of a simulated cluster (``cluster.events``) with ``at``, the time. Servers see only their side:
a request ``arrives`` when a server carries it out, and ``answers`` is noted when an answer leaves.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...base import decides
from .. import messages as say
from .. import server as rules
from ..simulated import describe

MOST = 100_000
"""The most events that a server notes between two questions of the launcher; older events are only counted."""

LATE = 5.0
"""Seconds after an event at which its line is written: until then earlier events of other servers may come."""

Event = dict[str, Any]


def versions_of(server: rules.Server) -> dict[str, int]:
    """The version of every part that a server keeps, by the name of its key."""
    return {
        f"{part}" + (f" of store {table}" if table else ""): held.version
        for table, kept in server.tables.items() for part, held in kept.parts.items()
    }


class Noting:
    """The rules of a server, which also note the events of each request.

    Args:
        most: the most events that are kept until they are taken.

    Attributes:
        replaying: whether the requests come from a log: they arrived before, at the process before this one.
    """

    def __init__(self, most: int = MOST) -> None:
        self.replaying = True
        self._events: deque[Event] = deque(maxlen=most)
        self._lost = 0

    def step(self, server: rules.Server, request: say.Request) -> tuple[rules.Server, list[say.Reply]]:
        """As :func:`refimpl.kvstore.server.step`."""
        before = versions_of(server)
        server, replies = rules.step(server, request)
        changed = {key: version for key, version in versions_of(server).items() if before.get(key) != version}
        self._note("arrives", request.worker, f"#{request.number} asks {describe(request.body)}", changed)
        for reply in replies:
            self._note("answers", reply.worker, f"#{reply.number} gets {describe(reply.body)}", {})
        return server, replies

    def _note(self, action: str, worker: int, what: str, changed: Mapping[str, int]) -> None:
        self._lost += len(self._events) == self._events.maxlen
        event: Event = {"action": action, "worker": worker, "what": what, "at": round(time.time(), 6)}
        if changed:
            event["versions"] = dict(changed)
        if self.replaying:
            event["replayed"] = True
        self._events.append(event)

    def taken(self) -> list[Event]:
        """The events noted since the last call."""
        events = list(self._events)
        if self._lost:
            events[:0] = [{"action": "unnoted", "worker": None, "what": f"{self._lost} events", "at": events[0]["at"]}]
        self._events.clear()
        self._lost = 0
        return events


class EventFile:
    """The launcher's side: a file of one JSON object to a line, in the order of time.

    Args:
        path: the file, which is overwritten.
        workers, servers: the numbers of workers and servers.

    Attributes:
        kind: of the job's stores, for the first line; nothing is written until it is known.
    """

    def __init__(self, path: Path, workers: int, servers: int) -> None:
        self.kind = ""
        self._file = path.open("w", encoding="utf-8")
        self._head: dict[str, Any] | None = {"workers": workers, "servers": servers}
        self._held: list[Event] = []
        self._heard: dict[tuple[int, int], int] = {}  # (server, worker): the highest number that arrived

    @decides("Cluster/events")
    def note(self, server: int, events: Sequence[Event], last: float, restarted: float | None = None) -> None:
        """Take the events that a server noted.

        Events from its log, after it was started again, count unless they were taken before.

        Args:
            server: the number of the server.
            events: its events, oldest first.
            last: the time of its last message; if it was ``restarted``, the last message of the earlier process.
            restarted: the time of its restart, if this is its first message since.
        """
        found = [event for event in events if event.get("replayed")]
        for event in found:
            if event["action"] == "arrives" and self._is_new(server, event):
                self._take(server, {**event, "at": last})
        if restarted is not None:
            self._take(server, {"action": "crash", "worker": None, "what": "", "at": last})
            self._take(server, {"action": "restart", "worker": None, "what": "", "at": restarted})
        for event in events:
            if not event.get("replayed"):
                if event["action"] == "arrives":
                    self._is_new(server, event)
                self._take(server, event)

    def note_kill(self, worker: int) -> None:
        """Note that the process of a worker was killed, now."""
        self._take(None, {"action": "kill", "worker": worker, "what": "", "at": round(time.time(), 6)})

    def _is_new(self, server: int, event: Event) -> bool:
        """Whether a request arrives for the first time; notes that it has arrived."""
        number, place = int(event["what"][1:].partition(" ")[0]), (server, event["worker"])
        before, self._heard[place] = self._heard.get(place, -1), max(number, self._heard.get(place, -1))
        return number > before

    def _take(self, server: int | None, event: Event) -> None:
        more: Event = {name: event[name] for name in ("versions", "replayed", "at") if name in event}
        told = {"action": event["action"], "worker": event["worker"], "server": server, "what": event["what"]}
        self._held.append({**told, **more})

    def write(self, until: float | None = None) -> None:
        """Write all events up to a time, in their order; None writes all."""
        if not self.kind and until is not None:
            return
        if self.kind and self._head is not None:
            self._file.write(json.dumps({**self._head, "kind": self.kind}) + "\n")
            self._head = None
        self._held.sort(key=lambda event: float(event["at"]))  # a stable sort: events of one moment keep their order
        count = len(self._held) if until is None else sum(event["at"] <= until for event in self._held)
        self._file.writelines(json.dumps(event) + "\n" for event in self._held[:count])
        self._file.flush()
        del self._held[:count]

    def close(self) -> None:
        """Write all remaining events, and close the file."""
        self.write()
        self._file.close()


__all__ = ["LATE", "EventFile", "Noting", "versions_of"]
