"""SVRG against SGD where the optimum is known: logistic regression with weight decay on the digits.

    python svrg_digits.py --passes 30 --plot gaps.svg

Ten classes, 1,437 images of 64 pixels and a column of ones, no other bias. What is minimised is the mean cross-entropy
and half the decay times the squared weights, which is strongly convex; Newton's method finds its optimum. Rows are
drawn with replacement, as theory has it. A pass is as many gradients of single rows as there are rows: an epoch costs
SGD one, and SVRG three, one for the full gradient and two for the steps. All in float64.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

import refimpl as mx

BATCH, RATE, DECAY = 8, 3 / 8, 1 / 64
Gaps = list[tuple[int, float]]


class Problem:
    """The objective and its optimum, in NumPy."""

    def __init__(self, rows: int) -> None:
        images, labels, _, _ = mx.data.digits()
        pixels = images[:rows].reshape(len(images[:rows]), -1).astype(np.float64)
        self.data = np.c_[pixels, np.ones(len(pixels))]
        self.labels = labels[:rows].astype(np.float64)
        self.answers = np.eye(10)[self.labels.astype(int)]
        self.optimum = self.newton()
        self.best = self.objective(self.optimum)

    def log_probabilities(self, weights: np.ndarray) -> np.ndarray:
        scores = self.data @ weights.T
        scores = scores - scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def objective(self, weights: np.ndarray) -> float:
        lost = -(self.answers * self.log_probabilities(weights)).sum() / len(self.data)
        return float(lost + DECAY / 2 * (weights**2).sum())

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        wrong = np.exp(self.log_probabilities(weights)) - self.answers
        return wrong.T @ self.data / len(self.data) + DECAY * weights

    def newton(self) -> np.ndarray:
        """The weights, of shape (10, 65), at which the gradient is zero."""
        weights = np.zeros((10, self.data.shape[1]))
        size = self.data.shape[1]
        for _ in range(20):
            chance = np.exp(self.log_probabilities(weights))
            scaled = (chance[:, :, None] * self.data[:, None, :]).reshape(len(self.data), weights.size)
            matrix = DECAY * np.eye(weights.size) - scaled.T @ scaled / len(self.data)
            for kind in range(10):
                own = slice(kind * size, (kind + 1) * size)
                matrix[own, own] += scaled[:, own].T @ self.data / len(self.data)
            step = np.linalg.solve(matrix, self.gradient(weights).ravel()).reshape(weights.shape)
            weights = weights - step
            if np.abs(step).max() < 1e-12:
                break
        return weights

    def gap(self, module: mx.mod.Module) -> float:
        """How far a module's objective is from the best."""
        return self.objective(module.get_params()[0]["fc_weight"].asnumpy()) - self.best


class Draws(mx.io.DataIter):
    """An epoch of batches whose rows are drawn with replacement."""

    def __init__(self, problem: Problem, seed: int) -> None:
        super().__init__(BATCH)
        self.problem, self.random = problem, np.random.RandomState(seed)
        self.left = 0
        self.reset()

    def reset(self) -> None:
        self.left = len(self.problem.data) // BATCH

    def next(self) -> mx.io.DataBatch:
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        rows = self.random.randint(0, len(self.problem.data), BATCH)
        return mx.io.DataBatch([array(self.problem.data[rows])], [array(self.problem.labels[rows])], pad=0)


def array(values: np.ndarray) -> mx.nd.NDArray:
    return mx.nd.array(values, dtype="float64")


def ready(module: mx.mod.Module, size: int, **settings: object) -> mx.mod.Module:
    """A module with weights of zero and an optimizer."""
    module.bind(
        [mx.io.DataDesc("data", (BATCH, size), "float64")], [mx.io.DataDesc("softmax_label", (BATCH,), "float64")]
    )
    module.init_params(mx.init.Zero())
    module.init_optimizer(optimizer_params={"learning_rate": RATE, "wd": DECAY, **settings})
    return module


def network() -> mx.sym.Symbol:
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=10, no_bias=True, name="fc")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def train(module: mx.mod.Module, problem: Problem, seed: int, passes: int, cost: int, before: Callable) -> Gaps:
    """(passes, gap) after each epoch; ``before`` is done at the beginning of each."""
    draws = Draws(problem, seed)
    gaps = [(0, problem.gap(module))]
    while gaps[-1][0] + cost <= passes:
        before(module)
        draws.reset()
        for batch in draws:
            module.forward_backward(batch)
            module.update()
        gaps.append((gaps[-1][0] + cost, problem.gap(module)))
    return gaps


def sgd(problem: Problem, seed: int, passes: int, halved_at: float | None = None) -> Gaps:
    """SGD; its rate is constant, or RATE / (1 + pass / halved_at)."""
    settings = {}
    if halved_at is not None:
        steps = halved_at * (len(problem.data) // BATCH)
        settings["lr_scheduler"] = lambda step: RATE / (1 + step / steps)
        settings["learning_rate"] = None
    module = ready(mx.mod.Module(network()), problem.data.shape[1], **settings)
    return train(module, problem, seed, passes, 1, lambda _: None)


def svrg(problem: Problem, seed: int, passes: int) -> Gaps:
    """SVRG with a full gradient in each epoch; its rate is constant."""
    module = mx.contrib.svrg_optimization.svrg_module.SVRGModule(network(), update_freq=1)
    ready(module, problem.data.shape[1])
    whole = mx.io.NDArrayIter(array(problem.data), array(problem.labels), 256)
    return train(module, problem, seed, passes, 3, lambda one: one.update_full_grads(whole))


def table(found: dict[str, Gaps]) -> str:
    """The gaps at every third pass."""
    lines = ["passes  " + "  ".join(f"{name:>16}" for name in found)]
    for cost, _ in found["SVRG"]:
        gaps = (dict(gaps)[cost] for gaps in found.values())
        lines.append(f"{cost:6}  " + "  ".join(f"{gap:16.1e}" for gap in gaps))
    return "\n".join(lines)


def plot(found: dict[str, Gaps], name: str) -> None:
    """Write the gaps as a picture."""
    try:
        import matplotlib as mpl
    except ImportError:
        print("no picture: that needs matplotlib", file=sys.stderr)
        return
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for label, gaps in found.items():
        axes.semilogy(*zip(*gaps), label=label)
    axes.set_xlabel("passes over the data")
    axes.set_ylabel("gap to the optimum")
    axes.legend()
    figure.savefig(name)
    plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> dict[str, Gaps]:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passes", type=int, default=30, help="gradients to be spent, in passes")
    parser.add_argument("--rows", type=int, default=1437, help="how many digits")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", help="a file for the picture, as in gaps.svg")
    args = parser.parse_args(arguments)
    start = time.perf_counter()
    problem = Problem(args.rows)
    print(f"optimum {problem.best:.10f}, found in {time.perf_counter() - start:.1f} s")
    given = problem, args.seed, args.passes
    found = {"SGD, constant": sgd(*given), "SGD, decaying": sgd(*given, halved_at=4), "SVRG": svrg(*given)}
    print(table(found))
    print(f"{time.perf_counter() - start:.0f} s")
    if args.plot:
        plot(found, args.plot)
    return found


if __name__ == "__main__":
    main()
