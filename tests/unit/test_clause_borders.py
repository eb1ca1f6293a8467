"""Calls on both sides of a clause's border: what a page's single counter-example leaves open."""

from __future__ import annotations

from typing import Any

import pytest

from refimpl.kernels import get
from refimpl.kernels.foundation import UNKNOWN, MXNetError

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
    *(
        ("Pooling/p-value", "Pooling", {"kernel": (2,), "pool_type": kind, "p_value": number}, taken, refused)
        for kind, number, taken, refused in (
            *(("lp", number, [{"data": (1, 1, 4)}], []) for number in (1, 2, 3)),
            *(("lp", number, [], [{"data": (1, 1, 4)}]) for number in (None, 0, 4)),
            *(("sum", number, [{"data": (1, 1, 4)}], []) for number in (None, 4)),
        )
    ),
    ("Dropout/axis-range", "Dropout", {"axes": (0, 1)}, [{"data": (2, 3)}], [{"data": (2,)}]),
    ("Dropout/axis-range", "Dropout", {"axes": (-1,)}, [], [{"data": (2, 3)}]),
    (
        "linalg/square", "_linalg_inverse", {}, [{"A": (2, 2)}, {"A": (UNKNOWN, 3)}, {"A": (3, UNKNOWN)}],
        [{"A": (1, 2)}, {"A": (0, 3)}],
    ),
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
            [{"data": (1, 4, 5, 5), "rois": (3, width)}, {"data": (1, UNKNOWN, 5, 5)}, {"rois": (3, width)}],
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
    *(
        (
            "_contrib_PSROIPooling/sizes", "_contrib_PSROIPooling", {"spatial_scale": 1, **sizes},
            [{"data": (1, 4, 5, 5), "rois": (3, 5)}] * taken, [{"data": (1, 4, 5, 5), "rois": (3, 5)}] * (not taken),
        )
        for taken, sizes in (
            (True, {"output_dim": 1, "pooled_size": 1}), (True, {"output_dim": 1, "pooled_size": 2, "group_size": 1}),
            (False, {"output_dim": 0, "pooled_size": 1}), (False, {"output_dim": 1, "pooled_size": 0}),
            (False, {"output_dim": 1, "pooled_size": 1, "group_size": -1}),
        )
    ),
    ("Reshape/size", "Reshape", {"shape": (-3, -1)}, [{"data": (2, 3, 4)}], [{"data": (0, 3, 4)}]),
    ("slice_like/axes", "slice_like", {}, [{"data": (2, 3), "shape_like": (2, 1)}], [
        {"data": (2, 3), "shape_like": (2, 1, 4)}, {"data": (2, 3), "shape_like": (2,)},
    ]),
    ("slice_like/axes", "slice_like", {"axes": (0,)}, [{"data": (2, 3), "shape_like": (2, 1, 4)}], []),
    ("linalg/rank", "_linalg_makediag", {}, [{"A": (2,)}, {"A": (2, 3)}], [{"A": ()}]),
    ("Reshape/size", "Reshape", {"shape": (0, -1, 0)}, [{"data": (2, 3, 0)}], []),
    ("Reshape/size", "Reshape", {"shape": (-1, 0)}, [{"data": (4, 0)}], []),
    ("Pooling/kernel-fits", "Pooling", {"kernel": (4,)}, [{"data": (1, 1, 4)}], [{"data": (1, 1, 3)}]),
    ("Pooling/kernel-fits", "Pooling", {"kernel": (4,), "pad": (1,)}, [{"data": (1, 1, 2)}], [{"data": (1, 1, 1)}]),
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
    (
        "_contrib_PSROIPooling/shape", "_contrib_PSROIPooling", {"spatial_scale": 1, "output_dim": 1, "pooled_size": 2},
        {"data": (1, 4, 5, 5), "rois": (3, 5)}, (3, 1, 2, 2),
    ),
    (
        "_contrib_RROIAlign/shape", "_contrib_RROIAlign", {"spatial_scale": 1, "pooled_size": (2, 3)},
        {"data": (1, 4, 5, 5), "rois": (5, 6)}, (5, 4, 2, 3),
    ),
    ("slice/empty", "slice", {"begin": (2,), "end": (1,)}, {"data": (2, 3)}, (0, 3)),
    ("argmax/shape", "argmin", {"axis": 1, "keepdims": True}, {"data": (2, 3, 4)}, (2, 1, 4)),
]


