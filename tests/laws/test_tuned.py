"""Tuned twins against the plain loops that they stand in for, loop by loop.

``laws.tuned_agrees`` compares whole operators on small shapes; here are the shapes at which tiles, panels
and blocks begin and end, and what else a twin promises: exact where sums are exact, within the rounding of each product
elsewhere, the same special values, the same bits in every thread, and no number read or written outside its arrays.
"""

from __future__ import annotations

import threading

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl.kernels import activation, batch_norm, convolution, get, pooling, softmax
from refimpl.kernels.foundation import LOOPS, Buffer, buffer, plain_kernels
from refimpl.kernels.foundation.loop import CHOICE
from refimpl.kernels.shared import pooling_windows, rnn_products
from refimpl.kernels.shared.products import PRODUCT, Product
from refimpl.kernels.tuned import kernel

from . import protected
from .views import viewed

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT) or CHOICE.plain, reason="twins exist in machine code only"
)
EPS = float(np.finfo(np.float32).eps)
MARGIN = 37  # numbers around every array, not a multiple of anything
SEEDS = st.integers(0, 2**31 - 1)


class Surrounded:
    """An array in the middle of memory that holds NaN, which nobody may read or overwrite."""

    def __init__(self, values: np.ndarray) -> None:
        self.memory = np.full(values.size + 2 * MARGIN, np.nan, values.dtype)
        inside = self.memory[MARGIN : MARGIN + values.size]
        inside[:] = values.reshape(-1)
        self.buffer = Buffer(inside, values.shape)

    def intact(self) -> bool:
        """Whether the surroundings are still NaN."""
        return bool(np.isnan(self.memory[:MARGIN]).all() and np.isnan(self.memory[-MARGIN:]).all())


Memory = protected.Protected if protected.PLACE else Surrounded


@pytest.fixture(autouse=True)
def _protected_working_memory(monkeypatch):
    if protected.PLACE:
        monkeypatch.setattr(buffer, "aligned_empty", protected.aligned_empty)


def called(loop, inputs, shape, numbers, dtype=np.float32):
    """What ``loop(*inputs, out, *numbers)`` writes, by the twin."""
    given_arrays = [Memory(a.astype(dtype)) for a in inputs]
    out = Memory(np.full(shape, np.nan, dtype))
    if protected.PLACE:
        kernel._WORKSPACE.blocks.clear()  # what was made for larger arrays has more slack
    for block in kernel._WORKSPACE.blocks.values():
        block.view(np.uint8).fill(0xFF)  # NaN, and -1 among whole numbers
    loop(*viewed(loop, [a.buffer for a in (*given_arrays, out)]), *numbers)
    assert out.intact()
    for array, values in zip(given_arrays, inputs, strict=True):
        assert array.intact()
        np.testing.assert_array_equal(array.buffer.flat, values.astype(dtype).reshape(-1))
    return out.buffer.to_numpy()


def plainly(loop, inputs, shape, numbers, dtype=np.float32):
    with plain_kernels():
        return called(loop, inputs, shape, numbers, dtype)


def dyadic(rng, shape):
    """Quarters between -2 and 2: float32 adds up thousands of their products without rounding."""
    return rng.integers(-8, 9, shape).astype(np.float32) / 4


def agrees(loop, make, seed, shapes, out_shape, numbers, products):
    """Twin and plain loop agree: exactly on dyadic numbers, else to one rounding per product."""
    rng = np.random.default_rng(seed)
    inputs = [dyadic(rng, shape) for shape in shapes]
    call = (inputs, out_shape, numbers)
    np.testing.assert_array_equal(called(loop, *call), plainly(loop, *call))
    inputs = [make(rng, shape).astype(np.float32) for shape in shapes]
    truth = plainly(loop, inputs, out_shape, numbers, np.float64)
    size = plainly(loop, [np.abs(a) for a in inputs], out_shape, numbers, np.float64)
    wrong = np.abs(called(loop, inputs, out_shape, numbers) - truth)
    assert (wrong <= (products + 1) * EPS * size).all()


def normal(rng, shape):
    return rng.standard_normal(shape)


