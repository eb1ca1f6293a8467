"""The gradient pass: from a graph, a graph that computes gradients, made of ordinary nodes.

[gradient/chain] Nodes are visited outputs-first. A node's head gradients are the sums of what its consumers
contributed, last consumer first; ``RULES`` then say how they become gradients of its inputs, as its page has it:
one gradient node (``backward``), or a composition of other operators (``gradient``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any

from ..base import decides, refusal
from ..kernels.foundation import get
from ..op_registry.signatures import parsed
from .gradient_quirks import contributions, heads_taken
from .inference import key_of
from .ir import Entry, Node, post_order
from .shared_weights import can_continue, merged


class Gradients:
    """What the pass made.

    ``heads`` holds one variable node per output of the graph whose head gradient is needed (None where it
    is not); ``of`` maps the id of a wanted variable to its gradient entry, absent when it is zero. ``begun`` maps the
    id of a variable to the variable that stands for what its gradient is added to, where there is one. ``refused``
    is what backward has to raise when a gradient is wanted that a page does not give. ``serves`` maps the id of
    each node made to the node of the graph whose gradient it is part of.
    """

    def __init__(self) -> None:
        self.heads: list[Node | None] = []
        self.of: dict[int, Entry] = {}
        self.begun: dict[int, Node] = {}
        self.nodes: list[Node] = []
        self.refused: Exception | None = None
        self.serves: dict[int, Node] = {}


def build(
    outputs: Sequence[Entry], wanted: set[int], differentiable: bool = False, taped: bool = False,
    order: Sequence[Node] | None = None, continued: AbstractSet[int] = frozenset(),
) -> Gradients:
    """Gradients of a graph with respect to some of its variables.

    Args:
        outputs: the outputs of the graph.
        wanted: the ids of the variables.
        differentiable: take compositions of operators, which have gradients themselves, where a page has one.
        taped: the graph was recorded by autograd, for which one quirk of executors does not hold.
        order: all nodes of the graph, inputs first, where they are listed already.
        continued: the ids of variables whose gradients are added to what is there before, where the sum of a shared
            weight allows that.

    Raises:
        MXNetError: a path to a wanted variable goes through an operator without a gradient.
    """
    order = post_order(outputs) if order is None else order
    work = _Pass(_depending(order, wanted), differentiable, taped, continued)
    for number, output in enumerate(outputs):
        work.start(number, output)
    for node in reversed(order):
        if id(node) not in work.depends:
            continue
        if node.op is None:
            work.finish(node, work.head_of(node, 0))
            continue
        heads = [work.head_of(node, index) for index in range(node.visible_count())]
        if work.flows_through(node, heads):
            work.hand_on(node, _rule(node, differentiable)(work, node, work.filled(node, heads)))
    return work.result()


def _depending(order: Sequence[Node], wanted: set[int]) -> set[int]:
    """Ids of the nodes through which a wanted variable can be reached."""
    found = set(wanted)
    for node in order:
        for source, _ in node.inputs:
            if id(source) in found:
                found.add(id(node))
                break
    return found


class _Pass:
    """What a walk has made so far: the nodes, and what was contributed to the gradient of each value."""

    def __init__(self, depends: set[int], differentiable: bool, taped: bool, continued: AbstractSet[int]) -> None:
        self.depends, self.differentiable, self.continued = depends, differentiable, continued
        self.contributions = contributions(in_executor=not (taped or differentiable))
        self.made: list[Node] = []
        self.gradients = Gradients()
        self.reached: set[int] = set()
        self.count = 0

    def start(self, number: int, output: Entry) -> None:
        """Give an output of the graph its head gradient."""
        node = output.node
        self.reached.add(id(node))
        loss = node.op is not None and node.signature.is_loss
        head = None if loss else Node(None, f"_head_grad_{number}")
        self.gradients.heads.append(head)
        if head is not None:
            self.made.append(head)
            self.contributions.add(key_of(output), Entry(head, 0))

    def enter(self, made: Node, node: Node) -> None:
        """Enter a new node that serves the gradient of ``node``."""
        self.made.append(made)
        self.gradients.serves[id(made)] = node

    def make(self, node: Node, op_name: str, inputs: Sequence[Entry], **attrs: Any) -> list[Entry]:
        """Add a node of another operator for the gradient of ``node``; its visible outputs."""
        op = get(op_name)
        text = {key: str(value) for key, value in attrs.items()}
        if op.variadic and op.variadic not in text:
            text[op.variadic] = str(len(inputs))
        made = Node(op, f"{op_name.strip('_')}_grad{self.count}", text, inputs, params=parsed(op, text))
        self.count += 1
        self.enter(made, node)
        return [Entry(made, i) for i in range(made.signature.visible)]

    def head_of(self, node: Node, index: int) -> Entry | None:
        """Sum of the contributions to one output, None when there are none."""
        parts = self.contributions.of((id(node), index))
        if parts is None:
            return None
        if len(parts) == 1 and not self.continued:
            return parts[0]
        if not self.differentiable:
            parts = merged(parts, partial(self.make, node), self._begun(node, parts))
        if len(parts) == 1:
            return parts[0]
        return self.make(node, "add_n", parts)[0]

    def _begun(self, node: Node, parts: Sequence[Entry]) -> Entry | None:
        """The sum that the gradient of a variable is added to, if any."""
        if id(node) not in self.continued or not can_continue(parts):
            return None
        made = self.gradients.begun[id(node)] = Node(None, f"{node.name}_sum")
        self.made.append(made)
        return Entry(made, 0)

    def flows_through(self, node: Node, heads: Sequence[Entry | None]) -> bool:
        """Whether anything reaches a node on the way back: a head gradient, or that it is a loss.

        Raises:
            MXNetError: and the node has no gradient.
        """
        assert node.op is not None
        if heads.count(None) == len(heads) and not (node.signature.is_loss and id(node) in self.reached):
            return False
        if not node.op.has_gradient or node.primal is not None:
            raise refusal(
                "gradient/differentiable",
                f"Operator {node.kind} (node {node.name}) is non-differentiable; put BlockGrad around it"
                " or set grad_req to 'null'",
            )
        return True

    def filled(self, node: Node, heads: list[Entry | None]) -> Sequence[Entry | None]:
        """The head gradients that a rule gets: zeros where nothing came, but for a loss, which does not read them."""
        if node.signature.is_loss:
            return heads
        whole: Any = heads if None not in heads else [
            self.make(node, "zeros_like", [Entry(node, i)])[0] if head is None else head
            for i, head in enumerate(heads)
        ]
        return heads_taken(node, whole)

    def hand_on(self, node: Node, parts: Iterable[Entry | None]) -> None:
        """Contribute the gradients of a node's inputs, those that lead to a wanted variable."""
        op = node.op
        assert op is not None
        for name, entry, part in zip(node.signature.inputs, node.inputs, parts, strict=True):
            key = id(entry.node), entry.index
            if key[0] not in self.depends:
                continue
            if name in op.refuses_gradient:
                self._refuse(node, name, entry)
            elif part is not None and name not in op.no_gradient and name not in op.aux:
                self.reached.add(key[0])
                self.contributions.add(key, part, node)

    @decides("gradient/refused")
    def _refuse(self, node: Node, name: str, entry: Entry) -> None:
        """Remember the first gradient that a page refuses; it is raised when backward runs, not before."""
        assert node.op is not None
        if self.gradients.refused is None:
            self.gradients.refused = refusal(
                node.op.refuses_gradient[name],
                f"Error in operator {node.name}: {node.op.name} has no gradient for input {name};"
                f" set grad_req of {entry.node.name} to 'null'",
            )

    def finish(self, variable: Node, head: Entry | None) -> None:
        """Keep the gradient of a wanted variable."""
        if head is not None:
            self.gradients.of[id(variable)] = head

    def result(self) -> Gradients:
        """The gradients, with those nodes that a wanted one depends on, inputs first, as they were made."""
        needed = {id(entry.node) for entry in self.gradients.of.values()}
        found = []
        for node in reversed(self.made):
            if id(node) in needed:
                needed.update([id(source) for source, _ in node.inputs])
                found.append(node)
        self.gradients.nodes = found[::-1]
        return self.gradients


