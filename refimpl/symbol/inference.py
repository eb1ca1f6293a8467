"""Shape and type inference: every operator refines what is known, until nothing changes.

In this module an unknown dimension is -1 (``UNKNOWN``), an unknown shape None, and 0 an ordinary dimension. Users write
and read shapes in the mode that ``mx.util.np_shape`` chooses; :func:`read_shape` and :func:`shown_shape` convert.

[infer/fixpoint] Knowledge flows in both directions: operators are visited inputs-first, then outputs-first,
until a whole round adds nothing. An operator about which all is known is not visited again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import MXNetError, decides, dtype_of, printable, refusal
from ..kernels.foundation import UNKNOWN, Op, Shape, agree
from ..kernels.foundation import known as shapes_known
from ..kernels.foundation.params import parse
from ..util import is_np_shape
from .graph import Facts, Key, Values
from .ir import Entry, Node, post_order
from .reported import reported_rule

MAX_ROUNDS = 1000


def key_of(entry: Entry) -> Key:
    """The key of an entry's value: (id of the node, index of the output)."""
    return (id(entry.node), entry.index)


def read_shape(given: Sequence[int]) -> Shape | None:
    """A user's shape in the form of this module.

    [infer/unknown-sides] -1 is an unknown side; outside ``np_shape`` 0 is one too, and () an unknown shape.

    Raises:
        MXNetError: a dimension is below -1.
    """
    if min(given, default=0) < -1:
        raise refusal("infer/unknown-sides", f"shape dim size must be >= -1, while received {tuple(given)}")
    if is_np_shape():
        return tuple(UNKNOWN if side == UNKNOWN else int(side) for side in given)
    return tuple(int(side) if side > 0 else UNKNOWN for side in given) or None


def shown_shape(found: Shape | None) -> Shape | None:
    """A shape in the form for users: unknown dimensions, shapes are -1, None under ``np_shape``, and 0, () outside."""
    if is_np_shape():
        return None if found is None else tuple(map(int, found))
    return tuple(0 if side == UNKNOWN else side for side in found or ())


def is_shown_whole(found: Shape | None) -> bool:
    """Whether a shape has no unknown dimension for a user: outside ``np_shape`` a dimension of 0 means unknown."""
    return shapes_known(found) and (is_np_shape() or (0 not in found and found != ()))  # type: ignore[operator]


def _asked(node: Node) -> Any:
    """A node's parameters; where a parameter states a shape, its unknown dimensions are -1."""
    assert node.op is not None
    name = node.op.states
    if not name:
        return node.params
    return node.params._replace(**{name: read_shape(getattr(node.params, name) or ()) or ()})


@decides("infer/explained")
def _explained(node: Node, error: MXNetError, ins: list, outs: list) -> MXNetError:
    """The operator's error, with the name of the node and the shapes or dtypes of its inputs and outputs."""
    given = ", ".join(
        f"{entry.node.entry_name(entry.index)}={value}"
        for entry, value in zip(node.inputs, ins, strict=True)
    )
    message = f"Error in operator {node.name}: {error} Operator: {node.kind}. Inputs: {given}. Outputs: {outs}."
    explained = MXNetError(printable(message))
    explained.clause = error.clause
    return explained


def _are_types(*found: Any) -> bool:
    return True not in [value is None for value in found]


def _require_refined(node: Node, before: Any, value: Any, found: list, count: int) -> None:
    """[operator/input-shape] What is known of an array stays as it is: loops index by the shapes that were inferred."""
    if not isinstance(before, tuple) or (len(before) == len(value) and all(map(agree, before, value))):
        return
    error = refusal("operator/input-shape", f"{node.name}: {before} is given where {value} is expected")
    raise _explained(node, error, found[:count], found[count:])  # type: ignore[arg-type]  # an MXNetError


def _asked_alike(rule: Callable, node: Node) -> tuple:
    """A key that is equal for nodes whose rule returns the same result for the same inputs and outputs."""
    return (rule,) if getattr(rule, "reads_no_params", False) else (node.op, id(node.params))


