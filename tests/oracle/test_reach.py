"""Which rows of MXNet's deviations could a search show that no search had shown: what each needs, and who draws it.

A row needs an operator with a type, a kind of value, a requirement or a flag. A program that has it need not fail.
"""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
import pytest

from refimpl.oracle import Capabilities, program_of
from refimpl.oracle.backends.mxnet import TYPES
from refimpl.oracle.programs.values import array_of


def _nodes(program, *names):
    return [node for node in program["nodes"] if node["op"] in names]


def _variable(program, node, place):
    """The name of the variable that is an input of a node; none where it is a result."""
    if place >= len(node.get("inputs", ())):
        return None
    source = program["nodes"][node["inputs"][place][0]]
    return source["name"] if source["op"] == "null" else None


def _values(program, node, place):
    name = _variable(program, node, place)
    return np.zeros(0) if name is None else array_of(program["arrays"][name])


def drawn(*names):
    return lambda program: bool(_nodes(program, *names))


def typed(dtype, *names):
    def has(program):
        return bool(_nodes(program, *names)) and any(s["dtype"] == dtype for s in program["arrays"].values())

    return has


def flag(name, **attrs):
    return lambda program: any(attrs.items() <= node["attrs"].items() for node in _nodes(program, name))


def gradient(place, *names):
    """Whether the gradient of an input is asked for."""
    def has(program):
        asked = {n for s in program["steps"] for n, r in (s.get("requirements") or {}).items() if r != "null"}
        back = any(step["do"] == "backward" for step in program["steps"])
        return back and any(_variable(program, node, place) in asked for node in _nodes(program, *names))

    return has


def value(name, place, wanted, kinds="fiu"):
    def has(program):
        arrays = [_values(program, node, place) for node in _nodes(program, name)]
        with np.errstate(invalid="ignore"):
            return any(a.dtype.kind in kinds and a.size and wanted(a).any() for a in arrays)

    return has


def region(name, width):
    """Whether a region is of a picture that is not there."""
    def has(program):
        for node in _nodes(program, name):
            of, boxes = _variable(program, node, 0), _values(program, node, 1)
            if of and boxes.size and (boxes.reshape(-1, width)[:, 0] >= program["arrays"][of]["shape"][0]).any():
                return True
        return False

    return has


def after_inference(*names):
    def has(program):
        steps = pairwise(program["steps"])
        back = any(a["do"] == "forward" and not a.get("train") and b["do"] == "backward" for a, b in steps)
        return back and bool(_nodes(program, *names))

    return has


def both(one, other):
    return lambda program: one(program) and other(program)


def _either(*conditions):
    return lambda program: any(condition(program) for condition in conditions)


