"""Shape and type inference: every operator refines what is known, until nothing changes.

Inside, an unknown side is -1 (``UNKNOWN``) and an unknown shape None, and 0 is an ordinary side. Users write and read
shapes in the mode that ``mx.util.np_shape`` chooses; :func:`read_shape` and :func:`shown_shape` stand between.

[infer/fixpoint] Knowledge flows in both directions: operators are visited inputs-first, then outputs-first,
until a whole round adds nothing. An operator about which all is known is not visited again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import MXNetError, decides, dtype_of, refusal
from ..kernels.foundation import UNKNOWN, Shape, agree
from ..kernels.foundation import known as shapes_known
from ..kernels.foundation.params import parse
from ..util import is_np_shape
from .ir import Entry, Node, post_order
from .reported import reported_rule

Key = tuple[int, int]
MAX_ROUNDS = 1000


def key_of(entry: Entry) -> Key:
    """A hashable name for an entry."""
    return (id(entry.node), entry.index)


def read_shape(given: Sequence[int]) -> Shape | None:
    """A shape that a user wrote, as inference has it.

    [infer/unknown-sides] -1 is an unknown side; outside ``np_shape`` 0 is one too, and () an unknown shape.

    Raises:
        MXNetError: a side is below -1.
    """
    if min(given, default=0) < -1:
        raise refusal("infer/unknown-sides", f"shape dim size must be >= -1, while received {tuple(given)}")
    if is_np_shape():
        return tuple(UNKNOWN if side == UNKNOWN else int(side) for side in given)
    return tuple(int(side) if side > 0 else UNKNOWN for side in given) or None


def shown_shape(found: Shape | None) -> Shape | None:
    """A shape as users read it: what is unknown is -1 and None under ``np_shape``, 0 and () outside."""
    if is_np_shape():
        return None if found is None else tuple(map(int, found))
    return tuple(0 if side == UNKNOWN else side for side in found or ())


def is_shown_whole(found: Shape | None) -> bool:
    """Whether a user finds nothing unknown in a shape: outside ``np_shape`` a side of 0 reads as unknown."""
    return shapes_known(found) and (is_np_shape() or (0 not in found and found != ()))  # type: ignore[operator]


def _asked(node: Node) -> Any:
    """A node's parameters, with unknown sides of the shape that they state."""
    assert node.op is not None
    name = node.op.states
    if not name:
        return node.params
    return node.params._replace(**{name: read_shape(getattr(node.params, name) or ()) or ()})


@decides("infer/explained")
def _explained(node: Node, error: MXNetError, ins: list, outs: list) -> MXNetError:
    """The operator's refusal, with the node and everything known about its arrays."""
    given = ", ".join(
        f"{entry.node.entry_name(entry.index)}={value}"
        for entry, value in zip(node.inputs, ins, strict=True)
    )
    message = f"Error in operator {node.name}: {error} Operator: {node.kind}. Inputs: {given}. Outputs: {outs}."
    explained = MXNetError(message)
    explained.clause = error.clause
    return explained


def _refine(known: dict[Key, Any], key: Key, value: Any) -> bool:
    """Store ``value`` about something unknown; whether it was anything."""
    if value is None:
        return False
    known[key] = value
    return True


def _are_types(*found: Any) -> bool:
    return True not in [value is None for value in found]


def _require_refined(node: Node, before: Any, value: Any, found: list, count: int) -> None:
    """[operator/input-shape] What is known of an array stays as it is: loops index by the shapes that were inferred."""
    if not isinstance(before, tuple) or (len(before) == len(value) and all(map(agree, before, value))):
        return
    error = refusal("operator/input-shape", f"{node.name}: {before} is given where {value} is expected")
    raise _explained(node, error, found[:count], found[count:])  # type: ignore[arg-type]  # an MXNetError


def _visit(node: Node, known: dict[Key, Any], rule: Callable, is_whole: Callable) -> tuple[bool, bool]:
    """Apply one operator's rule; whether it told anything new, and whether all is known about inputs and outputs."""
    number, count = id(node), len(node.inputs)
    keys = [(id(source), index) for source, index in node.inputs]
    keys += [(number, index) for index in range(node.output_count())]
    found = [known.get(key) for key in keys]
    try:
        new_ins, new_outs = rule(_asked(node), found[:count], found[count:])
    except MXNetError as error:
        raise _explained(node, error, found[:count], found[count:]) from error.__cause__
    learned = False
    for key, before, value in zip(keys, found, (*new_ins, *new_outs), strict=True):
        # np.dtype("float64") == None is True, so an absent value is asked for by identity
        if value is not before and value is not None and (before is None or value != before):
            if before is not None:
                _require_refined(node, before, value, found, count)
            known[key] = value
            learned = True
    return learned, is_whole(*new_ins, *new_outs)


def gradients_alike(node: Node) -> list[tuple[Key, Key]]:
    """A gradient has the shape and the type of its input: (output of the gradient node, input of its operator)."""
    assert node.primal is not None
    return [((id(node), i), (id(source), at)) for i, (source, at) in enumerate(node.primal.inputs)]