class _Answer(NamedTuple):
    """The result of an operator's rule for the known shapes or dtypes of its inputs and outputs."""

    news: list[tuple[int, Any]]
    """New or refined facts: (position among inputs, then outputs; shape or dtype)."""
    is_complete: bool
    """Whether all shapes or dtypes of inputs and outputs are known."""


def _answer(node: Node, found: list, rule: Callable, is_whole: Callable) -> _Answer:
    """Apply an operator's rule to the shapes or dtypes ``found`` of its inputs and outputs."""
    count = len(node.inputs)
    try:
        new_ins, new_outs = rule(_asked(node), found[:count], found[count:])
    except MXNetError as error:
        raise _explained(node, error, found[:count], found[count:]) from error.__cause__
    news = []
    for position, (before, value) in enumerate(zip(found, (*new_ins, *new_outs), strict=True)):
        # np.dtype("float64") == None is True, so None is tested by identity
        if value is not before and value is not None and (before is None or value != before):
            if before is not None:
                _require_refined(node, before, value, found, count)
            news.append((position, value))
    return _Answer(news, is_whole(*new_ins, *new_outs))


def _gradients_alike(node: Node, values: Values) -> list[tuple[int, int]]:
    """Pairs of values with equal shape and dtype: (output of the gradient node, input of its operator)."""
    assert node.primal is not None
    return list(zip(values.made_by(node), values.read_by(node.primal), strict=True))


def _heads_alike(node: Node, values: Values) -> list[tuple[int, int]]:
    """Pairs of values with equal shape and dtype: (head gradient, output of the operator)."""
    assert node.primal is not None
    return list(zip(values.read_by(node)[: node.signature.heads], values.made_by(node.primal), strict=False))


def _visit_gradient(node: Node, values: Values, found: list) -> bool:
    """Copy the known fact of each pair of equal values to the other; returns whether a fact was new."""
    learned = False
    for one, other in [*_heads_alike(node, values), *_gradients_alike(node, values)]:
        if (found[one] is None) != (found[other] is None):
            found[one] = found[other] = found[other] if found[one] is None else found[one]
            learned = True
    return learned


def _with_primals(order: Sequence[Node]) -> list[Node]:
    """The nodes, preceded by the operators of the gradient nodes among them and by the inputs of these operators."""
    primals = [Entry(node.primal, 0) for node in order if node.primal is not None]
    if not primals:
        return list(order)
    before = post_order(primals)
    there = {id(node) for node in before}
    return [*before, *(node for node in order if id(node) not in there)]


def fixpoint(order: Sequence[Node], known: Mapping[Key, Any], rule_name: str) -> Facts:
    """All shapes ("infer") or dtypes ("infer_type") that follow from the ``known`` ones by the operators' rules.

    Raises:
        MXNetError: two operators contradict each other.
    """
    facts = Facts.of(Values(_with_primals(order)), known)
    _complete(facts, rule_name)
    return facts


def _complete(facts: Facts, rule_name: str, rule_of: Callable = getattr) -> None:
    """Let every operator add to ``facts`` by its rule until nothing changes.

    ``rule_of(op, rule_name)`` returns the rule: the page's, or MXNet's weaker one (``reported_rule``). For nodes with
    the same operator, parameters and known facts, as in repeated layers, the rule is called once.

    Raises:
        MXNetError: two operators contradict each other.
    """
    values, found = facts.numbers, facts.found
    is_whole = shapes_known if rule_name == "infer" else _are_types
    answers: dict[tuple, _Answer] = {}
    waiting = values.touched()
    for _ in range(2 * MAX_ROUNDS):
        learned, again = False, []
        for visited in waiting:
            node, places = visited
            if node.primal is not None:
                learned |= _visit_gradient(node, values, found)
                again.append(visited)
                continue
            given = [found[place] for place in places]
            rule = rule_of(node.op, rule_name)
            key = (*_asked_alike(rule, node), *given)
            answer = answers.get(key)
            if answer is None:
                answer = _answer(node, given, rule, is_whole)
                if type(node.op) is Op:  # other operators run a user's code or subgraphs
                    answers[key] = answer
            for position, value in answer.news:
                found[places[position]] = value
                learned = True
            if not answer.is_complete:
                again.append(visited)
        if not learned:
            return
        waiting = again[::-1]
    raise refusal("infer/fixpoint", f"{rule_name} found no fixpoint after {MAX_ROUNDS} rounds")


