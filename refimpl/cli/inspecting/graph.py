"""The graph of a checkpoint: layers, variables, shapes; for a graph with unknown operators, the names in its file."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...base import MXNetError, decides
from ...kernels.foundation import UNKNOWN, Shape
from ...op_registry.known import find
from ...symbol import inference
from ...symbol.ir import Entry, Node, post_order, variables
from ...symbol.json_format import from_json, parsed
from ...symbol.upgrades import CURRENT, spelled
from ...util import np_shape
from ...visualization import _OWNED
from .files import Content, Data, Problem, plain

MOST_OPERATORS = 50
"""Unknown operators that are told one by one."""
MOST_WRONG = 20
"""Wrong shapes that are told one by one; each is searched for."""
_LONGEST = 80
_PARAMETERS = {"weight", "bias", "gamma", "beta", "moving_mean", "moving_var", "moving_avg", "parameters"}
"""Names by which operators call inputs that are learned."""


class Layer(NamedTuple):
    """An operator of a graph, as a report shows it."""

    operator: str
    name: str
    outputs: list[list[int | None] | None] | None = None


class Variables(NamedTuple):
    """The variables of a graph. ``learned`` are the variables whose values only a params file can give."""

    arguments: list[str]
    auxiliary: list[str]
    learned: set[str]
    whole: bool
    """False where the graph cannot be loaded, so that auxiliary states are not told from arguments."""


class Graph(NamedTuple):
    """The content of a symbol file."""

    version: int | None = None
    np_shape: bool = False
    heads: list[Entry] | None = None
    layers: list[Layer] | None = None
    variables: Variables | None = None
    operators: dict[str, int] | None = None
    """How often each operator is used, loops and branches included."""


@decides("Inspect/operators")
def graph(content: Content) -> tuple[Graph, list[Problem]]:
    """The graph of a symbol file; where it cannot be loaded, the operators and names of its nodes."""
    if content.raw is None:
        return Graph(), []
    try:
        text = content.raw.decode("utf-8")
    except UnicodeDecodeError as error:
        reason = f"cannot read {content.file}: byte {error.start}: no UTF-8"
        return Graph(), [Problem("damaged-file", content.file, reason)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a newer version, which the report tells
        try:
            version, said = parsed(text, content.file)
        except MXNetError as error:
            return Graph(), [Problem("damaged-file", content.file, plain(error))]
        scope = _of_np_shape(said)
        try:
            with np_shape(scope):
                heads = from_json(text, content.file)
        except MXNetError as error:
            rows = list(_rows(said))
            unknown = list(_unknown(rows))
            if not unknown:
                custom = getattr(error, "clause", "") == "Custom/registered"
                kind = "unknown-operator" if custom else "damaged-file"
                unknown = [Problem(kind, content.file, plain(error))]
            # nodes are compared with the params file where nothing but an operator speaks against them
            named = _by_name(said) if unknown[0].kind == "unknown-operator" else None
            return Graph(version, scope, None, _named(said), named, _counted(op for op, _ in rows)), unknown
    every = list(_nodes(heads))
    operators = _counted(node.op.name for node in every if node.op is not None)
    return Graph(version, scope, heads, None, _variables(heads), operators), []


def _of_np_shape(said: Data) -> bool:
    """Whether the graph was saved under ``np_shape``."""
    attrs = said.get("attrs")
    return isinstance(attrs, dict) and attrs.get("is_np_shape") == ["int", 1]


def written_by(version: int | None) -> str | None:
    """The MXNet that wrote a file, in words."""
    if version is None:
        return None
    if version < 900:
        return "0.8 or older"
    newer = f", newer than the {spelled(CURRENT)} whose files are known" if version > CURRENT else ""
    return spelled(version) + newer


def _counted(names: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts


# --- a graph that loads ---------------------------------------------------------------------------


def _nodes(heads: Sequence[Entry]) -> Iterator[Node]:
    """Every node, including the nodes of loops and branches."""
    waiting = [heads]
    while waiting:
        for node in post_order(waiting.pop()):
            yield node
            waiting.extend(node.subgraphs())


@decides("Inspect/inputs")
def _variables(heads: Sequence[Entry]) -> Variables:
    order = post_order(heads)
    arguments, auxiliary = ([node.name for node in part] for part in variables(order))
    learned = {*auxiliary, *filter(_sounds_learned, arguments)}
    for node in order:
        if node.op is None:
            continue
        for name, entry in zip(node.signature.inputs, node.inputs, strict=True):
            if entry.node.is_variable and name in _PARAMETERS:
                learned.add(entry.node.name)
    return Variables(arguments, auxiliary, learned, True)


def _sounds_learned(name: str) -> bool:
    return name.endswith(_OWNED)


def layers(heads: Sequence[Entry], found: Mapping[Any, Any]) -> list[Layer]:
    """The operators, inputs first, with the shapes of the outputs that users see."""
    return [
        Layer(node.op.name, node.name, [shown(found.get((id(node), i))) for i in range(node.visible_count())])
        for node in post_order(heads) if node.op is not None
    ]


def shown(shape: Shape | None) -> list[int | None] | None:
    """A shape for a report: None where a side, or all, is not known."""
    return None if shape is None else [None if side == UNKNOWN else int(side) for side in shape]


def spelled_shape(shape: Sequence[int | None] | None) -> str:
    """A shape in words: ``(?, 3)``."""
    if shape is None:
        return "?"
    return f"({', '.join('?' if side is None else str(side) for side in shape)}{',' * (len(shape) == 1)})"


class Shapes(NamedTuple):
    """Shapes of all entries that can be inferred, and the arrays that contradict them."""

    found: Mapping[Any, Any]
    problems: list[Problem]


@decides("Inspect/wrong-shape")
def shapes(heads: Sequence[Entry], given: Mapping[str, Shape], stored: Mapping[str, Shape]) -> Shapes:
    """The shapes that follow from inputs and stored arrays.

    Arrays are taken in the order of the graph. An array that contradicts earlier ones is left out: its shape is wrong.

    Raises:
        MXNetError: the shapes of the inputs contradict the graph itself.
    """
    order = post_order(heads)
    ranks = _ranks(order, stored)
    try:
        inference.shapes(order, ranks)
    except MXNetError as refused:
        return Shapes({}, [Problem("contradiction", "shapes", f"the graph contradicts itself: {plain(refused)}")])
    given = {**ranks, **given}
    inference.shapes(order, given)
    names = [node.name for node in order if node.is_variable and node.name in stored and node.name not in given]
    wrong: dict[str, str] = {}

    def error(count: int) -> str | None:
        """The contradiction among the first ``count`` arrays; None where there is none."""
        facts = {name: stored[name] for name in names[:count] if name not in wrong}
        try:
            inference.shapes(order, {**facts, **given})
        except MXNetError as refused:
            return plain(refused)
        return None

    low = 0
    while len(wrong) < MOST_WRONG and error(len(names)) is not None:
        high = len(names)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if error(middle) is None else (low, middle)
        reason = error(high)
        if names[high - 1] in wrong or reason is None:
            break  # no array is to blame alone
        wrong[names[high - 1]] = reason
        low = high - 1
    right = len(names) if error(len(names)) is None else low
    kept = {name: stored[name] for name in names[:right] if name not in wrong}
    found = inference.shapes(order, {**kept, **given})
    problems = list(_wrong(order, wrong, stored, found))
    if right < len(names) and len(wrong) < MOST_WRONG:
        text = f"the stored arrays contradict each other: {error(len(names))}"
        problems.append(Problem("contradiction", "shapes", text))
    return Shapes(found, problems)


def _ranks(order: Sequence[Node], stored: Mapping[str, Shape]) -> dict[str, Shape]:
    """Shapes of nothing but unknown sides, for inputs of convolutions; operators do not tell these by themselves."""
    found: dict[str, Shape] = {}
    for node in order:
        if node.op is None or node.op.name != "Convolution":
            continue
        source = node.inputs[0].node
        while source.op is not None and source.op.keeps_rank:
            source = source.inputs[0].node
        if source.is_variable and source.name not in stored:
            found[source.name] = (UNKNOWN,) * (len(node.params.kernel) + 2)
    return found


def _wrong(
    order: Sequence[Node], wrong: Mapping[str, str], stored: Mapping[str, Shape], found: Mapping[Any, Any]
) -> Iterator[Problem]:
    for node in order:
        if not node.is_variable or node.name not in wrong:
            continue
        wanted = found.get((id(node), 0))
        expected = f"the graph takes {spelled_shape(shown(wanted))}" if wanted is not None else wrong[node.name]
        yield Problem(
            "wrong-shape", node.name, f"{node.name} has shape {spelled_shape(list(stored[node.name]))}; {expected}"
        )


# --- a graph that does not ------------------------------------------------------------------------


def _rows(said: Data) -> Iterator[tuple[str, str]]:
    """(operator, name) of the nodes of a file, including the nodes of loops and branches."""
    waiting: list[Any] = [said]
    while waiting:
        nodes = waiting.pop().get("nodes")
        for node in nodes if isinstance(nodes, list) else ():
            if not isinstance(node, dict):
                continue
            op, name = node.get("op"), node.get("name")
            if isinstance(op, str) and isinstance(name, str) and op != "null":
                yield op, name
            inside = node.get("subgraphs")
            waiting.extend(part for part in (inside if isinstance(inside, list) else ()) if isinstance(part, dict))


def _named(said: Data) -> list[Layer]:
    return [Layer(op, name) for op, name in _rows({"nodes": [_alone(node) for node in said["nodes"]]})]


def _alone(node: Any) -> Any:
    """A node without the graphs that it holds."""
    return {key: value for key, value in node.items() if key != "subgraphs"} if isinstance(node, dict) else node


def _by_name(said: Data) -> Variables:
    """The variables of nodes that make no graph."""
    named = [
        node["name"] for node in said["nodes"]
        if isinstance(node, dict) and node.get("op") == "null" and isinstance(node.get("name"), str)
    ]
    return Variables(named, [], set(filter(_sounds_learned, named)), False)


def _unknown(rows: Sequence[tuple[str, str]]) -> Iterator[Problem]:
    """Operators that are not here, each once."""
    first: dict[str, str] = {}
    for op, name in rows:
        first.setdefault(op, name)
    counts = _counted(op for op, _ in rows)
    told = 0
    for op, name in first.items():
        try:
            find(op[:_LONGEST])
        except MXNetError as error:
            told += 1
            if told <= MOST_OPERATORS:
                more = f" and {counts[op] - 1} more" if counts[op] > 1 else ""
                yield Problem("unknown-operator", op, f"{op[:_LONGEST]} (node {name[:_LONGEST]}{more}): {plain(error)}")
        if told > MOST_OPERATORS:
            yield Problem("unknown-operator", op, f"more than {MOST_OPERATORS} operators are not here")
            return


__all__ = ["Graph", "Layer", "Shapes", "Variables", "graph", "layers", "shapes", "shown", "spelled_shape", "written_by"]
