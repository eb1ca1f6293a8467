"""What a failed block gives back: the same bits, and no memory for arrays that hold nothing yet."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.ndarray.undo import undo

MANY = 1 << 18
CORNERS = {
    "zeros": lambda flat: None,
    "negative zeros": lambda flat: flat.fill(-0.0),
    "a negative zero at the end": lambda flat: flat[-1:].fill(-0.0),
    "one number at the end": lambda flat: flat[-1:].fill(3),
    "one number at the start": lambda flat: flat[:1].fill(3),
    "ones": lambda flat: flat.fill(1),
}


@pytest.mark.clause("Module/params-atomic", "Module/atomic")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "bool"])
@pytest.mark.parametrize("size", [0, 1, 100, MANY])
@pytest.mark.parametrize("corner", CORNERS)
def test_the_same_bits_come_back(corner: str, size: int, dtype: str) -> None:
    values = np.zeros(size, dtype)
    CORNERS[corner](values)
    array = mx.nd.array(values, dtype=dtype)
    with pytest.raises(KeyboardInterrupt), undo([array]):
        array[:] = 7
        raise KeyboardInterrupt
    assert array.asnumpy().tobytes() == values.tobytes()


@pytest.mark.clause("Module/params-atomic")
@pytest.mark.usefixtures("nothing_has_failed")  # else the engine is asked, and makes copies
def test_arrays_of_zeros_are_not_copied() -> None:
    arrays = [mx.nd.zeros(MANY), mx.nd.zeros(MANY, dtype="int8")]
    mx.nd.waitall()
    tracemalloc.start()
    try:
        with undo(arrays):
            _, peak = tracemalloc.get_traced_memory()
        assert peak < 100_000
        arrays[0][-1:] = 1
        with undo(arrays):
            _, peak = tracemalloc.get_traced_memory()
        assert peak > 4 * MANY  # the measure sees a copy
    finally:
        tracemalloc.stop()


@pytest.mark.clause("Module/atomic")
@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_a_sparse_array_gets_its_values_and_its_places_back(stype: str) -> None:
    array = mx.nd.array([[0, 1], [0, 0], [2, 3]]).tostype(stype)
    with pytest.raises(KeyboardInterrupt), undo([array]):
        mx.nd.array([[5, 0], [6, 0], [0, 0]]).tostype(stype).copyto(array)
        raise KeyboardInterrupt
    assert array.stype == stype
    assert array.asnumpy().tolist() == [[0, 1], [0, 0], [2, 3]]
    assert array.indices.asnumpy().tolist() == {"row_sparse": [0, 2], "csr": [1, 0, 1]}[stype]


@pytest.mark.clause("Module/atomic")
@pytest.mark.parametrize("recording", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_the_switches_of_autograd_are_as_before(recording: bool, training: bool) -> None:
    before = mx.autograd.set_recording(recording), mx.autograd.set_training(training)
    try:
        with pytest.raises(KeyboardInterrupt), undo([]):
            mx.autograd.set_recording(not recording)
            mx.autograd.set_training(not training)
            raise KeyboardInterrupt
        assert (mx.autograd.is_recording(), mx.autograd.is_training()) == (recording, training)
    finally:
        mx.autograd.set_recording(before[0])
        mx.autograd.set_training(before[1])


# --- optimizers of users ---------------------------------------------------------------------------


class Mine(mx.optimizer.Optimizer):
    """A user's rule: each step adds 1 to a memory of its own, in place; the step with the number ``stop`` fails."""

    stop = 0
    steps = 0

    def create_state(self, index: Any, weight: mx.nd.NDArray) -> Any:
        return None

    def memory(self, state: Any) -> np.ndarray:
        """The memory."""
        raise NotImplementedError

    def update(self, index: Any, weight: mx.nd.NDArray, grad: mx.nd.NDArray, state: Any) -> None:
        self._update_count(index)
        self.steps += 1
        self.memory(state)[:] += 1
        weight -= grad
        if self.steps == self.stop:
            raise KeyboardInterrupt


class WithArray(Mine):
    """The memory is the state."""

    def create_state(self, index: Any, weight: mx.nd.NDArray) -> np.ndarray:
        return np.zeros(1)

    def memory(self, state: np.ndarray) -> np.ndarray:
        return state


class WithNestedDict(Mine):
    """The memory lies in dicts, a list and a tuple of the state."""

    def create_state(self, index: Any, weight: mx.nd.NDArray) -> dict[str, Any]:
        return {"means": {"first": [({"of all": np.zeros(1)},)]}}

    def memory(self, state: dict[str, Any]) -> np.ndarray:
        return state["means"]["first"][0][0]["of all"]


class WithAttribute(Mine):
    """The memory is an attribute of the optimizer."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.total = np.zeros(1)

    def memory(self, state: None) -> np.ndarray:
        return self.total


def _push(optimizer: Mine) -> tuple[Any, Callable[[], None], list[mx.nd.NDArray]]:
    store = mx.kv.create("local")
    store.init(["a", "b"], [mx.nd.zeros(2)] * 2)
    store.set_optimizer(optimizer)
    return store._updater, lambda: store.push(["a", "b"], [mx.nd.ones(2)] * 2), [*store._stored.values()]


def _updates(optimizer: Mine) -> tuple[Any, Callable[[], None], list[mx.nd.NDArray]]:
    updater, weights = mx.optimizer.get_updater(optimizer), [mx.nd.zeros(2), mx.nd.zeros(2)]
    arrays = [[weight] for weight in weights], [[mx.nd.ones(2)] for _ in weights]
    return updater, lambda: mx.model._update_params(*arrays, updater, 1), weights


@pytest.mark.clause("Module/atomic", "KVStore/atomic")
@pytest.mark.parametrize("kind", [WithArray, WithNestedDict, WithAttribute])
@pytest.mark.parametrize("way", [_push, _updates])
def test_a_users_optimizer_gets_back_what_a_failed_update_wrote(kind: type[Mine], way: Any) -> None:
    """The fourth of four steps fails: the second of the second call, whose first step is undone, too."""
    optimizer = kind()
    updater, update, weights = way(optimizer)
    update()
    memories = [optimizer.memory(state) for state in updater.states.values()]
    counted = 2 if kind is WithAttribute else 1  # both parameters share an attribute
    optimizer.stop = 4
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            update()
        assert [memory.tolist() for memory in memories] == [[counted]] * 2
        assert optimizer.steps == 2
        assert [*optimizer._index_update_count.values()] == [1, 1]
        assert [weight.asnumpy().tolist() for weight in weights] == [[-1, -1]] * 2
    optimizer.stop = 0
    update()
    assert [memory.tolist() for memory in memories] == [[2 * counted]] * 2
    assert all(now is then for now, then in zip(map(optimizer.memory, updater.states.values()), memories, strict=True))


@pytest.mark.clause("Updater/failed")
def test_a_failed_step_leaves_the_attributes_of_the_optimizer() -> None:
    optimizer = WithArray()
    updater, weight = mx.optimizer.get_updater(optimizer), mx.nd.zeros(2)
    updater(0, mx.nd.ones(2), weight)
    optimizer.stop = 2
    with pytest.raises(KeyboardInterrupt):
        updater(0, mx.nd.ones(2), weight)
    assert (optimizer.steps, optimizer.num_update, optimizer._index_update_count) == (1, 1, {0: 1})
