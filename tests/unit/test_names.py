"""Every public name of MXNet 1.9.1 is here and can be used, or spec/reference/porting/deviations.md says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

import refimpl as mx

from .mxnet_names import NAMES

DEVIATIONS = Path(__file__).parents[2] / "spec/reference/porting/deviations.md"
INSTANCES = {
    "NDArray": lambda: mx.nd.ones((2, 2)),
    "Symbol": lambda: mx.sym.Variable("x"),
    "RowSparseNDArray": lambda: mx.nd.sparse.zeros("row_sparse", (2, 2)),
    "CSRNDArray": lambda: mx.nd.sparse.zeros("csr", (2, 2)),
}


def _owner(path: str) -> object:
    if path in INSTANCES:
        return INSTANCES[path]()
    found: object = mx
    for part in path.split(".") if path != "mx" else ():
        found = getattr(found, part)
    return found


def _works(owner: object, name: str) -> bool:
    """Whether the name is there, and an operator stands behind it where it is one."""
    try:
        getattr(owner, name)
    except AttributeError:
        return False
    except mx.MXNetError as error:  # a method whose operator has no page
        return "not implemented" not in str(error)
    return True


@pytest.mark.clause("conventions/names")
@pytest.mark.parametrize("path", sorted(NAMES))
def test_names_are_here_or_explained(path: str) -> None:
    owner = _owner(path)
    explained = DEVIATIONS.read_text(encoding="utf-8")
    absent = [name for name in NAMES[path].split() if not _works(owner, name)]
    assert [name for name in absent if f"`{path}.{name}`" not in explained] == []


def test_an_absent_name_is_noticed() -> None:
    assert not _works(mx.nd.ones((1,)), "no_such_method")
    assert not _works(mx.engine, "no_such_function")
