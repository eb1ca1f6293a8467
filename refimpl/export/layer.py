"""One layer with the values that it reads, ready to be run as it is or changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..base import MXNetError
from ..context import cpu
from ..op_registry.signatures import signature
from ..symbol import Symbol
from ..symbol.ir import Entry, Node

DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)


@dataclass
class Layer:
    """An operator of the network and its inputs, in double precision where they are no whole numbers."""

    node: Node
    arrays: list[np.ndarray]

    @property
    def operator(self) -> str:
        """The name of the operator."""
        return self.node.kind

    @property
    def params(self) -> Any:
        """The parameters of the operator."""
        return self.node.params

    def slot(self, name: str) -> int:
        """The position of an input by the operator's name for it, or -1."""
        names = list(self.node.signature.inputs)
        return names.index(name) if name in names else -1

    def array(self, name: str) -> np.ndarray | None:
        """An input by the operator's name for it, or None."""
        place = self.slot(name)
        return None if place < 0 else self.arrays[place]

    def run(
        self, arrays: Mapping[str, np.ndarray] | Sequence[np.ndarray] = (), *, kind: np.dtype = DOUBLE, **params: Any
    ) -> list[np.ndarray]:
        """The visible outputs.

        Args:
            arrays: other inputs: all of them, or some by name.
            kind: the precision; an operator that cannot have it runs in single precision.
            params: other parameters.

        Raises:
            MXNetError: the operator refuses what it is given.
        """
        given = list(self.arrays)
        if isinstance(arrays, Mapping):
            for name, value in arrays.items():
                given[self.slot(name)] = value
        elif len(arrays):
            given = list(arrays)
        node = self._changed(params)
        try:
            return _outputs(node, given, kind)
        except MXNetError:
            if kind == SINGLE:
                raise
            return _outputs(node, given, SINGLE)

    def changed(self, arrays: Sequence[np.ndarray], **params: Any) -> Layer:
        """The operator with other inputs and parameters."""
        return Layer(self._changed(params), list(arrays))

    def _changed(self, params: Mapping[str, Any]) -> Node:
        if not params:
            return self.node
        assert self.node.op is not None
        made = self.node.params._replace(**params)
        known = signature(self.node.op, made)
        inputs = self.node.inputs[: len(known.inputs)]
        return Node(self.node.op, self.node.name, self.node.attrs, inputs, params=made)


def bound_layer(node: Node, arrays: Sequence[np.ndarray], kind: np.dtype) -> Any:
    """An executor of the layer alone, not yet run."""
    variables: dict[str, np.ndarray] = {}
    entries = []
    for index, value in enumerate(arrays[: len(node.inputs)]):
        name = f"in{index}"
        entries.append(Entry(Node(None, name), 0))
        variables[name] = value.astype(kind) if value.dtype.kind == "f" else value
    lone = node.reading(entries)
    net = Symbol([Entry(lone, index) for index in range(lone.visible_count())])
    held = {name: nd.array(value, dtype=value.dtype) for name, value in variables.items()}
    hidden = set(net.list_auxiliary_states())
    arguments = {name: value for name, value in held.items() if name not in hidden}
    return net.bind(cpu(), arguments, aux_states={name: held[name] for name in hidden}, grad_req="null")


def _outputs(node: Node, arrays: Sequence[np.ndarray], kind: np.dtype) -> list[np.ndarray]:
    found = [value.asnumpy() for value in bound_layer(node, arrays, kind).forward(is_train=False)]
    return [value.astype(DOUBLE) if value.dtype.kind == "f" else value for value in found]


def wide(value: np.ndarray) -> np.ndarray:
    """Real numbers in double precision; whole ones stay what they are."""
    return value.astype(DOUBLE) if value.dtype.kind == "f" else value


__all__ = ["DOUBLE", "SINGLE", "Layer", "bound_layer", "wide"]
