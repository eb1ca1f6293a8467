"""The script that compares SVRG with SGD: a linear way to the optimum where SGD stays above it."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numba
import pytest

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="training interpreted loops takes minutes")
SCRIPTS = Path(__file__).with_name("scripts")
ROOT = SCRIPTS.parents[2]


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("svrg_digits")


@pytest.mark.heavy
@pytest.mark.clause("SVRG/linear")
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)])
def test_svrg_is_below_1e_8_where_sgd_is_above_1e_3(script, seed, capsys) -> None:
    found = script.main(["--passes", "24", "--seed", str(seed)])
    gaps = [gap for _, gap in found["SVRG"]]
    assert [cost for cost, _ in found["SVRG"]] == list(range(0, 25, 3))
    assert all(after < before / 2 for before, after in pairwise(gaps))
    assert 0 < gaps[-1] < 1e-8
    for name in ("SGD, constant", "SGD, decaying"):
        assert found[name][-1][0] == 24
        assert found[name][-1][1] > 1e-3
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("optimum 0.8979840689,")
    assert [line.split()[0] for line in lines[1:5]] == ["passes", "0", "3", "6"]


def test_newton_finds_the_optimum(script) -> None:
    problem = script.Problem(300)
    assert abs(problem.gradient(problem.optimum)).max() < 1e-12
    # the gradient is that of the objective: a central difference along one direction
    weights, way = problem.optimum + 0.1, problem.answers[:10] @ problem.optimum
    slope = (problem.objective(weights + 1e-5 * way) - problem.objective(weights - 1e-5 * way)) / 2e-5
    assert slope == pytest.approx((problem.gradient(weights) * way).sum(), rel=1e-6)


def test_modules_minimise_this_objective(script) -> None:
    # from the optimum, a full gradient alone does not move anything
    problem = script.Problem(256)
    module = script.mx.contrib.svrg_optimization.svrg_module.SVRGModule(script.network(), update_freq=1)
    script.ready(module, 65)
    module.set_params({"fc_weight": script.array(problem.optimum)}, {})
    whole = script.mx.io.NDArrayIter(script.array(problem.data), script.array(problem.labels), 100)
    module.update_full_grads(whole)
    for batch in script.Draws(problem, 0):
        module.forward_backward(batch)
        module.update()
    assert module.get_params()[0]["fc_weight"].asnumpy() == pytest.approx(problem.optimum, abs=1e-12)
    assert problem.gap(module) == pytest.approx(0, abs=1e-14)


def test_a_picture_needs_matplotlib(script, monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    script.plot({"SVRG": [(0, 1.0), (3, 0.1)]}, str(tmp_path / "gaps.svg"))
    assert "matplotlib" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_picture(script, kind, tmp_path) -> None:
    pytest.importorskip("matplotlib", reason="the extra viz is not installed")
    script.plot({"SGD": [(0, 1.0), (1, 0.5)], "SVRG": [(0, 1.0), (3, 0.1)]}, str(tmp_path / f"gaps.{kind}"))
    start = (tmp_path / f"gaps.{kind}").read_bytes()[:100]
    assert b"PNG" in start if kind == "png" else b"<?xml" in start


def test_it_runs_from_the_command_line(tmp_path) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPTS / "svrg_digits.py", "--passes", "3", "--rows", "200"], capture_output=True, text=True,
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "SGD, decaying" in done.stdout
    assert not list(tmp_path.iterdir())
