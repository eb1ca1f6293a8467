"""Writes the type stubs of operator functions and operator methods: ``*.pyi`` in refimpl/ndarray and refimpl/symbol.

    python spec/stubs.py            writes the files
    python spec/stubs.py --check    exit code 1 when a file is not what would be written

The functions are made from the registry when they are imported (``refimpl/op_registry/submodules.py``), where neither
a type checker nor an editor sees them; these files tell them the same names, inputs, parameters and defaults.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import refimpl as mx  # noqa: E402
from refimpl.kernels.foundation import Op, get  # noqa: E402
from refimpl.kernels.foundation.params import Floats, Long, Shape, field_types  # noqa: E402
from refimpl.op_registry import facts, methods, submodules  # noqa: E402
from refimpl.op_registry.argument_types import GraphKeywords  # noqa: E402
from refimpl.op_registry.docs import REQUIRED, default  # noqa: E402
from refimpl.op_registry.function import OperatorFunction  # noqa: E402
from refimpl.symbol.operators import ARRAY_ONLY  # noqa: E402
from spec import generated  # noqa: E402

WIDTH = 120
HEADING = "# Written by `python spec/stubs.py` from the registry of operators; do not edit.\n"
EXTRAS = {
    "NDArray": ("out: _Out | None = None", "name: str | None = None"),
    "Symbol": ("name: str | None = None", "attr: Attributes | None = None"),
}
GRAPH_KEYWORDS = tuple(
    f"{name}: {'Number | str' if 'mult' in name else 'str'} = ..." for name in GraphKeywords.__annotations__
)
"""Those of functions of any number of inputs, which may be named too, one by one."""
HIDDEN = {"NDArray": (), "Symbol": ("**graph: Unpack[GraphKeywords]",)}
"""Symbols take attributes for the graph too: ``ctx_group="left"``, ``__lr_mult__="2.0"``."""

_ANY_CALL = {
    "NDArray": "*data: NDArray | Sequence[NDArray], {extras}, **parameters: Any",
    "Symbol": "*data: Symbol | Sequence[Symbol], {extras}, **parameters: Any",
}
"""Of operators whose parameters are the user's: Custom, and loops with the graphs that they hold."""


class Argument(NamedTuple):
    """An argument that may be given by position, as source text; ``default`` is empty where it must be given."""

    name: str
    accepted: str
    default: str = ""

    def text(self, *, must: bool = False) -> str:
        """``name: type = default``; without the default where it ``must`` be given."""
        return f"{self.name}: {self.accepted}" + (f" = {self.default}" if self.default and not must else "")


class Signature(NamedTuple):
    """The arguments of a function and what it returns."""

    arguments: list[Argument]
    behind: list[str]
    """Source text of what stands behind: ``*``, and what is given by name only."""
    result: str
    before: list[str] = []  # noqa: RUF012  # never changed
    """Source text of what stands before: ``self``, or any number of inputs."""

    def overloads(self) -> list[list[str]]:
        """The lists of arguments that together allow every call in which nothing that is required is missing.

        A required argument behind optional ones is given by name; or by position, and then all before it are too. So
        there is one list, and one more for each group of required arguments behind optional ones.
        """
        needed = [not each.default for each in self.arguments]
        ends = [i for i in range(1, len(needed) + 1) if needed[i - 1] and not all(needed[: i + 1])]
        ends = [end for end in ends if end == len(needed) or not needed[end]]  # the last of each group
        first = needed.index(False) if False in needed else len(needed)
        found = []
        for start in sorted({first, *(end for end in ends if end > first)}):
            stop = next((i for i in range(start, len(needed)) if needed[i]), len(needed))
            named = [each.text() for each in self.arguments[stop:]]
            star = ["*"] if named and "*" not in self.behind else []
            tail = [*self.behind[:1], *named, *self.behind[1:]] if "*" in self.behind else [*star, *named, *self.behind]
            found.append([
                *self.before, *(each.text(must=True) for each in self.arguments[:start]),
                *(each.text() for each in self.arguments[start:stop]), *tail,
            ])
        return found


