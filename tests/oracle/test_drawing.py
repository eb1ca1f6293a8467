"""Drawing: operators that may use random numbers are drawn where they do not; values are of the kind that is named."""

from __future__ import annotations

import numpy as np
import pytest

from refimpl.oracle import Capabilities, judge, program_of
from refimpl.oracle.backends import Reference
from refimpl.oracle.programs.program import operators
from refimpl.oracle.programs.values import array_of


@pytest.mark.parametrize("name", ["LeakyReLU", "RNN"])
def test_calls_that_use_no_random_numbers_are_drawn(name: str) -> None:
    capabilities = Capabilities(level=2, operators=frozenset({name}))
    attributes = []
    for i in range(30):
        program = program_of(2, i, capabilities)
        if name in operators(program):
            attributes += [node["attrs"] for node in program["nodes"] if node["op"] == name]
            assert judge(Reference(), program).status == "passed"
    assert len(attributes) > 10
    if name == "RNN":
        assert {float(each["p"]) for each in attributes} == {0.0}
        assert {each["mode"] for each in attributes} == {"rnn_relu", "rnn_tanh", "lstm", "gru"}
    else:
        assert {each["act_type"] for each in attributes} == {"elu", "gelu", "leaky", "prelu", "selu"}


@pytest.mark.parametrize("style", ["dyadic", "normal", "special"])
def test_definite_matrices_have_eigenvalues_in_any_order(style: str) -> None:
    kept = 0
    for seed in range(8):
        matrix = array_of({"shape": [3, 3], "dtype": "float64", "kind": "definite", "style": style, "seed": seed})
        assert np.array_equal(matrix, matrix.T)
        values = np.linalg.eigvalsh(matrix)
        assert values.min() > 0
        assert np.diff(values).min() > 2
        kept += list(np.diag(matrix)) == sorted(np.diag(matrix))
    assert kept < 6
