"""Two gradients that MXNet 1.9.1 gets wrong, for those who need its numbers: quirks that the gradient pass asks for."""

from __future__ import annotations

from ..quirks import declare
from .inference import Key
from .ir import Entry, Node

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
    """What the consumers of each value contribute to its gradient, the last consumer first."""

    def __init__(self) -> None:
        self._parts: dict[Key, list[Entry]] = {}

    def add(self, key: Key, part: Entry, sender: Node | None = None) -> None:
        """Add what ``sender`` gives back to one of its inputs; without a sender, the head gradient of an output."""
        self._parts.setdefault(key, []).append(part)

    def of(self, key: Key) -> list[Entry] | None:
        """What there is to add up for one value."""
        return self._parts.get(key)


class _LostContributions(Contributions):
    """Those of MXNet 1.9.1: of eight outputs or more, some kernels replace what came before their own."""

    def __init__(self) -> None:
        super().__init__()
        self._replaced: dict[Key, int] = {}
        self._inner: set[int] = set()  # nodes that other nodes read
        self._complete: set[Key] = set()  # values that an inner node reads: MXNet adds all of their terms up

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
    """An empty record of contributions; autograd's gradients are right in MXNet too."""
    return _LostContributions() if in_executor and _SUM_CAP.active else Contributions()


def heads_taken(node: Node, heads: list[Entry]) -> list[Entry]:
    """The entries that an operator takes for its head gradients."""
    assert node.op is not None
    return [Entry(node, 0)] if node.op.name == "SoftmaxOutput" and _SOFTMAX_HEAD.active else heads


__all__ = ["Contributions", "contributions", "heads_taken"]
