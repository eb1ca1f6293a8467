"""A few elements of a layer are computed as the whole layer computes them."""

from __future__ import annotations

import numpy as np
import pytest

from refimpl.export.layer import Layer
from refimpl.export.narrowing import RULES, narrowed
from refimpl.kernels import distinct, get
from refimpl.kernels.foundation.loop import python_loops
from refimpl.oracle.pages.draws import SeededDraw, example
from refimpl.symbol.ir import Entry, Node

ELEMENTWISE = [op.name for op in distinct() if op.elementwise and op.cases]
SEEDS = range(12)


def drawn_layer(name: str, seed: int) -> Layer:
    of = example(get(name), SeededDraw(seed), smooth=True)
    inputs = [Entry(Node(None, f"in{k}"), 0) for k in range(len(of.arrays))]
    return Layer(Node(of.op, "layer", {}, inputs, params=of.p), of.arrays)


@pytest.mark.parametrize("name", [*RULES, *ELEMENTWISE])
def test_elements_are_those_of_the_whole_layer(name: str) -> None:
    smaller = 0
    for seed in SEEDS:
        layer = drawn_layer(name, seed)
        with python_loops(), np.errstate(all="ignore"):
            whole = layer.run()[0]
            part = narrowed(layer, 0, whole.shape, 7, np.random.default_rng(seed))
            found = part.layer.run()[0].reshape(-1)[part.take]
        smaller += part.layer is not layer
        assert len(part.at) == len(found) >= min(whole.size, 4)
        np.testing.assert_allclose(found, whole.reshape(-1)[part.at], rtol=1e-12, atol=1e-12)
    assert smaller > 0
