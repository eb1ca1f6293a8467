"""The laws over an operator that a user wrote: its record answers as a page does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from refimpl import operator
from refimpl.kernels.foundation import Case
from refimpl.operator.record import CUSTOM
from refimpl.oracle.pages import laws
from refimpl.oracle.pages.draws import SeededDraw


class Affine(operator.CustomOp):
    """``left * right * factor`` and ``left + 1``."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * in_data[1] * self.factor)
        self.assign(out_data[1], req[1], in_data[0] + 1)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * in_data[1] * self.factor + out_grad[1])
        self.assign(in_grad[1], req[1], out_grad[0] * in_data[0] * self.factor)


@operator.register("laws_affine")
class AffineProp(operator.CustomOpProp):
    def __init__(self, factor: str) -> None:
        super().__init__()
        self.factor = float(factor)

    def list_arguments(self):
        return ["left", "right"]

    def list_outputs(self):
        return ["scaled", "moved"]

    def infer_shape(self, in_shape):
        known = in_shape[0] or in_shape[1]
        return [known, known], [known, known], []

    def infer_type(self, in_type):
        known = in_type[0] or in_type[1]
        return [known, known], [known, known], []

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Affine(self.factor)


def _cases(draw) -> Case:
    shape = draw.shape(1, 3)
    return Case({"op_type": "laws_affine", "factor": draw.integer(-3, 3)}, {"left": shape, "right": shape})


AFFINE = replace(CUSTOM, cases=_cases)
LAWS = [
    laws.fills_outputs, laws.fills_gradients, laws.keeps_inputs, laws.repeats, laws.infers_fixed_point,
    laws.infers_from_parts, laws.gradient_is_slope, laws.gradients_are_independent,
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law(law: Callable) -> None:
    for seed in range(6):
        law(AFFINE, SeededDraw(seed))
