"""Relations: the reference keeps all of them, and each is broken by an implementation that is made to break it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from refimpl.oracle import Capabilities, program_of, text_of_found
from refimpl.oracle.backends import Reference, Refused
from refimpl.oracle.drawing.drawn_buckets import bucketing_program, svrg_program
from refimpl.oracle.drawing.draws import SeededDraw
from refimpl.oracle.relations import FAITHFUL, RELATIONS, broken, kept_on_purpose, search
from refimpl.oracle.relations.comparing import differences_beyond
from refimpl.oracle.reporting import script_of, summary

pytestmark = pytest.mark.usefixtures("quiet")
CAPABILITIES = Capabilities(level=5)
SEED = int(os.environ.get("REFIMPL_ORACLE_SEED", "9"))
LEVELS = (2, 3, 4, 5)


def some(level: int, count: int, seed: int = 9) -> list[dict[str, Any]]:
    return [program_of(seed, i, CAPABILITIES, level=level) for i in range(count)]


PROGRAMS = some(2, 24)


def judge(level: int, count: int, seed: int = 9) -> int:
    asked = 0
    for program in some(level, count, seed):
        try:
            found = broken(Reference(), program)
        except Refused:
            continue
        assert not found, (program, found[0].name, found[0].differences)
        asked += 1
    return asked


@pytest.mark.clause("oracle/relations")
@pytest.mark.clause("oracle/relations-bounds")
@pytest.mark.parametrize("level", LEVELS)
def test_the_reference_keeps_them(level: int) -> None:
    assert judge(level, {2: 24, 3: 6, 4: 6, 5: 40}[level]) >= 6


@pytest.mark.long
@pytest.mark.parametrize("level", LEVELS)
def test_the_reference_keeps_them_in_many_programs(level: int) -> None:
    assert judge(level, {2: 300, 3: 300, 4: 300, 5: 4000}[level], SEED) > 200


class Wrong(Reference):
    """Spoils every gradient as ``spoil(gradient, program, variable)`` says."""

    def __init__(self, spoil) -> None:
        self.spoil, self.runs = spoil, 0

    def run(self, program):
        self.runs += 1
        return {
            name: self.spoil(self, value, program, name.partition(":")[2]) if "/gradient:" in name else value
            for name, value in super().run(program).items()
        }


def asked(program):
    return program["steps"][0]["requirements"]


SPOILT = {
    "add": lambda self, g, p, v: g * 2 if asked(p)[v] == "add" else g,
    "others' requirements": lambda self, g, p, v: g + sum(r != "null" for r in asked(p).values()),
    "heads": lambda self, g, p, v: g + 1,
    "eight readers": lambda self, g, p, v: g / 2 if len(p["heads"]) >= 8 else g,
    "everything is written": lambda self, g, p, v: g + bool(p["steps"][0].get("gradients")),
    "again": lambda self, g, p, v: g + self.runs,
    "names": lambda self, g, p, v: g + v.startswith("z"),
}


@pytest.mark.clause("oracle/relations")
@pytest.mark.parametrize("name", SPOILT)
def test_each_is_broken_by_an_implementation_that_breaks_it(name) -> None:
    spoil = SPOILT[name]
    backend = Wrong(lambda *given: np.asarray(spoil(*given), given[1].dtype))
    found = [applied for program in PROGRAMS for applied in broken(backend, program, [name])]
    assert found
    assert all(applied.name == name and applied.differences for applied in found)


# --- modules and optimizers ---------------------------------------------------------------------


class Spoilt(Reference):
    """Adds one to arrays whose name has ``part``, in programs for which ``when`` holds."""

    def __init__(self, part, when) -> None:
        self.part, self.when = part, when

    def run(self, program):
        trace = super().run(program)
        if not self.when(program):
            return trace
        return {name: value + 1 if self.part in name else value for name, value in trace.items()}


def steps(program, *names):
    return [step for step in program["steps"] if step["do"] in names]


def first_key(program):
    return steps(program, "forward", "forward_backward")[0]["key"]


TRAINED = {
    "number of devices": (
        3, "/output0", lambda p: steps(p, "create")[0]["contexts"] == 1,
        lambda p: steps(p, "create")[0]["contexts"] > 1,
    ),
    "save and load": (
        3, "/argument:", lambda p: bool(steps(p, "load")),
        lambda p: bool(steps(p, "update")) and not steps(p, "load", "save_states", "share", "borrow", "bind")[1:],
    ),
    "outputs later": (
        3, "/output0", lambda p: bool(steps(p, "outputs")), lambda p: bool(steps(p, "backward", "forward_backward")),
    ),
    "parts of a batch": (
        3, "/output0", lambda p: steps(p, "bind")[0]["data"][0]["shape"][0] == 1, lambda p: True,
    ),
    "there and back": (4, "/argument:", lambda p: len(steps(p, "switch")) > 3, lambda p: "settings" in p),
    "order of buckets": (
        4, "/output0", lambda p: first_key(p) != p["settings"]["buckets"][0]["key"], lambda p: "settings" in p,
    ),
    "full pass twice": (4, "/argument:", lambda p: len(steps(p, "full_pass")) % 2 == 0, lambda p: True),
    "resume": (5, "/weight:", lambda p: len(steps(p, "resume")) > 2, lambda p: True),
    "others' updates": (
        5, "/weight:", lambda p: len({str(i) for s in steps(p, "update") for i in s["indices"]}) == 1,
        lambda p: True,
    ),
}
"""Relation -> level, what is spoilt, in which programs, and which programs to ask."""


def programs_for(name, level, suits):
    if level == 4:
        make = svrg_program if name == "full pass twice" else bucketing_program
        made = (make(SeededDraw(f"relations/{i}"), CAPABILITIES) for i in range(200))
    else:
        made = (program_of(9, i, CAPABILITIES, level=level) for i in range(200))
    return [program for program in made if suits(program)][:40]


@pytest.mark.clause("oracle/relations-bounds")
@pytest.mark.parametrize("name", TRAINED)
def test_each_of_modules_and_optimizers_is_broken_too(name) -> None:
    level, part, when, suits = TRAINED[name]
    for program in programs_for(name, level, suits):
        try:
            if broken(Reference(), program, [name]):
                pytest.fail(f"the reference breaks {name}")
            found = broken(Spoilt(part, when), program, [name])
        except Refused:
            continue
        if found:
            assert found[0].name == name
            assert found[0].differences
            return
    pytest.fail("nothing was found")


def test_all_relations_have_a_faulty_implementation() -> None:
    assert set(SPOILT) | set(TRAINED) == set(RELATIONS)


@pytest.mark.clause("oracle/relations-bounds")
def test_arrays_may_differ_by_both_bounds_together() -> None:
    value, other = np.array([1.0, 2.0], "float32"), np.array([1.0, 2.5], "float32")
    pair = {"1/a": (np.array([1.0, 2.0]), np.array([0.0, 0.2]))}
    assert differences_beyond({"1/a": value}, {"1/a": value}, lambda: pytest.fail("nothing differs")) == []
    found = differences_beyond({"1/a": value}, {"1/a": other}, lambda: [pair, pair])
    assert found == ["1/a[1]: 2.5 instead of 2"]
    wider = {"1/a": (np.array([1.0, 2.0]), np.array([0.0, 0.1]))}
    nearer = np.array([1.0, 2.15], "float32")
    assert differences_beyond({"1/a": value}, {"1/a": nearer}, lambda: [wider, wider]) == []
    loose = {"1/a": (np.array([1.0, 2.0]), np.array([0.0, 0.5]))}  # more than a tenth: it says nothing
    assert differences_beyond({"1/a": value}, {"1/a": other}, lambda: [loose, pair]) == []
    assert differences_beyond({"1/a": value}, {}, list) == ["1/a is missing"]


# --- where a relation is broken on purpose ------------------------------------------------------


def small(**create):
    net = {"op": "FullyConnected", "name": "fc", "inputs": [[0, 0], [1, 0]],
           "attrs": {"num_hidden": "1", "no_bias": "True"}}
    out = {"op": "SoftmaxOutput", "name": "softmax", "inputs": [[2, 0], [3, 0]], "attrs": {}}
    return {
        "version": 1, "level": 3, "nodes": [
            {"op": "null", "name": "data"}, {"op": "null", "name": "w"}, net, {"op": "null", "name": "l"}, out,
        ], "heads": [[4, 0]], "arrays": {}, "steps": [{"do": "create", "contexts": 2, **create}],
    }


@pytest.mark.clause("oracle/faithful")
def test_rows_say_which_programs_they_are_about() -> None:
    program = small()
    assert kept_on_purpose("number of devices", program) == []
    program["nodes"][4]["attrs"] = {"normalization": "valid"}
    assert [row.clause for row in kept_on_purpose("number of devices", program)] == ["ExecutorGroup/close-result"]
    assert kept_on_purpose("save and load", program) == []
    assert kept_on_purpose("others' updates", program) == []
    program = small()
    program["steps"].append({"do": "init_optimizer", "store": None})
    assert [row.clause for row in kept_on_purpose("number of devices", program)] == ["Module/no-store"]
    assert [row.clause for row in kept_on_purpose("save and load", program)] == ["Module/no-store"]
    program["steps"][0]["contexts"] = 1
    assert kept_on_purpose("save and load", program) == []
    program["steps"][0]["contexts"] = 2
    program["steps"][-1]["store"] = "local"
    assert kept_on_purpose("number of devices", program) == []
    rule = {"level": 5, "steps": [{"do": "create", "optimizer": "lars", "schedule": None}]}
    assert [row.clause for row in kept_on_purpose("others' updates", rule)] == ["LARS/momentum-correction"]


@pytest.mark.clause("oracle/faithful")
def test_every_row_names_a_relation_and_hides_nothing_else() -> None:
    for row in FAITHFUL:
        assert row.relation in RELATIONS
        assert row.reason
        assert bool(row.operator) != bool(row.step)


def two_weights(**create):
    def update(index):
        gradient = {"shape": [2], "dtype": "float32", "elements": [1.0, -0.5]}
        return {"do": "update", "indices": [index], "gradients": [gradient]}

    weight = {"shape": [2], "dtype": "float32", "elements": [1.0, 2.0]}
    rate = [] if "schedule" in create else [{"do": "set_rate", "value": 0.25}]
    return {
        "version": 1, "level": 5, "arrays": {"0": weight, "1": weight},
        "steps": [{"do": "create", **create}, update(0), *rate, update(1), update(1), update(1), update(0)],
    }


BY_HAND = {
    "LARS/momentum-correction": two_weights(
        optimizer="lars", parameters={"learning_rate": 1.0, "momentum": 0.5, "eta": 0.5},
    ),
    "Optimizer/counts": two_weights(
        optimizer="sgd", parameters={}, schedule={"kind": "factor", "step": 1, "factor": 0.5, "base_lr": 1.0},
    ),
}


@pytest.mark.clause("oracle/faithful")
@pytest.mark.parametrize("row", FAITHFUL, ids=lambda row: f"{row.relation}-{row.clause}")
def test_the_reference_breaks_what_a_row_excuses(row, monkeypatch) -> None:
    """A row that excuses nothing would only hide faults."""
    monkeypatch.setattr("refimpl.oracle.relations.registry.kept_on_purpose", lambda name, program: [])
    drawn = (program_of(9, number, CAPABILITIES, level=3) for number in range(4000))
    for program in [BY_HAND[row.clause]] if row.clause in BY_HAND else drawn:
        if kept_on_purpose(row.relation, program) != [row]:
            continue
        try:
            if broken(Reference(), program, [row.relation]):
                return
        except Refused:
            continue
    pytest.fail(f"{row.clause} is never needed")


# --- asking -------------------------------------------------------------------------------------


class Refusing(Reference):
    """Refuses programs with the requirement add."""

    def run(self, program):
        if "add" in asked(program).values():
            raise Refused("no add here")
        return super().run(program)


def test_a_refusal_of_the_changed_program_alone_is_found() -> None:
    program = next(p for p in PROGRAMS if asked(p) and set(asked(p).values()) == {"write"})
    (found,) = broken(Refusing(), program, ["add"])
    assert found.differences == ["the changed program is refused: no add here"]
    added = next(p for p in PROGRAMS if "add" in asked(p).values())
    with pytest.raises(Refused):
        broken(Refusing(), added, ["again"])


def test_a_search_finds_shrinks_and_reports_them() -> None:
    backend = Wrong(lambda self, g, p, v: g * 2 if asked(p)[v] == "add" else g)
    result = search(backend, seed=9, programs=12, level=2, names=["add"], most=1)
    (found,) = result.found
    assert found.cause.place == "relation: add"
    assert len(found.program["nodes"]) <= len(found.original["nodes"])
    assert found.verdict.mismatches[0].tier == "relation"
    assert "tier relation" in text_of_found(found)
    script = script_of(found, "tests.oracle.test_relations:Reference")
    assert "relations.broken(backend, program, ['add'])" in script
    exec(compile(script, "script", "exec"), {})  # the reference breaks nothing: the script passes


def test_a_search_counts_what_it_did_not_ask_and_what_is_expected() -> None:
    result = search(Reference(), seed=9, programs=20, level=5)
    assert result.found == []
    assert "Optimizer/counts" in summary(result)
    backend = Wrong(lambda self, g, p, v: g + self.runs)
    known = search(backend, seed=9, programs=8, level=2, names=["again"], expected=lambda program, verdict: True)
    assert known.found == []
    assert known.statuses["expected"] > 0


def test_a_program_of_another_level_says_nothing() -> None:
    program = program_of(0, 1, Capabilities(level=1), level=1)
    assert broken(Reference(), program) == []
