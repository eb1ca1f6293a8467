"""Scripts that show a failure of levels 1 and 2 with NumPy and a library of the 1.x API, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .judging.comparing import Verdict
from .judging.reference import Program
from .programs.program import symbol_json
from .programs.values import array_of

LONGEST = 30
"""Lines that a script may have."""
HIGHEST = 2
"""The highest level of programs that have scripts: those above have no graph, or modules around it."""


def script_of(program: Program, verdict: Verdict, title: str, library: str = "mxnet") -> str:
    """A script that ends with an error where the library is wrong.

    Args:
        program: a program of level 1 or 2, without reshape steps.
        verdict: its verdict.
        title: its first line.
        library: the module.

    Raises:
        ValueError: the program is of another level or has steps that scripts do not have, or the script would be
            longer than LONGEST lines.
    """
    if program["level"] > HIGHEST:
        raise ValueError(f"a script has no programs of level {program['level']}")
    mismatch = verdict.mismatches[0]
    last = int(mismatch.name.partition("/")[0]) if mismatch.name else len(program["steps"]) - 1
    lines = [
        f"# {title}", f"import {library} as mx", "from numpy import array, inf, nan  # noqa: F401", "",
        f"symbol = mx.sym.load_json({symbol_json(program)!r})",
        "def nd(values, shape, dtype): return mx.nd.array(array(values, dtype).reshape(shape), dtype=dtype)",
        "values = {" + ", ".join(f"{n!r}: {_nd(spec)}" for n, spec in program["arrays"].items()) + "}",
        "args = {name: values[name] for name in symbol.list_arguments()}",
        "aux = {name: values[name] for name in symbol.list_auxiliary_states()}",
    ]
    for step in program["steps"][: last + 1]:
        lines += _step(step)
    lines.append("mx.nd.waitall()")
    if mismatch.expected is not None and mismatch.bounds is not None:
        lines += _checked(mismatch.name.partition("/")[2], mismatch.expected, mismatch.bounds)
    if len(lines) > LONGEST:
        raise ValueError(f"a script of {len(lines)} lines is longer than {LONGEST}")
    return "\n".join(lines) + "\n"


def _numbers(array: np.ndarray) -> str:
    return repr(array.reshape(-1).tolist())


def _nd(spec: dict[str, Any]) -> str:
    array = array_of(spec)
    return f"nd({_numbers(array)}, {array.shape}, {array.dtype.name!r})"


def _step(step: dict[str, Any]) -> list[str]:
    if step["do"] == "bind":
        wanted = {n: r for n, r in (step.get("requirements") or {}).items() if r != "null"}
        given = step.get("gradients") or {}
        filled = [
            f"{n!r}: {_nd(given[n])}" if n in given
            else f"{n!r}: mx.nd.full(args[{n!r}].shape, nan, dtype=args[{n!r}].dtype)" for n in wanted
        ]
        return [
            "grads = {" + ", ".join(filled) + "}",
            f"req = {{**dict.fromkeys(args, 'null'), **{json.dumps(wanted)}}}",
            "executor = symbol.bind(mx.cpu(), args, grads, req, aux)",
        ]
    if step["do"] == "share":
        return ["executor = symbol.bind(mx.cpu(), args, grads, req, aux, shared_exec=executor)"]
    if step["do"] == "forward":
        given = {n: _nd(spec) for n, spec in (step.get("arrays") or {}).items()}
        if step.get("keywords"):
            named = ", ".join(f"{n!r}: {text}" for n, text in given.items())
            return [f"outputs = executor.forward(is_train={bool(step.get('train'))}, **{{{named}}})"]
        changed = [f"args[{n!r}][:] = {text}" for n, text in given.items()]
        return [*changed, f"outputs = executor.forward(is_train={bool(step.get('train'))})"]
    if step["do"] == "backward":
        heads = step.get("heads")
        first = [] if heads is None else ["[" + ", ".join(map(_nd, heads)) + "]"]
        return [f"executor.backward({', '.join(first + ['is_train=False'] * (not step.get('train', True)))})"]
    raise ValueError(f"a script has no step {step['do']}")


def _checked(what: str, expected: np.ndarray, bounds: np.ndarray) -> list[str]:
    kind, _, name = what.partition(":")
    source = {
        "gradient": f"executor.grad_dict[{name!r}]", "state": f"executor.aux_dict[{name!r}]",
    }.get(kind, f"outputs[{kind[len('output'):]}]")
    return [
        f"got = {source}.asnumpy().astype('float64')",
        f"expected = array({_numbers(expected)}, 'float64').reshape(got.shape)",
        f"bound = array({_numbers(bounds)}, 'float64').reshape(got.shape)",
        "right = (abs(got - expected) <= bound) | (got == expected) | ((got != got) & (expected != expected))",
        "print('got', got[~right], 'expected', expected[~right])",
        "assert right.all()",
    ]
