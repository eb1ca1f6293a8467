"""Small faults: a condition negated, a number off by one, operands swapped, a statement dropped, a loop reversed.

A fault is made in the syntax tree, which keeps its line numbers, so the changed code objects can take the place
of the loaded ones (``apply``). Texts of messages are left alone.
"""

from __future__ import annotations

import ast
import gc
import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import NamedTuple

NEGATE, OFFSET, SWAP, DROP, REVERSE = "negate", "offset", "swap", "drop", "reverse"
SUM = "reverse a sum"  # only a clause about the order of sums can tell
UNEVEN = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
ORDERING = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
REFUSALS = {"refusal": 0, "require": 2, "refuse": 0}  # how many arguments decide; the others are the message
SUMMING = (ast.Add, ast.Sub, ast.Mult)
COMBINING = {"combine", "log_add"}  # formulas that pages bind or call to take one more number into a sum
INDEPENDENT = {"items"}  # loops over these are declared to have no order
LONGEST = 100  # characters of code in a report


class Mutant(NamedTuple):
    """One fault: ``node`` counts the nodes of the file in the order of ``ast.walk``."""

    file: Path
    line: int
    function: str
    kind: str
    node: int
    part: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.function}: {self.kind}: {self.before}  ->  {self.after}"


# --- making faults -----------------------------------------------------------------------------------


def _no(test: ast.expr) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(ast.Not(), test), test)


def called(node: ast.AST) -> str:
    """The name of what is called, "" where nothing is."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _tests(node: ast.AST) -> list[tuple[ast.AST, str, int]]:
    """Where conditions hang: owner, field, place in the field (-1: not a list)."""
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        return [(node, "test", -1)]
    if isinstance(node, ast.comprehension):
        return [(node, "ifs", i) for i in range(len(node.ifs))]
    if called(node) == "require":
        return [(node, "args", 1)]
    return []


def _names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _accumulations(loop: ast.For) -> Iterator[ast.expr]:
    """What the loop's body adds to: ``x += y``, ``x = x + y``, ``x = combine(x, y)``."""
    for node in ast.walk(loop):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, SUMMING):
            if not isinstance(node.value, ast.Constant):  # a count
                yield node.target
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value, target = node.value, node.targets[0]
            parts = [value.left, value.right] if isinstance(value, ast.BinOp) else getattr(value, "args", [])
            sums = isinstance(getattr(value, "op", None), SUMMING) or called(value) in COMBINING
            if sums and any(isinstance(part, ast.Name) and part.id == target.id for part in parts):
                yield target


def carries(loop: ast.For) -> bool:
    """Whether a sum goes from one round of this loop to the next."""
    begun = {
        target.id for node in ast.walk(loop) if isinstance(node, ast.Assign) and node is not loop
        for target in node.targets if isinstance(target, ast.Name) and target.id not in _names(node.value)
    }
    changing = _names(loop.target)
    for _ in range(3):  # names computed from the loop's variable, from those, and so on
        changing |= {
            name for node in ast.walk(loop) if isinstance(node, ast.Assign) and _names(node.value) & changing
            for target in node.targets for name in _names(target) if isinstance(target, (ast.Name, ast.Tuple))
        }
    for target in _accumulations(loop):
        if isinstance(target, ast.Name) and target.id not in begun:
            return True
        if isinstance(target, ast.Subscript) and not _names(target.slice) & changing:
            return True
    return False


def _ordered(loop: ast.For) -> bool:
    """Whether the order of a loop's rounds shows where nothing is summed."""
    grows = any(called(n) in ("append", "extend") for n in ast.walk(loop))
    stops = any(isinstance(n, (ast.Break, ast.Return)) for n in ast.walk(loop))
    return grows or stops


def _droppable(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call) and not called(node.value).startswith("register")
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], (ast.Subscript, ast.Attribute))
    return isinstance(node, (ast.AugAssign, ast.Continue, ast.Break, ast.Raise))


