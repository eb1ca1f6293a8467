"""Makes arrays of several axes, and loops over several axes, in the text of a loop flat before it is compiled.

``a[n, c, y, x]`` becomes ``a[((n * C + c) * H + y) * W + x]``. The sides C, H and W are those of the buffer's shape: a
loop passes them, as whole numbers, after the page's arguments. ``for n, c in items(a.shape)`` and
``for n, c in steps(a.shape)`` become nested ranges; the ranges of ``items`` go over planes and their two axes. On CUDA
``items`` becomes one range that the threads share, and each number in it is split into one index per axis. ``loop.py``
describes the texts that a page may contain.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache, reduce
from itertools import product
from types import CodeType, FunctionType
from typing import Any, NoReturn

from numba import njit

from .refusal import decides, refusal

Sides = tuple[int, ...]


def items(sides: int | Sides) -> Any:
    """Range over independent items, or over those of a shape, the last axis fastest; see ``loop.py``."""
    return product(*map(range, sides)) if isinstance(sides, tuple) else range(sides)


def steps(sides: Sides) -> Any:
    """Range over the places of a shape one after the other, the last axis fastest; see ``loop.py``."""
    return product(*map(range, sides))


Axes = tuple[tuple[int, int], ...]
"""The parameters of a loop that have several axes or whose shape its text names: position and number of axes."""


@cache
def text_of(code: CodeType) -> str:
    """The text of a function."""
    return textwrap.dedent(inspect.getsource(code))


def definition_of(function: FunctionType) -> ast.FunctionDef:
    """The syntax tree of a function, with its lines in its file; each call returns a new tree."""
    definition = ast.parse(text_of(function.__code__)).body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    ast.increment_lineno(definition, function.__code__.co_firstlineno - 1)
    return definition


def _refuse(clause: str, function: FunctionType, node: ast.AST, why: str) -> NoReturn:
    line = getattr(node, "lineno", function.__code__.co_firstlineno)
    raise refusal(clause, f"{function.__code__.co_filename}:{line}: {why}", TypeError)


# --- what a text says ----------------------------------------------------------------------------


def walk_of(node: ast.For) -> str | None:
    """``"items"`` or ``"steps"`` for a loop over the places of a shape; None for any other loop."""
    match node:
        case ast.For(ast.Tuple(), ast.Call(ast.Name("items" | "steps" as name), [_])):
            return name
    return None


def _require_whole(function: FunctionType, loop: ast.For) -> None:
    """Refuse a loop over several axes that may end before its last place."""
    here = f"a loop over the places of a shape visits all of them: it has no %s ({ast.unparse(loop.iter)})"
    if loop.orelse:
        _refuse("contract/every-place", function, loop.orelse[0], here % "else")
    inner: list[tuple[ast.AST, bool]] = [(node, False) for node in loop.body]
    while inner:
        node, is_inside = inner.pop()
        if isinstance(node, ast.Return):
            _refuse("contract/every-place", function, node, here % "return")
        if isinstance(node, ast.Break) and not is_inside:
            _refuse("contract/every-place", function, node, here % "break")
        is_loop = isinstance(node, (ast.For, ast.While))
        inner += [(child, is_inside or is_loop) for child in ast.iter_child_nodes(node)]


class _Reader:
    """Finds the number of axes of each parameter of a function."""

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        definition = definition_of(function)
        self.parameters = [argument.arg for argument in definition.args.args]
        self._found: dict[str, dict[int, ast.AST]] = {}
        self._shaped: dict[str, ast.AST] = {}
        for node in ast.walk(definition):
            self._read(node)

    def _read(self, node: ast.AST) -> None:
        match node:
            case ast.Subscript(ast.Name(name), place) if name in self.parameters:
                self._note(name, len(place.elts) if isinstance(place, ast.Tuple) else 1, node)
            case ast.Attribute(ast.Name(name), "shape") if name in self.parameters:
                self._shaped[name] = node
            case ast.For(ast.Tuple(names), ast.Call(ast.Name("items" | "steps"), [sides])) if isinstance(node, ast.For):
                _require_whole(self._function, node)
                self._unpack(names, sides)
            case ast.Assign([ast.Tuple(names)], sides):
                self._unpack(names, sides)
            case ast.Call(ast.Name(name), given) if formula_axes(self._function, name):
                self._pass_on(node, given, formula_axes(self._function, name))

    def _unpack(self, names: list[ast.expr], sides: ast.expr) -> None:
        match sides:
            case ast.Attribute(ast.Name(name), "shape") if name in self.parameters:
                self._note(name, len(names), sides)

    def _pass_on(self, call: ast.AST, given: list[ast.expr], axes: Axes) -> None:
        for position, count in axes:
            match given[position]:
                case ast.Name(name) if name in self.parameters:
                    self._note(name, count, call)
                    self._shaped[name] = call
                case other:
                    _refuse("contract/axes", self._function, other, f"{ast.unparse(other)} is no array of this loop")

    def _note(self, name: str, count: int, node: ast.AST) -> None:
        self._found.setdefault(name, {})[count] = node

    def axes(self) -> Axes:
        """Position and number of axes of each array that has several, or whose shape is named."""
        made = []
        for position, name in enumerate(self.parameters):
            counts = self._found.get(name, {})
            if name in self._shaped and not counts:
                _refuse("contract/axes", self._function, self._shaped[name], f"nothing tells how many axes {name} has")
            if len(counts) > 1:
                here = f"{name} has {' and '.join(map(str, sorted(counts)))} axes in one text"
                _refuse("contract/axes", self._function, counts[max(counts)], here)
            if name in self._shaped or any(count > 1 for count in counts):
                made.append((position, *counts))
        return tuple(made)


@cache
def axes_of(function: FunctionType) -> Axes:
    """The parameters of a loop or formula that have several axes or whose shape is named.

    Raises:
        TypeError: [contract/axes] the text says nothing of an array's number of axes, or two things;
            [contract/every-place] a loop over several axes has a ``break``, ``return`` or ``else``.
    """
    return _Reader(function).axes()


def formula_axes(function: FunctionType, name: str) -> Axes:
    """:func:`axes_of` the formula that a function calls by a name; empty if the name is not that of a formula."""
    formula = function.__globals__.get(name)
    return axes_of(formula) if getattr(formula, "__scalar__", False) else ()


# --- the text made flat --------------------------------------------------------------------------


@decides("contract/axes-order", "contract/walks")
class Flattening(ast.NodeTransformer):
    """Makes arrays of several axes and loops over them flat; the base class of the rewriting for each device.

    ``axes`` are those of the loop; the text of its twin for CUDA may name fewer axes.
    """

    def __init__(self, function: FunctionType, axes: Axes) -> None:
        self._function = function
        parameters = list(inspect.signature(function).parameters)
        self._axes = {parameters[position]: count for position, count in axes}
        self._names = {side.id for name in self._axes for side in self.sides(name)}
        self._walks = 0

    def finished(self, definition: ast.FunctionDef) -> ast.FunctionDef:
        """The definition made flat: it takes the sides of its arrays behind its arguments."""
        self.visit(definition)
        definition.args.args += [ast.arg(side.id) for name in self._axes for side in self.sides(name)]
        return definition

    def sides(self, name: str) -> list[ast.Name]:
        """The parameters that are the sides of an array."""
        return [ast.Name(f"_side_{axis}_of_{name}", ast.Load()) for axis in range(self._axes[name])]

    def index(self, place: ast.expr) -> ast.expr:
        """A flat index as the device takes it."""
        return place

    def _visited(self, statement: ast.stmt) -> list[ast.stmt]:
        made = self.visit(statement)
        return made if isinstance(made, list) else [made]

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """``a.shape``, whole."""
        if isinstance(node.value, ast.Name) and node.attr == "shape" and node.value.id in self._axes:
            return ast.Tuple(self.sides(node.value.id), ast.Load())
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """A place of an array, a side of its shape, or a field of a tuple."""
        match node:
            case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), at) if name in self._axes and _is_fixed(at):
                chosen = self._chosen(name, at)
                return ast.Tuple(chosen, ast.Load()) if isinstance(at, ast.Slice) else chosen[0]
            case ast.Subscript(ast.Name(name), ast.Tuple(place)) if self._axes.get(name) == len(place):
                node.slice = self.index(self.flat(name, [self.visit(axis) for axis in place]))
                return node
        self.generic_visit(node)
        if not _is_fixed(node.slice):
            node.slice = self.index(node.slice)
        return node

    def flat(self, name: str, place: list[ast.expr]) -> ast.expr:
        """The flat index of a place of an array."""
        flat = place[0]
        for side, index in zip(self.sides(name)[1:], place[1:], strict=True):
            flat = ast.BinOp(ast.BinOp(flat, ast.Mult(), side), ast.Add(), index)
        return flat

    def visit_For(self, node: ast.For) -> Any:
        """``items`` and ``steps`` over the places of a shape."""
        kind = walk_of(node)
        if kind is None:
            return self.generic_visit(node)
        assert isinstance(node.target, ast.Tuple)
        assert isinstance(node.iter, ast.Call)
        self._walks += 1
        item = f"_item_{self._walks}"
        before, sides = self._sides_of(node.iter.args[0], len(node.target.elts))
        body = [made for statement in node.body for made in self._visited(statement)]
        if kind == "items":
            made = self.shared(node.target.elts, sides, body, item)
        else:
            made = _nested(node.target.elts, sides, body)
        return [ast.copy_location(each, node) for each in (*before, *made)]

    def shared(
        self, names: Sequence[ast.expr], sides: list[ast.expr], body: list[ast.stmt], item: str
    ) -> list[ast.stmt]:
        """The loop over independent items as the device takes it; ``item`` is a free name."""
        return _nested(names, sides, body)

    def _sides_of(self, shape: ast.expr, count: int) -> tuple[list[ast.stmt], list[ast.expr]]:
        """The number of indices along each axis of a loop: statements before the loop that name it, and these names."""
        parts = self._parts(shape)
        before: list[ast.stmt] = []
        sides: list[ast.expr] = []
        if parts is not None and len(parts) != count:
            here = f"{count} names for the {len(parts)} axes of {ast.unparse(shape)}"
            _refuse("contract/axes", self._function, shape, here)
        if parts is None:
            whole = f"_sides_{self._walks}"
            before.append(ast.Assign([ast.Name(whole, ast.Store())], self.visit(shape)))
            parts = [_at(ast.Name(whole, ast.Load()), axis) for axis in range(count)]
        for axis, part in enumerate(parts):
            if isinstance(part, ast.Constant) or (isinstance(part, ast.Name) and part.id in self._names):
                sides.append(part)
                continue
            name = f"_side_{axis}_of_walk_{self._walks}"
            before.append(ast.Assign([ast.Name(name, ast.Store())], part))
            sides.append(ast.Name(name, ast.Load()))
        return before, sides

    def _parts(self, shape: ast.expr) -> list[ast.expr] | None:
        """The sides of a shape expression made of parts; None where the expression does not show its sides."""
        match shape:
            case ast.Attribute(ast.Name(name), "shape") if name in self._axes:
                return list(self.sides(name))
            case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), ast.Slice() as part) if name in self._axes:
                return self._chosen(name, part)
            case ast.Tuple(sides):
                every = [
                    self._parts(side.value) if isinstance(side, ast.Starred) else [self.visit(side)] for side in sides
                ]
                return None if None in every else [one for part in every for one in part]  # type: ignore[union-attr]
            case ast.BinOp(left, ast.Add(), right):
                both = self._parts(left), self._parts(right)
                return None if None in both else both[0] + both[1]  # type: ignore[operator]  # no None among them
        return None

    def _chosen(self, name: str, place: ast.expr) -> list[ast.expr]:
        """The sides of a shape that a number or a slice in the text selects."""
        sides: list[ast.expr] = [*self.sides(name)]
        if not isinstance(place, ast.Slice):
            return [sides[ast.literal_eval(place)]]
        ends = [None if end is None else ast.literal_eval(end) for end in (place.lower, place.upper, place.step)]
        return sides[slice(*ends)]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A formula that takes arrays of several axes gets their shapes too."""
        if isinstance(node.func, ast.Name):
            for position, _ in formula_axes(self._function, node.func.id):
                given = node.args[position]
                assert isinstance(given, ast.Name)
                node.args += self.sides(given.id)
        return self.generic_visit(node)


