"""The gradient of a weight that several layers share: one running sum instead of a sum of stored products.

A recurrent network that is unrolled over 35 steps reads each weight 35 times. Each FullyConnected contributes
head^T . data to the gradient of the weight. Here each layer adds its product to the sum of the layers before it, in
the same memory: no single product is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..base import asked_for, decides
from .ir import Entry

SWITCH = "REFIMPL_SHARED_WEIGHTS"
KINDS = {
    "merged": "layers that share a weight add up its gradient row by row, one layer after the other",
    "apart": "every layer contributes a product of its own, and products are added",
}
"""The values of ``REFIMPL_SHARED_WEIGHTS`` and their meanings."""

LAYER = "FullyConnected"
ADD = "_grad_add_weight"
"""The operator that adds a layer's contribution to a running sum."""

Make = Callable[..., list[Entry]]
"""``make(op_name, inputs, **attrs)`` adds a node and returns its outputs."""


def kind() -> str:
    """The value of ``REFIMPL_SHARED_WEIGHTS``, for gradients that are built now.

    Raises:
        MXNetError: the value is none of ``KINDS``.
    """
    return asked_for("gradient/shared-switch", SWITCH, KINDS)


def is_product(part: Entry) -> bool:
    """Whether an entry is the contribution of a layer to the gradient of its weight."""
    primal = part.node.primal
    return primal is not None and primal.op is not None and primal.op.name == LAYER and part.index == 1


def can_continue(parts: Sequence[Entry]) -> bool:
    """Whether all contributions to a gradient can be added to an existing sum: all are products of layers."""
    return all(map(is_product, parts)) and kind() == "merged"


@decides("gradient/shared-weight")
def merged(parts: Sequence[Entry], make: Make, begun: Entry | None = None) -> list[Entry]:
    """The terms of a gradient: the products among ``parts`` are replaced by one sum, at the place of the first.

    Args:
        parts: the contributions of consumers, the last consumer first.
        make: adds a node.
        begun: an existing sum to add to, where all parts are products.
    """
    products = list(filter(is_product, parts))
    if begun is None and (len(products) < 2 or kind() == "apart"):
        return list(parts)
    first = products[0]
    total, rest = (first, products[1:]) if begun is None else (begun, products)
    for part in rest:
        (head, data, _), params = part.node.inputs, part.node.params
        (total,) = make(ADD, [total, head, data], num_hidden=params.num_hidden, flatten=params.flatten)
    others = [part for part in parts if part is first or not is_product(part)]
    return [total if part is first else part for part in others]


__all__ = ["KINDS", "can_continue", "kind", "merged"]
