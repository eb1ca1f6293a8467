"""Recorded programs: values, gradients and what is written in between are the same under every engine, bit for bit."""

from __future__ import annotations

import random

import numpy as np
import pytest

import refimpl as mx
from refimpl.ndarray import NDArray

nd = mx.nd
SEEDS = 120
CONTEXTS = [mx.cpu(0), mx.cpu(1)]


def _whole_assigned(a: NDArray) -> NDArray:
    made = nd.zeros((2, 3), a.context)
    made[:] = a * 2
    return made


STEPS = [
    lambda a, b, place: a + b,
    lambda a, b, place: nd.tanh(a),
    lambda a, b, place: a.astype("float64").astype("float32"),
    lambda a, b, place: nd.concat(a[0:1], b[1:2], dim=0),
    lambda a, b, place: nd.Dropout(a, p=0.5),
    lambda a, b, place: a.reshape((3, 2)).T.reshape((2, 3)),
    lambda a, b, place: nd.dot(nd.dot(a, b, transpose_b=True), a) / 8,
    lambda a, b, place: a.as_in_context(place).copy(),
    lambda a, b, place: _whole_assigned(a),
    lambda a, b, place: a[:, ::-1],
    lambda a, b, place: nd.random.uniform(shape=(2, 3), ctx=a.context) * a,
]
"""Copies, casts, parts and draws of arrays of shape (2, 3); ``b`` is on the context of ``a``."""


def _program(seed: int) -> bytes:
    """Two recordings over three variables that are written in between; every bit of what there is afterwards."""
    draw = random.Random(seed)
    mx.random.seed(seed)
    variables = [nd.array(np.arange(6).reshape(2, 3) / 4 + n, CONTEXTS[n % 2]) for n in range(3)]
    for variable in variables:
        variable.attach_grad(draw.choice(["write", "add"]))
    heads = []
    for _ in range(2):
        with mx.autograd.record():
            values = list(variables)
            for _ in range(draw.randint(2, 8)):
                a, b = draw.choice(values), draw.choice(values)
                values.append(draw.choice(STEPS)(a, b.as_in_context(a.context), draw.choice(CONTEXTS)))
        values[-1].backward()
        heads.append(values[-1])
        variables[0] *= 0.5
        variables[1][0] += 1
    kept = [*heads, *variables, *(variable.grad for variable in variables)]
    return b"".join(array.asnumpy().tobytes() for array in kept)


@pytest.mark.clause("engine/order", "engine/choice")
@pytest.mark.parametrize("kind", ["shuffled", "threaded"])
def test_gradients_under_any_order(kind: str) -> None:
    for seed in range(SEEDS):
        expected = _program(seed)
        with mx.engine.use(kind, seed=seed):
            assert _program(seed) == expected, f"program {seed}"
