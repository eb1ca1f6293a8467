"""Optimizer states go both ways: a run begun here is finished by MXNet 1.9.1, and the other way round.

    REFIMPL_MXNET_PYTHON=PATH python -m pytest -m peer tests/peers/test_optimizer_states.py

PATH is as in test_mxnet.py. The quirks of MXNet are active: some of its numbers are not ours otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.oracle.bounds import tracking
from refimpl.oracle.judging.comparing import compare_within
from refimpl.oracle.judging.reference import Expected
from refimpl.oracle.programs.interpreter import elements
from tests.unit.recorded_optimizers import ARGUMENTS, GRADIENTS, START, VARIANTS

from .asking import needs_mxnet
from .test_formats import ask

pytestmark = [
    pytest.mark.peer,
    needs_mxnet,
    pytest.mark.filterwarnings("ignore"),
]

TRAIN = """
import numpy as np

def create(mx, name, arguments, dtype):
    schedule = mx.lr_scheduler.FactorScheduler(2, 0.5, base_lr=0.1)
    return mx.optimizer.create(name, lr_scheduler=schedule, multi_precision=dtype == "float16", **arguments)

def steps(mx, updater, weights, numbers, gradients, dtype):
    for step in numbers:
        mx.random.seed(step)
        for index, weight in sorted(weights.items()):
            values = np.roll(gradients[step % 5], index)
            updater(index, mx.nd.array(values, dtype=dtype), weight)

def on(mx, folder, case, name, arguments, start, gradients, dtype, first, look):
    # the first three steps, or the last three from the files that another library left
    updater = mx.optimizer.get_updater(create(mx, name, arguments, dtype))
    path = "%s/%s-%s" % (folder, case.replace(" ", ""), dtype)
    if first:
        weights = {k: mx.nd.array(np.array(start) * (k + 1), dtype=dtype) for k in (0, 1)}
        steps(mx, updater, weights, range(3), gradients, dtype)
        mx.nd.save(path + ".params", {str(k): w for k, w in weights.items()})
        with open(path + ".states", "wb") as file:
            file.write(updater.get_states(dump_optimizer=True))
        return None
    weights = {int(k): w for k, w in mx.nd.load(path + ".params").items()}
    with open(path + ".states", "rb") as file:
        updater.set_states(file.read())
    steps(mx, updater, weights, range(3, 6), gradients, dtype)
    found = [look(weight) for _, weight in sorted(weights.items())]
    states = [parts(updater.states[k]) for k in (0, 1)]
    return [found, states, type(updater.optimizer).__name__, sorted(updater.optimizer._index_update_count.items())]

def parts(state):
    if isinstance(state, (tuple, list)):
        return [parts(part) for part in state]
    return state if state is None else [np.dtype(state.dtype).name, list(state.shape)]
"""
exec(TRAIN)  # the same text runs there and here
DTYPES = ("float32", "float16")


def cases() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(case, optimizer, arguments) for every variant."""
    for case, (name, own) in VARIANTS.items():
        given = {k: v for k, v in ARGUMENTS.items() if not (name == "groupadagrad" and k == "wd")}
        yield case, name, {**given, **own}


def there(folder: Path, *, first: bool) -> dict[str, Any]:
    """``on`` for every case, run by MXNet."""
    work = [list(case) for case in cases()]
    return ask(
        f"{TRAIN}\nimport warnings\nwarnings.simplefilter('ignore')\nanswer = {{}}\n"
        "look = lambda weight: weight.astype('float64').asnumpy().tolist()\n"
        f"for case, name, arguments in json.loads({json.dumps(json.dumps(work))}):\n"
        f"    for dtype in {DTYPES}:\n"
        f"        answer[case + ' ' + dtype] = on(mx, {str(folder)!r}, case, name, arguments, {START}, {GRADIENTS},"
        f" dtype, {first}, look)\n", folder,
    )


def here(folder: Path, *, first: bool, look: Callable[[Any], Any] = elements) -> dict[str, Any]:
    """The same by this project, with MXNet's quirks."""
    with mx.quirks("mxnet-1.9.1"):
        return {
            f"{case} {dtype}": on(mx, folder, case, name, arguments, START, GRADIENTS, dtype, first, look)  # noqa: F821
            for case, name, arguments in cases() for dtype in DTYPES
        }


def by_name(answer: dict[str, Any]) -> dict[str, Any]:
    """Every weight of an answer, by the case and its number."""
    return {f"{case}: {k}": weight for case, (weights, *_) in answer.items() for k, weight in enumerate(weights)}


@pytest.mark.clause("Updater/resume", "States/layout")
@pytest.mark.parametrize("begin", [here, there])
def test_another_library_goes_on(begin: Any, tmp_path: Path) -> None:
    """The same states, and weights inside their bounds after three more steps."""
    begin(tmp_path, first=True)
    ours, theirs = here(tmp_path, first=False), there(tmp_path, first=False)
    assert list(ours) == list(theirs)
    for case, (_, *rest) in theirs.items():
        assert json.loads(json.dumps(ours[case][1:])) == rest, case
    with tracking() as shadow:
        found = by_name(here(tmp_path, first=False, look=shadow.of))
    expected = {name: Expected(*pair) for name, pair in found.items()}
    weights = by_name(ours)
    answered = {name: np.array(weight, weights[name].dtype) for name, weight in by_name(theirs).items()}
    verdict = compare_within(weights, answered, lambda: expected)
    assert not verdict.mismatches, [mismatch.text for mismatch in verdict.mismatches]
    assert verdict.exact + verdict.bounded > verdict.free
