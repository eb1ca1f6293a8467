"""The changes of one expression or statement that ``making_faults`` tries."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests.meta import mutants

SKIPPED = ("infer", "refus", "cases", "check", "require", "__init__", "__repr__", "__str__", "needs", "shape")
"""Parts of names of functions whose faults show as errors, not as numbers."""


class Change(NamedTuple):
    """One change of a file's text."""

    kind: str
    file: Path
    function: str
    old: str
    new: str
    whole: str
    """The file's text after the change."""


# --- changes --------------------------------------------------------------------------------------


def _text(node: ast.AST) -> str:
    return ast.unparse(node)


SWAPPED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}


def _one_less(sides: ast.expr) -> str:
    """The sides of a loop over several axes, the first of them less by one; nothing where they are a number."""
    match sides:
        case ast.Tuple([ast.Starred(), *_]):
            return ""
        case ast.Tuple([first, *rest]):
            return f"({', '.join([f'{_text(first)} - 1', *map(_text, rest)])})"
        case ast.Attribute(array, "shape"):
            return f"({_text(array)}.shape[0] - 1, *{_text(array)}.shape[1:])"
        case ast.Subscript(ast.Attribute(_, "shape") as shape, ast.Slice(lower, upper)):
            first = int(_text(lower)) if lower is not None else 0
            end = _text(upper) if upper is not None else ""
            return f"({_text(shape)}[{first}] - 1, *{_text(shape)}[{first + 1}:{end}])"
    return ""


class Spot(NamedTuple):
    """Where a node stands."""

    up: ast.AST
    """The node that holds it."""
    indexing: bool
    """Whether it is part of an index."""
    loop: bool
    """Whether it is in a loop of a page."""


Edits = Iterator[tuple[str, str]]
"""(class, new text) of each change."""


def _of_call(node: ast.Call, spot: Spot) -> Edits:
    name = getattr(node.func, "id", "")
    if name in ("max", "min") and len(node.args) == 2:
        yield "boundary", f"{_text(node.args[0])}"
        yield "boundary", f"{_text(node.args[1])}"
    if name == "range" and spot.loop:
        *first, last = map(_text, node.args[:2])
        yield "boundary", f"range({', '.join([*first, last])} - 1)" if len(node.args) < 3 else "range(0)"
        if len(node.args) == 1:
            yield "term", f"range(1, {last})"
    if name == "steps" and (sides := _one_less(node.args[0])):
        yield "boundary", f"steps({sides})"
    if name == "items" and len(node.args) == 1:
        yield "memory", f"items({_one_less(node.args[0]) or f'{_text(node.args[0])} - 1'})"
    if _text(node) in ("np.float64(0)", "float64(0)"):
        yield "precision", "np.float16(0)"


IN_AN_INDEX: dict[type[ast.operator], tuple[tuple[str, str], ...]] = {
    ast.FloorDiv: (("index", "({0} % {1})"),),
    ast.Mod: (("index", "({0} // {1})"),),
    ast.Add: (("index", "({0})"), ("index", "({1})")),
    ast.Mult: (("index", "({0})"), ("index", "({1})")),
}
IN_A_LOOP: dict[type[ast.operator], tuple[tuple[str, str], ...]] = {
    ast.Add: (("term", "({0})"), ("term", "({0} + 2 * ({1}))"), ("sign", "({0} - ({1}))")),
    ast.Sub: (("term", "({0})"), ("term", "({0} - 2 * ({1}))"), ("sign", "({0} + ({1}))")),
    ast.Mult: (("term", "({0})"), ("sign", "(-({0}) * ({1}))")),
    ast.Div: (("sign", "({0})"), ("sign", "({0} / ({1}) * 0.5)")),
}
"""The changes of ``{0} op {1}``."""


def _of_operation(node: ast.BinOp, spot: Spot) -> Edits:
    table = IN_AN_INDEX if spot.indexing else IN_A_LOOP if spot.loop else {}
    for kind, form in table.get(type(node.op), ()):
        yield kind, form.format(_text(node.left), _text(node.right))


def _of_constant(node: ast.Constant, spot: Spot) -> Edits:
    if type(node.value) is int and isinstance(spot.up, ast.Subscript) and spot.up.slice is node:
        yield "index", "-1" if node.value != -1 else "0"
    if type(node.value) is int:
        yield from _of_side(node, spot)
    if type(node.value) is float and node.value != 0.0:
        yield "precision", repr(node.value * 1.0001)
        yield "sign", repr(node.value * 2)


