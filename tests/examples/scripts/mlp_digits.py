"""Train a net of three fully connected layers on the digits.

python mlp_digits.py --epochs 4 --model-prefix /tmp/mlp
python mlp_digits.py --epochs 10 --model-prefix /tmp/mlp --load-epoch 4
"""

from __future__ import annotations

from collections.abc import Sequence

import digits_training

import refimpl as mx


def get_symbol(num_classes: int = 10) -> mx.sym.Symbol:
    net = mx.sym.Flatten(mx.sym.Variable("data"), name="flatten")
    net = mx.sym.FullyConnected(net, name="fc1", num_hidden=64)
    net = mx.sym.Activation(net, name="relu1", act_type="relu")
    net = mx.sym.FullyConnected(net, name="fc2", num_hidden=32)
    net = mx.sym.Activation(net, name="relu2", act_type="relu")
    net = mx.sym.FullyConnected(net, name="fc3", num_hidden=num_classes)
    return mx.sym.SoftmaxOutput(net, name="softmax")


def main(arguments: Sequence[str] | None = None) -> float:
    args = digits_training.options(__doc__).parse_args(arguments)
    return digits_training.fit(args, get_symbol())


if __name__ == "__main__":
    main()
