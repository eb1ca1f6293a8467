"""Labs: the right answers pass, planted wrong ones are told their rule, and what is refused."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import importlib.util
import io
import json
import linecache
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from refimpl import cli
from refimpl.cli.labs import LABS, child, isolated
from refimpl.cli.labs.call_recorder import Watched
from refimpl.cli.labs.judging import judge
from refimpl.cli.labs.lab import Broken
from refimpl.cli.labs.notebook import notebook, report
from refimpl.oracle.drawing.draws import SeededDraw
from refimpl.rules import rules

from .lab_answers.wrong_answers import PLANTED

ANSWERS = Path(__file__).with_name("lab_answers")
each_lab = pytest.mark.parametrize("lab", LABS.values(), ids=LABS)
EVERY = [(name, number) for name, rows in PLANTED.items() for number in range(len(rows))]


def answer(name: str) -> str:
    return (ANSWERS / f"{LABS[name].module}.py").read_text(encoding="utf-8")


def planted(name: str, number: int) -> tuple[str, str]:
    """The rule that a wrong answer breaks, and its text."""
    clause, old, new = PLANTED[name][number]
    assert old in answer(name)
    return clause, answer(name).replace(old, new, 1)


def loaded(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("lab_answer")
    module.__file__ = str(folder / "lab_answer.py")
    Path(module.__file__).write_text(text, encoding="utf-8")
    linecache.checkcache(module.__file__)
    monkeypatch.setitem(sys.modules, "lab_answer", module)
    exec(compile(text, module.__file__, "exec"), module.__dict__)
    return module


def first_broken(name: str, module: ModuleType, seeds: int) -> str | None:
    """The first rule that is broken, of so many cases of each law."""
    student = Watched(module, 60)
    for law in LABS[name].laws:
        for seed in range(min(seeds, law.examples)):
            try:
                law.holds(student, SeededDraw(seed))
            except Broken:
                return law.clause
    return None


# --- answers --------------------------------------------------------------------------------------


@pytest.mark.clause("Labs/check")
@each_lab
def test_the_right_answer_keeps_every_rule(lab, tmp_path, monkeypatch) -> None:
    assert first_broken(lab.name, loaded(answer(lab.name), tmp_path, monkeypatch), 1) is None


QUICK = {"slicing": 1, "push": 1, "in-place": 2, "gradient": 0, "bucketing": 1, "dist-sync": 5, "svrg": 0, "kernel": 1}


@pytest.mark.clause("Labs/check")
@each_lab
def test_a_wrong_answer_is_told_its_rule(lab, tmp_path, monkeypatch) -> None:
    clause, text = planted(lab.name, QUICK[lab.name])
    assert first_broken(lab.name, loaded(text, tmp_path, monkeypatch), 20) == clause


@pytest.mark.long
@pytest.mark.clause("Labs/check", "Labs/limit")
@pytest.mark.parametrize(("name", "number"), EVERY)
def test_every_planted_answer_is_told_its_rule(name, number, tmp_path) -> None:
    clause, text = planted(name, number)
    file = tmp_path / "answer.py"
    file.write_text(text, encoding="utf-8")
    began = time.monotonic()
    result = isolated.check(LABS[name], file)
    assert result.broken == clause, result
    assert result.calls
    assert result.got
    assert time.monotonic() - began < 60


@pytest.mark.long
@pytest.mark.clause("Labs/check")
@each_lab
def test_the_right_answer_passes_the_check(lab, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "answer.py"
    file.write_text(answer(lab.name), encoding="utf-8")
    assert isolated.check(lab, file).passed
    assert list(tmp_path.iterdir()) == [file]  # nobody else's files are left beside it


def test_five_are_planted_in_each() -> None:
    expected = dict.fromkeys(LABS, 5) | {"in-place": 6, "dist-sync": 6}
    assert {name: len(rows) for name, rows in PLANTED.items()} == expected


@pytest.mark.heavy
def test_a_failing_case_is_made_small(tmp_path, monkeypatch) -> None:
    _, text = planted("slicing", 1)
    module = loaded(text, tmp_path, monkeypatch)
    *kept, last = judge(LABS["slicing"], Watched(module, 60), module)
    assert [verdict.clause for verdict in kept] == ["split/half-to-even"]
    assert (last.clause, last.kept) == ("split/shortfall", False)
    assert last.calls == ["split(5, [1, 1])"]  # nothing less has a rest


def test_an_error_is_told_with_its_line(tmp_path, monkeypatch) -> None:
    module = loaded("def split(batch_size, weights):\n    return 1 / 0\n", tmp_path, monkeypatch)
    (verdict,) = judge(LABS["slicing"], Watched(module, 60), module)
    assert verdict.got == "ZeroDivisionError: division by zero"
    assert verdict.line == "line 2: return 1 / 0"


# --- what is written ------------------------------------------------------------------------------


@each_lab
def test_the_stub_has_the_rules_and_its_examples_are_right(lab, tmp_path, monkeypatch) -> None:
    code, text = lab.code(), lab.text()
    assert all(f"[{clause}]" in code and f"`{clause}`" in text for clause in lab.clauses)
    assert all(len(line) <= 120 for line in [*code.splitlines(), *text.splitlines()])
    stub, right = ModuleType("stub"), loaded(answer(lab.name), tmp_path, monkeypatch)
    exec(compile(code, "stub", "exec"), stub.__dict__)
    found = [
        test for value in vars(stub).values() if getattr(value, "__module__", None) == "stub" or value is stub
        for test in doctest.DocTestFinder().find(value, globs={**vars(stub), **vars(right)})
    ]
    asked = {name for name, value in vars(stub).items() if getattr(value, "__module__", None) == "stub"}
    assert asked <= vars(right).keys()
    for test in found:
        assert doctest.DocTestRunner().run(test).failed == 0


@each_lab
def test_the_stub_is_wrong(lab, tmp_path, monkeypatch) -> None:
    module = loaded(lab.code(), tmp_path, monkeypatch)
    with pytest.raises(NotImplementedError):
        lab.laws[0].holds(Watched(module, 60), SeededDraw(0))


def test_rules_are_rules() -> None:
    assert all(clause in rules for lab in LABS.values() for clause in lab.clauses)


# --- notebooks ------------------------------------------------------------------------------------


def executed(lab, code: str) -> str:
    """What the last cell of a lab's notebook prints where a student wrote ``code`` into the first."""
    made = json.loads(notebook(lab))
    assert [cell["cell_type"] for cell in made["cells"]] == ["markdown", "code", "markdown", "code"]
    assert made["cells"][1]["source"] == lab.code().rstrip()
    names: dict = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        for number, text in enumerate([code, made["cells"][3]["source"]]):
            exec(compile(text, f"<cell {number}>", "exec"), names)
    return out.getvalue()


