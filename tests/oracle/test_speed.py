"""What drawing and judging cost: nothing is compiled in the loop, and equal data is made once."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config, njit
from numba.core import event

import refimpl
from refimpl.kernels.foundation.loop import plain_kernels
from refimpl.oracle import Capabilities, program_of, search
from refimpl.oracle.judging.executing import REFERENCE, steps_to, symbol_of
from refimpl.oracle.judging.reference import Truth
from refimpl.oracle.programs import interpreter
from refimpl.oracle.programs.program import symbol_json
from refimpl.oracle.programs.values import array_of
from refimpl.symbol import Symbol

from .planted_bugs import sound


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled at all")
def test_nothing_is_compiled_once_the_operators_have_run() -> None:
    search(sound, seed=0, programs=60)
    with event.install_recorder("numba:compile") as recorder:
        result = search(sound, seed=1, programs=60)
        assert recorder.buffer == []
        njit(lambda x: x + 1)(1)  # the recorder does see what is compiled
        assert recorder.buffer
    assert result.programs == 60


def test_bounds_need_no_second_binding_and_are_those_of_a_new_one(monkeypatch) -> None:
    bound, bind = [], Symbol.bind
    monkeypatch.setattr(Symbol, "bind", lambda self, *args, **kwargs: bound.append(1) or bind(self, *args, **kwargs))
    met = set()
    for number in range(40):
        program = program_of(3, number, sound.capabilities)
        done = [step["do"] for step in program["steps"]]
        requirements = program["steps"][0].get("requirements", {}).values()
        met |= {*done, *requirements}
        truth = Truth(program)
        assert truth.trace
        bound.clear()
        again = truth.expected
        assert bound == []
        for name, (values, bounds) in Truth(program).expected.items():
            assert np.array_equal(again[name].values, values, equal_nan=True), name
            assert np.array_equal(again[name].bounds, bounds), name
    assert met >= {"share", "reshape", "add", "null"}


def test_a_refused_step_is_refused_again_when_bounds_are_asked_for() -> None:
    program = {
        "version": 1, "level": 2, "heads": [[1, 0]],
        "nodes": [{"op": "null", "name": "a"}, {"op": "exp", "name": "n", "inputs": [[0, 0]], "attrs": {}}],
        "arrays": {"a": {"shape": [1], "dtype": "float32", "elements": [1.0]}},
        "steps": [
            {"do": "bind", "requirements": {"a": "write"}}, {"do": "backward", "attempt": True}, {"do": "forward"},
        ],
    }
    truth = Truth(program)
    assert set(truth.trace) == set(truth.expected) == {"1/refused:MXNetError", "2/output0"}


@pytest.mark.parametrize("kind", ["any", "positive", "unit", ["labels", 3], ["ints", -1, 2], "regular"])
def test_equal_data_gives_equal_arrays_whatever_was_made_between(kind) -> None:
    spec = {"shape": [3, 3], "dtype": "float32", "kind": kind, "style": "normal", "seed": 5}
    first = array_of(spec)
    kept = first.copy()
    first[:] = 7  # whoever gets an array may write to it
    for seed in range(200):
        array_of({**spec, "seed": seed})
    assert np.array_equal(array_of(spec), kept)
    assert not np.array_equal(array_of({**spec, "seed": 6}), kept)


def test_the_numbers_are_those_of_a_new_generator() -> None:
    spec = {"shape": [4], "dtype": "float64", "style": "normal", "seed": 11}
    assert np.array_equal(array_of(spec), np.random.RandomState(11).standard_normal(4))


def test_bounds_of_some_arrays_are_those_of_all_and_steps_that_they_do_not_need_are_left_out() -> None:
    left_out = set()
    for number in range(25):
        program = program_of(4, number, sound.capabilities)
        whole = Truth(program).expected
        for step, name in {int(name.partition("/")[0]): name for name in whole}.items():
            truth = Truth(program)
            assert truth.trace
            found = truth.expected_of({name})
            for each, (values, bounds) in found.items():
                assert np.array_equal(values, whole[each].values, equal_nan=True), (number, name, each)
                assert np.array_equal(bounds, whole[each].bounds), (number, name, each)
            steps = {int(each.partition("/")[0]) for each in found}
            assert max(steps) == step
            for other in set(range(step)) - steps:
                left_out.add((program["steps"][step]["do"], program["steps"][other]["do"]))
    assert ("forward", "backward") in left_out
    assert ("backward", "backward") not in left_out


def _two_branches(**more) -> dict:
    like = {"shape": [2], "dtype": "float32", "style": "smooth"}
    return {
        "version": 1, "level": 2, "heads": [[2, 0], [3, 0]],
        "nodes": [
            {"op": "null", "name": "a"}, {"op": "null", "name": "b"},
            {"op": "exp", "name": "m", "inputs": [[0, 0]], "attrs": {}},
            {"op": "elemwise_mul", "name": "n", "inputs": [[2, 0], [1, 0]], "attrs": {}},
        ],
        "arrays": {"a": like, "b": like},
        "steps": [
            {"do": "bind", "requirements": {"a": "write", "b": "add"}, "gradients": {"b": like}},
            {"do": "forward", "train": True}, {"do": "backward", "heads": [like, like]},
        ],
        **more,
    }


@pytest.mark.parametrize(("wanted", "forward", "backward"), [
    ({"output0"}, ["exp"], []), ({"output1"}, ["exp", "elemwise_mul"], []),
    ({"gradient:b"}, ["exp"], ["elemwise_mul", "AddStep"]),
    ({"gradient:a"}, ["exp"], ["elemwise_mul", "add_n", "exp"]),
])
def test_only_those_steps_of_an_executor_run_that_lead_to_what_is_wanted(wanted, forward, backward) -> None:
    session = interpreter.begun(refimpl, _two_branches(), sessions=REFERENCE)
    interpreter.followed(session)
    names = [
        [step.op.name if hasattr(step, "node") else type(step).__name__ for step in steps]
        for steps in steps_to(session.executor, wanted)
    ]
    assert names == [forward, backward]


def test_the_reference_runs_programs_as_any_library_does() -> None:
    met = set()
    for number in range(60):
        program = program_of(6, number, Capabilities(level=2, corners=True, styles=("smooth",)))
        met |= {step["do"] for step in program["steps"]}
        try:
            with plain_kernels():
                wanted = interpreter.run(refimpl, program)
        except interpreter.Refused:
            continue
        found = Truth(program).trace
        assert list(found) == list(wanted)
        assert all(np.array_equal(found[name], wanted[name], equal_nan=True) for name in found)
    assert met >= {"share", "monitor", "reshape"}


def test_a_graph_of_plain_data_is_that_of_the_symbol_file() -> None:
    for number in range(40):
        program = program_of(3, number, Capabilities(level=2))
        made = symbol_of(program["nodes"], program["heads"])
        assert made is not None
        assert made.tojson() == refimpl.sym.load_json(symbol_json(program)).tojson()


@pytest.mark.parametrize("node", [
    {"op": "relu", "inputs": []}, {"op": "relu", "inputs": [[0, 1]]}, {"op": "unheard_of", "inputs": [[0, 0]]},
    {"op": "clip", "inputs": [[0, 0]], "attrs": {"much": "1"}}, {"op": "add_n", "inputs": [[0, 0]], "attrs": {}},
    {"op": "relu", "inputs": [[0, 0]], "attrs": {"__x__": "\0"}}, {"op": "null", "inputs": [[0, 0]]},
])
def test_what_a_symbol_file_may_refuse_is_left_to_the_symbol_file(node) -> None:
    nodes = [{"op": "null", "name": "a"}, {"name": "n", "attrs": {}, **node}]
    assert symbol_of(nodes, [[1, 0]]) is None
    assert symbol_of(nodes[:1], [[0, 0]]) is not None
    assert symbol_of(nodes[:1], [[1, 0]]) is None


@pytest.mark.parametrize("operator", ["BatchNorm", "Dropout"])
def test_no_step_is_left_out_where_an_operator_changes_something_or_draws(operator: str) -> None:
    inputs = {"BatchNorm": ["data", "gamma", "beta", "mean", "var"], "Dropout": ["data"]}[operator]
    like = {"dtype": "float32", "style": "smooth", "kind": "positive"}
    passes = [{"do": "forward", "train": True}, {"do": "backward", "heads": [{**like, "shape": [2, 3]}]}]
    program = {
        "version": 1, "level": 2, "heads": [[len(inputs), 0]],
        "nodes": [
            *({"op": "null", "name": name} for name in inputs),
            {"op": operator, "name": "n", "inputs": [[i, 0] for i in range(len(inputs))], "attrs": {}},
        ],
        "arrays": {name: {**like, "shape": [2, 3] if name == "data" else [3]} for name in inputs},
        "steps": [{"do": "bind", "requirements": {"data": "write"}}, *passes, *passes],
    }
    truth = Truth(program)
    assert truth.trace
    assert set(truth.expected_of({"3/output0"})) == set(truth.trace)
