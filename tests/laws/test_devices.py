"""Several GPUs, or simulated ones: each has its own memory, and training on them is training on logical CPUs."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels.foundation import Buffer
from refimpl.kernels.foundation.devices import SIMULATED, count
from refimpl.kernels.foundation.loop import Loop, plain_kernels, python_loops

DEVICES = count()

pytestmark = [
    pytest.mark.gpu, pytest.mark.cuda_sim,
    pytest.mark.skipif(not DEVICES, reason="needs a CUDA device or NUMBA_ENABLE_CUDASIM=1"),
]
on_two_devices = pytest.mark.skipif(
    DEVICES < 2, reason=f"needs two CUDA devices or NUMBA_ENABLE_CUDASIM=1; there are {DEVICES}"
)


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """The devices on which loops ran; a loop that reads another device's memory fails."""
    seen = set()
    launch = Loop._launch

    def watched(self: Loop, device: str, args: tuple) -> None:
        assert {arg.device for arg in args if type(arg) is Buffer} == {device}, (self, args)
        seen.add(device)
        launch(self, device, args)

    monkeypatch.setattr(Loop, "_launch", watched)
    return seen


def trained(contexts: list[mx.Context], store: str, passes: int = 2) -> dict[str, np.ndarray]:
    """Some passes over eight examples, on networks whose arithmetic is addition and multiplication."""
    data = np.random.default_rng(3).standard_normal((8, 3)).astype(np.float32)
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, name="one")
    net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="relu"), num_hidden=1, name="two")
    net = mx.sym.LinearRegressionOutput(net, mx.sym.Variable("label"))
    iterator = mx.io.NDArrayIter(data, data.sum(axis=1), batch_size=4, label_name="label")
    module = mx.mod.Module(net, label_names=["label"], context=contexts)
    module.bind(iterator.provide_data, iterator.provide_label)
    weights = {"one_weight": (4, 3), "one_bias": (4,), "two_weight": (1, 4), "two_bias": (1,)}
    first = {
        name: mx.nd.array((np.arange(np.prod(shape)) % 3 - 1).reshape(shape) / 4) for name, shape in weights.items()
    }
    module.init_params(arg_params=first)
    module.init_optimizer(store, "sgd", {"learning_rate": 0.05, "momentum": 0.9})
    for _ in range(passes):
        iterator.reset()
        for batch in iterator:
            module.forward_backward(batch)
            module.update()
    assert {array.context for array in module.get_outputs(merge_multi_context=False)[0]} == set(contexts)
    return {name: array.asnumpy() for name, array in module.get_params()[0].items()}


@pytest.mark.parametrize("store", ["local", "device"])
@pytest.mark.clause("Context/gpu-memory")
def test_module_on_a_device_is_module_on_a_cpu(store: str) -> None:
    """As a user runs it: what repeats, steps and updates, is written down after its second run."""
    there = trained([mx.gpu(0)], store, passes=6)
    with python_loops():
        here = trained([mx.cpu(0)], store, passes=6)
    for name, value in here.items():
        assert np.abs(value).max() > 0.01
        assert there[name].tobytes() == value.tobytes(), name


@pytest.mark.clause("Context/gpu-memory")
def test_calls_and_gradients_that_repeat() -> None:
    values = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
    for number in range(6):
        a, b = (mx.nd.array(values + shift, ctx=mx.gpu(0)) for shift in (number, 2))
        a.attach_grad()
        with mx.autograd.record():
            loss = (mx.nd.dot(a, b, transpose_b=True) * 2).sum()
        loss.backward()
        assert a.grad.context == loss.context == mx.gpu(0)
        assert a.grad.asnumpy().tolist() == np.tile(2 * (values + 2).sum(axis=0), (3, 1)).tolist()
        assert loss.asscalar() == 2 * ((values + number) @ (values + 2).T).sum()
        assert ((a + b) * a).asnumpy().tolist() == ((2 * values + number + 2) * (values + number)).tolist()


@on_two_devices
@pytest.mark.parametrize("store", ["local", "device"])
@pytest.mark.clause("Context/gpu-memory")
def test_module_on_two_devices_is_module_on_two_cpus(store: str, launched: set[str]) -> None:
    with plain_kernels():
        there = trained([mx.gpu(0), mx.gpu(1)], store)
        with python_loops():
            here = trained([mx.cpu(0), mx.cpu(1)], store)
    assert launched >= {"gpu(0)", "gpu(1)"}
    for name, value in here.items():
        assert np.abs(value).max() > 0.01
        assert there[name].tobytes() == value.tobytes(), name


@on_two_devices
@pytest.mark.clause("Context/gpu-memory")
def test_copies_between_devices() -> None:
    one = mx.nd.array([1, 2, 300], ctx=mx.gpu(0))
    other = one.as_in_context(mx.gpu(1))
    narrow = mx.nd.zeros((3,), ctx=mx.gpu(1), dtype="int32")
    one.copyto(narrow)
    one[:] = 7
    assert (one.context, other.context, narrow.context) == (mx.gpu(0), mx.gpu(1), mx.gpu(1))
    assert other.asnumpy().tolist() == narrow.asnumpy().tolist() == [1, 2, 300]
    assert other.as_in_context(mx.cpu()).asnumpy().tolist() == [1, 2, 300]
    assert (other + 1).context == mx.gpu(1)
    other.copyto(one)
    assert one.asnumpy().tolist() == [1, 2, 300]


@pytest.mark.clause("Context/gpu-memory")
def test_devices_work_side_by_side(launched: set[str]) -> None:
    """A thread for each device; Numba's simulator refuses kernels that overlap, so they take turns there."""
    ready, sums = threading.Barrier(DEVICES), {}

    def add_up(number: int) -> None:
        total = mx.nd.zeros((40,), ctx=mx.gpu(number))
        ready.wait()
        for value in range(10):
            total += value * number
        sums[number] = total.asnumpy().tolist()

    threads = [threading.Thread(target=add_up, args=(number,)) for number in range(DEVICES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sums == {number: [45 * number] * 40 for number in range(DEVICES)}
    assert launched == {f"gpu({number})" for number in range(DEVICES)}


@pytest.mark.skipif(not SIMULATED, reason="needs NUMBA_ENABLE_CUDASIM=1")
def test_simulated_devices_are_four() -> None:
    assert mx.context.num_gpus() == 4
    with pytest.raises(mx.MXNetError, match=r"gpu\(4\) is not available: 4 CUDA devices") as caught:
        mx.nd.zeros((1,), ctx=mx.gpu(4))
    assert caught.value.clause == "Context/gpu-present"