def argument_type(field: str, annotation: Any) -> str:
    """What a call may give for a parameter, without None."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if field == "dtype" and annotation is not int:
        return "Kind"
    if origin is Annotated:
        return argument_type(field, inner[0])
    if origin in (Union, UnionType):
        return argument_type(field, next(each for each in inner if each is not NoneType))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, inner))}]"
    plain = {int: "Whole", Long: "Whole", float: "Number", bool: "Flag", Shape: "Sides", Floats: "Numbers"}
    if field == "ctx":
        return "Context | str"
    if annotation is str and field in ("begin", "end", "step"):  # of slice: a text, which holds None too
        return "Ends"
    return plain.get(annotation, "str")


def _shown_default(value: Any, accepted: str) -> str:
    """A default, ``...`` where it is text of what is accepted otherwise, or has no literal."""
    text = repr(value)
    is_text = isinstance(value, str) and (accepted == "Ends" or value == "None")
    return "..." if is_text or "inf" in text or "nan" in text else text


def parameters(op: Op) -> list[Argument]:
    """Every parameter, in MXNet's order."""
    found = []
    for field, annotation in field_types(op.params).items():
        if field in op.all_inputs:
            continue
        accepted, given = argument_type(field, annotation), default(op, field)
        if given is not REQUIRED:
            found.append(Argument(field, f"{accepted} | None", _shown_default(given, accepted)))
        else:
            found.append(Argument(field, accepted + (" | None" if NoneType in get_args(annotation) else "")))
    return found


def _result(op: Op, value: str) -> str:
    if value == "Symbol":
        return "Symbol"
    if callable(op.outputs) or op.visible is not None:
        return "Any"
    return "NDArray" if len(op.outputs) - op.hidden == 1 else "list[NDArray]"


@cache
def signature(op: Op, value: str) -> Signature:
    """The arguments of an operator's function on "NDArray" or on "Symbol"."""
    extras = [each for each in EXTRAS[value] if each.partition(":")[0] not in op.params._fields]
    result = _result(op, value)
    if not isinstance(op.params, type) or op.name == "Custom" or "subgraphs" in op.params._fields:
        return Signature([], [_ANY_CALL[value].format(extras=", ".join(extras))], result)
    if op.variadic:
        stem = op.all_inputs[0] if op.all_inputs else "data"
        named = [each.text() for each in parameters(op)]
        named = [f"{each} = ..." if each.startswith(f"{op.variadic}: ") and "=" not in each else each for each in named]
        graph = [*GRAPH_KEYWORDS, f"**named: {value}"] if value == "Symbol" else []
        return Signature([], [*named, *extras, *graph], result, [f"*{stem}: {value} | Sequence[{value}]"])
    optional = set(op.all_inputs) if value == "Symbol" else facts.optional_inputs(op)
    inputs: list[Argument] = []
    for name in op.all_inputs:
        left_out = name in optional or (bool(inputs) and bool(inputs[-1].default))
        inputs.append(Argument(name, f"{value} | None", "None") if left_out else Argument(name, value))
    return Signature([*inputs, *parameters(op)], ["*", *extras, *HIDDEN[value]], result)


def definition(name: str, found: Signature, indent: str = "") -> str:
    """``def name(...) -> result: ...``, as often as it has overloads."""
    lists = found.overloads()
    mark = f"{indent}@overload\n" if len(lists) > 1 else ""
    return "\n".join(mark + _one_definition(name, arguments, found.result, indent) for arguments in lists)


def _one_definition(name: str, arguments: list[str], result: str, indent: str) -> str:
    """One of them, in several lines where it is long."""
    head, tail = f"{indent}def {name}(", f") -> {result}: ..."
    if len(line := head + ", ".join(arguments) + tail) <= WIDTH:
        return line
    lines, line = [head], f"{indent}   "
    for argument in arguments:
        if len(line) + len(argument) + 2 > WIDTH:
            lines.append(line)
            line = f"{indent}   "
        line += f" {argument},"
    return "\n".join([*lines, line.removesuffix(",") if "**" in line else line, indent + tail])


def _used(names: Iterable[str], body: str) -> list[str]:
    return [name for name in names if re.search(rf"\b{name}\b", body)]


def file_text(doc: str, body: str, value: str, depth: int) -> str:
    """A stub file; ``depth`` is the number of folders between it and ``refimpl/``."""
    kinds = _used(("Attributes", "Ends", "Flag", "GraphKeywords", "Kind", "Number", "Numbers", "Sides", "Whole"), body)
    own = {"NDArray": "ndarray", "Symbol": "symbol"}[value]
    lines = [f'"""{doc}"""', "", HEADING.rstrip(), ""]
    if value == "NDArray":
        body = "_Out = NDArray | Sequence[NDArray]\n\n" + body
    if _used(("Sequence",), body):
        lines.append("from collections.abc import Sequence")
    if found := _used(("Any", "Literal", "NoReturn", "overload"), body):
        lines.append(f"from typing import {', '.join(found)}")
    up = "." * (depth + 1)
    lines.append("")
    if _used(("Unpack",), body):
        lines += ["from typing_extensions import Unpack", ""]
    if _used(("Context",), body):
        lines.append(f"from {up}context import Context")
    if kinds:
        lines.append(f"from {up}op_registry.argument_types import {', '.join(kinds)}")
    lines.append(f"from {'.' * depth}{own} import {value}")
    return "\n".join(lines) + "\n\n" + body


