"""Several threads that use one executor."""

import copy
import threading

import numpy as np
import pytest

import refimpl as mx


@pytest.mark.clause("Executor/turns")
@pytest.mark.parametrize("states", [False, True])
def test_four_threads_on_one_executor(states: bool) -> None:
    """Row sums of ones by hand: 3 inputs of weight 1 give 3; the gradient adds up two heads of 1."""
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, no_bias=True)
    if states:
        net = mx.sym.BatchNorm(net, use_global_stats=True, eps=1e-3, fix_gamma=False) * 1
    executor = net.simple_bind(mx.cpu(), data=(2, 3))
    for array in executor.arg_arrays:
        array[:] = 1
    for array in executor.aux_arrays:
        array[:] = 1
    failures: list[BaseException] = []
    begin = threading.Barrier(4)

    def work() -> None:
        try:
            begin.wait(60)
            for _ in range(30):
                executor.forward(is_train=True, data=mx.nd.ones((2, 3)))
                executor.backward([mx.nd.ones((2, 2))])
        except BaseException as error:  # noqa: BLE001  # the test tells it
            failures.append(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failures
    assert not any(thread.is_alive() for thread in threads)
    if not states:
        assert executor.outputs[0].asnumpy().tolist() == [[3, 3], [3, 3]]
        assert executor.grad_dict["data"].asnumpy().tolist() == [[2, 2, 2], [2, 2, 2]]
        assert np.array_equal(executor.grad_arrays[1].asnumpy(), np.full((2, 3), 2))


@pytest.mark.clause("Executor/turns")
def test_a_call_waits_for_that_of_another_thread() -> None:
    executor = (mx.sym.Variable("a") * 2).bind(mx.cpu(), {"a": mx.nd.ones(2)})
    ended = threading.Event()
    other = threading.Thread(target=lambda: (executor.forward(), ended.set()), daemon=True)
    with executor.program.pool.turn:
        other.start()
        assert not ended.is_set()
    other.join(60)
    assert ended.is_set()


@pytest.mark.clause("Executor/fixed-arrays")
@pytest.mark.parametrize("change", [
    lambda arrays: arrays.__setitem__(0, mx.nd.ones(2)), lambda arrays: arrays.append(mx.nd.ones(2)),
    lambda arrays: arrays.clear(), lambda arrays: arrays.__delitem__(0),
])
def test_bound_arrays_are_not_replaced(change) -> None:
    executor = (mx.sym.Variable("a") * 2).bind(mx.cpu(), {"a": mx.nd.ones(2)})
    with pytest.raises(TypeError, match="bound and cannot be replaced"):
        change(executor.arg_arrays)
    assert isinstance(executor.arg_arrays, list)
    executor.arg_arrays[0][:] = 3
    assert executor.forward()[0].asnumpy().tolist() == [6, 6]


@pytest.mark.clause("Executor/fixed-arrays")
@pytest.mark.parametrize("given", [None, [None]], ids=["no gradients", "a list of gradients"])
def test_arrays_of_an_executor_of_2_0_are_not_replaced(given) -> None:
    executor = (mx.sym.Variable("a") * 2)._bind(mx.cpu(), {"a": mx.nd.ones(2)}, args_grad=given)
    for arrays in (executor.arg_arrays, executor.grad_arrays):
        with pytest.raises(TypeError, match="bound and cannot be replaced"):
            arrays[0] = mx.nd.ones(2)
    with pytest.raises(TypeError, match="bound and cannot be replaced"):
        executor.aux_arrays.append(mx.nd.ones(2))
    executor.arg_arrays[0][:] = 3
    assert executor.forward()[0].asnumpy().tolist() == [6, 6]


@pytest.mark.clause("Executor/fixed-arrays")
def test_bound_gradients_are_not_replaced() -> None:
    """1.9.1 after ``grad_arrays[0] = full(2, 7)``: backward writes 2 into the old array, and the new one keeps 7."""
    gradient = mx.nd.zeros(2)
    executor = (mx.sym.Variable("a") * 2).bind(mx.cpu(), {"a": mx.nd.ones(2)}, args_grad={"a": gradient})
    with pytest.raises(TypeError, match="bound and cannot be replaced"):
        executor.grad_arrays[0] = mx.nd.full(2, 7)
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(2))
    assert gradient.asnumpy().tolist() == [2, 2]


@pytest.mark.clause("Executor/fixed-arrays")
@pytest.mark.parametrize("bind", ["bind", "_bind"])
@pytest.mark.parametrize("change", [
    lambda arrays: arrays.__setitem__("a", mx.nd.ones(2)), lambda arrays: arrays.update(a=mx.nd.ones(2)),
    lambda arrays: arrays.__ior__({"a": mx.nd.ones(2)}),
])
def test_no_array_takes_the_place_of_a_bound_one_by_its_name(bind, change) -> None:
    """1.9.1 after ``arg_dict["a"] = ones(2)``: the dict shows it, and forward reads the old array."""
    gradient = {"a": mx.nd.zeros(2)}
    executor = getattr(mx.sym.Variable("a") * 2, bind)(mx.cpu(), {"a": mx.nd.zeros(2)}, args_grad=gradient)
    for arrays in (executor.arg_dict, executor.grad_dict):
        with pytest.raises(TypeError, match="bound and cannot be replaced"):
            change(arrays)
    executor.arg_dict["a"][:] = 3
    assert executor.forward()[0].asnumpy().tolist() == [6, 6]


@pytest.mark.clause("Executor/fixed-arrays")
def test_a_dict_of_bound_arrays_takes_other_names_and_copies() -> None:
    bound = mx.nd.ones(2)
    arrays = (mx.sym.Variable("a") * 2).bind(mx.cpu(), {"a": bound}).arg_dict
    arrays["a"] = bound
    arrays.update({"b": mx.nd.zeros(2)}, c=bound)
    assert list(arrays) == ["a", "b", "c"]
    assert arrays.pop("a") is bound
    assert {type(copy.copy(arrays)), type(copy.deepcopy(arrays)), type(arrays.copy())} == {dict}
