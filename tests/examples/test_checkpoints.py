"""A checkpoint that MXNet 1.9.1 wrote: predictions, the next training step, and the bytes written back."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import refimpl as mx

FIXTURES = Path(__file__).parents[1] / "fixtures"
PREFIX = str(FIXTURES / "mxnet")
EXPECTED = {
    name: np.array(values)
    for name, values in json.loads((FIXTURES / "expected.json").read_text(encoding="utf-8")).items()
}
SHAPES = {"data_shapes": [("data", (4, 1, 8, 8))], "label_shapes": [("softmax_label", (4,))]}
OPTIMIZER = {"learning_rate": 0.125, "momentum": 0.9, "wd": 0.001}


def batch(step: int) -> mx.io.DataBatch:
    """As in make.py."""
    count = np.arange(4 * 64)
    data = ((count * count + count * 7 + step) % 31 - 15).reshape(4, 1, 8, 8) / 16
    label = [(row + step) % 3 for row in range(4)]
    return mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array(label)])


def loaded(*, states: bool = False, contexts: int = 1) -> mx.mod.Module:
    module = mx.mod.Module.load(
        PREFIX, 3, load_optimizer_states=states, context=[mx.cpu(i) for i in range(contexts)]
    )
    module.bind(**SHAPES)
    return module


def assert_norm_wise(found: np.ndarray, expected: np.ndarray, name: str) -> None:
    distance = np.linalg.norm(found.ravel() - expected)
    assert distance <= 1e-5 * np.linalg.norm(expected), (name, distance)


@pytest.mark.clause("Checkpoint/files")
@pytest.mark.parametrize("contexts", [1, 2])
def test_predictions_are_those_of_mxnet(contexts):
    module = loaded(contexts=contexts)
    module.forward(batch(3), is_train=False)
    assert_norm_wise(module.get_outputs()[0].asnumpy(), EXPECTED["predictions"], "predictions")


@pytest.mark.clause("Checkpoint/files", "States/layout")
def test_training_goes_on_as_in_mxnet():
    module = loaded(states=True)
    module.init_optimizer(optimizer_params=OPTIMIZER)
    module.forward_backward(batch(3))
    module.update()
    found = {f"after step 4: {n}": v for params in module.get_params() for n, v in params.items()}
    assert sorted(found) == sorted(set(EXPECTED) - {"predictions"})
    for name, value in found.items():
        assert_norm_wise(value.asnumpy(), EXPECTED[name], name)


def test_training_without_the_states_is_another_step():
    """The step above is sensitive to the momentum in the file."""
    module = loaded()
    module.init_optimizer(optimizer_params=OPTIMIZER)
    module.forward_backward(batch(3))
    module.update()
    expected = EXPECTED["after step 4: fc_weight"]
    found = module.get_params()[0]["fc_weight"].asnumpy().ravel()
    assert np.linalg.norm(found - expected) > 1e-2 * np.linalg.norm(expected)


@pytest.mark.clause("Checkpoint/files", "symbol-file/layout", "params-file/version-2")
def test_what_is_written_back_has_the_same_bytes(tmp_path):
    symbol, arguments, states = mx.model.load_checkpoint(PREFIX, 3)
    mx.model.save_checkpoint(str(tmp_path / "again"), 3, symbol, arguments, states)
    for ending in ("-symbol.json", "-0003.params"):
        written = (tmp_path / f"again{ending}").read_bytes()
        assert written == Path(PREFIX + ending).read_bytes(), ending


@pytest.mark.clause("Module/checkpoint", "States/layout")
def test_a_module_writes_its_checkpoint_back(tmp_path):
    """The same bytes; a pickle may put the same states in several ways, so those are compared as read."""
    module = loaded(states=True)
    module.init_optimizer(optimizer_params=OPTIMIZER)
    module.save_checkpoint(str(tmp_path / "again"), 3, save_optimizer_states=True)
    for ending in ("-symbol.json", "-0003.params"):
        written = (tmp_path / f"again{ending}").read_bytes()
        assert written == Path(PREFIX + ending).read_bytes(), ending
    states = [
        mx.optimizer.states.loads(Path(prefix + "-0003.states").read_bytes())[0]
        for prefix in (PREFIX, str(tmp_path / "again"))
    ]
    assert list(states[0]) == list(states[1]) == [0, 1, 2, 3, 4]
    for index, state in states[0].items():
        assert np.array_equal(state.asnumpy(), states[1][index].asnumpy())