REGRESSIONS = ("LinearRegressionOutput", "MAERegressionOutput", "LogisticRegressionOutput")
NEEDED = {
    "_contrib_allclose/result": drawn("_contrib_allclose"), "Proposal/filter": drawn("_contrib_Proposal"),
    "fill_element_0index/rows": drawn("fill_element_0index", "_contrib_group_adagrad_update"),
    "_onehot_encode/rows": drawn("_onehot_encode"), "quantized_conv/value": drawn("_contrib_quantized_conv"),
    "LRN/gradient": drawn("LRN"), "Executor/folds": both(drawn("Convolution"), drawn("BatchNorm")),
    "unary/elementwise": typed("float64", "erf", "gamma", "gammaln"),
    "trigonometry/degrees": typed("float64", "degrees", "radians"),
    "arange_like/values": typed("float16", "_contrib_arange_like"),
    "LeakyReLU/functions": typed("float64", "LeakyReLU"),
    "RegressionOutput/gradient": typed("float64", *REGRESSIONS), "erfinv/slope": typed("float64", "erfinv"),
    "Pooling_v1/average": typed("float64", "Pooling_v1"), "MakeLoss/gradient": typed("float64", "MakeLoss"),
    "SoftmaxOutput/normalization": typed("float64", "SoftmaxOutput"),
    "GroupNorm/formula": typed("float64", "GroupNorm"),
    "LayerNorm/formula": typed("float64", "LayerNorm"),
    "resize/precision": typed("float64", "_contrib_BilinearResize2D"),
    "_image_adjust_lighting/value": typed("float64", "_image_adjust_lighting"), "RNN/gradient": typed("float64", "RNN"),
    "SoftmaxActivation/mode": typed("float64", "SoftmaxActivation"),
    "random_pdf/precision": typed("float64", "_random_pdf_normal", "_random_pdf_gamma"),
    "Deconvolution/formula": typed("float64", "Deconvolution"),
    "div_sqrt_dim/value": value("_contrib_div_sqrt_dim", 0, lambda a: np.ones(a.shape, bool), "iu"),
    "LeakyReLU/selu-slope": both(flag("LeakyReLU", act_type="selu"), gradient(0, "LeakyReLU")),
    "LeakyReLU/gamma-sum": flag("LeakyReLU", act_type="prelu"),
    "Activation/gradient": flag("Activation", act_type="softrelu"),
    "Pooling/average": flag("Pooling", pool_type="avg"), "layer-norm/gradient": _either(
        flag("LayerNorm", output_mean_var="True"), flag("GroupNorm", output_mean_var="True")),
    "batch-norm-family/var": flag("_contrib_SyncBatchNorm", use_global_stats="True", output_mean_var="True"),
    "RNN/clip": lambda p: any("lstm_state_clip_min" in node["attrs"] for node in _nodes(p, "RNN")),
    "Activation/relu-nan": both(flag("Activation", act_type="relu"), value("Activation", 0, np.isnan, "f")),
    "LeakyReLU/at-zero": value("LeakyReLU", 0, np.isnan, "f"),
    "linalg_potrf/nan": value("_linalg_potrf", 0, np.isnan, "f"),
    "bipartite_matching/threshold": value("_contrib_bipartite_matching", 0, np.isnan, "f"),
    "BilinearSampler/outside": value("BilinearSampler", 1, np.isnan, "f"),
    "indexing/whole-numbers": _either(*(
        value(name, 1, lambda a: ~np.isfinite(a), "f") for name in ("take", "batch_take", "gather_nd", "pick"))),
    "gather_nd/range": value("gather_nd", 1, lambda a: a < 0), "box_encode/matches": value(
        "_contrib_box_encode", 1, lambda a: (a < 0) | (a > 4)),
    "CTCLoss/label-range": value("CTCLoss", 1, lambda a: (a < -1) | (a > 5)),
    "SequenceLast/last": value("SequenceLast", 1, lambda a: a <= 0),
    "requantize/value": value("_contrib_requantize", 0, lambda a: a == -(2**31)),
    "random_pdf/formulas": _either(
        value("_random_pdf_normal", 2, lambda a: a <= 0), value("_random_pdf_gamma", 0, lambda a: a == 0)),
    "random_pdf/support": value("_random_pdf_gamma", 0, lambda a: a < 0),
    "dirichlet/formula": value("_random_pdf_dirichlet", 0, lambda a: a == 0),
    "RROIAlign/between-pixels": region("_contrib_RROIAlign", 6),
    "PSROIPooling/least-size": region("_contrib_PSROIPooling", 5),
    "DeformablePSROIPooling/samples": region("_contrib_DeformablePSROIPooling", 5),
    "SoftmaxOutput/gradient": gradient(1, "SoftmaxOutput"), "SVMOutput/gradient": gradient(1, "SVMOutput"),
    "CTCLoss/gradient": gradient(1, "CTCLoss"),
    "sequence/length-gradient": gradient(1, "SequenceMask", "SequenceReverse", "SequenceLast"),
    "Pooling/gradient": both(flag("Pooling", pool_type="max"), after_inference("Pooling")),
    "batch-norm-family/gradient": after_inference("BatchNorm", "BatchNorm_v1", "_contrib_SyncBatchNorm"),
    "BatchNormWithReLU/gradient": after_inference("_contrib_BatchNormWithReLU"),
    "SoftmaxOutput/rows": lambda p: any(
        len(p["arrays"].get(_variable(p, node, 0), {}).get("shape", ())) >= 4 for node in _nodes(p, "SoftmaxOutput")),
}


def reached(programs: int, *, corners: bool) -> set[str]:
    """The rows that some of so many programs have what they need for."""
    seed = int(os.environ.get("REFIMPL_REACH_SEED", "9"))
    capabilities = Capabilities(2, corners=corners, dtypes=TYPES if corners else ("float32",))
    found: set[str] = set()
    for i in range(programs):
        program = program_of(seed, i, capabilities)
        found |= {row for row, has in NEEDED.items() if row not in found and has(program)}
    return found


def test_corners_reach_rows_that_were_out_of_reach() -> None:
    assert len(NEEDED) == 57
    assert len(reached(800, corners=True)) >= 20


@pytest.mark.long
def test_most_rows_are_within_reach_of_16_000_programs() -> None:
    assert len(reached(16_000, corners=False)) <= 20
    assert len(reached(16_000, corners=True)) >= 48
