"""Counts, sizes and memory: exact whole numbers, checked before anything is made of them."""

from __future__ import annotations

import json
from unittest import mock

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels.foundation import buffer
from refimpl.kernels.foundation.params import MOST_ARRAYS, whole_part


def refused(call) -> mx.MXNetError:
    """What a call is refused with, at once or when its result is read."""
    with pytest.raises(mx.MXNetError) as caught:
        result = call()
        for each in result if isinstance(result, list) else [result]:
            each.asnumpy()
    return caught.value


# --- how many there are -----------------------------------------------------------------------------


@pytest.mark.clause("topk/k")
@pytest.mark.parametrize("kind", ["mask", "indices", "value", "both"])
def test_topk_of_more_than_there_are(kind: str) -> None:
    # MXNet 1.9.1 for each ret_typ: "k must be smaller than 4, get k = 5"
    x = mx.nd.ones((2, 4))
    assert refused(lambda: mx.nd.topk(x, k=5, ret_typ=kind)).clause == "topk/k"
    text = mx.sym.topk(mx.sym.Variable("x"), k=4, ret_typ=kind).tojson()
    hostile = mx.sym.load_json(text.replace('"k": "4"', '"k": "5"'))
    assert hostile.tojson() != text
    assert refused(lambda: hostile.bind(mx.cpu(), {"x": x}).forward()).clause == "topk/k"


COUNTED = {
    "concat": "num_args", "stack": "num_args", "add_n": "num_args", "khatri_rao": "num_args", "Crop": "num_args",
    "amp_multicast": "num_outputs", "multi_sum_sq": "num_arrays", "reset_arrays": "num_arrays",
    "multi_all_finite": "num_arrays", "multi_sgd_update": "num_weights", "preloaded_multi_sgd_update": "num_weights",
}


@pytest.mark.clause("params/bad-value")
@pytest.mark.parametrize("count", [2**31 - 1, 2**31, 2**63, 10**30, MOST_ARRAYS + 1, 0, -1, float("nan"), 2.5, "2L"])
@pytest.mark.parametrize("name", COUNTED)
def test_numbers_of_arrays(name: str, count: object) -> None:
    x = mx.nd.ones((2, 2))
    assert refused(lambda: getattr(mx.nd, name)(x, x, **{COUNTED[name]: count})).clause == "params/bad-value"


@pytest.mark.clause("params/bad-value")
@pytest.mark.parametrize("count", [2**31 - 1, MOST_ARRAYS + 1, 0, -1])
def test_numbers_of_parts(count: int) -> None:
    x = mx.nd.ones((2, 2))
    assert refused(lambda: mx.nd.SliceChannel(x, count)).clause == "params/bad-value"
    if count:  # 0 sections mean that there are indices
        cut = mx.nd._internal._split_v2
        assert refused(lambda: cut(x, indices=(), sections=count)).clause == "params/bad-value"


@pytest.mark.clause("params/bad-value", "symbol-file/valid")
@pytest.mark.parametrize("count", ["2147483647", "65537", "65536", "3", "1", "0", "-1", "1e9", "(2,)", "9" * 5000])
def test_numbers_of_arrays_in_files(count: str) -> None:
    graph = json.loads(mx.sym.concat(mx.sym.Variable("a"), mx.sym.Variable("b")).tojson())
    graph["nodes"][-1]["attrs"]["num_args"] = count
    with pytest.raises(mx.MXNetError) as caught:
        mx.sym.load_json(json.dumps(graph))
    assert caught.value.clause == ("symbol-file/valid" if count in ("65536", "3", "1") else "params/bad-value")
    assert len(str(caught.value)) < 1000


@pytest.mark.clause("params/bad-value")
@pytest.mark.parametrize("k", [
    2**31, -(2**31) - 1, 2**63, pytest.param(10**4400, id="4401 digits"), float("inf"), "1" * 5000, [], "((((", (1, 2),
])
def test_whole_numbers_have_32_bits(k: object) -> None:
    # MXNet 1.9.1: Invalid Parameter format for k expect int but value='2147483648'
    error = refused(lambda: mx.nd.topk(mx.nd.ones((2, 4)), k=k))
    assert error.clause == "params/bad-value"
    assert len(str(error)) < 1000
    with pytest.raises(mx.MXNetError) as caught:
        mx.sym.topk(mx.sym.Variable("x"), k=k)
    assert caught.value.clause == "params/bad-value"