@pytest.mark.clause("Labs/notebook")
@pytest.mark.parametrize("lab", [
    pytest.param(lab, id=name, marks=pytest.mark.heavy if name == "slicing" else pytest.mark.long)
    for name, lab in LABS.items()
])
def test_a_notebook_judges_what_is_in_its_cell(lab) -> None:
    stub = executed(lab, lab.code())
    assert stub.startswith(f"{lab.name}: ") and " is not written yet\n" in stub
    assert executed(lab, answer(lab.name)) == f"{lab.name}: all {len(lab.clauses)} rules are kept\n"


@pytest.mark.clause("Labs/notebook")
def test_notebooks_are_notebooks() -> None:
    nbformat = pytest.importorskip("nbformat", reason="the extra docs is not installed")
    for lab in LABS.values():
        nbformat.validate(nbformat.reads(notebook(lab), as_version=4))


@pytest.mark.clause("Labs/notebook")
def test_a_notebook_is_written(tmp_path, capsys) -> None:
    assert cli.run(["lab", "start", "push", "--notebook", "--dir", str(tmp_path)]) == 0
    assert (tmp_path / "push.ipynb").read_text(encoding="utf-8") == notebook(LABS["push"])
    assert [file.name for file in tmp_path.iterdir()] == ["push.ipynb"]


