"""The drawings of the page, as inline SVG: the batch, the graph, the memory, the time.

Colors and fonts come from the page's style sheet; every element of a node has the node's name in ``data-node``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil, log10
from typing import Any

from ..base import decides
from .layout import HEIGHT, PILL, PILL_HEIGHT, WIDTH, Box, arrange
from .markup import duration, shape, size, text

Data = dict[str, Any]
SIDES = (
    f"<style>.node rect{{x:{-WIDTH // 2}px;width:{WIDTH}px;height:{HEIGHT}px;rx:8px}}"
    f".pill rect{{x:{-PILL // 2}px;width:{PILL}px;height:{PILL_HEIGHT}px;rx:11px}}"
    f".node .share{{x:{8 - WIDTH // 2}px;y:{HEIGHT - 6}px;height:3px;rx:1.5px}}</style>"
)
"""Where the rectangles of all boxes lie, said once."""
BAR, STEP_WIDTHS, ARENA = 1000, (7, 44), 300  # widths and heights in pixels
WIDEST = 3000
"""No drawing is wider."""
MANY = 150
"""More parts than that are drawn without words, in one path for each kind."""
LARGE = 300
"""Of more operators than that only the operators are drawn."""


@decides("Explain/folded")
def _svg(width: float, height: float, label: str, body: Iterable[str], kind: str, fluid: bool = False) -> str:
    sides = f'viewBox="0 0 {width:.0f} {height:.0f}"'
    if not fluid:
        shrunk = min(1.0, WIDEST / max(width, 1))
        sides += f' width="{width * shrunk:.0f}" height="{height * shrunk:.0f}"'
    return f'<svg class="{kind}" role="group" aria-label="{text(label)}" {sides}>{"".join(body)}</svg>'


def _short(words: str, width: float, letter: float = 6.6) -> str:
    """As many letters as fit."""
    fitting = int(width / letter)
    return words if len(words) <= fitting else words[: max(fitting - 1, 1)] + "\N{HORIZONTAL ELLIPSIS}"


def scrolled(drawing: str, label: str) -> str:
    """A drawing that may be wider than the screen; the keyboard scrolls it."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{text(label)}">{drawing}</div>'


# --- the batch ---------------------------------------------------------------------------------------


def batch(slices: Data) -> str:
    """A bar of all rows, cut where the devices' slices meet."""
    total, body = slices["batch_size"], []
    for number, part in enumerate(slices["parts"]):
        left, wide = BAR * part["begin"] / total, BAR * (part["end"] - part["begin"]) / total
        rows = f"rows {part['begin']} to {part['end'] - 1}"
        body.append(
            f'<g class="device{number % 8}"><rect class="slice" x="{left + 1:.1f}" y="1" width="{wide - 2:.1f}"'
            f' height="46" rx="6"/><text class="on" x="{left + wide / 2:.1f}" y="21">{text(part["context"])}</text>'
            f'<text class="on small" x="{left + wide / 2:.1f}" y="38">{_short(rows, wide)}</text></g>'
        )
    return _svg(BAR, 48, f"A batch of {total} rows, cut into {len(slices['parts'])} slices", body, "batch", True)


# --- the graph ---------------------------------------------------------------------------------------


@decides("Explain/small")
def is_large(nodes: Sequence[Data]) -> bool:
    """Whether a graph is drawn without its parameters."""
    return sum(node["phase"] != "variable" for node in nodes) > LARGE