def _of_side(node: ast.Constant | ast.Name, spot: Spot) -> Edits:
    if isinstance(spot.up, ast.Tuple) and spot.indexing:
        yield "index", "1" if _text(node) == "0" else "0"


def _of_assignment(node: ast.Assign, spot: Spot) -> Edits:
    if not isinstance(node.targets[0], ast.Subscript) or len(node.targets) != 1 or not spot.loop:
        return
    target, value = _text(node.targets[0]), _text(node.value)
    yield "memory", f"{target} += {value}"
    yield "precision", f"{target} = ({value}) * 1.0001"
    place = node.targets[0].slice
    is_first = f"({_text(place)}) == 0"
    if isinstance(place, ast.Tuple):
        is_first = f"{_text(place)} == {(0,) * len(place.elts)}"
    yield "precision", f"{target} = ({value}) * (1.0005 if {is_first} else 1)"
    yield "precision", f"{target} = np.float32(np.float16({value}))"
    cut = f"np.uint32((np.float32({value})).view(np.uint32) & 0xFFFF0000)"
    yield "precision", f"{target} = np.float32({cut}.view(np.float32))"
    if value in ("0", "0.0"):
        yield "memory", "pass"


def _of_sum(node: ast.AugAssign, spot: Spot) -> Edits:
    del spot
    if not isinstance(node.op, ast.Add):
        return
    target, value = _text(node.target), _text(node.value)
    if isinstance(node.target, ast.Subscript):
        yield "memory", f"{target} = {value}"
    elif not isinstance(node.value, ast.Constant):
        yield "term", f"{target} = {value}"
        yield "term", f"{target} += 2 * ({value})"
        yield "precision", f"{target} = np.float32(np.float16({target} + {value}))"


def _of_comparison(node: ast.Compare, spot: Spot) -> Edits:
    del spot
    if len(node.ops) == 1 and type(node.ops[0]) in SWAPPED:
        yield "boundary", f"{_text(node.left)} {SWAPPED[type(node.ops[0])]} {_text(node.comparators[0])}"


def _of_choice(node: ast.IfExp, spot: Spot) -> Edits:
    del spot
    yield "boundary", f"({_text(node.orelse)} if {_text(node.test)} else {_text(node.body)})"


def _of_sign(node: ast.UnaryOp, spot: Spot) -> Edits:
    if isinstance(node.op, ast.USub) and spot.loop and not spot.indexing:
        yield "sign", f"({_text(node.operand)})"


def _of_statement(node: ast.Expr, spot: Spot) -> Edits:
    if isinstance(node.value, ast.Call) and not spot.loop:
        called = node.value.func
        if getattr(called, "attr", "") == "fill" or getattr(called, "id", "").isupper():
            yield "memory", "pass"


PAGE_EDITS: dict[type[ast.AST], Callable[[Any, Spot], Edits]] = {
    ast.Compare: _of_comparison, ast.IfExp: _of_choice, ast.Call: _of_call, ast.BinOp: _of_operation,
    ast.UnaryOp: _of_sign, ast.Constant: _of_constant, ast.Name: _of_side, ast.Assign: _of_assignment,
    ast.AugAssign: _of_sum, ast.Expr: _of_statement,
}
"""The changes of each kind of node of a page."""


def _page_edits(node: ast.AST, up: ast.AST, indexing: bool, loop: bool) -> Edits:
    if type(node) in PAGE_EDITS:
        yield from PAGE_EDITS[type(node)](node, Spot(up, indexing, loop))


OTHER_CONSTANTS = {"write": "add", "add": "write", "null": "write"}


def _package_edits(kind: str, node: ast.AST, up: ast.AST) -> Edits:
    """The changes of a node of a module of the package."""
    if isinstance(node, ast.expr) and isinstance(up, (ast.If, ast.IfExp)) and up.test is node:
        yield kind, f"not ({_text(node)})"
    if isinstance(node, ast.Constant):
        yield from _other_constants(kind, node)
    elif isinstance(node, (ast.BoolOp, ast.Compare, ast.BinOp, ast.Subscript)):
        yield from _other_expressions(kind, node)
    elif isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign)) and mutants._droppable(node):
        yield kind, "pass"
    if isinstance(node, ast.expr) and isinstance(up, ast.For) and up.iter is node:
        yield kind, f"list({_text(node)})[:-1]"
        yield kind, f"list({_text(node)})[::-1]"
        yield kind, f"list({_text(node)})[:1]"
    if isinstance(node, ast.expr) and isinstance(up, ast.comprehension) and up.iter is node:
        yield kind, f"list({_text(node)})[::-1]"


