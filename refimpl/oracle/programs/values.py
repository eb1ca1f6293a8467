"""Arrays as data: a shape, a dtype, and either the elements or a kind and a seed.

    {"shape": [2, 3], "dtype": "float32", "kind": "any", "style": "dyadic", "seed": 7}
    {"shape": [2], "dtype": "int32", "elements": [1, 2]}

``kind`` names the values that an operator allows in an input, as its page's ``cases`` does: "any", "positive", "unit"
(inside -1..1), "above_one", "apart" (for operators that choose between elements), "definite" and "regular" (matrices),
"ones_and_zeros", ["labels", below], ["ints", low, high]. ``style`` names the values that are drawn:

==========  ========================================================================================
dyadic      quarters between -2 and 2: sums and products are exact in any order
smooth      quarters plus a bit: never at a kink, never tied
normal      normally distributed
wide        normal, times powers of ten from -3 to 3
tied        few values, many equal, zeros of both signs
special     some NaN and infinities among tied values; the ends of a wide range of whole numbers
onehot      one element is 1, the others 0
==========  ========================================================================================

The same data gives the same bits under every version of NumPy: values are drawn with ``RandomState``.
"""

import json
import math
import threading
from functools import lru_cache

import numpy as np

STYLES = ("dyadic", "smooth", "normal", "wide", "tied", "special", "onehot")
KINDS = ("any", "positive", "unit", "above_one", "apart", "definite", "regular", "ones_and_zeros")
LARGEST_ARRAY = 1 << 20
"""Elements that an array of a program may have."""
LONGEST_RANK = 12
WIDE_RANGE = 1 << 24
"""Whole numbers of such a range are never its ends by chance: special values are, now and then."""
FIELDS = {"shape", "dtype", "kind", "style", "seed", "elements"}
SOURCE = threading.local()
"""Its attribute ``draw`` is the thread's source of random numbers."""
DTYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64")


def check_array(spec, where):
    """Raise ValueError where ``spec`` is no array of a program."""
    if not isinstance(spec, dict):
        raise ValueError("%s: an array is an object with shape and dtype, not %r" % (where, spec))
    unknown = sorted(set(spec) - FIELDS)
    if unknown:
        raise ValueError("%s: an array has no field %s" % (where, unknown[0]))
    shape = spec.get("shape")
    if not isinstance(shape, list) or len(shape) > LONGEST_RANK or not all(
        type(side) is int and 0 <= side <= LARGEST_ARRAY for side in shape
    ):
        raise ValueError("%s: shape %r is no list of up to %d whole numbers" % (where, shape, LONGEST_RANK))
    size = math.prod(shape) if hasattr(math, "prod") else int(np.prod([1] + shape, dtype=object))
    if size > LARGEST_ARRAY:
        raise ValueError("%s: %d elements are more than %d" % (where, size, LARGEST_ARRAY))
    if spec.get("dtype") not in DTYPES:
        raise ValueError("%s: dtype %r is none of %s" % (where, spec.get("dtype"), ", ".join(DTYPES)))
    _check_kind(spec.get("kind", "any"), where)
    if spec.get("style", "dyadic") not in STYLES:
        raise ValueError("%s: style %r is none of %s" % (where, spec["style"], ", ".join(STYLES)))
    seed = spec.get("seed", 0)
    if type(seed) is not int or not 0 <= seed < 2**32:
        raise ValueError("%s: seed %r is no whole number below 2**32" % (where, seed))
    if "elements" in spec:
        if not isinstance(spec["elements"], list) or len(spec["elements"]) != size:
            raise ValueError("%s: shape %r needs %d elements" % (where, shape, size))
        if not all(type(e) in (int, float) or e in ("nan", "inf", "-inf") for e in spec["elements"]):
            raise ValueError("%s: elements are numbers, or the words nan, inf, -inf" % where)


def _check_kind(kind, where):
    if isinstance(kind, list) and kind and kind[0] in ("labels", "ints"):
        numbers = kind[1:]
        right = len(numbers) == (1 if kind[0] == "labels" else 2)
        if right and all(type(n) is int and -(2**31) <= n < 2**31 for n in numbers) and numbers == sorted(numbers):
            return
    elif kind in KINDS:
        return
    raise ValueError("%s: there is no kind of values %s" % (where, json.dumps(kind)))


