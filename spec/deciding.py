"""Reads the package for the code that decides each clause.

A clause's name counts where code acts by it:

* in a call that refuses by it: ``refusal("Subject/slug", ...)``, ``require``, or a function that hands the name on to
  one of these;
* above a function or class: ``@decides("Subject/slug")``;
* above an assignment outside functions: a comment ``# decides: Subject/slug``;
* in a function that asks whether a quirk is active that was declared for the clause.

Any other clause of an operator's page is decided by what the page registers (``of_page``). A name in a list, such as
the rules that ``refimpl explain`` shows, must be written somewhere and decides nothing.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

NAME = r"[A-Za-z_][\w-]*/[A-Za-z0-9][\w-]*"
COMMENT = re.compile(rf"^ *# decides: ({NAME}(?:, {NAME})*)$", re.MULTILINE)

Function = (ast.FunctionDef, ast.AsyncFunctionDef)
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
_SCOPES = {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda}
_LEAVES = {ast.Name, ast.Load, ast.Store, ast.arg, ast.alias}


class Decision(NamedTuple):
    """A place in code that names a clause. ``pattern`` is a regular expression for names."""

    pattern: str
    file: Path
    line: int
    function: str = ""
    """Qualified name of the function or class; of the table, outside functions."""
    first: int = 0
    last: int = 0
    """The lines of that function or table."""
    table: bool = False
    """Whether it stands outside functions: a table, a registration, a class of nothing but values."""
    error: str = ""
    """The type that is raised, where the place refuses."""
    marked: bool = False
    """Whether ``@decides`` stands above it."""
    decides: bool = True
    """False where the name only stands in a list."""
    must_exist: bool = True

    @property
    def place(self) -> str:
        """File, line, and the function with the type that it raises."""
        raises = f" raises {self.error}" if self.error else ""
        return f"{self.file}:{self.line}{' ' * bool(self.function)}{self.function}{raises}"


class Refuser(NamedTuple):
    """A function that refuses by a clause that its caller names, wholly or but for what stands before the slug."""

    argument: str
    position: int
    before: str = ""
    default: str | None = None
    kind: str = "MXNetError"
    """The type of the error; in braces the parameter that gives it."""
    kind_position: int = -1
    kind_default: str = "MXNetError"


REFUSERS = {
    "refusal": Refuser("clause", 0, kind="{kind}", kind_position=2),
    "require": Refuser("clause", 0, kind="{kind}", kind_position=3),
    "Refused": Refuser("clause", 0),  # the answer of a server, which its client raises
}


class Call(NamedTuple):
    """A call, and the functions and classes around it, the innermost last."""

    name: str
    node: ast.Call
    scopes: tuple[Scope, ...]


class Source:
    """One file: what it calls, which functions it has, and the names in it that look like clauses."""

    def __init__(self, file: Path, text: str) -> None:
        self.file, self.text = file, text
        self.tree = ast.parse(text)
        self.calls: list[Call] = []
        self.constants: list[tuple[ast.Constant, tuple[Scope, ...], ast.AST]] = []
        self.definitions: list[tuple[Scope, tuple[Scope, ...]]] = []
        self.quirks: list[tuple[ast.Attribute, tuple[Scope, ...]]] = []
        self.statements: dict[int, ast.stmt] = {}
        for statement in self.tree.body:
            self._read(statement, (), self.tree)
        self.refusers: dict[str, Refuser] = {}

    def _read(self, node: ast.AST, scopes: tuple[Scope, ...], parent: ast.AST) -> None:
        kind = type(node)
        if kind in _LEAVES:
            return
        if kind is ast.Constant:
            value = node.value  # type: ignore[attr-defined]  # of its kind, here and below
            if type(value) is str and "/" in value and re.fullmatch(NAME, value):
                self.constants.append((node, scopes, parent))  # type: ignore[arg-type]
            return
        if kind is ast.Call:
            self.calls.append(Call(called(node), node, scopes))  # type: ignore[arg-type]
        elif kind in _SCOPES:
            self.definitions.append((node, scopes))  # type: ignore[arg-type]
            scopes = (*scopes, node)  # type: ignore[assignment]
        elif kind is ast.Attribute:
            if node.attr == "active":  # type: ignore[attr-defined]
                self.quirks.append((node, scopes))  # type: ignore[arg-type]
        elif kind is ast.Assign or kind is ast.AnnAssign:
            self.statements[node.lineno] = node  # type: ignore[attr-defined,assignment]
        for value in vars(node).values():
            if type(value) is list:
                for item in value:
                    if isinstance(item, ast.AST):
                        self._read(item, scopes, node)
            elif isinstance(value, ast.AST):
                self._read(value, scopes, node)

    def decision(self, pattern: str, node: ast.expr, scopes: tuple[Scope, ...], **more: Any) -> Decision:
        """A place in this file: its function, or the statement outside functions that it stands in."""
        functions = [k for k, scope in enumerate(scopes) if isinstance(scope, Function)]
        if functions:
            return self._at(pattern, node.lineno, scopes[: functions[-1] + 1], **more)
        body: list[ast.stmt] = self.tree.body
        within = next(s for s in body if s.lineno <= node.lineno <= (s.end_lineno or s.lineno))
        target = within.targets[0] if isinstance(within, ast.Assign) else getattr(within, "target", None)
        named = getattr(target, "id", getattr(within, "name", ""))
        last = within.end_lineno or within.lineno
        return Decision(pattern, self.file, node.lineno, named, within.lineno, last, table=True, **more)

    def _at(self, pattern: str, line: int, scopes: tuple[Scope, ...], **more: Any) -> Decision:
        around = scopes[-1]
        first = min([around.lineno, *(d.lineno for d in getattr(around, "decorator_list", ()))])
        path = ".".join(getattr(scope, "name", "<lambda>") for scope in scopes)
        return Decision(pattern, self.file, line, path, first, around.end_lineno or around.lineno, **more)

    def marked(self) -> Iterator[Decision]:
        """Functions and classes under ``@decides``, tables under its comment."""
        for node, scopes in self.definitions:
            values_only = isinstance(node, ast.ClassDef) and not any(isinstance(n, Function) for n in node.body)
            for decorator in getattr(node, "decorator_list", ()):
                if isinstance(decorator, ast.Call) and called(decorator) == "decides":
                    for argument in decorator.args:
                        name = getattr(argument, "value", None)
                        pattern = re.escape(name) if isinstance(name, str) else ast.unparse(argument)
                        yield self._at(pattern, node.lineno, (*scopes, node), marked=True, table=values_only)
        for comment in COMMENT.finditer(self.text):
            line = self.text.count("\n", 0, comment.start()) + 2
            table = self.statements.get(line)
            if table is None:
                raise SyntaxError(f"{self.file}:{line}: no table follows a comment that names clauses")
            target = table.targets[0] if isinstance(table, ast.Assign) else table.target  # type: ignore[attr-defined]
            for name in comment[1].split(", "):
                yield Decision(
                    re.escape(name), self.file, line, ast.unparse(target), line, table.end_lineno or line, table=True
                )

    # --- what the clause of a call is --------------------------------------------------------------

    def meant(
        self, argument: ast.expr, scopes: tuple[Scope, ...], seen: frozenset[str] = frozenset()
    ) -> Iterator[ast.expr]:
        """The expressions that an argument may stand for: itself, or what is assigned to its name.

        Names that were looked up are ``seen``: ``x = x if a else y`` says of ``x`` that it may be ``y``.
        """
        if isinstance(argument, ast.IfExp):
            yield from self.meant(argument.body, scopes, seen)
            yield from self.meant(argument.orelse, scopes, seen)
        elif isinstance(argument, ast.Name):
            if argument.id in seen:
                return
            for scope in (*reversed(scopes), self.tree):
                if isinstance(scope, Function) and argument.id in parameters(scope):
                    yield argument
                    return
                found = list(_assigned(scope, argument.id))
                if found:
                    for value in found:
                        known = seen | {argument.id}
                        yield from self.meant(value, scopes, known) if not isinstance(value, ast.Name) else ()
                    return
        else:
            yield argument


def called(node: ast.Call) -> str:
    """The last part of a called name."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def parameters(function: Any) -> list[str]:
    """Names of a function's positional and keyword parameters, without ``self``."""
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def _default(function: Any, name: str) -> ast.expr | None:
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    pairs = [
        *zip(positional[len(positional) - len(given.defaults) :], given.defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    return next((value for a, value in pairs if a.arg == name), None)


def _assigned(scope: Any, name: str) -> Iterator[ast.expr]:
    """What a scope assigns to a name, directly, in a tuple, or row by row of a table written out in a loop."""
    body = [scope.body] if isinstance(scope, ast.Lambda) else scope.body
    nodes: Iterable[ast.AST] = body if isinstance(scope, (ast.Module, ast.ClassDef)) else ast.walk(scope)
    for node in nodes:
        if isinstance(node, ast.Assign):
            yield from _matching(node.targets[0], node.value, name)
        elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.iter, (ast.Tuple, ast.List)):
            for row in node.iter.elts:
                yield from _matching(node.target, row, name)


def _matching(target: ast.expr, value: ast.expr, name: str) -> Iterator[ast.expr]:
    if isinstance(target, ast.Name) and target.id == name:
        yield value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for part, given in zip(target.elts, value.elts, strict=True):
            yield from _matching(part, given, name)


def _argument(call: ast.Call, name: str, position: int) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[position] if 0 <= position < len(call.args) else None


def _kind(call: Call, refuser: Refuser) -> str:
    """The type of the error that a call raises; the parameter of the function around it in braces."""
    if not refuser.kind.startswith("{"):
        return refuser.kind
    given = _argument(call.node, refuser.kind[1:-1], refuser.kind_position)
    if given is None:
        return refuser.kind_default
    if isinstance(given, ast.Name) and any(
        isinstance(scope, Function) and given.id in parameters(scope) for scope in call.scopes
    ):
        return f"{{{given.id}}}"
    return ast.unparse(given)


def _handed_on(call: Call, refuser: Refuser, name: str, before: str) -> tuple[Any, Refuser] | None:
    """The function around a call that takes the clause, or its slug, as its parameter ``name``."""
    for scope in reversed(call.scopes):
        if isinstance(scope, Function) and name in (names := parameters(scope)):
            kind = _kind(call, refuser)
            kind_name = kind[1:-1] if kind.startswith("{") else ""
            at = names.index(kind_name) if kind_name in names else -1
            default, kind_default = _default(scope, name), _default(scope, kind_name)
            return scope, Refuser(
                name, names.index(name), before, getattr(default, "value", None), kind, at,
                ast.unparse(kind_default) if kind_default else "",
            )
    return None


def _template(node: ast.JoinedStr) -> tuple[str, str] | None:
    """("Subject/", name) of an f-string that is all but the slug of a clause, which a variable gives."""
    if len(node.values) == 2:
        before, slug = node.values
        if (
            isinstance(before, ast.Constant) and isinstance(slug, ast.FormattedValue)
            and isinstance(slug.value, ast.Name) and str(before.value).endswith("/")
        ):
            return str(before.value), slug.value.id
    return None


def _pattern(node: ast.JoinedStr) -> str:
    return "".join(re.escape(str(p.value)) if isinstance(p, ast.Constant) else r"[\w-]+" for p in node.values)


def _refusals_in(source: Source, known: dict[str, Refuser]) -> Iterator[tuple[Any, Decision | Refuser]]:
    """(node, decision) for each refusal of a file, and (function, refuser) where its callers name the clause."""
    for call in source.calls:
        refuser = source.refusers.get(call.name) or known.get(call.name)
        if refuser is None:
            continue
        argument = _argument(call.node, refuser.argument, refuser.position)
        if argument is None:
            if refuser.default is not None and refuser.before:
                yield call.node, source.decision(
                    re.escape(refuser.before + refuser.default), call.node, call.scopes, error=_kind(call, refuser)
                )
            continue
        for value in source.meant(argument, call.scopes):
            error = _kind(call, refuser).strip("{}")
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                if re.fullmatch(NAME, refuser.before + value.value):
                    pattern = re.escape(refuser.before + value.value)
                    yield value, source.decision(pattern, call.node, call.scopes, error=error)
            elif isinstance(value, ast.Name):
                handed = _handed_on(call, refuser, value.id, refuser.before)
                if handed:
                    yield handed
            elif isinstance(value, ast.JoinedStr) and not refuser.before:
                template = _template(value)
                handed = template and _handed_on(call, refuser, template[1], template[0])
                if handed:
                    yield handed
                    continue
                pattern = _pattern(value)
                subject, _, slug = pattern.partition("/")
                if re.search(r"\w", subject.replace(r"[\w-]+", "")):
                    yield value, source.decision(pattern, call.node, call.scopes, error=error)
                elif slug:  # callers give what stands before the slug: the names above the function count
                    yield value, source.decision(pattern, call.node, call.scopes, error=error, decides=False)


def _quirks(sources: list[Source]) -> Iterator[Decision]:
    """Functions that ask whether a quirk is active, for the clause that it was declared for."""
    declared: dict[str, dict[Path, str]] = defaultdict(dict)
    for source in sources:
        for node in source.tree.body:
            value = getattr(node, "value", None)
            if isinstance(node, ast.Assign) and isinstance(value, ast.Call) and called(value) == "declare":
                clause = getattr(_argument(value, "clause", 1), "value", None)
                if isinstance(node.targets[0], ast.Name) and isinstance(clause, str):
                    declared[node.targets[0].id][source.file] = clause
    for source in sources:
        for asked, scopes in source.quirks:
            named = asked.value.attr if isinstance(asked.value, ast.Attribute) else getattr(asked.value, "id", "")
            places = declared.get(named, {})
            elsewhere = next(iter(places.values())) if len(places) == 1 else None
            clause = places.get(source.file, elsewhere)
            if clause and scopes:
                yield source.decision(re.escape(clause), asked, scopes)


def _refusals(sources: list[Source]) -> list[tuple[Source, Any, Decision]]:
    """Every refusal, once it is known which functions hand a clause on to another."""
    known = dict(REFUSERS)
    while True:
        found, more = [], False
        for source in sources:
            for node, refused in list(_refusals_in(source, known)):
                if isinstance(refused, Decision):
                    found.append((source, node, refused))
                elif node.name not in source.refusers:
                    more = True
                    source.refusers[node.name] = refused
                    if node in source.tree.body:
                        known.setdefault(node.name, refused)
        if not more:
            return found


def _named_above(refused: Decision, marked: list[Decision]) -> Iterator[Decision]:
    """A refusal whose caller gives what stands before the slug, for each clause named above its function."""
    slug = refused.pattern.partition("/")[2]
    for mark in marked:
        inside = mark.file == refused.file and mark.first <= refused.line <= mark.last
        if inside and re.fullmatch(slug, mark.pattern.partition("/")[2]):
            yield refused._replace(pattern=mark.pattern, decides=True)


def decisions(files: Iterable[tuple[Path, str]]) -> list[Decision]:
    """Every place in the code that names a clause."""
    sources = [Source(file, text) for file, text in files]
    marked = [mark for source in sources for mark in source.marked()]
    refusals = _refusals(sources)
    found = []
    for _, _, refused in refusals:
        found += [refused] if refused.decides else list(_named_above(refused, marked))
    used = {id(node) for _, node, _ in refusals}
    for source in sources:
        found += _others(source, used)
    return [*found, *_quirks(sources), *marked]


def _others(source: Source, used: set[int]) -> Iterator[Decision]:
    """Names that no refusal has as its clause: as the first argument of a call they decide, else they only list."""
    for node, scopes, parent in source.constants:
        call = called(parent) if isinstance(parent, ast.Call) else ""
        if id(node) not in used and call != "decides":
            first = call not in ("", "declare") and parent.args[:1] == [node]  # type: ignore[attr-defined]
            yield source.decision(re.escape(node.value), node, scopes, decides=first, must_exist=False)
