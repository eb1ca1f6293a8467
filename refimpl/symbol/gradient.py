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
from ..quirks import declare
from .inference import Key, key_of
from .ir import Entry, Node, post_order
from .shared_weights import can_continue, merged

# --- what consumers contribute, and two wrong gradients of MXNet 1.9.1 as quirks ----------------------

_SUM_CAP = declare(
    "gradient-sum-cap", "gradient/chain",
    "in an executor, where eight outputs or more read one array and nothing else does, the gradient of clip, reverse or"
    " SoftmaxOutput replaces what was added up before it",
    "the sum is the gradient",
)
_OVERWRITING = ("clip", "reverse", "SoftmaxOutput")  # MXNet's kernels that forget to add
_SOFTMAX_HEAD = declare(
    "softmax-output-head", "SoftmaxOutput/out-grad",
    "SoftmaxOutput with out_grad=True multiplies its gradient by its own output",
    "its documentation says by the head gradient",
)


class Contributions:
    """The contributions of consumers to the gradient of each value, the last consumer first."""

    def __init__(self) -> None:
        self._parts: dict[Key, list[Entry]] = {}

    def add(self, key: Key, part: Entry, sender: Node | None = None) -> None:
        """Add the contribution of ``sender`` to one of its inputs; without a sender, an output's head gradient."""
        self._parts.setdefault(key, []).append(part)

    def of(self, key: Key) -> list[Entry] | None:
        """The contributions to the gradient of one value; None where there are none."""
        return self._parts.get(key)


class _LostContributions(Contributions):
    """The contributions that MXNet 1.9.1 adds up: among eight or more, some kernels overwrite earlier ones."""

    def __init__(self) -> None:
        super().__init__()
        self._replaced: dict[Key, int] = {}
        self._inner: set[int] = set()  # nodes that other nodes read
        self._complete: set[Key] = set()  # values that an inner node reads: MXNet adds up all their contributions

    def add(self, key: Key, part: Entry, sender: Node | None = None) -> None:
        if sender is not None:
            self._inner.add(key[0])
            if id(sender) in self._inner:
                self._complete.add(key)
            if sender.op is not None and sender.op.name in _OVERWRITING:
                self._replaced[key] = len(self._parts.get(key, ()))
        super().add(key, part, sender)

    def of(self, key: Key) -> list[Entry] | None:
        parts = super().of(key)
        if parts is None or len(parts) < 8 or key in self._complete:
            return parts
        return parts[self._replaced.get(key, 0) :]


def contributions(in_executor: bool) -> Contributions:
    """A new record of contributions; under the quirk, that of MXNet's executors (MXNet's autograd is right)."""
    return _LostContributions() if in_executor and _SUM_CAP.active else Contributions()


def heads_taken(node: Node, heads: list[Entry]) -> list[Entry]:
    """The head gradients that an operator's backward reads; under the quirk, SoftmaxOutput reads its own output."""
    assert node.op is not None
    return [Entry(node, 0)] if node.op.name == "SoftmaxOutput" and _SOFTMAX_HEAD.active else heads


# --- the pass ------------------------------------------------------------------------------------


class Gradients:
    """The result of the gradient pass.

    ``heads`` has for each output of the graph the variable node of its head gradient, None where none is needed. ``of``
    maps the id of a wanted variable to its gradient entry; a gradient of zero is missing. ``begun`` maps the id of a
    variable to the variable node of the sum to which its gradient is added, where there is one. ``refused`` is the
    error for backward when a wanted gradient is one that its operator does not compute. ``serves`` maps the id of each
    made node to the node of the graph whose gradient it belongs to.
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
    """The gradients of a graph with respect to some of its variables.

    Args:
        outputs: the outputs of the graph.
        wanted: the ids of the variables.
        differentiable: whether to use compositions of operators, which have gradients themselves, where pages have
            them.
        taped: whether autograd recorded the graph; one quirk of executors does not apply then.
        order: all nodes of the graph, inputs first, where they are already listed.
        continued: the ids of variables whose gradients may be added to an existing sum, as for shared weights.

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
    """The ids of the nodes that depend on a wanted variable."""
    found = set(wanted)
    for node in order:
        for source, _ in node.inputs:
            if id(source) in found:
                found.add(id(node))
                break
    return found


