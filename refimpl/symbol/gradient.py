"""The gradient pass: from a graph, a graph that computes gradients, made of ordinary nodes.

[gradient/chain] Nodes are visited outputs-first. A node's head gradients are the sums of what its consumers
contributed, last consumer first; its page then says how they become gradients of its inputs, either as one
gradient node (``backward``) or as a composition of other operators (``gradient``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import refusal
from ..kernels.foundation import get
from ..quirks import declare
from .inference import Key, key_of
from .ir import Entry, Node, post_order

_SUM_CAP = declare(
    "gradient-sum-cap", "gradient/chain",
    "in an executor, from eight consumers of one array on, the gradient of clip, reverse or SoftmaxOutput"
    " replaces what was added up before it",
    "the sum is the gradient",
)
_OVERWRITING = ("clip", "reverse", "SoftmaxOutput")  # MXNet's kernels that forget to add
_SOFTMAX_HEAD = declare(
    "softmax-output-head", "SoftmaxOutput/out-grad",
    "SoftmaxOutput with out_grad=True multiplies its gradient by its own output",
    "its documentation says by the head gradient",
)


class Gradients:
    """What the pass made.

    ``heads`` holds one variable node per output of the graph whose head gradient is needed (None where it
    is not); ``of`` maps the id of a wanted variable to its gradient entry, absent when it is zero. ``refused``
    is what backward has to raise when a gradient is wanted that a page does not give. ``serves`` maps the id of
    each node made to the node of the graph whose gradient it is part of.
    """

    def __init__(self) -> None:
        self.heads: list[Node | None] = []
        self.of: dict[int, Entry] = {}
        self.nodes: list[Node] = []
        self.refused: Exception | None = None
        self.serves: dict[int, Node] = {}


class _Pass:
    def __init__(
        self, outputs: Sequence[Entry], wanted: set[int], differentiable: bool, taped: bool,
        order: Sequence[Node] | None,
    ) -> None:
        self.differentiable = differentiable
        self.forgets = _SUM_CAP.active and not (taped or differentiable)
        self.takes_output = _SOFTMAX_HEAD.active
        self.order = post_order(outputs) if order is None else order
        self.made: list[Node] = []
        self.result = Gradients()
        self.contributions: dict[Key, list[Entry]] = {}
        self.overwritten: dict[Key, int] = {}  # contributions that MXNet loses, should the sum be long
        self.reached: set[int] = set()
        self.visited: Node
        self.count = 0
        self.depends = self._depending_on(wanted)
        for number, output in enumerate(outputs):
            self._start(number, output)

    def _depending_on(self, wanted: set[int]) -> set[int]:
        """Ids of the nodes through which a wanted variable can be reached."""
        found = set(wanted)
        for node in self.order:
            for source, _ in node.inputs:
                if id(source) in found:
                    found.add(id(node))
                    break
        return found

    def _start(self, number: int, output: Entry) -> None:
        """Give an output of the graph its head gradient."""
        node = output.node
        self.reached.add(id(node))
        loss = node.op is not None and node.signature.is_loss
        head = None if loss else Node(None, f"_head_grad_{number}")
        self.result.heads.append(head)
        if head is not None:
            self.made.append(head)
            self.contributions.setdefault(key_of(output), []).append(Entry(head, 0))

    def make(self, op_name: str, inputs: Sequence[Entry], **attrs: Any) -> list[Entry]:
        """Add a node of another operator; its visible outputs."""
        op = get(op_name)
        text = {key: str(value) for key, value in attrs.items()}
        if op.variadic and op.variadic not in text:
            text[op.variadic] = str(len(inputs))
        node = Node(op, f"{op_name.strip('_')}_grad{self.count}", text, inputs)
        self.count += 1
        self.made.append(node)
        self.result.serves[id(node)] = self.visited
        return [Entry(node, i) for i in range(node.visible_count())]

    def head_of(self, node: Node, index: int) -> Entry | None:
        """Sum of the contributions to one output, None when there are none."""
        parts = self.contributions.get((id(node), index))
        if parts is None:
            return None
        if self.forgets and len(parts) >= 8:
            parts = parts[self.overwritten.get((id(node), index), 0) :]
        if len(parts) == 1:
            return parts[0]
        return self.make("add_n", parts)[0]

    def run(self) -> Gradients:
        for node in reversed(self.order):
            if id(node) not in self.depends:
                continue
            self.visited = node
            if node.is_variable:
                head = self.head_of(node, 0)
                if head is not None:
                    self.result.of[id(node)] = head
            else:
                self._backward(node)
        self.result.nodes = self._needed()
        return self.result

    def _needed(self) -> list[Node]:
        """Those of the nodes made that a wanted gradient depends on, inputs first, as they were made."""
        needed = {id(entry.node) for entry in self.result.of.values()}
        found = []
        for node in reversed(self.made):
            if id(node) in needed:
                needed.update(id(source) for source, _ in node.inputs)
                found.append(node)
        return found[::-1]

    def _backward(self, node: Node) -> None:
        op, signature = node.op, node.signature
        assert op is not None
        heads = [self.head_of(node, i) for i in range(signature.visible)]
        if heads.count(None) == len(heads) and not (signature.is_loss and id(node) in self.reached):
            return
        if not op.has_gradient or node.primal is not None:
            raise refusal(
                "gradient/differentiable",
                f"Operator {node.kind} (node {node.name}) is non-differentiable; put BlockGrad around it"
                " or set grad_req to 'null'",
            )
        for name, entry, part in zip(signature.inputs, node.inputs, self._parts(node, heads), strict=True):
            source = id(entry.node)
            if source not in self.depends:
                continue
            if name in op.refuses_gradient:
                self._refuse(node, name, entry)
            elif part is not None and name not in op.no_gradient and name not in op.aux:
                self.reached.add(source)
                parts = self.contributions.setdefault((source, entry.index), [])
                if op.name in _OVERWRITING:
                    self.overwritten[key_of(entry)] = len(parts)
                parts.append(part)

    def _refuse(self, node: Node, name: str, entry: Entry) -> None:
        """Remember the first gradient that a page refuses: whoever never runs backward never sees it."""
        assert node.op is not None
        if self.result.refused is None:
            self.result.refused = refusal(
                node.op.refuses_gradient[name],
                f"Error in operator {node.name}: {node.op.name} has no gradient for input {name};"
                f" set grad_req of {entry.node.name} to 'null'",
            )

    def _parts(self, node: Node, heads: list[Entry | None]) -> list[Entry | None]:
        """One gradient entry per input of ``node``."""
        op, signature = node.op, node.signature
        assert op is not None
        if not signature.is_loss:
            for i, head in enumerate(heads):
                if head is None:
                    heads[i] = self.make("zeros_like", [Entry(node, i)])[0]
            if self.takes_output and op.name == "SoftmaxOutput":
                heads = [Entry(node, 0)]
        if op.gradient is not None and (op.backward is None or self.differentiable):
            outputs = [Entry(node, i) for i in range(len(signature.outputs))]
            return list(op.gradient(self.make, node.params, heads, node.inputs, outputs))
        count = len(node.inputs)
        reads: list[Any] = [] if signature.is_loss else [*heads]
        reads += [node.inputs[at] if at < count else Entry(node, at - count) for at in signature.places]
        made = Node(op, f"{node.name}_backward", dict(node.attrs), reads, primal=node)
        self.made.append(made)
        self.result.serves[id(made)] = node
        return [Entry(made, i) for i in range(len(node.inputs))]


def build(
    outputs: Sequence[Entry], wanted: set[int], differentiable: bool = False, taped: bool = False,
    order: Sequence[Node] | None = None,
) -> Gradients:
    """Gradients of ``outputs`` with respect to the variables whose ids are in ``wanted``.

    A page may spell its gradient twice: ``backward`` as loops, and ``gradient`` as a composition of operators.
    The loops are faster; with ``differentiable`` the composition is taken, because it has a gradient itself.
    ``taped`` says that autograd recorded the graph, where MXNet adds up gradients as it should. ``order`` holds all
    nodes of the graph, where they are listed already.

    Raises:
        MXNetError: a path to a wanted variable goes through an operator without a gradient.
    """
    return _Pass(outputs, wanted, differentiable, taped, order).run()


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
