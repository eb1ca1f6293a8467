"""Updates as optimizers call them, here and in MXNet 1.9.1: the weight is the output, states change in place.

tests/peers/test_mxnet.py runs them as nodes of graphs, which MXNet cannot do with updates of many weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refimpl.kernels import distinct, get
from tests.laws.draws import SeededDraw, example

from .test_mxnet import BOUNDS, Arrays, Peer, difference, here, mxnet, needs_mxnet, text_of

CALLS = 24
UPDATES = [
    op.name for op in distinct() if op.name.endswith(("_update", "_phase1", "_phase2")) and "adagrad" not in op.name
]
LAZY = [
    # operator, storages of weight and states beside a row_sparse gradient
    ("sgd_update", "default"), ("sgd_update", "row_sparse"), ("sgd_mom_update", "default"),
    ("sgd_mom_update", "row_sparse"), ("adam_update", "default"), ("adam_update", "row_sparse"),
    ("ftrl_update", "row_sparse"), ("_sparse_adagrad_update", "default"), ("_sparse_adagrad_update", "row_sparse"),
    ("_contrib_group_adagrad_update", "default"),
]
MIXED_UP = {
    "_multi_adamw_update": ("float64",),  # rescale_grad is read as if it were float32
    "mp_lamb_update_phase1": ("float32", "float64"),
    **{op: ("float32",) for op in UPDATES if "multi_mp_" in op},
}
# What MXNet leaves behind otherwise, and why: rows of spec/deviations.md.
KNOWN = {("_adamw_update", "grad"): "adamw/clip", ("mp_lamb_update_phase2", "weight32"): "lamb/master"}

__all__ = ["mxnet"]  # the fixture


def ask(mxnet: Peer, operator: str, request: dict[str, Any], arrays: Arrays, bound: float) -> None:
    """Run the update on both sides and compare every array afterwards."""
    request = {"do": "update", "operator": operator, **request}
    theirs, ours = mxnet.ask(request, arrays), here(request, arrays)
    assert "error" not in theirs, text_of(theirs, "error")
    assert list(ours) == list(theirs)
    found = {
        name: difference(ours[name], theirs[name], bound) for name in ours if (operator, name) not in KNOWN
    }
    assert not {name: text for name, text in found.items() if text}, request


@pytest.mark.peer
@needs_mxnet
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("operator", UPDATES)
def test_update_in_place(operator: str, dtype: str, mxnet: Peer) -> None:
    if dtype == "float16" and "mp_" not in operator:
        pytest.skip("MXNet rounds after each operation: types/half")
    if dtype in MIXED_UP.get(operator, ()):
        pytest.skip("MXNet refuses this type beside a master copy, or mixes the arrays up")
    for number in range(CALLS):
        of = example(get(operator), SeededDraw(1000 * number + 20), dtype)
        count = len(of.op.output_names(of.p))
        outputs = [of.names[k * (len(of.names) // count)] for k in range(count)]
        arrays = dict(zip(of.names, of.arrays, strict=True))
        if operator == "mp_lamb_update_phase1":  # its result is of another type than the weight
            outputs = ["weight32"]
        request = {"params": of.params, "outputs": outputs, "row_sparse": []}
        ask(mxnet, operator, request, arrays, 2e-3 if dtype == "float16" else BOUNDS[dtype])


@pytest.mark.peer
@needs_mxnet
@pytest.mark.parametrize(("operator", "stype"), LAZY)
def test_rows_that_a_gradient_has(operator: str, stype: str, mxnet: Peer) -> None:
    for number in range(CALLS):
        of = example(get(operator), SeededDraw(1000 * number + 20))
        arrays = dict(zip(of.names, of.arrays, strict=True))
        if arrays["weight"].ndim < 2:
            continue
        absent = np.random.default_rng(number).random(len(arrays["grad"])) < 0.5
        arrays["grad"][absent] = 0
        for name, values in arrays.items():
            values[(values == 0) & (name != "grad")] = 0.5  # every row is stored
        params = dict(of.params)
        if "lazy_update" in of.p._fields:
            params["lazy_update"] = number % 2 == 0
        sparse = ["grad"] if stype == "default" else list(arrays)
        request = {"params": params, "outputs": ["weight"], "row_sparse": sparse}
        ask(mxnet, operator, request, arrays, BOUNDS["float32"])