def graph(nodes: list[Data], took: dict[str, float]) -> str:
    """The forward graph on the left, the backward graph on the right; ``took`` maps each node to its time."""
    drawing, large = arrange(nodes), is_large(nodes)
    by_id = {node["id"]: node for node in nodes}
    slowest = max(took.values(), default=0) or 1.0
    body = [
        (
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
            f' orient="auto-start-reverse"><path d="M0 0L8 4L0 8z"/></marker></defs>{SIDES}'
        )
    ]
    paths: dict[str, list[str]] = {}
    for kind, points in drawing.edges:
        if large and kind == "held":
            continue
        paths.setdefault(kind, []).append(_curve(points))
    for kind, curves in paths.items():  # each with an arrow at its end, or all in one
        ends = kind in ("forward", "backward")
        lines = "".join(f'<path d="{d}"/>' for d in (curves if ends else ["".join(curves)]))
        body.append(f'<g class="edge {kind}">{lines}</g>')
    body += [_pill(words, by_id[node], box) for words, node, box in drawing.pills if not large]
    body += [_node(by_id[name], box, took.get(name, 0) / slowest, large) for name, box in drawing.boxes.items()]
    return _svg(drawing.width, drawing.height, "The graph: forward downwards, backward upwards", body, "graph")


def _curve(points: Sequence[tuple[float, float]]) -> str:
    """A line through points that leaves and arrives upright, or level where it goes sideways."""
    path = [f"M{points[0][0]:.0f} {points[0][1]:.0f}"]
    for (x, y), (to_x, to_y) in pairwise(points):
        half = (to_y - y) / 2
        straight = x == to_x or abs(half) < 1
        curve = f"C{x:.0f} {y + half:.0f} {to_x:.0f} {to_y - half:.0f} {to_x:.0f} {to_y:.0f}"
        path.append(f"L{to_x:.0f} {to_y:.0f}" if straight else curve)
    return "".join(path)


def _pill(words: str, node: Data, box: Box) -> str:
    kind = node.get("role", "gradient").replace(" ", "-")
    full = node["name"] if "role" in node else words
    return (
        f'<g class="pill {kind}" data-node="{node["id"]}" transform="translate({box.middle:.0f} {box.y:.0f})">'
        f'<title>{text(full)}: {shape(node["values"][0]["shape"])}</title>'
        f'<rect/><text y="15">{text(_short(words, box.width - 10, 6.3))}</text></g>'
    )


def _node(node: Data, box: Box, share: float, large: bool) -> str:
    value = next((v for v in node["values"] if v["kept"]), node["values"][0])
    sides = shape(value["shape"])
    kind = node["operator"].removeprefix("_backward_") if node["phase"] != "variable" else "the batch"
    below = f"{kind} \N{RIGHTWARDS ARROW} {sides}" if node["phase"] == "forward" else kind
    if node["phase"] == "variable":
        below = f"{kind}, {sides}"
    more = "" if large else f": {text(node['operator'])}, {sides}"
    inner = (
        f"<title>{text(node['name'])}{more}</title><rect/>"
        f'<text class="name" y="21">{text(_short(node["name"], WIDTH - 16, 7.4))}</text>'
        f'<text class="small" y="38">{text(_short(below, WIDTH - 12, 6.1))}</text>'
    )
    if share:
        inner += (
            f'<rect class="share" style="width:{max(1.0, (WIDTH - 16) * share):.1f}px"/>'
        )
    if node.get("copies", 1) > 1:
        inner += (
            f'<text class="copies" x="{WIDTH // 2 - 6}" y="-4">\N{MULTIPLICATION SIGN} {node["copies"]}</text>'
        )
    where = f'transform="translate({box.middle:.0f} {box.y:.0f})"'
    kind = f'class="node {node["phase"]}" data-node="{node["id"]}" {where}'
    if node["phase"] == "variable":
        return f"<g {kind}>{inner}</g>"
    return f'<a href="#node-{node["id"]}" {kind}>{inner}</a>'


# --- memory ------------------------------------------------------------------------------------------


