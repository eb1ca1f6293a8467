"""What a known cause leaves out: the modes, types and gradients that show it, and no more of the operator."""

from __future__ import annotations

import json

import pytest

from refimpl.oracle import Capabilities, Exclusions, judge, program_of, search
from refimpl.oracle.backends import Reference
from refimpl.oracle.excluding import FINE, exclusion_of, is_excluded, needless, without
from refimpl.oracle.explaining.causes import Cause, cause_of
from refimpl.oracle.explaining.neighbours import Neighbour
from refimpl.oracle.numbering import as_lists, from_lists
from refimpl.oracle.stored import corpus
from refimpl.oracle.traits import matched, pattern_of, traits_of


def one(op, attrs, *, dtype="float32", style="dyadic", requirement="write", level=2):
    """A program of one operator of one input."""
    asks = [{"do": "backward", "heads": [{"shape": [2], "dtype": dtype, "style": "dyadic", "seed": 1}]}]
    return {
        "version": 1, "level": level, "heads": [[1, 0]],
        "nodes": [{"op": "null", "name": "a"}, {"op": op, "name": "n", "inputs": [[0, 0]], "attrs": attrs}],
        "arrays": {"a": {"shape": [2], "dtype": dtype, "style": style, "seed": 1}},
        "steps": [
            {"do": "bind", "requirements": {"a": requirement}}, {"do": "forward", "train": True},
            *(asks if requirement != "null" else []),
        ],
    }


OUTPUT = Cause("Activation", "output", "", "", "nearly right", "")
SLOPE = Cause("Activation", "gradient", "0", "write", "zero", "one")


def test_a_wrong_output_leaves_out_one_mode_of_an_operator_and_one_type() -> None:
    left = without(Exclusions(), OUTPUT, one("Activation", {"act_type": "softrelu"}))
    assert matched(left.patterns, one("Activation", {"act_type": "softrelu"}, requirement="null"))
    assert not matched(left.patterns, one("Activation", {"act_type": "tanh"}))
    assert not matched(left.patterns, one("Activation", {"act_type": "softrelu"}, dtype="float64"))
    assert not matched(left.patterns, one("relu", {}))


def test_a_wrong_gradient_leaves_out_that_gradient() -> None:
    left = without(Exclusions(), SLOPE, one("Activation", {"act_type": "tanh"}))
    assert matched(left.patterns, one("Activation", {"act_type": "tanh"}))
    assert not matched(left.patterns, one("Activation", {"act_type": "tanh"}, requirement="null"))
    assert not matched(left.patterns, one("Activation", {"act_type": "tanh"}, requirement="add"))


def test_what_neighbours_do_not_need_is_no_part_of_a_pattern() -> None:
    program = one("Activation", {"act_type": "softrelu"}, style="special")
    fails = [Neighbour(change, False, program) for change in ("smooth values", "float64")]
    assert needless([*fails, Neighbour("Activation without act_type=softrelu", True, program)]) == [
        "special", "wide", "float16", "float32", "float64", "uint8", "int8", "int32", "int64",
    ]
    row = exclusion_of(OUTPUT, program, fails)
    assert row == {"pattern": ["Activation", "Activation act_type=softrelu"]}
    assert "special" in exclusion_of(OUTPUT, program)["pattern"]


def test_a_cause_that_shows_itself_again_is_left_out_more_coarsely() -> None:
    program = one("Activation", {"act_type": "tanh"})
    assert exclusion_of(SLOPE, program, times=FINE) == {
        "pattern": ["Activation", "float32", "gradient of Activation 0 with write"],
    }
    assert exclusion_of(SLOPE, program, times=2 * FINE) == {"operator": "Activation", "requirement": "write"}
    both = Cause("Activation", "gradient", "0", "write repeated", "zero", "one")
    assert exclusion_of(both, program) == {"requirement": "repeated"}


