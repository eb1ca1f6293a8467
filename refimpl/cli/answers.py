"""The text that ``refimpl predict`` prints for an output: classes, boxes, or a summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..base import decides
from ..files.reading import read_file
from ..symbol import Symbol
from .errors import refuse

SHARES = {"SoftmaxOutput", "Softmax", "softmax", "SoftmaxActivation", "log_softmax"}
DETECTION = "_contrib_MultiBoxDetection"


def read_synset(name: str) -> list[str]:
    """The names of the classes: one a line, in the order of their numbers.

    Raises:
        CommandError: the file cannot be read, or is empty.
    """
    try:
        text = read_file(name).decode("utf-8", "replace")
    except OSError as error:
        raise refuse("Cli/synset", f"cannot open {name}: {error.strerror}") from error
    lines = ["".join(c if c.isprintable() else " " for c in line).strip() for line in text.splitlines()]
    names = [line for line in lines if line]
    if not names:
        raise refuse("Cli/synset", f"{name} names no class; it must have one a line")
    return names


def kinds(net: Symbol) -> list[str]:
    """The operator behind each output."""
    return ["" if entry.node.op is None else entry.node.op.name for entry in net.entries]


def finds_boxes(net: Symbol) -> bool:
    """Whether an output holds the boxes of a detection."""
    return DETECTION in kinds(net)


class Answers:
    """Prints outputs as classes, boxes or summaries.

    Args:
        net: the network.
        names: of the classes, or None.
        top: classes that are named for each row.
        threshold: the least score of a box that is named.
    """

    def __init__(self, net: Symbol, names: list[str] | None, top: int, threshold: float) -> None:
        self._outputs = list(zip(net.list_outputs(), kinds(net), strict=True))
        self._names, self._top, self._threshold = names, top, threshold

    def require_names(self, shapes: Sequence[tuple[int, ...]]) -> None:
        """Refuse names that are more or fewer than the classes of an output of shares."""
        for (name, kind), shape in zip(self._outputs, shapes, strict=True):
            if self._names is not None and kind in SHARES and len(shape) == 2 and len(self._names) != shape[1]:
                raise refuse("Cli/synset", f"--synset names {len(self._names)} classes, but {name} has {shape[1]}")

    @decides("Cli/answers")
    def lines(self, outputs: Sequence[np.ndarray], rows: list[str]) -> Iterator[str]:
        """The lines for the outputs of all rows.

        Args:
            outputs: an array for each output of the network.
            rows: names of the rows of the input, or nothing.
        """
        for (name, kind), values in zip(self._outputs, outputs, strict=True):
            titles = rows if len(rows) == len(values) else [f"row {row}" for row in range(len(values))]
            if kind == DETECTION:
                yield from self._boxes(values, titles)
            elif values.ndim == 2 and (kind in SHARES or self._named(values)):
                yield from self._classes(name, values, titles)
            else:
                yield summary(name, values)

    def _named(self, values: np.ndarray) -> bool:
        return self._names is not None and len(self._names) == values.shape[1]

    def _classes(self, output: str, values: np.ndarray, titles: list[str]) -> Iterator[str]:
        for title, row in zip(titles, values, strict=True):
            yield title
            if not np.isfinite(row).all():
                yield f"  {summary(output, row)}"
                continue
            for number in np.argsort(-row, kind="stable")[: self._top]:
                yield f"  {row[number]:.6f}  {self._class(number)}"

    def _boxes(self, values: np.ndarray, titles: list[str]) -> Iterator[str]:
        for title, found in zip(titles, values, strict=True):
            kept = found[(found[:, 0] >= 0) & (found[:, 1] >= self._threshold)]
            yield f"{title}: {len(kept)} box{'es' * (len(kept) != 1)} with a score of {self._threshold:g} or more"
            for row in kept[np.argsort(-kept[:, 1], kind="stable")]:
                left, upper, right, lower = row[2:6]
                yield (
                    f"  {row[1]:.6f}  {self._class(int(row[0]))}"
                    f"  left {left:.4f} top {upper:.4f} right {right:.4f} bottom {lower:.4f}"
                )

    def _class(self, number: int) -> str:
        if self._names is None:
            return f"class {number}"
        return self._names[number] if number < len(self._names) else f"class {number} (not in --synset)"


def summary(name: str, values: np.ndarray) -> str:
    """Shape, type and range of an output."""
    head = f"{name}: {values.dtype} {values.shape}"
    wide = values.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    others = f", {wide.size - finite.size} not finite" if finite.size < wide.size else ""
    if not finite.size:
        return f"{head}{others}"
    least, most = f"{finite.min():.5g}", f"{finite.max():.5g}"
    return f"{head}, from {least} to {most}, mean {finite.mean():.5g}, deviation {finite.std():.5g}{others}"