def memory(plan: Data, context: str) -> str:
    """The arena of one context: bytes upwards, steps to the right; each value is a rectangle."""
    count = max(len(plan["steps"]), 1)
    left, top = 78, 26
    step = min(max(940 / count, STEP_WIDTHS[0] if count <= MANY else 0), STEP_WIDTHS[1])
    wide = step * count
    rows = [row for row in plan["rows"] if row["within"] is None and row["context"] == context]
    arena = max((row["offset"] + row["size"] for row in rows), default=0) or 1
    scale = ARENA / arena

    body = [f'<rect class="ground" x="{left}" y="{top}" width="{wide:.0f}" height="{ARENA}"/>']
    for part in range(5):
        y = top + ARENA - ARENA * part / 4
        body.append(f'<path class="grid" d="M{left} {y:.0f}h{wide:.0f}"/>')
        body.append(f'<text class="tick end" x="{left - 6}" y="{y + 4:.0f}">{size(arena * part / 4)}</text>')
    where = left, top + ARENA, step, scale
    body += _many_buffers(rows, plan, where) if len(rows) > MANY else [_buffer(row, plan, where) for row in rows]
    middle = left + step * plan["forward"]
    body.append(f'<path class="border" d="M{middle:.0f} {top - 8}V{top + ARENA + 6}"/>')
    body.append(f'<text class="tick end" x="{middle - 6:.0f}" y="{top - 10}">forward</text>')
    body.append(f'<text class="tick" x="{middle + 6:.0f}" y="{top - 10}">backward</text>')
    every = 1 if step >= 20 else 5 if step >= 6 else 10 ** ceil(log10(count / 10))
    for number in range(count):
        if number % every == 0:
            x = left + step * (number + 0.5)
            body.append(f'<text class="tick mid" x="{x:.0f}" y="{top + ARENA + 18}">{number + 1}</text>')
    label = f"Memory of {context}: bytes upwards, steps to the right"
    body.append(f'<text class="tick mid" x="{left + wide / 2:.0f}" y="{top + ARENA + 36}">step</text>')
    return _svg(left + wide + 12, top + ARENA + 44, label, body, "memory")


def _kind(row: Data, plan: Data) -> str:
    return "backward" if row["first"] >= plan["forward"] else "kept" if row["kept"] else "passing"


def _many_buffers(rows: list[Data], plan: Data, where: tuple[float, float, float, float]) -> list[str]:
    """Many rectangles in whole pixels, without text; equal rectangles are drawn once."""
    left, bottom, step, scale = where
    paths: dict[str, dict[str, None]] = {"kept": {}, "passing": {}, "backward": {}}
    for row in rows:
        x, wide = left + step * row["first"], step * (row["last"] + 1 - row["first"])
        y, tall = bottom - (row["offset"] + row["size"]) * scale, row["size"] * scale
        paths[_kind(row, plan)][_box(x, y, wide, tall)] = None
    return [f'<path class="many {kind}" d="{"".join(path)}"/>' for kind, path in paths.items() if path]


def _box(x: float, y: float, wide: float, tall: float) -> str:
    wide, tall = max(round(wide), 1), max(round(tall), 1)
    return f"M{x:.0f} {y:.0f}h{wide}v{tall}h-{wide}z"


def _buffer(row: Data, plan: Data, where: tuple[float, float, float, float]) -> str:
    left, bottom, step, scale = where
    x, wide = left + step * row["first"], step * (row["last"] + 1 - row["first"])
    tall = row["size"] * scale
    y = bottom - (row["offset"] + row["size"]) * scale
    kind = _kind(row, plan)
    label = ", ".join(value["name"] for value in row["values"])
    lines = ""
    if tall > 13:
        words = text(_short(label, wide - 8, 6.4))
        lines = f'<text class="in" x="{x + 6:.1f}" y="{y + min(tall / 2 + 4, 16):.1f}">{words}</text>'
    cuts = "".join(
        f'<path class="cut" d="M{x + step * (v["born"] - row["first"]):.1f} {y + 1:.1f}v{max(tall - 2, 1):.1f}"/>'
        for v in row["values"][1:] if not v["view"]
    )
    nodes = " ".join(value["node"] for value in row["values"])
    return (
        f'<g class="buffer {kind}" data-node="{nodes}"><title>{text(label)}: {size(row["size"])}, steps'
        f' {row["first"] + 1} to {row["last"] + 1}</title><rect x="{x + 0.5:.1f}" y="{y + 0.5:.1f}"'
        f' width="{max(wide - 1, 1):.1f}" height="{max(tall - 1, 1):.1f}" rx="3"/>{cuts}{lines}</g>'
    )


