"""What is known of an operator, read from its page: clauses, examples, loops, gradient, types, storages.

Nothing here is written down for an operator by hand. ``help``, ``refimpl ops`` and ``spec/ops.md`` show it.
"""

from __future__ import annotations

import ast
import inspect
import random
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache, partial
from types import FunctionType, MethodType
from typing import Any, NamedTuple, get_args

import numpy as np

from .base import DTYPE_FLAGS, MXNetError
from .kernels.foundation import REGISTRY, Case, Loop, Op, distinct
from .kernels.foundation.params import field_types

_CLAUSE = re.compile(r"\[([A-Za-z_][\w-]*/[A-Za-z0-9][\w-]*)\] ?(.*)")
_DENIES = re.compile(r"no gradient|gradients? (?:cannot|is zero|of all)|nothing to differentiate|have no\b.*gradient")
DRAWS = 16  # calls that are drawn where parameters decide something

# --- text ----------------------------------------------------------------------------------------


class Clause(NamedTuple):
    """One rule of a page: its name, its words, its worked examples (each with what it prints)."""

    name: str
    text: str
    examples: tuple[str, ...]


class Page(NamedTuple):
    """The text of a page: what it computes, its rules, and whatever else it says."""

    summary: str
    clauses: tuple[Clause, ...]
    notes: str


def _paragraphs(doc: str) -> Iterator[list[str]]:
    """Blocks that begin at the margin, each with the indented lines and examples beneath it."""
    block: list[str] = []
    after_gap = True
    for line in doc.strip().splitlines():
        begins = line[:1].strip() and (after_gap or line.startswith("["))
        if begins and block and not line.startswith(">>>"):
            yield block
            block = []
        after_gap = not line.strip()
        if line.strip() or block:
            block.append(line)
    if block:
        yield block


def _clause(name: str, lines: Sequence[str]) -> Clause:
    words: list[str] = []
    examples: list[list[str]] = []
    printing = False
    for line in lines:
        bare = line.strip()
        if bare.startswith(">>>"):
            examples.append([line])
            printing = True
        elif not bare:
            printing = False
        elif printing:
            examples[-1].append(line)
        else:
            words.append(bare)
    return Clause(name, " ".join(words), tuple(textwrap.dedent("\n".join(e)) for e in examples))


@cache
def _read(doc: str) -> Page:
    first, *rest = _paragraphs(doc) if doc.strip() else [[""]]
    clauses, notes = [], []
    for block in rest:
        head = _CLAUSE.match(block[0])
        if head:
            clauses.append(_clause(head[1], [head[2], *block[1:]]))
        else:
            notes.append("\n".join(block).strip())
    summary = " ".join(line.strip() for line in first if line.strip())
    before, colon, after = summary.partition(": ")
    named = colon and (before in REGISTRY or before.count(" ") < 4)
    return Page(after if named else summary, tuple(clauses), "\n\n".join(notes))


def page(op: Op) -> Page:
    """The text of the page that an operator stands on."""
    return _read(op.doc)


@cache
def page_of() -> dict[str, str]:
    """Text of a page -> the name of its file."""
    prefix = f"{Op.__module__.partition('.foundation')[0]}."
    return {
        module.__doc__: name.removeprefix(prefix)
        for name, module in sys.modules.items() if name.startswith(prefix) and module.__doc__
    }


def file_of(op: Op) -> str:
    """The file of an operator's page, from the root of a checkout."""
    found = page_of().get(op.doc)
    return f"kernels/{found}.py" if found else f"{op.forward.__module__.replace('.', '/')}.py"


@cache
def family(op: Op) -> tuple[Op, ...]:
    """Every operator of the same page, this one included."""
    return tuple(other for other in distinct() if other.doc == op.doc)