@pytest.mark.clause("params/bad-value")
@pytest.mark.parametrize("shape", [
    (2**63,), (-(2**63) - 1,), "(" * 300, "(" * 100_000, "(1,", "{[]: 1}", "(1, (2,))", "()" * 9, "nan",
])
def test_sides_have_64_bits(shape: object) -> None:
    assert refused(lambda: mx.nd.tile(mx.nd.ones((2,)), reps=shape)).clause == "params/bad-value"


@pytest.mark.clause("params/bad-value")
def test_not_a_number_is_in_no_range() -> None:
    x = mx.nd.ones((2, 2))
    assert refused(lambda: mx.nd.Dropout(x, p=float("nan"))).clause == "params/bad-value"
    assert refused(lambda: mx.nd.Dropout(x, p=10**400)).clause == "params/bad-value"


# --- real numbers that become whole ones ------------------------------------------------------------


NO_WHOLE_NUMBERS = [float("nan"), float("inf"), float("-inf"), 1e30, -1e30]


@pytest.mark.clause("params/whole")
@pytest.mark.parametrize("value", NO_WHOLE_NUMBERS)
def test_no_whole_number_beside_whole_numbers(value: float) -> None:
    x = mx.nd.ones((2,), dtype="int32")
    calls = [
        lambda: x + value, lambda: x * value, lambda: x == value,
        lambda: mx.nd._internal._full(value=value, shape=(2,), dtype="int32"),
        lambda: mx.nd.contrib.arange_like(x, start=value),
        lambda: mx.nd.contrib.arange_like(x, step=value),
    ]
    for call in calls:
        assert refused(call).clause == "params/whole"


@pytest.mark.clause("params/whole")
def test_infinite_bounds_of_whole_numbers() -> None:
    x = mx.nd.array([-300, 7, 300], dtype="int32")
    assert mx.nd.clip(x, -float("inf"), 9).asnumpy().tolist() == [-300, 7, 9]
    assert mx.nd.clip(x, -1e30, 1e30).asnumpy().tolist() == [-300, 7, 300]
    assert refused(lambda: mx.nd.clip(x, float("nan"), 9)).clause == "params/whole"


@pytest.mark.clause("params/whole")
def test_the_least_and_largest_of_whole_numbers() -> None:
    largest = 2.0**63 - 1024  # the float64 before 2.0**63
    assert [whole_part("scalar", value) for value in (-(2.0**63), largest, -1.5)] == [-(2**63), 2**63 - 1024, -1]
    for value in (-(2.0**63) - 2048, 2.0**63):
        assert refused(lambda value=value: whole_part("scalar", value)).clause == "params/whole"


@pytest.mark.clause("_arange/range")
@pytest.mark.parametrize(("start", "stop", "step"), [
    (0, float("inf"), 1), (float("nan"), 3, 1), (0, 3, float("nan")), (0, 1e300, 1e-300), (0, 3, -1.0),
])
def test_ranges_without_an_end(start: float, stop: float, step: float) -> None:
    assert refused(lambda: mx.nd.arange(start, stop, step)).clause == "_arange/range"


@pytest.mark.clause("NDArray/histogram")
@pytest.mark.parametrize("bins", [0, -1])
def test_histograms_have_bins(bins: int) -> None:
    with pytest.raises(ValueError, match="NDArray/histogram"):
        mx.nd.histogram(mx.nd.ones((3,)), bins=bins)


@pytest.mark.clause("NDArray/histogram")
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_histograms_of_no_range(value: float) -> None:
    with pytest.warns(UserWarning, match="range is not"), pytest.raises(ValueError, match="NDArray/histogram"):
        mx.nd.histogram(mx.nd.array([1, value]), bins=3)


