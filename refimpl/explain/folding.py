"""Repeated cells of a graph: one copy of a cell is drawn for all of its copies, such as the steps of an unrolled RNN.

A cell is a sequence of forward operators that repeats: each copy has the same operators with the same attributes,
shapes and parameters, and its inputs are those of the copy before, one copy later. Gradients are folded with their
forward operators.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ..base import decides

Data = dict[str, Any]

FEWEST = 3
"""Copies that are folded."""


@decides("Explain/folded")
def stand_ins(nodes: list[Data]) -> list[str]:
    """Map each node of ``structure.graph`` to the node that is drawn for it, usually the node itself."""
    forward = [node for node in nodes if node["phase"] == "forward"]
    variables = {node["id"] for node in nodes if node["phase"] == "variable"}
    found = _of_forward(forward, variables)
    shown: dict[tuple[str, str, int], list[Data]] = {}
    turns: Counter[tuple[str, str]] = Counter()
    for node in nodes:
        if node["phase"] == "backward" and node["serves"] is not None:
            which = str(node["serves"]), str(node["operator"])
            shown.setdefault((found.get(which[0], which[0]), which[1], turns[which]), []).append(node)
            turns[which] += 1
    for (served, _, _), alike in shown.items():
        if len(alike) >= FEWEST:
            first = next((node for node in alike if node["serves"] == served), alike[0])
            found.update({node["id"]: first["id"] for node in alike})
    return [found.get(name, name) for name in (str(node["id"]) for node in nodes)]


def shown(nodes: list[Data]) -> list[Data]:
    """The nodes that are drawn, each with the number of its copies; ``reads`` then names each drawn node once."""
    stands = {node["id"]: node["shown_by"] for node in nodes}
    copies = Counter(stands.values())
    made = []
    for node in nodes:
        if node["shown_by"] == node["id"]:
            reads = {stands[read["node"]]: {**read, "node": stands[read["node"]]} for read in node["reads"]}
            serves = node.get("serves")
            made.append({
                **node, "reads": list(reads.values()), "all_reads": node["reads"], "copies": copies[node["id"]],
                "serves": stands.get(serves, serves),
            })
    return made


def _of_forward(nodes: list[Data], variables: set[str]) -> dict[str, str]:
    """Forward node -> the one of its cell's first copy that is like it."""
    place = {node["id"]: number for number, node in enumerate(nodes)}
    kinds: dict[Any, int] = {}
    kind = np.array([kinds.setdefault(_kind(node, variables), len(kinds)) for node in nodes], int)
    found: dict[str, str] = {}
    rest = [(0, len(nodes))]
    while rest:
        begin, end = rest.pop()
        best = (0, 0, 0, 0)  # (operators that are saved, where the run begins, operators of a cell, those of the run)
        for period in range(1, (end - begin) // FEWEST + 1):
            alike = kind[begin + period : end] == kind[begin : end - period]
            for at, length in _runs(alike):
                if length < (FEWEST - 1) * period or length <= best[0]:
                    continue
                for start, long in _shifted(nodes, place, variables, begin + at, length, period):
                    saved = long // period * period
                    if saved >= (FEWEST - 1) * period and saved > best[0]:
                        best = saved, start, period, long
        saved, start, period, long = best
        if saved:
            start, long = _at_a_border(nodes, variables, start, long, period)
            saved = long // period * period
            for number in range(start, start + saved + period):
                found[nodes[number]["id"]] = nodes[start + (number - start) % period]["id"]
            rest += [(begin, start), (start + saved + period, end)]
    return found


def _at_a_border(
    nodes: list[Data], variables: set[str], start: int, long: int, period: int
) -> tuple[int, int]:
    """Begin a run of copies where the fewest values pass from one cell into the next: where a cell begins."""
    if long < FEWEST * period:
        return start, long

    def passing(at: int) -> tuple[int, bool, int]:
        before = {node["id"] for node in nodes[at - period : at]}
        after = nodes[at : at + period]
        read = {read["node"] for node in after for read in node["reads"]}
        fresh = any(read["node"] in variables for read in after[0]["reads"])
        return len(before & read), not fresh, at

    at = min(passing(start + shift) for shift in range(period, 2 * period))[2] - period
    return at, long - (at - start)


def _kind(node: Data, variables: set[str]) -> Any:
    """All that copies of an operator have in common."""
    return (
        node["operator"], tuple(node["attributes"].items()),
        tuple((tuple(value["shape"]), value["dtype"], value["kept"]) for value in node["values"]),
        tuple(read["node"] if read["node"] in variables else None for read in node["reads"]),
    )


def _runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """(begin, length) of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return [(int(begin), int(end - begin)) for begin, end in zip(edges[::2], edges[1::2], strict=True)]


def _shifted(
    nodes: list[Data], place: dict[str, int], variables: set[str], begin: int, length: int, period: int
) -> list[tuple[int, int]]:
    """The parts of a sequence in which each operator's inputs are those of its copy, one copy later."""

    def follows(number: int) -> bool:
        for one, other in zip(nodes[number]["reads"], nodes[number + period]["reads"], strict=True):
            if one["node"] in variables or one["node"] == other["node"]:
                continue
            if place[other["node"]] - place[one["node"]] != period:
                return False
        return True

    found = _runs(np.array([follows(number) for number in range(begin, begin + length)]))
    return [(begin + at, long) for at, long in found]
