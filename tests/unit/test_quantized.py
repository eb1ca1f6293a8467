"""Operators on quantized numbers against MXNet 1.9.1, bit for bit.

Expected are a checksum (``zlib.crc32`` of the bytes) of each array of several elements, and the number of an array of
one. MXNet was asked by the same calls with ``import mxnet as mx`` (Linux x86-64 with AVX-512, numpy 1.23.5), the
product in a bound symbol.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import refimpl as mx

CONTRIB = mx.nd.contrib


def ramp(count: int, step: int, kind: str) -> np.ndarray:
    numbers = np.arange(count) * step % 256
    return numbers.astype("uint8") if kind == "uint8" else (numbers - 128).astype("int8")


def real(count: int) -> np.ndarray:
    return ((np.arange(count) * 37 % 401 - 200) / np.float32(64)).astype("float32")


def array(values: np.ndarray) -> mx.nd.NDArray:
    return mx.nd.array(values, dtype=values.dtype)


def ends(*numbers: float) -> list[mx.nd.NDArray]:
    return [mx.nd.array([number]) for number in numbers]


SIGNED, COUNTED = ramp(4096, 37, "int8"), ramp(4096, 53, "uint8")
I8, U8, BACK, REAL = array(SIGNED), array(COUNTED), array(SIGNED[::-1].copy()), array(real(4096))
WHOLE = array((np.arange(4096) * 7919 % 200003 - 100001).astype("int32"))
ONE, TWO, THREE = ends(-1.7, 2.3), ends(-1.7, 2.3, -0.7, 5), ends(-1.7, 2.3, -0.7, 5, -0.3, 0.2)
STATISTICS = [array(real(8) + np.float32(k)) for k in (0, 1, 2)] + [array(abs(real(8)) + np.float32(0.1))]
IMAGES = {"kernel": (3, 3), "num_filter": 5, "pad": (1, 1), "stride": (2, 1)}
MEANS = {
    "kernel": (3, 2), "stride": (2, 2), "pad": (1, 0), "pool_type": "avg", "pooling_convention": "full",
}
CALIBRATED = {"min_calib_range": -6.0, "max_calib_range": 4.0}
SMALL, LARGE = 1.7000000476837158, 2.299999952316284

CALLS: list[tuple[str, list[Any], dict[str, Any], list[Any]]] = [
    ("quantize", [REAL, *ONE], {"out_type": "int8"}, [2415997617, -LARGE, LARGE]),
    ("quantize", [REAL, *ONE], {"out_type": "uint8"}, [998647341, -SMALL, LARGE]),
    ("quantize_v2", [REAL], {}, [2600346548, -3.125, 3.125]),
    (
        "quantize_v2", [REAL], {"out_type": "auto", "min_calib_range": 0.0, "max_calib_range": 2.3},
        [3919838154, 0.0, LARGE],
    ),
    ("dequantize", [I8, *ONE], {}, [48975541]),
    ("dequantize", [U8, *ONE], {}, [1627088614]),
    ("requantize", [WHOLE, *ONE], {}, [4034191749, -0.00010710316564654931, 0.00010710316564654931]),
    (
        "requantize", [WHOLE, *ONE], {"out_type": "uint8", "min_calib_range": -3e-5, "max_calib_range": 7e-5},
        [1505983930, 0.0, 7.000000186963007e-05],
    ),
    (
        "quantized_concat", [I8.reshape((64, 64)), U8.reshape((64, 64)), *TWO], {"num_args": 2},
        [2218305497, -SMALL, 5.0],
    ),
    ("quantized_elemwise_add", [I8, BACK, *TWO], {}, [1432453452, -7.300000190734863, 7.300000190734863]),
    ("quantized_elemwise_add", [U8, I8, *TWO], CALIBRATED, [1395918566, -6.0, 4.0]),
    ("quantized_elemwise_mul", [I8, BACK, *TWO], {}, [1574061747, -1531158.875, 1531158.875]),
    ("quantized_elemwise_mul", [I8, BACK, *TWO], {"enable_float_output": True}, [153895669]),
    ("quantized_elemwise_mul", [I8, BACK, *TWO], CALIBRATED, [1183326423, -6.0, 4.0]),
    (
        "quantized_fully_connected",
        [U8.reshape((64, 64)), array(SIGNED[:1280].reshape(20, 64)), array(SIGNED[:20]), *THREE], {"num_hidden": 20},
        [1125908054, -762577.1875, 762577.1875],
    ),
    (
        "quantized_conv",
        [
            array(COUNTED[:1350].reshape(2, 3, 15, 15)), array(SIGNED[:135].reshape(5, 3, 3, 3)), array(SIGNED[:5]),
            *THREE,
        ],
        IMAGES, [3341985999, -1531158.875, 1531158.875],
    ),
    ("quantized_pooling", [I8.reshape((2, 8, 16, 16)), *ONE], MEANS, [2845222216, -SMALL, LARGE]),
    ("quantized_pooling", [U8.reshape((2, 2, 4, 16, 16)), *ONE], {"kernel": (2, 2, 3)}, [1142557103, -SMALL, LARGE]),
    ("quantized_batch_norm", [I8.reshape((2, 8, 16, 16)), *STATISTICS, *ONE], CALIBRATED, [4042816706, -6.0, 4.0]),
    (
        "quantized_batch_norm", [U8.reshape((2, 8, 16, 16)), *STATISTICS, *ONE], {**CALIBRATED, "eps": 1e-5},
        [3119156914, -6.0, 4.0],
    ),
    (
        "quantized_embedding",
        [array((np.arange(99) * 7 % 13 - 1).astype("float32")), array(SIGNED[:40].reshape(10, 4)), *ONE],
        {"input_dim": 10, "output_dim": 4}, [3661768566, -SMALL, LARGE],
    ),
]


def seen(result: Any) -> list[Any]:
    arrays = [out.asnumpy() for out in (result if isinstance(result, list) else [result])]
    return [zlib.crc32(out.tobytes()) if out.size > 1 else float(out[0]) for out in arrays]


@pytest.mark.clause(
    "quantize/range", "quantized_elementwise/range", "quantized_layers/range", "quantized_layout/range"
)
@pytest.mark.parametrize(("name", "inputs", "params", "wanted"), CALLS)
def test_recorded_results(name: str, inputs: list[Any], params: dict[str, Any], wanted: list[Any]) -> None:
    assert seen(getattr(CONTRIB, name)(*inputs, **params)) == wanted


@pytest.mark.clause("_contrib_quantized_elemwise_add/value", "_contrib_quantized_batch_norm/value")
def test_halves_after_rounded_factors() -> None:
    # MXNet 1.9.1: the calls below on mx.nd; exact factors would give 72.5, -36.5, -90.5 and -82.5
    left, right = ends(-1, 1), ends(-1.75, 1)
    found = CONTRIB.quantized_elemwise_add(
        array(np.int8([-127, 79, 123])), array(np.int8([114, -66, -122])), *left, *right, min_calib_range=0,
        max_calib_range=1,
    )
    assert found[0].asnumpy().tolist() == [73, -37, -91]
    statistics = [mx.nd.array([value]) for value in (-1.75, 1.5, 0, 1)]
    found = CONTRIB.quantized_batch_norm(
        array(np.uint8([[[[199]]]])), *statistics, *ends(-1, 2), eps=0.1, min_calib_range=-1.5, max_calib_range=1
    )
    assert found[0].asnumpy().tolist() == [[[[-83]]]]


@pytest.mark.clause("_contrib_quantized_concat/value", "quantized_layout/range")
def test_range_of_a_concatenation_has_zero_in_it() -> None:
    # MXNet 1.9.1: mx.nd.contrib.quantized_concat(x, lo, hi, num_args=1, dim=0), x uint8 [144, 4]
    for low, high, wanted in ((1.75, 1, [[252, 7], 0, 1]), (-2, -1, [[144, 4], -2, 0])):
        found = CONTRIB.quantized_concat(array(np.uint8([144, 4])), *ends(low, high), num_args=1, dim=0)
        assert [found[0].asnumpy().tolist(), found[1].asscalar(), found[2].asscalar()] == wanted


def test_special_values() -> None:
    # MXNet 1.9.1: nd.contrib.quantize(nd.array([nan, inf, -inf]), nd.array([-1]), nd.array([1]), out_type=...)
    given = mx.nd.array([np.nan, np.inf, -np.inf])
    for kind, wanted in (("int8", [127, 127, -128]), ("uint8", [0, 255, 0])):
        assert CONTRIB.quantize(given, *ends(-1, 1), out_type=kind)[0].asnumpy().tolist() == wanted
    # nd.contrib.quantize_v2(nd.array([nan, 1, -2])), and of zeros and of NaN alone
    for values, wanted, end in (([np.nan, 1, -2], [127, 64, -128], 2), ([0, 0], [127, 127], 0)):
        out, low, high = CONTRIB.quantize_v2(mx.nd.array(values))
        assert (out.asnumpy().tolist(), low.asscalar(), high.asscalar()) == (wanted, -end, end)
    out, low, high = CONTRIB.quantize_v2(mx.nd.array([np.nan, np.nan]))
    assert out.asnumpy().tolist() == [127, 127]
    assert high.asscalar() == -low.asscalar() == np.finfo("float32").max


@pytest.mark.clause("_contrib_calibrate_entropy/sum-order")
def test_threshold_of_a_histogram() -> None:
    bins = np.arange(255)
    hist = (bins * 7919 % 101 * (np.exp(-(((bins - 127) / 30.0) ** 2)) * 50)).astype("int64").astype("float32")
    edges = np.linspace(-1, 1, 256).astype("float32")
    found = CONTRIB.calibrate_entropy(array(hist), array(edges), num_quantized_bins=31)
    # MXNet 1.9.1: [0.529411792755127, 0.16735894978046417]; its divergence is within ten last places
    threshold, divergence = (out.asscalar() for out in found)
    assert threshold == np.float32(0.529411792755127)
    assert abs(divergence - np.float32(0.16735894978046417)) <= 10 * np.spacing(np.float32(0.16735894978046417))


def test_a_pipeline_as_a_symbol() -> None:
    # MXNet 1.9.1, sym.contrib: the same net, bound to the same arrays, gives these numbers
    data, weight = mx.sym.Variable("data"), mx.sym.Variable("weight")
    q, low, high = mx.sym.contrib.quantize_v2(data, min_calib_range=-2.0, max_calib_range=2.0)
    w, w_low, w_high = mx.sym.contrib.quantize_v2(weight)
    layer = mx.sym.contrib.quantized_fully_connected(
        data=q, weight=w, min_data=low, max_data=high, min_weight=w_low, max_weight=w_high, num_hidden=2, no_bias=True,
    )
    net = mx.sym.contrib.dequantize(*mx.sym.contrib.requantize(*layer))
    assert net.list_arguments() == ["data", "weight"]
    bound = net.bind(
        mx.cpu(), {"data": mx.nd.array([[1, -2, 0.5]]), "weight": mx.nd.array([[1, 2, 3], [-1, 0.25, 4]])},
    )
    assert bound.forward()[0].asnumpy().tolist() == [[-1.5177396535873413, 0.48997893929481506]]


LOW, HIGH = ends(-1, 1)
ZERO = {
    "quantize": lambda low: CONTRIB.quantize(REAL, low, HIGH),
    "flatten": lambda low: CONTRIB.quantized_flatten(I8.reshape((64, 64)), low, HIGH),
    "pooling": lambda low: CONTRIB.quantized_pooling(I8.reshape((1, 1, 64, 64)), low, HIGH, kernel=(2, 2)),
    "layer": lambda low: CONTRIB.quantized_batch_norm(
        I8.reshape((2, 8, 16, 16)), *STATISTICS, low, HIGH, **CALIBRATED
    ),
}
REFUSED = {
    "act": lambda low: CONTRIB.quantized_act(I8, low, HIGH, act_type="relu"),
    "add": lambda low: CONTRIB.quantized_elemwise_add(I8, BACK, low, HIGH, LOW, HIGH),
    "entropy": lambda low: CONTRIB.calibrate_entropy(mx.nd.ones(1) * low, ends(1)[0].tile(2), num_quantized_bins=1),
}


@pytest.mark.clause("quantize/gradient", "quantized_layers/gradient", "_contrib_quantized_pooling/gradient")
@pytest.mark.parametrize("call", ZERO.values(), ids=ZERO)
def test_gradients_are_zero(call: Any) -> None:
    # MXNet 1.9.1: the gradient of the range is [0.]
    low = mx.nd.array([-1])
    low.attach_grad()
    with mx.autograd.record():
        out = call(low)[0]
    out.backward()
    assert low.grad.asnumpy().tolist() == [0]


@pytest.mark.clause(
    "quantized_elementwise/gradient", "_contrib_quantized_act/gradient", "_contrib_calibrate_entropy/gradient"
)
@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_gradients_are_refused(call: Any) -> None:
    # MXNet 1.9.1: "is non-differentiable because it didn't register FGradient attribute"
    low = mx.nd.array([-1])
    low.attach_grad()
    with mx.autograd.record():
        out = call(low)[0]
    with pytest.raises(mx.MXNetError, match="gradient"):
        out.backward()


def test_an_unknown_type_is_refused_before_a_loop_reads_it() -> None:
    net = mx.sym.contrib.dequantize(*[mx.sym.Variable(name) for name in "abc"])
    with pytest.raises((mx.MXNetError, RuntimeError)):
        net.simple_bind(mx.cpu(), a=(2,), b=(1,), c=(1,))
    bound = net.simple_bind(mx.cpu(), a=(2,), b=(1,), c=(1,), type_dict={"a": "int8"})
    assert bound.arg_dict["a"].dtype == np.int8
