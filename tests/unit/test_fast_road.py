"""The switch of the fast road: with it off every call runs its page, and every loop the page's text."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from types import ModuleType
from unittest import mock

import pytest

import refimpl as mx
from refimpl.engine import fast_road
from refimpl.kernels import dot, fully_connected, sgd
from refimpl.kernels.foundation import Loop

pytestmark = pytest.mark.usefixtures("nothing_has_failed")  # after a failure nothing is replayed


def product() -> Callable[[], object]:
    a, b = mx.nd.ones((2, 3)), mx.nd.ones((3, 5))
    return lambda: mx.nd.dot(a, b)


def layer() -> mx.executor.Executor:
    return mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3).simple_bind(mx.cpu(), data=(4, 5))


def update() -> Callable[[], object]:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, no_bias=True)
    module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    module.bind([("data", (2, 5))], [("softmax_label", (2,))])
    module.init_params()
    module.init_optimizer()
    batch = mx.io.DataBatch([mx.nd.ones((2, 5))], [mx.nd.ones((2,))])

    def step() -> None:
        module.forward_backward(batch)
        module.update()

    return step


CALLS: dict[str, tuple[ModuleType, str, Callable[[], Callable[[], object]]]] = {
    "array": (dot, "multiply", product),
    "executor": (fully_connected, "ADD_BIAS", lambda: layer().forward),
    "update": (sgd, "STEP", update),
}


def entered(what: str, times: int) -> list[int]:
    """How often a page had called its loop, after each of so many calls."""
    page, loop, make = CALLS[what]
    again, counts = make(), []
    with mock.patch.object(page, loop, wraps=getattr(page, loop)) as watched:
        for _ in range(times):
            again()
            counts.append(watched.call_count)
    return counts


@pytest.mark.parametrize("what", CALLS)
@pytest.mark.clause("fast-road/switch")
def test_with_it_off_every_call_enters_its_page(what: str) -> None:
    with mx.util.fast_road(False):
        assert entered(what, 5) == [1, 2, 3, 4, 5]


@pytest.mark.skipif(fast_road.road is None, reason="machine code without checks is for the usual lane only")
@pytest.mark.parametrize("what", CALLS)
@pytest.mark.clause("fast-road/replay", "fast-road/switch")
def test_with_it_on_calls_are_replayed(what: str) -> None:
    """Twice the page is asked which loops it calls, when the second call is recorded."""
    with mx.util.fast_road(False), mx.util.fast_road(True):
        counts = entered(what, 5)
    assert counts[0] == 1
    assert counts[1:] == [counts[1]] * 4


@pytest.mark.skipif(fast_road.road is None, reason="machine code without checks is for the usual lane only")
@pytest.mark.clause("kernel-cache/ahead")
def test_kernels_are_foreseen_wherever_they_will_run() -> None:
    """Also where nothing is replayed, as under another engine; not where loops run in another way."""
    from refimpl.replay.foreseen import kernels_of

    program = layer().program
    expected = len([*kernels_of(program)])
    assert expected > 0
    with mx.engine.use("threaded"):
        assert len([*kernels_of(program)]) == expected
    with mx.util.fast_road(False):
        assert [*kernels_of(program)] == []


@pytest.mark.clause("fast-road/switch")
def test_with_it_off_no_twin_runs() -> None:
    a, weight = mx.nd.ones((4, 64)), mx.nd.ones((64, 64))
    with mock.patch.object(Loop, "has_twin_for", autospec=True) as asked, mx.util.fast_road(False):
        mx.nd.FullyConnected(a, weight, no_bias=True, num_hidden=64)
    asked.assert_not_called()


def told(**environment: str) -> subprocess.CompletedProcess[str]:
    """Import the package in a process of its own, and say whether calls may be replayed."""
    code = "import refimpl as mx; print(mx.engine.fast_road.is_open())"
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return subprocess.run(
        [sys.executable, "-c", code], env={**clean, **environment}, capture_output=True, text=True, check=False,
    )


@pytest.mark.clause("fast-road/switch")
def test_the_environment_chooses() -> None:
    assert told(REFIMPL_FAST="0").stdout == "False\n"
    assert told(REFIMPL_FAST="1").stdout == "True\n"
    refused = told(REFIMPL_FAST="no")
    assert refused.returncode == 1
    assert "MXNetError: REFIMPL_FAST must be one of 1, 0, it is 'no' [fast-road/switch]" in refused.stderr


@pytest.mark.parametrize("flag", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK", "NUMBA_ENABLE_CUDASIM"])
@pytest.mark.clause("fast-road/replay")
def test_without_machine_code_that_is_unchecked_nothing_is_replayed(flag: str) -> None:
    assert told(**{flag: "1"}).stdout == "False\n"
