"""What the pages of optimizer updates share: numbers, shapes and types, and updates of many weights at once.

An update reads a weight and its gradient; its output is the new weight. States change in place, and are
auxiliary states of a graph.
"""

from functools import lru_cache

import numpy as np

from .foundation import Op, merge, register, require, same_type, scalar

SINGLE = np.dtype(np.float32)
MOST_IN_PLACE = 64  # weights of one call that the caller may pass as ``out`` without a copy


# --- numbers ------------------------------------------------------------------------------------


@scalar
def limited(g, clip):
    """Return g inside -clip .. clip; NaN stays NaN."""
    return clip if g > clip else -clip if g < -clip else g


@lru_cache(maxsize=4096)
def numbers(kind, *values):
    """Parameters as MXNet keeps them, in single precision, then in the type of the loop."""
    return tuple(kind(np.float32(value)) for value in values)


def bound(kind, clip):
    """A limit of which negative numbers mean that there is none."""
    return kind("inf") if clip < 0 else kind(np.float32(clip))


def averaging(kind, beta):
    """(beta, 1 - beta) for a moving average."""
    (kept,) = numbers(kind, beta)
    return kept, kind(1) - kept


def corrections(kind, beta1, beta2, step):
    """What divides moving averages that began with zero: 1 - beta ** step, for both."""
    return tuple(kind(1 - float(np.float32(beta)) ** step) for beta in (beta1, beta2))


# --- types --------------------------------------------------------------------------------------


def master_types(clause, singles=0):
    """An ``infer_type``: weight, grad and output have one type; after them float32 (states, master copy).

    The last ``singles`` inputs are float32 even where there is no master copy: see ``scaled_types``.
    """

    def infer_type(p, ins, outs):
        (weight, grad), outs = same_type(p, ins[:2], outs)
        return [weight, grad, *_all_single(clause, ins[2:])], outs

    del singles
    return infer_type


def _all_single(clause, given):
    for kind in given:
        require(clause, kind is None or kind == SINGLE, f"states must be float32, got {kind}")
    return [SINGLE] * len(given)
