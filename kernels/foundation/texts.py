"""The text of a loop, rewritten for a device and given the formulas and geometries that it names.

``loop.py`` describes the text and its forms for each device.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import dis
import importlib
import inspect
import math
from collections.abc import Callable, Sequence
from functools import cache, partial, reduce
from itertools import pairwise
from types import FunctionType, ModuleType
from typing import Any, get_type_hints

import numba
from numba import njit

from .axes import Axes, Flattening, axes_of, called, checked, definition_of, items, product_of, split, steps
from .devices import SIMULATED
from .ieee import as_python
from .later import cuda
from .refusal import refusal
from .rounding import greater, lesser, modulo, times

__all__ = [
    "UNCALLED_FROM_C", "Target", "flattened", "formula_for", "geometries_of", "globals_for", "inlined", "items",
    "rewrite", "scalar", "steps",
]


def scalar(function: Callable) -> Callable:
    """Mark a formula over numbers that loops may call on either device."""
    function.__scalar__ = True  # type: ignore[attr-defined]  # a mark that `globals_for` reads
    return function


def inlined(formula: Callable) -> Callable:
    """Mark a formula that runs faster than a call takes, although LLVM finds it too long to inline it into loops."""
    formula.__inlined__ = True  # type: ignore[attr-defined]  # a mark that `formula_for` reads
    return formula


class _ForCpu(Flattening):
    """``items(n)`` -> ``range(n)``, ``a[i]`` -> ``a[uintp(i)]``."""

    def index(self, place: ast.expr) -> ast.expr:
        return called("_uintp", place)

    def flat(self, name: str, place: list[ast.expr]) -> ast.expr:
        if not numba.config.BOUNDSCHECK:
            return super().flat(name, place)
        whole: list[ast.expr] = [called("_whole", index) for index in place]
        return called("_checked", ast.Tuple(whole, ast.Load()), ast.Tuple([*self.sides(name)], ast.Load()))

    def shared(
        self, names: Sequence[ast.expr], sides: list[ast.expr], body: list[ast.stmt], item: str
    ) -> list[ast.stmt]:
        """A range over planes around those over their two axes: more ranges take LLVM twice as long to compile."""
        if len(names) < 4:
            return super().shared(names, sides, body, item)
        plane = super().shared(names[-2:], sides[-2:], body, item)
        planes = called("range", product_of(sides[:-2]))
        return [ast.For(ast.Name(item, ast.Store()), planes, [*split(names[:-2], sides[:-2], item), *plane], [])]

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802  # a node's name
        if isinstance(node.func, ast.Name) and node.func.id == "items":
            node.func.id = "range"
        return super().visit_Call(node)


class _ForCuda(Flattening):
    """``items(n)`` -> ``range(cuda.grid(1), n, cuda.gridsize(1))``, ``a * b`` -> ``times(a, b)``; see ``rounding``."""

    FUNCTIONS: dict[type[ast.operator], str] = {} if SIMULATED else {ast.Mult: "_times", ast.Mod: "_modulo"}
    CHOICES: dict[str, str] = {} if SIMULATED else {"max": "_greater", "min": "_lesser"}

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:  # noqa: N802  # a node's name
        self.generic_visit(node)
        name = self.FUNCTIONS.get(type(node.op))
        return called(name, node.left, node.right) if name else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:  # noqa: N802  # a node's name
        if type(node.op) not in self.FUNCTIONS:
            return self.generic_visit(node)
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        return ast.Assign([self.visit(node.target)], self.visit(ast.BinOp(read, node.op, node.value)))

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802  # a node's name
        super().visit_Call(node)
        match node.func:
            case ast.Name("items"):
                return _share(node.args[0])
            case ast.Name(name) if name in self.CHOICES:
                return reduce(partial(called, self.CHOICES[name]), node.args)
        return node

    def shared(
        self, names: Sequence[ast.expr], sides: list[ast.expr], body: list[ast.stmt], item: str
    ) -> list[ast.stmt]:
        """One range over all places, of which each thread has a share."""
        share = _share(product_of(sides))
        return [ast.For(ast.Name(item, ast.Store()), share, [*split(names, sides, item), *body], [])]


def _share(count: ast.expr) -> ast.expr:
    share = ast.parse("range(_cuda.grid(1), 0, _cuda.gridsize(1))", mode="eval").body
    share.args[1] = count  # type: ignore[attr-defined]  # a Call by construction
    return share


def _place(function: FunctionType, use: dis.Instruction) -> str:
    """The file and the line of an instruction."""
    line = max(line for offset, line in dis.findlinestarts(function.__code__) if line and offset <= use.offset)
    return f"{function.__code__.co_filename}:{line}"


def _require_global(function: FunctionType, use: dis.Instruction) -> None:
    """Refuse ``sinh`` that nobody imported with its line, as ``_require_name`` does."""
    if use.argval in function.__globals__ or hasattr(builtins, use.argval):
        return
    near = difflib.get_close_matches(use.argval, function.__globals__, 1)
    near = [f"math.{use.argval}"] if hasattr(math, use.argval) else near
    hint = f"; did you mean {near[0]}?" if near else ""
    raise refusal(
        "contract/known-function",
        f"{_place(function, use)}: the name {use.argval} is neither set nor imported on this page{hint}", NameError,
    )


def _require_name(function: FunctionType, module: Any, use: dis.Instruction) -> None:
    """Refuse ``math.sine`` with its line, before Numba types it for a minute."""
    if isinstance(module, ModuleType) and module is not cuda and not hasattr(module, use.argval):
        swapped = [one for one in dir(module) if sorted(one) == sorted(use.argval)]  # letters in another order
        near = swapped or difflib.get_close_matches(use.argval, dir(module), 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise refusal(
            "contract/known-function",
            f"{_place(function, use)}: the module {module.__name__} has no {use.argval}{hint}",
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
        if first.opname == "LOAD_GLOBAL":
            _require_global(function, first)
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
    scope |= {"_uintp": numba.uintp, "_whole": numba.intp, "_checked": checked}
    if device == "gpu":
        scope["_cuda"] = importlib.import_module("numba.cuda")
        if not SIMULATED:
            scope |= {"_times": times(), "_modulo": modulo(), "_greater": greater(), "_lesser": lesser()}
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


def rewrite(
    function: FunctionType, device: str, axes: Axes | None = None, *, is_formula: bool = False
) -> FunctionType:
    """Compile the function's own text as ``device`` ("cpu" or "gpu") needs it, keeping file, lines and name.

    ``axes`` are those of the loop whose other form it is, if they may not be its own.
    """
    definition = definition_of(function)
    scope = globals_for(function, device)
    flattening = (_ForCpu if device == "cpu" else _ForCuda)(function, axes_of(function) if axes is None else axes)
    definition = flattening.finished(definition)
    _name_geometries(definition, scope, {} if is_formula else geometries_of(function))
    return _made(function, definition, scope)


def _made(function: FunctionType, definition: ast.FunctionDef, scope: dict[str, Any]) -> FunctionType:
    tree = ast.fix_missing_locations(ast.Module([definition], []))
    made: dict[str, Any] = {}
    exec(compile(tree, inspect.getfile(function), "exec"), scope, made)  # noqa: S102  # our own source
    return made[function.__name__]


@cache
def flattened(function: FunctionType, axes: Axes | None = None) -> FunctionType:
    """The function over flat arrays, with the shapes of these ``axes``, or its own, behind its arguments."""
    axes = axes_of(function) if axes is None else axes
    if not axes:
        return function
    definition = Flattening(function, axes).finished(definition_of(function))
    for argument in definition.args.args:
        argument.annotation = None
    made = _made(function, definition, dict(function.__globals__))
    made.__annotations__ = function.__annotations__
    return made


# Only Python calls loops and only loops call formulas: each wrapper left out is a tenth of what compiling costs.
UNCALLED_FROM_C: dict[str, Any] = {"no_cfunc_wrapper": True}


@cache
def formula_for(formula: FunctionType, device: Target) -> Any:
    """A scalar formula as a function that loops on ``device`` can call."""
    if callable(device):
        return as_python(formula, globals_for(formula, device))
    if device == "cpu":
        if axes_of(formula):
            body = rewrite(formula, "cpu", is_formula=True)
        else:
            body = FunctionType(formula.__code__, globals_for(formula, "cpu"), formula.__name__)
        options = {"no_cpython_wrapper": True, "forceinline": hasattr(formula, "__inlined__")}
        return njit(nogil=True, error_model="numpy", **options, **UNCALLED_FROM_C)(body)
    return cuda.jit(device=True)(rewrite(formula, "gpu", is_formula=True))