# (clauses, operator, parameters, known inputs and outputs, what follows)
INFERRED: list[tuple[tuple[str, ...], str, dict[str, Any], tuple[list, list], tuple[list, list]]] = [
    (("Reshape/size",), "Reshape", {"shape": (-1,)}, ([(UNKNOWN, 3)], [(12,)]), ([(4, 3)], [(12,)])),
    *(
        (("FullyConnected/weight-shape",), "FullyConnected", {"num_hidden": 4, "no_bias": True}, *row)
        for row in (
            (([(2, 3), (UNKNOWN, UNKNOWN)], [None]), ([(2, 3), (4, 3)], [(2, 4)])),
            (([(2, UNKNOWN), (4, 3)], [None]), ([(2, 3), (4, 3)], [(2, 4)])),
            (([(UNKNOWN, UNKNOWN), (4, 3)], [(2, 4)]), ([(2, 3), (4, 3)], [(2, 4)])),
            (([(2, UNKNOWN), (UNKNOWN, UNKNOWN)], [None]), ([(2, UNKNOWN), (4, UNKNOWN)], [(2, 4)])),
            (([None, (4, 3)], [None]), ([None, (4, 3)], [None])),
            (([None, None], [(2, 4)]), ([None, (4, UNKNOWN)], [(2, 4)])),
        )
    ),
    *(
        (
            ("FullyConnected/weight-shape",), "FullyConnected", {"num_hidden": 5, "no_bias": True, "flatten": flatten},
            ([(2, 3, 4), None], [None]), ([(2, 3, 4), weight], [out]),
        )
        for flatten, weight, out in ((True, (5, 12), (2, 5)), (False, (5, 4), (2, 3, 5)))
    ),
    *(
        (("linalg_triangular/triangle",), "_linalg_trmm", params, *row)
        for params, row in (
            ({}, (([(2, 2), (UNKNOWN, 3)], [None]), ([(2, 2), (2, 3)], [(2, 3)]))),
            ({"rightside": True}, (([(3, 3), (2, UNKNOWN)], [None]), ([(3, 3), (2, 3)], [(2, 3)]))),
            ({}, (([None, None], [None]), ([None, None], [None]))),
        )
    ),
    *(
        (
            ("sequence/length",), "SequenceMask", {"use_sequence_length": True, "axis": axis},
            ([(2, 3, 4), None], [None]), ([(2, 3, 4), (batch,)], [(2, 3, 4)]),
        )
        for axis, batch in ((0, 3), (1, 2))
    ),
    *(
        (
            ("SliceChannel/squeeze-axis",), "SliceChannel", {"num_outputs": 2, "squeeze_axis": squeeze},
            ([None], [part, None]), ([data], [part, part]),
        )
        for squeeze, part, data in ((True, (3,), (3, 2)), (False, (3, 4), (3, 8)), (False, (3, 1), (3, 2)))
    ),
    *(
        (
            ("LeakyReLU/shape", "LeakyReLU/gamma-shape"), "LeakyReLU", {"act_type": "prelu"},
            ([(2, 3, 4), given], [None]), ([(2, 3, 4), gamma], [(2, 3, 4)]),
        )
        for given, gamma in ((None, (3,)), ((3,), (3,)), ((1,), (1,)), ((1, 1), (1, 1)))
    ),
    *(
        (("LayerNorm/axis",), "LayerNorm", {"axis": axis}, *row)
        for axis, row in (
            (1, (
                ([(UNKNOWN, 3), (UNKNOWN,), (UNKNOWN,)], [None, (2, 1), None]),
                ([(2, 3), (3,), (3,)], [(2, 3), (2, 1), (2, 1)]),
            )),
            (-2, (
                ([(3, UNKNOWN), (UNKNOWN,), (UNKNOWN,)], [None, None, (1, 2)]),
                ([(3, 2), (3,), (3,)], [(3, 2), (1, 2), (1, 2)]),
            )),
        )
    ),
    *(
        (("UpSampling/multi-input-mode",), "UpSampling", {"scale": 2, "num_args": 2, "sample_type": "nearest"}, *row)
        for row in (
            (([(1, 2, 3, 3), (1, 3, 3, 3)], [None]), ([(1, 2, 3, 3), (1, 3, 3, 3)], [(1, 5, 6, 6)])),
            (([(1, 2, 3, 3), (1, UNKNOWN, 3, 3)], [(1, 5, 6, 6)]), ([(1, 2, 3, 3), (1, 3, 3, 3)], [(1, 5, 6, 6)])),
            (([(1, 2, 3, 3), (1, UNKNOWN, 3, 3)], [None]), ([(1, 2, 3, 3), (1, UNKNOWN, 3, 3)], [(1, UNKNOWN, 6, 6)])),
        )
    ),
    *(
        (("linalg_sumlogdiag/sum", "linalg/shape"), "_linalg_sumlogdiag", {}, known, found)
        for known, found in (
            (([(UNKNOWN, 2, 2)], [(3,)]), ([(3, 2, 2)], [(3,)])),
            (([(2, 2)], [None]), ([(2, 2)], [(1,)])),
            (([(UNKNOWN, 5, 2, 2)], [(3, UNKNOWN)]), ([(3, 5, 2, 2)], [(3, 5)])),
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


@pytest.mark.parametrize(("clauses", "name", "params", "taken", "refused"), [
    pytest.param(*row, marks=pytest.mark.clause(row[0][0]), id=row[0][0])
    for row in (
        (
            ("gather_nd/places", "gather_nd/shape"), "gather_nd", {},
            [{"data": (2, 3), "indices": (1, 2)}, {"data": (2, 3), "indices": (2, 2)}],
            [{"data": (2, 3), "indices": (0, 2)}, {"data": (2, 3), "indices": (3, 2)}],
        ),
        (
            ("take/mode", "operator/nothing-to-choose"), "take", {"axis": 1},
            [{"a": (2, 1), "indices": (3,)}, {"a": (2, 0), "indices": (0,)}, {"a": (0, 0), "indices": (3,)}],
            [{"a": (2, 0), "indices": (3,)}],
        ),
        (
            ("argmax/type", "operator/nothing-to-choose"), "argmax", {"axis": 1}, [{"data": (2, 1)}, {"data": (0, 0)}],
            [{"data": (2, 0)}],
        ),
        *(
            (
                (clause, "operator/nothing-to-choose"), "softmax_cross_entropy", {},
                [{"data": (2, 1), "label": (2,)}, {"data": (0, 0), "label": (0,)}], [{"data": (2, 0), "label": (2,)}],
            )
            for clause in ("softmax_cross_entropy/sum", "softmax_cross_entropy/label-gradient")
        ),
        (
            ("linalg_triangular/triangle", "linalg/rank"), "_linalg_trmm", {},
            [{"A": (2, 2), "B": (2, 3)}, {"B": (2, 3)}], [{"B": (2,)}],
        ),
        (
            ("_contrib_index_copy/rows", "operator/nothing-to-choose"), "_contrib_index_copy", {},
            [{"old_tensor": (0, 2), "index_vector": (0,)}, {"old_tensor": (1, 2), "index_vector": (1,)}],
            [{"old_tensor": (0, 2), "index_vector": (1,)}],
        ),
    )
])
def test_shapes_that_another_clause_refuses(
    clauses: tuple[str, str], name: str, params: dict[str, Any], taken: list[Shapes], refused: list[Shapes]
) -> None:
    for shapes in taken:
        infer(name, params, shapes)
    for shapes in refused:
        with pytest.raises(MXNetError) as caught:
            infer(name, params, shapes)
        assert caught.value.clause == clauses[1], shapes
