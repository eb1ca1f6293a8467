"""The names under which a monitor reports the inputs of operators."""

from __future__ import annotations

from ..base import decides
from ..symbol.ir import Node

# MXNet 1.9.1's names (``Op.numbered_input``) were read, for each operator, with:
#   e = getattr(mx.sym, op)(name="zz", **params).simple_bind(mx.cpu(), zz_data=shape)
#   e.set_monitor_callback(lambda name, _: print(name), monitor_all=True); e.forward()   # zz_data, then zz_input0


@decides("Executor/monitor")
def monitored_inputs(node: Node) -> list[str]:
    """The names of the inputs of an operator's node, as a monitor reports them."""
    assert node.op is not None
    if node.op.numbered_input:
        return [f"{node.name}_input0"]
    return [f"{node.name}_{name}" for name in node.op.input_names(node.params)]


__all__ = ["monitored_inputs"]
