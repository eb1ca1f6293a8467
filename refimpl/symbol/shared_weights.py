"""The gradient of a weight that several layers share: one sum over the rows of all, in place of a sum of products.

A recurrent network that is unrolled over 35 steps reads each weight 35 times. Each FullyConnected contributes
head^T . data to the gradient of the weight. Here each layer adds its products to what the layers before it have made,
in the same memory: no product is stored by itself.
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
"""What ``REFIMPL_SHARED_WEIGHTS`` may be, and what it means."""

LAYER = "FullyConnected"
ADD = "_grad_add_weight"
"""The operator that adds what a layer contributes to a sum."""

Make = Callable[..., list[Entry]]
"""``make(op_name, inputs, **attrs)`` adds a node and returns its outputs."""


def kind() -> str:
    """How gradients are computed that are built now.

    Raises:
        MXNetError: the environment variable is none of ``KINDS``.
    """
    return asked_for("gradient/shared-switch", SWITCH, KINDS)


def is_product(part: Entry) -> bool:
    """Whether this is what a layer contributes to the gradient of its weight."""
    primal = part.node.primal
    return primal is not None and primal.op is not None and primal.op.name == LAYER and part.index == 1


def can_continue(parts: Sequence[Entry]) -> bool:
    """Whether all that is added up for one value can be added to a sum that was begun before."""
    return all(map(is_product, parts)) and kind() == "merged"


@decides("gradient/shared-weight")
def merged(parts: Sequence[Entry], make: Make, begun: Entry | None = None) -> list[Entry]:
    """What is added up for one value: the products among ``parts`` become one sum, in the place of the first.

    Args:
        parts: what consumers contribute, the last consumer first.
        make: adds a node.
        begun: a sum to go on with, where all parts are products.
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