# --- the matrix product --------------------------------------------------------------------------

SIDES = st.one_of(st.integers(1, 40), st.sampled_from([48, 63, 64, 65]))


def strides(n, m, k, turned):
    return (*((1, n) if turned[0] else (k, 1)), *((1, k) if turned[1] else (m, 1)))


@given(SIDES, SIDES, st.one_of(SIDES, st.sampled_from([383, 384, 385, 800])), st.booleans(),
       st.booleans(), SEEDS)
def test_product(n, m, k, turn_a, turn_b, seed):
    """Every way of storing the operands, across the ends of tiles and panels."""
    numbers = (Product(n, m, k, *strides(n, m, k, (turn_a, turn_b))),)
    agrees(PRODUCT, normal, seed, [(n * k,), (k * m,)], (n, m), numbers, k)


def kept_product(a, b, out, n, m, k, a_row, a_step, b_row, b_step):
    """The same, with the right operand brought into order first."""
    kept = Memory(np.full(rnn_products.kept_size(k, m), np.nan, out.dtype))
    rnn_products.KEEP(b, kept.buffer, k, m, b_row, b_step)
    rnn_products.BY_KEPT(a, kept.buffer, out, n, m, k, a_row, a_step)
    assert kept.intact()


@given(SIDES, SIDES, st.one_of(SIDES, st.sampled_from([383, 384, 385, 800])), st.booleans(),
       st.booleans(), SEEDS)
def test_kept_product(n, m, k, turn_a, turn_b, seed):
    """Every way of storing the operands, across the ends of tiles."""
    numbers = (n, m, k, *strides(n, m, k, (turn_a, turn_b)))
    agrees(kept_product, normal, seed, [(n * k,), (k * m,)], (n, m), numbers, k)


def test_product_of_a_part():
    """Operands may be parts of larger matrices: only the strides say where rows begin."""
    rng = np.random.default_rng(1)
    a, b = dyadic(rng, (5, 50)), dyadic(rng, (7, 60))
    got = called(PRODUCT, [a, b], (5, 33), (Product(5, 33, 7, 50, 2, 60, 1),))
    np.testing.assert_array_equal(got, a[:, 0:14:2] @ b[:, :33])


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_special_values_stay_in_their_row_and_column(special):
    rng = np.random.default_rng(2)
    a, b = np.abs(dyadic(rng, (9, 20))) + 1, np.abs(dyadic(rng, (20, 21))) + 1
    a[4, 7], b[3, 20] = special, special
    got = called(PRODUCT, [a, b], (9, 21), (Product(9, 21, 20, 20, 1, 21, 1),))
    expected = np.zeros((9, 21), bool)
    expected[4, :] = expected[:, 20] = True
    np.testing.assert_array_equal(~np.isfinite(got), expected)
    np.testing.assert_array_equal(got[4, :20], special)


# --- convolution ---------------------------------------------------------------------------------


@st.composite
def geometries(draw):
    """Parameters and shapes: (p, data, weight, out)."""
    rank, groups = draw(st.integers(1, 3)), draw(st.sampled_from([1, 1, 2]))
    axis = st.tuples(st.integers(1, 5 - rank), st.integers(1, 3), st.integers(1, 2), st.integers(0, 2))
    kernel_size, stride, dilate, pad = zip(*(draw(axis) for _ in range(rank)), strict=True)
    longest = {1: 60, 2: 20, 3: 6}[rank]
    sizes = tuple(
        max(1, e * (k - 1) + 1 - 2 * p) + draw(st.integers(0, longest))
        for k, e, p in zip(kernel_size, dilate, pad, strict=True)
    )
    params = {
        "kernel": kernel_size, "stride": stride, "dilate": dilate, "pad": pad, "num_group": groups,
        "num_filter": groups * draw(st.integers(1, 21)), "no_bias": True,
    }
    op = get("Convolution")
    p = op.parse(params)
    data = (draw(st.integers(1, 2)), groups * draw(st.integers(1, 11)), *sizes)
    (data, weight), (out,) = op.infer(p, [data, None], [None])
    return p, data, weight, out


