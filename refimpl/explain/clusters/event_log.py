"""The event log of a cluster: recorded during a run, written as JSON lines, and read from any cluster's log.

Each line is an event, such as ``{"action": "arrives", "worker": 0, "server": 1, "what": "#3 asks Push key 'w'"}``: the
fields of ``cluster.events``. A simulated cluster adds ``sent``, the number of the event after which the message was
sent (events are counted from 1), and ``versions``, the new version of each changed key. Other fields are ignored. A
first line may hold ``workers``, ``servers``, ``seed`` and ``kind``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from ...base import decides, refusal
from ...files.atomic import write_atomically
from ...files.reading import open_file
from ...kvstore.machines.events import versions_of
from ...kvstore.messages import Request
from ...kvstore.simulated import Packet, SimulatedCluster
from ..watching import standing_in

Data = dict[str, Any]
HEAD = ("workers", "servers", "seed", "kind")
MOST_EVENTS = 1 << 17
LONGEST_LINE = 1 << 16
MOST_MEMBERS = 64
"""Workers or servers of a cluster that is drawn."""
MOST_LETTERS = 300


class Recorder:
    """Record the events of the simulated clusters that a block makes; the last cluster counts."""

    def __init__(self) -> None:
        self.events: list[Data] = []
        self.cluster: SimulatedCluster | None = None
        self._sent: WeakKeyDictionary[Packet, int] = WeakKeyDictionary()

    def begin(self, original: Callable[..., None], cluster: SimulatedCluster, *given: Any, **named: Any) -> None:
        """Replaces the function that makes a cluster."""
        self.events, self.cluster, self._sent = [], cluster, WeakKeyDictionary()
        original(cluster, *given, **named)

    def tell(
        self, original: Callable[..., None], cluster: SimulatedCluster, action: str, worker: int | None,
        server: int | None, what: str = "",
    ) -> None:
        """Replaces the function that is called with each event."""
        original(cluster, action, worker, server, what)
        if cluster is not self.cluster:
            return
        self._look(cluster)
        event: Data = {"action": action, "worker": worker, "server": server, "what": what}
        packet = next(
            (p for p in cluster._in_flight if (p.worker, p.server, str(p)) == (worker, server, what)), None
        )
        if packet is not None:
            event["sent"] = self._sent[packet]
        self.events.append(event)

    def deliver(self, original: Callable[..., None], cluster: SimulatedCluster, packet: Packet) -> None:
        """Replaces the arrival of a message: notes the keys whose version it changes."""
        before = versions_of(cluster.states[packet.server]) if isinstance(packet.message, Request) else {}
        original(cluster, packet)
        if cluster is not self.cluster:
            return
        after = versions_of(cluster.states[packet.server]) if isinstance(packet.message, Request) else {}
        changed = {key: version for key, version in after.items() if before.get(key) != version}
        if changed:
            self.events[-1]["versions"] = changed
        self._look(cluster)

    def send(self, original: Callable[..., Any], cluster: SimulatedCluster, *given: Any, **named: Any) -> Any:
        """Replaces the sending of a request."""
        ticket = original(cluster, *given, **named)
        if cluster is self.cluster:
            self._look(cluster)
        return ticket

    def _look(self, cluster: SimulatedCluster) -> None:
        """Note since when messages are on their way."""
        for packet in cluster._in_flight:
            self._sent.setdefault(packet, len(self.events))


@contextmanager
@decides("Explain/log")
def recording() -> Iterator[Recorder]:
    """A block in which the events of simulated clusters are recorded, with where messages came from."""
    recorder = Recorder()
    with ExitStack() as stack:
        for name, stand_in in (
            ("__init__", recorder.begin), ("_tell", recorder.tell), ("_deliver", recorder.deliver),
            ("send", recorder.send),
        ):
            stack.enter_context(standing_in(SimulatedCluster, name, stand_in))
        yield recorder


# --- files ---------------------------------------------------------------------------------------


@decides("Explain/log")
def write_events(run: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the events of a run as JSON lines, after a line that tells of the cluster."""
    lines = [{name: run[name] for name in HEAD if run.get(name) is not None}, *run["events"]]
    write_atomically(str(path), "".join(json.dumps(line) + "\n" for line in lines).encode())


@decides("Explain/log")
def read_events(path: str | os.PathLike[str]) -> Data:
    """Read an event log, of a simulated or of a real cluster, from an untrusted file.

    Returns:
        dict with ``events``, ``workers``, ``servers``, and ``seed`` and ``kind`` where the log has them.

    Raises:
        ValueError: a line is no event; the message gives its number.
        OSError: the file cannot be read.
    """
    found: Data = {"events": []}
    with open_file(path) as file:
        for number in range(1, MOST_EVENTS + 2):
            line = file.readline(LONGEST_LINE + 1)
            if not line:
                break
            try:
                record = json.loads(line) if len(line) <= LONGEST_LINE else None
            except (ValueError, RecursionError):
                record = None
            if number == 1 and isinstance(record, dict) and "action" not in record:
                found.update({name: record[name] for name in HEAD if name in record})
                _require_head(path, found)
                continue
            event = _event(record)
            if event is None:
                raise _no_log(path, number, "no event with an action, a worker, a server and what")
            found["events"].append(event)
    if not found["events"]:
        raise _no_log(path, 1, "no event at all")
    for name in ("worker", "server"):
        most = max((e[name] for e in found["events"] if e[name] is not None), default=0) + 1
        found[f"{name}s"] = max(found.get(f"{name}s") or 1, most)
    return found


def _event(record: Any) -> Data | None:
    """The fields of an event that are drawn; None where it is none."""
    if not isinstance(record, dict):
        return None
    event: Data = {name: record.get(name) for name in ("action", "worker", "server")}
    event["what"] = record.get("what", "")
    words = all(isinstance(event[name], str) and len(event[name]) <= MOST_LETTERS for name in ("action", "what"))
    members = all(_member(event[name]) for name in ("worker", "server"))
    if not (words and event["action"] and members):
        return None
    sent, versions = record.get("sent"), record.get("versions")
    if type(sent) is int and 0 <= sent <= MOST_EVENTS:
        event["sent"] = sent
    if isinstance(versions, dict) and all(type(version) is int for version in versions.values()):
        event["versions"] = versions
    return event


def _member(given: Any) -> bool:
    return given is None or (type(given) is int and 0 <= given < MOST_MEMBERS)


def _require_head(path: Any, found: Data) -> None:
    counts = all(type(found.get(name, 1)) is int and 1 <= found.get(name, 1) <= MOST_MEMBERS for name in HEAD[:2])
    if not counts or not isinstance(found.get("kind", ""), str) or type(found.get("seed", 0)) is not int:
        raise _no_log(path, 1, "no numbers of workers and servers, seed and kind of store")


def _no_log(path: Any, line: int, what: str) -> Exception:
    return refusal("Explain/log", f"{Path(path)}, line {line}: {what}", ValueError)
