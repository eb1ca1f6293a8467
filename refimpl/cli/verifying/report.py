"""All that ``refimpl verify`` says of a network and a reference, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...base import decides
from ...export.layer import Layer
from ...symbol.ir import Node
from ..loaded import Network
from . import guesses, linear, normal, recurrent, windows
from .clauses import clause_of
from .guessing import Case, Explained, explained
from .walk import Compared, Segment, Walk

VERSION = 1
"""Of the data that :func:`verified` returns. It grows when a field changes its meaning or goes away."""

Data = dict[str, Any]

TIERS = (
    (
        guesses.axes, linear.bias, normal.likely, guesses.settings, linear.transposed, recurrent.likely,
        windows.windows, guesses.exchanged, guesses.half,
    ),
    (linear.scaled, normal.fits, recurrent.scaled, guesses.factor),
    (linear.channels, normal.channels, recurrent.channels, guesses.permuted),
    (linear.some_channels, normal.others),
)
"""Where guesses come from: nothing is taken from the numbers, one number is, an order is, a number for each channel."""

_MOST_SEARCHED = 24  # layers without a value of the reference that are searched for the one to blame


@decides("Verify/first", "Verify/json")
def verified(
    network: Network, inputs: Mapping[str, np.ndarray], reference: Mapping[str, np.ndarray], unit: float | None = None,
    told: Callable[[int], object] = lambda _: None,
) -> Data:
    """Compare a network with a reference, layer by layer.

    Args:
        network: with its parameters.
        inputs: of the reference, by name.
        reference: outputs of layers by name, such as ``fc1_output``.
        unit: of the reference's precision, where it is not that of the network.
        told: called with the number of layers that are done.
    """
    walk = Walk(network, inputs, reference, unit)
    rows: list[Data] = []
    first: Data | None = None
    for number, (compared, segment) in enumerate(walk.compare()):
        told(number + 1)
        rows.append(_row(compared, reference))
        if segment is not None and first is None:
            first = _blamed(walk, compared, segment)
    return {
        "version": VERSION,
        "prefix": network.prefix,
        "outputs": rows,
        "unknown": sorted(set(reference) - {row["name"] for row in rows}),
        "first": first,
    }


def _row(compared: Compared, reference: Mapping[str, np.ndarray]) -> Data:
    made: Data = {
        "name": compared.name, "layer": compared.node.name, "operator": compared.node.kind, "verdict": compared.verdict,
    }
    if compared.verdict in ("equal", "differs"):
        made |= {
            "difference": _finite(compared.difference), "allowed": _finite(compared.bound),
            "place": list(compared.place),
        }
    if compared.verdict == "shape":
        made["shape"] = list(reference[compared.name].shape)
    return made


def _finite(number: float) -> float | None:
    return number if np.isfinite(number) else None


def _blamed(walk: Walk, compared: Compared, segment: Segment) -> Data:
    """The first layer that differs, and what the difference looks like."""
    suspects = [layer.node for layer in segment.layers]
    said: Data = {
        "layer": compared.node.name, "operator": compared.node.kind, "output": compared.name,
        "expected": list(segment.exact.shape), "shape": list(segment.target.shape), "kind": "unexplained",
        "text": _unexplained(segment), "suspects": [node.name for node in suspects],
    }
    missing = guesses.without_numbers(segment.target, segment.exact)
    if missing is not None:
        return {**said, "kind": "nan", "text": missing, "clause": clause_of("nan", compared.node.kind)}
    cases = [_case(walk, segment, place) for place in range(len(suspects))][-_MOST_SEARCHED:]
    found: Explained | None = explained(cases, TIERS)
    if found is None:
        return {**said, "clause": clause_of("unexplained", compared.node.kind)}
    node = found.case.layer.node
    return {
        **said, "layer": node.name, "operator": node.kind, "kind": found.guess.kind, "text": found.guess.text,
        "clause": clause_of(found.guess.kind, node.kind),
    }


def _unexplained(segment: Segment) -> str:
    """What can be said of numbers that no guess gives."""
    target, exact = segment.target, segment.exact
    if target.shape != exact.shape:
        return f"the reference has shape {target.shape}, the layer gives {exact.shape}"
    off = np.abs(target - exact) > segment.bound
    parts = [f"{int(off.sum())} of {off.size} numbers differ"]
    if target.ndim > 1:
        rest = tuple(i for i in range(target.ndim) if i != 1)
        changed = np.flatnonzero(off.any(axis=rest))
        if 0 < len(changed) < target.shape[1]:
            parts.append(f"in {len(changed)} of {target.shape[1]} channels, the first is {int(changed[0])}")
    if target.ndim == 4 and min(target.shape[2:]) > 2 and not off[:, :, 1:-1, 1:-1].any():
        parts.append("all at the border")
    scale = guesses.fitted(exact, target)
    if scale is not None:
        parts.append(f"the best factor is {scale:.4g}")
    return ", ".join(parts)


# --- what surrounds a layer -----------------------------------------------------------------------


def _case(walk: Walk, segment: Segment, place: int) -> Case:
    layer = segment.layers[place]
    node = layer.node
    readers = [
        (other, entry) for other in walk.order for entry in other.inputs if entry.node is node
    ]
    return Case(segment, place, _alike(walk, layer), guesses.followed(readers), _flattened(walk, node))


def _alike(walk: Walk, layer: Layer) -> list[tuple[Node, dict[str, np.ndarray]]]:
    """Other layers whose parameters would fit."""
    held = guesses.learned(layer)
    wanted = {name: value.shape for name, value in held.items()}
    found = []
    for node in walk.order:
        if node is layer.node or not wanted or node.op is not layer.node.op:
            continue
        theirs = {
            name: walk.given[entry.node.name]
            for name, entry in zip(node.signature.inputs, node.inputs, strict=False)
            if name in wanted and entry.node.is_variable
        }
        if {name: value.shape for name, value in theirs.items()} == wanted:
            found.append((node, theirs))
    return found


def _flattened(walk: Walk, node: Node) -> tuple[int, ...] | None:
    """The shape of a picture that is flattened right before a layer."""
    source = node.inputs[0].node if node.inputs else None
    if source is None or source.op is None or source.op.name not in ("Flatten", "Reshape"):
        return None
    return walk.shapes.get((id(source.inputs[0].node), source.inputs[0].index))


__all__ = ["VERSION", "verified"]