@pytest.mark.clause("ravel/shape")
def test_ravelled_numbers_have_64_bits() -> None:
    x = mx.nd.array([[1], [1]])
    assert mx.nd.ravel_multi_index(x, shape=(-1, 2**40)).asnumpy().tolist() == [2**40]
    assert refused(lambda: mx.nd.ravel_multi_index(x, shape=(2**40, 2**40))).clause == "ravel/shape"
    assert refused(lambda: mx.nd.unravel_index(x[0], shape=(2**40, 2**40))).clause == "ravel/shape"


@pytest.mark.clause("_contrib_Proposal/parameters")
@pytest.mark.parametrize("wrong", [
    {"ratios": (0.0,)}, {"ratios": (-1.0,)}, {"ratios": (float("nan"),)}, {"ratios": (1e-300,)},
    {"scales": (float("inf"),)}, {"scales": (1e300,)},
])
def test_anchors_of_no_size(wrong: dict) -> None:
    arrays = [mx.nd.ones((1, 2, 2, 2)), mx.nd.ones((1, 4, 2, 2)), mx.nd.ones((1, 3))]
    params = {"scales": (1,), "ratios": (1,), **wrong}
    assert refused(lambda: mx.nd.contrib.Proposal(*arrays, **params)).clause == "_contrib_Proposal/parameters"


# --- how large they are -----------------------------------------------------------------------------


HUGE = 2**40  # float32 sides of which 2**20 have 2**62 bytes: more than any address, fewer than 2**63
UNAVAILABLE = {
    "zeros": lambda: mx.nd.zeros((HUGE, 2**20)),
    "empty": lambda: mx.nd.empty((HUGE, 2**20)),
    "full": lambda: mx.nd.full((HUGE, 2**20), 3),
    "tile": lambda: mx.nd.tile(mx.nd.ones((2**10,)), reps=2**50),
    "broadcast_to": lambda: mx.nd.broadcast_to(mx.nd.ones((1, 1)), shape=(HUGE, 2**20)),
    "uniform": lambda: mx.nd.random.uniform(shape=(HUGE, 2**20)),
    "arange": lambda: mx.nd.arange(0, 2.0**60),
    "a view of NumPy's": lambda: mx.nd.array(np.broadcast_to(np.float32(1), (HUGE, 2**20))),
    "csr": lambda: mx.nd.sparse.zeros("csr", (2**59 - 1, 1)),
    "dense of row_sparse": lambda: mx.nd.sparse.zeros("row_sparse", (HUGE, 2**20)).tostype("default"),
    "bind": lambda: mx.sym.tile(mx.sym.Variable("x"), reps=2**60).bind(mx.cpu(), {"x": mx.nd.ones((1,))}).forward()[0],
    "inside a graph": lambda: mx.sym.sum(mx.sym.tile(mx.sym.Variable("x"), reps=2**60)).bind(
        mx.cpu(), {"x": mx.nd.ones((1,))}
    ).forward()[0],
}


@pytest.mark.clause("shapes/memory")
@pytest.mark.parametrize("name", UNAVAILABLE)
def test_what_no_memory_holds(name: str) -> None:
    error = refused(UNAVAILABLE[name])
    assert error.clause == "shapes/memory"
    assert "46116860184273" in str(error)  # 2**62 bytes, or what a graph needs beside them


@pytest.mark.clause("shapes/memory")
def test_bins_for_which_there_is_no_memory() -> None:
    with pytest.warns(UserWarning, match="range is not specified"):
        error = refused(lambda: mx.nd.histogram(mx.nd.ones((3,)), bins=2**59))
    assert error.clause == "shapes/memory"


@pytest.mark.clause("shapes/memory")
def test_the_shape_and_the_bytes_are_named() -> None:
    message = str(refused(lambda: mx.nd.zeros((HUGE, 2**20), dtype="float16")))
    assert "[1099511627776, 1048576]" in message
    assert "2305843009213693952 bytes" in message


