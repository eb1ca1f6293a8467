"""Bounds of operators: what the loops compute in single precision lies inside the bounds that the same pages give."""

from __future__ import annotations

import os

import numpy as np
import pytest

from refimpl.kernels.foundation import Op, distinct, get
from refimpl.oracle.bounds import tracking
from refimpl.oracle.pages.calls import Trial, has_gradient
from refimpl.oracle.pages.draws import Example, SeededDraw, example

SEED = int(os.environ.get("REFIMPL_ORACLE_SEED", "0"))
ALL = [op for op in distinct() if op.cases is not None]


def results(of: Example) -> tuple[list[np.ndarray], list[tuple[np.ndarray, np.ndarray]]]:
    """Outputs and gradients of a call as the loops compute them, and the same as values with bounds."""
    differentiable = has_gradient(of) and of.op.backward is not None
    trial = Trial(of, is_train=True)
    plain = trial.forward()
    if differentiable:
        plain += [gradient for gradient in trial.backward() if gradient is not None]
    trial = Trial(of, is_train=True)
    with tracking() as shadow:
        trial.forward()
        bounded = [shadow.of(out.buffer) for out in trial.outs]
        if differentiable:
            trial.backward()
            bounded += [shadow.of(gradient.buffer) for gradient in trial.grads if gradient is not None]
    return plain, bounded


def check(op: Op, seed: int) -> int:
    """Assert that a drawn call keeps its bounds; returns how many elements had a finite one."""
    of = example(op, SeededDraw(seed), smooth=seed % 2 == 0)
    plain, bounded = results(of)
    assert len(plain) == len(bounded)
    count = 0
    for position, (found, (values, bounds)) in enumerate(zip(plain, bounded, strict=True)):
        with np.errstate(all="ignore"):
            wide = found.astype(np.float64)
            inside = (np.abs(wide - values) <= bounds) | (wide == values) | (np.isnan(wide) & np.isnan(values))
        inside |= np.isinf(bounds)
        assert inside.all(), (
            f"{of}: result {position} is {wide[~inside][:3]}, not {values[~inside][:3]} within {bounds[~inside][:3]}"
        )
        count += int(np.isfinite(bounds).sum())
    return count


@pytest.mark.clause("oracle/branch", "oracle/tiers")
@pytest.mark.parametrize("op", ALL[SEED % 10 :: 10], ids=lambda op: op.name)
def test_the_machine_code_lies_inside_the_bounds(op: Op) -> None:
    check(op, SEED)


@pytest.mark.long  # ten minutes
@pytest.mark.parametrize("op", ALL, ids=lambda op: op.name)
def test_many_draws_lie_inside_the_bounds(op: Op) -> None:
    for seed in range(SEED + 1, SEED + 13):
        check(op, seed)


def test_bounds_are_seldom_infinite() -> None:
    names = ("FullyConnected", "Convolution", "BatchNorm", "SoftmaxOutput", "Pooling", "dot", "tanh", "sum")
    assert [name for name in names if not check(get(name), 2)] == []


def test_a_wrong_element_lies_outside() -> None:
    of = example(get("FullyConnected"), SeededDraw(2), smooth=True)
    plain, bounded = results(of)
    for found, (values, bounds) in zip(plain, bounded, strict=True):
        assert (np.abs(found * (1 + 1e-4) - values) > bounds).any(), bounds
