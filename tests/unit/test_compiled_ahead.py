"""Kernels that helpers compile before they are needed, and what happens where helpers fail or cannot be."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import pytest

from refimpl.kernels.foundation import ahead

pytestmark = pytest.mark.clause("kernel-cache/ahead")

compiled_only = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled with the JIT disabled")


class Kernel:
    """Stands for what Numba compiles a kernel with: it notes the thread that does."""

    def __init__(self, name: str, kept: set[str], writable: Path) -> None:
        self.py_func = SimpleNamespace(
            __module__="test", __qualname__=name, __name__=name, __globals__={}, __code__=compile("0", name, "eval"),
        )
        self.overloads: dict[Any, Any] = {}
        self.targetctx = None
        self.made: list[str] = []
        self._kept = kept
        self._cache = SimpleNamespace(keeps=lambda *_: name in kept, cache_path=str(writable))

    def compile(self, kinds: tuple) -> None:
        self.made.append(threading.current_thread().name)
        self.overloads[kinds] = 1
        self._kept.add(self.py_func.__name__)


class Owner:
    """A program."""


@pytest.fixture(name="kernels")
def of_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Kernel]:
    kept: set[str] = set()
    made = [Kernel(f"kernel{number}", kept, tmp_path) for number in range(4)]
    monkeypatch.setattr(ahead, "_DECLARED", {("test", one.py_func.__name__): lambda: None for one in made})
    monkeypatch.setattr(ahead, "processes", lambda: 2)
    return made


@pytest.fixture(name="planned")
def of_this_test(kernels: list[Kernel]) -> Iterator[ahead.Ahead]:
    made = ahead.Ahead()
    owner = Owner()
    made.expect(owner, lambda _: [(one, ()) for one in kernels])
    yield made
    del owner
    made.stop()


def helper(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Let helpers run a text."""
    monkeypatch.setattr(ahead, "_command", lambda: [sys.executable, "-S", "-c", text])


def obtained(planned: ahead.Ahead, kernels: list[Kernel]) -> None:
    """Call all kernels; what is not compiled when a call is let through, the call compiles."""
    for one in kernels:
        planned.obtain(one, ())
        if not one.overloads and not one._cache.keeps():
            one.compile(())
    assert all(len(one.made) <= 1 for one in kernels)


ANSWERS = "import sys\nwhile sys.stdin.buffer.read(1): print(end='y', flush=True)"  # to each byte that it is told


