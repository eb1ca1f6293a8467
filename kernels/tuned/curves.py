"""Functions of many float32 numbers at once, and their slopes, made of the polynomials of ``elementary``.

Largest errors in units in the last place, where results are normal numbers and the CPU has a fused multiply-add:

    exp 1.04   expm1 1.6   log 0.85   tanh 1.5   erf 2.5   sigmoid 3   softrelu 3   gelu 6.5, above -12.9
    slopes: expm1 1.04   erf 2.8   gelu 1.5e-7, absolute, because it is 0 near -0.75

NaN, infinities, the sign of 0 and where results overflow are those of the pages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import activation, leaky_relu, trigonometry, unary
from ..foundation import Buffer
from ..foundation.loop import loops_of
from ..shared.curves import SIGMOID, TANH, map_one
from . import elementary
from .kernel import kernel, twin


def fill_each(data, out, n):
    for i in range(n):
        out[i] = curve(data[i])  # noqa: F821  # bound by kernel


def fill_gradients(head, data, d_data, n):
    for i in range(n):
        d_data[i] = head[i] * slope(data[i])  # noqa: F821  # bound by kernel


def mapped(curve: Any) -> Callable:
    """The twin that computes ``curve`` of ``n`` elements; a parameter that only other curves have is left out."""
    fill = kernel(fill_each, label=curve.__name__, curve=curve)

    def run(data: Buffer, out: Buffer, n: int, slope: float = 0.0) -> None:
        fill(data.flat, out.flat, n)

    return run


def chained(slope_of: Any) -> Callable:
    """Likewise for a gradient: each head times the slope."""
    fill = kernel(fill_gradients, label=slope_of.__name__, slope=slope_of)

    def run(head: Buffer, data: Buffer, d_data: Buffer, n: int, slope: float = 0.0) -> None:
        fill(head.flat, data.flat, d_data.flat, n)

    return run


twin(TANH, *loops_of(unary.map_one, trigonometry.tanh))(mapped(elementary.tanh))
twin(SIGMOID, *loops_of(unary.map_one, unary.sigmoid))(mapped(elementary.sigmoid))
twin(*loops_of(unary.map_one, unary.exp))(mapped(elementary.exp))
twin(*loops_of(unary.map_one, unary.expm1))(mapped(elementary.expm1))
twin(*loops_of(unary.map_one, unary.log))(mapped(elementary.log))
twin(*loops_of(unary.map_one, unary.erf))(mapped(elementary.erf))
twin(*loops_of(unary.chain_one, unary.exp))(chained(elementary.exp))
twin(*loops_of(unary.chain_one, unary.erf_slope))(chained(elementary.erf_slope))
twin(*loops_of(map_one, activation.softrelu))(mapped(elementary.softrelu))
twin(*loops_of(leaky_relu.map_one, leaky_relu.gelu))(mapped(elementary.gelu))
twin(*loops_of(leaky_relu.chain_one, leaky_relu.gelu_slope))(chained(elementary.gelu_slope))