@pytest.mark.clause("shapes/memory")
@pytest.mark.parametrize("lacking", [np.float32, np.int64], ids=["the result", "working memory"])
def test_memory_that_runs_out(lacking: type) -> None:
    """The result is refused, now or when it is read, and the next call works."""
    x, enough = mx.nd.array([[3, 1, 2]]), buffer.aligned_empty

    def reserve(size: int, kind: np.dtype) -> np.ndarray:
        if kind == lacking:
            raise MemoryError
        return enough(size, kind)

    with mock.patch.dict(buffer._ARENA.blocks, clear=True), mock.patch.object(buffer, "aligned_empty", reserve):
        error = refused(lambda: mx.nd.topk(x))  # float32 indices, found with the help of an int64 order
    assert error.clause == "shapes/memory"
    assert mx.nd.topk(x).asnumpy().tolist() == [[0]]


IMPOSSIBLE = {
    "zeros": lambda: mx.nd.zeros((2**62, 2**62)),
    "sides of NumPy's": lambda: mx.nd.zeros((np.int64(2**40), np.int64(2**40))),
    "one byte too many": lambda: mx.nd.zeros((2**63,), dtype="int8"),
    "tile": lambda: mx.nd.tile(mx.nd.ones((4,)), reps=(2**62, 2**62)),
    "uniform": lambda: mx.nd.random.uniform(shape=(2**62, 2**20)),
    "row_sparse": lambda: mx.nd.sparse.zeros("row_sparse", (2**50, 2**50)),
    "bind": lambda: mx.sym.tile(mx.sym.Variable("x"), reps=2**62).bind(mx.cpu(), {"x": mx.nd.ones((4,))}).forward()[0],
    "inside a graph": lambda: mx.sym.sum(mx.sym.tile(mx.sym.Variable("x"), reps=2**62)).bind(
        mx.cpu(), {"x": mx.nd.ones((4,))}
    ).forward()[0],
}


@pytest.mark.clause("shapes/size")
@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_has_no_size(name: str) -> None:
    assert refused(IMPOSSIBLE[name]).clause == "shapes/size"


@pytest.mark.clause("shapes/size")
@pytest.mark.parametrize("shape", [(-1,), (-2, -3), (2, -1), (2**63,), (2**31, 2**31, 2**31)])
def test_nothing_is_allocated_for_what_has_no_size(shape: tuple[int, ...]) -> None:
    with mock.patch.object(buffer, "aligned_empty", side_effect=AssertionError), pytest.raises(mx.MXNetError) as caught:
        buffer.allocate(shape, np.dtype(np.float32))
    assert caught.value.clause == "shapes/size"


@pytest.mark.clause("Executor/known-shapes")
def test_a_type_that_nobody_tells() -> None:
    # MXNet 1.9.1: InferType pass cannot decide dtypes for the following arguments (-1 means unknown dtype)
    text = mx.sym.zeros((2,)).tojson().replace('"_zeros"', '"_zeros_without_dtype"').replace("float32", "-1")
    assert refused(lambda: mx.sym.load_json(text).bind(mx.cpu(), {}).forward()).clause == "Executor/known-shapes"


# --- what has no axes, or no elements ---------------------------------------------------------------

WITHOUT_AXES = {
    "Flatten/rows": lambda x: mx.nd.Flatten(x),
    "RegressionOutput/label-shape": lambda x: mx.nd.LinearRegressionOutput(x, x),
    "_contrib_quadratic/shape": lambda x: mx.nd.contrib.div_sqrt_dim(x),
    "multinomial/shape": lambda x: mx.nd.sample_multinomial(x),
    "shuffle/shape": lambda x: mx.nd.shuffle(x),
    "dot/vectors": lambda x: mx.nd.dot(x, x),
}