# --- the process ----------------------------------------------------------------------------------


@pytest.mark.clause("Labs/limit")
def test_a_call_that_does_not_end_is_told_with_its_line(tmp_path, monkeypatch) -> None:
    told: list = []
    text = "def split(batch_size, weights):\n    while not weights:\n        pass\n"
    module = loaded(text, tmp_path, monkeypatch)
    weights: list = []

    def overdue(lines: list[str], line: str) -> None:
        told.append((list(lines), line))
        weights.append(1)  # which ends the loop

    Watched(module, 0.01, overdue).split(3, weights)
    (lines, line), = told
    assert lines == ["split(3, [])"]
    assert line in ("line 2: while not weights:", "line 3: pass")


@pytest.mark.heavy
@pytest.mark.clause("Labs/limit")
@pytest.mark.parametrize(("text", "patience", "said"), [
    ("def split(:\n", 300, "line 1"), ("import os\nos._exit(7)\n", 300, "exit code 7"),
    ("while True:\n    pass\n", 1, "did not end within 1 second"),
])
def test_what_goes_wrong_in_the_process_is_told(text, patience, said, tmp_path) -> None:
    file = tmp_path / "slicing.py"
    file.write_text(text)
    result = isolated.check(LABS["slicing"], file, patience)
    assert not result.passed
    assert said in f"{result.problem} {result.line}"
    assert any(said in line for line in report(LABS["slicing"], result, 100))


