"""Drawing: operators that may use random numbers are drawn where they do not; values are of the kind that is named."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from refimpl.kernels.foundation import get
from refimpl.oracle import Capabilities, Exclusions, judge, program_of, search, trace_of
from refimpl.oracle.backends import Reference
from refimpl.oracle.drawing.drawn_buckets import svrg_program
from refimpl.oracle.drawing.drawn_modules import RARE
from refimpl.oracle.drawing.draws import SeededDraw
from refimpl.oracle.judging.comparing import Mismatch, Verdict
from refimpl.oracle.programs.program import operators
from refimpl.oracle.programs.values import STYLES, array_of
from refimpl.oracle.scripts import script_of

from .planted_bugs import sound


@pytest.mark.parametrize("name", ["LeakyReLU", "RNN"])
def test_calls_that_use_no_random_numbers_are_drawn(name: str) -> None:
    capabilities = Capabilities(level=2, operators=frozenset({name}))
    attributes = []
    for i in range(30):
        program = program_of(2, i, capabilities)
        if name in operators(program):
            attributes += [node["attrs"] for node in program["nodes"] if node["op"] == name]
            assert judge(Reference(), program).status == "passed"
    assert len(attributes) > 10
    if name == "RNN":
        assert {float(each["p"]) for each in attributes} == {0.0}
        assert {each["mode"] for each in attributes} == {"rnn_relu", "rnn_tanh", "lstm", "gru"}
    else:
        assert {each["act_type"] for each in attributes} == {"elu", "gelu", "leaky", "prelu", "selu"}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int8", "int32", "int64"])
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("kind", "least"), [("positive", 0), ("above_one", 1)])
def test_positive_numbers_are_positive_as_whole_numbers_too(kind, least, style, dtype):
    for seed in range(20):
        values = array_of({"shape": [30], "dtype": dtype, "kind": kind, "style": style, "seed": seed})
        assert (values[~np.isnan(values.astype(np.float64))] > least).all()


@pytest.mark.parametrize("style", ["dyadic", "normal", "special"])
def test_definite_matrices_have_eigenvalues_in_any_order(style: str) -> None:
    kept = 0
    for seed in range(8):
        matrix = array_of({"shape": [3, 3], "dtype": "float64", "kind": "definite", "style": style, "seed": seed})
        assert np.array_equal(matrix, matrix.T)
        values = np.linalg.eigvalsh(matrix)
        assert values.min() > 0
        assert np.diff(values).min() > 2
        kept += list(np.diag(matrix)) == sorted(np.diag(matrix))
    assert kept < 6


def _passes(program):
    """Pairs of neighbouring steps."""
    steps = program["steps"]
    return [
        (one["do"], one.get("train", False), other["do"]) for one, other in pairwise(steps)
    ]


def _asks_for_labels(program):
    asked = {n for step in program["steps"] for n, r in (step.get("requirements") or {}).items() if r != "null"}
    nodes = program["nodes"]
    return any(
        name in get(node["op"]).no_gradient and nodes[entry[0]]["name"] in asked
        for node in nodes if node["op"] == "SoftmaxOutput"
        for name, entry in zip(("data", "label"), node["inputs"], strict=True)
    )


CORNERS = {
    "a backward pass after inference": lambda p: ("forward", False, "backward") in _passes(p),
    "gradients of labels": _asks_for_labels,
    "labels beyond": lambda p: any(
        spec.get("kind", "")[:2] in (["ints", -2], ["ints", -3]) for spec in p["arrays"].values()
    ),
    "flags": lambda p: any(node.get("attrs", {}).get("cudnn_off") == "True" for node in p["nodes"]),
    "operators that write an argument": lambda p: "BatchNorm" in operators(p),
    "monitors": lambda p: any(step["do"] == "monitor" for step in p["steps"]),
    "keywords of forward": lambda p: any(step.get("keywords") for step in p["steps"]),
}


@pytest.mark.parametrize("corners", [False, True])
def test_corners_are_drawn_where_they_are_asked_for_and_only_there(corners: bool) -> None:
    names = frozenset({"SoftmaxOutput", "BatchNorm", "relu"})
    capabilities = Capabilities(level=2, operators=names, corners=corners)
    programs = [program_of(4, i, capabilities) for i in range(150)]
    found = {name for name, shows in CORNERS.items() if any(map(shows, programs))}
    assert found == (set(CORNERS) if corners else set())
    if corners:
        assert {judge(Reference(), program).status for program in programs[:25]} == {"passed"}


def test_gradients_that_are_zero_often_have_a_monitor() -> None:
    capabilities = Capabilities(level=2, operators=frozenset({"SoftmaxOutput", "relu"}), corners=True)
    asking = [p for p in (program_of(7, i, capabilities) for i in range(300)) if _asks_for_labels(p)]
    assert len(asking) > 10
    assert sum(map(CORNERS["monitors"], asking)) > len(asking) / 3


def test_an_operator_can_be_left_out_for_one_type() -> None:
    capabilities = Capabilities(level=2, operators=frozenset({"relu"}), dtypes=("float32", "float64"))
    exclude = Exclusions(operators=frozenset({"tanh float64"}))
    drawn = [program_of(6, i, capabilities._replace(operators=frozenset({"relu", "tanh"})), exclude) for i in range(60)]
    types = {
        name: {spec["dtype"] for p in drawn if name in operators(p) for spec in p["arrays"].values()}
        for name in ("relu", "tanh")
    }
    assert types == {"relu": {"float32", "float64"}, "tanh": {"float32"}}


def test_what_a_backend_leaves_out_is_not_drawn_and_is_noted() -> None:
    class Partial:
        capabilities, leaves_out = sound.capabilities, ("relu",)

        def run(self, program):
            assert "relu" not in operators(program)
            return sound.run(program)

    result = search(Partial(), programs=30)
    assert result.found == []
    assert result.drawn["exclude"]["operators"] == ["relu"]


def test_a_monitor_shows_what_every_operator_gives() -> None:
    program = {
        "version": 1, "level": 2, "heads": [[2, 0]], "arrays": {
            "a": {"shape": [1], "dtype": "float32", "elements": [3.0]},
        },
        "nodes": [
            {"op": "null", "name": "a"}, {"op": "square", "name": "n", "inputs": [[0, 0]], "attrs": {}},
            {"op": "negative", "name": "m", "inputs": [[1, 0]], "attrs": {}},
        ],
        "steps": [
            {"do": "bind"}, {"do": "monitor", "inputs": True},
            {"do": "forward", "keywords": True, "arrays": {"a": {"shape": [1], "dtype": "float32", "elements": [2.0]}}},
        ],
    }
    # MXNet 1.9.1 names them so: mx.mon.Monitor(1, lambda x: x, monitor_all=True) on negative(square(a)), names n and m
    seen = {name: value.tolist() for name, value in trace_of(program).items()}
    assert seen == {
        "2/output0": [-4], "2/monitor:a@0": [2], "2/monitor:n_input0@0": [2], "2/monitor:n_output@0": [4],
        "2/monitor:m_input0@0": [4], "2/monitor:m_output@0": [-4], "2/monitor:a@1": [2],
    }
    assert judge(Reference(), program).status == "passed"


SVRG = {
    "two updates at once": lambda do, steps: ("update", "update") in pairwise(do),
    "gradients that add up": lambda do, steps: any(step.get("requirement") == "add" for step in steps),
    "a mode as bound": lambda do, steps: any(step["do"] == "forward" and "train" not in step for step in steps),
    "values after the optimizer": lambda do, steps: "set_params" in do,
}


@pytest.mark.parametrize("corners", [False, True])
def test_scripts_of_svrg_have_corners(corners: bool) -> None:
    capabilities, found = Capabilities(level=4, corners=corners), set()
    for number in range(60):
        steps = svrg_program(SeededDraw(f"corners/{number}"), capabilities)["steps"]
        found |= {name for name, has in SVRG.items() if has([step["do"] for step in steps], steps)}
    assert found == (set(SVRG) if corners else set())


def test_modules_use_rare_rules_and_stores_other_types_among_the_corners() -> None:
    rules, types = set(), set()
    for number in range(200):
        rules |= {
            step["optimizer"] for step in program_of(3, number, Capabilities(level=3, corners=True))["steps"]
            if step["do"] == "init_optimizer"
        }
        store = program_of(3, number, Capabilities(level=6, corners=True))["steps"]
        types |= {step["values"][0]["dtype"] for step in store if step["do"] == "init" and "attempt" not in step}
    assert len(rules & set(RARE)) >= 7
    assert types == {"float32", "float64", "float16"}


def test_stores_refuse_more_kinds_of_calls_among_the_corners() -> None:
    kinds = {True: set(), False: set()}
    for corners in kinds:
        for i in range(120):
            program = program_of(3, i, Capabilities(level=6, corners=corners))
            kinds[corners] |= {
                (step["do"], str(step.get("keys", step.get("key"))).count(",")) for step in program["steps"]
                if step.get("attempt")
            }
            if i < 5:
                assert judge(Reference(), program).status == "passed"
    assert ("row_sparse_pull", 0) in kinds[True]
    assert ("push", 1) in kinds[True]
    assert kinds[False] < kinds[True]


@pytest.mark.parametrize("keywords", [False, True])
def test_functions_and_scripts_are_given_keywords_of_forward(keywords: bool) -> None:
    array = {"shape": [1], "dtype": "float32", "elements": [2.0]}
    program = {
        "version": 1, "level": 2, "heads": [[1, 0]], "arrays": {"a": {**array, "elements": [3.0]}},
        "nodes": [{"op": "null", "name": "a"}, {"op": "relu", "name": "n", "inputs": [[0, 0]], "attrs": {}}],
        "steps": [{"do": "bind"}, {"do": "forward", "arrays": {"a": array}, "keywords": keywords}],
    }
    assert sound.run(program)["1/output0"].tolist() == [2]
    wrong = Mismatch("1/output0", "value", "", np.zeros(1), np.zeros(1), np.ones(1), np.ones(1, bool))
    script = script_of(program, Verdict("failed", [wrong]), "title")
    assert ("args['a'][:]" in script) is not keywords
    assert ("**{'a': nd(" in script) is keywords


@pytest.mark.parametrize("level", range(3, 8))
def test_a_program_above_level_2_has_no_script(level: int) -> None:
    program = program_of(0, 0, Capabilities(level=level))
    with pytest.raises(ValueError, match=f"no programs of level {level}"):
        script_of(program, Verdict("failed", [Mismatch("1/weight:0", "value", "")]), "title")
