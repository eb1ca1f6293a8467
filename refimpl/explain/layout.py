"""The positions of a graph's boxes: forward operators in layers downwards, each gradient beside its forward operator.

A node's layer is the length of the longest path to it; an edge that crosses layers gets a place in each of them; within
a layer nodes are placed at the average position of their neighbours (Sugiyama and others, 1981).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..base import decides

Data = dict[str, Any]

WIDTH, HEIGHT = 196, 52  # pixels of a box
PILL, PILL_HEIGHT, BESIDE = 132, 22, 18
LANE, GAP_X, GAP_Y, BETWEEN, MARGIN = 22, 34, 34, 90, 16
SWEEPS = 6


@dataclass
class Box:
    """A rectangle for a node, or for a variable beside it."""

    node: str
    x: float
    y: float
    width: float = WIDTH
    height: float = HEIGHT

    @property
    def middle(self) -> float:
        """Its vertical axis."""
        return self.x + self.width / 2


@dataclass
class Drawing:
    """Boxes by node, variables beside them (one variable may be beside several boxes), and edges as lists of points."""

    boxes: dict[str, Box] = field(default_factory=dict)
    pills: list[tuple[str, str, Box]] = field(default_factory=list)
    """(text, node, where)"""
    edges: list[tuple[str, list[tuple[float, float]]]] = field(default_factory=list)
    """(kind: forward, backward or kept, points)"""
    width: float = 0
    height: float = 0
    divide: float = 0
    """Where backward begins."""


class _Layers:
    """Which layer each forward node is in, and in which order."""

    def __init__(self, members: list[Data]) -> None:
        self.level: dict[str, int] = {}
        inside = {node["id"] for node in members}
        self.before = {
            node["id"]: list(dict.fromkeys(r["node"] for r in node["reads"] if r["node"] in inside)) for node in members
        }
        for node in members:  # inputs come first
            self.level[node["id"]] = max((self.level[b] + 1 for b in self.before[node["id"]]), default=0)
        self.rows: list[list[str]] = [[] for _ in range(max(self.level.values(), default=-1) + 1)]
        for name, level in self.level.items():
            self.rows[level].append(name)
        self.above: dict[str, list[str]] = {name: [] for name in self.level}
        self.paths: dict[tuple[str, str], list[str]] = {}
        self.lanes: set[str] = set()
        for name, sources in self.before.items():
            for source in sources:
                self._connect(source, name)
        self._order()

    def _connect(self, source: str, target: str) -> None:
        """Give an edge a lane in every layer that it passes."""
        path, last = [], source
        for level in range(self.level[source] + 1, self.level[target]):
            lane = f"{source}>{target}@{level}"
            self.lanes.add(lane)
            self.rows[level].append(lane)
            self.above[lane] = [last]
            path.append(lane)
            last = lane
        self.above[target].append(last)
        self.paths[source, target] = path

    def _order(self) -> None:
        below: dict[str, list[str]] = {}
        for name, sources in self.above.items():
            for source in sources:
                below.setdefault(source, []).append(name)
        place = {name: i for row in self.rows for i, name in enumerate(row)}
        for sweep in range(SWEEPS):
            rows, near = (self.rows, self.above) if sweep % 2 == 0 else (self.rows[::-1], below)
            for row in rows:

                def key(name: str, near: dict[str, list[str]] = near) -> Any:
                    around = [place[n] for n in near.get(name, [])]
                    return (sum(around) / len(around) if around else place[name], name in self.lanes, place[name])

                row.sort(key=key)
                place.update((name, i) for i, name in enumerate(row))


@decides("Explain/words-first")
def arrange(nodes: list[Data]) -> Drawing:
    """Place a graph of ``structure.graph``."""
    data = [n for n in nodes if n["phase"] == "variable" and n["role"] == "data"]
    forward = [n for n in nodes if n["phase"] == "forward"]
    backward = [n for n in nodes if n["phase"] == "backward"]
    variables = {n["id"]: n for n in nodes if n["phase"] == "variable" and n["role"] != "data"}
    layers = _Layers([*data, *forward])
    beside = {
        n["id"]: [variables[r["node"]] for r in n["reads"] if r["node"] in variables] for n in forward
    }
    stacks = _stacks(backward, forward)
    drawing = Drawing()
    _place_forward(drawing, layers, beside, stacks)
    drawing.divide = max((b.x + b.width for b in drawing.boxes.values()), default=0) + BETWEEN / 2
    _place_backward(drawing, stacks, {n["id"]: n for n in backward})
    _connect(drawing, layers, backward)
    everything = [*drawing.boxes.values(), *(box for _, _, box in drawing.pills)]
    drawing.width = max((b.x + b.width for b in everything), default=0) + MARGIN
    drawing.height = max((b.y + b.height for b in everything), default=0) + MARGIN
    return drawing


def _stacks(backward: list[Data], forward: list[Data]) -> dict[str, list[str]]:
    """Forward node -> the gradient nodes beside it, in the order in which they run."""
    reader = {r["node"]: node["id"] for node in reversed(forward) for r in node["reads"]}
    members = {node["id"] for node in forward}
    found: dict[str, list[str]] = {}
    for node in backward:
        served = node["serves"]
        if served not in members:  # a variable's gradient, beside who reads it first
            served = reader.get(served, forward[-1]["id"])
        found.setdefault(served, []).append(node["id"])
    return found


def _place_forward(
    drawing: Drawing, layers: _Layers, beside: dict[str, list[Data]], stacks: dict[str, list[str]]
) -> None:
    y = float(MARGIN)
    for row in layers.rows:
        heights = [
            max(HEIGHT, len(beside.get(n, [])) * (PILL_HEIGHT + 4), len(stacks.get(n, [])) * (HEIGHT + GAP_Y) - GAP_Y)
            for n in row if n not in layers.lanes
        ]
        tall, x = max(heights, default=HEIGHT), float(MARGIN)
        for position, name in enumerate(row):
            if name in layers.lanes:
                drawing.boxes[name] = Box(name, x, y, LANE, tall)
                x += LANE + GAP_X / 2
                continue
            pills = beside.get(name, [])
            if pills or position == 0:
                x += PILL + BESIDE
            box = drawing.boxes[name] = Box(name, x, y + (tall - HEIGHT) / 2)
            _attach(drawing, [(v["name"], v["id"]) for v in pills], box, box.x - BESIDE - PILL)
            x += WIDTH + GAP_X
        y += tall + GAP_Y


def _attach(drawing: Drawing, texts: list[tuple[str, str]], box: Box, x: float) -> None:
    """Place variables one below the other beside a box."""
    top = box.y + box.height / 2 - len(texts) * (PILL_HEIGHT + 4) / 2 + 2
    for number, (text, node) in enumerate(texts):
        pill = Box(node, x, top + number * (PILL_HEIGHT + 4), PILL, PILL_HEIGHT)
        drawing.pills.append((text, node, pill))
        y = pill.y + PILL_HEIGHT / 2
        ends = (x + PILL, box.x) if x < box.x else (box.x + box.width, x)
        drawing.edges.append(("held", [(ends[0], y), (ends[1], y)]))


def _place_backward(drawing: Drawing, stacks: dict[str, list[str]], by_id: dict[str, Data]) -> None:
    """Place each gradient at the height of its operator, several gradients of one operator one above the other."""
    shift = drawing.divide + BETWEEN / 2 - (MARGIN + PILL + BESIDE)
    for home, members in stacks.items():
        beside = drawing.boxes[home]
        whole = len(members) * (HEIGHT + GAP_Y) - GAP_Y
        for number, name in enumerate(reversed(members)):
            y = beside.y + HEIGHT / 2 - whole / 2 + number * (HEIGHT + GAP_Y)
            box = drawing.boxes[name] = Box(name, beside.x + shift, y)
            finished = [(f"\N{PARTIAL DIFFERENTIAL} {g}", name) for g in by_id[name]["gradients"]]
            _attach(drawing, finished, box, box.x + WIDTH + BESIDE)
        last = drawing.boxes[members[0]]
        drawing.edges.append(
            ("kept", [(beside.x + WIDTH, beside.y + HEIGHT / 2), (last.x, last.y + HEIGHT / 2)])
        )


def _connect(drawing: Drawing, layers: _Layers, backward: list[Data]) -> None:
    boxes = drawing.boxes
    for (source, target), path in layers.paths.items():
        points = [(boxes[source].middle, boxes[source].y + HEIGHT)]
        for lane in path:
            points += [(boxes[lane].middle, boxes[lane].y), (boxes[lane].middle, boxes[lane].y + boxes[lane].height)]
        drawing.edges.append(("forward", [*points, (boxes[target].middle, boxes[target].y)]))
    for lane in layers.lanes:
        del boxes[lane]
    members = {node["id"] for node in backward}
    for node in backward:
        end = boxes[node["id"]]
        for name in dict.fromkeys(r["node"] for r in node["reads"] if r["node"] in members):
            begin = boxes[name]
            drawing.edges.append(("backward", [(begin.middle, begin.y), (end.middle, end.y + HEIGHT)]))
