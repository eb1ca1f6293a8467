"""_contrib_calibrate_entropy: the range that a histogram is best quantized with.

[_contrib_calibrate_entropy/value] hist counts values in n bins, n odd, with the edges hist_edges, around 0. For every
    number i from num_quantized_bins // 2 to n // 2, two distributions over the 2 i + 1 middle bins are compared. p has
    their counts, its first and its last bin also those of all bins beyond. q joins the counts of the same bins, the
    first one's taken as 0, into num_quantized_bins bins of equal width (the last takes the rest), and spreads each sum
    evenly over those of its bins that have a count; it is 0 where p is. Of the i with the least divergence of q from
    p, which is the sum of p log(p / q), the first one gives threshold, the upper edge of the last bin, and divergence.
    >>> run("_contrib_calibrate_entropy", [1, 2, 3, 4, 5, 6, 7, 8, 9], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    ...     num_quantized_bins=5)
    ([9.0], [0.198266])

[_contrib_calibrate_entropy/smoothing] before, each bin of p that is 0 gets 0.0001, and the others give as much away in
    equal parts; q likewise; then each is divided by its sum. An i for which one has no count, or would give away a
    whole one, has no divergence. Where none has one, the first i is taken, with the largest float32 as divergence.
    >>> run("_contrib_calibrate_entropy", [0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5], num_quantized_bins=3)
    ([4.0], [3.4028234663852886e+38])

[_contrib_calibrate_entropy/sum-order] all is float32, added from left to right; a logarithm is that of float64,
    rounded.

[_contrib_calibrate_entropy/bins] hist has an odd number of elements, at least num_quantized_bins, and hist_edges one
    more; num_quantized_bins is at least 1.

[_contrib_calibrate_entropy/types] everything is float32.

[_contrib_calibrate_entropy/gradient] there is none, as in MXNet.
"""

from math import log
from typing import Annotated, NamedTuple

import numpy as np

from .foundation import AtLeast, Case, Loop, Op, items, known, merge, register, require, scratch, told
from .foundation.loops import FILL
from .shared.quantized import SINGLE, types

PAGE = "_contrib_calibrate_entropy"


class Params(NamedTuple):
    num_quantized_bins: Annotated[int, AtLeast(1)] = 255


def infer(p, ins, outs):
    hist, edges = ins
    if hist is not None:
        require(f"{PAGE}/bins", len(hist) == 1, f"hist has the shape {list(hist)}, one axis is needed")
        bins = hist[0]
        require(
            f"{PAGE}/bins", not told(bins) or (bins % 2 == 1 and bins >= p.num_quantized_bins),
            f"hist has {bins} bins; an odd number, of at least num_quantized_bins={p.num_quantized_bins}, is needed",
        )
        if known(hist):
            edges = merge(f"{PAGE}/bins", "hist_edges", edges, (bins + 1,))
    return [hist, edges], [merge(f"{PAGE}/bins", "output", out, (1,)) for out in outs]


# --- loops ----------------------------------------------------------------------------------------


# Choice number ``item`` has ``half = first + item`` bins on each side of the middle one. It works on row ``item`` of p
# and q, which holds as many numbers as there are bins.


def outline(hist, p, n, first, count):
    """p: the middle bins, of which the outer two hold what lies beyond."""
    for item in items(count):
        half = first + item
        start, stop, base = n // 2 - half, n // 2 + half + 1, item * n
        for k in range(start + 1, stop):
            p[base + k - start] = hist[k]
        p[base] = hist[0]
        for k in range(1, start + 1):
            p[base] += hist[k]
        for k in range(stop, n):
            p[base + stop - start - 1] += hist[k]


def spread(hist, p, q, n, bins, first, count):
    """q: the same bins joined and spread again."""
    for item in items(count):
        half = first + item
        start, size, base = n // 2 - half, 2 * half + 1, item * n
        joined = size // bins
        for j in range(bins):
            end = size if j == bins - 1 else (j + 1) * joined
            total = np.float32(0)
            filled = 0
            for k in range(max(j * joined, 1), end):
                total += hist[start + k]
                filled += 1 if hist[start + k] != 0 else 0
            for k in range(j * joined, end):
                q[base + k] = total / np.float32(filled) if filled and p[base + k] != 0 else np.float32(0)


