"""Two modules against each other: a generator learns points on a ring from the gradients of a discriminator.

    python tests/examples/scripts/gan_pair.py --epochs 10

The discriminator is bound with inputs_need_grad=True; what it says about the points that it was given becomes the
head gradient of the generator that made them.
"""

from __future__ import annotations

import argparse
import logging

import numpy as np

import refimpl as mx

MODES, WIDTH = 8, 0.1  # clusters around the unit circle, and their standard deviation


def real_points(random: np.random.RandomState, count: int) -> np.ndarray:
    """Points of eight clusters on the unit circle, shape (count, 2)."""
    angles = 2 * np.pi * random.randint(MODES, size=count) / MODES
    return np.stack([np.cos(angles), np.sin(angles)], axis=1) + WIDTH * random.normal(size=(count, 2))


def make_generator(hidden: int) -> mx.sym.Symbol:
    """Noise to points."""
    net = mx.sym.FullyConnected(mx.sym.Variable("rand"), num_hidden=hidden, name="g1")
    net = mx.sym.Activation(net, act_type="tanh", name="gact1")
    net = mx.sym.FullyConnected(net, num_hidden=hidden, name="g2")
    net = mx.sym.Activation(net, act_type="tanh", name="gact2")
    return mx.sym.FullyConnected(net, num_hidden=2, name="gout")


def make_discriminator(hidden: int) -> mx.sym.Symbol:
    """Points to the probability that they are real."""
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=hidden, name="d1")
    net = mx.sym.LeakyReLU(net, act_type="leaky", slope=0.2, name="dact1")
    net = mx.sym.FullyConnected(net, num_hidden=hidden, name="d2")
    net = mx.sym.LeakyReLU(net, act_type="leaky", slope=0.2, name="dact2")
    net = mx.sym.FullyConnected(net, num_hidden=1, name="d3")
    return mx.sym.LogisticRegressionOutput(net, mx.sym.Variable("label"), name="dloss")


def distance_to_ring(points: np.ndarray) -> float:
    """Mean distance between each point and the nearest centre of a cluster."""
    angles = 2 * np.pi * np.arange(MODES) / MODES
    centres = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return float(np.sqrt(((points[:, None] - centres) ** 2).sum(axis=2)).min(axis=1).mean())


def main(arguments: list | None = None) -> dict:
    """Train; return how far generated points are from the clusters before and after, and how many they reach."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batches", type=int, default=100, help="batches in an epoch")
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--noise", type=int, default=8, help="random numbers behind each point")
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=0.002)
    parser.add_argument("--contexts", type=int, default=1, help="devices that share each batch")
    args = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO)

    mx.random.seed(5)
    random = np.random.RandomState(5)
    contexts = [mx.cpu(number) for number in range(args.contexts)]
    adam = {"learning_rate": args.learning_rate, "beta1": 0.5}
    noise = mx.io.DataDesc("rand", (args.batch_size, args.noise))
    points = mx.io.DataDesc("data", (args.batch_size, 2))

    generator = mx.mod.Module(make_generator(args.hidden), data_names=["rand"], label_names=None, context=contexts)
    generator.bind(data_shapes=[noise])
    generator.init_params(initializer=mx.init.Xavier())
    generator.init_optimizer(optimizer="adam", optimizer_params=adam)

    discriminator = mx.mod.Module(
        make_discriminator(args.hidden), data_names=["data"], label_names=["label"], context=contexts
    )
    discriminator.bind(
        data_shapes=[points], label_shapes=[("label", (args.batch_size, 1))], inputs_need_grad=True
    )
    discriminator.init_params(initializer=mx.init.Xavier())
    discriminator.init_optimizer(optimizer="adam", optimizer_params=adam)

    def draw() -> mx.io.DataBatch:
        return mx.io.DataBatch([mx.nd.array(random.normal(size=noise.shape))], [])

    def sample() -> np.ndarray:
        parts = []
        for _ in range(4):
            generator.forward(draw(), is_train=False)
            parts.append(generator.get_outputs()[0].asnumpy())
        return np.concatenate(parts)

    false, true = mx.nd.zeros((args.batch_size, 1)), mx.nd.ones((args.batch_size, 1))
    accuracy = mx.metric.CustomMetric(lambda label, pred: ((pred > 0.5) == label).mean(), name="facc")
    before = distance_to_ring(sample())
    logging.info("Before: %.3f from the ring", before)
    for epoch in range(args.epochs):
        accuracy.reset()
        for _ in range(args.batches):
            generator.forward(draw(), is_train=True)
            made = generator.get_outputs()

            # the discriminator sees generated points, then real ones, and steps along both gradients
            discriminator.forward(mx.io.DataBatch(made, [false]), is_train=True)
            discriminator.backward()
            gradients = [[array.copy() for array in copies] for copies in discriminator._exec_group.grad_arrays]
            discriminator.update_metric(accuracy, [false])
            discriminator.forward(
                mx.io.DataBatch([mx.nd.array(real_points(random, args.batch_size))], [true]), is_train=True
            )
            discriminator.backward()
            for copies, others in zip(discriminator._exec_group.grad_arrays, gradients):
                for array, other in zip(copies, others):
                    array[:] = array + other
            discriminator.update()
            discriminator.update_metric(accuracy, [true])

            # the generator moves its points to where they pass for real
            discriminator.forward(mx.io.DataBatch(made, [true]), is_train=True)
            discriminator.backward()
            generator.backward(discriminator.get_input_grads())
            generator.update()
        after = distance_to_ring(sample())
        logging.info("Epoch[%d] %s=%.3f, %.3f from the ring", epoch, *accuracy.get(), after)

    final = sample()
    angles = np.round(np.arctan2(final[:, 1], final[:, 0]) * MODES / (2 * np.pi)).astype(int) % MODES
    radius = np.sqrt((final ** 2).sum(axis=1))
    return {
        "before": before, "after": after, "accuracy": accuracy.get()[1], "modes": set(angles[radius > 0.5].tolist()),
        "radius": float(radius.mean()),
    }


if __name__ == "__main__":
    main()
