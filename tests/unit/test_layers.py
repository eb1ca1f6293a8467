"""Layer operators: values recorded from MXNet 1.9.1 for clauses that no example can show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from refimpl.kernels import grad
from refimpl.kernels.foundation.harness import Call


def single(*values: Any) -> list[np.ndarray]:
    return [np.array(v, np.float32) for v in values]


@pytest.mark.clause("BatchNorm/moving-average")
@pytest.mark.parametrize(
    ("params", "steps", "mean", "variance"),
    [
        # x = [[[1, 2], [3, 6]], [[5, 4], [7, 0]]], moving (1, 2), (4, 9); fix_gamma=False, backward
        # `steps` times, waitall, print moving_mean and moving_var
        ({}, 0, [1, 2], [4, 9]),
        ({}, 1, [1.2, 2.2], [3.85, 8.85]),
        ({"use_global_stats": True}, 1, [1, 2], [4, 9]),
        ({"axis": 2}, 1, [1.3, 2.1], [4.1, 8.6]),
        ({"axis": 0}, 1, [1.2, 2.2], [3.95, 8.75]),
        ({"momentum": 0.5}, 2, [2.5, 3.5], [2.875, 7.875]),  # 4 -> 3.25 -> 2.875 towards 2.5
    ],
)
def test_moving_average(params: dict, steps: int, mean: list, variance: list) -> None:
    data = [[[1, 2], [3, 6]], [[5, 4], [7, 0]]]
    call = Call("BatchNorm", single(data, [2, 3], [10, 20], [1, 2], [4, 9]), {"fix_gamma": False, **params})
    call.forward(is_train=True)
    np.testing.assert_array_equal(call.ins[3].to_numpy(), [1, 2])
    for _ in range(steps):
        call.backward(is_train=True)
    np.testing.assert_allclose(call.ins[3].to_numpy(), mean, rtol=1e-6)
    np.testing.assert_allclose(call.ins[4].to_numpy(), variance, rtol=2e-6)


@pytest.mark.clause("BatchNorm/moving-average")
def test_evaluation_does_not_move() -> None:
    call = Call("BatchNorm", single([[1, 2], [3, 6]], [1, 1], [0, 0], [1, 2], [4, 9]), {})
    call.forward(is_train=False)
    call.backward(is_train=False)
    assert call.ins[3].to_numpy().tolist() == [1, 2]
    assert call.ins[4].to_numpy().tolist() == [4, 9]


@pytest.mark.clause("BatchNorm/fix-gamma")
def test_fixed_gamma_is_set_in_its_array() -> None:
    call = Call("BatchNorm", single([[1, 2], [3, 6]], [5, 7], [0, 0], [0, 0], [1, 1]), {})
    call.forward(is_train=True)
    assert call.ins[1].to_numpy().tolist() == [1, 1]


@pytest.mark.clause("BatchNorm/gradient")
def test_batch_norm_gradient_in_training() -> None:
    # head [[[1, 0], [0, 2]], [[0, 3], [1, 1]]], gamma (2, 3), fix_gamma=False, float64
    data = np.array([[[1, 2], [3, 6]], [[5, 4], [7, 0]]], np.float64)
    vectors = [np.array(v, np.float64) for v in ([2, 3], [10, 20], [1, 2], [4, 9])]
    call = Call("BatchNorm", [data, *vectors], {"fix_gamma": False})
    call.forward(is_train=True)
    head = np.array([[[1, 0], [0, 2]], [[0, 3], [1, 1]]], np.float64)
    d_data, d_gamma, d_beta, *_ = call.backward([head], is_train=True)
    assert d_data is not None
    np.testing.assert_allclose(d_data, [
        [[0.2528304993378422, -1.138242908042983], [-0.9858494863860778, 0.8763268801374693]],
        [[-1.5174886570497463, 2.402901065754887], [-0.3285678187458257, 0.43809042499443424]],
    ], rtol=1e-12)  # fmt: skip
    np.testing.assert_allclose(d_gamma, [0.632329078855952, 1.0953720926346864], rtol=1e-12)
    np.testing.assert_array_equal(d_beta, [4, 4])


@pytest.mark.clause("LeakyReLU/parameters")
def test_slope_is_single_precision() -> None:
    out = Call("LeakyReLU", [np.array([-1.0])], {"slope": 0.1}).forward()[0]
    assert out[0] == -float(np.float32(0.1))


@pytest.mark.clause("LeakyReLU/gamma-sum")
def test_gamma_gradient_is_summed_in_double_precision() -> None:
    # -1e8 - 1 + 1e8: in single precision the 1 is lost
    call = Call("LeakyReLU", single([[-1, -1, -1]], [0.5]), {"act_type": "prelu"})
    call.forward()
    assert call.backward(single([[1e8, 1, -1e8]]))[1].tolist() == [-1]  # type: ignore[union-attr]  # wanted


@pytest.mark.clause("Pooling/sum-order")
def test_windows_are_summed_in_double_precision() -> None:
    call = Call("Pooling", single([[[1e8, 1, -1e8]]]), {"kernel": (3,), "pool_type": "sum"})
    assert call.forward()[0].tolist() == [[[1.0]]]


@pytest.mark.clause("Pooling/convention")
@pytest.mark.parametrize(
    ("convention", "counts"),
    # floor and ceiling of side / 2 for sides 4, 5, 7, 8
    [("valid", [2, 2, 3, 4]), ("full", [2, 3, 4, 4]), ("same", [2, 3, 4, 4])],
)
def test_counts_of_windows(convention: str, counts: list[int]) -> None:
    params = {"kernel": (2,), "stride": (2,), "pooling_convention": convention}
    shapes = [Call("Pooling", single(np.zeros((1, 1, n))), params).shapes[0] for n in (4, 5, 7, 8)]
    assert [shape[2] for shape in shapes] == counts


def test_pairs_equal_the_general_windows() -> None:
    """Windows of 2 x 2 side by side have loops of their own; a third axis forces the general ones."""
    values = np.random.default_rng(3)
    for height, width in ((2, 2), (4, 6), (5, 3), (7, 8)):
        data = values.integers(-2, 3, (2, 2, height, width)).astype(np.float32)
        data[values.random(data.shape) < 0.2] = np.nan
        data[values.random(data.shape) < 0.2] = -np.inf
        flat = Call("Pooling", [data], {"kernel": (2, 2), "stride": (2, 2)})
        deep = Call("Pooling", [data[:, :, None]], {"kernel": (1, 2, 2), "stride": (1, 2, 2)})
        out, general = flat.forward()[0], deep.forward()[0]
        np.testing.assert_array_equal(out, general[:, :, 0])
        head = np.arange(1, out.size + 1).reshape(out.shape).astype(np.float32)
        d_flat, d_deep = flat.backward([head])[0], deep.backward([head[:, :, None]])[0]
        np.testing.assert_array_equal(d_flat, d_deep[:, :, 0])  # type: ignore[index]  # wanted


@pytest.mark.clause("sgd/order")
@pytest.mark.parametrize(
    ("params", "weight", "mom"),
    [
        # w, g, m = nd.array([0.1, 0.3]), nd.array([0.7, -0.9]), nd.array([0.2, -0.4]);
        # sgd_mom_update(w, g, m, lr=0.1, wd=0.01, momentum=0.9, rescale_grad=1/3, **params, out=w)
        (
            {}, ["0x1.06b9680000000p-2", "-0x1.f06f400000000p-6"],
            ["0x1.40a6040000000p-3", "-0x1.523a280000000p-2"],
        ),
        (
            {"clip_gradient": 0.25}, ["0x1.06b9680000000p-2", "-0x1.212d600000000p-5"],
            ["0x1.40a6040000000p-3", "-0x1.5758e00000000p-2"],
        ),
    ],
)
def test_bits_of_a_momentum_step(params: dict, weight: list, mom: list) -> None:
    call = Call("sgd_mom_update", single([0.1, 0.3], [0.7, -0.9], [0.2, -0.4]),
                {"lr": 0.1, "wd": 0.01, "momentum": 0.9, "rescale_grad": 1 / 3, **params})  # fmt: skip
    assert [float(v).hex() for v in call.forward()[0]] == weight
    assert [float(v).hex() for v in call.ins[2].to_numpy()] == mom


@pytest.mark.clause("sgd/master")
def test_master_copy() -> None:
    # mp_sgd_mom_update(float16 [1, 2], float16 [0.1, -0.1], float32 zeros, float32 [1.0001, 2.0001], lr=0.5)
    half = [np.array(v, np.float16) for v in ([1, 2], [0.1, -0.1])]
    call = Call("mp_sgd_mom_update", [*half, *single([0, 0], [1.0001, 2.0001])], {"lr": 0.5})
    out = call.forward()[0]
    assert out.dtype == np.float16
    assert out.tolist() == [0.9501953125, 2.05078125]
    assert call.ins[3].to_numpy().tolist() == [0.9501122236251831, 2.0500876903533936]
    assert call.ins[2].to_numpy().tolist() == [-0.04998779296875, 0.04998779296875]


@pytest.mark.clause("sgd/output")
def test_the_weight_is_left_alone() -> None:
    call = Call("sgd_update", single([1, 2], [1, 1]), {"lr": 0.5})
    assert call.forward()[0].tolist() == [0.5, 1.5]
    assert call.ins[0].to_numpy().tolist() == [1, 2]


@pytest.mark.clause("LeakyReLU/selu-slope")
def test_selu_slope_is_the_derivative() -> None:
    # d/dx 1.0507009873554805 * 1.6732632423543772 * (e^x - 1) at -2, by hand: 1.7580993408473766 * e^-2
    assert grad("LeakyReLU", [-2.0], act_type="selu", dtype=np.float64) == [0.237933]
