"""Imports go one way: no file imports from one above it, and none inside a function but for what is listed here."""

from __future__ import annotations

import ast
import graphlib
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from .imports import Import, functions, imports, modules

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "refimpl"

MXNETS = frozenset(
    """attribute autograd base callback context contrib engine error executor executor_manager image initializer
    io kvstore libinfo log lr_scheduler metric misc model module monitor name ndarray onnx operator optimizer
    profiler random recordio registry resource rnn runtime symbol test_utils util visualization""".split()
)
"""The modules of MXNet 1.9.1 that are here too."""

OTHERS = {
    "cli": "the command line",
    "data": "the digits that come with the package",
    "executor_v2": "the Executor of MXNet 2.0, beside that of 1.x",
    "explain": "the page that shows a training step",
    "export": "networks for other frameworks, and the check of each layer",
    "files": "reading and writing files whole",
    "replay": "the fast road: what repeats is replayed",
    "oracle": "testing other implementations against this one",
    "op_registry": "what is known of an operator, and its functions in mx.nd and mx.sym",
    "quirks": "what MXNet does on purpose or not, and this package only when asked",
    "rules": "every rule of the specification by its name",
    "kernels": "the operators: a link to kernels/",
}
"""What else stands in the package's folder, at most twelve names."""

UPWARD = {
    "refimpl.symbol.symbol.Symbol.bind": "MXNet's method; executors are made of symbols",
    "refimpl.symbol.symbol.Symbol.simple_bind": "MXNet's method; executors are made of symbols",
    "refimpl.symbol.symbol.Symbol._bind": "MXNet's method; executors are made of symbols",
    "refimpl.symbol.symbol.Symbol._simple_bind": "MXNet's method; executors are made of symbols",
    "refimpl.symbol.symbol.Symbol._repr_svg_": "a notebook asks the object itself; drawings are made of data about it",
    "refimpl.oracle.plugin.Oracle.drawn": "pytest loads plugins always; this imports refimpl where an option asks",
    "refimpl.ndarray.ndarray.NDArray.backward": "MXNet's method; autograd computes with arrays",
}
"""Methods that import from above, because MXNet's classes have them or refimpl must not be imported yet, and why; at
most twelve, of one line each."""

HEAVY = frozenset({
    "PIL", "cv2", "graphviz", "matplotlib", "mxnet", "onnx", "onnxruntime", "safetensors", "scipy", "torch",
})
"""Optional packages: these alone may be imported inside functions."""


def _all() -> list[Import]:
    """Every import of the package but those of operators, which know nothing of it."""
    return [each for each in imports(PACKAGE) if not each.source.startswith("refimpl.kernels")]


def _edges(found: Iterable[Import], depth: int | None = None) -> dict[str, set[str]]:
    """Module -> modules that it imports, of this package; the first ``depth`` parts of their names."""
    edges: dict[str, set[str]] = defaultdict(set)
    for each in found:
        if f"{each.source}.{each.function}" in UPWARD or each.target.split(".")[0] != "refimpl":
            continue
        source, target = (".".join(name.split(".")[:depth]) for name in (each.source, each.target))
        if source != target and not target.startswith("refimpl.kernels"):
            edges[source].add(target)
    return edges


def test_the_package_holds_mxnets_names_and_few_others() -> None:
    present = {
        path.stem for path in PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file() or path.name == "kernels"
    } - {"__init__", "__main__"}
    assert present == MXNETS | set(OTHERS)
    assert len(OTHERS) <= 12


def test_imports_inside_functions_are_listed() -> None:
    unlisted = [
        f"{each.source}:{each.line} {each.function} imports {each.target}" for each in _all()
        if each.function and f"{each.source}.{each.function}" not in UPWARD
        and each.target.split(".")[0] not in HEAVY
    ]
    assert not unlisted, "\n".join(unlisted)


def _is_one_line(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function holds a docstring, an import and one statement that calls something."""
    docstring, *rest = function.body
    return (
        isinstance(docstring, ast.Expr) and isinstance(docstring.value, ast.Constant) and len(rest) == 2
        and isinstance(rest[0], ast.ImportFrom) and isinstance(rest[1], (ast.Return, ast.Expr))
        and isinstance(rest[1].value, ast.Call)
    )


def test_methods_that_import_from_above_are_one_line() -> None:
    assert len(UPWARD) <= 12
    found = {
        f"{module}.{title}": function
        for module, file in modules(PACKAGE).items() if not module.startswith("refimpl.kernels")
        for title, function in functions(ast.parse(file.read_text(encoding="utf-8")))
    }
    importing = {f"{each.source}.{each.function}" for each in _all()}
    for name in UPWARD:
        assert name in importing, f"{name} imports nothing; take it out of the list"
        assert name.split(".")[-2][:1].isupper(), f"{name} is no method"
        assert _is_one_line(found[name]), f"{name} is longer than an import and one call"


def test_no_module_is_on_a_circle() -> None:
    tuple(graphlib.TopologicalSorter(_edges(_all())).static_order())  # CycleError names the modules


def test_no_folder_is_on_a_circle() -> None:
    edges = _edges(_all(), depth=2)
    del edges["refimpl"]  # it imports all folders, and two files import it whole
    tuple(graphlib.TopologicalSorter(edges).static_order())  # CycleError names the folders


def test_folders_are_listed_lowest_first() -> None:
    edges = _edges(_all(), depth=2)
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    listed: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level and not node.module:
            listed += [name for name in (f"refimpl.{alias.name}" for alias in node.names) if name not in listed]
    for number, folder in enumerate(listed):
        assert edges[folder] & set(listed[number + 1 :]) == set(), folder


def test_operators_know_nothing_of_the_machine() -> None:
    # llvmlite comes with Numba
    outside = [
        each for each in imports(ROOT / "kernels")
        if each.target.split(".")[0] not in {"kernels", "numba", "numpy", "llvmlite", *sys.stdlib_module_names}
    ]
    assert not outside


FLOORS = {"foundation": 0, "shared": 1, "blocks": 3, "tuned": 3}
"""The folders of ``kernels/``; its files, the pages, stand on floor 2."""


def _floor(module: str) -> int:
    """The floor of a module of ``kernels/``; the package itself holds what foundation gives it."""
    _, *rest = module.split(".")
    return FLOORS.get(rest[0], 2) if rest else 0


def test_operators_stand_on_floors() -> None:
    """Pages know nothing of their twins, and what pages share knows nothing of pages."""
    upward = [
        f"{each.source}:{each.line} imports {each.target}" for each in imports(ROOT / "kernels")
        if each.source != "kernels" and each.target.split(".")[0] == "kernels"
        and _floor(each.target) > _floor(each.source)
    ]
    assert not upward, "\n".join(upward)
