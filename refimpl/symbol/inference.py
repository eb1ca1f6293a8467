"""Shape and type inference: every operator refines what is known, until nothing changes.

[infer/fixpoint] Knowledge flows in both directions: operators are visited inputs-first, then outputs-first,
until a whole round adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import MXNetError, dtype_of, refusal
from ..kernels.foundation import Shape
from ..kernels.foundation.params import parse
from .ir import Entry, Node

Key = tuple[int, int]
MAX_ROUNDS = 1000


def key_of(entry: Entry) -> Key:
    """A hashable name for an entry."""
    return (id(entry.node), entry.index)


def _explained(node: Node, error: MXNetError, ins: list, outs: list) -> MXNetError:
    """The operator's refusal, with the node and everything known about its arrays."""
    given = ", ".join(
        f"{entry.node.entry_name(entry.index)}={value}"
        for entry, value in zip(node.inputs, ins, strict=True)
    )
    message = f"Error in operator {node.name}: {error} Inputs: {given}. Outputs: {outs}."
    explained = MXNetError(message)
    explained.clause = error.clause
    return explained


def _refine(known: dict[Key, Any], key: Key, value: Any) -> bool:
    """Store ``value``; whether it says more than before."""
    before = known.get(key)
    # np.dtype("float64") == None is True, so an absent value is asked for by identity
    if value is None or (before is not None and value == before):
        return False
    known[key] = value
    return True


def _visit(node: Node, known: dict[Key, Any], rule: Callable) -> bool:
    """Apply one operator's rule; whether anything was learned."""
    assert node.op is not None
    in_keys = [key_of(entry) for entry in node.inputs]
    out_keys = [(id(node), i) for i in range(node.output_count())]
    ins = [known.get(key) for key in in_keys]
    outs = [known.get(key) for key in out_keys]
    try:
        new_ins, new_outs = rule(node.params, list(ins), list(outs))
    except MXNetError as error:
        raise _explained(node, error, ins, outs) from None
    learned = False
    for key, value in zip([*in_keys, *out_keys], [*new_ins, *new_outs], strict=True):
        learned |= _refine(known, key, value)
    return learned


def _fixpoint(order: Sequence[Node], known: dict[Key, Any], rule_name: str) -> dict[Key, Any]:
    operators = [node for node in order if node.op is not None and node.primal is None]
    for _ in range(MAX_ROUNDS):
        learned = False
        for node in operators:
            learned |= _visit(node, known, getattr(node.op, rule_name))
        if not learned:
            return known
        learned = False
        for node in reversed(operators):
            learned |= _visit(node, known, getattr(node.op, rule_name))
        if not learned:
            return known
    raise refusal("infer/fixpoint", f"{rule_name} found no fixpoint after {MAX_ROUNDS} rounds")


class _Stated(NamedTuple):
    shape: Shape


def _stated_shape(node: Node) -> Any:
    """What the variable's own ``__shape__`` says, None if nothing."""
    stated = node.attrs.get("__shape__")
    return parse(f"variable {node.name}", _Stated, {"shape": stated}).shape if stated else None


def _told(given: Mapping[Any, Any], node: Node) -> Any:
    """What ``given`` says of a variable, by its id (two variables may have one name) or by its name."""
    return given.get(id(node), given.get(node.name))


def shapes(order: Sequence[Node], given: Mapping[Any, tuple[int, ...]]) -> dict[Key, Any]:
    """Shapes of all entries that can be known; ``given`` tells variables by name or by id.

    A negative side is unknown, as 0 is.

    Raises:
        MXNetError: two operators or a given shape contradict each other.
    """
    known: dict[Key, Any] = {}
    for node in order:
        if not node.is_variable:
            continue
        told = _told(given, node)
        if told is None:
            told = _stated_shape(node)
        if told is not None:
            known[id(node), 0] = tuple(max(int(side), 0) for side in told)
    return _fixpoint(order, known, "infer")


def types(
    order: Sequence[Node], given: Mapping[Any, Any], default: np.dtype | None = None
) -> dict[Key, Any]:
    """Dtypes of all entries that can be known; ``default`` fills variables that stay unknown.

    ``given`` tells variables by name or by id.

    Raises:
        MXNetError: two operators or a given type contradict each other.
    """
    known: dict[Key, Any] = {}
    for node in order:
        if not node.is_variable:
            continue
        told = _told(given, node)
        if told is not None:
            known[id(node), 0] = dtype_of(told)
        elif "__dtype__" in node.attrs:
            known[id(node), 0] = dtype_of(node.attrs["__dtype__"])
    known = _fixpoint(order, known, "infer_type")
    if default is not None:
        unknown = [n for n in order if n.is_variable and known.get((id(n), 0)) is None]
        if unknown:
            for node in unknown:
                known[id(node), 0] = default
            known = _fixpoint(order, known, "infer_type")
    return known
