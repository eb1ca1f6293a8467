"""The text of a loop, rewritten for a device and given the formulas and geometries that it names.

``loop.py`` tells what the text looks like and what becomes of it.
"""

from __future__ import annotations

import ast
import difflib
import dis
import importlib
import inspect
import textwrap
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from types import FunctionType, ModuleType
from typing import Any, get_type_hints

import numba
from numba import njit

from .devices import SIMULATED
from .ieee import as_python
from .later import cuda
from .refusal import refusal
from .rounding import modulo, times


def items(n: int) -> range:
    """Range over independent items; see ``loop.py``."""
    return range(n)


def scalar(function: Callable) -> Callable:
    """Mark a formula over numbers that loops may call on either device."""
    function.__scalar__ = True  # type: ignore[attr-defined]  # a mark that `globals_for` reads
    return function


def inlined(formula: Callable) -> Callable:
    """Mark a formula that takes less time than to call it, though LLVM finds it too long to copy it into loops."""
    formula.__inlined__ = True  # type: ignore[attr-defined]  # a mark that `formula_for` reads
    return formula


class _ForCpu(ast.NodeTransformer):
    """``items(n)`` -> ``range(n)``, ``a[i]`` -> ``a[uintp(i)]``."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        node.slice = ast.Call(ast.Name("_uintp", ast.Load()), [node.slice], [])
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "items":
            node.func.id = "range"
        return node


class _ForCuda(ast.NodeTransformer):
    """``items(n)`` -> ``range(cuda.grid(1), n, cuda.gridsize(1))``, ``a * b`` -> ``times(a, b)``; see ``rounding``."""

    FUNCTIONS: dict[type[ast.operator], str] = {} if SIMULATED else {ast.Mult: "_times", ast.Mod: "_modulo"}

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        name = self.FUNCTIONS.get(type(node.op))
        return ast.Call(ast.Name(name, ast.Load()), [node.left, node.right], []) if name else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        result = self.visit_BinOp(ast.BinOp(read, node.op, node.value))
        if isinstance(result, ast.BinOp):
            self.generic_visit(node)
            return node
        return ast.Assign([node.target], result)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "items":
            share = ast.parse("range(_cuda.grid(1), 0, _cuda.gridsize(1))", mode="eval").body
            share.args[1] = node.args[0]  # type: ignore[attr-defined]  # a Call by construction
            return share
        return node


def _require_name(function: FunctionType, module: Any, use: dis.Instruction) -> None:
    """Refuse ``math.sine`` with its line, before Numba types it for a minute."""
    if isinstance(module, ModuleType) and module is not cuda and not hasattr(module, use.argval):
        line = max(line for offset, line in dis.findlinestarts(function.__code__) if line and offset <= use.offset)
        swapped = [one for one in dir(module) if sorted(one) == sorted(use.argval)]  # letters in another order
        near = swapped or difflib.get_close_matches(use.argval, dir(module), 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise refusal(
            "contract/known-function",
            f"{function.__code__.co_filename}:{line}: the module {module.__name__} has no {use.argval}{hint}",
            AttributeError,
        )


Target = str | Callable[[Any], Any]
"""Where a text runs: "cpu" and "gpu" as machine code, or as Python, by a function such as ``ieee.for_python``."""


def globals_for(function: FunctionType, device: Target) -> dict[str, Any]:
    """The function's globals, with every scalar formula replaced by its form for ``device``."""
    scope = dict(function.__globals__)
    instructions = list(dis.get_instructions(function))
    loaded = {i.argval for i in instructions if i.opname == "LOAD_GLOBAL"}
    for first, second in pairwise(instructions):
        if first.opname == "LOAD_GLOBAL" and second.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            _require_name(function, scope.get(first.argval), second)
    for name in loaded:
        value = scope.get(name)
        if getattr(value, "__scalar__", False):
            scope[name] = formula_for(value, device)
        elif callable(device) and name in scope:
            scope[name] = device(value)
        elif value is cuda:
            scope[name] = importlib.import_module("numba.cuda")
    scope["_uintp"] = numba.uintp
    if device == "gpu":
        scope["_cuda"] = importlib.import_module("numba.cuda")
        if not SIMULATED:
            scope |= {"_times": times(), "_modulo": modulo()}
    return scope


def geometries_of(function: FunctionType) -> dict[str, type]:
    """The parameters of a loop that are geometries, with their classes."""
    hints = get_type_hints(function) if function.__annotations__ else {}
    return {name: kind for name, kind in hints.items() if hasattr(kind, "_fields")}


def _name_geometries(definition: ast.FunctionDef, scope: dict[str, Any], kinds: dict[str, type]) -> None:
    """Make the function take plain tuples and begin with ``g = Geometry(*_g)``."""
    for argument in definition.args.args:
        name, argument.annotation = argument.arg, None
        if name in kinds:
            scope[f"_kind_of_{name}"] = kinds[name]
            argument.arg = f"_{name}"
            naming = ast.parse(f"{name} = _kind_of_{name}(*_{name})").body[0]
            definition.body.insert(0, ast.copy_location(naming, definition.body[0]))


def rewrite(function: FunctionType, device: str, *, is_formula: bool = False) -> FunctionType:
    """Compile the function's own text as ``device`` ("cpu" or "gpu") needs it, keeping file, lines and name."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    definition = tree.body[0]
    definition.decorator_list = []  # type: ignore[attr-defined]  # a FunctionDef by construction
    scope = globals_for(function, device)
    tree = (_ForCpu() if device == "cpu" else _ForCuda()).visit(tree)
    _name_geometries(definition, scope, {} if is_formula else geometries_of(function))  # type: ignore[arg-type]  # likewise
    tree = ast.fix_missing_locations(tree)
    ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
    made: dict[str, Any] = {}
    exec(compile(tree, inspect.getfile(function), "exec"), scope, made)  # noqa: S102  # our own source
    return made[function.__name__]


# Only Python calls loops and only loops call formulas: each wrapper left out is a tenth of what compiling costs.
UNCALLED_FROM_C: dict[str, Any] = {"no_cfunc_wrapper": True}


@cache
def formula_for(formula: FunctionType, device: Target) -> Any:
    """A scalar formula as a function that loops on ``device`` can call."""
    if callable(device):
        return as_python(formula, globals_for(formula, device))
    if device == "cpu":
        body = FunctionType(formula.__code__, globals_for(formula, "cpu"), formula.__name__)
        options = {"no_cpython_wrapper": True, "forceinline": hasattr(formula, "__inlined__")}
        return njit(nogil=True, error_model="numpy", **options, **UNCALLED_FROM_C)(body)
    return cuda.jit(device=True)(rewrite(formula, "gpu", is_formula=True))
