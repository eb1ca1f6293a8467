"""The curves of gates and activations."""

from math import exp
from math import tanh as tanh_of

from ..foundation import Loop, items, scalar


@scalar
def sigmoid(x):
    if x >= 0:
        return 1.0 / (1.0 + exp(-x))
    small = exp(x)
    return small / (1.0 + small)


@scalar
def tanh(x):
    return tanh_of(x)


def map_one(data, out, n):
    for i in items(n):
        out[i] = formula(data[i])  # noqa: F821  # bound by Loop(map_one, formula=...)


SIGMOID, TANH = Loop(map_one, formula=sigmoid), Loop(map_one, formula=tanh)
