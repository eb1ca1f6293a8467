"""A symbol as an SVG drawing, which notebooks show and ``refimpl plot`` writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..base import decides, printable, refusal
from ..symbol import Symbol
from ..symbol.ir import Node, auxiliary_nodes
from ..visualization import _graph, _label
from .charts import _curve, _short
from .layout import HEIGHT, PILL_HEIGHT, WIDTH, Box, arrange
from .markup import shape as sides_of
from .markup import text

Data = dict[str, Any]
MOST = 1000
"""A notebook draws no larger graph: nobody sees anything in it."""

STYLE = (
    ".refimpl{color-scheme:light dark;--paper:#fff;--ink:#1d2430;--soft:#586174;--op:#d5f0ec;--op-line:#0f766e;"
    "--held:#ebe2fb;--held-line:#6d3bc4;--state:#e2e8f1;--state-line:#4d5f7a;max-width:100%;height:auto;"
    "font-family:system-ui,-apple-system,'Segoe UI','Noto Sans','DejaVu Sans',sans-serif}"
    "@media(prefers-color-scheme:dark){.refimpl{--paper:#1a1f28;--ink:#e9ebf0;--soft:#a3adbf;--op:#123a37;"
    "--op-line:#58cfc2;--held:#31214f;--held-line:#bfa1ff;--state:#2b3547;--state-line:#b3c2d9}}"
    ".refimpl .ground{fill:var(--paper)}.refimpl text{fill:var(--ink);text-anchor:middle;font-size:12px}"
    ".refimpl .name{font-weight:650;font-size:13px}.refimpl .small{fill:var(--soft);font-size:11px}"
    ".refimpl .sides{text-anchor:start}.refimpl .edge{fill:none;stroke:var(--soft);stroke-width:1.4}"
    ".refimpl marker path{fill:var(--soft)}"
    ".refimpl .operator rect{fill:var(--op);stroke:var(--op-line)}"
    ".refimpl .data rect{fill:var(--state);stroke:var(--state-line)}"
    ".refimpl .held rect{fill:var(--held);stroke:var(--held-line)}"
    ".refimpl .state rect{fill:var(--state);stroke:var(--state-line)}"
)


@decides("Visualization/svg")
def svg(symbol: Symbol, shape: Mapping[str, Sequence[int]] | None = None) -> str:
    """A symbol as the text of an SVG file: operators downwards, parameters beside who reads them.

    Args:
        symbol: the network.
        shape: shapes of inputs by name, to write the shapes of all values.

    Raises:
        TypeError: not a symbol.
        ValueError: the shapes given leave others unknown.
    """
    if not isinstance(symbol, Symbol):
        raise refusal("Visualization/symbol", f"svg draws a Symbol, not {symbol!r}", TypeError)
    known = {} if shape is None else _graph(symbol, shape).shapes
    nodes = _nodes(symbol.order(), known)
    drawing = arrange(nodes)
    by_id = {node["id"]: node for node in nodes}
    body = [f'<path class="edge" marker-end="url(#refimpl-to)" d="{_curve(points)}"/>' if kind == "forward" else
            f'<path class="edge" d="{_curve(points)}"/>' for kind, points in drawing.edges]
    body += [_pill(by_id[node], box) for _, node, box in drawing.pills]
    body += [_box(by_id[name], box) for name, box in drawing.boxes.items()]
    wide, tall = max(drawing.width, 1), max(drawing.height, 1) + (12 if known else 0)
    operators = sum(node["phase"] == "forward" for node in nodes)
    title = text(printable(f"The network {symbol.name or 'of several outputs'}, {operators} operators"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="refimpl" role="img" aria-label="{title}"'
        f' viewBox="0 0 {wide:.0f} {tall:.0f}" width="{wide:.0f}" height="{tall:.0f}"><title>{title}</title>'
        f"<style>{STYLE}</style>"
        '<defs><marker id="refimpl-to" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
        ' orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>'
        f'<rect class="ground" width="{wide:.0f}" height="{tall:.0f}"/>{"".join(body)}</svg>\n'
    )


@decides("Visualization/notebook")
def of_notebook(symbol: Symbol) -> str | None:
    """The drawing that a notebook shows; None, so that it shows text, for a symbol with more than ``MOST`` nodes."""
    return svg(symbol) if len(symbol.order()) <= MOST else None


def _nodes(order: list[Node], shapes: Mapping[str, Sequence[int]]) -> list[Data]:
    """The graph in the form of ``layout.arrange``.

    A variable that is an operator's first input is data; other variables are placed beside operators.
    """
    states, at = auxiliary_nodes(order), {id(node): f"n{number}" for number, node in enumerate(order)}
    first = {id(node.inputs[0].node) for node in order if node.inputs}
    readers: dict[int, set[str]] = {}
    for node in order:
        for entry in node.inputs:
            readers.setdefault(id(entry.node), set()).add(node.name)
    found = []
    for node in order:
        data = node.is_variable and (id(node) in first or id(node) not in readers)
        role = "data" if data else "state" if id(node) in states else "held"
        value = shapes.get(node.name if node.is_variable else node.entry_name(0))
        label = _label({"op": node.kind, "name": node.kind, "attrs": node.attrs}).partition("\n")[2]
        found.append({
            "id": at[id(node)], "name": printable(node.name), "phase": "variable" if node.is_variable else "forward",
            "role": role, "short": printable(_within(node, readers.get(id(node), set()))),
            "words": printable(f"{node.kind} {label}".strip()), "shape": value,
            "reads": [{"node": at[id(entry.node)]} for entry in node.inputs],
        })
    return found


def _within(variable: Node, readers: set[str]) -> str:
    """The name of a variable that one operator reads, without that operator's name: ``conv1_weight`` is ``weight``."""
    before = f"{next(iter(readers))}_" if len(readers) == 1 else ""
    return variable.name.removeprefix(before) or variable.name


def _pill(node: Data, box: Box) -> str:
    full = node["name"] + ("" if node["shape"] is None else f": {sides_of(node['shape'])}")
    return (
        f'<g class="{node["role"]}"><title>{text(full)}</title>'
        f'<rect x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{PILL_HEIGHT}" rx="11"/>'
        f'<text x="{box.middle:.0f}" y="{box.y + 15:.0f}">{text(_short(node["short"], box.width - 10, 6.8))}</text></g>'
    )


def _box(node: Data, box: Box) -> str:
    kind = "data" if node["phase"] == "variable" else "operator"
    below = "variable" if kind == "data" else node["words"]
    sides = "" if node["shape"] is None else sides_of(node["shape"])
    beside = f'<text class="small sides" x="{box.middle + 7:.0f}" y="{box.y + HEIGHT + 15:.0f}">{sides}</text>'
    return (
        f'<g class="{kind}"><title>{text(node["name"])}: {text(below)}{", " if sides else ""}{sides}</title>'
        f'<rect x="{box.x:.0f}" y="{box.y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="8"/>'
        f'<text class="name" x="{box.middle:.0f}" y="{box.y + 21:.0f}">{text(_short(node["name"], WIDTH - 16, 7.6))}'
        f'</text><text class="small" x="{box.middle:.0f}" y="{box.y + 38:.0f}">{text(_short(below, WIDTH - 12, 6.1))}'
        f"</text>{beside if sides else ''}</g>"
    )


__all__ = ["MOST", "of_notebook", "svg"]