@given(geometries(), SEEDS)
def test_convolution(geometry, seed):
    """Forward, across blocks, parts and groups."""
    p, data, weight, out = geometry
    numbers = (convolution.geometry(p, data, out),)
    products = int(np.prod(weight[1:]))
    agrees(convolution.CONVOLVE, normal, seed, [data, weight], out, numbers, products)


@given(geometries(), SEEDS)
def test_convolution_gradient_by_data(geometry, seed):
    p, data, weight, out = geometry
    numbers = (convolution.geometry(p, data, out),)
    products = int(np.prod(weight)) // weight[1]
    agrees(convolution.SEND_BACK, normal, seed, [out, weight], data, numbers, products)


@given(geometries(), SEEDS)
def test_convolution_gradient_by_weight(geometry, seed):
    p, data, weight, out = geometry
    numbers = (convolution.geometry(p, data, out),)
    products = out[0] * int(np.prod(out[2:]))
    agrees(convolution.GATHER_WEIGHT, normal, seed, [out, data], weight, numbers, products)


# As in networks: (data, kernel, filters, stride, pad). The gradient by data of the first two scatters.
LAYERS = [
    ((2, 20, 12, 12), 5, 50, 1, 0), ((2, 3, 12, 13), 5, 20, 1, 0), ((2, 3, 16, 16), 3, 16, 1, 1),
    ((2, 16, 16, 16), 3, 32, 2, 1), ((2, 32, 8, 8), 3, 32, 1, 1), ((3, 8, 14, 14), 1, 24, 2, 0),
    ((2, 8, 7, 7), 1, 24, 1, 0), ((1, 3, 30, 30), 7, 10, 2, 3), ((1, 4, 33, 20), 3, 9, 3, 0),
]


def layer(data, side, filters, stride, pad):
    op = get("Convolution")
    p = op.parse({
        "kernel": (side, side), "num_filter": filters, "stride": (stride, stride), "pad": (pad, pad),
        "no_bias": True,
    })
    (data, weight), (out,) = op.infer(p, [data, None], [None])
    return p, data, weight, out


def three_loops(p, data, weight, out):
    """(loop, input shapes, output shape, numbers) of the three convolutions of a layer."""
    numbers = (convolution.geometry(p, data, out),)
    return [
        (convolution.CONVOLVE, [data, weight], out, numbers),
        (convolution.SEND_BACK, [out, weight], data, numbers),
        (convolution.GATHER_WEIGHT, [out, data], weight, numbers),
    ]


@pytest.mark.parametrize("shapes", LAYERS, ids=str)
def test_layers_of_networks(shapes):
    for loop, ins, out, numbers in three_loops(*layer(*shapes)):
        rng = np.random.default_rng(3)
        inputs = [dyadic(rng, shape) for shape in ins]
        np.testing.assert_array_equal(
            called(loop, inputs, out, numbers), plainly(loop, inputs, out, numbers), str(loop)
        )


@pytest.mark.parametrize("special", [np.nan, np.inf])
@pytest.mark.parametrize("shapes", [LAYERS[1], LAYERS[3], LAYERS[7]], ids=str)
@pytest.mark.parametrize("which", [0, 1])
def test_special_values_go_where_the_plain_loop_sends_them(shapes, which, special):
    """In a corner of either operand, where the padding is near."""
    for loop, ins, out, numbers in three_loops(*layer(*shapes)):
        rng = np.random.default_rng(4)
        inputs = [dyadic(rng, shape) for shape in ins]
        inputs[which].reshape(-1)[[0, -1]] = special
        np.testing.assert_array_equal(
            called(loop, inputs, out, numbers), plainly(loop, inputs, out, numbers), str(loop)
        )


# --- sums, maxima and curves ---------------------------------------------------------------------

INNER = st.one_of(st.integers(1, 40), st.sampled_from([48, 63, 64, 65]))


