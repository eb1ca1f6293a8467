"""Twelve faults in a NumPy implementation: each fails the suite, and the implementation without them does not."""

from __future__ import annotations

import numpy as np
import pytest

from refimpl.oracle.backends import variants
from refimpl.oracle.backends.variants import _map
from refimpl.oracle.suite import answering, verdicts
from refimpl.oracle.suite.exporting import export

ONE = (lambda p, y, *x: 1.0,)
FAULTS = {
    "relu-tie": ("relu", _map(lambda p, x: np.maximum(x, 0), lambda p, y, x: np.where(x >= 0, 1.0, 0.0))),
    "relu-leaks": ("relu", _map(lambda p, x: np.maximum(x, x / 1000), lambda p, y, x: np.where(x > 0, 1.0, 0.0))),
    "abs-at-0": ("abs", _map(lambda p, x: abs(x), lambda p, y, x: np.where(x >= 0, 1.0, -1.0))),
    "clip-edge": ("clip", _map(
        lambda p, x: np.clip(x, np.float32(p.a_min), np.float32(p.a_max)),
        lambda p, y, x: (x > np.float32(p.a_min)) & (x < np.float32(p.a_max)),
    )),
    "exp-scale": ("exp", _map(lambda p, x: np.exp(x) * np.float32(1.0001), lambda p, y, x: y)),
    "exp-half": ("exp", _map(lambda p, x: np.exp(x).astype(np.float16).astype(x.dtype), lambda p, y, x: y)),
    "tanh-slope": ("tanh", _map(lambda p, x: np.tanh(x), lambda p, y, x: 1 - y)),
    "sigmoid-slope": ("sigmoid", _map(lambda p, x: 1 / (1 + np.exp(-x)), lambda p, y, x: y)),
    "scalar-ignored": ("_mul_scalar", _map(lambda p, x: x * np.float32(p.scalar), *ONE)),
    "sign": ("elemwise_sub", _map(lambda p, a, b: a - b, *ONE * 2)),
    "swapped": ("elemwise_mul", _map(lambda p, a, b: a * b, lambda p, y, a, b: a, lambda p, y, a, b: b)),
    "term": ("elemwise_div", _map(lambda p, a, b: a / b, lambda p, y, a, b: 1 / b, lambda p, y, a, b: -(a / b))),
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite") / "suite"
    export(folder, levels=[2], programs=8, only=sorted({name for name, _ in FAULTS.values()}))
    return folder


def failed(suite, tmp_path):
    answering.write(variants.variant("double"), suite, tmp_path / "answers.jsonl")
    report = verdicts.judge(suite, tmp_path / "answers.jsonl")
    return {op for name, status in report.statuses.items() if status == "failed" for op in report.cases[name].operators}


@pytest.mark.heavy
def test_without_a_fault_nothing_fails(suite, tmp_path) -> None:
    assert failed(suite, tmp_path) == set()


@pytest.mark.heavy
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_fails_cases_of_its_operator(suite, tmp_path, monkeypatch, fault) -> None:
    operator, rule = FAULTS[fault]
    monkeypatch.setitem(variants._ELEMENTWISE, operator, rule)
    assert failed(suite, tmp_path) == {operator}
