"""Executors that things happen to between runs, and everything that can be seen of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np

import refimpl as mx
from refimpl.engine import fast_road, profiling_hook
from refimpl.kernels.foundation import plain_kernels
from refimpl.kernels.foundation.loop import python_loops

from . import test_custom  # noqa: F401  # registers an operator of a user's
from .graphs import SHAPE


def seen(call: Callable[[], Any]) -> Any:
    """What a call gives: its bits, or its error."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001  # errors of any type are compared
        return type(error), str(error)


def bits(arrays: Any) -> list[Any]:
    return [None if a is None else seen(lambda a=a: a.asnumpy().tobytes()) for a in arrays]


def held(executor: mx.executor.Executor) -> list[Any]:
    """Everything that can be seen of an executor."""
    return [bits(a) for a in (executor.outputs, executor.arg_arrays, executor.aux_arrays, executor._bound.gradients)]


def dyadic(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.RandomState(seed).randint(-4, 5, shape) / 2.0


class Watch:
    """Keeps what the profiler is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def begin(self, name: str, context: mx.Context, shapes: Any, node: str = "") -> None:
        self.told.append((name, str(context), shapes, node))

    def end(self, begun: None) -> None:
        self.told.append(begun)


WATCH = Watch()


WAYS = {"steps": fast_road.without_replays, "table": contextlib.nullcontext}
"""How programs run: every run walks the list of steps, or what the second one has recorded is replayed."""


@contextlib.contextmanager
def failed_array() -> Iterator[None]:
    lost = mx.nd.random.normal(scale=-1, shape=(2,))  # as long as it lives, somebody has to look at what has failed
    yield
    del lost


SURROUNDINGS: dict[str, Callable[[], Any]] = {
    "nothing": contextlib.nullcontext,
    "quirk": lambda: mx.quirks("activation-relu-nan"),
    "every quirk": lambda: mx.quirks("mxnet-1.9.1"),
    "no quirk": lambda: mx.quirks("intended"),
    "no twins": plain_kernels,
    "Python": python_loops,
    "threads": lambda: mx.engine.use("threaded"),
    "another order": lambda: mx.engine.use("shuffled", 7),
    "profiler": lambda: mock.patch.object(profiling_hook, "symbolic", WATCH),
    "failure": failed_array,
    "steps": fast_road.without_replays,
}


class Bound:
    """An executor that things happen to, and what its monitor was told."""

    def __init__(self, symbol: mx.sym.Symbol, values: dict[str, np.ndarray], requirements: dict[str, str]) -> None:
        self.symbol, self.values = symbol, values
        self.names = symbol.list_arguments()
        self.shapes = {name: SHAPE for name in self.names if name in values}
        self.executor = symbol.simple_bind(mx.cpu(), grad_req=requirements, **self.shapes)
        self.others: list[mx.executor.Executor] = []
        self.told: list[Any] = []
        self.set_all(0)

    def set_all(self, seed: int) -> None:
        for number, (name, array) in enumerate(self.executor.arg_dict.items()):
            array[:] = self.values.get(name, dyadic(array.shape, number)) * (1 + seed)

    def run(self, **values: Any) -> None:
        self.executor.forward(is_train=True, **values)
        self.executor.backward([mx.nd.array(dyadic(out.shape, 9)) for out in self.executor.outputs])

    def infer(self, seed: int) -> None:
        self.executor.forward(is_train=False)

    def give(self, seed: int) -> None:
        name, array = next(iter(self.executor.arg_dict.items()))
        self.run(**{name: mx.nd.array(dyadic(array.shape, seed))})

    def copy(self, seed: int) -> None:
        arrays = self.executor.arg_dict
        self.executor.copy_params_from({n: mx.nd.array(dyadic(a.shape, seed)) for n, a in arrays.items()})
        self.run()

    def replace(self, seed: int) -> None:
        self.set_all(seed)
        self.run()

    def again(self, seed: int) -> None:
        self.run()
        self.executor.backward([mx.nd.array(dyadic(out.shape, seed)) for out in self.executor.outputs])

    def monitor(self, seed: int) -> None:
        self.executor.set_monitor_callback(
            lambda name, array: self.told.append((name, bits([array]))), monitor_all=seed % 2 == 1
        )
        self.run()

    def leave(self, seed: int) -> None:
        self.executor.set_monitor_callback(None)
        self.run()

    def reshape(self, seed: int) -> None:
        self.others.append(self.executor)
        self.executor = self.executor.reshape(**self.shapes)
        self.run()

    def share(self, seed: int) -> None:
        other = self.symbol.simple_bind(
            mx.cpu(), shared_exec=self.executor, grad_req="write", **self.shapes
        )
        for number, array in enumerate(other.arg_arrays):
            array[:] = dyadic(array.shape, seed + number)
        self.others.append(other)
        self.executor.forward(is_train=True)
        for _ in range(3):
            other.forward(is_train=True)
        self.run()

    def back_to(self, seed: int) -> None:
        if self.others:
            self.others.insert(0, self.executor)
            self.executor = self.others.pop()
        self.run()

    def lose(self, seed: int) -> None:
        """An argument whose operator has failed."""
        array = self.executor.arg_arrays[seed % len(self.names)]
        mx.nd.random.normal(scale=-1, shape=array.shape, out=array)
        self.run()

    def interrupt(self, seed: int) -> None:
        """Ctrl-C in the middle."""
        callback = mock.Mock(side_effect=[*[None] * seed, KeyboardInterrupt])
        self.executor.set_monitor_callback(callback)
        with contextlib.suppress(KeyboardInterrupt, StopIteration):
            self.run()
        self.executor.set_monitor_callback(None)


ACTIONS: dict[str, Callable[[Bound, int], None]] = {
    "run": lambda bound, _: bound.run(), "infer": Bound.infer, "give": Bound.give, "copy": Bound.copy,
    "replace": Bound.replace, "again": Bound.again, "monitor": Bound.monitor, "leave": Bound.leave,
    "reshape": Bound.reshape, "share": Bound.share, "back to": Bound.back_to, "lose": Bound.lose,
    "interrupt": Bound.interrupt,
}

EXTRAS: dict[str, Callable[[mx.sym.Symbol], mx.sym.Symbol]] = {
    "nothing": lambda a: a,
    "Dropout": lambda a: mx.sym.Dropout(a, p=0.5),
    "BatchNorm": lambda a: mx.sym.BatchNorm(a, fix_gamma=False),
    "Custom": lambda a: mx.sym.Custom(left=a, right=a, op_type="laws_affine", factor=2)[0],
    "dense": lambda a: mx.sym.FullyConnected(a, num_hidden=2),
    "half": lambda a: mx.sym.Cast(mx.sym.Cast(a, dtype="float16") * 3, dtype="float32"),
    "softmax": lambda a: mx.sym.softmax(a),
    "failing": lambda a: a + mx.sym.random.normal(scale=-1, shape=SHAPE),
    "sorted": lambda a: mx.sym.sort(a),
}
