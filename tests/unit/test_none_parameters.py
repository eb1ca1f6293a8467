"""None as the value of a parameter. What files hold was printed by MXNet 1.9.1 for the same calls."""

from __future__ import annotations

import json

import pytest

import refimpl as mx


def written(symbol: mx.sym.Symbol) -> dict[str, str]:
    """The attributes of the last node as its file holds them."""
    return json.loads(symbol.tojson())["nodes"][-1].get("attrs", {})


@pytest.mark.clause("slice_axis/range", "params/bad-value")
def test_none_is_a_value_where_it_may_be():
    x = mx.sym.Variable("x")
    assert mx.nd.slice_axis(mx.nd.array([[1, 2, 3]]), axis=1, begin=1, end=None).asnumpy().tolist() == [[2, 3]]
    assert mx.nd.slice_axis(mx.nd.array([[1, 2, 3]]), 1, 1, None).asnumpy().tolist() == [[2, 3]]
    assert written(mx.sym.slice_axis(x, axis=1, begin=1, end=None)) == {"axis": "1", "begin": "1", "end": "None"}
    assert written(mx.sym.sum(x, axis=None)) == {"axis": "None"}
    assert written(mx.sym.softmax(x, temperature=None)) == {"temperature": "None"}


@pytest.mark.clause("params/bad-value")
def test_elsewhere_none_leaves_the_parameter_out():
    x = mx.sym.Variable("x")
    assert written(mx.sym.Dropout(x, p=None)) == {}
    assert written(mx.sym.softmax(x, dtype=None)) == {}
    with pytest.raises(mx.MXNetError) as error:
        mx.sym.FullyConnected(x, num_hidden=None)
    assert error.value.clause == "params/required"
