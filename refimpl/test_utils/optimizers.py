"""Two optimizers side by side: a step from the same weight must lead to the same place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import refusal
from ..ndarray import NDArray, array
from ..optimizer import Optimizer
from .compare import assert_almost_equal, compare_ndarray_tuple
from .draw import random_arrays
from .sparse_arrays import rand_ndarray


def compare_optimizer(
    opt1: Optimizer, opt2: Optimizer, shape: Any, dtype: Any, w_stype: str = "default",
    g_stype: str = "default", rtol: float = 1e-4, atol: float = 1e-5, compare_states: bool = True,
    ntensors: int = 1,
) -> None:
    """Demand that one step of two optimizers gives equal weights and states.

    Args:
        opt1, opt2: the optimizers.
        shape: shape of the weight, or a list of ``ntensors`` shapes.
        dtype: type of the weight.
        w_stype, g_stype: storage types of weight and gradient: default, row_sparse, csr.
        rtol, atol: tolerances.
        compare_states: whether states are compared; one that only one of the two has is not.
        ntensors: number of weights.

    Raises:
        AssertionError: they differ, or there are not ``ntensors`` shapes.
        ValueError: a storage type is unknown.
    """
    shapes = list(shape) if ntensors > 1 else [shape]
    if len(shapes) != ntensors or not all(isinstance(one, (tuple, list)) for one in shapes):
        raise refusal(
            "test_utils/optimizer", f"{ntensors} weights need a list of {ntensors} shapes, got {shape}",
            AssertionError,
        )
    for index, one in enumerate(shapes):
        weight, gradient = _random(one, w_stype, dtype), _random(one, g_stype, dtype)
        steps = [
            _step(opt, index, weight.copy(), gradient.copy()) for opt in (opt1, opt2)
        ]
        (weight1, before1, after1), (weight2, before2, after2) = steps
        if compare_states:
            compare_ndarray_tuple(before1, before2)
            compare_ndarray_tuple(after1, after2, rtol=rtol, atol=atol)
        assert_almost_equal(weight1, weight2, rtol=rtol, atol=atol)


def _random(shape: tuple[int, ...], stype: str, dtype: Any) -> NDArray:
    if stype == "default":
        return array(np.asarray(random_arrays(tuple(shape))), dtype=dtype)
    if stype not in ("row_sparse", "csr"):
        raise refusal(
            "test_utils/optimizer", f"type not supported yet: {stype!r}; use default, row_sparse or csr", ValueError
        )
    return rand_ndarray(tuple(shape), stype, density=1, dtype=dtype)


def _step(opt: Optimizer, index: int, weight: NDArray, gradient: NDArray) -> tuple[NDArray, Any, Any]:
    """The weight after one step, and the state before and after it."""
    state = opt.create_state_multi_precision(index, weight)
    before = _copied(state)
    opt.update_multi_precision(index, weight, gradient, state)
    return weight, before, state


def _copied(state: Any) -> Any:
    if isinstance(state, tuple):
        return tuple(_copied(part) for part in state)
    return None if state is None else state.copy()