@given(st.integers(1, 4), st.integers(1, 3), INNER, SEEDS)
def test_sums_of_channels(outer, channels, inner, seed):
    """Sums in double precision, in whatever order, round to the same float32 or its neighbour."""
    rng = np.random.default_rng(seed)
    head, data = (normal(rng, (outer, channels, inner)).astype(np.float32) for _ in range(2))
    got = called(convolution.GATHER_BIAS, [head], (channels,), ())
    truth = head.astype(np.float64).sum(axis=(0, 2))
    np.testing.assert_allclose(got, truth, rtol=EPS, atol=1e-12)
    mean = data.astype(np.float64).mean(axis=(0, 2))
    deviation = data.astype(np.float64).std(axis=(0, 2))
    nothing = np.full(channels, np.nan, np.float32)
    numbers = (outer, channels, inner)
    memory = [Memory(a) for a in (data, nothing, nothing, head, np.full(2 * channels, np.nan))]
    *buffers, heads, sums = [each.buffer for each in memory]
    found = [each.flat for each in buffers[1:]]
    batch_norm.BATCH_STATISTICS(*buffers, *numbers, 0.5)
    np.testing.assert_allclose(found[0], mean, rtol=EPS, atol=1e-12)
    np.testing.assert_allclose(found[1], 1 / np.sqrt(deviation**2 + 0.5), rtol=EPS)
    batch_norm.HEAD_SUMS(heads, *buffers, sums, *numbers)
    centred = data.astype(np.float64) - found[0][:, None]
    dots = (head.astype(np.float64) * centred).sum(axis=(0, 2)) * found[1]
    np.testing.assert_allclose(sums.flat[0::2], truth, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(sums.flat[1::2], dots, rtol=1e-12, atol=1e-12)
    assert all(each.intact() for each in memory)


@given(st.integers(1, 3), st.integers(2, 70), st.integers(2, 9), SEEDS)
def test_way_back_through_maxima(planes, width, height, seed):
    """Equal bits, whatever ties, NaN and infinities there are."""
    rng = np.random.default_rng(seed)
    values = np.array([-np.inf, -2, 0, 1, 2, np.inf, np.nan], np.float32)
    data = values[rng.integers(0, len(values), (1, planes, height, width))]
    head = dyadic(rng, (1, planes, height // 2, width // 2))
    g = pooling_windows.Geometry(planes, 1, height, width, 1, height // 2, width // 2, average=0)
    numbers = (float(np.finfo(np.float32).min), g)
    call = (pooling.MAX_PAIRS_BACK, [head, data], data.shape, numbers)
    np.testing.assert_array_equal(called(*call), plainly(*call))


@given(st.integers(1, 3), st.one_of(INNER, st.just(300)), st.sampled_from([1.0, -1.0, 0.25]), SEEDS)
def test_softmax(rows, side, scale, seed):
    """Powers within 2 units in the last place, and an exact sum: within 4 of the true share."""
    rng = np.random.default_rng(seed)
    data = (normal(rng, (rows, side)) * 4).astype(np.float32)
    if side > 3:
        data[0, 3] = 30 * scale
    power = data.astype(np.float64) * scale
    power = np.exp(power - power.max(axis=1, keepdims=True))
    out = np.full_like(data, np.nan)
    memory = [Memory(a) for a in (data, out, data)]
    softmax.SOFTMAX(*(each.buffer for each in memory), rows, side, 1, scale, 0)
    assert all(each.intact() for each in memory)
    out = memory[1].buffer.to_numpy()
    truth = power / power.sum(axis=1, keepdims=True)
    # the exponent is rounded, which counts as many times as it is large
    np.testing.assert_array_less(np.abs(out - truth), truth * EPS * (4 - np.log(power)) + 1e-37)


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("at", [0, 5, 39])
def test_softmax_of_special_values(special, at):
    data = np.zeros((2, 40), np.float32)
    data[1, at] = special
    results = []
    for run in (called, plainly):
        with_length = run(
            lambda x, y, *n: softmax.SOFTMAX(x, y, x, *n), [data], data.shape, (2, 40, 1, 1.0, 0)
        )
        results.append(with_length)
    np.testing.assert_allclose(results[0], results[1], rtol=2 * EPS)


@pytest.mark.parametrize(("curve", "units"), [("tanh", 2), ("sigmoid", 3)])
def test_curves(curve, units):
    """Close to the true value everywhere, also far out and near 0, and exact at the ends."""
    middle = np.concatenate([np.linspace(-30, 30, 20001), np.logspace(-30, 2, 5000)])
    x = np.concatenate([middle, -middle[20001:], [0.0]]).astype(np.float32)
    wide = x.astype(np.float64)
    true = np.tanh(wide) if curve == "tanh" else np.exp(-np.logaddexp(0, -wide))
    got = called(activation.MAP[curve], [x], x.shape, (x.size,))
    normal_range = np.abs(true) > np.finfo(np.float32).tiny
    off = np.abs(got - true)[normal_range] / np.spacing(np.abs(true[normal_range]).astype(np.float32))
    assert off.max() <= units
    ends = np.array([np.inf, -np.inf, np.nan, 0.0], np.float32)
    expected = [1, -1, np.nan, 0] if curve == "tanh" else [1, 0, np.nan, 0.5]
    got = called(activation.MAP[curve], [ends], ends.shape, (ends.size,))
    np.testing.assert_array_equal(got, np.array(expected, np.float32))


# --- threads -------------------------------------------------------------------------------------


def test_threads_do_not_disturb_each_other():
    """Two threads that run other layers at the same time give the bits that one gives alone."""
    rng = np.random.default_rng(5)
    work = []
    for shapes in LAYERS[:6]:
        for loop, ins, out, numbers in three_loops(*layer(*shapes)):
            work.append((loop, [normal(rng, s).astype(np.float32) for s in ins], out, numbers))
    work.append((
        PRODUCT, [normal(rng, (70, 500)), normal(rng, (500, 90))], (70, 90),
        (Product(70, 90, 500, 500, 1, 90, 1),),
    ))
    alone = [called(*call) for call in work]
    found: dict[int, list[np.ndarray]] = {0: [], 1: []}

    def run(which):
        order = range(len(work)) if which == 0 else range(len(work) - 1, -1, -1)
        for i in [*order] * 3:
            found[which].append((i, called(*work[i])))

    threads = [threading.Thread(target=run, args=(which,)) for which in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for results in found.values():
        assert len(results) == 3 * len(work)
        for i, result in results:
            np.testing.assert_array_equal(result, alone[i], str(work[i][0]))


def test_every_twin_is_tested():
    """Here, in another ``test_tuned_`` file or in ``test_rnn_page``."""
    tested = {
        "pooling.sum_rows_term_1_root_1", "pooling.sum_back_slope_1", "pooling.max_rows", "pooling.max_back",
        "products.product", "convolution.convolve", "convolution.send_back", "convolution.gather_weight",
        "convolution.gather_bias", "batch_norm.batch_statistics", "batch_norm.head_sums", "pooling.max_pairs_back",
        "softmax.softmax", "softmax.softmax_slope", "softmax.log_softmax", "softmax.log_softmax_slope",
        "curves.map_one_tanh", "curves.map_one_sigmoid", "rnn_products.keep", "rnn_products.by_kept",
        "rnn_cells.lstm_step", "sorting.sort_rows", "transpose.tiles", "dot.products", "argmax.seek_largest",
        "argmax.seek_smallest", "layer_norm.row_statistics", "layer_norm.normalise_rows", "layer_norm.through_rows",
        "layer_norm.collect_weights", "l2_normalization.lengths", "l2_normalization.shorten_back",
        "curves.map_one_softrelu", "leaky_relu.map_one_gelu", "leaky_relu.chain_one_gelu_slope",
        "unary.map_one_exp", "unary.map_one_expm1", "unary.map_one_log", "unary.map_one_erf", "unary.map_one_tanh",
        "unary.map_one_sigmoid", "unary.chain_one_exp", "unary.chain_one_erf_slope", "lrn.scales", "lrn.respond",
        "lrn.respond_back", "random_streams.take", "random.normal_numbers_normal_single",
    }
    assert {loop.name for loop in LOOPS if loop._tuned is not None and ".reduce_rows_" not in loop.name} == tested
