"""Whatever MXNet 1.9.1 has takes the same parameters here: names, order and defaults, or a row of the deviations."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import refimpl as mx
from refimpl.op_registry.function import OperatorFunction

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "fixtures" / "signatures.txt"  # by make_signatures.py beside it
ROWS = (ROOT / "spec/reference/porting/deviations.md").read_text(encoding="utf-8")
BY_NAME_ONLY = ("out", "name", "attr")
"""What every operator takes too: see the rows of nd/arguments and Symbol/arguments."""
ANY = ("...", "_Null")
"""Recorded defaults that are not compared: objects, and MXNet's mark of a parameter that is left out."""


class Taken(NamedTuple):
    """What a function takes: name -> default as text, None where there is none, in the order of positions."""

    by_position: dict[str, str | None]
    by_name: dict[str, str | None]
    rest: bool
    """Whether it takes any number by position."""
    others: bool
    """Whether it takes any other name."""


def recorded(text: str) -> Taken:
    """What a line of the file tells."""
    (function,) = ast.parse(f"def f{text}: pass").body
    taken = function.args  # type: ignore[attr-defined]  # a def
    texts = [None] * (len(taken.args) - len(taken.defaults)) + [ast.unparse(each) for each in taken.defaults]
    behind = [None if each is None else ast.unparse(each) for each in taken.kw_defaults]
    return Taken(
        {each.arg: text for each, text in zip(taken.args, texts, strict=True)},
        {each.arg: text for each, text in zip(taken.kwonlyargs, behind, strict=True)},
        taken.vararg is not None, taken.kwarg is not None,
    )


def found_here(function: Callable[..., Any]) -> Taken:
    """What a function of ours takes."""
    given = inspect.signature(function).parameters.values()
    defaults = {each.name: None if each.default is each.empty else repr(each.default) for each in given}
    kinds = {each.name: each.kind for each in given}
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return Taken(
        {name: text for name, text in defaults.items() if kinds[name] in positional},
        {name: text for name, text in defaults.items() if kinds[name] is inspect.Parameter.KEYWORD_ONLY},
        inspect.Parameter.VAR_POSITIONAL in kinds.values(), inspect.Parameter.VAR_KEYWORD in kinds.values(),
    )


def same_default(theirs: str | None, ours: str | None) -> bool:
    """Whether a default is MXNet's, where it is compared."""
    return theirs in (None, *ANY, ours)


def differences(place: str, theirs: Taken, ours: Taken, operator: bool) -> Iterator[str]:
    """What a call in MXNet's manner would meet here; parameters that only we have may follow, with a default."""
    if theirs.rest and (theirs.others or not theirs.by_position):
        return  # it says nothing
    by_name_only = BY_NAME_ONLY if operator else ()
    wanted = {name: default for name, default in theirs.by_position.items() if name not in by_name_only}
    names = [name for name in ours.by_position if name not in by_name_only]
    for position, (name, default) in enumerate(wanted.items()):
        if position >= len(names):
            if not ours.rest:
                yield f"{place} takes no {name} by position"
        elif names[position] != name:
            yield f"{place} takes {names[position]} where MXNet takes {name}"
        elif not operator and not same_default(default, ours.by_position[name]):
            yield f"{place}: the default of {name} is {ours.by_position[name]}, not {default}"
    for name in theirs.by_name:
        if not ours.others and name not in {*ours.by_position, *ours.by_name}:
            yield f"{place} takes no {name}"
    for name in names[len(wanted) :]:
        if ours.by_position[name] is None:
            yield f"{place} needs {name}, which MXNet does not have"


def look_up(place: str) -> Any:
    """What stands at a place here, None where nothing does, or where an operator is not implemented."""
    found: Any = mx
    parts = place.split(".")
    for end, part in enumerate(parts, 1):
        try:
            last = end == len(parts) and inspect.isclass(found)
            found = inspect.getattr_static(found, part) if last else getattr(found, part)
        except (AttributeError, mx.MXNetError):
            path = ".".join([{"nd": "ndarray", "sym": "symbol"}.get(parts[0], parts[0]), *parts[1:end]])
            try:
                found = importlib.import_module(f"refimpl.{path}")
            except ImportError:
                return None
    return None if (getattr(found, "__doc__", "") or "").startswith("Not implemented:") else found