def _heads_alike(node: Node) -> list[tuple[Key, Key]]:
    """A head gradient has the shape and the type of its output."""
    return [(key_of(entry), (id(node.primal), i)) for i, entry in enumerate(node.inputs[: node.signature.heads])]


def _visit_gradient(node: Node, known: dict[Key, Any]) -> bool:
    """Carry what is known from one to the other of each two that are alike; whether anything was new."""
    learned = False
    for one, other in [*_heads_alike(node), *gradients_alike(node)]:
        learned |= _refine(known, one, known.get(other)) if known.get(one) is None else False
        learned |= _refine(known, other, known.get(one)) if known.get(other) is None else False
    return learned


def _with_primals(order: Sequence[Node]) -> list[Node]:
    """The nodes, preceded by the operators whose gradients are among them and what those read."""
    primals = [Entry(node.primal, 0) for node in order if node.primal is not None]
    if not primals:
        return list(order)
    before = post_order(primals)
    there = {id(node) for node in before}
    return [*before, *(node for node in order if id(node) not in there)]


def fixpoint(
    order: Sequence[Node], known: dict[Key, Any], rule_name: str, rule_of: Callable = getattr
) -> dict[Key, Any]:
    """Let every operator add to ``known`` by its rule ("infer" or "infer_type") until nothing changes.

    ``rule_of(op, rule_name)`` is that rule: the page's, or the one that reads declared sources only.

    Raises:
        MXNetError: two operators contradict each other.
    """
    is_whole = shapes_known if rule_name == "infer" else _are_types
    waiting = [node for node in order if node.op is not None]
    for _ in range(2 * MAX_ROUNDS):
        learned, again = False, []
        for node in waiting:
            if node.primal is not None:
                is_new, is_complete = _visit_gradient(node, known), False
            else:
                is_new, is_complete = _visit(node, known, rule_of(node.op, rule_name), is_whole)
            learned |= is_new
            if not is_complete:
                again.append(node)
        if not learned:
            return known
        waiting = again[::-1]
    raise refusal("infer/fixpoint", f"{rule_name} found no fixpoint after {MAX_ROUNDS} rounds")


class _Stated(NamedTuple):
    shape: Shape


def _stated_shape(node: Node) -> Any:
    """What the variable's own ``__shape__`` says, None if nothing."""
    stated = node.attrs.get("__shape__")
    return read_shape(parse(f"variable {node.name}", _Stated, {"shape": stated}).shape) if stated else None


def _told(given: Mapping[Any, Any], node: Node) -> Any:
    """What ``given`` says of a variable, by its id (two variables may have one name) or by its name."""
    return given.get(id(node), given.get(node.name))


def _told_further(order: Sequence[Node], facts: dict[Key, Any], rule_name: str, reported: bool) -> dict[Key, Any]:
    """What follows from facts, or what MXNet has ``reported`` of that; contradictions are refused either way."""
    found = fixpoint(order, dict(facts), rule_name)
    return fixpoint(order, facts, rule_name, reported_rule) if reported else found


def shapes(
    order: Sequence[Node], given: Mapping[Any, Shape | None], reported: bool = False
) -> dict[Key, Any]:
    """Shapes of all entries that can be known; ``given`` tells variables by name or by id.

    What is given are facts (those of arrays), or shapes that went through :func:`read_shape`. With ``reported``, an
    operator tells only what MXNet's tells ([infer/sources]).

    Raises:
        MXNetError: two operators or a given shape contradict each other.
    """
    known: dict[Key, Any] = {}
    order = _with_primals(order)
    for node in order:
        if not node.is_variable:
            continue
        told = _told(given, node)
        if told is None:
            told = _stated_shape(node)
        if told is not None:
            known[id(node), 0] = tuple(told)
    return _told_further(order, known, "infer", reported)


def types(
    order: Sequence[Node], given: Mapping[Any, Any], default: np.dtype | None = None, reported: bool = False
) -> dict[Key, Any]:
    """Dtypes of all entries that can be known; ``default`` fills variables that stay unknown.

    ``given`` tells variables by name or by id; ``reported`` is that of :func:`shapes`.

    Raises:
        MXNetError: two operators or a given type contradict each other.
    """
    known: dict[Key, Any] = {}
    order = _with_primals(order)
    for node in order:
        if not node.is_variable:
            continue
        told = _told(given, node)
        if told is not None:
            known[id(node), 0] = dtype_of(told)
        elif "__dtype__" in node.attrs:
            known[id(node), 0] = dtype_of(node.attrs["__dtype__"])
    known = _told_further(order, known, "infer_type", reported)
    if default is not None:
        unknown = [n for n in order if n.is_variable and known.get((id(n), 0)) is None]
        if unknown:
            for node in unknown:
                known[id(node), 0] = default
            known = fixpoint(order, known, "infer_type")
    return known