class _Pass:
    """The state of a walk: the nodes made so far, and the contributions to the gradient of each value."""

    def __init__(self, depends: set[int], differentiable: bool, taped: bool, continued: AbstractSet[int]) -> None:
        self.depends, self.differentiable, self.continued = depends, differentiable, continued
        self.contributions = contributions(in_executor=not (taped or differentiable))
        self.made: list[Node] = []
        self.gradients = Gradients()
        self.reached: set[int] = set()
        self.count = 0

    def start(self, number: int, output: Entry) -> None:
        """Add the head gradient of an output of the graph, unless the output is a loss."""
        node = output.node
        self.reached.add(id(node))
        loss = node.op is not None and node.signature.is_loss
        head = None if loss else Node(None, f"_head_grad_{number}")
        self.gradients.heads.append(head)
        if head is not None:
            self.made.append(head)
            self.contributions.add(key_of(output), Entry(head, 0))

    def enter(self, made: Node, node: Node) -> None:
        """Enter a new node, which belongs to the gradient of ``node``."""
        self.made.append(made)
        self.gradients.serves[id(made)] = node

    def make(self, node: Node, op_name: str, inputs: Sequence[Entry], **attrs: Any) -> list[Entry]:
        """Add a node of operator ``op_name`` for the gradient of ``node``; returns its visible outputs."""
        op = get(op_name)
        text = {key: str(value) for key, value in attrs.items()}
        if op.variadic and op.variadic not in text:
            text[op.variadic] = str(len(inputs))
        made = Node(op, f"{op_name.strip('_')}_grad{self.count}", text, inputs, params=parsed(op, text))
        self.count += 1
        self.enter(made, node)
        return [Entry(made, i) for i in range(made.signature.visible)]

    def head_of(self, node: Node, index: int) -> Entry | None:
        """The sum of the contributions to one output; None without contributions."""
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
        """The variable for an existing sum to which the gradient of ``node`` is added; None where there is none."""
        if id(node) not in self.continued or not can_continue(parts):
            return None
        made = self.gradients.begun[id(node)] = Node(None, f"{node.name}_sum")
        self.made.append(made)
        return Entry(made, 0)

    def flows_through(self, node: Node, heads: Sequence[Entry | None]) -> bool:
        """Whether the gradient of a node has to be made: it has a head gradient, or is a loss that was reached.

        Raises:
            MXNetError: the gradient has to be made, and the operator has none.
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
        """The head gradients for a rule: zeros replace missing ones, except for a loss, which does not read them."""
        if node.signature.is_loss:
            return heads
        whole: Any = heads if None not in heads else [
            self.make(node, "zeros_like", [Entry(node, i)])[0] if head is None else head
            for i, head in enumerate(heads)
        ]
        return heads_taken(node, whole)

    def hand_on(self, node: Node, parts: Iterable[Entry | None]) -> None:
        """Add the gradients of a node's inputs to the contributions, for inputs that depend on a wanted variable."""
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
        """Remember the error for the first gradient that a page refuses; backward raises it when it runs."""
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
        """The gradients, with the made nodes that a wanted gradient depends on, inputs first, in order of making."""
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
    # (page has backward, page has gradient): (rule, rule for a gradient that is differentiated again)
    (True, False): (_by_loops, _by_loops),
    (False, True): (_by_composition, _by_composition),
    (True, True): (_by_loops, _by_composition),  # loops are faster, a composition has a gradient itself
}


def _rule(node: Node, differentiable: bool) -> Rule:
    """The rule of a node whose operator has a gradient."""
    op = node.op
    assert op is not None
    return RULES[op.backward is not None, op.gradient is not None][differentiable]


def of_arguments(entries: Sequence[Entry], names: Sequence[str]) -> list[Entry]:
    """The gradients of a graph with respect to its arguments ``names``; zeros if no output depends on an argument.

    Raises:
        MXNetError: a name is no argument, or an operator between an output and an argument has no gradient.
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
