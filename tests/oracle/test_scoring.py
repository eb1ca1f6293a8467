"""The score: its table of faults fits the code, its runner finds a planted one, and its results can be resumed."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from refimpl.cli import app
from refimpl.kernels.foundation import get
from refimpl.oracle.backends import Capabilities, Crashed
from refimpl.oracle.backends.protocol import Reference
from refimpl.oracle.programs.program import operators
from refimpl.oracle.scoring import copies, fault_search
from refimpl.oracle.scoring.faults import CLASSES, PACKAGE, TABLE, TRAINING, Fault, faults, shard
from refimpl.oracle.searching import search

from . import fault_edits, training_modules, training_others

CLIP = Fault("clip", "boundary", "kernels/clip.py", "x > most", "x >= least", 2, ("clip",), False, False)


class Clipping(Reference):
    """Right but for programs with one operator."""

    capabilities = Capabilities(level=1, operators=frozenset({"clip"}))

    def run(self, program):
        wrong = np.float32("clip" in operators(program))
        return {name: value + wrong for name, value in super().run(program).items()}


# --- the table ------------------------------------------------------------------------------------


def test_every_fault_fits_the_code_and_leaves_it_python():
    for fault in faults():
        text = (PACKAGE / fault.file).read_text(encoding="utf-8")
        assert text.count(fault.old) == 1, fault.id
        changed = text.replace(fault.old, fault.new)
        assert changed != text, fault.id
        ast.parse(changed, fault.id)
        assert all(get(name).name == name for name in fault.operators), fault.id


def test_faults_of_training_are_shown_by_a_call_each():
    rows = json.loads(TRAINING.read_text(encoding="utf-8"))
    assert len(rows) == len({row["id"] for row in rows}) == len({(r["file"], r["old"], r["new"]) for r in rows}) == 60
    assert not {(r["file"], r["old"], r["new"]) for r in rows} & {(f.file, f.old, f.new) for f in faults(TABLE)}
    named = {*vars(training_modules), *vars(training_others)}
    for row in rows:
        prefix, _, name = row["id"].partition("/")
        assert (prefix, row["class"] in CLASSES, bool(row["shown"])) == ("training", True, True)
        assert name.replace("-", "_") in named, row["id"]


@pytest.mark.long
def test_a_users_call_shows_each_fault_of_training():
    subprocess.run([sys.executable, "-m", "tests.oracle.training_calls"], cwd=ROOT, check=True)


def test_the_table_has_its_shares():
    found = faults(TABLE)
    assert len(found) == len({fault.id for fault in found}) == len({(f.file, f.old, f.new) for f in found}) == 400
    counts = Counter(fault.kind for fault in found)
    assert counts.keys() == CLASSES.keys()
    assert min(counts.values()) >= 30
    assert sum(fault.several for fault in found) >= 60
    for kind in CLASSES:
        held = sum(fault.held for fault in found if fault.kind == kind)
        assert abs(2 * held - counts[kind]) <= 1, kind
    assert sum(fault.held for fault in found) == 200


HAND = Path(__file__).with_name("hand_faults.json")
ROOT = PACKAGE.parent


def made_rows():
    by_hand = {row["id"] for row in json.loads(HAND.read_text(encoding="utf-8"))}
    return [row for row in json.loads(TABLE.read_text(encoding="utf-8")) if row["id"] not in by_hand]


def test_rows_written_by_hand_are_in_the_table_as_they_are():
    table = {row["id"]: row for row in json.loads(TABLE.read_text(encoding="utf-8"))}
    rows = json.loads(HAND.read_text(encoding="utf-8"))
    assert len(rows) == len({row["id"] for row in rows}) == 63
    for row in rows:
        assert {**row, "held": table[row["id"]]["held"]} == table[row["id"]]


IN_LOOPS_BY_AXES = (
    "boundary/pooling-1", "boundary/convolution-1", "index/psroi-pooling-1", "memory/pooling-1", "precision/crop-1",
)


@pytest.mark.parametrize(
    "row", [row for n, row in enumerate(made_rows()) if n % 60 == 7 or row["id"] in IN_LOOPS_BY_AXES],
    ids=lambda row: row["id"],
)
def test_made_rows_are_changes_of_one_expression(row):
    in_package = not row["file"].startswith("kernels")
    file = ROOT / ("refimpl" if in_package else "") / row["file"]
    whole = file.read_text(encoding="utf-8").replace(row["old"], row["new"])
    places = fault_edits.places(file, row["class"] if in_package else "")
    made = (fault_edits.changed(*place) for place in places)
    assert any(change is not None and change.whole == whole for change in made)


@pytest.mark.long
def test_the_generator_gives_the_committed_table(tmp_path):
    table = tmp_path / "faults.json"
    subprocess.run(
        [sys.executable, "-m", "tests.oracle.making_faults", "--seed", "14", str(table)], cwd=ROOT, check=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )
    again, committed = ({(f.kind, f.file, f.old, f.new) for f in faults(each)} for each in (table, TABLE))
    assert len(again) == len(committed)
    assert len(again & committed) >= 380  # functions that were changed since have other places in the order


def test_shards_have_every_fault_once():
    found = faults()
    parts = [shard(found, f"{i}/7") for i in range(1, 8)]
    assert sorted(f.id for part in parts for f in part) == sorted(f.id for f in found)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "a/b", "-1/4", "1/0"])
def test_what_is_no_shard_is_refused(text):
    with pytest.raises(ValueError, match="is no shard: write 1/4 to 4/4"):
        shard([], text)


def test_a_fault_that_does_not_fit_is_refused(tmp_path):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "clip.py").write_text("x > most or x > most", encoding="utf-8")
    with pytest.raises(ValueError, match=r"fault clip: kernels/clip\.py has its old text 2 times, not once"):
        CLIP.apply(tmp_path)


def test_a_fault_that_needs_numpy_imports_it(tmp_path):
    fault = next(f for f in faults() if f.id == "precision/broadcast-2")
    path = tmp_path / fault.file
    path.parent.mkdir()
    path.write_text((PACKAGE / fault.file).read_text(encoding="utf-8"), encoding="utf-8")
    fault.apply(tmp_path)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports = [ast.unparse(node) for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert imports.count("import numpy as np") == 1
    assert imports.index("import numpy as np") == len([text for text in imports if "__future__" in text])


def test_a_row_without_a_field_is_refused(tmp_path):
    (tmp_path / "faults.json").write_text('[{"id": "a"}]', encoding="utf-8")
    with pytest.raises(ValueError, match="row 0 is no fault: KeyError"):
        faults(tmp_path / "faults.json")


# --- the search -----------------------------------------------------------------------------------


def test_a_wrong_implementation_is_killed_and_its_operator_named():
    row = fault_search.row_of(CLIP, fault_search.hunt(Clipping(), Reference(), 60, programs=20))
    assert (row["status"], row["named"], row["nodes"]) == ("killed", True, 1)
    assert row["programs"] < 20
    other = replace(CLIP, operators=("relu",))
    assert fault_search.row_of(other, fault_search.hunt(Clipping(), Reference(), 60, programs=20))["named"] is False


def test_what_the_right_copy_fails_too_kills_nothing():
    row = fault_search.row_of(CLIP, fault_search.hunt(Clipping(), Clipping(), 60, programs=5))
    assert (row["status"], row["programs"], row["statuses"]["expected"]) == ("survived", 5, 5)


class Silent(Clipping):
    """Does not answer programs with one operator in time."""

    def run(self, program):
        if "clip" in operators(program):
            raise Crashed("no answer within 20 s")
        return super().run(program)


def test_a_fault_that_hangs_is_killed_and_nothing_is_shrunk(monkeypatch):
    asked = []

    class Counting(Silent):
        def run(self, program):
            asked.append("clip" in operators(program))
            return super().run(program)

    monkeypatch.setattr(fault_search, "faulty", lambda fault: nullcontext(Counting()))
    row = fault_search.score_one(CLIP, Reference(), 60, programs=40)
    assert (row["status"], row["cause"], row["named"]) == ("killed", "no answer within 20 s", None)
    assert row["programs"] == len(asked)
    assert asked.count(True) == 1
    assert "clip: killed after" in fault_search.text_of(row)
    assert "0/0" not in fault_search.summary([row])
    assert fault_search.hunt(Silent(), Silent(), 60, programs=5).statuses["expected"]  # the right one is as silent


@pytest.mark.heavy
def test_a_patched_copy_shares_nothing_with_this_process(tmp_path):
    results = tmp_path / "results.jsonl"
    before = (PACKAGE / CLIP.file).read_text(encoding="utf-8")
    (row,) = fault_search.score([CLIP], results, 60.0)
    assert (row["status"], row["cause"].split()[0], row["named"]) == ("killed", "clip", True)
    assert (PACKAGE / CLIP.file).read_text(encoding="utf-8") == before
    assert fault_search.read(results) == [row]


def test_a_copy_has_no_links_back(tmp_path):
    root = copies.copy_package(tmp_path)
    assert not [path for path in root.rglob("*") if path.is_symlink()]
    CLIP.apply(root)
    assert "x >= least" in (root / CLIP.file).read_text(encoding="utf-8")
    assert "x >= least" not in (PACKAGE / CLIP.file).read_text(encoding="utf-8")


class Spoiling(Reference):
    """Right but for one element in ten thousand, which is a ten-thousandth too large."""

    capabilities = Capabilities(level=2)

    def __init__(self, seed):
        self.before = 500 * seed

    def run(self, program):
        return {name: self.spoilt(value) for name, value in super().run(program).items()}

    def spoilt(self, value):
        at = -self.before % 10_000
        self.before += value.size
        if value.dtype.kind != "f" or at >= value.size:
            return value
        value = value.copy()
        value.flat[at] *= 1 + 1e-4
        return value


def finds_one_element(seed):
    """Whether a search finds it in far less than the programs of a minute, which are 18,000."""
    return bool(search(Spoiling(seed), seed=seed, programs=6000, most=1).found)


@pytest.mark.heavy
def test_one_element_of_ten_thousand_is_found():
    assert finds_one_element(seed=5)


@pytest.mark.long
def test_one_element_of_ten_thousand_is_found_in_95_runs_of_100():
    assert sum(map(finds_one_element, range(100))) >= 95


# --- results --------------------------------------------------------------------------------------


def test_committed_results_are_of_faults_of_the_table():
    table = {fault.id: fault for fault in faults()}
    rows = fault_search.read(Path(__file__).with_name("score.jsonl"))
    training = [
        fault_search.read(Path(__file__).with_name(name)) for name in ("score_training.jsonl", "score_blind.jsonl")
    ]
    for some in training:
        assert [row["id"] for row in some] == [fault.id for fault in faults(TRAINING)]
    assert len(rows) == len({row["id"] for row in rows}) >= 146
    assert {row["id"]: row["class"] for row in rows} == {row["id"]: table[row["id"]].kind for row in rows}
    chapter = (ROOT / "spec/reference/tools/oracle.md").read_text(encoding="utf-8")
    killed = sum(row["status"] == "killed" for row in rows)
    assert f"| all | {killed} of {len(rows)} " in chapter
    after, blind = (sum(row["status"] == "killed" for row in some) for some in training)
    assert f"{blind} of the 60 before, {after} after" in chapter.replace("\n", " ")


def row_of(name, status="killed", **more):
    return {"id": name, "class": "index", "status": status, "seconds": 1.0, "programs": 3, "several": False, **more}


def test_what_is_known_is_not_run_again(tmp_path, monkeypatch):
    results = tmp_path / "results.jsonl"
    given = [replace(CLIP, id=name) for name in "abc"]
    fault_search.append(results, row_of("b"))
    with results.open("a", encoding="utf-8") as file:
        file.write('{"id": "c", "sta')  # its process was killed
    asked = []
    monkeypatch.setattr(fault_search, "faulty", lambda fault: NoCopy())
    monkeypatch.setattr(fault_search, "score_one", lambda fault, *_: asked.append(fault.id) or row_of(fault.id))
    assert [row["id"] for row in fault_search.score(given, results)] == ["a", "b", "c"]
    assert asked == ["a", "c"]
    assert [row["id"] for row in fault_search.read(results)] == ["b", "a", "c"]
    assert fault_search.score(given, results) == fault_search.score(given, results)
    assert asked == ["a", "c"]


class NoCopy:
    def __enter__(self):
        return None

    def __exit__(self, *_):
        return None


@pytest.mark.parametrize("text", ["[1]", '{"id": "a"}', "nonsense", '{"a": }'])
def test_a_file_of_something_else_is_refused(tmp_path, text):
    results = tmp_path / "results.jsonl"
    results.write_text(text + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"results\.jsonl, line 1: no row of results"):
        fault_search.read(results)


def test_the_summary_counts_by_class_and_lists_survivors():
    rows = [
        row_of("a", named=True, nodes=1), row_of("b", seconds=3.0, named=False, nodes=3),
        row_of("c", "survived", statuses={"passed": 3}), {**row_of("d", several=True), "class": "devices"},
    ]
    lines = fault_search.summary(rows).splitlines()
    assert [line.split() for line in lines[1:5]] == [
        ["index", "2/3", "67%", "2.00", "1/2", "2"], ["devices", "1/1", "100%", "1.00", "-", "-"],
        ["several", "1/1", "100%", "1.00", "-", "-"], ["all", "3/4", "75%", "1.00", "1/2", "2"],
    ]
    assert lines[-1] == "survived c: 3 programs, {'passed': 3}"


def test_the_command_lists_and_sums_up(tmp_path):
    known = next(fault for fault in faults() if not fault.held)
    results = tmp_path / "results.jsonl"
    results.write_text(json.dumps(row_of(known.id)) + "\n", encoding="utf-8")
    run = CliRunner().invoke(app, ["oracle", "score", str(results), "--only", known.id, "--shard", "1/1"])
    assert run.exit_code == 0, run.output
    assert "1/1 100%" in run.output
    run = CliRunner().invoke(app, ["oracle", "score", str(results), "--list"])
    assert len(run.output.splitlines()) == 200 + 60
    run = CliRunner().invoke(app, ["oracle", "score", str(results), "--shard", "3/2"])
    assert "'3/2' is no shard" in str(run.exception)
    assert run.exception.clause == "Cli/oracle-input"
