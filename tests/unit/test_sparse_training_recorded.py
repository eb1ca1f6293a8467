"""Ten batches of sparse linear models and factorisation machines, with the losses and weights of MXNet 1.9.1.

tests/fixtures/sparse_training.py is the program, and wrote sparse-training.json.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import refimpl as mx

from ..fixtures import sparse_training
from .sparse_modules import quiet

RECORDED = json.loads(sparse_training.EXPECTED.read_text(encoding="utf-8"))

__all__ = ["quiet"]  # a fixture


@pytest.mark.clause("Module/sparse-parameters", "Module/sparse-rows", "Sparse/gradient-storage", "KVStore/held-rows")
@pytest.mark.parametrize(("optimizer", "store", "contexts", "prepared"), [
    *((optimizer, None, 1, False) for optimizer in sparse_training.OPTIMIZERS),
    ("adam", "local", 2, True), ("ftrl", "device", 3, False),
])
@pytest.mark.parametrize("model", sparse_training.MODELS)
def test_ten_batches(model, optimizer, store, contexts, prepared) -> None:
    module = sparse_training.module_of(mx, model, contexts)
    losses, weights = sparse_training.train(mx, module, optimizer, store, prepared)
    expected, values = RECORDED[f"{model}, {optimizer}"]
    np.testing.assert_allclose(losses, expected, atol=1e-6)
    assert sorted(weights) == sorted(values)
    for name, value in values.items():
        np.testing.assert_allclose(weights[name], value, atol=1e-5)
    stypes = {name: array.stype for name, array in module.get_params()[0].items()}
    assert {stype for name, stype in stypes.items() if name != "bias"} == {"row_sparse"}
