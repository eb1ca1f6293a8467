"""What stands in the place of parts of MXNet that are not here: one table, name -> one line."""

from __future__ import annotations

from ...runtime import ABSENT

OTHER = "mxnet"
PAGE = "spec/bring-your-script.md"

_PICTURES = "mx.io.ImageRecordIter and mx.io.ImageDetRecordIter read pictures; see spec/pictures.md"
_OWN_OPERATORS = "write an operator in Python with mx.operator.CustomOp; see spec/custom-operators.md"
_WHOLE_GRAPHS = "an executor runs the network as it is, and nothing has to be replaced; see spec/passes.md"

INSTEAD: dict[str, str] = {f"{OTHER}.{name}": said for name, said in ABSENT.items()} | {
    f"{OTHER}.contrib.tensorrt": _WHOLE_GRAPHS,
    f"{OTHER}.contrib.text": "collections.Counter counts tokens, and arg_params hold vectors; see spec/checkpoint.md",
    f"{OTHER}.contrib.tensorboard": "a batch_end_callback reads param.eval_metric; see spec/metrics.md",
    f"{OTHER}.image": _PICTURES,
    f"{OTHER}.img": _PICTURES,
    f"{OTHER}.library": _OWN_OPERATORS,
    f"{OTHER}.subgraph": _WHOLE_GRAPHS,
}
"""Also what ``mx.runtime`` refuses by its own table."""


def instead(name: str) -> str | None:
    """What stands instead of a dotted name, or of the nearest name above it that the table has."""
    while name:
        if name in INSTEAD:
            return INSTEAD[name]
        name = name.rpartition(".")[0]
    return None
