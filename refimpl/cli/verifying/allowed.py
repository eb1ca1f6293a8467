"""How far a correct implementation may be from a layer's exact values, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import MXNetError, decides
from ...export.judging import UNITS
from ...export.layer import SINGLE, Layer, bound_layer
from ...oracle.bounds import tracking

MOST_TRACKED = 40_000  # numbers that the oracle's arithmetic, which is Python, may read
_FACTOR = 32  # single precision errors of ours that stand for those of another order of operations
_TINY = 1e-37  # results below the smallest normal number may become zero


@decides("Verify/bounds")
def allowed(layer: Layer, outputs: list[np.ndarray], index: int, unit: float) -> np.ndarray:
    """The distance from ``outputs[index]`` that rounding explains.

    Args:
        layer: with the reference's inputs.
        outputs: exact values.
        index: of the output.
        unit: of the precision of the network.
    """
    exact = np.abs(outputs[index])
    found = _of_sums(layer, unit)
    if found is None:
        found = _measured(layer, outputs, index, unit)
    return found + 4 * unit * exact + _TINY


def _of_sums(layer: Layer, unit: float) -> np.ndarray | None:
    """Sums of products: the number of terms times the unit times the sum of their magnitudes, as the oracle has it."""
    name = layer.operator
    if name in ("Convolution", "FullyConnected", "Deconvolution"):
        weight = layer.array("weight")
        assert weight is not None
        terms = int(np.prod(weight.shape[1:] if name != "Deconvolution" else weight.shape)) // (
            weight.shape[1] * layer.params.num_group if name == "Deconvolution" else 1
        )
        return (terms + 3) * unit * layer.run([np.abs(value) for value in layer.arrays])[0]
    if name == "Pooling" and layer.params.pool_type in ("avg", "sum"):
        sides = layer.arrays[0].shape[2:] if layer.params.global_pool else layer.params.kernel
        return (int(np.prod(sides)) + 3) * unit * layer.run([np.abs(layer.arrays[0])])[0]
    if name == "Pooling" and layer.params.pool_type == "max":
        return np.zeros(())
    if name == "BatchNorm" and not layer.params.output_mean_var:
        data, gamma, beta, mean, var = layer.arrays
        shape = [1] * data.ndim
        shape[layer.params.axis] = -1
        factor = np.abs((1.0 if layer.params.fix_gamma else gamma) / np.sqrt(np.abs(var + layer.params.eps)))
        held = [value.reshape(shape) for value in (factor, beta, mean)]
        return 8 * unit * ((np.abs(data) + np.abs(held[2])) * held[0] + np.abs(held[1]))
    return None


def _measured(layer: Layer, outputs: list[np.ndarray], index: int, unit: float) -> np.ndarray:
    """What single precision makes of it here, many times over."""
    try:
        single = layer.run(kind=SINGLE)[index]
    except MXNetError:  # runs in double precision alone
        return np.zeros(())
    with np.errstate(invalid="ignore"):
        off = np.abs(single - outputs[index])
    off = float(np.max(off[np.isfinite(off)], initial=0.0))
    return np.asarray(_FACTOR * off * unit / UNITS["float32"])


@decides("Verify/bounds")
def tracked(layer: Layer, index: int, unit: float) -> np.ndarray | None:
    """The oracle's bounds of a small layer; None of a large one, or one that the oracle cannot run."""
    rounds = int(np.prod(layer.arrays[0].shape[:2])) if layer.operator == "RNN" else 1  # each reads all parameters
    if unit != UNITS["float32"] or rounds * sum(value.size for value in layer.arrays) > MOST_TRACKED:
        return None
    try:
        with tracking() as shadow:
            found: Any = bound_layer(layer.node, layer.arrays, SINGLE).forward(is_train=False)[index]
            return shadow.of(found)[1]
    except MXNetError:
        return None


__all__ = ["UNITS", "allowed", "tracked"]
