"""A graph as text: ``graph_text`` for people, ``debug_text`` as MXNet writes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .ir import Entry, Node, post_order

if TYPE_CHECKING:
    from .graph import Graph


def _read(entry: Entry) -> str:
    """The name of an input in an operator's line: its node, with an index where the node has several outputs."""
    node = entry.node
    return node.name if node.output_count() == 1 else f"{node.name}[{entry.index}]"


def _line(node: Node) -> str:
    if node.is_variable:
        return node.name
    shown = [f"{k}={v}" for k, v in sorted(node.attrs.items()) if not k.startswith("__")]
    return f"{node.name} = {node.kind}({', '.join([*(_read(e) for e in node.inputs), *shown])})"


def graph_text(entries: Sequence[Entry], graph: Graph | None = None) -> str:
    """One line per node, inputs first, then a line with the outputs.

    With ``graph`` each line ends with the shapes and dtypes of the node's outputs and its context.
    """
    lines = []
    for node in post_order(entries):
        line = _line(node)
        if graph is not None:
            values = [(id(node), i) for i in range(node.output_count())]
            known = ", ".join(f"{graph.types[v]} {graph.shapes[v]}" for v in values)
            line = f"{line:56} {known} on {graph.contexts[id(node)]}"
        lines.append(line)
    return "\n".join([*lines, f"-> {', '.join(_read(entry) for entry in entries)}"])


def debug_text(entries: Sequence[Entry], order: Iterable[Node]) -> str:
    """Outputs, then one paragraph per node, in the given order."""
    lines = ["Symbol Outputs:"]
    for i, entry in enumerate(entries):
        lines.append(f"\toutput[{i}]={entry.node.name}({entry.index})")
    updates: Counter[int] = Counter()  # number of updates of each state by the nodes so far
    for node in order:
        if node.op is None:
            lines.append(f"Variable:{node.name}")
            continue
        if node.op.aux and node.primal is None:
            names = node.op.input_names(node.params)
            updates.update(id(e.node) for e, name in zip(node.inputs, names, strict=True) if name in node.op.aux)
        lines += ["--------------------", f"Op:{node.kind}, Name={node.name}", "Inputs:"]
        for i, entry in enumerate(node.inputs):
            version = f" version={updates[id(entry.node)]}" if entry.node.is_variable else ""
            lines.append(f"\targ[{i}]={entry.node.name}({entry.index}){version}")
        if node.attrs:
            lines.append("Attrs:")
            lines += [f"\t{key}={value}" for key, value in sorted(node.attrs.items())]
        if node.primal is not None:
            lines += ["Control deps:", f"\tcdep[0]={node.primal.name}"]
    return "\n".join(lines) + "\n"
