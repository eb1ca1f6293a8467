"""What is known of an operator, read from its page: clauses, examples, loops, gradient, types, storages.

Nothing here is written down for an operator by hand. ``help``, ``refimpl ops`` and ``spec/ops.py`` show it.
"""

from __future__ import annotations

import ast
import inspect
import random
import textwrap
from collections.abc import Iterable, Iterator
from functools import cache, partial
from types import FunctionType, MethodType
from typing import Any, get_args

import numpy as np

from ..base import DTYPE_FLAGS, MXNetError
from ..kernels.foundation import REGISTRY, Case, Loop, Op
from ..kernels.foundation.params import field_types
from .pages import clauses, concerns, examples, family, file_of, own_names, page, page_examples, row
from .storage_rules import rules

DRAWS = 16  # calls that are drawn where parameters decide something

# --- calls ---------------------------------------------------------------------------------------


class _Draws(random.Random):
    """What ``cases`` asks for, from one seed."""

    def integer(self, low: int, high: int) -> int:
        return self.randint(low, high)

    def boolean(self) -> bool:
        return self.random() < 0.5

    def choice(self, options: Any) -> Any:
        return super().choice(list(options))

    def shape(self, min_rank: int, max_rank: int, max_side: int = 4) -> tuple[int, ...]:
        return tuple(self.randint(1, max_side) for _ in range(self.randint(min_rank, max_rank)))


@cache
def drawn_parameters(op: Op) -> list[Any]:
    """Parameters of some valid calls, as the page draws them."""
    found = []
    for seed in range(DRAWS if op.cases else 0):
        case: Case = op.cases(_Draws(seed))  # type: ignore[misc]  # has cases, see above
        params = dict(case.params)
        if op.variadic and "args" in case.shapes:
            params.setdefault(op.variadic, len(case.shapes["args"]))
        found.append(op.parse(params))
    return found


def optional_inputs(op: Op) -> set[str]:
    """Inputs that some valid call leaves out."""
    if not callable(op.inputs) or op.variadic:
        return set()
    return {
        name for p in drawn_parameters(op) for name in op.all_inputs if name not in op.input_names(p)
    }


def takes_inputs(op: Op) -> bool:
    """Whether any call of an operator reads an array."""
    return bool(op.variadic or callable(op.inputs) or op.inputs)


def outputs(op: Op) -> tuple[str, ...]:
    """Names of the outputs a user sees, of the call that has most of them."""
    if not callable(op.outputs) and op.visible is None:
        names = tuple(op.outputs)
        return names[: len(names) - op.hidden]
    seen = [op.output_names(p)[: op.visible_count(p)] for p in drawn_parameters(op)]
    return max(seen, key=len, default=("output",))


def dtypes(op: Op) -> list[str]:
    """Types that inference accepts of the first input, or that the parameter ``dtype`` may name."""
    if not takes_inputs(op):
        named = get_args(field_types(op.params).get("dtype"))
        named = tuple(inner for each in named for inner in (get_args(each) or (each,)))
        return [kind for kind in DTYPE_FLAGS if kind in named] or ["float32"]
    return [kind for kind in DTYPE_FLAGS if _accepts(op, np.dtype(kind))]


def _accepts(op: Op, kind: np.dtype) -> bool:
    for p in drawn_parameters(op):
        ins: list[Any] = [None] * len(op.input_names(p))
        if not ins:
            continue
        ins[0] = kind
        try:
            op.infer_type(p, ins, [None] * len(op.output_names(p)))
        except MXNetError:
            continue
        return True
    return False


# --- loops ---------------------------------------------------------------------------------------


def _read_by(function: FunctionType) -> Iterator[Any]:
    """What a function's text refers to: globals by name, variables of the functions around it."""
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        codes += [part for part in code.co_consts if inspect.iscode(part)]
        yield from (function.__globals__[name] for name in code.co_names if name in function.__globals__)
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not filled: a name that is bound in another branch
            continue


