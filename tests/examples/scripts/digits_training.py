"""What the two digits scripts share: options, data and the call of fit."""

from __future__ import annotations

import argparse
import gzip
import logging
import struct
import time
from pathlib import Path

import numpy as np

import refimpl as mx

PACKAGED = Path(mx.__file__).parent / "data"


def options(description: str, **defaults: object) -> argparse.ArgumentParser:
    """The options of a training script; ``defaults`` replaces some of their defaults."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=PACKAGED, help="folder with the files of digits")
    parser.add_argument("--epochs", type=int, default=10, help="the epoch to stop after")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.1, help="learning rate")
    parser.add_argument("--lr-factor", type=float, default=0.5, help="what the rate is multiplied by")
    parser.add_argument("--lr-step-epochs", default="8", help="the epochs at which it is, as in 4,8")
    parser.add_argument("--mom", type=float, default=0.9, help="momentum")
    parser.add_argument("--wd", type=float, default=1e-4, help="weight decay")
    parser.add_argument("--cpus", type=int, default=2, help="number of contexts on the processor")
    parser.add_argument("--gpus", help="the graphics cards to use instead, as in 0,1")
    parser.add_argument("--kv-store", default="local", help="where gradients meet")
    parser.add_argument("--disp-batches", type=int, default=10, help="log every so many batches")
    parser.add_argument("--model-prefix", help="save a checkpoint after each epoch under this name")
    parser.add_argument("--load-epoch", type=int, help="go on from the checkpoint of this epoch")
    parser.add_argument("--seed", type=int, default=1)
    parser.set_defaults(**defaults)
    return parser


def read_idx(path: Path) -> np.ndarray:
    """An array from a file in the format of MNIST."""
    with gzip.open(path, "rb") as stream:
        rank = struct.unpack(">I", stream.read(4))[0] % 256
        shape = struct.unpack(f">{rank}I", stream.read(4 * rank))
        return np.frombuffer(stream.read(), np.uint8).reshape(shape)


def iterators(args: argparse.Namespace) -> tuple[mx.io.NDArrayIter, mx.io.NDArrayIter]:
    """Training data, shuffled, and held-out data."""
    images = read_idx(args.data / "digits-images-idx3-ubyte.gz").astype(np.float32)[:, None] / 16
    labels = read_idx(args.data / "digits-labels-idx1-ubyte.gz").astype(np.float32)
    order = np.random.RandomState(0).permutation(len(images))
    first, last = order[:-360], order[-360:]
    train = mx.io.NDArrayIter(images[first], labels[first], args.batch_size, shuffle=True)
    return train, mx.io.NDArrayIter(images[last], labels[last], args.batch_size)


def schedule(args: argparse.Namespace, batches: int) -> tuple[float, mx.lr_scheduler.LRScheduler | None]:
    """The rate to begin with, and a scheduler for what is left, also when training is resumed."""
    done = args.load_epoch or 0
    epochs = [int(epoch) for epoch in args.lr_step_epochs.split(",") if epoch]
    rate = args.lr * args.lr_factor ** sum(epoch <= done for epoch in epochs)
    steps = [batches * (epoch - done) for epoch in epochs if epoch > done]
    if not steps:
        return rate, None
    return rate, mx.lr_scheduler.MultiFactorScheduler(steps, args.lr_factor, base_lr=rate)


def contexts(args: argparse.Namespace) -> list[mx.Context]:
    if args.gpus:
        return [mx.gpu(int(index)) for index in args.gpus.split(",")]
    return [mx.cpu(index) for index in range(args.cpus)]


def fit(args: argparse.Namespace, network: mx.sym.Symbol) -> float:
    """Train the network, from scratch or from a checkpoint. Returns the accuracy on held-out data."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)-15s %(message)s")
    logging.info("start with arguments %s", args)
    np.random.seed(args.seed)
    mx.random.seed(args.seed)
    train, held_out = iterators(args)
    rate, scheduler = schedule(args, -(-train.num_data // args.batch_size))

    arg_params = aux_params = None
    if args.load_epoch is not None:
        saved, arg_params, aux_params = mx.model.load_checkpoint(args.model_prefix, args.load_epoch)
        assert saved.tojson() == network.tojson(), "the checkpoint is that of another network"
        logging.info("loaded model %s-%04d.params", args.model_prefix, args.load_epoch)

    module = mx.mod.Module(network, context=contexts(args))
    start = time.time()
    module.fit(
        train,
        eval_data=held_out,
        eval_metric=["accuracy", mx.metric.create("ce")],
        kvstore=mx.kvstore.create(args.kv_store),
        optimizer="sgd",
        optimizer_params={
            "learning_rate": rate, "momentum": args.mom, "wd": args.wd, "lr_scheduler": scheduler,
        },
        initializer=mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2),
        arg_params=arg_params,
        aux_params=aux_params,
        begin_epoch=args.load_epoch or 0,
        num_epoch=args.epochs,
        batch_end_callback=mx.callback.Speedometer(args.batch_size, args.disp_batches),
        epoch_end_callback=mx.callback.do_checkpoint(args.model_prefix) if args.model_prefix else None,
    )
    logging.info("trained for %.2f seconds", time.time() - start)

    confusion = np.zeros((10, 10), int)
    for outputs, batch_index, batch in module.iter_predict(held_out):
        rows = outputs[0].shape[0]
        guesses = outputs[0].asnumpy().argmax(axis=1)
        np.add.at(confusion, (batch.label[0].asnumpy()[:rows].astype(int), guesses), 1)
        logging.debug("batch %d holds %d digits", batch_index, rows)
    accuracy = confusion.trace() / confusion.sum()
    logging.info("digits (rows) and what they were taken for (columns):\n%s", confusion)
    logging.info("accuracy on %d held-out digits: %.4f", confusion.sum(), accuracy)
    return float(accuracy)
