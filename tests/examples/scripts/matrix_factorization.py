"""Factorise a matrix of ratings: a vector per user, a vector per item, their product is the rating.

The ratings come from a known model of low rank, with noise of known size added. So it is known how
good a prediction can be: its error cannot fall below the noise.

python matrix_factorization.py --epochs 12
"""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Sequence

import numpy as np

import refimpl as mx


def make_ratings(args: argparse.Namespace) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Who rated what, and how: products of hidden vectors, plus noise."""
    draw = np.random.RandomState(args.seed)
    users = draw.normal(size=(args.users, args.rank)) / np.sqrt(args.rank)
    items = draw.normal(size=(args.items, args.rank))
    user = draw.randint(0, args.users, args.ratings)
    item = draw.randint(0, args.items, args.ratings)
    score = (users[user] * items[item]).sum(axis=1) + draw.normal(scale=args.noise, size=args.ratings)
    return {"user": user.astype(np.float32), "item": item.astype(np.float32)}, score.astype(np.float32)


def get_symbol(args: argparse.Namespace) -> mx.sym.Symbol:
    user = mx.sym.Variable("user")
    item = mx.sym.Variable("item")
    score = mx.sym.Variable("score")
    user = mx.sym.Embedding(user, input_dim=args.users, output_dim=args.factors, name="user_factors")
    item = mx.sym.Embedding(item, input_dim=args.items, output_dim=args.factors, name="item_factors")
    predicted = mx.sym.sum(user * item, axis=1)
    return mx.sym.LinearRegressionOutput(mx.sym.Flatten(predicted), score, name="lro")


def main(arguments: Sequence[str] | None = None) -> tuple[float, float]:
    """Returns the root of the mean squared error on training and on held-out ratings."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--items", type=int, default=150)
    parser.add_argument("--ratings", type=int, default=16000)
    parser.add_argument("--rank", type=int, default=3, help="of the model that the ratings come from")
    parser.add_argument("--noise", type=float, default=0.1, help="standard deviation")
    parser.add_argument("--factors", type=int, default=4, help="numbers in a vector that is learnt")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--lr", type=float, default=0.05, help="learning rate")
    parser.add_argument("--lr-factor", type=float, default=0.75, help="what it is multiplied by each epoch")
    parser.add_argument("--seed", type=int, default=3)
    args = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)-15s %(message)s")
    np.random.seed(args.seed)
    mx.random.seed(args.seed)

    ids, score = make_ratings(args)
    split = args.ratings * 9 // 10
    train = mx.io.NDArrayIter(
        {name: values[:split] for name, values in ids.items()}, {"score": score[:split]},
        args.batch_size, shuffle=True,
    )
    held_out = mx.io.NDArrayIter(
        {name: values[split:] for name, values in ids.items()}, {"score": score[split:]}, args.batch_size
    )
    module = mx.mod.Module(
        get_symbol(args), data_names=["user", "item"], label_names=["score"],
        context=[mx.cpu(0), mx.cpu(1)],
    )
    start = time.time()
    module.fit(
        train,
        eval_data=held_out,
        eval_metric="rmse",
        optimizer="adam",
        optimizer_params={
            "learning_rate": args.lr,
            "lr_scheduler": mx.lr_scheduler.FactorScheduler(
                split // args.batch_size, args.lr_factor, base_lr=args.lr
            ),
        },
        initializer=mx.init.Normal(0.3),
        num_epoch=args.epochs,
        batch_end_callback=mx.callback.Speedometer(args.batch_size, 50),
    )
    logging.info("trained for %.2f seconds", time.time() - start)

    metric = mx.metric.create("mse")
    errors = []
    for name, data in (("training", train), ("held-out", held_out)):
        data.reset()
        errors.append(float(np.sqrt(dict(module.score(data, metric))["mse"])))
        logging.info("error on %s ratings: %.4f (noise: %.4f)", name, errors[-1], args.noise)
    return errors[0], errors[1]


if __name__ == "__main__":
    main()
