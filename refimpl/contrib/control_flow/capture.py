"""Cutting the body of a loop or a branch out of the graph that the user's function makes.

While the function runs, an attribute marks every node that it makes. The body is what carries the mark. Where it reads
a node made before, it gets a variable, and the node becomes an input of the loop; variables that the function makes
itself are inputs of the loop too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ...attribute import AttrScope, stored_key
from ...base import decides, refusal
from ...kernels.foundation import Op, get
from ...kernels.foundation.forks import own_lock
from ...name import NameManager
from ...ndarray.nesting import flatten
from ...symbol import operators
from ...symbol.inference import Key, key_of
from ...symbol.ir import Entry, Node, post_order
from ...symbol.symbol import Symbol
from .parameters import SUBGRAPHS

MARK = "__subgraph_name__"
_COUNTS: Counter[str] = Counter()
_LOCK = own_lock()


class Captured(NamedTuple):
    """A body: its ``heads``, and per variable (depth first) where its value comes from.

    A source is the number of a formal input, or an entry of the graph around the body.
    """

    heads: list[Entry]
    sources: list[int | Entry]


def flat_symbols(given: Any, what: str) -> tuple[list[Symbol], Any]:
    """The symbols of one output each in nested lists, and their form."""
    return flatten(given, Symbol, what, lambda symbol: list(symbol) if len(symbol) > 1 else [symbol])


def _unique(name: str) -> str:
    """A mark that no other body has; within another body it begins with the mark of that one."""
    around = AttrScope.current.get(None).get(MARK)
    whole = f"{around}${name}" if around else name
    with _LOCK:
        _COUNTS[whole] += 1
        return f"{whole}{_COUNTS[whole] - 1}"


@decides("control-flow/captured")
def capture(
    name: str, inputs: Sequence[Symbol], function: Callable[[list[Symbol]], tuple[list[Symbol], list[Symbol]]]
) -> Captured:
    """The body that ``function`` makes of variables which stand for ``inputs``, one output each.

    The outputs of the body are the symbols of both lists that the function returns. One that is an input, or was
    made elsewhere, is copied; so is one of the second list made by an operator that makes one of the first.

    Raises:
        AssertionError: two inputs of the body have the same name.
        TypeError: the function returns no symbol at all.
    """
    mark = _unique(name)
    with AttrScope(**{MARK: mark}):
        formal = [operators.variable(f"{s.entries[0].node.name}-{s.entries[0].index}") for s in inputs]
        outputs, states = function(formal)
        returned = [symbol.entries[0] for symbol in [*outputs, *states]]
        if not returned:
            raise refusal(
                "control-flow/no-output", "Expected a list of symbols as input: the function returned none", TypeError
            )
        names = {node.name for node in post_order(returned) if node.is_variable}
        first = {symbol.entries[0].node.name for symbol in outputs}
        heads = []
        for number, entry in enumerate(returned):
            foreign = entry.node.name in names or entry.node.attrs.get(MARK) != mark
            if foreign or (number >= len(outputs) and entry.node.name in first):
                entry = operators.call(get("_copy"), "identity", [Symbol([entry])], {}).entries[0]  # noqa: PLW2901
            heads.append(entry)
    return _cut(heads, mark, {id(symbol.entries[0].node): number for number, symbol in enumerate(formal)})


@decides("control-flow/captured")
def _cut(heads: Sequence[Entry], mark: str, formal: dict[int, int]) -> Captured:
    """Copies of the nodes with the mark; variables in place of what they read from outside."""
    made: dict[int, Node] = {}
    variables: dict[Key, Entry] = {}
    sources: dict[int, int | Entry] = {}

    def inner(entry: Entry) -> Entry:
        if id(entry.node) in made:
            return Entry(made[id(entry.node)], entry.index)
        key = key_of(entry)
        if key not in variables:
            inside = entry.node.attrs.get(MARK) == mark  # a variable of the function itself
            attrs = dict(entry.node.attrs) if inside else {}
            node = Node(None, entry.node.entry_name(entry.index), attrs)
            variables[key] = Entry(node, 0)
            sources[id(node)] = formal.get(key[0], entry)
        return variables[key]

    for node in post_order(heads):
        if not node.is_variable and node.attrs.get(MARK) == mark:
            made[id(node)] = copied = node.reading([inner(entry) for entry in node.inputs])
            copied.attrs = dict(node.attrs)
    cut = [inner(entry) for entry in heads]
    found = [node for node in post_order(cut) if node.is_variable]
    names = [node.name for node in found]
    if len(set(names)) != len(names):
        raise refusal(
            "control-flow/unique-names", f"The inputs of the subgraph don't have unique names: {names}; give other"
            " names to the symbols, or pass one that is needed twice only once", AssertionError,
        )
    return Captured(cut, [sources[id(node)] for node in found])


def attach(op: Op, bodies: Sequence[Captured], inputs: Sequence[Entry], attrs: dict[str, Any]) -> list[Symbol]:
    """A node that holds bodies; one symbol per output.

    Args:
        op: the operator of the node.
        bodies: the graphs that it holds.
        inputs: what the node reads.
        attrs: its parameters, without the count of its inputs.
    """
    scope = {stored_key(key): value for key, value in AttrScope.current.get(None).items()}
    texts = {"num_args": str(len(bodies) + len(inputs)), **{key: str(value) for key, value in attrs.items()}}
    params = op.parse({**texts, SUBGRAPHS: [body.heads for body in bodies]})
    node = Node(op, NameManager.current.get(None, op.name), {**scope, **texts}, inputs, params=params)
    return [Symbol([Entry(node, i)]) for i in range(node.visible_count())]


__all__ = ["MARK", "Captured", "attach", "capture", "flat_symbols"]