def compared(line: str) -> list[str] | None:
    """The differences of what a line of the file tells; None where there is nothing of that name here."""
    place, _, text = line.partition("(")
    here = look_up(place)
    if here is None:
        return None
    theirs, operator = recorded(f"({text}"), isinstance(here, OperatorFunction) or "_Null" in text
    is_static = isinstance(here, (staticmethod, classmethod))
    function = here.__func__ if is_static else here
    ours = found_here(function)
    if "self" in theirs.by_position:
        theirs.by_position.pop("self")
        if not isinstance(here, staticmethod):  # what stands for self has our operators' name
            ours.by_position.pop(next(iter(ours.by_position)), None)
    elif isinstance(here, classmethod):
        ours.by_position.pop(next(iter(ours.by_position)))
    return list(differences(place, theirs, ours, operator))


LINES: dict[str, list[str]] = defaultdict(list)
for _line in RECORDED.read_text(encoding="utf-8").splitlines():
    LINES[".".join(_line.partition("(")[0].split(".")[:-1])].append(_line)


@pytest.mark.clause("conventions/signatures")
@pytest.mark.parametrize("owner", sorted({place.partition(".")[0] for place in LINES}))
def test_parameters_are_those_of_mxnet(owner: str) -> None:
    found = [
        each for place, lines in LINES.items() if place.partition(".")[0] == owner
        for line in lines for each in compared(line) or ()
        if f"`{line.partition('(')[0]}`" not in ROWS
    ]
    assert found == []


def test_most_of_mxnet_is_compared() -> None:
    lines = [line for lines in LINES.values() for line in lines]
    assert len(lines) > 2500
    assert sum(compared(line) is not None for line in lines) > 2300


def names_of(place: str) -> Iterator[str]:
    """The names by which a row may speak of a place: its own, those of its owners, and a class of arrays or symbols."""
    parts = place.split(".")
    yield from (".".join(parts[:end]) for end in range(len(parts), 1, -1))
    if parts[0] in ("nd", "sym") and len(parts) > 2:
        yield ".".join(parts[1:])


def is_missing_operator(place: str) -> bool:
    """Whether an operator is meant that has no page here; ``refimpl ops`` lists these."""
    owner, _, name = place.rpartition(".")
    found = getattr(look_up(owner), name, None)
    return (getattr(found, "__doc__", None) or "").startswith("Not implemented:")


@pytest.mark.clause("conventions/names")
def test_what_is_absent_has_a_row() -> None:
    places = [line.partition("(")[0] for lines in LINES.values() for line in lines]
    absent = [place for place in places if look_up(place) is None and not is_missing_operator(place)]
    assert len(absent) > 30
    assert [place for place in absent if not any(f"`{name}`" in ROWS for name in names_of(place))] == []


@pytest.mark.parametrize(("text", "function", "said"), [
    ("(a, b)", lambda b, a: None, ["takes b where MXNet takes a", "takes a where MXNet takes b"]),
    ("(a, b=1)", lambda a: None, ["takes no b by position"]),
    ("(a, b=1)", lambda a, b=2: None, ["the default of b is 2, not 1"]),
    ("(a)", lambda a, b: None, ["needs b, which MXNet does not have"]),
    ("(a, *, b=1)", lambda a: None, ["takes no b"]),
    ("(a, b=...)", lambda a, b=2, c=3: None, []),
    ("(a, b)", lambda *every: None, []),
    ("(*every, **others)", lambda a, b: None, []),
])
def test_a_difference_is_told(text: str, function: Callable[..., Any], said: list[str]) -> None:
    found = differences("f", recorded(text), found_here(function), operator=False)
    assert [each.removeprefix("f: ").removeprefix("f ") for each in found] == said


