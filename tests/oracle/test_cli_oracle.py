"""``refimpl oracle``: exit codes, what is printed, and its refusals."""

from __future__ import annotations

import builtins
import json
import sys
from pathlib import Path

import pytest

from refimpl.cli import main
from refimpl.oracle import text_of
from refimpl.oracle.backends.protocol import Reference

from .test_comparing import one_operator

ALL = "tests.oracle.planted_bugs:"


@pytest.fixture
def refimpl(capsys, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        code = 0
        try:
            monkeypatch.setattr(sys, "argv", ["refimpl", "oracle", *map(str, arguments)])
            code = main()
        except SystemExit as error:
            code = error.code
        return code or 0, capsys.readouterr()

    return run


def test_check_says_what_it_judged(refimpl) -> None:
    code, said = refimpl("check", ALL + "sound", "--programs", 10)
    assert code == 0
    assert said.out.startswith("10 programs in ")


@pytest.mark.clause("Cli/oracle-input")
def test_check_refuses_a_backend_without_an_operator_that_can_be_drawn(refimpl, tmp_path) -> None:
    (tmp_path / "without.py").write_text(
        "from refimpl.oracle import Capabilities\n"
        "class Backend:\n    capabilities = Capabilities(level=1, operators=frozenset({'no_such'}))\n",
        encoding="utf-8",
    )
    code, said = refimpl("check", "without:Backend", "--programs", 3)
    assert code == 2
    assert "without:Backend: the capabilities name no operator that can be drawn" in said.err


def test_check_finds_reports_and_triage_gathers(refimpl, tmp_path) -> None:
    code, said = refimpl("check", ALL + "rounded", "--programs", 2, "--report", tmp_path / "out")
    assert code == 1
    assert "  differs   " in said.out
    results = tmp_path / "out/results.json"
    count = len(json.loads(results.read_text())["found"])
    assert count == 2
    code, said = refimpl("triage", results)
    assert code == 0
    assert said.out.count("[[expected]]") == count
    (tmp_path / "oracle.toml").write_text(said.out)
    code, said = refimpl("check", ALL + "rounded", "--programs", 2)
    assert "failed as expected" in said.out


def test_replay_runs_stored_programs(refimpl, tmp_path) -> None:
    (tmp_path / "good.json").write_text(text_of(one_operator("relu", (0.5, 1.5))))
    code, said = refimpl("replay", ALL + "sound", "good.json")
    assert (code, said.out) == (0, "good: passed\n")
    broken = one_operator("relu", (0.5, 1.5))
    (tmp_path / "bad.json").write_text(json.dumps({"program": broken}))
    code, said = refimpl("replay", "tests.oracle.test_cli_oracle:Doubling", "good.json", "bad.json")
    assert code == 1
    assert "1/output0[0] is 1, expected 0.5 exactly" in said.out


def test_replay_runs_the_examples_of_rows_and_warns_of_stale_ones(refimpl, tmp_path) -> None:
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples/one.json").write_text(text_of(one_operator("relu", (0.5, 1.5))))
    row = '[[expected]]\nid = "r"\noperator = "relu"\ntrace = "output"\nreason = "x"\nexample = "examples/one.json"\n'
    (tmp_path / "oracle.toml").write_text(row)
    doubling = "tests.oracle.test_cli_oracle:Doubling"
    code, said = refimpl("replay", doubling)
    assert (code, said.out) == (0, "r: fails as expected\n")
    code, said = refimpl("replay", ALL + "sound")
    assert (code, said.out) == (0, "r: warning: does not fail any more; remove its row\n")
    (tmp_path / "oracle.toml").write_text(row + "strict = true\n")
    assert refimpl("replay", ALL + "sound")[0] == 1
    assert refimpl("replay", doubling)[0] == 0
    (tmp_path / "oracle.toml").write_text(row.replace('"output"', '"gradient"'))
    code, said = refimpl("replay", doubling)
    assert (code, said.out) == (1, "r: fails in another way than its row says\n")
    (tmp_path / "oracle.toml").write_text(row.replace('"output"', '"crashed"'))
    assert refimpl("replay", doubling, "--no-crashing") == (0, ("", ""))


def test_two_shards_run_all_programs_and_triage_merges_them(refimpl, tmp_path) -> None:
    told = []
    for part in (1, 2):
        code, said = refimpl(
            "check", ALL + "tie", "--programs", 61, "--shard", f"{part}/2", "--report", "out",
        )
        told.append((code, said.out))
    assert told[0][0] == 1
    data = [json.loads((tmp_path / f"out/{part}-of-2/results.json").read_text()) for part in (1, 2)]
    assert [each["programs"] for each in data] == [31, 30]
    assert [(each["drawn"]["start"], each["drawn"]["step"]) for each in data] == [(0, 2), (1, 2)]
    code, said = refimpl("triage", "out/1-of-2/results.json", "out/2-of-2/results.json", "--store", "kept")
    assert code == 0
    assert "causes in 2 files" in said.out
    assert len(list((tmp_path / "kept").glob("*.json"))) == said.out.count("example = ")


class Doubling(Reference):
    def run(self, program):
        return {name: value * 2 for name, value in super().run(program).items()}


@pytest.mark.clause("Cli/oracle-input")
@pytest.mark.parametrize(("arguments", "message"), [
    (["check", "nothing"], "names no implementation"),
    (["check", ALL + "sound", "--budget", "soon"], "is no time"),
    (["check", ALL + "sound", "--config", "bad.toml"], "bad.toml: there is no table x"),
    (["replay", ALL + "sound", "bad.json"], "bad.json: no program: a program has no field x"),
    (["replay", ALL + "sound", "bad.toml"], "bad.toml: "),
    (["triage", "bad.json"], "bad.json holds no results"),
    (["check", ALL + "sound", "--shard", "5/4"], "'5/4' is no shard"),
    (["replay", ALL + "sound"], "oracle.toml"),
    (["replay", ALL + "sound", "--config", "lost.toml"], "no.json: "),
    (["history", "bad.json"], "bad.json, line 1: "),
])
def test_what_is_wrong_is_refused_in_one_line(refimpl, tmp_path, arguments, message) -> None:
    (tmp_path / "bad.toml").write_text("[[x]]\nreason = 'y'\n")
    (tmp_path / "bad.json").write_text('{"x": 1}\n')
    (tmp_path / "lost.toml").write_text("[[expected]]\nreason = 'y'\nexample = 'no.json'\n")
    code, said = refimpl(*arguments)
    assert code == 2
    assert message in said.err
    assert len(said.err.splitlines()) == 1


@pytest.mark.clause("Cli/oracle-extra")
def test_a_package_that_is_not_installed_is_named(refimpl, monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "refimpl.oracle.expectations", raising=False)
    monkeypatch.delitem(sys.modules, "refimpl.oracle.pytest_items", raising=False)
    plain = builtins.__import__

    def without(name, *others):
        if name in ("tomllib", "tomli"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return plain(name, *others)

    monkeypatch.setattr(builtins, "__import__", without)
    code, said = refimpl("check", ALL + "sound")
    assert code == 2
    assert 'pip install "refimpl[oracle]"' in said.err


def test_no_command_needs_hypothesis(refimpl, monkeypatch) -> None:
    package = sys.modules["refimpl"]
    monkeypatch.setattr(package, "oracle", package.oracle)  # importing again replaces it
    for name in [name for name in sys.modules if name.startswith("refimpl.oracle")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "hypothesis", None)  # importing it fails
    code, _ = refimpl("check", ALL + "sound", "--programs", 1)
    assert code == 0


def test_a_broken_parameter_server_is_named(refimpl) -> None:
    code, said = refimpl("check", "refimpl.oracle.backends.servers:CountsAPushTwice", "--level", 7, "--programs", 1)
    assert code == 1
    assert "dist_sync duplicated" in said.out
    assert "holds worker 0's push 0 of all 2 times" in said.out