def _at(shape: ast.expr, axis: int) -> ast.expr:
    return ast.Subscript(shape, ast.Constant(axis), ast.Load())


def called(name: str, *args: ast.expr) -> ast.expr:
    """The call of a function by its name."""
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def _is_fixed(place: ast.expr) -> bool:
    """Whether a subscript is a number in the text, or a slice: such subscripts of a tuple must not be changed."""
    return isinstance(place, (ast.Constant, ast.Slice)) or (isinstance(place, ast.UnaryOp) and _is_fixed(place.operand))


def _nested(names: Sequence[ast.expr], sides: list[ast.expr], body: list[ast.stmt]) -> list[ast.stmt]:
    for name, side in zip(reversed(names), reversed(sides), strict=True):
        body = [ast.For(name, called("range", side), body, [])]
    return body


def product_of(sides: Sequence[ast.expr]) -> ast.expr:
    """The number of places of a shape with at least one side."""
    return reduce(lambda one, other: ast.BinOp(one, ast.Mult(), other), sides)


def split(names: Sequence[ast.expr], sides: list[ast.expr], item: str) -> Iterator[ast.stmt]:
    """Statements that split the number of an item into its index along each axis."""
    whole, rest = item, f"{item}_"
    for name, side in zip(reversed(names[1:]), reversed(sides[1:]), strict=True):
        number = ast.Name(whole, ast.Load())
        quotient = ast.BinOp(number, ast.FloorDiv(), side)
        yield ast.Assign([ast.Name(rest, ast.Store())], quotient)
        product = ast.BinOp(ast.Name(rest, ast.Load()), ast.Mult(), side)
        yield ast.Assign([name], ast.BinOp(number, ast.Sub(), product))
        whole, rest = rest, f"{rest}_"
    yield ast.Assign([names[0]], ast.Name(whole, ast.Load()))


@njit(nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]  # Numba has no types
def checked(place: Any, shape: Any) -> int:
    """The flat index of a place, whose index along every axis is checked.

    Raises:
        IndexError: one of them is negative or too large.
    """
    flat = 0
    for axis in range(len(shape)):
        if not 0 <= place[axis] < shape[axis]:
            raise IndexError("an index is out of bounds along one axis")
        flat = flat * shape[axis] + place[axis]
    return flat


__all__ = [
    "Axes", "Flattening", "axes_of", "called", "checked", "definition_of", "items", "product_of", "split", "steps",
    "walk_of",
]
