"""Load damaged files, bind and run what loads, in a process with little memory and a clock.

    python -m tests.stateful.damaged_runs SEED KIND:FIRST:COUNT ...

Each file follows from its kind, the seed and its number. ``KIND:NUMBER`` is printed before each file, and after it what
became of it, as JSON. A file that takes more than SECONDS of processor time ends the process by SIGPROF.
"""

from __future__ import annotations

import json
import random
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import refimpl as mx

from .damage import Draw, damaged_bytes, damaged_graph, networks, one_operator
from .damaged_data import DATA
from .damaged_states import COMMANDS, PARAMS, STATES

MEMORY = 4 << 30
SECONDS = 30


def bind_and_run(symbol: Any, shapes: dict[str, tuple[int, ...]], draw: Draw) -> None:
    """Infer, bind, run forward and backward, and do what the variables say of initializers and multipliers."""
    symbol.infer_shape_partial(**shapes)
    symbol.infer_type_partial()
    symbol.tojson()
    executor = symbol.simple_bind(mx.cpu(), grad_req=draw.choice(["write", "add", "null"]), **shapes)
    values = np.random.default_rng(draw.randrange(2**32))
    for array in [*executor.arg_arrays, *executor.aux_arrays]:
        if array is not None and array.size < 10**6:
            array[:] = values.integers(-2, 4, array.shape)
    for is_train in (False, True):
        for output in executor.forward(is_train=is_train):
            output.wait_to_read()
    executor.backward([mx.nd.ones(o.shape, dtype=o.dtype) for o in executor.outputs])
    mx.nd.waitall()
    mx.optimizer.SGD(sym=symbol)
    said = symbol.attr_dict()
    for name, array in executor.arg_dict.items():
        if "__init__" in said.get(name, {}):
            mx.init.Uniform()(mx.init.InitDesc(name, said[name]), array)


def graphs(draw: Draw, folder: Path) -> None:
    """A network, or a graph of one operator, damaged in its parts or its bytes."""
    graph, shapes = draw.choice(networks()) if draw.random() < 0.4 else (one_operator(draw), {})
    if draw.random() < 0.85:
        text = damaged_graph(draw, graph)
    else:
        others = [json.dumps(other).encode() for other, _ in networks()]
        text = damaged_bytes(draw, json.dumps(graph).encode(), others).decode("utf-8", "surrogateescape")
    symbol = mx.sym.load_json(text)
    known = set(symbol.list_inputs())
    told = {name: shape for name, shape in shapes.items() if name in known}
    bind_and_run(symbol, told, draw)


KINDS: dict[str, Callable[[Draw, Path], object]] = {
    "graphs": graphs, "params": PARAMS, "states": STATES, "commands": COMMANDS, "data": DATA,
}


def run(kind: str, seed: str, number: int, folder: Path) -> dict[str, Any]:
    """Load and run one file; what became of it."""
    draw = random.Random(f"{kind} {seed} {number}")
    mx.random.seed(number)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            KINDS[kind](draw, folder)
    except Exception as error:  # noqa: BLE001  # that no other error comes is what is tested
        clause = getattr(error, "clause", None)
        if clause:
            return {"end": "refused", "clause": clause}
        return {"end": "failed", "error": repr(error)[:500], "trace": traceback.format_exc()[-3000:]}
    return {"end": "ran"}


def main(seed: str, shares: list[str]) -> None:
    """Load and run the files of each share, KIND:FIRST:COUNT."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as folder:
        for kind, first, count in (share.split(":") for share in shares):
            for number in range(int(first), int(first) + int(count)):
                print(f"{kind}:{number}", flush=True)
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                found = run(kind, seed, number, Path(folder))
                signal.setitimer(signal.ITIMER_PROF, 0)
                print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
