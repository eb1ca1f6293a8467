"""The reference agrees with a witness that computes in rational numbers and shares nothing with it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from refimpl.oracle.drawing.choices import Capabilities
from refimpl.oracle.judging.reference import expected_of
from refimpl.oracle.judging.tape import COVERED, NotCovered, fractions, witness
from refimpl.oracle.numbering import program_of

EXACT = Capabilities(level=2, operators=COVERED, styles=("dyadic", "tied"), requirements=("write",))


def once(program: dict) -> dict:
    """Bind, one forward pass, one backward pass."""
    backward = [step for step in program["steps"] if step["do"] == "backward"][:1]
    return {**program, "steps": [program["steps"][0], {"do": "forward", "train": True}, *backward]}


@pytest.mark.clause("oracle/exact")
def test_the_reference_is_right_on_exact_programs() -> None:
    seen, exact = set(), 0
    for i in range(150):
        program = once(program_of(1, i, EXACT))
        try:
            outputs, gradients = witness(program)
        except NotCovered:
            continue
        for name, (values, bounds) in expected_of(program).items():
            what = name.partition("/")[2]
            right = gradients[what[9:]] if what.startswith("gradient:") else outputs[int(what[6:])]
            certain = bounds == 0
            exact += int(certain.sum())
            assert (fractions(values)[certain] == right[certain]).all(), (i, name)
            off = np.array([[abs(float(f - Fraction(v)))] for f, v in zip(right.flat, values.flat, strict=True)])
            assert (off.reshape(values.shape) <= bounds).all(), (i, name)
        seen |= {node["op"] for node in program["nodes"]}
    assert seen >= COVERED - {"tile"}, sorted(COVERED - seen)
    assert exact > 5000, exact


def test_the_witness_says_what_it_does_not_know() -> None:
    program = program_of(1, 0, EXACT._replace(operators=frozenset({"tanh"})))
    with pytest.raises(NotCovered, match="tanh"):
        witness(once(program))
