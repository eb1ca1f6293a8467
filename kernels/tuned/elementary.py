"""e^x, ln x and the error function of one float32 number, without a branch, so that a loop over them is vectorised.

The C library computes them one number at a time. Here each is a polynomial of fused multiply-adds (``fused``), whose
coefficients were fitted so that the largest relative error is least; the choice between two results is a selection.

e^x: x = n ln 2 + r with |r| <= ln 2 / 2, e^r by a polynomial, and 2^n written straight into exponent bits, as two
factors, so that results that are no normal numbers are rounded once, too.
ln x: x = 2^e m with m from 2/3 to 4/3, and ln m by a polynomial of m - 1.
The tail of the normal distribution at t >= 0, from t to infinity, is e^(-t^2 / 2) times a polynomial of
1 / (1 + 0.35 t); the rounding error of t^2 is put right. The error function and gelu are made of it, except near 0.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic

F, I = np.float32, np.int32  # float and int
ZERO, HALF, ONE, TWO, INFINITE, MISSING = F(0), F(0.5), F(1), F(2), F(np.inf), F(np.nan)
LOG2_E = F(1.44269504)
LN2_HIGH, LN2_LOW = F(0.693145752), F(1.42860677e-6)
LEAST, MOST = F(-104), F(89)  # e^x is 0 and infinite beyond
TO_WHOLE = F(12582912)  # 1.5 . 2^23: what is added to it is rounded to a whole number, in the lowest bits
WHOLE_BITS, SIGN_BIT, BIAS, FRACTION = I(0x4B400000), I(-0x80000000), I(127), I(23)
E2, E3, E4, E5, E6 = F(0.49999997), F(0.16666545), F(0.0416674465), F(0.00836644694), F(0.00138698448)
TWO_THIRDS_BITS, EXPONENT_BITS = I(0x3F2AAAAB), I(-0x800000)
SMALLEST, RAISED, RAISED_BY = F(2.0**-126), F(2.0**23), F(23)
SMALLEST_EXPONENT = F(2.0**-23)
L3, L4, L5, L6 = F(0.333332151), F(-0.249998048), F(0.200104445), F(-0.16680181)
L7, L8, L9, L10 = F(0.140053406), F(-0.121883437), F(0.139867067), F(-0.128744885)
B1, B2, B3 = F(0.128379166), F(-0.3761262), F(0.11283379)
B4, B5, B6 = F(-0.0268343352), F(0.00511315698), F(-0.00067375839)
T1, T2, T3 = F(-0.33333333), F(0.13333301), F(-0.05395862)
T4, T5, T6, TANH_NEAR = F(0.02176363), F(-0.0083264), F(0.0022727), F(0.625)
A1, A2, A3, A4 = F(0.666664183), F(0.400214344), F(0.280030966), F(0.280063719)
LOW_ENOUGH, NEAR_NOTHING = F(-20), F(1e-20)  # e^x - 1 is -1 below, and x nearer to 0
ERF_NEAR = F(0.75)
ROOT_TWO, DENSITY_AT_0, ERF_SLOPE_AT_0 = F(1.41421356), F(0.39894228), F(1.12837917)
BEND, FARTHEST = F(0.35), F(14.4223)  # e^(-t^2 / 2) is e^LEAST there
Q1, Q2, Q3, Q4, Q5 = F(0.139621302), F(0.139863551), F(0.11982099), F(0.105553776), F(-0.0232156198)
G0, G1, G2, G3, G4 = F(0.398942262), F(-0.132979095), F(0.0398682393), F(-0.00935329404), F(0.0015063514)
Q6, Q7, Q8, Q9 = F(0.15932484), F(-0.255843848), F(0.144033432), F(-0.0291584395)


@intrinsic
def fused(typing, left, right, total):
    """left . right + total of float32, with one rounding where the CPU has a fused multiply-add."""
    kind = ir.FloatType()

    def build(context, builder, signature, args):
        fuse = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(kind, [kind] * 3), "llvm.fmuladd.f32"
        )
        return builder.call(fuse, args)

    return types.float32(types.float32, types.float32, types.float32), build


@intrinsic
def choose(typing, condition, yes, no):
    """``yes if condition else no`` of float32, without a branch that could keep a loop from being vectorised."""

    def build(context, builder, signature, args):
        return builder.select(*args)

    return types.float32(types.boolean, types.float32, types.float32), build


@intrinsic
def bits_of(typing, number):
    """The bits of a float32 as an int32."""

    def build(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(32))

    return types.int32(types.float32), build


@intrinsic
def from_bits(typing, bits):
    """The float32 that has these bits."""

    def build(context, builder, signature, args):
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.int32), build


def inlined(function: Any) -> Any:
    """Compile a formula that only kernels of this package call."""
    if numba.config.DISABLE_JIT:
        return function
    return numba.njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


@inlined
def signed_as(size, x):
    """A number that is not negative, with the sign of x."""
    return from_bits(bits_of(size) | (bits_of(x) & SIGN_BIT))


@inlined
def exp_between(near):
    """e^x for x from LEAST to MOST."""
    shifted = fused(near, LOG2_E, TO_WHOLE)
    n = shifted - TO_WHOLE
    r = fused(n, -LN2_LOW, fused(n, -LN2_HIGH, near))
    whole = I(bits_of(shifted) - WHOLE_BITS)
    half = I(whole >> I(1))
    p = fused(r, fused(r, fused(r, fused(r, E6, E5), E4), E3), E2)
    found = fused(r * r, p, r) + ONE
    return found * from_bits((half + BIAS) << FRACTION) * from_bits((whole - half + BIAS) << FRACTION)


@inlined
def exp(x):
    """e^x."""
    near = choose(x < LEAST, LEAST, x)
    return exp_between(choose(near > MOST, MOST, near))


@inlined
def expm1(x):
    """e^x - 1."""
    near = choose(x < LOW_ENOUGH, LOW_ENOUGH, x)
    near = choose(near > MOST, MOST, near)
    shifted = fused(near, LOG2_E, TO_WHOLE)
    n = shifted - TO_WHOLE
    r = fused(n, -LN2_LOW, fused(n, -LN2_HIGH, near))
    half = from_bits((bits_of(shifted) - WHOLE_BITS - I(1) + BIAS) << FRACTION)  # 2^(n - 1)
    p = fused(r, fused(r, fused(r, fused(r, E6, E5), E4), E3), E2)
    found = TWO * fused(fused(r * r, p, r), half, half - HALF)
    return choose(abs(x) < NEAR_NOTHING, x, found)


@inlined
def log(x):
    """ln x."""
    raised = x < SMALLEST
    m = choose(raised, x * RAISED, x)
    bits = bits_of(m)
    whole = I((bits - TWO_THIRDS_BITS) & EXPONENT_BITS)
    f = from_bits(bits - whole) - ONE
    exponent = fused(F(whole), SMALLEST_EXPONENT, choose(raised, -RAISED_BY, ZERO))
    p = fused(f, fused(f, fused(f, fused(f, L10, L9), L8), L7), L6)
    p = fused(f, fused(f, fused(f, p, L5), L4), L3)
    square = f * f
    small = fused(f * square, p, fused(exponent, LN2_LOW, -HALF * square))
    found = fused(exponent, LN2_HIGH, f + small)
    found = choose(x == INFINITE, x, found)
    found = choose(x > ZERO, found, MISSING)
    return choose(x == ZERO, -INFINITE, found)


@inlined
def bell(t):
    """e^(-t^2 / 2) for t from 0 to FARTHEST; the rounding error of t^2 is made good."""
    half = HALF * t
    power = half * t
    found = exp_between(-power)
    return fused(found, -fused(half, t, -power), found)


@inlined
def tail_over_bell(t):
    """The tail of the normal distribution from t >= 0 on, divided by e^(-t^2 / 2)."""
    u = ONE / fused(BEND, t, ONE)
    p = fused(u, fused(u, fused(u, fused(u, Q9, Q8), Q7), Q6), Q5)
    return u * fused(u, fused(u, fused(u, fused(u, p, Q4), Q3), Q2), Q1)


@inlined
def cut(x):
    """|x|, at most FARTHEST, where the tail of the normal distribution is 0."""
    size = abs(x)
    return choose(size > FARTHEST, FARTHEST, size)


@inlined
def erf_over_x_less_one(square):
    """erf(x) / x - 1 for |x| < 0.75, by x^2."""
    return fused(square, fused(square, fused(square, fused(square, fused(square, B6, B5), B4), B3), B2), B1)


@inlined
def erf(x):
    """The error function."""
    near = fused(x, erf_over_x_less_one(x * x), x)
    t = cut(x * ROOT_TWO)
    far = fused(-TWO * bell(t), tail_over_bell(t), ONE)
    return choose(abs(x) < ERF_NEAR, near, signed_as(far, x))


@inlined
def erf_slope(x):
    """2 / sqrt(pi) e^(-x^2)."""
    size = cut(x)
    square = size * size
    rest = fused(size, size, -square)
    found = exp(-square)
    return ERF_SLOPE_AT_0 * fused(found, -rest, found)


@inlined
def share_below(x, t, height):
    """The share of the normal distribution below x, for t = |x| and the height of the bell at t."""
    h = HALF * t * t
    near = fused(x, fused(h, fused(h, fused(h, fused(h, G4, G3), G2), G1), G0), HALF)
    tail = height * tail_over_bell(t)
    return choose(t < ONE, near, choose(x < ZERO, tail, ONE - tail))


@inlined
def gelu(x):
    """x times the share of the normal distribution below x."""
    t = cut(x)
    return x * share_below(x, t, bell(t))


@inlined
def gelu_slope(x):
    """The share of the normal distribution below x, plus x times its density."""
    t = cut(x)
    height = bell(t)
    return fused(x, DENSITY_AT_0 * height, share_below(x, t, height))


@inlined
def tanh(x):
    """Near 0 an odd polynomial, elsewhere 1 - 2 s / (1 + s) with s = e^(-2 |x|)."""
    size = abs(x)
    square = size * size
    p = fused(square, fused(square, fused(square, T6, T5), T4), T3)
    p = fused(square, fused(square, p, T2), T1)
    near = fused(size * square, p, size)
    s = exp(-TWO * size)
    far = fused(-TWO, s / (ONE + s), ONE)
    return signed_as(choose(size < TANH_NEAR, near, far), x)


@inlined
def sigmoid(x):
    """1 / (1 + e^-x)."""
    small = exp(-abs(x))
    upper = ONE / (ONE + small)
    return choose(x < ZERO, upper * small, upper)


@inlined
def softrelu(x):
    """ln(1 + e^x)."""
    z = exp(-abs(x))
    s = z / (TWO + z)
    square = s * s
    p = fused(square, fused(square, fused(square, A4, A3), A2), A1)
    return choose(x < ZERO, ZERO, x) + fused(s * square, p, s + s)