# --- rules: the gradients of a node's inputs, from its head gradients ---------------------------------


def _by_loops(work: _Pass, node: Node, heads: Sequence[Entry | None]) -> list[Entry]:
    """One gradient node: it runs the page's ``backward`` and reads the heads and what the page needs."""
    count, signature = len(node.inputs), node.signature
    reads: list[Any] = [] if signature.is_loss else [*heads]
    reads += [node.inputs[at] if at < count else Entry(node, at - count) for at in signature.places]
    made = Node(node.op, f"{node.name}_backward", node.attrs, reads, primal=node)
    work.enter(made, node)
    return [Entry(made, i) for i in range(count)]


def _by_composition(work: _Pass, node: Node, heads: Sequence[Entry | None]) -> list[Entry | None]:
    """Nodes of other operators, as the page's ``gradient`` composes them."""
    assert node.op is not None
    assert node.op.gradient is not None

    def make(op_name: str, inputs: Sequence[Entry], **attrs: Any) -> list[Entry]:
        return work.make(node, op_name, inputs, **attrs)

    outputs = [Entry(node, i) for i in range(len(node.signature.outputs))]
    return list(node.op.gradient(make, node.params, heads, node.inputs, outputs))


Rule = Callable[[_Pass, Node, Sequence[Entry | None]], Sequence[Entry | None]]
RULES: dict[tuple[bool, bool], tuple[Rule, Rule]] = {
    # page has (backward, gradient): the rule, and the one where the gradient is to be differentiated again
    (True, False): (_by_loops, _by_loops),
    (False, True): (_by_composition, _by_composition),
    (True, True): (_by_loops, _by_composition),  # loops are faster, a composition has a gradient itself
}


def _rule(node: Node, differentiable: bool) -> Rule:
    op = node.op
    assert op is not None
    return RULES[op.backward is not None, op.gradient is not None][differentiable]


def of_arguments(entries: Sequence[Entry], names: Sequence[str]) -> list[Entry]:
    """The gradients of a graph with respect to its arguments of these names; zeros where nothing depends on one.

    Raises:
        MXNetError: a name is no argument, or a path to it goes through an operator without a gradient.
    """
    arguments = {node.name: node for node in post_order(entries) if node.is_variable}
    for name in names:
        if name not in arguments:
            raise refusal("Symbol/gradient-name", f"{name!r} is no argument; there are {', '.join(arguments)}")
    found = build(entries, {id(arguments[name]) for name in names}, differentiable=True)
    if found.refused is not None:
        raise found.refused

    def zero(node: Node) -> Entry:
        return Entry(Node(get("zeros_like"), f"{node.name}_grad", {}, [Entry(node, 0)]), 0)

    return [found.of.get(id(arguments[name])) or zero(arguments[name]) for name in names]
