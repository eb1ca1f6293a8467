"""A graph as text, for people and for tests that compare structures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .symbol import Symbol


def debug_text(symbol: Symbol) -> str:
    """Outputs, then one paragraph per node in execution order."""
    lines = ["Symbol Outputs:"]
    for i, entry in enumerate(symbol.entries):
        lines.append(f"\toutput[{i}]={entry.node.name}({entry.index})")
    for node in symbol.order():
        if node.is_variable:
            lines.append(f"Variable:{node.name}")
            continue
        lines += ["--------------------", f"Op:{node.kind}, Name={node.name}", "Inputs:"]
        for i, entry in enumerate(node.inputs):
            version = " version=0" if entry.node.is_variable else ""
            lines.append(f"\targ[{i}]={entry.node.name}({entry.index}){version}")
        if node.attrs:
            lines.append("Attrs:")
            lines += [f"\t{key}={value}" for key, value in sorted(node.attrs.items())]
    return "\n".join(lines) + "\n"
