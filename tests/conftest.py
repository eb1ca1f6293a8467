"""What every test shares: the Hypothesis profile that the test-suite runs with."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from refimpl import engine
from refimpl.context import num_gpus
from refimpl.engine.failures import Failures
from refimpl.kernels.foundation.ahead import AHEAD

if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    # Tests start many processes, and each would take a second more to import the package without bytecode.
    _bytecode = tempfile.TemporaryDirectory(prefix="refimpl-bytecode-")
    os.environ["PYTHONPYCACHEPREFIX"] = _bytecode.name

os.environ.setdefault("NUMBA_NUM_THREADS", "1")  # of processes that tests start; see `_one_compiler`

settings.register_profile(
    "ci", derandomize=True, deadline=None, max_examples=6, database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("few", settings.get_profile("ci"), max_examples=4)  # README's command, repeated laws
settings.register_profile("long", settings.get_profile("ci"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "few"))


@pytest.fixture(autouse=True, scope="session")
def _one_compiler() -> Iterator[None]:
    """No process that tests share has helpers: there is a worker of pytest-xdist for each core."""
    with AHEAD.by(1):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    gc.disable()  # thousands of tests are made and none is garbage
    try:
        return (yield)
    finally:
        gc.freeze()  # nor will they be
        gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item):
    """Hypothesis's plugin gives a parametrized test settings made from those of its last case: hundreds in a chain."""
    function = getattr(item, "obj", None)
    settings_of_all_cases = getattr(function, "_hypothesis_internal_use_settings", None)
    try:
        return (yield)
    finally:
        if settings_of_all_cases is not None:
            function._hypothesis_internal_use_settings = settings_of_all_cases


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Whoever asks for the tests of a GPU is told where there is none."""
    if config.option.markexpr == "gpu" and not num_gpus():
        terminalreporter.write_line("no CUDA device was found here: tests that need one were skipped")


@pytest.fixture
def nothing_has_failed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Failures that arrays of other tests remember do not count; to collect those arrays would take half a second."""
    with monkeypatch.context() as patch:
        patch.setattr(engine, "_failures", Failures(engine._refresh))
        engine._refresh()
        yield
    engine._refresh()


@pytest.fixture
def no_longer_than_a_minute() -> Iterator[None]:
    """A test that waits for other threads or processes fails instead of waiting for ever."""
    def overdue(*_: object) -> None:
        raise TimeoutError("the test took a minute")

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, overdue)
    signal.alarm(60)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def write(tmp_path):
    """Write a file of text or bytes and return its path."""
    def writing(content, name="data.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return writing