def shares(parts: Sequence[tuple[str, str, float]]) -> str:
    """One bar of several lengths: (class, words, amount)."""
    total, x, body = sum(amount for _, _, amount in parts) or 1.0, 0.0, []
    for kind, words, amount in parts:
        wide = BAR * amount / total
        if wide >= 0.5:
            body.append(
                f'<g class="{kind}"><title>{text(words)}: {size(amount)}</title><rect x="{x + 0.5:.1f}" y="0"'
                f' width="{max(wide - 1, 0.5):.1f}" height="34" rx="4"/>'
                f'<text class="on" x="{x + wide / 2:.1f}" y="22">'
                f'{text(_short(words, wide, 8) if wide > 40 else "")}</text></g>'
            )
        x += wide
    return _svg(BAR, 34, "Shares of the memory", body, "shares", True)


# --- time --------------------------------------------------------------------------------------------


def timeline(times: Data, ids: dict[tuple[str, str], str]) -> str:
    """One line per device, forward and backward of all operators along one clock."""
    left, tall, gap = 76, 34, 12
    wide, span = BAR - left - 10, times["span"] or 1.0
    bottom = 4 + len(times["contexts"]) * (tall + gap)
    lines = range(len(times["contexts"]))
    body = [
        f'<rect class="ground" x="{left}" y="{4 + n * (tall + gap)}" width="{wide}" height="{tall}" rx="4"/>'
        for n in lines
    ]
    unit = _unit(span)
    for part in range(int(span / unit) + 1):
        x = left + wide * part * unit / span
        body.append(f'<path class="grid" d="M{x:.1f} 2V{bottom}"/>')
        when = duration(part * unit) if part else "0"
        body.append(f'<text class="tick mid" x="{x:.1f}" y="{bottom + 14}">{when}</text>')
    for number, of_context in enumerate(times["contexts"]):
        y = 4 + number * (tall + gap)
        device = text(of_context["context"])
        body.append(f'<text class="tick end" x="{left - 8}" y="{y + tall / 2 + 4:.0f}">{device}</text>')
        if len(of_context["steps"]) > MANY:
            body += _many_bars(of_context["steps"], (left, y, wide / span, tall))
            continue
        for row in of_context["steps"]:
            x, long = left + wide * row["began"] / span, wide * row["took"] / span
            node = ids.get((row["phase"], row["name"]), "")
            name = text(_short(row["name"], long))
            words = f'<text class="on small" x="{x + long / 2:.1f}" y="{y + 21:.0f}">{name}</text>'
            body.append(
                f'<g class="{row["phase"]}" data-node="{node}"><title>{text(row["name"])} on'
                f' {device}: {duration(row["took"])}</title><rect x="{x:.2f}" y="{y}"'
                f' width="{max(long - 0.6, 0.4):.2f}" height="{tall}" rx="2"/>{words if long > 44 else ""}</g>'
            )
    return _svg(BAR, bottom + 22, "Forward and backward along one clock, a line per device", body, "time", True)


def _many_bars(steps: list[Data], where: tuple[float, float, float, float]) -> list[str]:
    """Many steps on one line, without words."""
    left, y, scale, tall = where
    paths: dict[str, dict[str, None]] = {}
    for row in steps:
        bar = _box(left + row["began"] * scale, y, row["took"] * scale, tall)
        paths.setdefault(row["phase"], {})[bar] = None
    return [f'<path class="many {phase}" d="{"".join(path)}"/>' for phase, path in paths.items()]


def _unit(span: float) -> float:
    """A round number of microseconds, four to ten of which make the whole."""
    rough = 10 ** ceil(log10(span / 10))
    return next(rough / part for part in (1, 2, 5) if span / (rough / part) >= 4)
