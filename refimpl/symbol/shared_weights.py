"""The gradient of a weight that several layers share: one product over the rows of all, in place of a sum of products.

A recurrent network that is unrolled over 35 steps reads each weight 35 times. Each FullyConnected contributes
head^T . data to the gradient of the weight; their sum is the product of all heads, one below the other, with all data,
one below the other. That reads and writes the gradient once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..base import asked_for, decides
from .ir import Entry

SWITCH = "REFIMPL_SHARED_WEIGHTS"
KINDS = {
    "apart": "every layer contributes a product of its own",
    "merged": "the layers that share a weight contribute one product to its gradient",
}
"""What ``REFIMPL_SHARED_WEIGHTS`` may be, and what it means."""

LAYER = "FullyConnected"
PRODUCT = f"_backward_{LAYER}_weight"
"""The operator that gives the gradient of the weight alone."""

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


@decides("gradient/shared-weight")
def merged(parts: Sequence[Entry], make: Make) -> list[Entry]:
    """What is added up for one value: the products of ``parts`` become one, in the place of the first."""
    groups: dict[bool, list[Entry]] = {}  # by how layers read their data as a matrix
    for part in filter(is_product, parts):
        groups.setdefault(part.node.params.flatten, []).append(part)
    if not groups or kind() == "apart":
        return list(parts)
    found = []
    for part in parts:
        group = groups[part.node.params.flatten] if is_product(part) else [part]
        if part is group[0]:
            found.append(part if len(group) == 1 else _product_of(group, make))
    return found


def _product_of(group: Sequence[Entry], make: Make) -> Entry:
    """The gradient of one layer whose rows are those of all, in this order."""
    params: Any = group[0].node.params
    heads, data, weights = zip(*[part.node.inputs for part in group], strict=True)
    (head,), (rows,) = (make("_concat_rows", pieces, flatten=params.flatten) for pieces in (heads, data))
    return make(PRODUCT, [head, rows, weights[0]], num_hidden=params.num_hidden, no_bias=True)[0]


__all__ = ["KINDS", "kind", "merged"]
