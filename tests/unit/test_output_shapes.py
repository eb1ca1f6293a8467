"""An output whose shape is known beforehand takes part in inference, and may contradict it."""

from __future__ import annotations

from typing import Any

import pytest

from refimpl.kernels import MXNetError, get
from refimpl.kernels.foundation import UNKNOWN


@pytest.mark.parametrize(
    ("clause", "name", "params", "data", "output"),
    [
        pytest.param(
            "FullyConnected/output-shape", "FullyConnected", {"num_hidden": 4}, (2, 3), (9, 4),
            marks=pytest.mark.clause("FullyConnected/output-shape"),
        ),
        pytest.param(
            "Convolution/output-shape", "Convolution", {"num_filter": 4, "kernel": (3,)}, (2, 3, 8), (2, 4, 7),
            marks=pytest.mark.clause("Convolution/output-shape"),
        ),
    ],
)
def test_a_contradicting_output_is_refused(
    clause: str, name: str, params: dict[str, Any], data: tuple[int, ...], output: tuple[int, ...]
) -> None:
    op = get(name)
    p = op.parse(params)
    with pytest.raises(MXNetError) as caught:
        op.infer(p, [data, None, None], [output])
    assert caught.value.clause == clause


def test_an_output_tells_the_batch() -> None:
    op = get("Convolution")
    p = op.parse({"num_filter": 4, "kernel": (3,)})
    (data, *_), (out,) = op.infer(p, [(UNKNOWN, 3, UNKNOWN), None, None], [(2, UNKNOWN, 6)])
    assert data == (2, 3, 8)
    assert out == (2, 4, 6)