x, y, z = (mx.sym.Variable(name) for name in "xyz")
CALLS: list[tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, str]]] = [
    ("LRN", mx.sym.LRN, (x, 1e-4, 0.75, 2, 5), {"alpha": "0.0001", "beta": "0.75", "knorm": "2", "nsize": "5"}),
    (
        "Convolution", mx.sym.Convolution, (x, y, z, (3, 3), (2, 2), (1, 1), (1, 1), 8, 2),
        {
            "kernel": "(3, 3)", "stride": "(2, 2)", "dilate": "(1, 1)", "pad": "(1, 1)", "num_filter": "8",
            "num_group": "2",
        },
    ),
    (
        "Deconvolution", mx.sym.Deconvolution, (x, y, None, (3, 3), (2, 2), (1, 1), (1, 1), (0, 0), (), 8),
        {
            "kernel": "(3, 3)", "stride": "(2, 2)", "dilate": "(1, 1)", "pad": "(1, 1)", "adj": "(0, 0)",
            "target_shape": "()", "num_filter": "8",
        },
    ),
    (
        "RNN", mx.sym.RNN, (x, y, z, mx.sym.Variable("c"), None, 4, 1, True, "lstm"),
        {"state_size": "4", "num_layers": "1", "bidirectional": "True", "mode": "lstm"},
    ),
    (
        "SpatialTransformer", mx.sym.SpatialTransformer, (x, y, (4, 4), "affine", "bilinear"),
        {"target_shape": "(4, 4)", "transform_type": "affine", "sampler_type": "bilinear"},
    ),
]
"""Recorded with MXNet 1.9.1: mx.sym.LRN(x, 1e-4, 0.75, 2, 5, name="n").attr_dict()["n"], and so on."""


@pytest.mark.clause("conventions/signatures")
@pytest.mark.parametrize(("name", "function", "given", "attributes"), CALLS, ids=[call[0] for call in CALLS])
def test_parameters_by_position(
    name: str, function: Callable[..., Any], given: tuple[Any, ...], attributes: dict[str, str]
) -> None:
    assert function(*given, name="n").attr_dict()["n"] == attributes


# mx.nd.LRN(mx.nd.array([[[[1]], [[2]], [[3]]]]), 1, 1, 1, 3).asnumpy().tolist()
def test_arrays_take_parameters_by_position() -> None:
    made = mx.nd.LRN(mx.nd.array([[[[1]], [[2]], [[3]]]]), 1, 1, 1, 3)
    assert made.asnumpy().ravel().tolist() == pytest.approx([0.3750000298023224, 0.3529411852359772, 0.5625], rel=1e-6)


def test_arguments_of_old_names() -> None:
    a, b = mx.nd.array([1, 2]), mx.sym.Variable("b")
    assert mx.nd.power(base=a, exp=2).asnumpy().tolist() == [1, 4]
    assert mx.sym.pow(base=b, exp=2).list_arguments() == mx.sym.power(base=2, exp=b).list_arguments() == ["b"]
    assert mx.nd.ones((1, 2)).broadcast_like(other=mx.nd.ones((3, 2))).shape == (3, 2)
    assert isinstance(mx.sym.Group([b, b], create_fn=mx.sym.Symbol), mx.sym.Symbol)
    metric = mx.metric.CompositeEvalMetric([mx.metric.MAE()])
    metric.update_dict(labels={"l": mx.nd.array([1])}, preds={"p": mx.nd.array([3])})
    assert metric.get() == (["mae"], [2.0])
    group = mx.mod.Module(mx.sym.FullyConnected(b, num_hidden=2), ("b",), None)
    group.bind([("b", (4, 3))])
    group._exec_group.bind_exec([mx.io.DataDesc("b", (8, 3))], None, None, True)
    assert group._exec_group.decide_slices(data_shapes=[mx.io.DataDesc("b", (8, 3))])[0] == 8


def test_the_distribution_that_optimizers_draw_from_takes_its_type_by_position() -> None:
    mx.random.seed(3)
    drawn = mx.optimizer.optimizer.normal(0, 1, (2,), "float64")
    mx.random.seed(3)
    assert (drawn == mx.random.normal(0, 1, (2,), "float64")).asnumpy().all() and drawn.dtype is np.float64


@pytest.mark.clause("Symbol/in-place")
@pytest.mark.parametrize(("name", "given", "shape"), [
    ("expand_dims", (0, True), (1, 2, 1)), ("squeeze", (1, True), (2,)), ("flatten", (True,), (2, 1)),
])
def test_methods_of_symbols_take_inplace(name: str, given: tuple[Any, ...], shape: tuple[int, ...]) -> None:
    data = mx.sym.Variable("data", shape=(2, 1))
    assert getattr(data, name)(*given).infer_shape()[1] == [shape]
    assert getattr(data, name)(*given[:-1], inplace=False).infer_shape()[1] == [shape]
    with pytest.raises(TypeError, match="each once"):
        getattr(data, name)(*given, inplace=True)
