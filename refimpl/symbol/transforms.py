"""Graphs made of graphs: the gradient as a symbol, and the passes that a user asks for by name."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..base import refusal
from ..kernels.foundation import get
from . import common_expressions, gradient
from .graph import Graph
from .ir import Entry, Node, post_order
from .passes import plain_graph

if TYPE_CHECKING:
    from .symbol import Symbol

BACKENDS: dict[str, Callable[[Graph], Graph]] = {
    "default": common_expressions.eliminate,
    "MKLDNN": lambda graph: graph,
}
"""Passes by the name that ``get_backend_symbol`` takes. MXNet's MKLDNN fuses operators; nothing is fused here."""


class Transforms:
    """Methods of :class:`Symbol` that give another symbol."""

    __slots__ = ()
    if TYPE_CHECKING:
        entries: list[Entry]

    @property
    def handle(self) -> list[Entry]:
        """What the symbol consists of: outputs of nodes."""
        return self.entries

    def as_nd_ndarray(self) -> Symbol:
        """The symbol itself."""
        return self  # type: ignore[return-value]  # the class that this is mixed into

    def as_np_ndarray(self) -> Symbol:
        """Refused: symbols of ``mx.np`` do not exist here."""
        raise refusal("Symbol/numpy-symbol", "there is no mx.np here; this symbol is used as it is")

    def split_v2(self, *args: Any, **kwargs: Any) -> Symbol:
        """``mx.sym.split_v2`` of this symbol."""
        from . import split_v2

        return split_v2(self, *args, **kwargs)  # type: ignore[arg-type]  # a Symbol

    def gradient(self, wrt: str | Sequence[str]) -> Symbol:
        """A symbol of the gradients with respect to the named arguments, in their order.

        Its arguments are those that the gradients read, and one ``_head_grad_<i>`` per output that is no loss.

        Raises:
            MXNetError: a name is no argument, or a path to it goes through an operator without a gradient.
        """
        from .symbol import Symbol

        names = [wrt] if isinstance(wrt, str) else list(wrt)
        arguments = {node.name: node for node in post_order(self.entries) if node.is_variable}
        for name in names:
            if name not in arguments:
                raise refusal(
                    "Symbol/gradient-name", f"{name!r} is no argument; there are {', '.join(arguments)}"
                )
        found = gradient.build(self.entries, {id(arguments[name]) for name in names}, differentiable=True)
        if found.refused is not None:
            raise found.refused

        def zero(node: Node) -> Entry:
            return Entry(Node(get("zeros_like"), f"{node.name}_grad", {}, [Entry(node, 0)]), 0)

        return Symbol([found.of.get(id(arguments[n])) or zero(arguments[n]) for n in names])

    def get_backend_symbol(self, backend: str) -> Symbol:
        """The symbol after the pass named ``backend``, one of ``BACKENDS``.

        Raises:
            MXNetError: there is no such pass.
        """
        from .symbol import Symbol

        if backend not in BACKENDS:
            raise refusal(
                "Symbol/backend",
                f"SubgraphProperty {backend} is not found; there are {', '.join(sorted(BACKENDS))}",
            )
        return Symbol(BACKENDS[backend](plain_graph(self.entries)).outputs)

    def optimize_for(self, backend: str, args: Any = None, aux: Any = None, ctx: Any = None, **options: Any) -> Symbol:
        """As :meth:`get_backend_symbol`; an unknown ``backend`` gives the symbol as it is, with a warning.

        ``args``, ``aux``, ``ctx`` and ``options`` are for backends that look at values; none here does.
        """
        del args, aux, ctx, options
        if backend not in BACKENDS:
            warnings.warn(f"backend {backend} is unknown, the symbol is returned as it is", stacklevel=2)
            return self.as_nd_ndarray()
        return self.get_backend_symbol(backend)
