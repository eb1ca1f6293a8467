"""The clause that a cause names: a table of shrunk programs of known faults, each with the sentence that it breaks."""

from __future__ import annotations

import numpy as np
import pytest

from refimpl.oracle import Capabilities, cause_of, judge
from refimpl.oracle.backends import Reference
from refimpl.oracle.explaining.clauses import clause_of
from refimpl.oracle.explaining.locating import literal, locate

NAN = float("nan")


def call(op, inputs, attrs=(), *, gradient=True):
    """A program of one operator with these inputs, and a backward pass with ones; trained where it has one."""
    names = [f"v{i}" for i in range(len(inputs))]
    nodes = [{"op": "null", "name": name} for name in names]
    nodes.append({"op": op, "name": "n", "inputs": [[i, 0] for i in range(len(inputs))], "attrs": dict(attrs)})
    arrays = {name: literal(np.array(value, np.float32)) for name, value in zip(names, inputs, strict=True)}
    steps = [{"do": "bind"}, {"do": "forward", "train": gradient}]
    if gradient:
        steps[0]["requirements"] = {"v0": "write"}
        steps.append({"do": "backward", "heads": None})
    return {
        "version": 1, "level": 2 if gradient else 1, "nodes": nodes, "heads": [[len(inputs), 0]], "arrays": arrays,
        "steps": steps,
    }


class Faulty(Reference):
    """The reference, whose arrays of one kind are wrong at some elements."""

    capabilities = Capabilities(level=2)

    def __init__(self, what, at):
        self.what, self.at = what, at

    def run(self, program):
        trace = dict(super().run(program))
        for name, right in trace.items():
            if self.what in name:
                wrong = right.copy()
                wrong[self.at] = np.where(np.isnan(wrong[self.at]), 7, wrong[self.at] + 0.5)
                trace[name] = wrong
        return trace


def heads(program):
    """The program with a head gradient of 1, 2, ..., of the shape that the reference's output has."""
    if program["level"] == 1:
        return program
    forward = {**program, "level": 1, "steps": [{"do": "bind"}, {"do": "forward", "train": True}]}
    shape = Reference().run(forward)["1/output0"].shape
    spec = {"shape": list(shape), "dtype": "float32", "elements": [1.0 + i for i in range(int(np.prod(shape)))]}
    return {**program, "steps": [*program["steps"][:-1], {"do": "backward", "heads": [spec]}]}