def functions_text(module: Any, value: str, depth: int = 1) -> str:
    """The stub of a module of operator functions."""
    made = {name: each for name, each in vars(module).items() if isinstance(each, OperatorFunction)}
    found = {name: signature(each.op, value) for name, each in made.items()}
    if "Custom" in vars(module):  # ``refimpl/operator/`` puts it there
        found["Custom"] = signature(get("Custom"), value)
    if "_set_value" in vars(module):
        found["_set_value"] = Signature([], ["src: float", "out: NDArray"], "NDArray")
        how = ["flag: int = ...", "to_rgb: bool = ...", "out: NDArray | None = ...", "name: str | None = ..."]
        found["_cvimdecode"] = Signature([], ["buf: NDArray", *how], "NDArray")
        found["_cvimread"] = Signature([], ["filename: str", *how], "NDArray")
    body = "\n".join(definition(name, found[name]) for name in sorted(found))
    names = textwrap.fill(", ".join(f'"{name}"' for name in sorted(found)), WIDTH - 4)
    listed = f"__all__ = [\n{textwrap.indent(names, '    ')},\n]\n"
    return file_text(module.__doc__.partition("\n")[0], f"{listed}\n{body}\n", value, depth)


_RESHAPE = Signature(
    [], ["*sides: Sides", "shape: Sides | None = None", "reverse: Flag | None = False", *EXTRAS["Symbol"],
         *HIDDEN["Symbol"]], "Symbol", ["self"],
)


def methods_text(owner: type, value: str) -> str:
    """The stub of the operator methods of a class, as a class that it derives from where only types count."""
    kind = {"NDArray": "ArrayMethods", "Symbol": "SymbolMethods"}[value]
    lines = [f"class {kind}:"]
    if value == "NDArray":
        lines.append("    __slots__ = ()")
    for name, function in sorted(vars(owner).items()):
        if isinstance(function, OperatorFunction):
            found = signature(function.op, value)
            found = found._replace(before=["self"], arguments=found.arguments[1:])
            if name in methods.IN_PLACE:
                flag = Argument("inplace", "Flag | None", "False")
                found = found._replace(arguments=[*found.arguments, flag])
            if (value, name) == ("NDArray", "broadcast_like"):
                found = found._replace(arguments=[found.arguments[0]._replace(name="other"), *found.arguments[1:]])
            lines.append(definition(name, _RESHAPE if (value, name) == ("Symbol", "reshape") else found, "    "))
    if value == "Symbol":
        refusing = Signature([], ["self", "*args: Any", "**kwargs: Any"], "NoReturn")
        lines += [definition(name, refusing, "    ") for name in ARRAY_ONLY]
    doc = f"The operators that {value} has as methods: ``{kind}`` exists for type checkers only."
    return file_text(doc, "\n".join(lines) + "\n", value, 1)


def files() -> dict[Path, str]:
    """Every stub file and its text."""
    made = {}
    for package, value, owner in (("ndarray", "NDArray", mx.nd.NDArray), ("symbol", "Symbol", mx.sym.Symbol)):
        folder = ROOT / "refimpl" / package
        for path in sorted({*submodules.OPERATORS, "ndarray._internal"}):  # this one has functions of its own too
            name = path.removeprefix(f"{package}.")
            if name != path:
                module = import_module(f"refimpl.{path}")
                made[folder / f"{name.replace('.', '/')}.pyi"] = functions_text(module, value, name.count(".") + 1)
        made[folder / "_methods.pyi"] = methods_text(owner, value)
    return made


def main(arguments: list[str] | None = None) -> int:
    """Run the script; returns its exit code."""
    check = generated.asks_check(arguments, "Type stubs of operator functions and methods.")
    made = files()
    problems = generated.renew(made, "stubs", check=check)
    for problem in problems:
        print(problem)
    print(f"{len(made)} stubs, {len(problems)} out of date")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
