"""What a person sees while a network trains."""

from __future__ import annotations

import io
import logging
import re
from types import SimpleNamespace

import pytest
from rich.console import Console

from refimpl.cli import reports
from refimpl.cli.compiling import CompileWatch


class Metric:
    """The two numbers that a report reads."""

    def get_global_name_value(self) -> list[tuple[str, float]]:
        return [("accuracy", 0.75), ("cross-entropy", 0.5)]

    get_name_value = get_global_name_value

    def reset_local(self) -> None:
        """Nothing to reset."""


def param(epoch: int, nbatch: int) -> SimpleNamespace:
    return SimpleNamespace(epoch=epoch, nbatch=nbatch, eval_metric=Metric())


def compile_event(name: str) -> SimpleNamespace:
    function = SimpleNamespace(__module__="refimpl.kernels.page", __name__=name)
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})


def test_the_watch_counts_outermost_compilations() -> None:
    seen: list[tuple[int, str]] = []
    watch = CompileWatch(lambda w: seen.append((w.done, w.current)))
    watch.on_start(compile_event("outer"))
    watch.on_start(compile_event("inner"))
    watch.on_end(compile_event("inner"))
    assert re.fullmatch(r"0 done, now page\.outer \(\d+ s\)", watch.text())
    watch.on_end(compile_event("outer"))
    assert seen == [(0, "page.outer"), (1, "")]
    assert re.fullmatch(r"1 done \(\d+ s\)", watch.text())


def test_bars_on_a_terminal() -> None:
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=120)
    watch = CompileWatch(lambda w: report.compiling(w))
    with reports.TerminalReport(console, batch_size=10, batches=2, last_epoch=3) as report:
        watch.on_start(compile_event("forward"))
        watch.on_end(compile_event("forward"))
        for batch in range(2):
            report.batch_end(param(2, batch))
        report.eval_end(param(2, 1))
    shown = text.getvalue()
    for piece in (
        "Epoch 3/3", "loss 0.5000", "accuracy 0.7500", "samples/s", "held-out 0.7500",
        reports.COMPILING, "1 done",
    ):
        assert piece in shown




def test_lines_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    report = reports.LogReport(batch_size=10, disp_batches=1)
    watch = CompileWatch(report.compiling)
    level = logging.getLogger().level
    with report:
        watch.on_start(compile_event("forward"))
        watch.on_end(compile_event("forward"))
        report.batch_end(param(0, 0))
        report.batch_end(param(0, 1))
    assert logging.getLogger().level == level
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"INFO:root:{reports.COMPILING}; later runs read them from disk"
    assert lines[1].startswith("INFO:root:Compiled 1 kernels in ")
    assert re.match(r"INFO:root:Epoch\[0\] Batch \[0-1\]\tSpeed: [\d.]+ samples/sec\t", lines[2])


def test_it_speaks_up_after_a_silence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reports, "SILENCE", -1.0)
    report = reports.LogReport(batch_size=10, disp_batches=100)
    answers = iter([False, False, True])  # two rounds of the watching loop, then the end
    monkeypatch.setattr(report, "_stop", SimpleNamespace(wait=lambda seconds: next(answers)))
    logging.getLogger().addHandler(report._handler)
    monkeypatch.setattr(logging.getLogger(), "level", logging.INFO)
    try:
        report.batch_end(param(3, 4))
        CompileWatch(report.compiling).on_start(compile_event("slow"))
        report._speak_up()
    finally:
        logging.getLogger().removeHandler(report._handler)
    assert capsys.readouterr().out.count("now page.slow") == 2


def test_the_report_suits_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    with reports.reporting(10, 2, 1, 20) as report:
        assert isinstance(report, reports.LogReport)
    assert capsys.readouterr().out == ""
