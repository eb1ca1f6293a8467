"""_cvimresize against recorded results of MXNet 1.9.1, and what it refuses."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

import refimpl as mx

# import mxnet as mx, numpy as np, zlib, then the function ``checksum`` below as it stands;
# [(kind, interp, checksum(1, kind, interp, 25)) for ...]: the same on mx 1.9.1.
FEW = [
    ("uint8", 0, 2064920027), ("uint8", 1, 3979980661), ("int8", 0, 2064920027), ("int32", 0, 1452886776),
    ("float32", 0, 687770374), ("float32", 1, 218130313), ("float64", 0, 3337599532), ("float64", 1, 2485086653),
    ("uint8", 2, 2204860213), ("uint8", 3, 1717248411), ("uint8", 4, 1970387289),
    ("float32", 2, 927045646), ("float32", 3, 2137789454), ("float32", 4, 2812573333),
    ("float64", 2, 2736335811), ("float64", 3, 1933319858), ("float64", 4, 1835350776),
]
# checksum(2, kind, interp, draws)
MANY = [
    ("uint8", 0, 2500, 2949727948), ("uint8", 1, 2500, 3332354034), ("int8", 0, 500, 3138043441),
    ("int32", 0, 500, 1732207035), ("float32", 0, 500, 3655238581), ("float32", 1, 500, 2453849622),
    ("float64", 0, 500, 3373520663), ("float64", 1, 500, 2058645934),
    ("uint8", 2, 300, 75090439), ("uint8", 3, 300, 533114319), ("uint8", 4, 300, 1232477991),
    ("float32", 2, 300, 1386288485), ("float32", 3, 300, 806292177), ("float32", 4, 300, 3105225582),
    ("float64", 2, 300, 2817132201), ("float64", 3, 300, 2990051637), ("float64", 4, 300, 1372821913),
]


def checksum(seed: int, kind: str, interp: int, draws: int) -> int:
    """The CRC of pictures of drawn sizes in drawn sizes; nearest bytes without channels that MXNet copies wrong."""
    rng, total = np.random.RandomState(seed), 0
    few = kind in ("uint8", "int8") and interp == 0
    for n in range(draws):
        high, wide, h, w = (int(side) for side in rng.randint(1, 40, 4))
        shapes = [(high, wide), (2 * h, 2 * w), (2 * h, wide), (high, 2 * w), (h, w)]
        high, wide = shapes[n % 8 if n % 8 < 5 else 0]
        if interp == 3 and n % 8 in (3, 6, 7):
            high, wide = (h * 2, w * 3) if n % 2 else (h + int(rng.randint(9)), w + 7)
        kinds = [1, 2, 3, 4, 6, 8, 12] if few else [1, 2, 3, 4] if interp == 3 else [1, 2, 3, 4, 5, 7, 9, 16]
        channels = int(rng.choice(kinds))
        numbers = rng.randint(0, 2**24, (high, wide, channels))
        picture = (numbers / 2**16 - 128 if kind[0] == "f" else numbers >> 16).astype(kind)
        out = mx.nd._internal._cvimresize(mx.nd.array(picture, dtype=kind), w=w, h=h, interp=interp)
        total = zlib.crc32(out.asnumpy().tobytes(), total)
    return total


@pytest.mark.clause(
    "_cvimresize/nearest", "_cvimresize/linear", "_cvimresize/bytes", "_cvimresize/half", "_cvimresize/cubic",
    "_cvimresize/area", "_cvimresize/lanczos",
)
@pytest.mark.parametrize("kind, interp, wanted", FEW)
def test_sizes_are_those_of_mxnet(kind: str, interp: int, wanted: int) -> None:
    assert checksum(1, kind, interp, 25) == wanted


@pytest.mark.long
@pytest.mark.clause(
    "_cvimresize/nearest", "_cvimresize/linear", "_cvimresize/bytes", "_cvimresize/half", "_cvimresize/cubic",
    "_cvimresize/area", "_cvimresize/lanczos",
)
@pytest.mark.parametrize("kind, interp, draws, wanted", MANY)
def test_many_sizes_are_those_of_mxnet(kind: str, interp: int, draws: int, wanted: int) -> None:
    assert checksum(2, kind, interp, draws) == wanted


@pytest.mark.clause("_cvimresize/nearest")
def test_a_pixel_of_five_bytes_stays_whole() -> None:
    picture = mx.nd.array([[[1, 2, 3, 4, 5]]], dtype="uint8")
    out = mx.nd._internal._cvimresize(picture, 2, 1, 0)
    assert out.asnumpy().tolist() == [[[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]]]


def refused(shape: tuple[int, ...], kind: str, **params: int) -> str:
    with pytest.raises(mx.MXNetError) as caught:
        mx.nd._internal._cvimresize(mx.nd.zeros(shape, dtype=kind), **{"w": 2, "h": 2, **params})
    return str(caught.value.clause)


@pytest.mark.clause("_cvimresize/interp")
@pytest.mark.parametrize("interp", [-1, 5, 6, 7, 9, 10])
def test_other_methods_are_refused(interp: int) -> None:
    assert refused((3, 3, 3), "uint8", interp=interp) == "_cvimresize/interp"


@pytest.mark.clause("_cvimresize/types")
@pytest.mark.parametrize("kind, interp", [("float16", 0), ("int64", 0), ("int8", 1), ("int32", 1)])
def test_other_types_are_refused(kind: str, interp: int) -> None:
    assert refused((3, 3, 3), kind, interp=interp) == "_cvimresize/types"


@pytest.mark.clause("_cvimresize/types")
def test_inference_refuses_other_types() -> None:
    with pytest.raises(mx.MXNetError) as caught:
        mx.sym._internal._cvimresize(mx.sym.Variable("src"), w=2, h=2).infer_type(src="float16")
    assert caught.value.clause == "_cvimresize/types"


@pytest.mark.clause("_cvimresize/shape")
@pytest.mark.parametrize("shape", [(3, 3), (1, 3, 3, 3), (0, 3, 3), (3, 3, 0), (3, 3, 513)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    assert refused(shape, "uint8") == "_cvimresize/shape"


@pytest.mark.clause("_cvimresize/gradient")
def test_there_is_no_gradient() -> None:
    with pytest.raises(mx.MXNetError) as caught:
        mx.kernels.grad("_cvimresize", [[[1]]], w=2, h=2)
    assert caught.value.clause == "harness/gradient"


@pytest.mark.clause("_cvimresize/shape")
def test_the_output_tells_the_channels() -> None:
    net = mx.sym._internal._cvimresize(mx.sym.Variable("src"), w=4, h=2)
    assert net.infer_shape(src=(5, 7, 3))[1] == [(2, 4, 3)]