def _other_constants(kind: str, node: ast.Constant) -> Edits:
    if type(node.value) in (int, float):
        yield kind, repr(node.value + 1)
    if node.value in ("write", "add", "null"):
        yield kind, repr(OTHER_CONSTANTS[node.value])
    if type(node.value) is bool:
        yield kind, repr(not node.value)


def _other_expressions(kind: str, node: ast.BoolOp | ast.Compare | ast.BinOp | ast.Subscript) -> Edits:
    if isinstance(node, ast.BoolOp):
        yield kind, f"({_text(node.values[0])})"
        yield kind, f"({_text(node.values[-1])})"
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in SWAPPED:
        yield kind, f"{_text(node.left)} {SWAPPED[type(node.ops[0])]} {_text(node.comparators[0])}"
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)):
        yield kind, f"({_text(node.left)})"
        if isinstance(node.op, (ast.Sub, ast.Div, ast.Pow)):
            yield kind, f"({_text(node.right)})"
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name):
        yield kind, f"{_text(node.value)}[0]"


@cache
def _defaults(file: Path) -> dict[str, str]:
    """Field -> default of the tables of parameters of a page."""
    found: dict[str, str] = {}
    for node in mutants.parsed(file)[1]:
        if isinstance(node, ast.ClassDef) and any(_text(base) == "NamedTuple" for base in node.bases):
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    default = _text(field.value) if field.value is not None else ""
                    found[field.target.id] = default or {"float": "1.0", "int": "1"}.get(_text(field.annotation), "")
    return found


def _parameter(node: ast.AST, file: Path) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "p":
        default = _defaults(file).get(node.attr, "")
        if default:
            yield "parameter", default


def places(file: Path, package: str = "") -> Iterator[tuple[str, Path, int, str]]:
    """(class, file, node, new text) of every change that can be made to a file."""
    for number, node in enumerate(mutants.parsed(file)[1]):
        if not hasattr(node, "lineno") or not hasattr(node, "end_lineno"):
            continue
        up = mutants.parents(file)[node]
        function = mutants.function_of(file, node)
        if not isinstance(function, ast.FunctionDef) or any(word in function.name for word in SKIPPED):
            continue
        loop = _in_loop(function) or file.parts[-2] == "shared"
        indexing = not package and any(
            isinstance(above, ast.Subscript) and above.value is not below
            for above, below in _chain(file, node, function)
        )
        edits = [*_package_edits(package, node, up)] if package else [
            *_page_edits(node, up, indexing, loop), *_parameter(node, file)
        ]
        if edits and not mutants._draws(function) and not mutants._in_message(file, node):
            for kind, text in edits:
                yield kind, file, number, text


@cache
def _in_loop(function: ast.AST) -> bool:
    return mutants._is_loop(function)


def changed(kind: str, file: Path, number: int, text: str) -> Change | None:
    """A change in full, or None where it is no Python."""
    source = file.read_text(encoding="utf-8")
    node: Any = mutants.parsed(file)[1][number]
    raw = source.encode()
    starts = [0]
    for line in raw.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    begin, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
    whole = (raw[:begin] + text.encode() + raw[end:]).decode()
    try:
        compile(whole, str(file), "exec")
    except SyntaxError:
        return None
    old, new = _lines(source, whole, node.lineno - 1, node.end_lineno - 1)
    function: Any = mutants.function_of(file, node)
    return Change(kind, file, function.name, old, new, whole)


def _chain(file: Path, node: ast.AST, function: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    below = node
    for above in mutants.above(file, node):
        if above is function:
            return
        yield above, below
        below = above


def _lines(source: str, whole: str, first: int, last: int) -> tuple[str, str]:
    """The lines that change, before and after, with as many around them as make them unique."""
    before, after = source.split("\n"), whole.split("\n")
    added = len(after) - len(before)
    turn = False
    while source.count("\n".join(before[first : last + 1])) != 1:
        if turn or first == 0:
            last += 1
        else:
            first -= 1
        turn = not turn
    return "\n".join(before[first : last + 1]), "\n".join(after[first : last + 1 + added])
