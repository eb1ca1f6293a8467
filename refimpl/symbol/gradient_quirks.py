"""Two wrong gradients of MXNet 1.9.1 as quirks of the gradient pass, for users who need MXNet's numbers."""

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


__all__ = ["Contributions", "contributions", "heads_taken"]
