"""Operators whose result depends on shapes and parameters only, computed while a network is converted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..context import cpu
from ..kernels.foundation import get
from ..symbol import Symbol
from ..symbol.ir import Entry, Node


def computed(name: str, p: Any, shapes: Sequence[Sequence[int]], types: Sequence[np.dtype]) -> list[np.ndarray]:
    """The outputs of an operator that reads the shapes of its inputs, not their values.

    Args:
        name: of the operator.
        p: its parameters.
        shapes: of its inputs.
        types: the element types of its inputs.
    """
    values = {
        f"in{place}": nd.zeros(tuple(int(side) for side in shape), dtype=kind)
        for place, (shape, kind) in enumerate(zip(shapes, types, strict=False))
    }
    node = Node(get(name), "computed", {}, [Entry(Node(None, given), 0) for given in values], params=p)
    net = Symbol([Entry(node, index) for index in range(node.visible_count())])
    return [value.asnumpy() for value in net.bind(cpu(), values, grad_req="null").forward()]