class Outputs:
    """Infers outputs of operators from completely known inputs, once for equal operators with equal inputs."""

    def __init__(self) -> None:
        self._known: dict[tuple, list] = {}

    def of(self, node: Node, rule_name: str, ins: list) -> list:
        """The shapes ("infer") or types ("infer_type") of a node's outputs."""
        rule, count = getattr(node.op, rule_name), node.output_count()
        key = (rule_name, count, *_asked_alike(rule, node), *ins)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = rule(node.params, ins, [None] * count)[1]
        return found


class _Stated(NamedTuple):
    shape: Shape


def _stated_shape(node: Node) -> Any:
    """The shape in a variable's attribute ``__shape__``; None without one."""
    stated = node.attrs.get("__shape__")
    return read_shape(parse(f"variable {node.name}", _Stated, {"shape": stated}).shape) if stated else None


def _told(given: Mapping[Any, Any], node: Node) -> Any:
    """The entry of ``given`` for a variable, by its id (two variables may have the same name) or by its name."""
    return given.get(id(node), given.get(node.name))


def _told_further(facts: Facts, rule_name: str, reported: bool) -> Facts:
    """All facts that follow from ``facts``, with ``reported`` by MXNet's rules; contradictions are always refused."""
    found = facts.copy() if reported else facts
    _complete(found, rule_name)
    if reported:
        _complete(facts, rule_name, reported_rule)
    return facts


def numbered(order: Sequence[Node]) -> Values:
    """The values of a graph; :func:`shapes` and :func:`types` of the same graph may share them."""
    return Values(_with_primals(order))


def shapes(
    order: Sequence[Node], given: Mapping[Any, Shape | None], reported: bool = False, values: Values | None = None
) -> Facts:
    """The shapes of all entries, None where unknown; ``given`` has shapes of variables by name or by id.

    Given shapes are those of arrays, or results of :func:`read_shape`. With ``reported``, an operator infers only the
    shapes that MXNet infers ([infer/sources]). ``values`` are the values of ``order``, where they are already numbered.

    Raises:
        MXNetError: two operators or a given shape contradict each other.
    """
    facts = Facts.of(values or numbered(order), {})
    for node in facts.numbers.nodes:
        if not node.is_variable:
            continue
        told = _told(given, node)
        if told is None:
            told = _stated_shape(node)
        if told is not None:
            facts.put(node, tuple(told))
    return _told_further(facts, "infer", reported)


def types(
    order: Sequence[Node], given: Mapping[Any, Any], default: np.dtype | None = None, reported: bool = False,
    values: Values | None = None,
) -> Facts:
    """The dtypes of all entries, None where unknown; variables that stay unknown get ``default``.

    ``given`` has dtypes of variables by name or by id; ``reported`` and ``values`` are the arguments of :func:`shapes`.

    Raises:
        MXNetError: two operators or a given type contradict each other.
    """
    facts = Facts.of(values or numbered(order), {})
    variables = [node for node in facts.numbers.nodes if node.is_variable]
    for node in variables:
        told = _told(given, node)
        if told is not None:
            facts.put(node, dtype_of(told))
        elif "__dtype__" in node.attrs:
            facts.put(node, dtype_of(node.attrs["__dtype__"]))
    facts = _told_further(facts, "infer_type", reported)
    if default is not None:
        unknown = [node for node in variables if (id(node), 0) not in facts]
        for node in unknown:
            facts.put(node, default)
        if unknown:
            _complete(facts, "infer_type")
    return facts
