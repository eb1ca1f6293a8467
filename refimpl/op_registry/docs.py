"""The docstring and the signature of a function that is an operator, made from its page."""

from __future__ import annotations

import inspect
import textwrap
from functools import cache
from inspect import Parameter
from typing import Any

from ..kernels.foundation import REQUIRED, Op, decides
from ..kernels.foundation.params import defaults, describe, field_types
from . import facts

WIDTH = 100
_AUXILIARY = "auxiliary state"


def default(op: Op, field: str) -> Any:
    """The default of a parameter, ``REQUIRED`` when it has none."""
    return defaults(op.params).get(field, REQUIRED)


@decides("conventions/signatures")
@cache
def signature(op: Op, value: str) -> inspect.Signature:
    """Inputs first, then parameters, in the order in which they may be given by position.

    ``value`` is "NDArray" or "Symbol". A symbol makes variables for the inputs that are left out, an array
    function wants all but those that no call of some parameters has.
    """
    kind = Parameter.KEYWORD_ONLY if op.variadic else Parameter.POSITIONAL_OR_KEYWORD
    made = []
    if op.variadic:
        made.append(Parameter(_stem(op), Parameter.VAR_POSITIONAL))
    optional = set(op.all_inputs) if value == "Symbol" else facts.optional_inputs(op)
    defaulted = False
    for name in () if op.variadic else op.all_inputs:
        defaulted = defaulted or name in optional
        made.append(Parameter(name, kind, default=None if defaulted else Parameter.empty))
    for field in op.params._fields:
        if field != op.variadic and field not in op.all_inputs:
            made.append(Parameter(field, kind, default=default(op, field)))
    extra = ("name", "attr") if value == "Symbol" else ("out",)
    for name in extra:
        if name not in [each.name for each in made]:
            made.append(Parameter(name, Parameter.KEYWORD_ONLY, default=None))
    made.append(Parameter("kwargs", Parameter.VAR_KEYWORD))
    return inspect.Signature(made)


def _stem(op: Op) -> str:
    return op.all_inputs[0] if op.all_inputs else "data"


def _inputs(op: Op, value: str) -> list[str]:
    if op.variadic:
        return [f"*{_stem(op)} : {value}", f"    Any number of inputs; {op.variadic} is their count."]
    optional = facts.optional_inputs(op)
    lines = []
    for name in op.all_inputs:
        notes = [_AUXILIARY] if name in op.aux else ["changed in place"] if name in op.mutates else []
        notes += ["optional"] if name in optional else []
        lines.append(", ".join([f"{name} : {value}", *notes]))
        if name in op.refuses_gradient:
            lines.append(f"    Its gradient cannot be asked for [{op.refuses_gradient[name]}].")
        elif name in op.no_gradient:
            lines.append("    Its gradient is zero.")
    return lines


def parameters(op: Op) -> list[tuple[str, str, str]]:
    """Name, type in words and default ("required" where there is none) of every parameter."""
    return [
        (field, describe(kind), "required" if default(op, field) is REQUIRED else repr(default(op, field)))
        for field, kind in field_types(op.params).items()
    ]


def _parameters(op: Op) -> list[str]:
    lines = []
    for field, kind, given in parameters(op):
        if field != op.variadic:
            lines.append(f"{field} : {kind}, " + (given if given == "required" else f"default {given}"))
    return lines


def _extras(value: str, op: Op) -> list[str]:
    if value == "Symbol":
        return [
            "name : str, optional", "    Name of the node; made up where it is not given.",
            "attr : dict, optional", "    Attributes of the node, text by name.",
        ]
    if "out" in op.params._fields:
        return []
    return ["out : NDArray or list of NDArray, optional", "    Receives the result, cast to its type."]


def _filled(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def rules(op: Op) -> list[str]:
    """The clauses that concern an operator with their worked examples, then the names of the others."""
    lines = []
    shown = facts.clauses(op)
    for clause in shown:
        lines += _filled(f"[{clause.name}] {clause.text}")
        for example in clause.examples:
            lines += textwrap.indent(example, "    ").splitlines()
        lines.append("")
    kept = {clause.name for clause in shown}
    others = [f"[{clause.name}]" for clause in facts.page(op).clauses if clause.name not in kept]
    if others:
        lines += [*_filled(f"About other operators of {facts.file_of(op)}: {', '.join(others)}."), ""]
    return lines


def gradient(op: Op) -> str:
    """One sentence about the gradient."""
    if not op.has_gradient:
        why = facts.denial(op)
        return f"None: [{why}]." if "/" in why else f"None: {why}."
    words = {"loops": "by loops of its own", "composition": "made of other operators"}
    kinds = [words[kind] for kind in facts.gradient_kind(op).split(", ")]
    again = "; it can be differentiated again" if op.gradient is not None else ""
    loss = " The head gradient does not count: a loss." if op.loss is True else ""
    return f"{' or '.join(kinds).capitalize()}{again}.{loss}"


def _titled(title: str, lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines = lines[:-1]
    return [title, "-" * len(title), *lines, ""] if lines else []


@cache
def document(op: Op, name: str, value: str) -> str:
    """The docstring of the function ``name`` of an operator on "NDArray" or on "Symbol"."""
    lines = [f"{name}{signature(op, value)}", "", *_filled(facts.page(op).summary), ""]
    if facts.row(op):
        lines += [f"Its row in {facts.file_of(op)}::", "", *textwrap.indent(facts.row(op), "    ").splitlines(), ""]
    if name != op.name:
        lines += [f"Another name of {op.name}.", ""]
    lines += _titled("Parameters", [*_inputs(op, value), *_parameters(op), *_extras(value, op)])
    names = facts.outputs(op)
    lines += _titled("Returns", [f"{each} : {value}" for each in names] or ["Nothing: it changes its inputs."])
    lines += _titled("Gradient", [gradient(op)])
    lines += _titled("Rules", rules(op))
    lines += [facts.page(op).notes, ""] if facts.page(op).notes else []
    return "\n".join(lines).rstrip() + "\n"