@pytest.mark.clause(
    "Flatten/rows", "RegressionOutput/label-shape", "_contrib_quadratic/shape", "multinomial/shape", "shuffle/shape",
    "dot/vectors",
)
@pytest.mark.parametrize("clause", WITHOUT_AXES)
def test_an_axis_is_needed(clause: str) -> None:
    # MXNet 1.9.1 under np_shape, of mx.nd.ones(()): each is an MXNetError
    scalar = mx.nd.array(np.array(2.0))
    assert scalar.shape == ()
    assert refused(lambda: WITHOUT_AXES[clause](scalar)).clause == clause


def test_no_axis_is_needed() -> None:
    # MXNet 1.9.1 under np_shape, of mx.nd.ones(()): 1.0 and 1.0
    scalar = mx.nd.array(np.array(2.0))
    assert mx.nd.transpose(scalar).asnumpy() == 2
    assert mx.nd.SoftmaxActivation(scalar).asnumpy() == 1


@pytest.mark.clause("RegressionOutput/label-shape")
def test_a_label_without_axes_is_no_table() -> None:
    error = refused(lambda: mx.nd.LinearRegressionOutput(mx.nd.ones((4, 1)), mx.nd.array(np.array(2.0))))
    assert error.clause == "RegressionOutput/label-shape"


@pytest.mark.clause("_contrib_box_encode/matches")
def test_no_box_is_encoded_where_there_is_none() -> None:
    anchors, four = mx.nd.array([[[0, 0, 2, 2]]]), mx.nd.ones((4,))
    arrays = mx.nd.ones((1, 1)), mx.nd.zeros((1, 1)), anchors, mx.nd.zeros((1, 0, 4)), four, four
    targets, masks = mx.nd.contrib.box_encode(*arrays)
    assert targets.asnumpy().tolist() == masks.asnumpy().tolist() == [[[0, 0, 0, 0]]]


def test_no_object_is_found_where_there_is_no_label() -> None:
    arrays = mx.nd.array([[[0, 0, 1, 1], [1, 1, 2, 2]]]), mx.nd.zeros((1, 0, 5)), mx.nd.zeros((1, 2, 2))
    offsets, mask, kinds = mx.nd.contrib.MultiBoxTarget(*arrays)
    assert offsets.asnumpy().tolist() == mask.asnumpy().tolist() == [[0] * 8]
    assert kinds.asnumpy().tolist() == [[-1, -1]]  # ignored, as in images whose labels are all -1


@pytest.mark.clause("params/bad-value")
def test_points_of_a_bin() -> None:
    x, regions = mx.nd.ones((1, 1, 4, 4)), mx.nd.array([[0, 0, 0, 3, 3]])
    call = mx.nd.contrib.ROIAlign
    found = call(x, regions, pooled_size=(1, 1), spatial_scale=1, sample_ratio=1024).asnumpy()
    assert found.tolist() == [[[[1]]]]
    error = refused(lambda: call(x, regions, pooled_size=(1, 1), spatial_scale=1, sample_ratio=1025))
    assert error.clause == "params/bad-value"


@pytest.mark.parametrize("region", [[0, 0, 0, 9e8, 9e8], [0, -9e8, -9e8, 9e8, 9e8], [0, 9e8, 9e8, 3, 3]])
def test_regions_far_larger_than_the_map_take_no_time(region: list[float]) -> None:
    """Of 10^17 points those in the map count, and the mean of a bin of zeros and few ones is next to nothing."""
    x = mx.nd.ones((1, 1, 4, 4))
    for ratio in (-1, 2):
        align = mx.nd.contrib.ROIAlign(
            x, mx.nd.array([region]), pooled_size=(1, 1), spatial_scale=1, sample_ratio=ratio
        )
        assert abs(align.asnumpy().item()) < 1e-6
        turned = mx.nd.contrib.RROIAlign(
            x, mx.nd.array([[*region, 30]]), pooled_size=(1, 1), spatial_scale=1, sampling_ratio=ratio
        )
        assert abs(turned.asnumpy().item()) < 1e-6


@pytest.mark.clause("random/whole")
def test_ranges_of_more_than_64_bits() -> None:
    error = refused(lambda: mx.nd.random.randint(-(2**63), 2**63 - 1, shape=(2,), dtype="int64"))
    assert error.clause == "random/whole"