def array_of(spec):
    """The array that ``spec`` describes, newly made; see the module's text."""
    shape = tuple(spec["shape"])
    if "elements" in spec:
        elements = np.array([float(e) if isinstance(e, str) else e for e in spec["elements"]])
        return elements.astype(np.dtype(spec["dtype"])).reshape(shape)
    kind = spec.get("kind", "any")
    kind = tuple(kind) if isinstance(kind, list) else kind
    return _made(spec.get("seed", 0), kind, spec.get("style", "dyadic"), shape, spec["dtype"]).copy()


@lru_cache(maxsize=32)  # a program is run here and there, and again while it is shrunk
def _made(seed, kind, style, shape, name):
    dtype = np.dtype(name)
    if not hasattr(SOURCE, "draw"):
        SOURCE.draw = np.random.RandomState(0)
    SOURCE.draw.seed(seed)  # ten times as fast as another RandomState(seed), with the same numbers
    with np.errstate(all="ignore"):
        values = np.asarray(_drawn(SOURCE.draw, kind, style, shape))
        if dtype.kind != "f":
            if not isinstance(kind, tuple):  # those are whole numbers already
                values = np.clip(np.nan_to_num(values, nan=0.0, posinf=3.0, neginf=-3.0), -100, 100)
            values = np.abs(values) if dtype.kind == "u" else values
            if kind in ("positive", "above_one"):
                least = 1 if kind == "positive" else 2  # not 0: some divide by it
                values = np.maximum(np.ceil(values), least)
        return values.astype(dtype)


def _drawn(draw, kind, style, shape):
    if isinstance(kind, tuple):
        low, high = (0, kind[1] - 1) if kind[0] == "labels" else kind[1:]
        drawn = draw.randint(low, max(high, low) + 1, size=shape)
        if style == "special" and high - low >= WIDE_RANGE:
            return np.where(draw.random_sample(shape) < 0.3, draw.choice(np.array([low, high]), size=shape), drawn)
        return drawn
    if kind == "ones_and_zeros":
        return draw.randint(0, 2, size=shape)
    if kind in ("definite", "regular"):
        return _matrices(draw, kind, style, shape)
    if kind == "apart" and style in ("dyadic", "smooth", "normal"):
        size = int(np.prod(shape))
        return ((draw.permutation(size) - size // 2) / 4 + 3 / 32).reshape(shape)
    values = _styled(draw, style, shape)
    if kind == "positive":
        return np.abs(values) + 0.25
    if kind == "unit":
        return values - 2 * np.round(values / 2) if style in ("normal", "wide") else np.clip(values / 4, -0.75, 0.75)
    if kind == "above_one":
        return np.abs(values) + 1.25
    return values


def _styled(draw, style, shape):
    if style == "normal":
        return draw.standard_normal(shape)
    if style == "wide":
        return draw.standard_normal(shape) * 10.0 ** draw.randint(-3, 4, size=shape)
    if style == "onehot":
        size = int(np.prod(shape))
        return (np.arange(size) == (draw.randint(size) if size else 0)).astype(float).reshape(shape)
    if style in ("tied", "special"):
        tied = draw.choice(np.array([-0.25, -0.0, 0.0, 0.25, 0.5]), size=shape)
        if style == "tied":
            return tied
        special = draw.choice(np.array([np.nan, np.inf, -np.inf]), size=shape)
        return np.where(draw.random_sample(shape) < 0.3, special, tied)
    quarters = draw.randint(-8, 9, size=shape) / 4.0
    return quarters + (draw.uniform(0.06, 0.19, size=shape) if style == "smooth" else 0.0)


def _matrices(draw, kind, style, shape):
    """Matrices that can be inverted, or symmetric positive definite ones whose eigenvalues lie apart."""
    values = draw.randint(-4, 5, size=shape) / 4.0
    if style not in ("dyadic", "tied", "onehot"):
        values = values + draw.uniform(0.06, 0.19, size=shape)
    if kind == "regular":
        return values + 4 * np.eye(*shape[-2:]) * draw.choice([-1, 1], size=shape)
    lower = np.tril(values, -1)
    order = draw.permutation(shape[-1]) if shape[-1] else []  # so that results that are sorted have to be
    return lower + np.swapaxes(lower, -1, -2) + np.diag(4 + 8.0 * np.array(order))
