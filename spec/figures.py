"""Writes the pictures of README.md into ``spec/figures/``, each from numbers or runs of the package.

    python spec/figures.py            writes the files
    python spec/figures.py --check    exit code 1 when one of them is not what would be written

``svrg.svg`` draws the table of spec/reference/training/svrg.md, ``killed-server.svg`` the events of a simulated
cluster, and ``lenet.svg`` is what ``refimpl plot`` draws.
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Iterable
from math import log10
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import refimpl as mx  # noqa: E402
from refimpl.explain import symbol_drawing  # noqa: E402
from refimpl.model.networks import NETWORKS  # noqa: E402
from refimpl.name import NameManager  # noqa: E402
from spec import generated  # noqa: E402

FOLDER = ROOT / "spec/figures"
ROW = re.compile(r"^ +(\d+) +([\d.e+-]+) +([\d.e+-]+) +([\d.e+-]+)$", re.MULTILINE)
STYLE = (
    "svg{background:#fff;color:#1d2430}text{font:13px system-ui,'Segoe UI',sans-serif;fill:currentColor}"
    ".m{text-anchor:middle}.e{text-anchor:end}.small{font-size:11px}.grid{stroke:currentColor;opacity:.15}"
    ".line{fill:none;stroke-width:2.5}.a{stroke:#b4470b}.b{stroke:#6d3bc4}.c{stroke:#0f766e}.lane{stroke-width:3}"
    ".up{stroke:#0f766e}.down{stroke:#dc2626;stroke-dasharray:3 5}.w{stroke:#4d5f7a}"
    ".lost{stroke:#dc2626;stroke-width:2}"
    ".arrow{stroke:currentColor;stroke-width:1.3}.again{stroke:#b4470b}"
    "@media(prefers-color-scheme:dark){svg{background:#12151b;color:#e9ebf0}.a,.again{stroke:#ff9d5c}.b{stroke:#bfa1ff}"
    ".c,.up{stroke:#58cfc2}.w{stroke:#b3c2d9}.lost,.down{stroke:#f87171}}"
)


def _svg(wide: int, tall: int, title: str, body: Iterable[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {wide} {tall}" width="{wide}"'
        f' height="{tall}"><title>{html.escape(title)}</title><style>{STYLE}</style>'
        '<defs><marker id="to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="currentColor"/></marker></defs>\n{chr(10).join(body)}\n</svg>\n'
    )


# --- SVRG beside SGD ----------------------------------------------------------------------------------


def svrg() -> str:
    """The table of spec/reference/training/svrg.md: the gap to the optimum over passes, on a logarithmic scale."""
    text = (ROOT / "spec/reference/training/svrg.md").read_text(encoding="utf-8")
    rows = [[float(word) for word in row] for row in ROW.findall(text)]
    left, top, wide, tall, lowest = 70, 20, 430, 300, -12
    last = rows[-1][0]

    def at(cost: float, gap: float) -> str:
        return f"{left + wide * cost / last:.1f} {top + tall * (1 - (log10(gap) - lowest) / (1 - lowest)):.1f}"

    body = []
    for power in range(0, lowest - 1, -3):
        y = at(0, 10**power).split()[1]
        body.append(f'<path class="grid" d="M{left} {y}h{wide}"/><text class="e small" x="{left - 8}" y="{y}">'
                    f"1e{power}</text>")
    for cost in range(0, int(last) + 1, 6):
        x = at(cost, 1).split()[0]
        body.append(f'<text class="m small" x="{x}" y="{top + tall + 18}">{cost}</text>')
    for column, (kind, name) in enumerate((("a", "SGD, constant"), ("b", "SGD, decaying"), ("c", "SVRG")), start=1):
        points = [at(row[0], row[column]) for row in rows]
        x, y = map(float, points[-1].split())
        shift = {"a": -6, "b": 12, "c": 4}[kind]
        body.append(f'<path class="line {kind}" d="M{"L".join(points)}"/>'
                    f'<text x="{x + 8:.1f}" y="{y + shift:.1f}">{name}</text>')
    body.append(f'<text class="m" x="{left + wide / 2:.0f}" y="{top + tall + 38}">passes over the data</text>')
    body.append(f'<text x="{left + 8}" y="{top + 2}">distance of the objective from its optimum</text>')
    return _svg(610, 372, "SVRG nears the optimum at a constant rate; SGD stays above a thousandth", body)


# --- a server that is killed --------------------------------------------------------------------------


def cluster() -> Any:
    """Two workers push and pull twice on a network that loses a message, with a server that crashes once."""

    def work(store: Any) -> float:
        store.init("w", mx.nd.zeros(1))
        out = mx.nd.zeros(1)
        for _ in range(2):
            store.push("w", mx.nd.ones(1) * (store.rank + 1))
            store.pull("w", out=out)
        return float(out.asscalar())

    made = mx.kv.simulate(2, 1, seed=0, faults=mx.kv.Faults(drops=1, crashes=1))
    assert made.run(work) == [3.0, 3.0]
    return made


def killed_server() -> str:
    """The events of :func:`cluster`, time downwards: requests to the server in the middle, and its answers."""
    lanes, top, step = {0: 110, None: 330, 1: 550}, 56, 19
    body, events = [], [event for event in cluster().events if event.action != "restart"]
    crash = next(number for number, event in enumerate(events) if event.action == "crash")
    rows = [number + (number > crash) for number in range(len(events))]  # a crash takes two
    tall = top + step * (rows[-1] + 1) + 20
    for rank in (0, 1):
        body.append(f'<text class="m" x="{lanes[rank]}" y="24">worker {rank}</text>'
                    f'<path class="lane w" d="M{lanes[rank]} 36V{tall - 12}"/>')
    body.append(f'<text class="m" x="{lanes[None]}" y="24">server</text>')
    y = top + step * crash + step // 2
    body.append(f'<path class="lane up" d="M{lanes[None]} 36V{y - 12}M{lanes[None]} {y + 12}V{tall - 12}"/>'
                f'<path class="lane down" d="M{lanes[None]} {y - 12}V{y + 12}"/>'
                f'<text x="{lanes[None] + 10}" y="{y + 4}">'
                "crashes, and comes back</text>")
    for number, event in enumerate(events):
        if event.action != "crash":
            body.append(_message(event, lanes, top + step * rows[number]))
    title = "Messages between two workers and a server that crashes: no push is lost, none counts twice"
    return _svg(660, tall, title, body)


def _message(event: Any, lanes: dict[int | None, int], y: int) -> str:
    worker, server = lanes[event.worker], lanes[None]
    words = html.escape(event.what.replace(" asks", "").replace(" gets", ""))
    gap = 5 if worker < server else -5
    begin, end = (server - gap, worker + gap) if " gets " in event.what else (worker + gap, server - gap)
    middle = (worker + server) / 2
    if event.action == "again":
        return f'<text class="m small" x="{middle:.0f}" y="{y + 3}">{words} is sent again</text>'
    said = f'<text class="m small" x="{middle:.0f}" y="{y - 3}">{words}{" is lost" * (event.action == "drop")}</text>'
    if event.action == "drop":
        stop = (begin + end) / 2
        return f'<path class="lost" d="M{begin} {y}H{stop:.0f}m-5 -5l10 10m0 -10l-10 10"/>{said}'
    return f'<path class="arrow" marker-end="url(#to)" d="M{begin} {y}H{end}"/>{said}'


# --- a network ----------------------------------------------------------------------------------------


def lenet() -> str:
    """The network of ``refimpl train``."""
    with NameManager():
        return symbol_drawing.svg(NETWORKS["lenet"](10, (1, 8, 8)), {"data": (64, 1, 8, 8)})


def files() -> dict[Path, str]:
    """Every picture by its file."""
    return {FOLDER / "svrg.svg": svrg(), FOLDER / "killed-server.svg": killed_server(), FOLDER / "lenet.svg": lenet()}


def main(arguments: list[str] | None = None) -> int:
    """Run the script; returns its exit code."""
    check = generated.asks_check(arguments, "The pictures of README.md.")
    if not check:
        FOLDER.mkdir(exist_ok=True)
    problems = generated.renew(files(), "figures", check=check)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
