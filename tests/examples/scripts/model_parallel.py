"""One model on two devices: the layers of a stacked LSTM in groups of their own, which are then placed.

    python tests/examples/scripts/model_parallel.py --epochs 6

The net reads a sequence of symbols and says at each step which symbol came some steps before. Where a layer is placed
changes nothing in the numbers: the script trains on one device and on two, and compares.
"""

from __future__ import annotations

import argparse
import logging

import numpy as np

import refimpl as mx

SYMBOLS = 6


def make_net(layers: int, hidden: int, steps: int) -> mx.sym.Symbol:
    """The embedding belongs to the first layer's group, the classifier to the last one's."""
    with mx.AttrScope(ctx_group="layer0"):
        data = mx.sym.Variable("data")
        net = mx.sym.Embedding(data, input_dim=SYMBOLS, output_dim=hidden, name="embed")
    for layer in range(layers):
        with mx.AttrScope(ctx_group="layer%d" % layer):
            cell = mx.rnn.LSTMCell(num_hidden=hidden, prefix="lstm%d_" % layer)
            net, _ = cell.unroll(steps, inputs=net, layout="NTC", merge_outputs=True)
    with mx.AttrScope(ctx_group="layer%d" % (layers - 1)):
        net = mx.sym.Reshape(net, shape=(-1, hidden))
        net = mx.sym.FullyConnected(net, num_hidden=SYMBOLS, name="classifier")
        label = mx.sym.Reshape(mx.sym.Variable("softmax_label"), shape=(-1,))
        return mx.sym.SoftmaxOutput(net, label, name="softmax")


def make_sequences(count: int, steps: int, delay: int) -> tuple:
    """Random symbols, and the same ``delay`` steps later (the first ``delay`` answers are symbol 0)."""
    data = np.random.RandomState(3).randint(SYMBOLS, size=(count, steps))
    label = np.zeros_like(data)
    label[:, delay:] = data[:, :-delay]
    return data, label


def train(args: argparse.Namespace, places: list) -> tuple:
    """Train with the layers spread over ``places``; return the validation accuracy and the parameters."""
    data, label = make_sequences(args.samples, args.steps, args.delay)
    cut = args.samples * 3 // 4
    train_iter = mx.io.NDArrayIter(data[:cut], label[:cut], args.batch_size)
    validation_iter = mx.io.NDArrayIter(data[cut:], label[cut:], args.batch_size)

    group2ctxs = {"layer%d" % layer: [places[layer % len(places)]] for layer in range(args.layers)}
    logging.info("Placed: %s", {group: str(contexts[0]) for group, contexts in sorted(group2ctxs.items())})
    mx.random.seed(0)
    module = mx.mod.Module(
        make_net(args.layers, args.hidden, args.steps), context=[places[0]], group2ctxs=group2ctxs
    )
    module.fit(
        train_iter, eval_data=validation_iter, eval_metric="acc", optimizer="adam", initializer=mx.init.Xavier(),
        optimizer_params={"learning_rate": args.learning_rate, "clip_gradient": 5.0}, num_epoch=args.epochs,
        batch_end_callback=mx.callback.Speedometer(args.batch_size, 20),
    )
    accuracy = module.score(validation_iter, "acc")[0][1]
    arrays = module._exec_group.execs[0].arg_dict
    homes = {name: str(array.context) for name, array in arrays.items()}
    return accuracy, {name: value.asnumpy() for name, value in module.get_params()[0].items()}, homes


def main(arguments: list | None = None) -> dict:
    """Train twice; return both accuracies, the largest difference of a weight, and where each array was."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--delay", type=int, default=2)
    parser.add_argument("--samples", type=int, default=2048)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=0.02)
    args = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO)

    one, params, _ = train(args, [mx.cpu(0)])
    two, others, homes = train(args, [mx.cpu(0), mx.cpu(1)])
    difference = max(float(np.abs(params[name] - others[name]).max()) for name in params)
    logging.info("Accuracy %.3f on one device, %.3f on two; largest difference %g", one, two, difference)
    return {"one": one, "two": two, "difference": difference, "homes": homes}


if __name__ == "__main__":
    main()