def smooth(p, valid, n, share, first, count):
    """Zeros become ``share``, which the others give away, and the row is divided by its sum; or ``valid`` becomes 0."""
    for item in items(count):
        size, base = 2 * (first + item) + 1, item * n
        zeros = 0
        for k in range(size):
            zeros += 1 if p[base + k] == 0 else 0
        given = share * np.float32(zeros) / np.float32(max(size - zeros, 1))
        if zeros == size or given >= 1:
            valid[item] = 0
            continue
        total = np.float32(0)
        for k in range(size):
            p[base + k] = share if p[base + k] == 0 else p[base + k] - given
            total += p[base + k]
        for k in range(size):
            p[base + k] = p[base + k] / total


def compare(p, q, valid, found, n, most, first, count, place):
    """The divergences of these choices go into ``found`` from ``place`` on."""
    for item in items(count):
        total = np.float32(0)
        for k in range(item * n, item * n + 2 * (first + item) + 1):
            total += p[k] * np.float32(log(np.float64(p[k] / q[k])))
        found[place + item] = total if valid[item] else most


def choose(found, edges, threshold, divergence, n, first, count):
    for _ in items(1):
        best = 0
        for item in range(1, count):
            best = item if found[item] < found[best] else best
        threshold[0] = edges[n // 2 + first + best + 1]
        divergence[0] = found[best]


OUTLINE, SPREAD, SMOOTH, COMPARE, CHOOSE = Loop(outline), Loop(spread), Loop(smooth), Loop(compare), Loop(choose)
AT_ONCE = 64  # how many choices there is memory for
SHARE, MOST = np.float32(1e-4), np.finfo(np.float32).max


# --- the operator ---------------------------------------------------------------------------------


def forward(p, hist, edges, threshold, divergence):
    n, bins = hist.size, p.num_quantized_bins
    first = bins // 2
    count = n // 2 - first + 1
    rows, joined, found = scratch(hist, AT_ONCE * n, AT_ONCE * n, count)
    (valid,) = scratch(hist, AT_ONCE, dtype=np.int64)
    for place in range(0, count, AT_ONCE):
        some = first + place, min(AT_ONCE, count - place)
        FILL(valid, 1, AT_ONCE)
        OUTLINE(hist, rows, n, *some)
        SPREAD(hist, rows, joined, n, bins, *some)
        SMOOTH(rows, valid, n, SHARE, *some)
        SMOOTH(joined, valid, n, SHARE, *some)
        COMPARE(rows, joined, valid, found, n, MOST, *some, place)
    CHOOSE(found, edges, threshold, divergence, n, first, count)


def cases(draw):
    bins = draw.integer(1, 7)
    side = bins + 1 - bins % 2 + 2 * draw.integer(0, 3)
    return Case({"num_quantized_bins": bins}, {"hist": (side,)}, {"hist": ("ints", 0, 5)}, {"hist": "float32"})


register(Op(
    name=PAGE, doc=__doc__, params=Params, inputs=("hist", "hist_edges"), outputs=("threshold", "divergence"),
    infer=infer, infer_type=types(f"{PAGE}/types", [(SINGLE,)] * 2, [(SINGLE,)] * 2), forward=forward,
    no_gradient_clause=f"{PAGE}/gradient", cases=cases,
    refusals={
        f"{PAGE}/bins": {"params": {"num_quantized_bins": 4}, "shapes": {"hist": (6,)}},
        f"{PAGE}/types": {
            "params": {"num_quantized_bins": 1}, "shapes": {"hist": (3,)}, "dtypes": {"hist": "float64"},
        },
    },
    tier=3,
    runs_alone={"choose": "the least of as many numbers as there are choices"},
))
