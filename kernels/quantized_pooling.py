"""_contrib_quantized_pooling: the largest or the mean element of windows of quantized data.

[_contrib_quantized_pooling/value] windows lie as in Pooling. avg divides the sum by the number of elements, in float32,
    and rounds with halves to even. The range of data goes through unchanged.
    >>> run("_contrib_quantized_pooling", np.int8([[[[1, -4, 3, 2]]]]), [-1], [1], kernel=(1, 2))
    ([[[[1.0, 3.0, 3.0]]]], [-1.0], [1.0])
    >>> run("_contrib_quantized_pooling", np.int8([[[[1, -4, 3, 2]]]]), [-1], [1], kernel=(1, 2), pool_type="avg")
    ([[[[-2.0, 0.0, 2.0]]]], [-1.0], [1.0])

[_contrib_quantized_pooling/count] a mean divides by the size of the kernel, also where a window reaches beyond the
    padding; with count_include_pad=False by the number of elements of data in the window.
    >>> run("_contrib_quantized_pooling", np.uint8([[[[4, 8, 12]]]]), [-1], [1], kernel=(1, 2), stride=(1, 2),
    ...     pool_type="avg", pooling_convention="full")
    ([[[[6.0, 6.0]]]], [-1.0], [1.0])

[_contrib_quantized_pooling/nothing] a window without an element of data has the least number of the type as its largest
    element, and 0 as its mean. With count_include_pad=False it has no mean.

[_contrib_quantized_pooling/kind] pool_type is max or avg; images have two or three sides, channels come first, and
    kernel is given also with global_pool.

[_contrib_quantized_pooling/shape] the output has the shape of Pooling's, ends of ranges (1,).

[_contrib_quantized_pooling/types] data is int8 or uint8, and the output like it; ends of ranges are float32.

[_contrib_quantized_pooling/gradient] all gradients are zero, as in MXNet.
"""

from math import prod

import numpy as np

from . import pooling
from .foundation import Case, Loop, Op, Sources, items, known, register, require
from .foundation.loops import COPY
from .pooling import Params
from .shared.boxes import nothing
from .shared.convolution_geometry import volume
from .shared.pooling_windows import Geometry, checked, windows
from .shared.quantized import BYTE, kept, nearest, ranges

PAGE = "_contrib_quantized_pooling"


def infer(p, ins, outs):
    require(
        f"{PAGE}/kind", p.pool_type in ("max", "avg") and len(p.kernel) in (2, 3) and not p.layout.endswith("C"),
        f"{PAGE} takes pool_type max or avg, a kernel with 2 or 3 sides and channels first, not pool_type"
        f" {p.pool_type}, kernel {p.kernel}, layout {p.layout}; dequantize the data first",
    )
    (data,), (out,) = pooling.infer(p, ins[:1], outs[:1])
    if p.pool_type == "avg" and p.count_include_pad is False and known(data, out) and not p.global_pool:
        _, stride, pad = checked(p, len(data) - 2)
        numbers = zip(data[2:], out[2:], stride, pad, strict=True)
        begins = [(count - 1) * step - before < side for side, count, step, before in numbers]
        require(
            f"{PAGE}/nothing", all(begins),
            f"a window lies outside data {list(data)}: kernel {p.kernel}, stride {stride}, pad {pad}; it has no mean",
        )
    return [data, *ranges(f"{PAGE}/shape", ins[1:])], [out, *ranges(f"{PAGE}/shape", outs[1:])]


# --- loops ----------------------------------------------------------------------------------------
# As those of Pooling: begin, end and size hold the windows along depth, then along height, then along width.


def largest(data, out, begin, end, least, g: Geometry):
    """out[n, c, z, y, x] = the largest element of the window, or the least number."""
    for n, c, z, y, x in items(out.shape):
        row, column = g.out_d + y, g.out_d + g.out_h + x
        best = np.int64(least)
        for d in range(begin[z], end[z]):
            for h in range(begin[row], end[row]):
                for w in range(begin[column], end[column]):
                    best = max(best, np.int64(data[n, c, d, h, w]))
        out[n, c, z, y, x] = best


def mean(data, out, begin, end, whole, g: Geometry):
    """``whole`` is what every sum is divided by, or 0: then each by its number of elements."""
    for n, c, z, y, x in items(out.shape):
        row, column = g.out_d + y, g.out_d + g.out_h + x
        total = np.int64(0)
        for d in range(begin[z], end[z]):
            for h in range(begin[row], end[row]):
                for w in range(begin[column], end[column]):
                    total += np.int64(data[n, c, d, h, w])
        inside = (end[z] - begin[z]) * (end[row] - begin[row]) * (end[column] - begin[column])
        out[n, c, z, y, x] = nearest(np.float32(total) / np.float32(max(whole or inside, 1)))


LARGEST, MEAN = Loop(largest), Loop(mean)


# --- the operator ---------------------------------------------------------------------------------


def forward(p, data, low, high, out, out_low, out_high):
    begin, end, _, g = windows(p, data.shape, out.shape, data.device)
    if p.pool_type == "max":
        LARGEST(volume(data), volume(out), begin, end, -128 if data.dtype == BYTE else 0, g)
    else:
        inside = p.global_pool or p.count_include_pad is False
        MEAN(volume(data), volume(out), begin, end, 0 if inside else prod(p.kernel), g)
    COPY(low, out_low, 1)
    COPY(high, out_high, 1)


def cases(draw):
    kernel = tuple(draw.integer(1, 3) for _ in range(draw.integer(2, 3)))
    pad = tuple(draw.integer(0, k // 2) for k in kernel)
    image = tuple(max(k - 2 * b, 1) + draw.integer(0, 3) for k, b in zip(kernel, pad, strict=True))
    params = {
        "kernel": kernel, "pad": pad, "stride": tuple(draw.integer(1, k - b) for k, b in zip(kernel, pad, strict=True)),
        "pool_type": draw.choice(("max", "avg")), "pooling_convention": draw.choice(("valid", "full")),
        "global_pool": draw.integer(0, 4) == 0, "count_include_pad": draw.boolean(),
    }
    kind = draw.choice(("int8", "uint8"))
    values = {"data": ("ints", -128, 127) if kind == "int8" else ("ints", 0, 255)}
    return Case(params, {"data": (draw.integer(1, 2), draw.integer(1, 3), *image)}, values, {"data": kind})


register(Op(
    name=PAGE, doc=__doc__, params=Params, inputs=("data", "min_data", "max_data"),
    outputs=("output", "min_output", "max_output"), infer=infer, infer_type=kept(f"{PAGE}/types"), forward=forward,
    gradient=nothing, differentiable=False, cases=cases,
    refusals={
        f"{PAGE}/kind": {"params": {"kernel": (2, 2), "pool_type": "sum"}, "shapes": {"data": (1, 1, 4, 4)}},
        f"{PAGE}/nothing": {
            "params": {
                "kernel": (1, 1), "stride": (5, 5), "pool_type": "avg", "pooling_convention": "full",
                "count_include_pad": False,
            },
            "shapes": {"data": (1, 1, 4, 4)},
        },
        f"{PAGE}/shape": {"params": {"kernel": (2, 2)}, "shapes": {"data": (1, 1, 4, 4), "min_data": (2,)}},
        f"{PAGE}/types": {
            "params": {"kernel": (2, 2)}, "shapes": {"data": (1, 1, 4, 4)}, "dtypes": {"data": "float32"},
        },
    },
    tier=3, reports=Sources(1, whole=True),
))
