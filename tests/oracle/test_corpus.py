"""The stored programs, and what searching, probing and naming root causes do with what they find."""

from __future__ import annotations

import json

import numpy as np
import pytest

import refimpl as mx
from refimpl.oracle.backends import Capabilities, Crashed, Refused
from refimpl.oracle.drawing.choices import Exclusions
from refimpl.oracle.explaining.causes import Cause, gathered
from refimpl.oracle.judging.comparing import compare
from refimpl.oracle.judging.reference import expected_of, trace_of
from refimpl.oracle.measuring import SUPPORTED
from refimpl.oracle.numbering import program_of
from refimpl.oracle.probing import probe
from refimpl.oracle.scripts import script_of
from refimpl.oracle.searching import search
from refimpl.oracle.stored import FOLDER, corpus, read_stored, store

NAMES = [path.stem for path in sorted(FOLDER.glob("*.json"))]


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_is_inside_its_own_bounds_on_every_stored_program(name):
    stored = read_stored(FOLDER / f"{name}.json")
    found, wanted = trace_of(stored.program), expected_of(stored.program)
    assert list(found) == list(wanted)
    for key, (values, bounds) in wanted.items():
        wide = found[key].astype(np.float64)
        with np.errstate(invalid="ignore"):
            right = (np.abs(wide - values) <= bounds) | (wide == values) | (np.isnan(wide) & np.isnan(values))
        assert right.all(), (key, wide[~right], values[~right])
    assert stored.reason
    assert len(stored.script) <= 30


def test_a_program_does_not_hear_of_what_failed_before_it():
    held = [mx.nd.linalg.inverse(mx.nd.zeros((2, 2))) for _ in range(3)]
    program = read_stored(FOLDER / "332c5159ede9.json").program
    assert trace_of(program)["1/weight:0"].tolist() == [[1.0]]
    del held


def test_a_name_that_is_not_the_contents_is_refused(tmp_path):
    program = program_of(0, 0, Capabilities(operators=frozenset({"relu"})))
    path = store(tmp_path, program, reason="r")
    assert read_stored(path).program == program
    moved = path.rename(tmp_path / "000000000000.json")
    with pytest.raises(ValueError, match=r"000000000000\.json: its content has the name"):
        read_stored(moved)


@pytest.mark.parametrize("text", ["[]", "{", '{"program": {}}', '{"program": {}, "reason": "", "more": 1}'])
def test_a_file_that_holds_no_stored_program_is_refused(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ValueError, match=r"a\.json: "):
        list(corpus(folder=tmp_path))


class Broken:
    """The reference with three faults: relu's gradient is always overwritten, tanh refuses, square ends the process."""

    capabilities = Capabilities(operators=frozenset({"relu", "tanh", "square", "negative", "sigmoid"}))
    runs = 0
    batches = 0

    def run(self, program):
        self.runs += 1
        names = {node["op"] for node in program["nodes"]}
        if "square" in names:
            raise Crashed("it ended with -11")
        if "tanh" in names:
            raise Refused("tanh is not here")
        steps = [dict(step) for step in program["steps"]]
        trace = trace_of(program)
        if "relu" in names:
            for number, step in enumerate(steps):
                for name, spec in steps[0].get("gradients", {}).items():
                    key = f"{number}/gradient:{name}"
                    if step["do"] == "backward" and key in trace:
                        from_zero = {**program, "steps": [{**steps[0], "gradients": {
                            **steps[0]["gradients"], name: {**spec, "elements": [0] * trace[key].size},
                        }}, *steps[1:]]}
                        trace[key] = trace_of(from_zero)[key]
        return trace


class BrokenInBatches(Broken):
    def run_many(self, programs):
        self.batches += 1
        answers = []
        for program in programs:
            try:
                answers.append(self.run(program))
            except (Crashed, Refused) as error:
                answers.append(error)
        return answers


@pytest.mark.parametrize("kind", [Broken, BrokenInBatches])
def test_probing_leaves_out_what_is_refused_and_what_ends_the_process(kind):
    found = probe(kind())
    assert set(found.refused) == {"tanh"}
    assert set(found.crashed) == {"square"}
    assert found.exclusions().operators == {"tanh", "square"}
    assert "1 operators refused" in str(found)


@pytest.mark.parametrize("kind", [Broken, BrokenInBatches])
def test_searching_names_the_fault_and_goes_on_without_it(kind):
    backend = kind()
    exclude = Exclusions(frozenset({"tanh", "square"}))
    result = search(backend, programs=96, exclude=exclude, repeats=0, explain=False)
    [found] = result.found
    assert found.cause.operator == "relu"
    assert found.cause.look == "the initial gradient is missing"
    assert found.program["nodes"][-1]["op"] == "relu"
    assert result.exclusions.patterns
    assert all({"relu", "gradient of relu with add"} <= pattern for pattern in result.exclusions.patterns)
    assert result.programs == 96
    if kind is BrokenInBatches:
        together = result.programs + 2 * SUPPORTED  # six rounds and a sample of either level
        assert backend.batches == backend.runs - together + 12 + 2


def test_a_crash_is_cut_to_its_operator_in_few_runs():
    backend = Broken()
    result = search(backend, programs=40, exclude=Exclusions(frozenset({"tanh", "relu"})), repeats=0)
    crash = next(found for found in result.found if found.cause.place == "crashed")
    assert [node["op"] for node in crash.program["nodes"]][-1:] == ["square"]
    assert result.found == [crash]
    assert backend.runs <= 40 + 25


def test_stored_programs_run_first_when_asked():
    class Zero(Broken):
        capabilities = Capabilities(operators=frozenset({"clip"}))

        def run(self, program):
            return {key: np.zeros_like(value) for key, value in trace_of(program).items()}

    result = search(Zero(), programs=0, corpus=True)
    stored = [one.program for one in corpus(2)]
    assert result.found
    assert all(found.number < 0 and found.program in stored for found in result.found)
    assert search(Zero(), programs=0).programs == 0


def test_a_script_fails_where_the_program_failed():
    stored = next(s for s in corpus() if s.script and s.program["steps"][-1]["do"] == "backward")
    trace = trace_of(stored.program)
    key = next(key for key in trace if "gradient" in key)
    verdict = compare(stored.program, trace, {**trace, key: trace[key] + 1})
    text = script_of(stored.program, verdict, "one too many", "refimpl")
    assert len(text.splitlines()) <= 30
    exec(text, {})  # this implementation is right
    with pytest.raises(AssertionError):
        exec(text.replace("assert right.all()", "assert not right.all()"), {})


def test_causes_of_one_mechanism_are_one_root_cause():
    look = "the initial gradient is missing"
    lost = [Cause(name, "gradient", "0", "add", look, "one") for name in ("relu", "tanh", "clip")]
    other = Cause("relu", "gradient", "0", "write", "other numbers", "one")
    roots = gathered([*lost, other, lost[0]])
    assert list(roots.values()) == [lost, [other]]
    assert gathered([other, other._replace(input="1")]) == {other.mechanism: [other, other._replace(input="1")]}
    special = other._replace(values="special")
    assert len(gathered([other, special])) == 2
    assert json.dumps(other._asdict())
