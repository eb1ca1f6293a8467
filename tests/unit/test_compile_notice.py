"""What is said in Python use while kernels compile: on a terminal, by a logger, or not at all."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import pytest

from refimpl.engine import compiling

LINE = "compiling kernels (first run only): {} done, now test_compile_notice.kernel"


def kernel() -> None:
    """Stands for one that compiles."""


class Clock:
    """Time that passes when somebody sleeps; a kernel ends and the next begins at given seconds."""

    def __init__(self, ends: list[float]) -> None:
        self.now, self.ends = 0.0, ends
        self.watch: Any = None

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        while self.ends and self.ends[0] <= self.now:
            self.ends.pop(0)
            end(self.watch)
            if self.ends:
                begin(self.watch)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def begin(watch: compiling.CompileWatch) -> None:
    dispatcher = SimpleNamespace(py_func=kernel)
    watch.on_start(SimpleNamespace(data={"dispatcher": dispatcher}))  # type: ignore[arg-type]  # all that is read


def end(watch: compiling.CompileWatch) -> None:
    watch.on_end(SimpleNamespace())  # type: ignore[arg-type]


def spoken(monkeypatch: pytest.MonkeyPatch, ends: list[float]) -> None:
    """Compile kernels that end at these seconds, and let the notice speak in this thread."""
    clock = Clock(list(ends))
    monkeypatch.setattr(compiling, "time", clock)
    begun = SimpleNamespace(is_alive=lambda: True, start=lambda: None)
    monkeypatch.setattr(compiling.threading, "Thread", lambda **_: begun)
    notice = compiling.Notice()
    clock.watch = notice.watch
    begin(notice.watch)
    notice._speak()


@pytest.fixture(name="heard")
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.INFO, "refimpl"):
        yield caplog


@pytest.mark.clause("compiling/notice")
def test_a_logger_hears_a_line_within_two_seconds(
    monkeypatch: pytest.MonkeyPatch, heard: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str],
) -> None:
    spoken(monkeypatch, [1.1, 4.0])
    assert heard.messages == [
        LINE.format(0), LINE.format(1), LINE.format(1), "compiled 2 kernels in 4 s; later runs read them from disk",
    ]
    assert capsys.readouterr() == ("", "")


@pytest.mark.clause("compiling/notice")
def test_a_line_on_a_terminal_goes_away(monkeypatch: pytest.MonkeyPatch, heard: pytest.LogCaptureFixture) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "200")
    spoken(monkeypatch, [0.8])
    assert terminal.getvalue() == f"\r{LINE.format(0)}\x1b[K\r\x1b[K"
    assert heard.messages == []


@pytest.mark.clause("compiling/notice")
def test_a_line_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "20")
    spoken(monkeypatch, [0.8])
    assert terminal.getvalue() == "\rcompiling kernels (\x1b[K\r\x1b[K"


@pytest.mark.clause("compiling/notice")
def test_nothing_is_said_of_short_work(monkeypatch: pytest.MonkeyPatch, heard: pytest.LogCaptureFixture) -> None:
    spoken(monkeypatch, [0.3])
    assert heard.messages == []


@pytest.mark.clause("compiling/notice")
def test_nothing_is_written_where_nobody_listens(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    spoken(monkeypatch, [4.0])
    assert capsys.readouterr() == ("", "")


@pytest.mark.clause("compiling/notice")
def test_commands_speak_for_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    monkeypatch.setattr(compiling.threading, "Thread", lambda **_: started.append(1))
    monkeypatch.setattr(compiling, "_terminal", lambda: True)
    notice = compiling.Notice()
    with notice.left_to_others():
        begin(notice.watch)
        end(notice.watch)
    assert started == []


@pytest.mark.clause("compiling/notice")
def test_a_compilation_that_began_before_the_watch_is_not_counted() -> None:
    watch = compiling.CompileWatch()
    end(watch)
    assert (watch.done, watch.current) == (0, "")
    begin(watch)
    assert watch.current
    end(watch)
    assert (watch.done, watch.current) == (1, "")


@pytest.mark.clause("compiling/notice", "engine/forked")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_forked_child_compiles_nothing_of_its_parent() -> None:
    """A thread that leads a helper is not in the child, where it would never end what it began."""
    watch, begun, ended = compiling.CompileWatch(), threading.Event(), threading.Event()

    def lead() -> None:
        begin(watch)
        begun.set()
        ended.wait(60)
        end(watch)

    thread = threading.Thread(target=lead)
    thread.start()
    assert begun.wait(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: this process has threads
        child = os.fork()
    if not child:
        os._exit(0 if (watch.current, watch.text()) == ("", "0 done (0 s)") else 1)
    _, status = os.waitpid(child, 0)
    ended.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
    assert (watch.done, watch.current) == (1, "")


@pytest.mark.clause("compiling/notice")
def test_the_layer_that_runs_is_told() -> None:
    running = compiling._Running()
    assert running.text() == ""
    seen = []
    for _ in running.begin(["a", "b", "c"]):
        seen.append(running.text())
    assert seen == [", layer 1 of 3", ", layer 2 of 3", ""]
    assert running.text() == ""


@pytest.mark.clause("compiling/notice")
def test_a_closed_stream_harms_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    terminal.close()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(compiling, "_terminal", lambda: True)
    spoken(monkeypatch, [0.8])


@pytest.mark.heavy
@pytest.mark.clause("compiling/notice")
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("switch", ["", "0"])
def test_a_first_forward_is_told(tmp_path: Path, switch: str) -> None:
    code = (
        "import logging, refimpl as mx\n"
        "from refimpl.engine import compiling\n"
        "compiling.FIRST = compiling._QUICK = 0.001  # however quickly this machine compiles\n"
        "logging.basicConfig(level=logging.INFO)\n"
        "net = mx.sym.sin(mx.sym.Variable('data')) + mx.sym.Variable('more')\n"
        "net.simple_bind(mx.cpu(), data=(2,), more=(2,)).forward()[0].asnumpy()\n"
    )
    environment = {**os.environ, "REFIMPL_CACHE_DIR": str(tmp_path), "REFIMPL_COMPILE_NOTICE": switch or "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ("INFO:refimpl:compiling kernels (first run only): 0 done" in done.stderr) == (not switch)
    assert done.stdout == ""
