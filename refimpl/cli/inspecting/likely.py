"""One sentence in place of many: why the parameters of a file and a graph do not match."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...base import decides
from ...symbol.ir import Node
from .files import Arrays, Problem

_MOST_TRIED = 200  # pairs of names of which one may be the other behind a prefix
_FEW = 5  # differences that are told one by one
_VARIANCES = ("_moving_var", "_running_var")


@decides("Inspect/other-network")
def likely(
    problems: Sequence[Problem], nodes: Sequence[Node], file: str, prefix: str, epoch: int | None, held: int
) -> list[Problem]:
    """One problem that explains missing and unknown parameters, in place of all of them.

    Args:
        problems: the problems of parameters.
        nodes: the nodes of the graph.
        file: the name of the params file.
        prefix, epoch: those of the checkpoint.
        held: the number of arrays in the file.
    """
    found = list(problems)
    for node in nodes:
        if node.op is not None and node.op.name == "RNN":
            found = _packed(found, node, file, prefix, epoch)
    missing = [one.about for one in found if one.kind == "missing-parameter"]
    unknown = [one.about for one in found if one.kind == "unknown-parameter"]
    rest = [one for one in found if one.kind not in ("missing-parameter", "unknown-parameter")]
    if not missing or not unknown:
        return found
    renamed = _renamed(missing, unknown)
    if renamed is not None:
        return [*rest, Problem("other-prefix", file, renamed)]
    matched = held - len(unknown)
    if matched <= 0 or (len(missing) + len(unknown) > _FEW and matched < len(missing)):
        text = (
            f"{file} belongs to another network: it lacks {len(missing)} parameters of the graph ({_some(missing)}) and"
            f" has {len(unknown)} that the graph does not know ({_some(unknown)})"
        )
        return [*rest, Problem("other-network", file, text)]
    return found


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + ", ..." * (len(names) > 3)


@decides("Inspect/other-names")
def _renamed(missing: Sequence[str], unknown: Sequence[str]) -> str | None:
    """Which prefix of the file's names, taken off or changed, makes all names match."""
    if len(missing) != len(unknown):
        return None
    wanted, has = set(missing), set(unknown)
    first = min(missing)
    for name in sorted(has)[:_MOST_TRIED]:
        same = 0
        while same < min(len(first), len(name)) and first[-1 - same] == name[-1 - same]:
            same += 1
        for size in range(same, 0, -1):
            old, new = name[: len(name) - size], first[: len(first) - size]
            if not all(not part or part.endswith("_") for part in (old, new)):
                continue
            if all(one.startswith(old) for one in has) and {new + one[len(old) :] for one in has} == wanted:
                if not new:
                    return f"all names match once the prefix {old} is taken off the names in the file"
                if not old:
                    return f"all names match once the prefix {new} is put before the names in the file"
                return f"all names match once the prefix {old} of the names in the file becomes {new}"
    return None


@decides("Inspect/unpacked")
def _packed(problems: list[Problem], node: Node, file: str, prefix: str, epoch: int | None) -> list[Problem]:
    """Gates and layers of a fused cell, as ``mx.rnn.save_rnn_checkpoint`` writes them."""
    name = node.inputs[1].node.name
    cell = name.removesuffix("parameters")
    begins = (f"{cell}l", f"{cell}r")  # layers, and those that read backwards
    parts = [one for one in problems if one.kind == "unknown-parameter" and one.about.startswith(begins)]
    lacked = [one for one in problems if one.kind == "missing-parameter" and one.about == name]
    if not parts or not lacked or cell == name:
        return problems
    params: Any = node.params
    text = (
        f"{file} holds {name} unpacked, as {len(parts)} arrays such as {parts[0].about}; pack them so:"
        f" cell = mx.rnn.FusedRNNCell({params.state_size}, num_layers={params.num_layers}, mode={str(params.mode)!r},"
        f" bidirectional={bool(params.bidirectional)}, prefix={cell!r});"
        f" net, args, auxs = mx.rnn.load_rnn_checkpoint(cell, {prefix!r}, {epoch});"
        f" mx.model.save_checkpoint({prefix!r}, {epoch}, net, args, auxs)"
    )
    gone = {id(one) for one in (*parts, *lacked)}
    return [*(one for one in problems if id(one) not in gone), Problem("unpacked-parameters", name, text)]


@decides("Inspect/gluon")
def of_gluon(names: Sequence[str], file: str) -> Problem | None:
    """Whether no name has ``arg:`` or ``aux:``, as in files of gluon."""
    if not names or any(":" in name for name in names):
        return None
    return Problem(
        "gluon-parameters", file,
        f"{file} holds the parameters of gluon's save_parameters: {len(names)} arrays such as {names[0]}, without arg:"
        f" and aux:. In MXNet, load_parameters({Path(file).name!r}) reads them into their block, and its export writes"
        " a checkpoint",
    )


@decides("Inspect/variance")
def variances(nodes: Sequence[Node], arrays: Arrays) -> Iterator[Problem]:
    """Moving variances below 0."""
    read = {entry.node.name for _, slot, entry in _inputs(nodes) if slot == "moving_var"}
    for name, array in {**arrays.arguments, **arrays.auxiliary}.items():
        if name not in read and not name.endswith(_VARIANCES):
            continue
        values = _values(array)
        wrong = np.flatnonzero(values < 0)
        if len(wrong):
            yield Problem(
                "negative-variance", name,
                f"{name} is a variance and has {len(wrong)} negative values of {values.size}, the least is"
                f" {values[wrong].min():g}",
            )


@decides("Inspect/gamma")
def gammas(nodes: Sequence[Node], arrays: Mapping[str, Any]) -> list[Problem]:
    """Gammas other than 1 that ``fix_gamma``, which is the default of BatchNorm, takes for 1."""
    names = [
        entry.node.name for node, slot, entry in _inputs(nodes)
        if slot == "gamma" and getattr(node.params, "fix_gamma", False) and entry.node.name in arrays
        and (np.abs(_values(arrays[entry.node.name]) - 1) > 1e-2).any()  # weight decay moves it a little
    ]
    if not names:
        return []
    text = f"fix_gamma takes 1 in the place of {len(names)} arrays that are not 1: {_some(names)}"
    return [Problem("ignored-gamma", names[0], text)]


def _inputs(nodes: Sequence[Node]) -> Iterator[tuple[Node, str, Any]]:
    for node in nodes:
        if node.op is not None:
            for slot, entry in zip(node.signature.inputs, node.inputs, strict=False):
                yield node, slot, entry


def _values(array: Any) -> np.ndarray:
    return (array if array.stype == "default" else array.data).asnumpy().astype(np.float64).ravel()


__all__ = ["gammas", "likely", "of_gluon", "variances"]
