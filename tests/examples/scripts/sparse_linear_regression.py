"""Linear regression on sparse data: LibSVM file, csr batches, and a weight of which only the rows in use move.

    python tests/examples/scripts/sparse_linear_regression.py --epochs 10
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile

import numpy as np

import refimpl as mx

NOISE = 0.1  # standard deviation of what no model can predict


def write_libsvm(path: str, samples: int, features: int, seed: int) -> None:
    """A seeded model of which one weight in four is not zero; each sample has ten features, often the first ones."""
    model = np.random.RandomState(0)
    weight = model.uniform(-1, 1, features) * (model.uniform(size=features) < 0.25)
    random = np.random.RandomState(seed)
    with open(path, "w") as file:
        for _ in range(samples):
            columns = np.unique((features * random.uniform(size=10) ** 2).astype(int))
            values = random.uniform(-1, 1, len(columns)).round(4)
            label = 0.5 + values.dot(weight[columns]) + NOISE * random.normal()
            pairs = ["%d:%g" % pair for pair in zip(columns, values)]
            file.write("%.6f %s\n" % (label, " ".join(pairs)))


def regression_model(features: int) -> mx.sym.Symbol:
    """Predict data . weight + bias."""
    data = mx.sym.Variable("data", stype="csr")
    weight = mx.sym.Variable("weight", shape=(features, 1), init=mx.init.Normal(0.01), stype="row_sparse")
    bias = mx.sym.Variable("bias", shape=(1,), init=mx.init.Zero())
    prediction = mx.sym.broadcast_add(mx.sym.sparse.dot(data, weight), bias)
    return mx.sym.LinearRegressionOutput(data=prediction, label=mx.sym.Variable("label"), name="regression")


def rows_in_use(batch: mx.io.DataBatch) -> dict:
    """The rows of the weight that a batch reads: the columns of its features."""
    return {"weight": batch.data[0].indices}


def main(arguments: list | None = None) -> dict:
    """Train; return the mean squared errors before and after, and which rows of the weight have moved."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--features", type=int, default=500)
    parser.add_argument("--learning-rate", type=float, default=0.1)
    parser.add_argument("--optimizer", default="adagrad")
    parser.add_argument("--kvstore", default="local")
    args = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO)

    with tempfile.TemporaryDirectory() as folder:
        iterators = []
        for name, samples, seed in (("train", args.samples, 1), ("test", 500, 2)):
            path = os.path.join(folder, name + ".libsvm")
            write_libsvm(path, samples, args.features, seed)
            iterators.append(mx.io.LibSVMIter(
                data_libsvm=path, data_shape=(args.features,), batch_size=args.batch_size, data_name="data",
                label_name="label",
            ))
        return train(args, *iterators)


def train(args: argparse.Namespace, train_iter: mx.io.DataIter, test_iter: mx.io.DataIter) -> dict:
    """The loop, step by step, as it is needed where rows are pulled from a store."""
    mx.random.seed(0)
    module = mx.mod.Module(regression_model(args.features), data_names=["data"], label_names=["label"])
    module.bind(data_shapes=train_iter.provide_data, label_shapes=train_iter.provide_label)
    module.init_params()
    start = module.get_params()[0]["weight"].tostype("default").asnumpy()
    module.init_optimizer(
        kvstore=mx.kv.create(args.kvstore), optimizer=args.optimizer,
        optimizer_params={"learning_rate": args.learning_rate},
    )

    metric = mx.metric.create("mse")
    before = module.score(test_iter, metric, sparse_row_id_fn=rows_in_use)[0][1]
    logging.info("Before: test mse=%.4f", before)
    seen = set()
    for epoch in range(args.epochs):
        metric.reset()
        for batch in train_iter:
            module.prepare(batch, sparse_row_id_fn=rows_in_use)
            module.forward_backward(batch)
            module.update()
            module.update_metric(metric, batch.label)
            seen.update(batch.data[0].indices.asnumpy().astype(int).tolist())
        after = module.score(test_iter, mx.metric.create("mse"), sparse_row_id_fn=rows_in_use)[0][1]
        train_iter.reset()
        logging.info("Epoch[%d] train mse=%.4f, test mse=%.4f", epoch, metric.get()[1], after)

    weight = module.get_params()[0]["weight"].tostype("default").asnumpy()
    moved = set(np.flatnonzero(weight != start).tolist())
    logging.info("%d of %d rows seen, %d moved", len(seen), args.features, len(moved))
    return {
        "before": before, "after": after, "seen": seen, "moved": moved,
        "bias": float(module.get_params()[0]["bias"].asscalar()),
    }


if __name__ == "__main__":
    main()
