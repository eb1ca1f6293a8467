"""Pushes and pulls that can be told apart: `refimpl launch -n 2 -s 2 histories_to_launch.py SEED PUSHES SECONDS`.

Each worker of a dist_async store pushes tags, pulls and meets the others at barriers, in an order drawn from SEED, and
prints what it did as lines of a history (spec/reference/stores/histories.md). One step takes SECONDS at least.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable

import refimpl as mx
from refimpl import ndarray as nd
from refimpl.kvstore.histories import History

ROWS = {"a": 1, "c": 1, "b": 1, "split": 2}
"""The keys, and how many rows each has; those of the last are on two servers."""
WORKERS = 2


def worked(store, seed: int, pushes: int, pause: Callable[[int], None]) -> History:
    """What a worker did, and what its pulls gave; ``pause`` is called after each push with its number."""
    history, drawn = History(WORKERS, pushes), random.Random(1000 * seed + store.rank)
    store.set_optimizer(mx.optimizer.create("test", rescale_grad=1.0))
    for key, rows in ROWS.items():
        store.init(key, nd.zeros((rows, history.width)))
    for number in range(pushes):
        key = drawn.choice(list(ROWS))
        store.push(key, nd.array(history.push(store.rank, key, ROWS[key])))
        for other in {drawn.choice(list(ROWS)), key} if drawn.random() < 0.6 else ():
            held = nd.zeros((ROWS[other], history.width))
            store.pull(other, out=held)
            history.pull(store.rank, other, held.asnumpy())
        if number % 10 == 9:
            store._barrier()
            history.barrier(store.rank)
        pause(number)
    return history


if __name__ == "__main__":
    os.environ["MXNET_KVSTORE_BIGARRAY_BOUND"] = str(2 * WORKERS * int(sys.argv[2]))  # as many as "split" has
    made = mx.kv.create("dist_async")
    told = worked(made, int(sys.argv[1]), int(sys.argv[2]), lambda _: time.sleep(float(sys.argv[3])))
    for line in told.text().splitlines():
        print("HISTORY", line, flush=True)
