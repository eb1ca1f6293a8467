"""All that ``refimpl inspect`` says of a checkpoint, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...base import MXNetError, decides
from ...symbol.inference import read_shape
from ...util import np_shape
from ..errors import refuse
from ..options import checkpoint_epochs
from ..porting import touches
from . import bucket_files, files, graph, likely
from .files import Arrays, Content, Data, Problem
from .graph import Graph, Variables

VERSION = 1
"""Of the data that :func:`inspected` returns. It grows when a field changes its meaning or goes away."""


@decides("Inspect/looks-only", "Inspect/json")
def inspected(
    prefix: str, epoch: int | None, given: Mapping[str, Sequence[int]], bucket: int | None = None
) -> Data:
    """Read a checkpoint's files, and report their content.

    Args:
        prefix: the prefix of the checkpoint.
        epoch: the epoch of its parameters; None for a checkpoint without parameters.
        given: shapes of inputs by name.
        bucket: the key of the network to report, for a checkpoint of a BucketingModule; the first by default.

    Raises:
        CommandError: ``given`` names no input, or contradicts the graph.
    """
    here = checkpoint_epochs(prefix)
    listed = bucket_files.listed(prefix)
    if bucket is None and listed.keys and not Path(f"{prefix}-symbol.json").is_file():
        bucket = listed.keys[0]
    symbol, params, states, told = _opened(prefix, epoch, bucket)
    problems = [*listed.problems, *told]
    net, told = graph.graph(symbol)
    problems += told
    arrays = _arrays(params)
    problems += arrays.problems
    shared, told = bucket_files.variables(prefix, net.variables, [key for key in listed.keys if key != bucket])
    problems += told
    nodes = graph.post_order(net.heads) if net.heads is not None else []
    sized, told = _sized(net, arrays, given)
    problems += told
    inputs: list[str] = []
    if net.variables is not None:
        inputs = [name for name in net.variables.arguments if _is_input(name, net.variables, arrays, given)]
        if _has_variables(arrays):
            compared = list(_compared(shared or net.variables, arrays, given, params.file, sized["variables"]))
            held_here = len(arrays.arguments) + len(arrays.auxiliary)
            problems += likely.likely(compared, nodes, params.file, prefix, epoch, held_here)
    problems += likely.variances(nodes, arrays)
    held, told = files.states(states, params)
    problems += told
    touched = touches.of_operators(net.operators or {})
    return {
        "version": VERSION,
        "prefix": prefix,
        "epoch": epoch,
        "epochs": here,
        "bucket": bucket,
        "buckets": listed.keys,
        "mxnet": graph.written_by(net.version),
        "np_shape": net.np_shape or arrays.np_shape,
        "symbol": symbol.told(),
        "params": params.told(),
        "states": None if states.raw is None else {**states.told(), "holds": held},
        "inputs": [{"name": name, "shape": sized["variables"].get(name)} for name in inputs],
        "outputs": sized["outputs"],
        "layers": _as_data(sized["layers"]),
        "parameters": [files.described(name, array) for name, array in arrays.arguments.items()],
        "auxiliary": [files.described(name, array) for name, array in arrays.auxiliary.items()],
        "problems": _as_data(problems),
        "notes": _as_data(likely.gammas(nodes, arrays.arguments)),
        "quirks": touched["quirks"],
        "deviations": touched["deviations"],
    }


def _opened(prefix: str, epoch: int | None, bucket: int | None) -> tuple[Content, Content, Content, list[Problem]]:
    """The files of the network, the parameters and the states, with the problems of reading them."""
    number = "NNNN" if epoch is None else f"{epoch:04d}"
    symbol = files.opened(f"{prefix}-symbol.json" if bucket is None else f"{prefix}-{bucket}-symbol.json")
    params = files.opened(f"{prefix}-{number}.params")
    states = files.opened(f"{prefix}-{number}.states")
    problems = [content.problem for content in (symbol, params) if content.problem is not None]
    if states.problem is not None and states.problem.kind != "missing-file":  # few checkpoints have one
        problems.append(states.problem)
    return symbol, params, states, problems


def _has_variables(arrays: Arrays) -> bool:
    """Whether the file could be read and has the names of a graph's variables, which gluon's have not."""
    return arrays.read and not any(one.kind == "gluon-parameters" for one in arrays.problems)


def _as_data(rows: Iterable[Any]) -> list[Data]:
    return [row._asdict() for row in rows]


def _arrays(params: Content) -> Arrays:
    """The arrays of a params file; of gluon's they have their names and one problem."""
    arrays = files.arrays(params)
    names = [problem.about for problem in arrays.problems if problem.kind == "unknown-name"]
    problem = None if arrays.arguments or arrays.auxiliary else likely.of_gluon(names, params.file)
    if problem is None:
        return arrays
    return arrays._replace(problems=[problem, *(p for p in arrays.problems if p.kind != "unknown-name")])


