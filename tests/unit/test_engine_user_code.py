"""A user's own code, and a user's own threads, under every engine."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

import pytest

import refimpl as mx

pytestmark = pytest.mark.usefixtures("nothing_has_failed")  # waitall tells of every failure

KINDS = ["naive", "threaded", "shuffled"]


class ByHeart(mx.operator.CustomOp):
    """Multiplies by a number that it computed when it was made, which no task says that it reads."""

    def __init__(self) -> None:
        self.factor = mx.nd.square(mx.nd.ones((1,)) * 3)

    def forward(self, is_train: bool, req: list, in_data: list, out_data: list, aux: list) -> None:
        mx.nd.waitall()  # from within, there is nothing to wait for
        mx.nd.broadcast_mul(in_data[0], self.factor, out=out_data[0])

    def backward(
        self, req: list, out_grad: list, in_data: list, out_data: list, in_grad: list, aux: list
    ) -> None:
        mx.nd.broadcast_mul(out_grad[0], self.factor, out=in_grad[0])


@mx.operator.register("engine_by_heart")
class ByHeartProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx: mx.Context, in_shapes: list, in_dtypes: list) -> ByHeart:
        return ByHeart()


def _by_call() -> list[Any]:
    x = mx.nd.array([1, 2]) * 1
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.Custom(x, op_type="engine_by_heart") + 1
    y.backward()
    return [y.asnumpy().tolist(), x.grad.asnumpy().tolist()]


def _by_executor() -> list[Any]:
    net = mx.sym.Custom(mx.sym.Variable("x"), op_type="engine_by_heart") + 1
    executor = net.simple_bind(mx.cpu(), x=(2,))
    executor.forward(is_train=True, x=mx.nd.array([1, 2]))
    executor.backward(mx.nd.ones((2,)))
    return [executor.outputs[0].asnumpy().tolist(), executor.grad_dict["x"].asnumpy().tolist()]


def _by_loop() -> list[Any]:
    """One step of a loop whose body is the custom operator."""

    def body(data: mx.sym.Symbol, states: list) -> tuple:
        return mx.sym.Custom(data, op_type="engine_by_heart") + 1, states

    made, _ = mx.sym.contrib.foreach(body, mx.sym.Variable("x"), [])
    executor = made.simple_bind(mx.cpu(), x=(1, 2))
    executor.forward(is_train=True, x=mx.nd.array([[1, 2]]))
    executor.backward(mx.nd.ones((1, 2)))
    return [executor.outputs[0].asnumpy()[0].tolist(), executor.grad_dict["x"].asnumpy()[0].tolist()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compute", [_by_call, _by_executor, _by_loop])
@pytest.mark.clause("engine/user-code", "engine/choice")
def test_a_custom_operator_may_read_any_array(kind: str, compute: Any) -> None:
    for seed in range(12):
        with mx.engine.use(kind, seed=seed):
            assert compute() == [[10, 19], [9, 9]]  # 3 * 3 * x + 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.clause("engine/user-code")
def test_a_custom_operator_runs_in_the_thread_that_called(kind: str) -> None:
    seen: list[threading.Thread] = []

    class Where(mx.operator.CustomOp):
        def forward(self, is_train: bool, req: list, in_data: list, out_data: list, aux: list) -> None:
            seen.append(threading.current_thread())

    @mx.operator.register("engine_where")
    class WhereProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx: mx.Context, in_shapes: list, in_dtypes: list) -> Where:
            return Where()

    with mx.engine.use(kind):
        mx.nd.Custom(mx.nd.ones((1,)), op_type="engine_where").wait_to_read()
    assert seen == [threading.current_thread()]


@pytest.mark.parametrize("kind", KINDS)
def test_programs_may_have_threads(kind: str) -> None:
    """Each thread computes with arrays of its own; none disturbs the queue of the others."""
    found: dict[int, float] = {}

    def work(number: int) -> None:
        x = mx.nd.zeros((1,))
        for _ in range(100):
            x = x + number
        found[number] = x.asscalar()

    with mx.engine.use(kind):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == {number: 100 * number for number in range(4)}


@pytest.mark.parametrize("kind", ["threaded", "shuffled"])
def test_the_naive_engine_of_the_environment_gives_way(kind: str) -> None:
    """NaiveEngine raises at once; work that another engine puts off cannot, and must not end its thread."""
    code = (
        f"import refimpl as mx\nwith mx.engine.use({kind!r}):\n    x = mx.nd.random.normal(0, -1, shape=(2,))\n"
        "    try:\n        x.asnumpy()\n    except mx.MXNetError as error:\n        print('scale' in str(error))\n"
    )
    environment = {**os.environ, "MXNET_ENGINE_TYPE": "NaiveEngine"}
    done = subprocess.run(  # a process of its own: the variable is read at import
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "True\n"
