"""Runs the worked examples in every page's docstring, with ``run`` and ``grad`` in scope."""

from __future__ import annotations

import doctest

import pytest

from refimpl.kernels import distinct, grad, run
from refimpl.kernels.foundation import Op

PAGES: dict[str, Op] = {op.forward.__module__: op for op in distinct()}


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda page: page.rpartition(".")[2])
def test_examples_of(page: str) -> None:
    scope = {"run": run, "grad": grad}
    test = doctest.DocTestParser().get_doctest(PAGES[page].doc, scope, page, None, 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    result = runner.run(test, out=report.append)
    assert result.failed == 0, "".join(report)
    assert result.attempted > 0, f"{page} has no worked example"
