"""mx.nd.contrib, mx.sym.linalg and so on: operators whose internal names begin with the name of a namespace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels import distinct, get
from refimpl.kernels.foundation import REGISTRY

NAMESPACES = ("contrib", "image", "linalg")
SPACES = [pytest.param(mx.nd, id="nd"), pytest.param(mx.sym, id="sym")]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("namespace", NAMESPACES)
def test_every_operator_of_a_namespace_is_there(space: Any, namespace: str) -> None:
    prefix = f"_{namespace}_"
    for name in REGISTRY:
        short = name.removeprefix(prefix)
        if short != name:
            function = getattr(getattr(space, namespace), short)
            assert function.__name__ == short
            assert function.__doc__, name


def test_arrays() -> None:
    # nd.contrib.quadratic(nd.array([1, 2]), a=1, b=2, c=3)
    made = mx.nd.contrib.quadratic(mx.nd.array([1, 2]), a=1, b=2, c=3)
    assert made.asnumpy().tolist() == [6, 11]
    weight, history = mx.nd.array([[1, 2], [3, 4]]), mx.nd.ones((2, 1))
    mx.nd.contrib.group_adagrad_update(weight, mx.nd.array([[1, 2], [0, 0]]), history, lr=0.1, epsilon=0.5, out=weight)
    np.testing.assert_allclose(weight.asnumpy(), [[0.95, 1.9], [3, 4]], rtol=1e-6)


def test_symbols_are_named_by_the_short_name() -> None:
    # mx.sym.contrib.quadratic(mx.sym.Variable("a"), a=1).name
    with mx.name.NameManager():
        net = mx.sym.contrib.quadratic(mx.sym.Variable("a"), a=1)
    assert net.name == "quadratic0"
    assert '"op": "_contrib_quadratic"' in net.tojson()


@pytest.mark.parametrize("space", SPACES)
def test_functions_around_operators_stay(space: Any) -> None:
    assert space.contrib.rand_zipfian.__module__.endswith("contrib")
    assert mx.nd.contrib.adamw_update.__doc__ != get("_adamw_update").doc


def test_no_operator_is_lost_between_namespaces() -> None:
    names = {op.name for op in distinct()}
    assert {"_contrib_quadratic", "_contrib_group_adagrad_update"} <= names
    with pytest.raises(AttributeError):
        mx.nd.contrib.nothing_of_this_name  # noqa: B018