def possible(node: ast.AST) -> Iterator[tuple[str, int]]:
    """(kind, part) of every fault that can be made at this node."""
    for part in range(len(_tests(node))):
        yield NEGATE, part
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield OFFSET, 1
        yield OFFSET, -1
    uneven = isinstance(node, ast.BinOp) and isinstance(node.op, UNEVEN)
    if uneven and ast.unparse(node.left) != ast.unparse(node.right):  # type: ignore[attr-defined]  # a BinOp
        yield SWAP, 0
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ORDERING):
        yield SWAP, 0
    if _droppable(node):
        yield DROP, 0
    if isinstance(node, ast.For) and called(node.iter) not in INDEPENDENT:
        if carries(node):
            yield SUM, 0
        elif _ordered(node):
            yield REVERSE, 0


def _replace(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
                return
            if isinstance(value, list) and any(v is old for v in value):
                setattr(parent, name, [new if v is old else v for v in value])
                return


def change(tree: ast.AST, node: ast.AST, kind: str, part: int) -> ast.AST:
    """Make a fault in the tree; returns the node that shows it."""
    if kind == NEGATE:
        owner, field, place = _tests(node)[part]
        if place < 0:
            setattr(owner, field, _no(getattr(owner, field)))
        else:
            getattr(owner, field)[place] = _no(getattr(owner, field)[place])
        return node
    if kind == OFFSET:
        node.value += part  # type: ignore[attr-defined]  # a constant, see possible
    elif kind == SWAP and isinstance(node, ast.BinOp):
        node.left, node.right = node.right, node.left
    elif kind == SWAP:
        node.left, node.comparators = node.comparators[0], [node.left]  # type: ignore[attr-defined]
    elif kind in (REVERSE, SUM):
        every = ast.Call(ast.Name("list", ast.Load()), [node.iter], [])  # type: ignore[attr-defined]
        node.iter = ast.Call(ast.Name("reversed", ast.Load()), [every], [])  # type: ignore[attr-defined]
    else:
        nothing = ast.copy_location(ast.Pass(), node)
        _replace(tree, node, nothing)
        return nothing
    return node


def _shown(node: ast.AST) -> str:
    if isinstance(node, ast.For):
        text = f"for {ast.unparse(node.target)} in {ast.unparse(node.iter)}"
    elif isinstance(node, (ast.If, ast.While)):
        text = f"{type(node).__name__.lower()} {ast.unparse(node.test)}"
    elif isinstance(node, ast.comprehension):
        text = " ".join(f"if {ast.unparse(test)}" for test in node.ifs)
    else:
        text = ast.unparse(node)
    return " ".join(text.split())[:LONGEST]


# --- finding places ----------------------------------------------------------------------------------


@cache
def parsed(file: Path) -> tuple[ast.Module, tuple[ast.AST, ...]]:
    """A file's tree and its nodes in the order of ``ast.walk``; nobody changes this copy."""
    tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
    return tree, tuple(ast.walk(tree))


@cache
def parents(file: Path) -> dict[ast.AST, ast.AST]:
    """The node above each node."""
    return {child: node for node in parsed(file)[1] for child in ast.iter_child_nodes(node)}


def above(file: Path, node: ast.AST) -> Iterator[ast.AST]:
    """The nodes above one, the nearest first."""
    up = parents(file)
    while node in up:
        node = up[node]
        yield node


def function_of(file: Path, node: ast.AST) -> ast.AST | None:
    """The function or lambda that a node is in."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return next((n for n in above(file, node) if isinstance(n, kinds)), None)


def _in_message(file: Path, node: ast.AST) -> bool:
    below = node
    for up in above(file, node):
        if isinstance(up, (ast.JoinedStr, ast.arguments)) or (isinstance(up, ast.FunctionDef) and below is up.returns):
            return True
        if isinstance(up, ast.AnnAssign) and below is up.annotation:
            return True
        deciding = REFUSALS.get(called(up))
        if deciding is not None and not any(below is a for a in up.args[:deciding]):  # type: ignore[attr-defined]
            return True
        below = up
    return False


def places(file: Path, wanted: Callable[[ast.AST], bool]) -> list[tuple[int, str, int]]:
    """(node, kind, part) of the faults at nodes that are wanted, inside functions and outside messages."""
    return [
        (number, kind, part)
        for number, node in enumerate(parsed(file)[1])
        if (kinds := list(possible(node))) and wanted(node)
        and (function := function_of(file, node)) is not None and not _draws(function) and not _in_message(file, node)
        for kind, part in kinds
        if not (kind == OFFSET and _interchangeable(file, node, part)) and not (kind == SUM and not _is_loop(function))
    ]


def _interchangeable(file: Path, node: ast.AST, part: int) -> bool:
    """Whether a number picks one of several alike: the first of a sequence, or one of the inputs of a call."""
    up = parents(file)[node]
    if not isinstance(up, ast.Subscript) or up.slice is not node:
        return False
    return (part < 0 and getattr(node, "value", None) == 0) or ast.unparse(up.value) in ("ins", "outs")


def _is_loop(function: ast.AST) -> bool:
    """Whether a function is one of a page's loops over numbers, or a formula for them."""
    marks = {getattr(mark, "id", "") for mark in getattr(function, "decorator_list", ())}
    return "scalar" in marks or any(called(node) == "items" for node in ast.walk(function))


def _draws(function: ast.AST) -> bool:
    """Whether a function makes calls for the laws, which is not the operator's behaviour."""
    arguments = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    return "draw" in arguments | _names(function) or getattr(function, "name", "") in ("refused", "refuses")


def _changed(file: Path, number: int, kind: str, part: int) -> tuple[ast.Module, ast.AST]:
    tree = ast.parse(file.read_text(encoding="utf-8"), str(file))
    node = next(n for i, n in enumerate(ast.walk(tree)) if i == number)
    shown = change(tree, node, kind, part)
    return ast.fix_missing_locations(tree), shown


def line_of(file: Path, node: ast.AST) -> int:
    """The line of a node, or of the first node in it that has one."""
    return next((n.lineno for n in (node, *ast.walk(node), *above(file, node)) if hasattr(n, "lineno")), 0)


def mutant(root: Path, file: Path, place: tuple[int, str, int]) -> Mutant:
    """Describe the fault at a place."""
    number, kind, part = place
    node = parsed(file)[1][number]
    function = getattr(function_of(file, node), "name", "<lambda>")
    _, shown = _changed(file, number, kind, part)
    seen = _shown(node)
    if kind == OFFSET:  # a bare number says little
        seen += f" in {_shown(parents(file)[node])}"
    return Mutant(file.relative_to(root), line_of(file, node), function, kind, number, part, seen, _shown(shown))


# --- applying ----------------------------------------------------------------------------------------


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def apply(root: Path, fault: Mutant) -> int:
    """Give the loaded functions of the file their changed code, in this process; returns how many."""
    file = root / fault.file
    tree, _ = _changed(file, fault.node, fault.kind, fault.part)
    before = _codes(compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True))
    after = _codes(compile(tree, str(file), "exec", dont_inherit=True))
    pairs = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    return _swap(real_path(str(file)), pairs)


@cache
def real_path(file: str) -> str:
    """The path of a code object's file with links followed: pages are imported through ``refimpl/kernels``."""
    return os.path.realpath(file)


@cache
def loaded() -> dict[str, list[FunctionType]]:
    """Every function that is loaded now, by its file. Called once, before children share this process's memory."""
    found: dict[str, list[FunctionType]] = {}
    gc.unfreeze()  # what the collection of tests froze is not listed otherwise
    for function in gc.get_objects():
        if type(function) is FunctionType:
            found.setdefault(real_path(function.__code__.co_filename), []).append(function)
    gc.freeze()  # a collection in a child need not touch, and so copy, what is loaded
    return found


def _swap(file: str, pairs: Iterable[tuple[CodeType, CodeType]]) -> int:
    changed = dict(pairs)
    found = [(one, changed[one.__code__]) for one in loaded().get(file, ()) if one.__code__ in changed]
    if any(len(new.co_freevars) != len(function.__code__.co_freevars) for function, new in found):
        return 0  # a variable of an outer function is no longer read: Python cannot swap such code
    for function, new in found:
        function.__code__ = new
    return len(found)
