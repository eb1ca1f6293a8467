"""Ctrl-C while a kernel is compiled, read from disk or written: afterwards every kernel can be called."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numba
import pytest
from numba.core.compiler_lock import global_compiler_lock

from refimpl.kernels.foundation import Loop, cache, interrupts
from refimpl.kernels.foundation.ahead import AHEAD

from .cached_kernels import double, kept, loaded, root, run

__all__ = ["kept", "root"]  # fixtures

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled with the JIT disabled")


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, also where a shell runs the tests in the background and so ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def watched(kernel: Loop, moment: int = 0) -> int:
    """How many Python functions the first call of a kernel calls; Ctrl-C comes with the ``moment``-th."""
    count = 0

    def watch(frame: object, event: str, _: object) -> None:
        nonlocal count
        count += event == "call"
        if moment and count == moment:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    gc.disable()  # what it calls would be counted too
    sys.setprofile(watch)
    try:
        run(kernel)
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


def check_interrupts(kept: Path, share: int, *, warm: bool) -> None:
    """Ctrl-C at one of ``share`` evenly spread moments after the other."""
    for _ in range(2):  # the first call of a process does more than the others
        if not warm:
            kept.unlink()
        last = watched(Loop(double))
    handler, heard = signal.getsignal(signal.SIGINT), 0
    for turn in range(share):
        if not warm:
            kept.unlink()
        kernel, moment = Loop(double), 1 + turn * (last - 1) // share
        try:
            calls = watched(kernel, moment)
        except KeyboardInterrupt:
            heard += 1
        else:  # Numba remembers more from call to call, so that a later one may end before the moment comes
            assert calls < moment
        assert signal.getsignal(signal.SIGINT) is handler
        assert not global_compiler_lock.is_locked()
        assert not kernel._lock._is_owned()
        run(kernel)
        assert not kernel.cpu.is_compiling
        assert loaded(run())
    assert heard > share // 2


@pytest.mark.clause("kernel-cache/interrupted")
@pytest.mark.parametrize(("warm", "share"), [(False, 4), (True, 20)])
def test_every_kernel_survives_ctrl_c(kept: Path, warm: bool, share: int) -> None:
    check_interrupts(kept, share, warm=warm)


@pytest.fixture
def expecting(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A program that is bound has said which kernels it will call, so the cache is asked before a call compiles."""
    monkeypatch.setattr(AHEAD, "_expected", deque([(weakref.ref(Path), lambda _: ())]))
    assert not AHEAD.is_idle
    yield


@pytest.mark.long
@pytest.mark.parametrize(("warm", "share"), [(False, 400), (True, 2000)])
def test_every_kernel_survives_ctrl_c_at_any_moment(kept: Path, warm: bool, share: int) -> None:
    check_interrupts(kept, share, warm=warm)


@pytest.mark.long
def test_every_expected_kernel_survives_ctrl_c_at_any_moment(kept: Path, expecting: None) -> None:
    check_interrupts(kept, 2000, warm=True)


@pytest.mark.clause("kernel-cache/interrupted")
@pytest.mark.parametrize("warm", [False, True])
def test_ctrl_c_while_the_cache_is_asked(kept: Path, expecting: None, warm: bool) -> None:
    """LLVM names the platform then: an interrupt in the middle would leave its lock held."""
    if not warm:
        kept.unlink()
    asked: list[bool] = []

    def interrupted(*given: Any) -> bool:
        signal.raise_signal(signal.SIGINT)
        asked.append(keeps(*given))
        return asked[-1]

    keeps = cache._Cache.keeps
    kernel = Loop(double)
    with mock.patch.object(cache._Cache, "keeps", interrupted), pytest.raises(KeyboardInterrupt):
        run(kernel)
    assert asked == [warm]
    run(kernel)


@pytest.mark.clause("kernel-cache/interrupted")
@pytest.mark.parametrize(("owner", "step"), [(os, "open"), (os, "fdopen"), (Path, "replace"), (cache, "dumps")])
def test_an_error_while_a_file_is_written(kept: Path, owner: object, step: str) -> None:
    """The kernel is ready by then, and nothing half-written stays."""
    kept.unlink()
    kernel = Loop(double)
    with mock.patch.object(owner, step, side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        run(kernel)
    assert list(kept.parent.iterdir()) == []
    compiled = kernel.cpu.stats.cache_misses.copy()
    run(kernel)
    assert kernel.cpu.stats.cache_misses == compiled
    assert not global_compiler_lock.is_locked()


def test_ctrl_c_is_heard_once(root: Path) -> None:
    """By the program's own handler, when the block ends, however often it was pressed."""
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        with interrupts.held(), interrupts.held():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            assert heard == []
        assert heard == [signal.SIGINT]
        signal.raise_signal(signal.SIGINT)
        assert len(heard) == 2
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_program_that_ignores_ctrl_c_goes_on_doing_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interrupts.held():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_compile_too(root: Path) -> None:
    kernels: list[Loop] = []
    handler = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=lambda: kernels.append(run()))
    thread.start()
    thread.join()
    assert len(kernels) == 1
    assert signal.getsignal(signal.SIGINT) is handler
