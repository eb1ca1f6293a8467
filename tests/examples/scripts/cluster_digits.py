"""Train the digits on a cluster, and kill a server in the middle.

python cluster_digits.py --workers 4 --servers 2 --epochs 5          a simulated cluster
refimpl launch -n 4 -s 2 cluster_digits.py --epochs 5                real processes, for you to kill

On the simulated cluster it trains three times: dist_sync in peace; dist_sync on a bad network where server 0 dies after
a third of the batches; dist_async on the same bad network. The first two end with the same weights, bit for bit. In the
third the weather decides in which order gradients are applied; but none is lost, and all workers end with the same
weights. On real processes it trains once, with dist_sync, and ends with the weights of the first two.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import os
from collections.abc import Callable, Sequence
from typing import Any

import digits_training
import mlp_digits
import numpy as np

import refimpl as mx

Weights = dict[str, np.ndarray]


def part(worker: int, workers: int, batch_size: int) -> tuple[mx.io.NDArrayIter, mx.io.NDArrayIter]:
    """A worker's share of the training data, and all of the held-out data."""
    images = digits_training.read_idx(digits_training.PACKAGED / "digits-images-idx3-ubyte.gz")
    labels = digits_training.read_idx(digits_training.PACKAGED / "digits-labels-idx1-ubyte.gz").astype(np.float32)
    inputs = images.astype(np.float32)[:, None] / 16
    order = np.random.RandomState(0).permutation(len(inputs))
    last = order[-360:]
    rows = len(order[:-360]) // (workers * batch_size) * workers * batch_size
    mine = order[:rows][worker::workers]
    return (
        mx.io.NDArrayIter(inputs[mine], labels[mine], batch_size),
        mx.io.NDArrayIter(inputs[last], labels[last], 60),
    )


def train(store: Any, args: argparse.Namespace, after_batch: Callable[[int], None]) -> tuple[Weights, float]:
    """What each worker does: an ordinary ``fit`` with the store that it was given."""
    mx.random.seed(args.seed)
    np.random.seed(args.seed)
    batches, held_out = part(store.rank, store.num_workers, args.batch_size)
    module = mx.mod.Module(mlp_digits.get_symbol(), context=mx.cpu())
    counter = iter(range(10**9))
    module.fit(
        batches, eval_metric="acc", kvstore=store, optimizer="sgd", num_epoch=args.epochs,
        optimizer_params={"learning_rate": args.lr, "momentum": args.mom},
        initializer=mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2),
        batch_end_callback=lambda _: after_batch(next(counter)),
    )
    store._barrier()
    names = sorted(module.get_params()[0])
    final = {name: mx.nd.zeros(module.get_params()[0][name].shape) for name in names}
    for name in names:
        store.pull(name, out=final[name])
    module.set_params(final, {})
    return {name: array.asnumpy() for name, array in final.items()}, module.score(held_out, "acc")[0][1]


def story(cluster: mx.kv.SimulatedCluster) -> str:
    """What went wrong in a cluster, in numbers."""
    actions = [event.action for event in cluster.events]
    what = ("drop", "duplicate", "again", "crash", "restart")
    return ", ".join(f"{actions.count(action)} {action}" for action in what)


def same(one: Weights, other: Weights) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in one)


def digest(weights: Weights) -> str:
    """The bits of all weights, as sixteen letters."""
    return hashlib.sha256(b"".join(weights[name].tobytes() for name in sorted(weights))).hexdigest()[:16]


def launched(args: argparse.Namespace) -> dict[str, Any]:
    """One worker of a cluster of real processes: this program runs in each of them."""
    store = mx.kv.create("dist_sync")
    weights, accuracy = train(store, args, lambda _: None)
    print(f"worker {store.rank}: accuracy {accuracy:.4f}, weights {digest(weights)}", flush=True)
    return {"peace": weights, "peace accuracy": accuracy}


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=16, help="of one worker")
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--mom", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args(arguments)
    logging.basicConfig(level=logging.WARNING)
    if os.environ.get("DMLC_ROLE") == "worker":  # as `refimpl launch` tells a worker's process
        return launched(args)

    found: dict[str, Any] = {}
    storm = mx.kv.Faults(drops=50, duplicates=50, crashes=2)
    steps = args.epochs * (len(part(0, args.workers, args.batch_size)[0].data[0][1]) // args.batch_size)
    for name, kind, faults in (
        ("peace", "dist_sync", False), ("killed", "dist_sync", storm), ("async", "dist_async", storm),
    ):
        cluster = mx.kv.simulate(args.workers, args.servers, seed=args.seed, faults=faults)

        def kill(batch: int, cluster: mx.kv.SimulatedCluster = cluster, name: str = name) -> None:
            if name != "peace" and batch == steps // 3:
                cluster.crash(0)

        def work(store: Any, kill: Callable[[int], None] = kill) -> tuple[Weights, float]:
            return train(store, args, kill if store.rank == 0 else lambda _: None)

        results = cluster.run(work, kind)
        weights = [weights for weights, _ in results]
        found[name] = weights[0]
        found[f"{name} accuracy"] = results[0][1]
        found[f"{name} alike"] = all(same(weights[0], other) for other in weights)
        applied = {part.version for state in cluster.states for part in state.tables[0].parts.values()}
        found[f"{name} applied"] = applied
        print(f"{kind:<11} {name:<7} accuracy {results[0][1]:.4f}, updates of each weight {applied}, {story(cluster)}")
        print(f"{'':<19} all workers have the same weights: {found[f'{name} alike']}, {digest(weights[0])}")
    found["as in peace"] = same(found["peace"], found["killed"])
    print(f"dist_sync ends with the same weights whether a server dies or not: {found['as in peace']}")
    return found


if __name__ == "__main__":
    main()
