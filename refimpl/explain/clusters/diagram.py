"""The message diagram: a line down for each worker and server, time downwards, an arrow for each message."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ...base import decides
from ..markup import text

Data = dict[str, Any]
ACROSS, GAP, LEFT, RIGHT, TOP, ROW = 112, 30, 142, 118, 44, 22
DRAWN = 300
"""So many events of a run are drawn."""
ARROWS = ("arrives", "drop", "answers")


def _x(member: int, workers: int, server: bool) -> int:
    return LEFT + member * ACROSS + (GAP + workers * ACROSS if server else 0)


def _y(event: int) -> int:
    return TOP + ROW * event


def width_of(run: Mapping[str, Any]) -> int:
    """The width of a run's diagram, in pixels."""
    return _x(run["servers"] - 1, run["workers"], server=True) + RIGHT


def least_width(run: Mapping[str, Any]) -> int:
    """How narrow its diagram may be shown."""
    return width_of(run) * 4 // 5


@decides("Explain/diagram")
def diagram(run: Mapping[str, Any], identity: str, marked: Collection[int] = ()) -> str:
    """A run as inline SVG; the events in ``marked`` belong to a violation and are drawn as such."""
    workers, servers = run["workers"], run["servers"]
    events = run["events"][:DRAWN]
    width = width_of(run)
    bottom = _y(len(events) + 1)
    body = [
        (
            f'<defs><marker id="{identity}-head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
            ' orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>'
        )
    ]
    for member in range(workers):
        body.append(_line(_x(member, workers, server=False), bottom, f"worker {member}", f"device{member % 8}"))
    for member in range(servers):
        x = _x(member, workers, server=True)
        body.append(_line(x, bottom, f"server {member}", "server"))
        body += [
            f'<g data-step="{begin}"><title>server {member} is down</title><rect class="down" x="{x - 9}"'
            f' y="{_y(begin)}" width="18" height="{_y(min(end, len(events) + 1)) - _y(begin)}" rx="4"/></g>'
            for begin, end in _dark(events, member)
        ]
    for at, event in enumerate(events, start=1):
        body.append(_event(at, event, workers, identity, at in marked))
    label = f"Messages between {workers} workers and {servers} servers, time downwards"
    return (
        f'<svg class="messages" role="group" aria-label="{text(label)}" viewBox="0 0 {width} {bottom + 8}"'
        f' width="{width}" height="{bottom + 8}" style="min-width:{least_width(run)}px">{"".join(body)}</svg>'
    )


def _line(x: int, bottom: int, name: str, kind: str) -> str:
    return (
        f'<g class="member {kind}"><rect x="{x - 46}" y="8" width="92" height="28" rx="8"/>'
        f'<text x="{x}" y="27">{text(name)}</text><path d="M{x} 36V{bottom}"/></g>'
    )


def _dark(events: list[Data], server: int) -> list[tuple[int, int]]:
    """From which event to which a server is down."""
    found, since = list[tuple[int, int]](), 0
    for at, event in enumerate(events, start=1):
        if event["server"] == server and event["action"] == "crash":
            since = since or at
        elif event["server"] == server and event["action"] == "restart" and since:
            found.append((since, at))
            since = 0
    return [*found, (since, len(events) + 1)] if since else found


def words(event: Mapping[str, Any]) -> str:
    """An event in a sentence."""
    what, action = event["what"], event["action"]
    worker = "" if event["worker"] is None else f"worker {event['worker']}"
    server = "" if event["server"] is None else f"server {event['server']}"
    request = " asks " in what
    number, _, body = what.partition(" asks " if request else " gets ")
    if action in ("arrives", "answers"):
        if not body:
            return f"{action}: {worker} {server} {what}".strip()
        return f"{server} gets {number} from {worker}: {body}" if request else (
            f"{worker} gets the answer to {number}: {body}"
        )
    if action == "drop":
        to = f"from {worker} to {server}" if request else f"from {server} to {worker}"
        return f"a message is lost {to}: {what}"
    if action == "duplicate":
        return f"a message is on its way twice, between {worker} and {server}: {what}"
    if action == "again":
        return f"{worker} sends {what} to {server} again: it has no answer"
    known = {
        "crash": f"{server} goes down, with all messages on their way to and from it",
        "restart": f"{server} comes back, with what it knew after the last request that it took",
        "kill": f"{worker} is killed, and started again from its first line", "lose": f"{worker} is lost",
    }
    return known.get(action) or " ".join(part for part in (action, worker, server, what) if part)


def _event(at: int, event: Data, workers: int, identity: str, marked: bool) -> str:
    y, action, what = _y(at), event["action"], event["what"]
    has_both = event["worker"] is not None and event["server"] is not None
    kind = f"event {action if action.isalpha() else 'other'}{' marked' if marked else ''}"
    told = f"<title>{at}: {text(words(event))}</title>"
    number = f'<text class="tick end" x="{22}" y="{y + 4}">{at}</text>'
    if has_both and action in ARROWS:
        asks = " asks " in what
        ends = _x(event["worker"], workers, server=False), _x(event["server"], workers, server=True)
        begin, end = ends if asks else ends[::-1]
        start = _y(event["sent"]) + ROW // 2 if "sent" in event and event["sent"] < at else y
        if action == "drop":
            half, level = (begin + end) // 2, (start + y) // 2
            cross = f'<path class="cross" d="M{half - 6} {level - 6}l12 12m0 -12l-12 12"/>'
            drawn = f'<path d="M{begin} {start}L{half} {level}"/>{cross}'
        else:
            drawn = f'<path d="M{begin} {start}L{end} {y}" marker-end="url(#{identity}-head)"/>'
        anchor, x = ("start", ends[1] + 8) if asks else ("end", ends[0] - 8)
        label = f'<text class="what {anchor}" x="{x}" y="{y + 4}">{_brief(what)}</text>'
        return f'<g class="{kind} {"asks" if asks else "gets"}" data-step="{at}">{told}{number}{drawn}{label}</g>'
    at_server = event["worker"] is None and event["server"] is not None
    member = event["server"] if at_server else event["worker"]
    x = _x(member or 0, workers, server=at_server)
    said = str({"duplicate": "twice", "again": f"again {what}"}.get(action, action))
    return (
        f'<g class="{kind}" data-step="{at}">{told}{number}<circle cx="{x}" cy="{y}" r="5"/>'
        f'<text class="what start" x="{x + 10}" y="{y + 4}">{text(said[:24])}</text></g>'
    )


def _brief(what: str) -> str:
    """A message in a few letters."""
    number, _, body = what.partition(" asks ") if " asks " in what else what.partition(" gets ")
    short = body.replace("Push key", "push").replace("Pull key", "pull").replace("Init key", "init")
    told = f"{number} {short}"
    return text(told if len(told) <= 18 else told[:17] + "\N{HORIZONTAL ELLIPSIS}")
