"""``mx.rules`` and ``refimpl rule``: every rule by name, in a checkout and without one."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import refimpl as mx
from refimpl import cli
from refimpl.rules import deviations, places, tests_of_wheel
from refimpl.rules.mapping import INDEX, UnknownRule
from spec import rules as script
from spec import wheel


@pytest.mark.heavy
def test_the_index_is_what_chapters_pages_and_tests_say() -> None:
    assert INDEX.read_text(encoding="utf-8") == script.text(), "run python spec/rules.py"


def test_every_rule_has_words_and_code_and_tests_that_are_there() -> None:
    assert len(mx.rules) > 2000
    for name in mx.rules:
        rule = mx.rules[name]
        assert rule.text, name
        assert rule.proven, name
        for place in (*rule.code, *rule.tests):
            assert place.line > 0, (name, place)
            assert place.name.rpartition(".")[2] in place.source, (name, place)


def test_rules_with_everything() -> None:
    rule = mx.rules["scatter_nd/last"]
    assert rule.written == "kernels/gather_nd.py"
    assert [quirk.name for quirk in rule.quirks] == ["scatter-repeats"]
    assert rule.deviations[0].upstream == "every write to one place gets the head as gradient"
    text = str(rule)
    for part in ("[scatter_nd/last] ", "decided by  kernels/gather_nd.py:", "proven by   tests/", "quirk       scat"):
        assert part in text
    assert repr(rule) == text


@pytest.mark.clause("Rules/known")
@pytest.mark.parametrize(
    ("name", "near"),
    [("split/half", "split/half-to-even"), ("half-to-even", "split/half-to-even"), ("spilt/empty", "split/empty")],
)
def test_a_name_that_is_not_known(name: str, near: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyError, match=near) as caught:
        mx.rules[name]
    assert caught.value.clause == "Rules/known"  # type: ignore[attr-defined]
    assert isinstance(caught.value, UnknownRule)
    assert cli.run(["rule", name]) == 2
    assert near in capsys.readouterr().err
    assert name not in mx.rules


def test_nothing_is_near() -> None:
    with pytest.raises(KeyError, match="`refimpl rule` lists them all"):
        mx.rules["qqqqqqqq"]


def test_the_clauses_of_errors_are_rules() -> None:
    with pytest.raises(ValueError, match="split") as caught:
        mx.executor_manager._split_input_slice(1, [1, 1])
    assert mx.rules[caught.value.clause].code[0].name == "_split_input_slice"  # type: ignore[attr-defined]


def test_the_command_prints_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["rule", "split/half-to-even"]) == 0
    out = capsys.readouterr().out
    for part in ("the even neighbour", "assert rows(7, [1, 1]) == [4, 3]", "def _split_input_slice", "def test_slices"):
        assert part in " ".join(out.split())
    assert "def test_chapter(" not in out
    assert cli.run(["rule", "split/half-to-even", "--all"]) == 0
    assert "def test_chapter(" in capsys.readouterr().out


def test_the_command_lists(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.run(["rule"]) == 0
    assert "split (10)" in " ".join(capsys.readouterr().out.split())
    assert cli.run(["rule", "split"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 10
    assert all(line.startswith("split/") and len(line) <= 80 for line in lines)


def test_places() -> None:
    text = "x = 1\n\n\nclass A:\n    @property\n    def f(self):\n        y = 2\n        return y\n\n\ncall(x)\n"
    assert [places.at(text, line) for line in (1, 2, 4, 6, 11)] == ["x", "", "A", "A.f", "call"]
    assert places.has(text, "f")
    assert not places.has(text, "g")


def test_a_wheel_brings_the_deviations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = wheel.deviations(wheel.ROOT)
    assert ("Module/one-name", "a name given as a string is read letter by letter", "one name") in rows
    assert len(rows) > 400
    file = tmp_path / "deviations.json"
    file.write_text(json.dumps(rows), encoding="utf-8")
    monkeypatch.setattr(deviations, "FILE", file)
    monkeypatch.setattr(deviations, "ROOT", tmp_path)  # nothing is there
    deviations.rows.cache_clear()
    assert deviations.rows() == rows
    deviations.rows.cache_clear()
    file.unlink()
    assert deviations.rows() == []
    with pytest.raises(FileNotFoundError):  # a wheel is not built without them
        wheel.deviations(tmp_path)
    deviations.rows.cache_clear()


def test_a_wheel_brings_the_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = "tests/unit/test_slicing.py::test_slices"
    found = wheel.sources(wheel.ROOT)
    assert found[place] == places.found(place)
    file = tmp_path / "tests.json.gz"
    file.write_bytes(gzip.compress(json.dumps(found).encode()))
    tests_of_wheel.known.cache_clear()
    monkeypatch.setattr(tests_of_wheel, "FILE", file)
    monkeypatch.setattr(places, "PACKAGE", tmp_path / "refimpl")  # nothing is beside it
    rule = mx.rules["split/half-to-even"]
    assert rule.tests[0].source == found[place][1]
    tests_of_wheel.known.cache_clear()
    file.unlink()
    assert mx.rules["split/half-to-even"].tests[0].source == ""
    tests_of_wheel.known.cache_clear()
