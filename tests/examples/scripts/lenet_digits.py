"""Train a small convolutional net, in the manner of LeNet, on the digits.

python lenet_digits.py --epochs 4 --model-prefix /tmp/lenet
python lenet_digits.py --epochs 6 --model-prefix /tmp/lenet --load-epoch 4
"""

from __future__ import annotations

from collections.abc import Sequence

import digits_training

import refimpl as mx


def get_symbol(num_classes: int = 10) -> mx.sym.Symbol:
    """Two blocks of convolution, tanh and pooling (8 x 8 to 4 x 4 to 2 x 2 pixels), then two layers."""
    net = mx.sym.Variable("data")
    for block, filters in ((1, 12), (2, 24)):
        net = mx.sym.Convolution(net, name=f"conv{block}", kernel=(3, 3), pad=(1, 1), num_filter=filters)
        net = mx.sym.Activation(net, name=f"tanh{block}", act_type="tanh")
        net = mx.sym.Pooling(net, name=f"pool{block}", pool_type="max", kernel=(2, 2), stride=(2, 2))
    net = mx.sym.Flatten(net, name="flatten")
    net = mx.sym.FullyConnected(net, name="fc1", num_hidden=64)
    net = mx.sym.Activation(net, name="tanh3", act_type="tanh")
    net = mx.sym.FullyConnected(net, name="fc2", num_hidden=num_classes)
    return mx.sym.SoftmaxOutput(net, name="softmax")


def main(arguments: Sequence[str] | None = None) -> float:
    args = digits_training.options(__doc__, epochs=6, lr=0.05).parse_args(arguments)
    return digits_training.fit(args, get_symbol())


if __name__ == "__main__":
    main()
