"""Replacements for parts of MXNet that are not here: one table, name -> one line."""

from __future__ import annotations

from ...op_registry.submodules import ABSENT

OTHER = "mxnet"
PAGE = "spec/reference/porting/bring-your-script.md"

_OWN_OPERATORS = "write an operator in Python with mx.operator.CustomOp; see spec/reference/arrays/custom-operators.md"
_WHOLE_GRAPHS = "an executor runs the network as it is, nothing has to be replaced; see spec/reference/graphs/passes.md"

INSTEAD: dict[str, str] = {f"{OTHER}.{name}": said for name, said in ABSENT.items()} | {
    f"{OTHER}.contrib.tensorrt": _WHOLE_GRAPHS,
    f"{OTHER}.library": _OWN_OPERATORS,
    f"{OTHER}.subgraph": _WHOLE_GRAPHS,
}
"""With the modules that the package itself refuses."""


def instead(name: str) -> str | None:
    """The replacement of a dotted name, or of the nearest name above it in the table."""
    while name:
        if name in INSTEAD:
            return INSTEAD[name]
        name = name.rpartition(".")[0]
    return None
