"""Two optimizers side by side: a step from the same weight must lead to the same place."""

from __future__ import annotations

from typing import Any

from ..base import decides, refusal
from ..ndarray import NDArray, random
from ..optimizer import Optimizer
from .compare import assert_almost_equal, compare_ndarray_tuple
from .sparse_arrays import rand_ndarray


@decides("test_utils/optimizer", "test_utils/optimizer-lists")
def compare_optimizer(
    opt1: Optimizer, opt2: Optimizer, shape: Any, dtype: Any, w_stype: str = "default",
    g_stype: str = "default", rtol: float = 1e-4, atol: float = 1e-5, compare_states: bool = True,
    ntensors: int = 1,
) -> None:
    """Demand that one step of two optimizers gives equal weights and states.

    Args:
        opt1: the first optimizer, which steps one weight after the other, on dense copies.
        opt2: the second, which gets arrays of the storage types given, and several weights in one call.
        shape: shape of the weight, or a list of ``ntensors`` shapes, whose arrays are dense.
        dtype: type of the weight.
        w_stype, g_stype: storage types of weight and gradient: default, row_sparse, csr.
        rtol, atol: tolerances.
        compare_states: whether states are compared; one that only one of the two has is not.
        ntensors: number of weights.

    Dense arrays are drawn uniformly from [0, 1), from ``mx.random``; sparse weights have all elements stored,
    sparse gradients a random share.

    Raises:
        AssertionError: they differ, or there are not ``ntensors`` shapes.
        ValueError: a storage type is unknown.
    """
    for stype in (w_stype, g_stype):
        if stype not in ("default", "row_sparse", "csr"):
            raise refusal(
                "test_utils/optimizer", f"stype is default, row_sparse or csr, not {stype!r}", ValueError
            )
    if ntensors == 1 and not (isinstance(shape, list) and _are_shapes(shape)):
        weight, gradient = _random(shape, w_stype, dtype, 1), _random(shape, g_stype, dtype, None)
        dense, dense_gradient = _dense(weight), _dense(gradient)
        state1 = opt1.create_state_multi_precision(0, dense)
        state2 = opt2.create_state_multi_precision(0, weight)
        if compare_states:
            compare_ndarray_tuple(state1, state2)
        opt1.update_multi_precision(0, dense, dense_gradient, state1)
        opt2.update_multi_precision(0, weight, gradient, state2)
        _compare(dense, weight, state1, state2, rtol, atol, compare_states)
        return
    if not isinstance(shape, (list, tuple)) or not _are_shapes(shape) or len(shape) != ntensors:
        raise refusal(
            "test_utils/optimizer", f"{ntensors} weights need a list of {ntensors} shapes, got {shape}",
            AssertionError,
        )
    drawn = [(_uniform(one, dtype), _uniform(one, dtype)) for one in shape]
    weights, gradients = zip(*drawn, strict=True)
    copies = [(weight.copy(), gradient.copy()) for weight, gradient in drawn]
    states = [opt2.create_state_multi_precision(index, weight) for index, weight in enumerate(weights)]
    opt2.update_multi_precision(list(range(ntensors)), weights, gradients, states)  # type: ignore[arg-type]
    for index, (weight, gradient) in enumerate(copies):
        state = opt1.create_state_multi_precision(index, weight)
        opt1.update_multi_precision(index, weight, gradient, state)
        _compare(weight, weights[index], state, states[index], rtol, atol, compare_states)


def _are_shapes(shapes: Any) -> bool:
    return all(isinstance(one, (tuple, list)) for one in shapes)


def _compare(
    weight1: NDArray, weight2: NDArray, state1: Any, state2: Any, rtol: float, atol: float, compare_states: bool,
) -> None:
    if compare_states:
        compare_ndarray_tuple(state1, state2, rtol=rtol, atol=atol)
    assert_almost_equal(weight1, weight2, rtol=rtol, atol=atol)


def _random(shape: Any, stype: str, dtype: Any, density: float | None) -> NDArray:
    return _uniform(shape, dtype) if stype == "default" else rand_ndarray(tuple(shape), stype, density, dtype)


def _uniform(shape: Any, dtype: Any) -> NDArray:
    return random.uniform(shape=tuple(shape), dtype=dtype)


def _dense(array: NDArray) -> NDArray:
    """A dense copy."""
    return array.tostype("default") if array.stype != "default" else array.copy()