def _says(text: str, names: Sequence[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names)


def own_names(op: Op) -> tuple[str, ...]:
    """Name and aliases."""
    return (op.name, *op.aliases)


def calls(op: Op, example: str) -> bool:
    """Whether a worked example runs this very operator."""
    return any(f'"{name}"' in example for name in own_names(op))


def _named_after(clause: Clause, op: Op) -> bool:
    """Whether a clause bears an operator's name, as room or as slug: [stack/axis], [random/uniform]."""
    room, _, slug = clause.name.partition("/")
    slug = slug.replace("-", "_")
    short = op.name.removeprefix("_random").removeprefix("_sample").removeprefix("_")
    return room in own_names(op) or slug in (*own_names(op), short)


def concerns(op: Op, clause: Clause) -> bool:
    """Whether a clause is about this operator, not only about others of its page."""
    if _named_after(clause, op) or _says(clause.text, own_names(op)) or any(calls(op, e) for e in clause.examples):
        return True
    siblings = [other for other in family(op) if other is not op]
    own_page = clause.name.partition("/")[0] == page_of().get(op.doc)
    if any(_named_after(clause, o) and not (own_page and o.name == page_of().get(op.doc)) for o in siblings):
        return False
    return not any(_says(clause.text, own_names(other)) for other in siblings)


def clauses(op: Op) -> list[Clause]:
    """The clauses that concern an operator; each keeps the examples that run it, or all when none does.

    On a page that speaks only of others by name every clause counts.
    """
    found = []
    for clause in page(op).clauses:
        if concerns(op, clause):
            own = tuple(e for e in clause.examples if calls(op, e))
            found.append(clause._replace(examples=own or clause.examples))
    return found or list(page(op).clauses)


def examples(op: Op) -> int:
    """How many worked examples of its page run this very operator."""
    return sum(calls(op, e) for clause in page(op).clauses for e in clause.examples)


def page_examples(op: Op) -> int:
    """How many worked examples its page has."""
    return sum(len(clause.examples) for clause in page(op).clauses)


@cache
def _tables(module: str) -> tuple[dict[str, str], dict[str, str]]:
    """Rows of a page's tables by operator, and the comment that heads each row's table."""
    source = inspect.getsource(sys.modules[module])
    rows: dict[str, str] = {}
    heads: dict[str, str] = {}
    for node in ast.parse(source).body:
        value = getattr(node, "value", None)
        elements: list[tuple[Any, Any]] = []
        if isinstance(value, (ast.Tuple, ast.List)):
            elements = [(e.elts[0], e) for e in value.elts if isinstance(e, ast.Tuple) and e.elts]
        elif isinstance(value, ast.Dict):
            elements = [(k, v) for k, v in zip(value.keys, value.values, strict=True) if k is not None]
        for key, row in elements:
            name: Any = getattr(key, "value", None)
            if isinstance(name, str) and name in REGISTRY and name not in rows:
                text = " ".join((ast.get_source_segment(source, row) or "").split())
                rows[name] = f"{name!r}: {text}" if isinstance(value, ast.Dict) else text
                top = (ast.get_source_segment(source, value) or "").splitlines()  # type: ignore[arg-type]  # has rows
                comment = top[1].strip() if len(top) > 1 else ""
                heads[name] = comment if comment.startswith("#") else ""
    return rows, heads


def row(op: Op) -> str:
    """The line of a family's table that this operator is, with the table's heading; empty where there is none."""
    module = sys.modules.get(f"{Op.__module__.partition('.foundation')[0]}.{page_of().get(op.doc)}")
    if module is None or len(family(op)) < 2:
        return ""
    rows, heads = _tables(module.__name__)
    return "\n".join(line for line in (heads.get(op.name, ""), rows.get(op.name, "")) if line)


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
        elif isinstance(value, Op):
            waiting.append(value.backward)
        elif isinstance(value, FunctionType) and ".kernels." in value.__module__:
            waiting += _read_by(value)
        elif isinstance(value, type) and ".kernels." in value.__module__:
            waiting += [each for each in vars(value).values() if isinstance(each, FunctionType)]
        elif isinstance(value, MethodType):
            waiting += [value.__func__, *vars(value.__self__).values()]
        elif isinstance(value, partial):
            waiting += [value.func, *value.args, *value.keywords.values()]
        elif isinstance(value, (tuple, list, set)):
            waiting += value
        elif isinstance(value, dict) and value is not REGISTRY:
            waiting += [value[key] for key in chosen & set(value)] or list(value.values())
    return sorted(found.values(), key=lambda loop: loop.name)


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
    """Why there is no gradient: a clause of the page, the general one, or that there are no inputs."""
    if not takes_inputs(op):
        return "no inputs"
    said = [c for c in page(op).clauses if _DENIES.search(c.text) and concerns(op, c)]
    own = [c.name for c in said if _says(c.text, own_names(op)) or c.name.partition("/")[0] in own_names(op)]
    return [*own, *[c.name for c in said], "gradient/differentiable"][0]


def storages(op: Op) -> list[str]:
    """The sparse forms: storages of the inputs, of the result, and the condition."""
    from .ndarray.sparse import rules

    lines = []
    for rule in rules():
        if rule.operator == op.name:
            given = ", ".join("..." if each is ... else each for each in rule.inputs)
            lines.append(f"{given} -> {rule.output}" + (f" ({rule.condition})" if rule.condition else ""))
    return lines


def is_internal(op: Op) -> bool:
    """Whether gradients are made of this operator, and users never meet it."""
    return op.name.startswith("_backward_") or op.name in ("_sum_like", "_stretch_like")
