"""What commands print fits the terminal that they are run in."""

from __future__ import annotations

import importlib
import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from refimpl import cli
from refimpl.cli import reports, waiting
from refimpl.kernels import distinct

ops = importlib.import_module("refimpl.cli.ops")


def terminal(width: int) -> Console:
    return Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None, legacy_windows=False)


def listed(width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    console = terminal(width)
    monkeypatch.setattr(ops, "Console", lambda **_: console)
    assert cli.run(["ops"]) == 0
    return console.file.getvalue().partition("not here:")[0].splitlines()


@pytest.mark.clause("Cli/ops-fits")
@pytest.mark.parametrize(("width", "heading"), [
    (60, []), (100, ["operator", "gradient", "what its page computes"]),
    (200, ["operator", "inputs", "parameters", "gradient", "what its page computes"]),
])
def test_the_list_of_operators_fits(width, heading, monkeypatch) -> None:
    lines = listed(width, monkeypatch)
    assert max(map(len, lines)) <= width
    assert [word.strip() for word in lines[0].split("  ") if word.strip()] == heading or not heading
    text = "\n".join(lines)
    assert all(op.name in text for op in distinct())


@pytest.mark.clause("Cli/ops-fits")
def test_nothing_is_cut_in_a_pipe(capsys) -> None:
    assert cli.run(["ops"]) == 0
    out = capsys.readouterr().out
    assert "what its page computes" in out
    assert "\N{HORIZONTAL ELLIPSIS}" not in out


def metrics(loss: float, accuracy: float) -> SimpleNamespace:
    pairs = {"cross-entropy": loss, "accuracy": accuracy}
    return SimpleNamespace(get_global_name_value=pairs.items, get_name_value=pairs.items)


@pytest.mark.clause("Cli/narrow")
@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_an_epoch_is_one_line(width) -> None:
    console = terminal(width)
    with reports.TerminalReport(console, 64, 23, 10) as report:
        report.compiling(SimpleNamespace(current="", seconds=0.0, text=lambda: "12 kernels in 9.3 s"))
        report.batch_end(SimpleNamespace(epoch=9, nbatch=22, eval_metric=metrics(1.23456, 0.98765)))
        report.eval_end(SimpleNamespace(eval_metric=metrics(0.1, 0.97654)))
    last = [line.rstrip() for line in console.file.getvalue().split("\r")[-1].splitlines()]
    (line,) = [one for one in console.file.getvalue().splitlines() if "held-out 0.97" in one][-1:]
    assert len(line.split("\x1b[2K")[-1].rstrip()) <= width
    for piece in ("Epoch 10/10", "loss 1.23", "0.98", "held-out 0.97"):
        assert piece in line, last


@pytest.mark.clause("Cli/narrow")
def test_before_the_held_out_part_the_speed_is_told() -> None:
    told = {"loss": 0.5, "accuracy": 0.25, "speed": 12345.6}
    assert reports.noted(told, narrow=True) == "loss 0.500 acc 0.250 12,346/s"
    assert reports.noted(told, narrow=False) == "loss 0.5000  accuracy 0.2500  12,346 samples/s"
    assert reports.noted({**told, "held-out": 1.0}, narrow=True) == "loss 0.500 acc 0.250 held-out 1.000"


@pytest.mark.clause("Cli/narrow")
def test_the_line_about_waiting_is_cut_at_the_edge(monkeypatch) -> None:
    console = terminal(40)
    monkeypatch.setattr(waiting, "Console", lambda **_: console)
    monkeypatch.setattr(waiting, "FIRST", 0.0)
    with waiting.working("predicting", "rows") as work:
        work.note = "reading a checkpoint with a very long name in a folder far away"
        for _ in range(200):
            if "reading" in console.file.getvalue():
                break
            waiting.time.sleep(0.01)
    lines = console.file.getvalue().replace("\r", "\n").splitlines()
    shown = [line.split("\x1b[2K")[-1] for line in lines if "predicting" in line]
    assert shown
    assert all(len(line.rstrip()) <= 40 for line in shown)
