"""The kernel cache and the functions that a kernel calls: an edit of any of them compiles it again."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType

import numba
import numpy as np
import pytest

from refimpl.kernels import distinct
from refimpl.kernels.foundation import LOOPS, cache, loop
from refimpl.kernels.foundation.axes import Axes
from refimpl.kernels.foundation.loop import Loop, python_loops
from refimpl.oracle.pages import laws
from refimpl.oracle.pages.draws import SeededDraw, example

from .cached_kernels import loaded, root

__all__ = ["root"]  # a fixture

pytestmark = [
    pytest.mark.clause("kernel-cache/callees"),
    pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled with the JIT disabled"),
]
HELPER = """from numba import njit

from refimpl.kernels.foundation import scalar


@scalar
def helped(x):
    return {} * x


@njit
def compiled(x):
    return {} * x
"""
FORMULA = """import helper_of_callees as functions
from helper_of_callees import compiled, helped
from numba import njit

from refimpl.kernels.foundation import scalar


def enclosing(inner):
    return njit(lambda x: inner(x))


enclosed = enclosing(compiled)


@scalar
def formula(x):
    return {}(x)
"""
LOOP = "def looped(x):\n    return formula(x)  # noqa: F821\n"


def module(folder: Path, name: str, text: str) -> ModuleType:
    """Write a module, import it, and forget what was known of the file."""
    file = folder / f"{name}.py"
    file.write_text(text)
    linecache.checkcache()
    for known in (cache._digest, cache._imported, cache.sources, cache.folder):
        known.cache_clear()
    sys.modules[name] = imported = ModuleType(name)
    exec(compile(text, file, "exec"), vars(imported))  # an import might read the bytecode of the text before
    return imported


@pytest.mark.parametrize("name", ["helped", "compiled", "functions.compiled", "enclosed"])
def test_an_edit_of_a_file_that_is_not_imported_compiles_again(root: Path, tmp_path: Path, name: str) -> None:
    """The loop's file imports nothing; its formula comes from a second file, and calls a function of a third."""

    def ran(factor: int) -> tuple[float, bool]:
        module(tmp_path, "helper_of_callees", HELPER.format(factor, factor))
        formula = module(tmp_path, "formula_of_callees", FORMULA.format(name)).formula
        kernel = Loop(module(tmp_path, "loop_of_callees", LOOP).looped, formula=formula)
        return kernel.cpu(np.float32(1.5)), loaded(kernel)

    assert [ran(2), ran(2), ran(3)] == [(3.0, False), (3.0, True), (4.5, False)]


def test_a_function_in_no_file_is_not_kept(root: Path) -> None:
    text = "def typed(x):\n    return 2 * x\n"
    linecache.cache["<a cell>"] = (len(text), None, text.splitlines(keepends=True), "<a cell>")
    scope: dict = {"__name__": "__main__"}
    exec(compile(text, "<a cell>", "exec"), scope)
    for _ in range(2):
        kernel = Loop(scope["typed"])
        assert kernel.cpu(np.float32(1.5)) == 3.0
        assert not list(root.glob("*/*"))


@pytest.mark.heavy
def test_whatever_a_loop_calls_is_in_its_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run as Python, every loop of every operator enters only files that its machine code is hashed with."""
    entered: dict[FunctionType, set[str]] = {}
    as_python = loop._as_python

    def watched(source: FunctionType, given: Callable, axes: Axes) -> Callable:
        run, files = as_python(source, given, axes), entered.setdefault(source, set())

        def run_watched(*args: object) -> None:
            sys.setprofile(lambda frame, event, arg: files.add(frame.f_code.co_filename))
            try:
                run(*args)
            finally:
                sys.setprofile(None)

        return run_watched

    monkeypatch.setattr(loop, "_as_python", watched)
    for op in distinct():
        for seed in range(2 if op.cases is not None else 0):
            with python_loops():
                laws.both_ways(example(op, SeededDraw(seed), "float64"))
    kernels = Path(loop.__file__).resolve().parents[1]
    machinery = {kernels / "foundation" / name for name in ("loop.py", "ieee.py")}  # they run loops as Python
    checked = 0
    for each in LOOPS:
        ran = {file for file in map(Path, entered.get(each._source, ())) if file.exists()}
        ours = {file.resolve() for file in ran if file.resolve().is_relative_to(kernels)} - machinery
        hashed = frozenset().union(*map(cache.sources, cache.files_of(each.cpu.py_func)))
        assert ours <= hashed, f"{each} calls functions of {ours - hashed}"
        checked += bool(ours)
    assert checked > 400
