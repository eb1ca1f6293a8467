"""Traits of a program: words by which a search excludes the programs that show a known cause and no others.

    LeakyReLU                            an operator,
    LeakyReLU act_type=rrelu             a parameter that is not its default,
    LeakyReLU 1 beyond                   values of its second input that it does not expect,
    gradient of LeakyReLU 0 with add     a requested gradient,
    float64, special                     a type and a style of values,
    init_optimizer optimizer=lars        an argument of a step,
    set_params before update             an order of steps,
    level 5                              the level above 2: equal steps of two levels are not the same.

A *pattern* is a set of traits. A program has a pattern when it has all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

from ..kernels.foundation import get
from ..kernels.foundation.params import defaults
from ..symbol.calls import attribute_text

Program = dict[str, Any]
Pattern = frozenset[str]

COMMON = frozenset({
    "FullyConnected", "SoftmaxOutput", "LinearRegressionOutput", "MAERegressionOutput", "LogisticRegressionOutput",
    "MakeLoss", "BlockGrad", "Flatten", "elemwise_add", "elemwise_sub", "square", "sum", "Concat", "_mul_scalar",
})
"""Operators that most networks have: above level 2 they are no traits. A choice of the search, whatever pages say."""
TYPES = ("float16", "float32", "float64", "uint8", "int8", "int32", "int64")
STYLES = ("special", "wide")
"""Styles of values that are traits."""
USUAL = frozenset({
    "do", "attempt", "data", "labels", "given", "batch", "epochs", "seed", "keys", "key", "shapes", "shape", "values",
    "ids", "rows", "default", "threshold", "file", "indices", "gradients", "numbers", "value", "frequency",
    "learning_rate", "rescale_grad", "rest",
})
"""Fields of steps that say nothing by themselves."""
NO_WORDS = ("True", "False", "None")
SEEN = frozenset({"pull", "get_params", "read", "bind", "create", "init_params", "init", "barrier"})
"""Steps whose place among the others is no trait."""


def traits_of(program: Program) -> Pattern:
    """All traits of a program.

    Args:
        program: a checked program.
    """
    return frozenset((*_of_arrays(program), *_of_nodes(program), *_of_steps(program)))


def _of_arrays(program: Program) -> Iterator[str]:
    for spec in program.get("arrays", {}).values():
        yield spec["dtype"]
        if spec.get("style") in STYLES:
            yield spec["style"]


def _of_nodes(program: Program) -> Iterator[str]:
    nodes, low = program.get("nodes", ()), program["level"] <= 2
    asked = _asked(program) if low else {}
    for node in nodes:
        name = node["op"]
        if name == "null" or (not low and name in COMMON):
            continue
        yield name
        for attr in words_of(name, tuple(sorted(node.get("attrs", {}).items()))):
            yield f"{name} {attr}"
        if not low:
            continue
        for place, (number, _) in enumerate(node.get("inputs", ())):
            source = nodes[number]
            if source["op"] == "null" and _is_beyond(program["arrays"].get(source["name"], {})):
                yield f"{name} {place} beyond"
            for requirement in asked.get(source["name"], ()) if source["op"] == "null" else asked and ("write",):
                yield f"gradient of {name} {place} with {requirement}"
                yield f"gradient of {name} with {requirement}"


def _asked(program: Program) -> dict[str, set[str]]:
    """Variable -> requirements of its gradient, where a backward pass computes gradients."""
    found: dict[str, set[str]] = {}
    if any(step["do"] == "backward" for step in program["steps"]):
        for step in program["steps"]:
            for name, requirement in (step.get("requirements") or {}).items():
                if requirement != "null":
                    found.setdefault(name, set()).add(requirement)
    return found


def _is_beyond(spec: dict[str, Any]) -> bool:
    """Whether whole numbers may be below 0, as drawing makes labels that are none."""
    kind = spec.get("kind")
    return isinstance(kind, (list, tuple)) and kind[0] == "ints" and kind[1] < 0


@lru_cache(maxsize=4096)
def words_of(name: str, attrs: tuple[tuple[str, str], ...], *, usual: bool = True) -> tuple[str, ...]:
    """Words among the parameters of a call, and flags that are not at their default: ``attr=value``.

    Args:
        name: of the operator.
        attrs: its attributes, as text.
        usual: whether to tell words that are the default too.
    """
    usually = {attr: attribute_text(value) for attr, value in defaults(get(name).params).items()}
    words = {attr: value for attr, value in usually.items() if value[:1].isalpha() and value not in NO_WORDS}
    words.update((attr, value) for attr, value in attrs if value[:1].isalpha() and not attr.startswith("__"))
    return tuple(
        f"{attr}={value}" for attr, value in sorted(words.items())
        if value != "None" and (value != usually.get(attr) or (usual and value not in NO_WORDS))
    )


def _of_steps(program: Program) -> Iterator[str]:
    steps = program["steps"]
    if sum(step["do"] == "backward" for step in steps) > 1:
        yield "repeated"
    trained = True
    for step in steps:
        if step["do"] == "forward":
            trained = step.get("train", False)
        elif step["do"] == "backward" and not trained:
            yield "backward after inference"
    if program["level"] <= 2:
        yield from {step["do"] for step in steps} & {"share", "reshape", "monitor"}
        return
    yield f"level {program['level']}"
    updates = False
    for step in steps:
        updates |= step["do"] in ("updater", "optimizer")
        sums = program["level"] == 6 and step["do"] in ("push", "pushpull") and not updates
        yield from _of_step(step, f"{step['do']} without updater" if sums else step["do"])
    order = dict.fromkeys(step["do"] for step in steps if step["do"] not in SEEN)
    last = {step["do"]: number for number, step in enumerate(steps)}
    first = {step["do"]: number for number, step in reversed(list(enumerate(steps)))}
    for one, other in combinations(order, 2):
        yield f"{one} before {other}" if first[one] < last[other] else f"{other} before {one}"
        if first[other] < last[one]:
            yield f"{other} before {one}"


def _of_field(trait: str, field: str, value: Any) -> Iterator[str]:
    if isinstance(value, (bool, str)) or value is None:
        if (field, value) != ("optimizer", "sgd"):  # what any other is shrunk to, where any will do
            yield f"{trait}={value}"
    elif isinstance(value, int):
        if value > 1:
            yield trait
    elif field != "parameters":
        yield trait


def _of_step(step: dict[str, Any], do: str) -> Iterator[str]:
    if step.get("attempt"):
        do = f"refused {do}"
    yield do
    for field, value in (*step.items(), *(step.get("parameters") or {}).items(), *(step.get("schedule") or {}).items()):
        if field not in USUAL:
            yield from _of_field(f"{do} {field}", field, value)
    for field in ("keys", "indices"):
        if isinstance(step.get(field), list) and len(step[field]) > 1:
            yield f"{do} several"
            if len({str(each) for each in step[field]}) < len(step[field]):
                yield f"{do} one twice"
    if "rows" in step:
        yield f"{do} rows"
    if "values" in step:
        for spec, alone in _specs(step["values"]):
            yield f"{do} {spec['dtype']}{spec['shape']}"
            if not alone:
                yield f"{do} several arrays"


def _specs(values: Any, *, alone: bool = True) -> Iterator[tuple[dict[str, Any], bool]]:
    """Arrays in lists of lists, and whether each is the only one of its key."""
    if isinstance(values, dict):
        yield values, alone
        return
    for each in values:
        yield from _specs(each, alone=not isinstance(each, dict) or len(values) == 1)


def usual_traits_of(program: Program) -> Pattern:
    """What many programs have and :func:`traits_of` leaves out: common operators, and the optimizer sgd.

    Args:
        program: a checked program.
    """
    found = {node["op"] for node in program.get("nodes", ()) if node["op"] in COMMON}
    found |= {f"{step['do']} optimizer=sgd" for step in program["steps"] if step.get("optimizer") == "sgd"}
    return frozenset(found)


def all_traits_of(program: Program) -> Pattern:
    """What a program is matched by: :func:`traits_of` and :func:`usual_traits_of`.

    Args:
        program: a checked program.
    """
    return traits_of(program) | usual_traits_of(program)


def matched(patterns: Iterable[Pattern], program: Program) -> bool:
    """Whether a program has one of some patterns.

    Args:
        patterns: sets of traits.
        program: a checked program.
    """
    patterns = list(patterns)
    if not patterns:
        return False
    traits = all_traits_of(program)
    return any(pattern <= traits for pattern in patterns)


def pattern_of(
    program: Program, gradient: str | None = None, needless: Sequence[str] = (), *, fine: bool = True
) -> Pattern:
    """The traits by which programs show the cause of a shrunk one.

    Args:
        program: the shrunk program.
        gradient: the trait of the wrong gradient, empty where none is wrong; None keeps all requested gradients.
        needless: traits without which variants of the program fail as well.
        fine: whether to keep parameters of operators, styles, and orders of steps.
    """
    traits = set(traits_of(program))
    names = {node["op"] for node in program.get("nodes", ()) if node["op"] != "null"}
    if program["level"] > 2:
        return frozenset(trait for trait in traits if fine or " before " not in trait) - set(needless)
    types = {each for each in TYPES if each in traits}
    traits -= types - ({each for each in types if each.startswith("float")} or types)
    traits -= {"share", "monitor", "reshape", *needless}
    asked = {trait for trait in traits if trait.startswith("gradient of ")}
    if gradient is not None and gradient in ("", *asked):
        traits = traits - asked | ({gradient} - {""})
    if not fine:
        traits &= names | types | asked
    return frozenset(traits)