def _words(function: Any) -> set[str]:
    """The strings that a function of a page holds: they choose its entries of a table that a family shares."""
    if not isinstance(function, FunctionType):
        return set()
    kept = [value for value in _read_by(function) if isinstance(value, str)]
    return {*kept, *[value for value in function.__code__.co_consts if isinstance(value, str)]}


def _reached(start: Any) -> list[Loop]:
    chosen = _words(start)
    found: dict[int, Loop] = {}
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Loop):
            found[id(value)] = value
        else:
            waiting += _parts(value, chosen)
    return sorted(found.values(), key=lambda loop: loop.name)


def _parts(value: Any, chosen: set[str]) -> Iterable[Any]:
    """What a value may call or hand on; of a table of a page the rows that are ``chosen``, or else all."""
    if isinstance(value, Op):
        return [value.backward]
    if isinstance(value, FunctionType):
        return _read_by(value) if ".kernels." in value.__module__ else ()
    if isinstance(value, type):
        methods = [each for each in vars(value).values() if isinstance(each, FunctionType)]
        return methods if ".kernels." in value.__module__ else ()
    if isinstance(value, MethodType):
        return [value.__func__, *vars(value.__self__).values()]
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, (tuple, list, set)):
        return value
    if isinstance(value, dict) and value is not REGISTRY:
        return [value[key] for key in chosen & set(value)] or list(value.values())
    return ()


def forward_loops(op: Op) -> list[Loop]:
    """The loops that forward may run."""
    return _reached(op.forward)


def backward_loops(op: Op) -> list[Loop]:
    """The loops that backward may run."""
    return _reached(op.backward)


@cache
def threads(loop: Loop) -> str:
    """How a loop is spread over threads on CUDA: "many", or "one" where it is a single item."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(loop._cuda_source)))
    shares = [
        node.args[0] for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "items"
    ]
    return "many" if any(not isinstance(share, ast.Constant) for share in shares) else "one"


def single_threaded(op: Op) -> list[str]:
    """Names of loops, of forward and backward, that one thread runs on CUDA."""
    every = {loop.name for loop in (*forward_loops(op), *backward_loops(op)) if threads(loop) == "one"}
    return sorted(every)


def devices(op: Op) -> str:
    """Where an operator runs, in words."""
    if not forward_loops(op):
        return "those of what it runs"
    alone = single_threaded(op)
    return "cpu, cuda" + (f" ({', '.join(alone)} in one thread)" if alone else "")


# --- gradient, storage ---------------------------------------------------------------------------


def gradient_kind(op: Op) -> str:
    """How the gradient is spelled: "loops", "composition" of other operators, both of them, or "none"."""
    kinds = [word for word, there in (("loops", op.backward), ("composition", op.gradient)) if there]
    return ", ".join(kinds) or "none"


def denial(op: Op) -> str:
    """Why there is no gradient: the clause that the page names, or that there are no inputs."""
    return op.no_gradient_clause if takes_inputs(op) else "no inputs"


def storages(op: Op) -> list[str]:
    """The sparse forms: storages of the inputs, of the result, and the condition."""
    lines = []
    for rule in rules():
        if rule.operator == op.name:
            given = ", ".join("..." if each is ... else each for each in rule.inputs)
            lines.append(f"{given} -> {rule.output}" + (f" ({rule.condition})" if rule.condition else ""))
    return lines


def is_internal(op: Op) -> bool:
    """Whether gradients or optimizers here are made of this operator, and MXNet has none of its name."""
    helpers = "_grad_add_weight", "_stretch_like", "_sum_like"
    return op.name.startswith("_backward_") or op.name.endswith("_step") or op.name in helpers


__all__ = [
    "backward_loops", "clauses", "concerns", "denial", "devices", "drawn_parameters", "dtypes", "examples", "family",
    "file_of", "forward_loops", "gradient_kind", "is_internal", "optional_inputs", "outputs", "own_names", "page",
    "page_examples", "row", "single_threaded", "storages", "takes_inputs", "threads",
]
