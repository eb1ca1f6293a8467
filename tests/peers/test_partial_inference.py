"""Partial inference of every operator, here and in MXNet 1.9.1."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from refimpl.kernels import get
from refimpl.oracle.backends.isolate import Isolated
from refimpl.oracle.pages.draws import SeededDraw, example
from refimpl.symbol import Symbol

from .asking import here, needs_mxnet, text_of
from .compositions import alone
from .test_mxnet import OPERATORS

CALLS = 12
LESS = set(
    "BatchNorm BatchNorm_v1 _contrib_BatchNormWithReLU InstanceNorm IdentityAttachKLSparseReg LeakyReLU"
    " Correlation UpSampling _contrib_DeformableConvolution _contrib_DeformablePSROIPooling"
    " _contrib_ModulatedDeformableConvolution _contrib_MultiBoxDetection _contrib_MultiBoxTarget"
    " _contrib_box_decode _contrib_box_encode _linalg_potrf _linalg_potri _linalg_trmm _linalg_trsm"
    " _onehot_encode _ravel_multi_index _unravel_index _scatter_set_nd batch_dot fill_element_0index"
    " _contrib_interleaved_matmul_selfatt_valatt _random_pdf_dirichlet _random_pdf_exponential"
    " _random_pdf_gamma _random_pdf_generalized_negative_binomial _random_pdf_negative_binomial"
    " _random_pdf_normal _random_pdf_poisson _random_pdf_uniform _contrib_allclose _contrib_quantized_concat"
    " _contrib_calibrate_entropy".split()
)
"""Operators of which MXNet may report less: what the deviations of infer/sources are about."""
COUNTS = set(
    "Concat _rnn_param_concat RNN Pad UpSampling Correlation diag _linalg_makediag FullyConnected broadcast_like"
    " khatri_rao shape_array size_array _contrib_BilinearResize2D _contrib_quantized_concat"
    " _contrib_quantized_conv _cvcopyMakeBorder".split()
)
"""Operators of which MXNet may report sides that do not follow, or that follow from parameters alone."""
NAMES = [name for name in OPERATORS if not name.endswith(("_update", "_phase1", "_phase2"))]


def asks_of(shapes: dict[str, tuple[int, ...]], draw: SeededDraw) -> list[dict[str, list[int]]]:
    """Shapes of some inputs, of which some sides are unknown."""
    return [
        {
            name: [side if draw.integer(0, 3) else 0 for side in shape]
            for name, shape in shapes.items() if draw.boolean()
        }
        for _ in range(8)
    ]


def reported(symbol: Symbol, ask: dict[str, list[int]], answer: dict[str, np.ndarray]) -> list[Any]:
    """The three lists, completed by what was given: MXNet may forget that."""
    lists = json.loads(text_of(answer, "lists"))
    names = (symbol.list_arguments(), [""] * len(lists[1]), symbol.list_auxiliary_states())
    return [
        [completed(ask.get(name, []), shape) for name, shape in zip(*pair, strict=True)]
        for pair in zip(names, lists, strict=True)
    ]


def completed(given: list[int], found: list[int]) -> list[int]:
    if len(given) != len(found):
        return found or given
    return [side or told for side, told in zip(found, given, strict=True)]


def says_less(one: list[Any], other: list[Any]) -> bool:
    return all(
        not a or (len(a) == len(b) and all(x in (0, y) for x, y in zip(a, b, strict=True)))
        for part, whole in zip(one, other, strict=True) for a, b in zip(part, whole, strict=True)
    )


@pytest.mark.peer
@needs_mxnet
@pytest.mark.parametrize("operator", NAMES)
def test_partial_shapes(operator: str, bridge: Isolated) -> None:
    """The same report, unless MXNet raises or a deviation is known."""
    asked: list[tuple[str, Symbol, dict[str, list[int]], dict[str, Any]]] = []
    for number in range(CALLS):
        draw = SeededDraw(1000 * number + 20)
        of = example(get(operator), draw, untied=True)
        symbol = alone(of).net
        shapes = {name: array.shape for name, array in zip(of.names, of.arrays, strict=True)}
        if operator == "repeat" and not of.params["repeats"]:
            continue  # the deviation of repeat/positive
        if operator == "reset_arrays" or any(0 in shape for shape in shapes.values()):
            continue
        for ask in asks_of(shapes, draw):
            request = {"do": "infer_partial", "graph": symbol.tojson(), "shapes": ask}
            asked.append((str(of), symbol, ask, request))
    answers = bridge.run_many([request for _, _, _, request in asked])
    for (call, symbol, ask, request), theirs in zip(asked, answers, strict=True):
        if isinstance(theirs, Exception):
            continue
        ours, expected = (reported(symbol, ask, answer) for answer in (here(request), theirs))
        same = (
            ours == expected or (operator in LESS and says_less(expected, ours))
            or (operator in COUNTS and says_less(ours, expected)) or operator in LESS & COUNTS
        )
        assert same, f"{call} {ask}: {ours}, in MXNet {expected}"
