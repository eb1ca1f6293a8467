"""Calls on both sides of a clause's border: what a page's single counter-example leaves open."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refimpl import io
from refimpl.kernels import get, grad, run
from refimpl.kernels.foundation import MXNetError
from refimpl.kernels.foundation.harness import Call

Shapes = dict[str, Any]

# (clause, operator, parameters, shapes that it takes, shapes that it refuses)
SHAPES: list[tuple[str, str, dict[str, Any], list[Shapes], list[Shapes]]] = [
    (
        "_contrib_ROIAlign/shape", "_contrib_ROIAlign",
        {"pooled_size": (2, 2), "spatial_scale": 1, "position_sensitive": True},
        [{"data": (1, 8, 5, 5), "rois": (3, 5)}],
        [{"data": (1, 6, 5, 5), "rois": (3, 5)}],
    ),
    (
        "adagrad/row-shape", "_contrib_group_adagrad_update", {"lr": 0.1},
        [{"weight": (2, 3), "history": (2, 1)}, {"weight": (2, 3, 4), "history": (2, 1, 1)}],
        [{"weight": (2,)}, {"weight": (2, 3), "history": (2, 3)}, {"weight": (2, 3, 4), "history": (2, 1)}],
    ),
    (
        "GroupNorm/groups", "GroupNorm", {"num_groups": 2}, [{"data": (2, 4, 3)}, {"data": (2, 2, 3, 3)}],
        [{"data": (2, 3, 4)}, {"data": (2, 1, 4)}, {"data": (2, 4)}],
    ),
    ("GroupNorm/groups", "GroupNorm", {"num_groups": 1}, [{"data": (2, 3, 4)}], []),
    ("GroupNorm/groups", "GroupNorm", {"num_groups": 0}, [], [{"data": (2, 3, 4)}]),
    (
        "ROIPooling/shapes", "ROIPooling", {"pooled_size": (1, 2), "spatial_scale": 1},
        [{"data": (1, 2, 5, 5), "rois": (3, 5)}], [{"data": (2, 5, 5)}, {"rois": (3, 4)}],
    ),
    ("Reshape/size", "Reshape", {"shape": (-1, 4)}, [{"data": (2, 6)}], [{"data": (2, 5)}]),
    ("Reshape/size", "Reshape", {"shape": (3, 4)}, [{"data": (2, 6)}], [{"data": (2, 5)}]),
    (
        "col2im/shape", "col2im", {"kernel": (2,), "output_size": (3,)},
        [{"data": (1, 4, 2)}], [{"data": (1, 3, 2)}, {"data": (1, 4, 3)}],
    ),
    ("col2im/shape", "col2im", {"kernel": (2,), "output_size": (3, 3)}, [], [{"data": (1, 4, 2)}]),
    ("col2im/shape", "col2im", {"kernel": (1,), "output_size": (0,)}, [], [{"data": (1, 4, 1)}]),
    ("col2im/shape", "col2im", {"kernel": (1,), "output_size": (1,)}, [{"data": (1, 4, 1)}], []),
    (
        "pick/axis", "pick", {"axis": 1}, [{"data": (2, 3), "index": (2,)}, {"data": (2, 3), "index": (2, 1)}],
        [{"data": (2, 3), "index": (3,)}, {"data": (2,), "index": (2,)}],
    ),
    *(
        ("Pooling/sides", "Pooling", params, taken, refused)
        for params, taken, refused in (
            ({"kernel": (2,), "stride": (1,), "pad": (0,)}, [{"data": (1, 1, 4)}], [{"data": (1, 1, 4, 4)}]),
            ({"kernel": (2, 2)}, [{"data": (1, 1, 4, 4)}], [{"data": (1, 1, 4)}, {"data": (1, 1)}]),
            ({"kernel": (2, 2, 2, 2)}, [], [{"data": (1, 1, 4, 4, 4, 4)}]),
            ({"kernel": (2, 2), "stride": (0, 1)}, [], [{"data": (1, 1, 4, 4)}]),
            ({"kernel": (0, 2)}, [], [{"data": (1, 1, 4, 4)}]),
            ({"kernel": (2, 2), "pad": (1,)}, [], [{"data": (1, 1, 4, 4)}]),
            ({"kernel": (2, 2), "stride": (1,)}, [], [{"data": (1, 1, 4, 4)}]),
        )
    ),
    ("Dropout/axis-range", "Dropout", {"axes": (0, 1)}, [{"data": (2, 3)}], [{"data": (2,)}]),
    ("Dropout/axis-range", "Dropout", {"axes": (-1,)}, [], [{"data": (2, 3)}]),
    ("linalg/square", "_linalg_inverse", {}, [{"A": (2, 2)}, {"A": (0, 3)}, {"A": (3, 0)}], [{"A": (1, 2)}]),
    ("reduce/axis", "sum", {"axis": (-2, 1)}, [{"data": (2, 3)}], [{"data": (2,)}]),
    ("reduce/axis", "sum", {"axis": -3}, [{"data": (2, 3, 4)}], [{"data": (2, 3)}]),
    ("reduce/axis", "sum", {"axis": (0, -2)}, [{"data": (2, 3, 4)}], [{"data": (2, 3)}]),
    *(
        ("Pooling_v1/sides", "Pooling_v1", params, taken, refused)
        for params, taken, refused in (
            ({"kernel": (2, 2)}, [{}, {"data": (1, 1, 4, 4)}], [{"data": (1, 4, 4)}, {"data": (1, 1, 4, 4, 4)}]),
            ({"kernel": (2,)}, [], [{}]),
            ({"kernel": (2, 2), "stride": (1,)}, [], [{}]),
            ({"kernel": (2, 2), "pad": (1,)}, [], [{}]),
            ({"kernel": (2,), "global_pool": True}, [{"data": (1, 1, 4, 4)}], []),
        )
    ),
    ("sparse_retain/shape", "_sparse_retain", {}, [{"data": (2,)}, {"data": (2, 3)}], [{"data": ()}]),
    *(
        (
            f"{name}/shape", name, {**params, "spatial_scale": 1},
            [{"data": (1, 4, 5, 5), "rois": (3, width)}, {"data": (1, 0, 5, 5)}, {"rois": (3, width)}],
            [{"data": (4, 5, 5), "rois": (3, width)}, {"data": (1, 4, 5, 5), "rois": (3, 4)}, *few],
        )
        for name, width, params, few in (
            ("_contrib_ROIAlign", 5, {"pooled_size": (2, 2)}, []),
            ("_contrib_RROIAlign", 6, {"pooled_size": (2, 2)}, []),
            ("_contrib_PSROIPooling", 5, {"output_dim": 1, "pooled_size": 2}, [{"data": (1, 3, 5, 5)}]),
            (
                "_contrib_DeformablePSROIPooling", 5,
                {"output_dim": 1, "pooled_size": 2, "group_size": 2, "no_trans": True}, [{"data": (1, 3, 5, 5)}],
            ),
        )
    ),
    ("pick/axis", "pick", {"axis": None}, [], [{"data": (2, 3), "index": (2,)}]),
    *(
        ("ROIPooling/shapes", "ROIPooling", {"pooled_size": size, "spatial_scale": 1}, [], [{"data": (1, 2, 5, 5)}])
        for size in ((0, 2), (2, 0), (2,), (1, 1, 1))
    ),
]


# (clause, operator, parameters, shapes of its inputs, shape of its output)
RESULTS: list[tuple[str, str, dict[str, Any], Shapes, tuple[int, ...]]] = [
    ("argmax/shape", "argmax", {}, {"data": (2, 3)}, (1,)),
    ("argmax/shape", "argmax", {"keepdims": True}, {"data": (2, 3)}, (1, 1)),
    ("argmax/shape", "argmax", {"axis": 1}, {"data": (2, 3, 4)}, (2, 4)),
    # ceil((7 - 2 (1 + 0)) / 2) and ceil((8 - 2) / 2)
    ("Correlation/output-size", "Correlation", {"stride1": 2}, {"data1": (1, 2, 7, 8)}, (1, 9, 3, 3)),
    ("Correlation/shapes", "Correlation", {"stride1": 3, "pad_size": 2}, {"data2": (2, 5, 9, 3)}, (2, 9, 4, 2)),
    ("Pooling/sides", "Pooling", {"kernel": (2, 2)}, {"data": (1, 1, 4, 5)}, (1, 1, 3, 4)),  # stride 1 and pad 0
    ("Pooling/sides", "Pooling", {"kernel": (2, 2), "pad": (1, 0)}, {"data": (1, 1, 4, 5)}, (1, 1, 5, 4)),
    ("argmax/shape", "argmin", {"axis": 1, "keepdims": True}, {"data": (2, 3, 4)}, (2, 1, 4)),
]


# (clauses, operator, parameters, known inputs and outputs, what follows)
INFERRED: list[tuple[tuple[str, ...], str, dict[str, Any], tuple[list, list], tuple[list, list]]] = [
    (("Reshape/size",), "Reshape", {"shape": (-1,)}, ([(0, 3)], [(12,)]), ([(4, 3)], [(12,)])),
    *(
        (("FullyConnected/weight-shape",), "FullyConnected", {"num_hidden": 4, "no_bias": True}, *row)
        for row in (
            (([(2, 3), (0, 0)], [None]), ([(2, 3), (4, 3)], [(2, 4)])),
            (([(2, 0), (4, 3)], [None]), ([(2, 3), (4, 3)], [(2, 4)])),
            (([(0, 0), (4, 3)], [(2, 4)]), ([(2, 3), (4, 3)], [(2, 4)])),
            (([(2, 0), (0, 0)], [None]), ([(2, 0), (4, 0)], [(2, 4)])),
            (([None, (4, 3)], [None]), ([None, (4, 3)], [None])),
            (([None, None], [(2, 4)]), ([None, (4, 0)], [(2, 4)])),
        )
    ),
    *(
        (("LayerNorm/axis",), "LayerNorm", {"axis": axis}, *row)
        for axis, row in (
            (1, (([(0, 3), (0,), (0,)], [None, (2, 1), None]), ([(2, 3), (3,), (3,)], [(2, 3), (2, 1), (2, 1)]))),
            (-2, (([(3, 0), (0,), (0,)], [None, None, (1, 2)]), ([(3, 2), (3,), (3,)], [(3, 2), (1, 2), (1, 2)]))),
        )
    ),
    *(
        (("UpSampling/multi-input-mode",), "UpSampling", {"scale": 2, "num_args": 2, "sample_type": "nearest"}, *row)
        for row in (
            (([(1, 2, 3, 3), (1, 3, 3, 3)], [None]), ([(1, 2, 3, 3), (1, 3, 3, 3)], [(1, 5, 6, 6)])),
            (([(1, 2, 3, 3), (1, 0, 3, 3)], [(1, 5, 6, 6)]), ([(1, 2, 3, 3), (1, 3, 3, 3)], [(1, 5, 6, 6)])),
            (([(1, 2, 3, 3), (1, 0, 3, 3)], [None]), ([(1, 2, 3, 3), (1, 0, 3, 3)], [(1, 0, 6, 6)])),
        )
    ),
    *(
        (("linalg_sumlogdiag/sum", "linalg/shape"), "_linalg_sumlogdiag", {}, known, found)
        for known, found in (
            (([(0, 2, 2)], [(3,)]), ([(3, 2, 2)], [(3,)])),
            (([(2, 2)], [None]), ([(2, 2)], [(1,)])),
            (([(0, 5, 2, 2)], [(3, 0)]), ([(3, 5, 2, 2)], [(3, 5)])),
        )
    ),
]


def infer(name: str, params: dict[str, Any], shapes: Shapes) -> list[Any]:
    op = get(name)
    p = op.parse(params)
    ins = [shapes.get(n) for n in op.input_names(p)]
    return op.infer(p, ins, [shapes.get(n) for n in op.output_names(p)])[1]


@pytest.mark.parametrize("row", [pytest.param(row, marks=pytest.mark.clause(row[0]), id=row[0]) for row in SHAPES])
def test_shapes(row: tuple) -> None:
    clause, name, params, taken, refused = row
    for shapes in taken:
        infer(name, params, shapes)
    for shapes in refused:
        with pytest.raises(MXNetError) as caught:
            infer(name, params, shapes)
        assert caught.value.clause == clause, shapes


@pytest.mark.parametrize(
    "row", [pytest.param(row, marks=pytest.mark.clause(row[0]), id=f"{row[1]}-{row[2]}") for row in RESULTS]
)
def test_output_shapes(row: tuple) -> None:
    _, name, params, shapes, out = row
    assert tuple(infer(name, params, shapes)[0]) == out


@pytest.mark.parametrize(
    "row", [pytest.param(row, marks=pytest.mark.clause(*row[0]), id=f"{row[1]}-{row[3]}") for row in INFERRED]
)
def test_what_follows_from_parts(row: tuple) -> None:
    _, name, params, (ins, outs), (found_ins, found_outs) = row
    op = get(name)
    made = op.infer(op.parse(params), list(ins), list(outs))
    assert [[shape and tuple(shape) for shape in part] for part in made] == [found_ins, found_outs]


# --- values --------------------------------------------------------------------------------------


@pytest.mark.clause("BatchNorm/fix-gamma")
def test_gamma_is_set_to_one_for_the_gradient_too() -> None:
    # x = 1, 3 with eps 0 in evaluation: the gradient is head * 1 / sqrt(4), whatever gamma was given meanwhile
    arrays = [np.array(a, np.float32) for a in ([[1], [3]], [5], [0], [0], [4])]
    call = Call("BatchNorm", arrays, {"eps": 0})
    call.forward(is_train=False)
    call.ins[1].fill_from(np.array([7.0]))
    found = call.backward([np.array([[1.0], [2.0]])], is_train=False)[0]
    assert found is not None and found.tolist() == [[0.5], [1.0]]
    assert call.ins[1].to_numpy().tolist() == [1]


@pytest.mark.clause("lars/rate")
def test_lengths_below_one_are_lengths() -> None:
    # w = 0.5 and g = 0.25: 2 * 3 * 0.5 / (1 * 0.25 + 0 * 0.5 + 0.5)
    assert run("multi_lars", [2], [0.25], [0.0625], [0], eta=3, eps=0.5) == [4.0]


@pytest.mark.clause("NDArrayIter/before-first")
def test_the_first_batch_may_be_one_row() -> None:
    rows = io.NDArrayIter(np.array([[1.0], [2.0]]), batch_size=1)
    with pytest.raises(MXNetError):
        rows.getdata()
    assert rows.iter_next()
    assert rows.getdata()[0].asnumpy().tolist() == [[1]]


@pytest.mark.clause("Pooling/average")
def test_a_window_in_the_padding_is_empty() -> None:
    options = {"kernel": (1,), "pad": (1,), "pool_type": "avg", "count_include_pad": False}
    assert run("Pooling", [[[2]]], **options) == [[[0.0, 2.0, 0.0]]]


@pytest.mark.clause("erfinv/value", "erfinv/slope")
@pytest.mark.parametrize("x", [1e-300, 1e-10, 0.25, 0.5, 0.75, 1 - 2.0**-40])
def test_erfinv_to_its_last_digits(x: float) -> None:
    y = float(Call("erfinv", [np.array([x])], {}).forward()[0][0])
    found, wanted = (math.erfc(y), 1 - x) if x > 0.5 else (math.erf(y), x)
    assert abs(found - wanted) <= 2e-14 * wanted * max(1.0, y * y)  # as exactly as y is rounded


@pytest.mark.clause("_contrib_Proposal/anchors", "_contrib_Proposal/cycle")
def test_scales_are_taken_in_order() -> None:
    # by hand: one pixel of 16, whose anchors 0 .. 15 and -8 .. 23 are cut at 0; the scores are 0.9 and 0.8
    scores, deltas = [[[[0]], [[0]], [[0.9]], [[0.8]]]], [[[[0]]] * 8]
    options = {"scales": (1, 2), "ratios": (1,), "rpn_min_size": 0, "rpn_post_nms_top_n": 3}
    found = run("_contrib_Proposal", scores, deltas, [[30, 30, 1]], **options)
    assert found == [[0, 0, 0, 15, 15], [0, 0, 0, 23, 23], [0, 0, 0, 15, 15]]


@pytest.mark.clause("rmsprop/centred", "rmsprop/step")
def test_averages_of_rmsprop_change_in_place() -> None:
    arrays = [np.array(a, np.float64) for a in ([1], [2], [16], [3], [5])]
    call = Call("rmspropalex_update", arrays, {"lr": 1, "gamma1": 0.5, "gamma2": 0.5, "epsilon": 0})
    # n' = 8 + 2, g' = 1.5 + 1, delta' = 2.5 - 2 / sqrt(10 - 6.25)
    moved = 2.5 - 2 / math.sqrt(3.75)
    np.testing.assert_allclose(call.forward()[0], [1 + moved], rtol=1e-6)
    for given, wanted in zip(call.ins[2:], (10, 2.5, moved), strict=True):
        np.testing.assert_allclose(given.to_numpy(), [wanted], rtol=1e-6)
    call = Call("rmsprop_update", arrays[:3], {"lr": 1, "gamma1": 0.5, "epsilon": 0})
    np.testing.assert_allclose(call.forward()[0], [1 - 2 / math.sqrt(10)], rtol=1e-6)
    np.testing.assert_allclose(call.ins[2].to_numpy(), [10], rtol=1e-6)


@pytest.mark.clause("adadelta/step")
def test_averages_of_adadelta_change_in_place() -> None:
    # squares 7 + 2 = 9, delta = sqrt(9) / sqrt(9) * 2 = 2, deltas 4.5 + 2
    call = Call("_adadelta_step", [np.array(a, np.float64) for a in ([5], [2], [14], [9])], {"rho": 0.5, "epsilon": 0})
    assert call.forward()[0].tolist() == [3]
    assert [given.to_numpy().tolist() for given in call.ins[2:]] == [[9], [6.5]]


@pytest.mark.clause("_zeros_without_dtype/shape", "_zeros_without_dtype/dtype")
def test_zeros_have_the_type_that_is_given() -> None:
    op = get("_zeros_without_dtype")
    for number, found in ((0, np.float32), (1, np.float64), (-1, None)):
        assert op.infer_type(op.parse({"shape": (2,), "dtype": number}), [], [None]) == ([], [found])
    assert op.infer_type(op.parse({"shape": (2,)}), [], [np.dtype(np.int8)]) == ([], [np.dtype(np.int8)])


@pytest.mark.clause("softmax/type")
def test_types_of_softmax() -> None:
    op = get("softmax")
    half, single, double = (np.dtype(t) for t in ("float16", "float32", "float64"))
    plain, wide = op.parse({}), op.parse({"dtype": "float64"})
    assert op.infer_type(plain, [single], [None]) == ([single], [single])
    assert op.infer_type(plain, [None], [half]) == ([half], [half])
    assert op.infer_type(wide, [single], [None]) == ([single], [double])
    assert op.infer_type(wide, [None], [None]) == ([double], [double])
    assert op.infer_type(plain, [None], [None]) == ([None], [None])


@pytest.mark.clause("_contrib_box_nms/gradient", "_contrib_box_nms/order")
def test_the_head_of_a_removed_row_goes_nowhere() -> None:
    boxes = [[0, 0.5, 0, 0, 4, 4], [1, 0.25, 0, 0, 4, 4]]
    assert run("_contrib_box_nms", boxes) == [boxes[0], [-1.0] * 6]
    assert grad("_contrib_box_nms", boxes, head=[[1] * 6, [10] * 6]) == [[1.0] * 6, [0.0] * 6]


@pytest.mark.clause("_contrib_box_iou/value")
def test_every_pair_of_centers() -> None:
    # corners (0, 0, 2, 2), (4, 2, 6, 6) and (1, 1, 3, 3), (3, 5.5, 7, 6.5): 1 of 7 and 1 of 11
    left, right = [[1, 1, 2, 2], [5, 4, 2, 4]], [[2, 2, 2, 2], [5, 6, 4, 1]]
    assert run("_contrib_box_iou", left, right, format="center") == [[0.142857, 0.0], [0.0, 0.090909]]
