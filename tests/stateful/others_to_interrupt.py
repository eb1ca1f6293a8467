"""Calls on executors, stores and iterators that tests interrupt."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import refimpl as mx
from refimpl.io.rounds import RoundIter

from . import planted_failures
from .modules_to_interrupt import CONTEXTS, ROWS, Case, network, settings

# --- executors -----------------------------------------------------------------------------------


def executor(grad_req: str = "write") -> Any:
    made = network().simple_bind(mx.cpu(), grad_req=grad_req, data=(ROWS, 2), kept=(ROWS, 2), softmax_label=(ROWS,))
    for number, array in enumerate(made.arg_arrays):
        array[:] = number + mx.nd.arange(array.size).reshape(array.shape) * 0.25
    made.forward(is_train=True)
    made.backward([mx.nd.ones((ROWS, 3)), mx.nd.ones((ROWS, 2))])
    return made


def see_executor(one: Any) -> Any:
    return {
        "arguments": [planted_failures.read(array) for array in one.arg_arrays],
        "states": [planted_failures.read(array) for array in one.aux_arrays],
        "outputs": [planted_failures.read(array) for array in one.outputs],
        "gradients": [planted_failures.read(array) for array in one.grad_arrays],
    }


def go_on_with_executor(one: Any) -> Any:
    one.forward(is_train=True)
    one.backward()
    return see_executor(one)


def executor_2(grad_req: str = "write") -> Any:
    given = dict(zip(network().list_arguments(), executor().arg_arrays, strict=True))
    kept = {name: mx.nd.ones(array.shape) for name, array in given.items()}
    aux = dict(zip(network().list_auxiliary_states(), executor().aux_arrays, strict=True))
    made = network()._bind(mx.cpu(), given, kept, grad_req, aux)
    made.kept = kept
    made.forward(is_train=True)
    made.backward()
    made.forward(is_train=True)
    return made


def see_executor_2(one: Any) -> Any:
    return {
        "arguments": [planted_failures.read(array) for array in one.arg_arrays],
        "states": [planted_failures.read(array) for array in one.aux_arrays],
        "outputs": [planted_failures.read(array) for array in one.outputs],
        "gradients": [planted_failures.read(array) for array in (*one.grad_arrays, *one.kept.values())],
    }


def go_on_with_executor_2(one: Any) -> Any:
    one.forward(is_train=True)
    one.backward()
    return see_executor_2(one)


def _executor(call: Callable[[Any], object], grad_req: str = "write") -> Case:
    return Case(lambda: executor(grad_req), call, see_executor, go_on_with_executor)


def _executor_2(call: Callable[[Any], object], grad_req: str = "write") -> Case:
    return Case(lambda: executor_2(grad_req), call, see_executor_2, go_on_with_executor_2)


GIVEN = {"data": np.ones((ROWS, 2), np.float32), "softmax_label": np.ones(ROWS, np.float32)}
EXECUTORS = {
    "forward": _executor(lambda e: e.forward(is_train=True, **GIVEN)),
    "backward": _executor(lambda e: e.backward()),
    "backward that adds": _executor(lambda e: e.backward(), "add"),
    "copy_params_from": _executor(lambda e: e.copy_params_from({"two_bias": mx.nd.ones(3), "one_bias": mx.nd.ones(2)})),
    "forward of 2.0": _executor_2(lambda e: e.forward(is_train=True, **GIVEN)),
    "backward of 2.0": _executor_2(lambda e: e.backward()),
    "backward of 2.0 that adds": _executor_2(lambda e: e.backward(), "add"),
    "copy_params_from of 2.0": _executor_2(
        lambda e: e.copy_params_from({"two_bias": mx.nd.ones(3), "one_bias": mx.nd.ones(2)})
    ),
}


# --- stores --------------------------------------------------------------------------------------

KEYS = ["a", "b", "c"]


def pushed(number: float = 1) -> list:
    return [[mx.nd.full(2, number + key, ctx) for ctx in CONTEXTS] for key in range(len(KEYS))]


def store(optimizer: bool = False, compressed: bool = False) -> Any:
    made = mx.kv.create("device")
    made.init(KEYS, [mx.nd.full(2, key) for key in range(len(KEYS))])
    if optimizer:
        made.set_optimizer(mx.optimizer.SGD(momentum=0.5, **{k: v for k, v in settings().items() if k != "momentum"}))
    if compressed:
        made.set_gradient_compression({"type": "2bit", "threshold": 1.5})
    made.out = pushed()
    made.push(KEYS, pushed())
    return made


def see_store(one: Any) -> Any:
    out = [[planted_failures.read(array) for array in arrays] for arrays in one.out]
    return {**planted_failures.stored(one), "out": out}


def go_on_with_store(one: Any) -> Any:
    one.pushpull(KEYS, pushed(2), out=one.out)
    return see_store(one)


def _store(call: Callable[[Any], object], optimizer: bool = False, compressed: bool = False) -> Case:
    return Case(lambda: store(optimizer, compressed), call, see_store, go_on_with_store)


STORES = {
    "push": _store(lambda s: s.push(KEYS, pushed())),
    "push to an optimizer": _store(lambda s: s.push(KEYS, pushed()), optimizer=True),
    "push of compressed arrays": _store(lambda s: s.push(KEYS, pushed()), compressed=True),
    "pushpull": _store(lambda s: s.pushpull(KEYS, pushed(), out=s.out), optimizer=True),
    "pushpull in place": _store(lambda s: s.pushpull(KEYS, s.out)),
    "replace": _store(lambda s: s.replace(KEYS, [mx.nd.ones(2)] * 3), optimizer=True),
    "set_optimizer": _store(lambda s: s.set_optimizer(mx.optimizer.Adam()), optimizer=True),
}


# --- iterators -----------------------------------------------------------------------------------


def arrays(**more: Any) -> mx.io.NDArrayIter:
    np.random.seed(3)  # where NDArrayIter draws
    made = mx.io.NDArrayIter({"x": np.arange(7.0), "y": np.arange(7.0)}, np.arange(7.0), batch_size=3, **more)
    made.next()
    return made


def see_iterator(one: Any) -> Any:
    """The rest of this epoch and one more. Looking moves on, so this comes last."""
    seen = []
    for _ in range(2):
        seen.append([[a.asnumpy().tolist() for a in (*b.data, *b.label)] for b in one])
        np.random.seed(4)
        one.reset()
    return seen


def aligned(one: Any) -> Any:
    """Of a shuffled epoch, that all arrays were shuffled alike and every row came."""
    epoch = [[a.asnumpy().tolist() for a in (*b.data, *b.label)] for b in one]
    found = [[row for parts in epoch for row in parts[i]] for i in range(3)]
    return found[0] == found[1] == found[2], sorted(set(found[0]))


def nothing(_: Any) -> Any:
    return None


def _next_or_not(one: Any) -> None:
    next(one, None)


def _iterator(make: Callable[[], Any], call: Callable[[Any], object]) -> Case:
    return Case(make, call, nothing, see_iterator, call is _next_or_not)


def prefetching() -> Any:
    return mx.io.PrefetchingIter([arrays(), arrays()], [{}, {"x": "u", "y": "v"}], [{}, {"softmax_label": "l"}])


def resized(**more: Any) -> Any:
    made = mx.io.ResizeIter(arrays(), 2, **more)
    made.next()
    return made


def sentences() -> Any:
    random.seed(3)
    np.random.seed(3)
    made = mx.rnn.BucketSentenceIter([[1, 2], [3, 4], [1, 2, 3], [4, 5, 6]] * 2, 2, buckets=[2, 3], invalid_label=0)
    made.next()
    return made


def rolling() -> Any:
    """On a last batch that is not full."""
    made = arrays(last_batch_handle="roll_over")
    made.next()
    next(made, None)
    return made


def shuffled_again(one: Any) -> Any:
    one.hard_reset()
    return aligned(one)


class Counted(RoundIter):
    """Row i holds i."""

    def __init__(self) -> None:
        super().__init__(3, 7, mx.io.DataDesc("data", (3,)), mx.io.DataDesc("label", (3,)))

    def _rows(self, rows):
        return np.array(rows), np.array(rows)


def rounds(batches: int = 1) -> Any:
    made = Counted()
    for _ in range(batches):
        made.next()
    return made


ITERATORS = {
    "next": _iterator(arrays, _next_or_not),
    "next into the last batch": _iterator(lambda: arrays(last_batch_handle="roll_over"), _next_or_not),
    "reset": _iterator(arrays, lambda i: i.reset()),
    "reset that rolls over": _iterator(rolling, lambda i: i.reset()),
    "reset that shuffles": Case(lambda: arrays(shuffle=True), lambda i: i.reset(), nothing, shuffled_again),
    "next of ResizeIter": _iterator(resized, _next_or_not),
    "next of ResizeIter that goes on": _iterator(lambda: resized(reset_internal=False), _next_or_not),
    "reset of ResizeIter": _iterator(resized, lambda i: i.reset()),
    "next of PrefetchingIter": _iterator(prefetching, _next_or_not),
    "reset of PrefetchingIter": _iterator(prefetching, lambda i: i.reset()),
    "next in rounds": _iterator(rounds, _next_or_not),
    "next into the next round": _iterator(lambda: rounds(2), _next_or_not),
    "reset of rounds": _iterator(lambda: rounds(3), lambda i: i.reset()),
    "next of BucketSentenceIter": _iterator(sentences, _next_or_not),
}
