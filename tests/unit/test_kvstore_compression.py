"""2-bit compression: MXNet's numbers, the laws of the residual, words on the wire, and every refusal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import refimpl as mx
from refimpl import ndarray as nd
from refimpl.kvstore.compression import TwoBit

SENT = [1.0, -0.6, 0.2, -0.3]
clause = pytest.mark.clause


def a(values, device: int = 0, dtype: str = "float32"):
    return nd.array(values, ctx=mx.cpu(device), dtype=dtype)


def store(threshold: float | None = 0.5, size: int = 4, dtype: str = "float32"):
    made = mx.kv.create("device")
    if threshold is not None:
        made.set_gradient_compression({"type": "2bit", "threshold": threshold})
    made.init(0, nd.zeros(size, dtype=dtype))
    return made


def pushed(kv, *arrays, size: int = 4) -> list:
    kv.push(0, [a(values, device) for device, values in enumerate(arrays)])
    out = nd.zeros(size)
    kv.pull(0, out=out)
    return out.asnumpy().tolist()


# --- the store -----------------------------------------------------------------------------------

# MXNet 1.9.1: kv.create("device"), set_gradient_compression({"type": "2bit", "threshold": .5}), init(0, zeros),
# then push(0, [nd.array(...) on cpu(0), cpu(1) ...]) and pull, several times
PROGRAMS = [
    ([[SENT]] * 4, [[0.5, -0.5, 0, 0], [0.5, -0.5, 0, -0.5], [0.5, -0.5, 0.5, 0], [0.5, -0.5, 0, -0.5]]),
    ([[SENT, SENT]] * 4, [[1, -1, 0, 0], [1, -1, 0, -1], [1, -1, 1, 0], [1, -1, 0, -1]]),
    # fewer arrays, then more again: each has a residual of its own
    ([[SENT, [0.3] * 4], [SENT], [SENT, [0.3] * 4]], [[0.5, -0.5, 0, 0], [0.5, -0.5, 0, -0.5], [1, 0, 1, 0.5]]),
    # the threshold itself, the float32 number below it, what is beyond all numbers, and NaN, which stays
    ([[[0.5, -0.5, 0.49999997, -0.49999997]], [[10, -10, np.inf, np.nan]], [[0] * 4], [[0] * 4]],
     [[0.5, -0.5, 0, 0], [0.5, -0.5, 0.5, 0], [0.5, -0.5, 0.5, 0], [0.5, -0.5, 0.5, 0]]),
]


@clause("KVStore/compression", "KVStore/compression-residual")
@pytest.mark.parametrize(("program", "expected"), PROGRAMS)
def test_programs_of_mxnet(program, expected) -> None:
    kv = store()
    assert [pushed(kv, *arrays) for arrays in program] == expected


@clause("KVStore/compression")
def test_order_of_addition() -> None:
    # MXNet 1.9.1: n arrays of 1 with threshold 0.1
    sums = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.70000005, 0.8000001, 0.9000001]
    for count, expected in enumerate(sums, 1):
        assert pushed(store(0.1, 1), *[[1.0]] * count, size=1) == [np.float32(expected)]


@clause("KVStore/compression-residual")
def test_each_array_of_a_call_has_its_residual() -> None:
    # MXNet 1.9.1: one key named twice in a call
    kv, found = store(), []
    for _ in range(2):
        kv.push([0, 0], [a(SENT), [a([0.3] * 4, 1)]])
        out = nd.zeros(4)
        kv.pull(0, out=out)
        found.append(out.asnumpy().tolist())
    assert found == [[0.5, -0.5, 0, 0], [1, 0, 0.5, 0]]


@clause("KVStore/compression-residual")
def test_residuals_outlive_a_new_threshold() -> None:
    # MXNet 1.9.1
    kv = store()
    assert pushed(kv, SENT, SENT) == [1, -1, 0, 0]
    kv.set_gradient_compression({"type": "2bit", "threshold": 1.0})
    assert [pushed(kv, SENT, SENT) for _ in range(4)] == [[2, 0, 0, 0], [2, -2, 0, 0], [2, 0, 0, -2], [2, -2, 2, 0]]


@clause("KVStore/compression-residual")
def test_other_arrays_begin_anew() -> None:
    kv, merged = store(), []
    kv.set_updater(lambda key, gradient, weight: merged.append(gradient.asnumpy().tolist()))  # takes any shape

    def sent(*gradients, dtype="float32") -> list:
        kv.push(0, [a(gradient, dtype=dtype) for gradient in gradients])
        return merged[-1]

    assert sent([0.4] * 4) == [0] * 4
    assert sent([0.4] * 3) == [0] * 3
    assert sent([0.4] * 3) == [0.5] * 3
    assert sent([0.4] * 4, [0.5] * 4) == [0.5] * 4
    assert sent([0.4] * 3) == [0] * 3
    sent([0.4] * 3, dtype="float64")  # nor is what is left of float32 added to float64
    assert sent([0.4] * 3) == [0] * 3
    sent([0.4] * 3, dtype="float16")  # but float16 gradients are float32 there
    assert sent([0.2] * 3) == [0] * 3
    assert sent([0.2] * 3) == [0.5] * 3


@clause("KVStore/compression")
def test_updaters_get_what_was_sent() -> None:
    # MXNet 1.9.1
    kv, merged = store(), []
    kv.set_updater(lambda key, gradient, weight: merged.append(gradient.asnumpy().tolist()))
    gradient = a(SENT)
    for _ in range(3):
        kv.push(0, gradient)
    assert merged == [[0.5, -0.5, 0, 0], [0.5, -0.5, 0, -0.5], [0.5, -0.5, 0.5, 0]]
    assert gradient.asnumpy().tolist() == [np.float32(v) for v in SENT]
    kv.set_optimizer(mx.optimizer.SGD(learning_rate=1, wd=0))
    assert pushed(kv, SENT) == [-0.5, 0.5, 0, 0.5]


@clause("KVStore/compression")
def test_a_module() -> None:
    # MXNet 1.9.1: the same module, fc_weight after each of four updates
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    net = mx.sym.LinearRegressionOutput(net, name="lro")
    module = mx.mod.Module(
        net, label_names=["lro_label"], context=[mx.cpu(0), mx.cpu(1)],
        compression_params={"type": "2bit", "threshold": 0.5},
    )
    module.bind([("data", (4, 2))], [("lro_label", (4, 2))])
    module.init_params(mx.init.One())
    module.init_optimizer("device", optimizer_params={"learning_rate": 0.125, "rescale_grad": 1.0})
    data, label = [[1, 2], [0, 1], [-1, 1], [0.5, 0.25]], [[0, 1], [1, 1], [2, 0], [1, 3]]
    batch = mx.io.DataBatch([a(data)], [a(label)])
    for corner, other in ((0.875, 0.9375), (0.75, 0.9375), (0.625, 0.875), (0.5, 0.875)):
        module.forward_backward(batch)
        module.update()
        weights = {name: value.asnumpy().tolist() for name, value in module.get_params()[0].items()}
        assert weights == {"fc_weight": [[corner, 1], [1, other]], "fc_bias": [0, 0]}


@clause("KVStore/compression")
def test_init_and_pull_are_whole() -> None:
    kv, out = store(size=1), [nd.zeros(4), nd.zeros(4)]
    kv.broadcast(1, a(SENT), out)
    assert out[1].asnumpy().tolist() == [np.float32(v) for v in SENT]
    kv.pushpull(1, [a(SENT), a(SENT, 1)], out)
    assert out[1].asnumpy().tolist() == [1, -1, 0, 0]
    kv.replace(1, a(SENT))
    kv.pull(1, out)
    assert out[0].asnumpy().tolist() == [np.float32(v) for v in SENT]


# --- the words -----------------------------------------------------------------------------------

floats = st.sampled_from(["float16", "float32", "float64"])
eighths = st.integers(-64, 64).map(lambda n: n / 8)  # sums of these are exact in all three types


@st.composite
def gradients(draw):
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=7))
    dtype = draw(floats)
    return [draw(hnp.arrays(dtype, shape, elements=eighths)) for _ in range(draw(st.integers(1, 4)))]


@clause("KVStore/compression", "KVStore/compression-type", "KVStore/compression-packed")
@given(gradients=gradients(), threshold=st.sampled_from([0.125, 0.5, 2.0, 7.0]))
def test_nothing_is_lost(gradients, threshold) -> None:
    """What arrived and what is left are all gradients so far; words hold +t, 0 and -t."""
    coder, left = TwoBit(threshold), None
    first, arrived = gradients[0], 0.0
    for count, gradient in enumerate(gradients, 1):
        before, kept = gradient.copy(), None if left is None else left.copy()
        packed, now = coder.encode(gradient, left)
        assert packed.dtype == np.uint32
        assert packed.shape == (-(-first.size // 16),)
        assert now.shape == first.shape
        assert now.dtype == (np.float32 if first.dtype == np.float16 else first.dtype)
        assert np.array_equal(gradient, before)
        assert left is None or np.array_equal(left, kept)
        values = coder.decode(packed, first.shape, first.dtype)
        assert values.dtype == first.dtype
        waiting = gradient.astype(float) + (0 if left is None else left)
        assert np.array_equal(values, threshold * (1.0 * (waiting >= threshold) - (waiting <= -threshold)))
        arrived, left = arrived + values.astype(float), now
        assert np.array_equal(arrived + left, np.sum([g.astype(float) for g in gradients[:count]], axis=0))


@clause("two-bit/layout", "KVStore/compression-packed")
def test_words_of_mxnet() -> None:
    # MXNet 1.9.1, a worker of dist_sync: the bytes found in its memory after these gradients were pushed
    signs = [1, -1, 0, -1, -1, -1, 0, 0, 1, 0, 0, 1, 0, 1, -1, -1, -1, 0, 1, -1, 1, 0]
    packed, _ = TwoBit(0.5).encode(np.array(signs, np.float32))
    assert packed.astype("<u4").tobytes().hex() == "e2a0c33a8ec00000"
    assert TwoBit(0.5).decode(packed, (2, 11)).tolist() == (np.reshape(signs, (2, 11)) / 2).tolist()


@clause("KVStore/compression-parameters")
def test_parameters() -> None:
    for given_, threshold in (({}, 0.5), ({"threshold": "0.25"}, 0.25), ({"threshold": 2}, 2.0)):
        coder = TwoBit.from_parameters({"type": "2bit", **given_})
        assert coder.parameters == {"type": "2bit", "threshold": threshold}
        assert TwoBit.from_parameters(coder.parameters) == coder
    assert TwoBit(0.1).threshold == float(np.float32(0.1))
    assert TwoBit(float("inf")).decode(TwoBit(float("inf")).encode(np.ones(3))[0], (3,)).tolist() == [0, 0, 0]


def setting(**parameters):
    return lambda: store(None).set_gradient_compression(parameters)


REFUSALS = [
    ("KVStore/compression-stores", Exception, lambda: mx.kv.create().set_gradient_compression({"type": "2bit"})),
    ("KVStore/compression-stores", Exception, lambda: mx.kv.create("x").set_gradient_compression({"type": "2bit"})),
    *(("KVStore/compression-parameters", AssertionError, lambda p=p: store(None).set_gradient_compression(p))
      for p in (None, "2bit", [("type", "2bit")])),
    *(("KVStore/compression-parameters", mx.MXNetError, setting(type=kind))
      for kind in ("none", "1bit", "2BIT", 2, None)),
    *(("KVStore/compression-parameters", mx.MXNetError, setting(type="2bit", threshold=threshold))
      for threshold in (0, -1, float("nan"), "abc", None, True, [1], 1e-50, 1e-40, 1e39)),
    ("KVStore/compression-parameters", mx.MXNetError, setting()),
    ("KVStore/compression-parameters", mx.MXNetError, setting(threshold=0.5)),
    ("KVStore/compression-parameters", mx.MXNetError, setting(type="2bit", thresholds=0.5)),
    ("KVStore/compression-type", mx.MXNetError, lambda: store(dtype="int32").push(0, a(SENT, dtype="int32"))),
    ("KVStore/compression-type", mx.MXNetError, lambda: store().push(0, [a(SENT), a(SENT, dtype="uint8")])),
    ("KVStore/compression-type", mx.MXNetError, lambda: TwoBit().decode(np.zeros(1, np.uint32), (2,), np.int32)),
    ("KVStore/compression-rows", mx.MXNetError, lambda: store().push(0, nd.zeros((4, 1), stype="row_sparse"))),
    ("KVStore/push-alike", mx.MXNetError, lambda: store().push(0, [a([1, 2]), a([1, 2])])),
    ("KVStore/compression-packed", mx.MXNetError, lambda: TwoBit().decode(np.zeros(1, np.uint32), (17,))),
    ("KVStore/compression-packed", mx.MXNetError, lambda: TwoBit().encode(np.ones(2), np.ones((2, 1)))),
]


@clause("KVStore/compression-stores", "KVStore/compression-parameters", "KVStore/compression-type")
@clause("KVStore/compression-rows", "KVStore/compression-packed")
@pytest.mark.parametrize(("name", "kind", "call"), REFUSALS)
def test_refusals(name, kind, call) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.clause == name
    assert type(caught.value) is kind


@clause("KVStore/compression-type")
def test_a_refused_push_leaves_residuals_alone() -> None:
    kv = store()
    assert pushed(kv, [0.4] * 4) == [0] * 4
    with pytest.raises(mx.MXNetError):
        kv.push(0, [a([0.4] * 4), a([1] * 4, dtype="int32")])
    with pytest.raises(mx.MXNetError):
        kv.push(0, [a([0.4] * 4), a([0.4] * 3)])
    assert pushed(kv, [0] * 4) == [0] * 4
    assert pushed(kv, [0.1] * 4) == [0.5] * 4
