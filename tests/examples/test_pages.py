"""Runs the worked examples in every page's docstring, with ``run``, ``grad`` and ``np`` in scope.

They run as machine code in CI's lane ``bare``, and else only where a loop has a twin (``loops_as_text.py``).
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

from refimpl import kernels
from refimpl.kernels import distinct, get, grad, run

from ..loops_as_text import only_twins_are_compiled

MODULES = [m.name for m in pkgutil.iter_modules(kernels.__path__) if not m.ispkg]
DOCS = {name: importlib.import_module(f"{kernels.__name__}.{name}").__doc__ or "" for name in MODULES}
PAGES = sorted(name for name, doc in DOCS.items() if any(op.doc == doc for op in distinct()))


@pytest.mark.parametrize("page", PAGES)
def test_examples_of(page: str) -> None:
    scope = {"run": run, "grad": grad, "np": np}
    test = doctest.DocTestParser().get_doctest(DOCS[page], scope, page, None, 0)
    report: list[str] = []
    with only_twins_are_compiled():
        result = doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert result.failed == 0, "".join(report)
    assert result.attempted > 0, f"{page} has no worked example"


@pytest.mark.parametrize("name", [op.name for op in distinct() if op.cases is not None])
def test_the_text_of_an_operator_is_its_page(name: str) -> None:
    assert get(name).doc in DOCS.values()
