"""Updates as optimizers call them, here and in MXNet 1.9.1: the weight is the output, states change in place.

tests/peers/test_mxnet.py runs them as nodes of graphs, which MXNet cannot do with updates of many weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refimpl.kernels import distinct, get
from refimpl.oracle.backends.isolate import Isolated
from refimpl.oracle.pages.draws import SeededDraw, example

from .asking import Arrays, assert_right, needs_mxnet, spec_of

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
# What MXNet leaves behind otherwise, and why: rows of spec/reference/porting/deviations.md.
KNOWN = {
    ("_adamw_update", "grad"): "adamw/clip", ("mp_lamb_update_phase2", "weight32"): "lamb/master",
    ("_multi_lamb_update", "weight"): "multi_lamb/step",
    **{(f"_multi_{mp}adamw_update", name): "adamw/many" for mp in ("", "mp_") for name in ("mean", "var", "weight")},
}


def ask(bridge: Isolated, operator: str, params: dict[str, Any], arrays: Arrays, **request: Any) -> None:
    """Run the update on both sides and judge every array afterwards."""
    request = {
        "do": "update", "operator": operator, "params": params,
        "arrays": {name: spec_of(array) for name, array in arrays.items()}, **request,
    }
    known = [name for name in arrays if (operator, name.rstrip("_0123456789")) in KNOWN or (operator, name) in KNOWN]
    assert_right(request, bridge.run(request), known=known)


@pytest.mark.peer
@needs_mxnet
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("operator", UPDATES)
def test_update_in_place(operator: str, dtype: str, bridge: Isolated) -> None:
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
        ask(bridge, operator, of.params, arrays, outputs=outputs, row_sparse=[])


@pytest.mark.peer
@needs_mxnet
@pytest.mark.parametrize(("operator", "stype"), LAZY)
def test_rows_that_a_gradient_has(operator: str, stype: str, bridge: Isolated) -> None:
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
        ask(bridge, operator, params, arrays, outputs=["weight"], row_sparse=sparse)