GRAD, OUT = "gradient", "output"
FAULTS = [
    ("relu", [[-1, 0, 2]], {}, GRAD, 1, "unary/at-zero"),
    ("relu", [[-1, 3, 2]], {}, GRAD, 1, "unary/elementwise"),
    ("relu", [[NAN, 3, 2]], {}, OUT, 0, "unary/nan"),
    ("abs", [[-1, 0, 2]], {}, GRAD, 1, "unary/at-zero"),
    ("exp", [[-1, 3]], {}, OUT, 0, "unary/elementwise"),
    ("rint", [[-2.5, 0.5]], {}, OUT, 0, "unary/rounding"),
    ("Activation", [[-1, 0, 2]], {"act_type": "relu"}, GRAD, 1, "Activation/relu-zero"),
    ("Activation", [[NAN, 1]], {"act_type": "relu"}, OUT, 0, "Activation/relu-nan"),
    ("Activation", [[-1, 0, 2]], {"act_type": "tanh"}, GRAD, 1, "Activation/gradient"),
    ("Activation", [[-1, 1]], {"act_type": "tanh"}, OUT, 1, "Activation/functions"),
    ("LeakyReLU", [[-1, 0, 2]], {"act_type": "leaky"}, GRAD, 1, "LeakyReLU/at-zero"),
    ("LeakyReLU", [[-1, 0, 2]], {"act_type": "elu"}, GRAD, 1, "LeakyReLU/at-zero"),
    ("LeakyReLU", [[-1, 3]], {"act_type": "selu"}, GRAD, 0, "LeakyReLU/selu-slope"),
    ("LeakyReLU", [[-1, 3]], {"act_type": "gelu"}, OUT, 0, "LeakyReLU/functions"),
    ("LeakyReLU", [[[-1, 3]], [0.5, 0.5]], {"act_type": "prelu"}, OUT, (0, 0), "LeakyReLU/prelu"),
    ("take", [[1, 2, 3], [4, -1]], {"mode": "wrap"}, OUT, 0, "take/mode"),
    ("take", [[1, 2, 3], [4, -1]], {}, OUT, 0, "take/mode"),
    ("take", [[1, 2, 3], [1.5, 0]], {}, OUT, 0, "indexing/whole-numbers"),
    ("take", [[1, 2, 3], [1, 0]], {}, OUT, 0, "take/axis"),
    ("take", [[1, 2, 3], [1, 1]], {}, GRAD, 1, "take/gradient"),
    ("pick", [[[1, 2, 3]], [4]], {"mode": "wrap"}, OUT, 0, "pick/mode"),
    ("pick", [[[1, 2, 3]], [1]], {}, GRAD, (0, 1), "pick/gradient"),
    ("Embedding", [[0, 9], [[1], [2]]], {"input_dim": 2, "output_dim": 1}, OUT, (1, 0), "Embedding/clip"),
    ("Embedding", [[0, 1], [[1], [2]]], {"input_dim": 2, "output_dim": 1}, OUT, (1, 0), "Embedding/clip"),
    ("elemwise_add", [[1, 2], [3, 4]], {}, OUT, 1, ""),
    ("one_hot", [[1, 5]], {"depth": 3}, OUT, (1, 0), "one_hot/row"),
    ("max", [[1, 2, 2]], {}, GRAD, 1, "reduce/ties"),
    ("max", [[1, NAN, 2]], {}, OUT, 0, "reduce/nan"),
    ("prod", [[2, 3, 4]], {}, GRAD, 1, "reduce/prod-gradient"),
    ("sum", [[[1, 2], [3, 4]]], {"axis": "1"}, OUT, 0, "reduce/axis"),
    ("Pooling", [[[[1, 5, 5, 2]]]], {"kernel": "(2,)"}, GRAD, (0, 0, 1), "Pooling/ties-first"),
    ("Pooling", [[[[1, 5, 4, 2]]]], {"kernel": "(2,)", "pool_type": "avg"}, OUT, (0, 0, 0), "Pooling/average"),
    ("Pooling", [[[[1, 5, 4]]]], {"kernel": "(2,)", "pool_type": "lp", "p_value": "2"}, OUT, (0, 0, 0), "Pooling/lp"),
    ("clip", [[1, 3]], {"a_min": "0", "a_max": "2"}, GRAD, 1, "clip/gradient"),
    ("sort", [[3, 1, 2]], {}, GRAD, 1, "sort/gradient"),
    ("argsort", [[1, 0, 1, 0]], {}, OUT, 0, "sort/ties"),
    ("_maximum", [[1, 2], [2, 2]], {}, GRAD, 1, "elementwise/ties"),
    ("elemwise_mul", [[1, 2], [3, 4]], {}, GRAD, 1, "elementwise/gradient"),
    ("softmax", [[[1, 2]]], {}, GRAD, (0, 1), "softmax/gradient"),
    ("softmax", [[[1, 2]]], {"temperature": "2"}, OUT, (0, 1), "softmax/temperature"),
    ("log_softmax", [[[1, 2]]], {}, OUT, (0, 1), "softmax/formula"),
]


@pytest.mark.clause("oracle/clause")
@pytest.mark.parametrize(
    ("op", "inputs", "attrs", "what", "at", "clause"), FAULTS,
    ids=[f"{row[0]}-{'-'.join(map(str, row[2].values()))}-{row[3]}-{row[5]}" for row in FAULTS],
)
def test_a_cause_names_the_clause_that_decides_it(op, inputs, attrs, what, at, clause) -> None:
    attrs = {key: str(value) for key, value in attrs.items()}
    program = heads(call(op, inputs, attrs, gradient=what == GRAD))
    backend = Faulty(f"/{what}:v0" if what == GRAD else f"/{what}0", at)
    verdict = judge(backend, program)
    assert verdict.status == "failed"
    passing = [f"{op} without {key}={value}" for key, value in attrs.items() if key in ("temperature", "axis")]
    where = locate(backend, program, verdict)
    assert clause_of(program, cause_of(program, verdict), where, passing, verdict.mismatches[0]) == clause