@compiled_only
def test_helpers_and_the_program_share_the_work(
    planned: ahead.Ahead, kernels: list[Kernel], monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[str] = []

    def asked(_: Any, job: Any) -> bytes:
        told.append(job.dispatcher.py_func.__name__)
        job.dispatcher._kept.add(told[-1])
        return b"y"

    monkeypatch.setattr(ahead, "_asked", asked)
    helper(monkeypatch, "input()")
    planned.compile_all()
    here = [one.py_func.__name__ for one in kernels if one.made]
    assert sorted(told + here) == [one.py_func.__name__ for one in kernels]  # each once
    assert planned.is_idle


@compiled_only
@pytest.mark.parametrize(
    "command",
    [
        ["/no/such/python"],
        [sys.executable, "-S", "-c", "pass"],  # ends at once, as if it were killed
        [sys.executable, "-S", "-c", "import os; os.kill(os.getpid(), 9)"],
        [sys.executable, "-S", "-c", "input(); raise SystemExit(1)"],
        [sys.executable, "-S", "-c", ANSWERS],  # it says yes and leaves nothing in the cache
    ],
)
def test_helpers_that_fail_cost_time_only(
    planned: ahead.Ahead, kernels: list[Kernel], monkeypatch: pytest.MonkeyPatch, command: list[str],
) -> None:
    monkeypatch.setattr(ahead, "_command", lambda: command)
    obtained(planned, kernels)
    assert all(one.made == ["MainThread"] for one in kernels)


@compiled_only
def test_a_helper_that_is_stopped_is_waited_for_so_long(
    planned: ahead.Ahead, kernels: list[Kernel], monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = threading.Event()
    real = ahead._asked
    monkeypatch.setattr(ahead, "_asked", lambda *given: asked.set() or real(*given))
    monkeypatch.setattr(ahead, "PATIENCE", 0.01)
    monkeypatch.setattr(Kernel, "compile", lambda one, kinds: asked.wait(60) and one.overloads.update({kinds: 1}))
    helper(monkeypatch, "import sys; sys.stdin.read()")
    for one in kernels:
        planned.obtain(one, ())
    assert asked.is_set()
    assert not planned.is_idle  # the helper still has its kernel
    planned.stop()


@compiled_only
def test_ctrl_c_while_a_helper_is_waited_for(
    planned: ahead.Ahead, kernels: list[Kernel], monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    asked = threading.Event()
    real = ahead._asked
    monkeypatch.setattr(ahead, "_asked", lambda *given: asked.set() or real(*given))
    monkeypatch.setattr(Kernel, "compile", lambda one, kinds: asked.wait(60) and one.overloads.update({kinds: 1}))
    monkeypatch.setattr(planned._changed, "wait", interrupted)
    helper(monkeypatch, "import sys; sys.stdin.read()")
    with pytest.raises(KeyboardInterrupt):
        planned.compile_all()
    assert planned.is_idle
    for one in kernels:  # nobody is waited for any more
        planned.obtain(one, ())


@pytest.mark.parametrize("why", ["one core", "frozen", "no Python", "unwritable", "few", "gone", "jit"])
def test_where_there_are_no_helpers(
    planned: ahead.Ahead, kernels: list[Kernel], monkeypatch: pytest.MonkeyPatch, why: str,
) -> None:
    started: list[Any] = []
    monkeypatch.setattr(ahead.threading, "Thread", lambda **given: started.append(given) or SimpleNamespace(start=int))
    if why == "one core":
        monkeypatch.setattr(ahead, "processes", lambda: 1)
    elif why == "frozen":
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    elif why == "no Python":
        monkeypatch.setattr(sys, "executable", "/usr/sbin/uwsgi")
    elif why == "unwritable":
        monkeypatch.setattr(ahead.os, "access", lambda *_: False)
    elif why == "few":
        kernels[1:3] = []
    elif why == "gone":
        planned._expected[0] = (lambda: None, planned._expected[0][1])  # type: ignore[assignment]  # a dead reference
    else:
        monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    for one in kernels:
        planned.obtain(one, ())
    assert started == []
    assert all(one.made == [] for one in kernels)


def test_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DMLC_ROLE", raising=False)
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 5)
    assert ahead.processes() == 5
    monkeypatch.setenv("DMLC_ROLE", "worker")
    assert ahead.processes() == 1


@pytest.mark.parametrize(("asked", "helpers"), [(None, 3), (6, 5)])
def test_many_cores_get_few_helpers(
    planned: ahead.Ahead, kernels: list[Kernel], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked, helpers
) -> None:
    started: list[int] = []
    kept: set[str] = set()
    kernels += [Kernel(f"more{number}", kept, tmp_path) for number in range(20)]
    monkeypatch.setattr(ahead, "_DECLARED", {("test", one.py_func.__name__): lambda: None for one in kernels})
    monkeypatch.setattr(ahead, "processes", lambda: 64)
    monkeypatch.setattr(ahead.threading, "Thread", lambda **_: SimpleNamespace(start=lambda: started.append(1)))
    with planned.by(asked):
        planned._plan()
    assert len(started) == helpers


def test_the_environment_of_a_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    """It must not become a server of a cluster, nor profile, nor have helpers."""
    monkeypatch.setenv("DMLC_ROLE", "server")
    monkeypatch.setenv("MXNET_PROFILER_AUTOSTART", "1")
    monkeypatch.setenv("REFIMPL_CACHE_DIR", "/kept/here")
    found = ahead._environment()
    assert not [name for name in found if name.startswith(("DMLC_", "MXNET_"))]
    assert (found["REFIMPL_CACHE_DIR"], found["NUMBA_NUM_THREADS"]) == ("/kept/here", "1")


def test_a_name_that_two_kernels_have_is_nobodys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_DECLARED", {})
    ahead.declare("page", "loop", lambda: 1)
    ahead.declare("page", "loop", lambda: 2)
    assert ahead._DECLARED == {("page", "loop"): None}
    assert not ahead._compiled(("page", "loop"), ())


@compiled_only
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_fork_has_no_helpers(
    planned: ahead.Ahead, kernels: list[Kernel], monkeypatch: pytest.MonkeyPatch,
) -> None:
    helper(monkeypatch, "input()")
    monkeypatch.setattr(ahead.Ahead, "_lead", lambda *_: None)
    planned._plan()
    assert not planned.is_idle
    child = os.fork()
    if child == 0:
        os._exit(0 if planned.is_idle and not planned._helpers else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert not planned.is_idle


PROGRAM = """
import sys
import threading
from numba.core.event import Listener, register
class Watch(Listener):
    made = []
    def on_start(self, event): self.made.append(threading.current_thread().name)
    def on_end(self, event): pass
register("numba:compile", Watch())
with open(sys.argv[1], "a") as runs:
    runs.write("run ")
import refimpl as mx
net = mx.sym.Variable("data")
for function in (mx.sym.abs, mx.sym.square, mx.sym.relu, mx.sym.negative):
    net = function(net)
bound = mx.sym.make_loss(net).simple_bind(mx.cpu(), data=(2, 3))
bound.arg_dict["data"][:] = [[1.5, -2, 3], [0.25, 0.5, -1]]
bound.forward(is_train=True)
bound.backward()
print(bound.outputs[0].asnumpy().tolist(), bound.grad_arrays[0].asnumpy().tolist())
print("refimpl-helper" in Watch.made, file=sys.stderr)
"""


@compiled_only
@pytest.mark.parametrize("way", ["file", "-c", "-"])
def test_a_script_runs_once(tmp_path: Path, way: str) -> None:
    """Whether it stands in a file, without a guard of __main__, or nowhere, as in a notebook."""
    script, runs = tmp_path / "script.py", tmp_path / "runs"
    script.write_text(PROGRAM)
    environment = {**os.environ, "NUMBA_NUM_THREADS": "2", "REFIMPL_CACHE_DIR": str(tmp_path / "kernels")}
    command = {"file": [str(script)], "-c": ["-c", PROGRAM], "-": ["-"]}[way]
    done = subprocess.run(
        [sys.executable, *command, str(runs)], env=environment, input=PROGRAM if way == "-" else None,
        capture_output=True, text=True, check=True,
    )
    outputs, gradients = [[-2.25, -4.0, -9.0], [-0.0625, -0.25, -1.0]], [[-3.0, 4.0, -6.0], [-0.5, -1.0, 2.0]]
    assert (done.stdout, done.stderr) == (f"{outputs} {gradients}\n", "True\n")  # a helper has compiled
    assert runs.read_text() == "run "
