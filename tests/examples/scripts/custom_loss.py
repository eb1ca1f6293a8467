"""Losses of one's own: a softmax written in NumPy as an operator of the graph, and a hinge loss as a module after it.

    python tests/examples/scripts/custom_loss.py --epochs 8

The operator is an mx.operator.CustomOp; the module is an mx.mod.PythonLossModule at the end of a SequentialModule.
"""

from __future__ import annotations

import argparse
import gzip
import logging
import struct
from pathlib import Path

import numpy as np

import refimpl as mx

DIGITS = Path(mx.__file__).parent / "data"
TRAINING = 1437


class Softmax(mx.operator.CustomOp):
    """Probabilities forward; their gradient under cross-entropy backward."""

    def forward(self, is_train, req, in_data, out_data, aux):
        scores = in_data[0].asnumpy()
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        self.assign(out_data[0], req[0], mx.nd.array(powers / powers.sum(axis=1, keepdims=True)))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        label = in_data[1].asnumpy().ravel().astype(int)
        gradient = out_data[0].asnumpy()
        gradient[np.arange(len(label)), label] -= 1.0
        self.assign(in_grad[0], req[0], mx.nd.array(gradient))


@mx.operator.register("numpy_softmax")
class SoftmaxProp(mx.operator.CustomOpProp):
    """A loss of scores (batch, classes) and labels (batch,): nothing after it has a gradient for it."""

    def __init__(self):
        super().__init__(need_top_grad=False)

    def list_arguments(self):
        return ["data", "label"]

    def list_outputs(self):
        return ["output"]

    def infer_shape(self, in_shape):
        return [in_shape[0], [in_shape[0][0]]], [in_shape[0]], []

    def infer_type(self, in_type):
        return [in_type[0]] * 2, [in_type[0]], []

    def create_operator(self, ctx, shapes, dtypes):
        return Softmax()


def hinge_gradient(scores: mx.nd.NDArray, labels: mx.nd.NDArray) -> np.ndarray:
    """The slope of max(0, 1 + best other score - score of the label), by score."""
    scores, labels = scores.asnumpy(), labels.asnumpy().astype(int)
    rows = np.arange(len(labels))
    margins = 1.0 + scores - scores[rows, labels][:, None]
    margins[rows, labels] = 0.0
    worst = margins.argmax(axis=1)
    short = (margins[rows, worst] > 0).astype(np.float32)
    gradient = np.zeros_like(scores)
    gradient[rows, worst] += short
    gradient[rows, labels] -= short
    return gradient


def make_scores() -> mx.sym.Symbol:
    """Two layers; ten scores for an image."""
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=64, name="fc1")
    net = mx.sym.Activation(net, act_type="relu", name="relu1")
    return mx.sym.FullyConnected(net, num_hidden=10, name="fc2")


def read_digits(batch_size: int) -> tuple:
    """Iterators over training and held-out digits, from files in the format of MNIST."""
    with gzip.open(DIGITS / "digits-labels-idx1-ubyte.gz") as file:
        struct.unpack(">II", file.read(8))
        label = np.frombuffer(file.read(), dtype=np.int8).astype(np.float32)
    with gzip.open(DIGITS / "digits-images-idx3-ubyte.gz") as file:
        _, count, rows, columns = struct.unpack(">IIII", file.read(16))
        image = np.frombuffer(file.read(), dtype=np.uint8).reshape(count, rows * columns).astype(np.float32) / 16
    order = np.random.RandomState(0).permutation(count)
    train, held_out = order[:TRAINING], order[TRAINING:]
    return (
        mx.io.NDArrayIter(image[train], label[train], batch_size, last_batch_handle="discard"),
        mx.io.NDArrayIter(image[held_out], label[held_out], batch_size),
    )


def softmax_module(built_in: bool) -> mx.mod.Module:
    """The net with the operator above, or with the one that comes with the library."""
    label = mx.sym.Variable("softmax_label")
    if built_in:
        return mx.mod.Module(mx.sym.SoftmaxOutput(make_scores(), label, name="softmax"))
    return mx.mod.Module(mx.sym.Custom(make_scores(), label, name="softmax", op_type="numpy_softmax"))


def hinge_module() -> mx.mod.SequentialModule:
    """The net without a loss, and a module that knows only the slope of one."""
    chain = mx.mod.SequentialModule()
    chain.add(mx.mod.Module(make_scores(), label_names=None))
    chain.add(mx.mod.PythonLossModule(grad_func=hinge_gradient), take_labels=True, auto_wiring=True)
    return chain


def main(arguments: list | None = None) -> dict:
    """Train with each loss; return the accuracies on held-out digits and the weights of the two softmax nets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--learning-rate", type=float, default=0.2)
    args = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO)

    modules = {"custom": softmax_module(False), "built in": softmax_module(True), "hinge": hinge_module()}
    found = {}
    for name, module in modules.items():
        logging.info("Loss: %s", name)
        mx.random.seed(0)
        train_iter, held_out = read_digits(args.batch_size)
        module.fit(
            train_iter, eval_data=held_out, eval_metric="acc", num_epoch=args.epochs, optimizer="sgd",
            optimizer_params={"learning_rate": args.learning_rate, "momentum": 0.5},
            initializer=mx.init.Xavier(),
        )
        found[name] = module.score(held_out, mx.metric.Accuracy())[0][1]
    weights = [module.get_params()[0]["fc1_weight"].asnumpy() for module in list(modules.values())[:2]]
    return {**found, "difference": float(np.abs(weights[0] - weights[1]).max())}


if __name__ == "__main__":
    main()