@pytest.mark.parametrize("stored", list(corpus()), ids=lambda stored: stored.name)
def test_a_stored_program_has_the_pattern_that_is_made_of_it(stored) -> None:
    traits = traits_of(stored.program)
    assert pattern_of(stored.program) <= traits
    assert pattern_of(stored.program, fine=False) <= traits
    assert traits_of(json.loads(json.dumps(stored.program))) == traits


def test_steps_of_modules_optimizers_and_stores_have_traits() -> None:
    lars = {"version": 1, "level": 5, "arrays": {}, "steps": [
        {"do": "create", "optimizer": "lars", "parameters": {"momentum": 0.5, "learning_rate": 0.5}},
        {"do": "update", "indices": [0, 1], "gradients": []}, {"do": "set_rate", "value": 0.25},
        {"do": "update", "indices": [0], "gradients": []},
    ]}
    assert traits_of(lars) == {
        "create", "create optimizer=lars", "create momentum", "update", "update several", "set_rate", "level 5",
        "update before set_rate", "set_rate before update",
    }
    spec = {"shape": [2], "dtype": "float32", "style": "dyadic", "seed": 0}
    store = {"version": 1, "level": 6, "steps": [
        {"do": "create", "kind": "local"}, {"do": "push", "keys": [3, 3], "values": [[spec, spec], [spec]]},
        {"do": "push", "keys": 3, "values": [spec], "attempt": True},
    ]}
    assert traits_of(store) == {
        "create", "create kind=local", "level 6", *(f"push without updater{each}" for each in (
            "", " several", " one twice", " float32[2]", " several arrays")),
        "refused push without updater", "refused push without updater float32[2]",
    }
    assert "push float32[2]" in traits_of({**store, "steps": [{"do": "updater"}, *store["steps"]]})


def test_programs_with_a_pattern_are_drawn_anew() -> None:
    capabilities = Capabilities(level=2, operators=frozenset({"relu", "tanh"}))
    left = Exclusions().also(pattern=["gradient of relu 0 with add"])
    assert from_lists(json.loads(json.dumps(as_lists(left)))) == left
    plain = [program_of(0, i, capabilities) for i in range(60)]
    drawn = [program_of(0, i, capabilities, left) for i in range(60)]
    assert any(matched(left.patterns, program) for program in plain)
    assert not any(matched(left.patterns, program) for program in drawn)
    assert all(a == b for a, b in zip(plain, drawn, strict=True) if not matched(left.patterns, a))


class TwoFaults(Reference):
    """Wrong where Activation is softsign, and where it is tanh: the second fault stands behind the first."""

    capabilities = Capabilities(level=1, operators=frozenset({"Activation"}))

    def run(self, program):
        trace = super().run(program)
        words = {node["attrs"].get("act_type") for node in program["nodes"] if node["op"] == "Activation"}
        by = 2 * ("softsign" in words) or 3 * ("tanh" in words) or 1
        return {name: by * value if "output" in name else value for name, value in trace.items()}


def test_a_search_goes_on_with_an_operator_in_other_modes() -> None:
    result = search(TwoFaults(), seed=1, programs=60, repeats=0)
    assert {found.cause.mode for found in result.found} == {"act_type=softsign", "act_type=tanh"}
    for found in result.found:
        verdict = judge(TwoFaults(), found.program)
        assert cause_of(found.program, verdict) == found.cause
        assert is_excluded(result.exclusions, found.program, verdict)


class DoublesGradientsOfData(Reference):
    """The gradients that a module has of its data are twice as large."""

    def run(self, program):
        return {name: 2 * value if "/gradient" in name else value for name, value in super().run(program).items()}


def test_gradients_of_a_modules_data_are_left_out_too() -> None:
    result = search(DoublesGradientsOfData(), level=3, programs=120, repeats=0, most=2, explain=False)
    for found in result.found:
        asked = next(step.get("requirement", "write") for step in found.program["steps"] if step["do"] == "bind")
        assert found.cause.requirement.split()[0] == (asked if isinstance(asked, str) else "write")
    assert result.excluded