def _sized(net: Graph, arrays: Arrays, given: Mapping[str, Sequence[int]]) -> tuple[Data, list[Problem]]:
    """Layers, inputs and outputs with their shapes, and the arrays whose shapes are wrong."""
    if net.heads is None:
        return {"layers": net.layers or [], "variables": {}, "outputs": []}, []
    variables = net.variables
    assert variables is not None
    known = [*variables.arguments, *variables.auxiliary]
    for name in given:
        if name not in known:
            raise refuse("Cli/shape", f"--shape names {name}; the inputs are {', '.join(_free(variables, arrays))}")
    stored = {name: array.shape for part in (arrays.arguments, arrays.auxiliary) for name, array in part.items()}
    with np_shape(net.np_shape or arrays.np_shape):
        told = {name: shape for name, sides in given.items() if (shape := read_shape(sides)) is not None}
        try:
            found, problems = graph.shapes(net.heads, told, stored)
        except MXNetError as error:
            raise refuse("Cli/shape", f"--shape contradicts the graph: {files.plain(error)}") from None
    by_name = {
        node.name: graph.shown(found.get((id(node), 0)))
        for node in graph.post_order(net.heads) if node.is_variable
    }
    outputs = [
        {"name": entry.node.entry_name(entry.index), "shape": graph.shown(found.get((id(entry.node), entry.index)))}
        for entry in net.heads
    ]
    return {"layers": graph.layers(net.heads, found), "variables": by_name, "outputs": outputs}, problems


def _free(variables: Variables, arrays: Arrays) -> list[str]:
    return [name for name in variables.arguments if _is_input(name, variables, arrays, {})]


@decides("Inspect/inputs")
def _is_input(name: str, variables: Variables, arrays: Arrays, given: Mapping[str, Any]) -> bool:
    """Whether a variable is fed with data: the file has no value of it, and nothing says that it is learned."""
    return name in given or (
        name not in arrays.arguments and name not in arrays.auxiliary and name not in variables.learned
    )


@decides("Inspect/parameters")
def _compared(
    variables: Variables, arrays: Arrays, given: Mapping[str, Any], file: str, shapes: Mapping[str, Any]
) -> Iterator[Problem]:
    """Arrays that the graph needs and the file lacks, and arrays of the file that the graph lacks."""
    held = dict.fromkeys(arrays.arguments, "arg") | dict.fromkeys(arrays.auxiliary, "aux")
    told = {problem.about for problem in arrays.problems if problem.kind == "unallocated"}
    wanted = dict.fromkeys(variables.arguments, "arg") | dict.fromkeys(variables.auxiliary, "aux")
    for name, kind in wanted.items():
        other = "aux" if kind == "arg" else "arg"
        if name in variables.learned and name not in held and name not in given and name not in told:
            known = shapes.get(name)
            of_shape = "" if known is None else f" of shape {graph.spelled_shape(known)}"
            yield Problem("missing-parameter", name, f"the graph needs {kind}:{name}{of_shape}, which {file} lacks")
        elif variables.whole and held.get(name) == other:
            yield Problem("wrong-kind", name, f"{name} is stored as {other}:{name}, the graph has it as {kind}:{name}")
    for name, kind in held.items():
        # old graphs that cannot be loaded do not name their auxiliary states
        if name not in wanted and (variables.whole or kind == "arg"):
            yield Problem("unknown-parameter", name, f"{file} has {kind}:{name}, which the graph does not know")


__all__ = ["VERSION", "inspected"]
