"""mx.sym.contrib.adamw_update and mp_adamw_update: update operators as nodes; the loss scale may be a number."""

from __future__ import annotations

from typing import Any

from ..base import decides
from . import _internal
from .symbol import Symbol


def _scale(rescale_grad: Symbol | float) -> Symbol:
    if isinstance(rescale_grad, Symbol):
        return rescale_grad
    return _internal._full(shape=(1,), value=float(rescale_grad), dtype="float32")


@decides("Symbol/adamw")
def adamw_update(
    weight: Symbol, grad: Symbol, mean: Symbol, var: Symbol, rescale_grad: Symbol | float, lr: float, eta: float,
    beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0, clip_gradient: float = -1,
    out: Any = None, name: str | None = None, **kwargs: Any,
) -> Symbol:
    """AdamW.

    Args:
        weight: the weight.
        grad: its gradient.
        mean: the running mean of gradients, a state: its array changes in place.
        var: the running mean of squared gradients, a state.
        rescale_grad: the factor on gradients: a number, or a symbol of one element.
        lr: the learning rate.
        eta: the factor on the whole step, weight decay included.
        beta1: the decay rate of ``mean``.
        beta2: the decay rate of ``var``.
        epsilon: added to the divisor.
        wd: the weight decay.
        clip_gradient: the bound of gradients; a negative number means no bound.
        out: ignored, as by every operator on symbols.
        name: the name of the node.
        **kwargs: ``attr`` of the node.
    """
    del out
    inputs = weight, grad, mean, var, _scale(rescale_grad)
    return _internal._adamw_update(
        *inputs, lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd, clip_gradient=clip_gradient,
        name=name, **kwargs,
    )


@decides("Symbol/adamw")
def mp_adamw_update(
    weight: Symbol, grad: Symbol, mean: Symbol, var: Symbol, weight32: Symbol, rescale_grad: Symbol | float,
    lr: float, eta: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8, wd: float = 0,
    clip_gradient: float = -1, out: Any = None, name: str | None = None, **kwargs: Any,
) -> Symbol:
    """AdamW on ``weight32``, the float32 master copy of ``weight``.

    ``grad``, ``mean``, ``var``, ``rescale_grad``, ``lr``, ``eta``, ``beta1``, ``beta2``, ``epsilon``, ``wd``,
    ``clip_gradient``, ``out`` and ``name`` are those of :func:`adamw_update`.
    """
    del out
    inputs = weight, grad, mean, var, weight32, _scale(rescale_grad)
    return _internal._mp_adamw_update(
        *inputs, lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd, clip_gradient=clip_gradient,
        name=name, **kwargs,
    )


__all__ = ["adamw_update", "mp_adamw_update"]
