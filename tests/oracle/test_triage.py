"""Root causes from files alone, shards, the coverage of five axes, and programs that are drawn again."""

from __future__ import annotations

import json
import sys
import time

import pytest

from refimpl.oracle import Capabilities, Exclusions, program_of, search
from refimpl.oracle.coverage import Cell, axes, cells_of, short, table
from refimpl.oracle.explaining.causes import gathered
from refimpl.oracle.explaining.shrinking import shrink
from refimpl.oracle.numbering import as_lists, drawn_again, from_lists, share_of
from refimpl.oracle.pytest_items import shard_of
from refimpl.oracle.reporting import as_data, progress
from refimpl.oracle.triage import report, roots, saturation

from .planted_bugs import planted, three_bugs
from .test_locating import chain

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def stored(result):
    """The results as a file has them."""
    return json.loads(json.dumps(as_data(result)))


@pytest.fixture(scope="module")
def results():
    """Two shards."""
    return [search(three_bugs, seed=0, start=part, step=2, programs=10) for part in range(2)]


def test_root_causes_from_results_alone_are_those_of_the_search(results) -> None:
    assert all(result.found for result in results)
    wanted = gathered([found.cause for result in results for found in result.found])
    found = roots([stored(result) for result in results])
    assert {root.mechanism: {entry.cause for entry in root.entries} for root in found} == {
        mechanism: set(causes) for mechanism, causes in wanted.items()
    }
    for data, result in zip(map(stored, results), results, strict=True):
        assert [tuple(entry["mechanism"]) for entry in data["found"]] == [f.cause.mechanism for f in result.found]


def test_saturation_counts_causes_and_root_causes_over_shards(results) -> None:
    first, second = map(stored, results)
    rows = saturation([first, second])
    assert rows == sorted(rows)
    assert rows[-1][1] == first["programs"] + second["programs"]
    assert rows[-1][3] == len(roots([first, second])) < rows[-1][2]
    assert saturation([]) == [(0.0, 0, 0, 0)]


def test_the_report_is_an_oracle_toml_with_stored_programs(tmp_path, results) -> None:
    data = stored(results[0])
    text = report([data], tmp_path / "examples")
    rows = tomllib.loads(text)["expected"]
    assert len(rows) == len({json.dumps(entry["cause"]) for entry in data["found"]})
    for row in rows:
        assert json.loads((tmp_path / "examples" / f"{row['id']}.json").read_text())["program"]
        assert row["example"].endswith(f"{row['id']}.json")
    assert "# saturation: seconds, programs, causes, root causes" in text
    assert "# covered: operators by fan-out: " in text


# --- shards ---------------------------------------------------------------------------------------


def test_shards_together_draw_every_program_once() -> None:
    seen = []

    class Noting:
        capabilities = planted().capabilities

        def run(self, program):
            seen.append(program)
            return planted().run(program)

    for part in range(3):
        search(Noting(), seed=4, start=part, step=3, programs=share_of(21, part, 3, 2))
    alone = [program_of(4, i, Noting.capabilities, level=level) for level in (1, 2) for i in range(12 - level)]
    assert sorted(seen, key=json.dumps) == sorted(alone, key=json.dumps)


@pytest.mark.parametrize("text", ["", "3", "0/3", "4/3", "1/x"])
def test_another_shard_is_refused(text) -> None:
    assert shard_of("2/3") == (1, 3)
    with pytest.raises(ValueError, match="is no shard: write 1/4 to 4/4"):
        shard_of(text)


def test_programs_can_be_drawn_again() -> None:
    backend = planted("no add", "tie")
    begun = Exclusions().also(operator="negative")
    data = stored(search(backend, seed=3, programs=30, repeats=0, explain=False, exclude=begun))
    assert any(before["2"] > 0 for before, *_ in data["excluded"])
    assert {entry["program"]["level"] for entry in data["found"]} == {2}
    for entry in data["found"]:
        assert drawn_again(data, entry["number"], backend.capabilities, 2) == entry["original"]
    assert data["drawn"]["exclude"]["operators"] == ["negative"]


def test_exclusions_go_through_json() -> None:
    some = Exclusions().also(operator="a").also(operator="b", requirement="add").also(together=["a", "c"])
    assert from_lists(json.loads(json.dumps(as_lists(some.also(many_readers=True))))) == some.also(many_readers=True)


# --- time changes no result ---------------------------------------------------------------------


def test_with_a_number_of_programs_no_clock_changes_the_result(monkeypatch) -> None:
    def found():
        some = search(planted("tie"), seed=0, programs=24).found
        return [(f.number, f.cause, f.program, f.where and f.where.text, len(f.neighbours)) for f in some]

    wanted = found()
    assert wanted
    begun = time.monotonic()
    ticks = iter(range(10**9))
    monkeypatch.setattr(time, "monotonic", lambda: begun + 100.0 * next(ticks))  # each look is 100 s later
    assert found() == wanted


def test_a_budget_of_time_limits_shrinking(monkeypatch) -> None:
    ticks = iter(range(10**9))
    monkeypatch.setattr(time, "monotonic", lambda: 100.0 * next(ticks))
    program = chain("relu", "negative", "square")
    assert shrink(program, lambda p: True) == program
    assert shrink(program, lambda p: True, seconds=None) != program


# --- coverage -------------------------------------------------------------------------------------


def test_every_axis_is_covered() -> None:
    program = chain("relu", "negative", requirement="add", reads={1: [[0, 0]]}, heads=[(1, 0), (2, 0)])
    assert cells_of(program) == {
        Cell("relu", "add", "1", "float32", "train"), Cell("negative", "add", "1", "float32", "train"),
    }
    shared = chain("square", *["negative"] * 8, reads={i: [[1, 0]] for i in range(1, 9)}, heads=[(9, 0)])
    assert Cell("square", "write", "7+", "float32", "train") in cells_of(shared)
    forward = {**program, "level": 1, "steps": [{"do": "bind"}, {"do": "forward"}]}
    assert cells_of(forward) == {cell._replace(requirement="none", mode="predict") for cell in cells_of(program)}


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5, 6])
def test_programs_of_every_level_cover_something(level) -> None:
    found = set()
    for i in range(12):
        found |= cells_of(program_of(0, i, Capabilities(level=level), level=level))
    assert len({cell.operator for cell in found}) > 3
    assert {cell.mode for cell in found} <= {"train", "predict"}
    if level in (2, 3, 4):
        assert {cell.requirement for cell in found} - {"none"}


def test_the_progress_says_how_fast_and_how_far() -> None:
    result = search(planted(), seed=0, programs=30)
    result.seconds = 0.5
    operators = {cell.operator for cell in result.covered}
    assert progress(result, planted().capabilities) == (
        f"30 programs, 60/s, 0 causes, {len(operators)} of 5 operators, {len(result.covered)} combinations"
    )
    data = stored(result)
    assert data["axes"] == ["operator", "requirement", "fan_out", "dtype", "mode"]
    assert {len(row) for row in data["covered"]} == {6}
    assert short({tuple(row[:-1]): row[-1] for row in data["covered"]}) == short(result.covered)
    assert sum(axes(result.covered)["mode"].values()) == len(result.covered)
    assert table(result.covered)[0].startswith(f"{len(operators)} operators in {len(result.covered)} combinations")
