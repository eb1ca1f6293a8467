"""mx.nd.contrib.adamw_update and others: update operators that take lists of weights, and a loss scale as a number.

The formulas are on the pages of ``_adamw_update`` and ``_multi_lamb_update``. Every function returns the new weights,
and writes them into ``out`` if given; states, and master copies ``weight32``, change in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .creation import full
from .ndarray import NDArray
from .operators import call

Arrays = Sequence[NDArray]


def _scale(like: NDArray, rescale_grad: NDArray | float) -> NDArray:
    """The scale of gradients as a float32 array on the context of ``like``."""
    if isinstance(rescale_grad, NDArray):
        return rescale_grad.as_in_context(like.context).astype("float32", copy=False)
    return full((1,), rescale_grad, ctx=like.context)


def _interleaved(*lists: Arrays) -> list[NDArray]:
    """The first of each list, then the second of each and so on."""
    return [array for group in zip(*lists, strict=True) for array in group]


def adamw_update(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, rescale_grad: NDArray | float, lr: float, eta: float,
    beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0, clip_gradient: float = -1,
    out: NDArray | None = None, name: str | None = None,
) -> NDArray:
    """AdamW.

    Args:
        weight: the weight.
        grad: its gradient.
        mean: the running mean of gradients, a state.
        var: the running mean of squared gradients, a state.
        rescale_grad: the factor on gradients: a number, or an array of one element.
        lr: the learning rate.
        eta: the factor on the whole step, weight decay included.
        beta1: the decay rate of ``mean``.
        beta2: the decay rate of ``var``.
        epsilon: added to the divisor.
        wd: the weight decay.
        clip_gradient: the bound of gradients; a negative number means no bound.
        out: the array that receives the new weight.
        name: accepted, as by every operator, and not used.
    """
    del name
    inputs = weight, grad, mean, var, _scale(weight, rescale_grad)
    return call(
        "_adamw_update", *inputs, out=out, lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon,
        wd=wd, clip_gradient=clip_gradient,
    )


def mp_adamw_update(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, weight32: NDArray, rescale_grad: NDArray | float,
    lr: float, eta: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0,
    clip_gradient: float = -1, out: NDArray | None = None, name: str | None = None,
) -> NDArray:
    """AdamW on ``weight32``, the float32 master copy of ``weight``.

    ``grad``, ``mean``, ``var``, ``rescale_grad``, ``lr``, ``eta``, ``beta1``, ``beta2``, ``epsilon``, ``wd``,
    ``clip_gradient``, ``out`` and ``name`` are those of :func:`adamw_update`.
    """
    del name
    inputs = weight, grad, mean, var, weight32, _scale(weight, rescale_grad)
    return call(
        "_mp_adamw_update", *inputs, out=out, lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon,
        wd=wd, clip_gradient=clip_gradient,
    )


def multi_adamw_update(
    weights: Arrays, grads: Arrays, mean: Arrays, var: Arrays, rescale_grad: NDArray | float, lrs: Sequence[float],
    wds: Sequence[float], etas: Sequence[float], out: Arrays | None = None, name: str | None = None, size: int = 0,
    **parameters: float,
) -> Any:
    """AdamW on several weights at once.

    Args:
        weights: the weights.
        grads: their gradients.
        mean: the running means of gradients, one for each weight.
        var: the running means of squared gradients.
        rescale_grad: the factor on gradients: a number, or an array of one element.
        lrs: the learning rates, one for each weight.
        wds: the weight decays.
        etas: the factors on the whole steps.
        out: the arrays that receive the new weights.
        name: accepted, as by every operator, and not used.
        size: the number of weights; 0 means the length of ``weights``.
        **parameters: beta1, beta2, epsilon and clip_gradient.
    """
    del name
    inputs = _interleaved(weights, grads, mean, var)
    rates: dict[str, Any] = {"lrs": lrs, "wds": wds, "etas": etas, "num_weights": size or len(weights)}
    return call("_multi_adamw_update", *inputs, _scale(weights[0], rescale_grad), out=out, **rates, **parameters)


def multi_mp_adamw_update(
    weights: Arrays, grads: Arrays, mean: Arrays, var: Arrays, weights32: Arrays, rescale_grad: NDArray | float,
    lrs: Sequence[float], wds: Sequence[float], etas: Sequence[float], out: Arrays | None = None,
    name: str | None = None, size: int = 0, **parameters: float,
) -> Any:
    """AdamW on ``weights32``, the float32 master copies of ``weights``.

    ``grads``, ``mean``, ``var``, ``rescale_grad``, ``lrs``, ``wds``, ``etas``, ``out``, ``name``, ``size`` and
    ``parameters`` are those of :func:`multi_adamw_update`.
    """
    del name
    inputs = _interleaved(weights, grads, mean, var, weights32)
    rates: dict[str, Any] = {"lrs": lrs, "wds": wds, "etas": etas, "num_weights": size or len(weights)}
    return call("_multi_mp_adamw_update", *inputs, _scale(weights[0], rescale_grad), out=out, **rates, **parameters)


def multi_lamb_update(
    weights: Arrays, grads: Arrays, mean: Arrays, var: Arrays, step_count: Sequence[int], lrs: Sequence[float],
    wds: Sequence[float], out: Arrays | None = None, num_tensors: int = 0, **parameters: Any,
) -> Any:
    """LAMB on several weights at once.

    Args:
        weights: the weights.
        grads: their gradients.
        mean: the running means of gradients, one for each weight.
        var: the running means of squared gradients.
        step_count: the number of updates of each weight, with this update.
        lrs: the learning rates, one for each weight.
        wds: the weight decays.
        out: the arrays that receive the new weights.
        num_tensors: the number of weights; 0 means the length of ``weights``.
        **parameters: the other parameters of ``_multi_lamb_update``.
    """
    rates: dict[str, Any] = {"learning_rates": lrs, "wds": wds, "step_count": step_count}
    inputs = _interleaved(weights, grads, mean, var)
    return call("_multi_lamb_update", *inputs, out=out, num_tensors=num_tensors or len(weights), **rates, **parameters)


def multi_mp_lamb_update(
    weights: Arrays, grads: Arrays, mean: Arrays, var: Arrays, weights32: Arrays, step_count: Sequence[int],
    lrs: Sequence[float], wds: Sequence[float], out: Arrays | None = None, num_tensors: int = 0, **parameters: Any,
) -> Any:
    """LAMB on ``weights32``, the float32 master copies of ``weights``.

    ``grads``, ``mean``, ``var``, ``step_count``, ``lrs``, ``wds``, ``out``, ``num_tensors`` and ``parameters`` are
    those of :func:`multi_lamb_update`.
    """
    rates: dict[str, Any] = {"learning_rates": lrs, "wds": wds, "step_count": step_count}
    inputs = _interleaved(weights, grads, mean, var, weights32)
    many = num_tensors or len(weights)
    return call("_multi_mp_lamb_update", *inputs, out=out, num_tensors=many, **rates, **parameters)


__all__ = [
    "adamw_update", "mp_adamw_update", "multi_adamw_update", "multi_lamb_update", "multi_mp_adamw_update",
    "multi_mp_lamb_update",
]
