"""Counting false alarms: blocks come in one order, a wrong implementation gives one, and the chapter has the count."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from refimpl.oracle.backends import variants

from . import counting_alarms

RESULTS = Path(__file__).with_name("alarms.jsonl")


class Wrong:
    """Adds one to what another implementation gives."""

    def run(self, program):
        return {name: value + value.dtype.type(1) for name, value in variants.sequential.run(program).items()}


def test_a_block_tells_of_each_implementation_that_is_wrong(monkeypatch):
    monkeypatch.setattr(counting_alarms, "ALL_SIX", {"right": variants.pairwise, "wrong": Wrong()})
    monkeypatch.setitem(counting_alarms.SIZE, 1, 3)
    row = counting_alarms.Block("six", 1, 5).run()
    assert [(name, number) for name, number, _ in row["alarms"]] == [("wrong", 5), ("wrong", 6), ("wrong", 7)]
    assert row["statuses"] == {"passed": 3, "failed": 3}
    assert counting_alarms.judged([row, row]) == 12
    assert counting_alarms.arrays_of([row, row]) == 2 * row["arrays"] >= 12
    del row["arrays"]  # as blocks from before arrays were counted
    assert counting_alarms.arrays_of([row]) == 6


def test_no_gradient_passes_a_block_even_where_numbers_are_infinite():
    program = {
        "version": 1, "level": 2,
        "nodes": [{"op": "null", "name": "a"}, {"op": "exp", "name": "e", "inputs": [[0, 0]], "attrs": {}},
                  {"op": "BlockGrad", "name": "n", "inputs": [[1, 0]], "attrs": {}}],
        "heads": [[2, 0]], "arrays": {"a": {"shape": [1], "dtype": "float32", "elements": [1000.0]}},
        "steps": [{"do": "bind", "requirements": {"a": "write"}}, {"do": "forward", "train": True},
                  {"do": "backward", "heads": [{"shape": [1], "dtype": "float32", "elements": [float("inf")]}]}],
    }
    assert variants.sequential.run(program)["2/gradient:a"].tolist() == [0]


def test_blocks_are_all_different_and_have_all_levels():
    some = list(islice(counting_alarms.blocks(), 60))
    assert len(set(some)) == 60
    assert {block.level for block in some if block.group == "both"} == {1, 2, 3, 4, 5, 6}
    assert [block.start for block in some if block[:2] == ("six", 2)][:3] == [0, 250, 500]


def test_the_chapter_has_the_count_of_the_committed_results():
    rows = counting_alarms.read(RESULTS)
    assert not any(row["alarms"] for row in rows)
    assert len({(row["group"], row["level"], row["start"]) for row in rows}) == len(rows)
    chapter = (RESULTS.parents[2] / "spec/reference/tools/oracle.md").read_text(encoding="utf-8")
    assert f"{counting_alarms.arrays_of(rows):,} arrays" in chapter
    assert f"{counting_alarms.judged(rows):,} answers" in chapter