@pytest.mark.clause("Labs/limit")
def test_events_become_a_result() -> None:
    events = [{"trying": "split/half-to-even"}, {"trying": "split/shortfall"},
              {"overdue": {"calls": ["split(1, [])"], "line": "line 2: pass", "seconds": 5}}]
    result = isolated._result(events)
    assert (result.kept, result.broken, result.passed) == (["split/half-to-even"], "split/shortfall", False)
    lines = list(report(LABS["slicing"], result, 100))
    assert lines[0] == "slicing: 1 of 7 rules are kept"
    assert "    slicing.py, line 2: pass" in lines
    assert any("did not end within 5 seconds" in line for line in lines)


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.clause("Labs/check")
def test_a_lab_is_listed_started_and_checked(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    command = importlib.import_module("refimpl.cli.lab")  # the package's name is that of the command
    assert cli.run(["lab", "list"]) == 0
    assert capsys.readouterr().out.startswith("slicing    Who gets which rows")
    assert cli.run(["lab", "start", "dist-sync"]) == 0
    assert {file.name for file in tmp_path.iterdir()} == {"dist_sync.md", "dist_sync.py"}
    found = isolated.Result(["Cluster/pull-own"], "Cluster/ahead", ["start(1)"], "2", "1", "line 3: x", "")
    monkeypatch.setattr(command, "check", lambda lab, file: found)
    capsys.readouterr()
    assert cli.run(["lab", "check"]) == 1
    out = capsys.readouterr().out
    for piece in ("dist-sync: 1 of 6 rules", "broken      Cluster/ahead", "[Cluster/ahead] A worker", "expected  2"):
        assert piece in out
    monkeypatch.setattr(command, "check", lambda lab, file: isolated.Result(list(lab.clauses)))
    assert cli.run(["lab", "check", "dist-sync"]) == 0
    assert "all 6 rules are kept" in capsys.readouterr().out


def refused(capsys, *words: str) -> str:
    assert cli.run(["lab", *words]) == 2
    return capsys.readouterr().err


@pytest.mark.clause("Labs/known")
def test_another_name_is_refused(capsys) -> None:
    assert "did you mean slicing?" in refused(capsys, "start", "slising")
    assert "[Labs/known]" in refused(capsys, "check", "zzz")


@pytest.mark.clause("Labs/keeps-work", "Labs/started")
def test_work_is_kept_and_must_be_there(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert "[Labs/started]" in refused(capsys, "check")
    assert "[Labs/started]" in refused(capsys, "check", "svrg")
    Path("svrg.py").write_text("mine")
    assert "[Labs/keeps-work]" in refused(capsys, "start", "svrg")
    assert Path("svrg.py").read_text() == "mine"
    assert "[Cli/folder-exists]" in refused(capsys, "start", "push", "--dir", "nowhere")


@pytest.mark.clause("Labs/extra")
def test_without_hypothesis_it_is_named(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("slicing.py").write_text(answer("slicing"))
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "hypothesis" else there(name, *a))
    assert 'pip install "refimpl[lab]"' in refused(capsys, "check", "slicing")


def test_calls_are_noted_as_they_would_be_written() -> None:
    class Store:
        size = 3

        def push(self, key, values):
            return len(values)

    student = Watched(SimpleNamespace(Store=Store, LIMIT=7), 5)
    store = student.Store()
    assert (store.push("w", [1.0]), store.size, student.LIMIT) == (1, 3, 7)
    assert student.lines == ["store = Store()", "store.push('w', [1.0])"]


@pytest.mark.clause("Labs/check")
def test_rules_are_counted_once_all_their_laws_are_kept() -> None:
    """Two laws of one rule: the first is kept, the second broken or not reached."""
    lab = LABS["gradient"]
    broken = list(report(lab, isolated.Result(kept=["gradient/chain"], broken="gradient/chain"), 80))
    assert broken[:3] == [
        "gradient: 0 of 2 rules are kept", "  broken      gradient/chain", "  not reached gradient/unreached",
    ]
    stopped = list(report(lab, isolated.Result(kept=["gradient/chain"], problem="it did not end"), 80))
    assert stopped[:2] == ["gradient: 0 of 2 rules are kept", "  not reached gradient/chain"]


@pytest.mark.clause("Labs/unwritten")
def test_a_stub_is_not_written_yet(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert cli.run(["lab", "start", "push", "--dir", str(tmp_path)]) == 0
    capsys.readouterr()
    result = isolated.check(LABS["push"], tmp_path / "push.py")
    assert not result.passed
    assert list(report(LABS["push"], result, 80)) == [
        f"push: {result.unwritten} is not written yet", "the chapter is spec/reference/stores/store.md",
    ]
    assert result.unwritten in LABS["push"].code()


@pytest.mark.clause("Labs/own-work")
@pytest.mark.parametrize(("name", "text", "said"), [
    ("slicing", "from refimpl.executor_manager import _split_input_slice as split\n", "_split_input_slice"),
    ("slicing", "import refimpl as mx\nsplit = mx.executor_manager._split_input_slice\n", "_split_input_slice"),
    ("push", "import refimpl.kvstore as store\n", "kvstore"),
    ("dist-sync", "from refimpl.kvstore.server import step\n", "kvstore"),
    ("gradient", "from refimpl.cli.labs.gradient_lab import Node, reference\n", "reference"),
    ("gradient", "from refimpl import autograd\n", "autograd"),
    ("kernel", "from refimpl.kernels.foundation import get\n", "kernels"),
])
def test_what_the_package_has_is_seen_in_an_answer(name: str, text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "answer.py"
    file.write_text(text)
    assert LABS[name].answers & child._names(str(file)) == {said}


@pytest.mark.clause("Labs/own-work")
def test_the_package_is_no_answer(tmp_path: Path) -> None:
    file = tmp_path / "answer.py"
    file.write_text("from refimpl.kvstore.server import step\n")
    result = isolated.check(LABS["dist-sync"], file)
    assert not result.passed
    assert result.problem == "the file uses kvstore, which does what this lab asks for: write it yourself"


@each_lab
def test_each_rule_has_words_of_the_lab(lab) -> None:
    assert set(lab.words) == set(lab.clauses)
    for words in lab.words.values():
        assert "](" not in words, "a link leads nowhere in a lab"
