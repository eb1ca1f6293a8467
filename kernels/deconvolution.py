"""Deconvolution: every number of the data is multiplied with the filter, and what overlaps is added up.

[Deconvolution/formula] what Convolution, with the same weight and parameters, does to heads on the way back to its
    data: out[n, f, x stride - pad + i dilate] sums weight[c, f, i] data[n, c, x]. One, two or three axes work alike.
    >>> run("Deconvolution", [[[1, 2]]], [[[1, 10, 100]]], kernel=3, num_filter=1)
    [[[1.0, 12.0, 120.0, 200.0]]]
    >>> run("Deconvolution", [[[1, 2]]], [[[1, 10, 100]]], kernel=3, num_filter=1, stride=2)
    [[[1.0, 10.0, 102.0, 20.0, 200.0]]]
    >>> run("Deconvolution", [[[1, 2]]], [[[1, 10, 100]]], kernel=3, num_filter=1, dilate=2)
    [[[1.0, 2.0, 10.0, 20.0, 100.0, 200.0]]]

[Deconvolution/output-size] along each axis stride (size - 1) + dilate (kernel - 1) + 1 - 2 pad + adj, at least 1.
    pad takes off at both sides; adj, less than stride, adds at the end.
    >>> run("Deconvolution", [[[1, 2]]], [[[1, 10, 100]]], kernel=3, num_filter=1, stride=2, pad=1)
    [[[10.0, 102.0, 20.0]]]
    >>> run("Deconvolution", [[[1, 2]]], [[[1, 10, 100]]], kernel=3, num_filter=1, stride=2, pad=1, adj=1)
    [[[10.0, 102.0, 20.0, 200.0]]]

[Deconvolution/target-shape] target_shape tells the output's size instead of pad and adj, which are ignored: pad is half
    of what is too much, rounded up, and adj what that takes away beyond it. It is at most the size without pad.
    >>> run("Deconvolution", [[[1, 2]]], [[[1, 10, 100]]], kernel=3, num_filter=1, stride=2, target_shape=4)
    [[[10.0, 102.0, 20.0, 200.0]]]

[Deconvolution/groups] channels and filters fall into num_group groups in order; a filter hears the channels of its
    group only. Both numbers must be divisible by num_group.
    >>> run("Deconvolution", [[[1, 2], [3, 4]]], [[[1, 10]], [[1, 100]]], kernel=2, num_filter=2, num_group=2)
    [[[1.0, 12.0, 20.0], [3.0, 304.0, 400.0]]]

[Deconvolution/weight-shape] weight is (channels, num_filter / num_group, *kernel); an unknown weight is inferred, any
    other refused.

[Deconvolution/bias-shape] bias is (num_filter,), added to every pixel of its filter; there is one only with
    no_bias=False.
    >>> run("Deconvolution", [[[1, 2]]], [[[1, 10]]], [0.5], kernel=2, num_filter=1, no_bias=False)
    [[[1.5, 12.5, 20.5]]]

[Deconvolution/rank] kernel has one to three axes, data two more than the kernel.

[Deconvolution/lengths] stride, dilate (default 1), pad, adj (default 0) and target_shape are as long as the kernel;
    kernel, stride and dilate are at least 1, pad and adj at least 0. target_shape is positive, or all zeros for none.

[Deconvolution/layout] channels come first: NCW, NCHW or NCDHW as the rank says, or None.

[Deconvolution/output-shape] an output shape that is given must be the inferred one.

[Deconvolution/floating-point] only floating-point types are taken.

[Deconvolution/gradient] d_data is what Convolution makes of the head with the same weight and parameters, zeros of the
    padding multiplied too; d_weight sums data . head over batch and pixels, d_bias sums the head.
    >>> grad("Deconvolution", [[[1, 2]]], [[[1, 10, 100]]], kernel=3, num_filter=1, stride=2, head=[[[1, 2, 3, 4, 5]]])
    ([[[321.0, 543.0]]], [[[7.0, 10.0, 13.0]]])

[Deconvolution/sum-order] products are added in the order filter by filter of Convolution's gradient, the bias last (a
    tuned twin may order them otherwise, the same way on every run).
"""

from typing import Annotated, Literal, NamedTuple

from .convolution import (
    ADD_BIAS,
    CONVOLVE,
    GATHER_BIAS,
    GATHER_WEIGHT,
    LAYOUTS,
    SEND_BACK,
    inputs,
    spacing,
)
from .foundation import REQUIRED, UNKNOWN, AtLeast, Case, Long, Op, Shape, Sources, merge, require, same_type, told
from .multilinear import register_multilinear
from .shared.convolution_geometry import geometry_of, planes, volume


class Params(NamedTuple):
    kernel: Shape
    stride: Shape = ()
    dilate: Shape = ()
    pad: Shape = ()
    adj: Shape = ()
    target_shape: Shape = ()
    num_filter: Annotated[int, AtLeast(1)] = REQUIRED
    num_group: Annotated[int, AtLeast(1)] = 1
    workspace: Annotated[Long, AtLeast(0)] = 512
    no_bias: bool = True
    cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = None
    cudnn_off: bool = False
    layout: Literal["NCW", "NCHW", "NCDHW", "NHWC", "NDHWC"] | None = None


def target_of(p):
    """The output's size that was asked for, or None."""
    return p.target_shape if any(p.target_shape) else None


def require_params(p):
    rank = len(p.kernel)
    require("Deconvolution/rank", 1 <= rank <= 3, f"kernel {p.kernel} must have 1 to 3 axes")
    stride, dilate, pad = spacing(p)
    for name, values, least in (
        ("kernel", p.kernel, 1), ("stride", stride, 1), ("dilate", dilate, 1), ("pad", pad, 0),
        ("adj", p.adj or (0,) * rank, 0), ("target_shape", target_of(p) or p.kernel, 1),
    ):
        require(
            "Deconvolution/lengths", len(values) == rank and min(values) >= least,
            f"{name} {values} must hold {rank} numbers, as kernel does, of at least {least}",
        )
    require(
        "Deconvolution/output-size", all(a < s for a, s in zip(p.adj, stride, strict=False)) or target_of(p),
        f"adj {p.adj} must be less than stride {stride}",
    )
    require(
        "Deconvolution/layout", p.layout in (None, LAYOUTS[rank]),
        f"layout {p.layout} does not fit kernel {p.kernel}; give {LAYOUTS[rank]} or None",
    )
    require(
        "Deconvolution/groups", p.num_filter % p.num_group == 0,
        f"num_filter {p.num_filter} must be divisible by num_group {p.num_group}",
    )


def whole_sizes(p, sizes):
    """Sizes of the output before anything is taken off."""
    stride, dilate, _ = spacing(p)
    return tuple(
        s * (size - 1) + e * (k - 1) + 1
        for size, k, s, e in zip(sizes, p.kernel, stride, dilate, strict=True)
    )


def pixels_of(p, sizes):
    """Sizes of the output."""
    whole, target = whole_sizes(p, sizes), target_of(p)
    if target is not None:
        fits = all(not told(w) or t <= w for t, w in zip(target, whole, strict=True))
        require("Deconvolution/target-shape", fits, f"target_shape {target} is larger than {whole}")
        return target
    adj = p.adj or (0,) * len(sizes)
    pixels = tuple(w - 2 * b + a for w, b, a in zip(whole, spacing(p)[2], adj, strict=True))
    require(
        "Deconvolution/output-size", all(not told(o) or o > 0 for o in pixels),
        f"data of size {sizes} with pad {p.pad} leaves an output of size {pixels}",
    )
    return pixels


def infer(p, ins, outs):
    require_params(p)
    data, weight, out = ins[0], ins[1], outs[0]
    rank = len(p.kernel)
    weight = merge("Deconvolution/weight-shape", "weight", weight, (UNKNOWN, p.num_filter // p.num_group, *p.kernel))
    if out is not None:
        require("Deconvolution/rank", len(out) == rank + 2, f"output {out} must have two more axes than the kernel")
        data = merge("Deconvolution/rank", "data", data, (out[0], *(UNKNOWN,) * (rank + 1)))
    asked = (UNKNOWN, p.num_filter, *(target_of(p) or (UNKNOWN,) * rank))
    out = merge("Deconvolution/output-shape", "output", out, asked)
    if data is not None:
        axes = f"data {data} must have two more axes than kernel {p.kernel}, for batch and channels"
        require("Deconvolution/rank", len(data) == rank + 2, axes)
        weight = merge("Deconvolution/weight-shape", "weight", weight, (data[1], UNKNOWN, *p.kernel))
        data = (data[0], weight[0], *data[2:])
        out = merge("Deconvolution/output-shape", "output", out, (data[0], p.num_filter, *pixels_of(p, data[2:])))
    require(
        "Deconvolution/groups", weight[0] % p.num_group == 0,
        f"{weight[0]} channels must be divisible by num_group {p.num_group}",
    )
    shapes = [data, weight]
    if not p.no_bias:
        shapes.append(merge("Deconvolution/bias-shape", "bias", ins[2], (p.num_filter,)))
    return shapes, [out]


def infer_type(p, ins, outs):
    ins, outs = same_type(p, ins, outs)
    require(
        "Deconvolution/floating-point", ins[0] is None or ins[0].kind == "f",
        f"data is {ins[0]}; only floating-point types are supported, use Cast",
    )
    return ins, outs


# --- the operator -------------------------------------------------------------------------------
# Its loops are those of convolution.py, with the parts of data and output exchanged.


def turned(p, data, out):
    """Convolution's geometry for the way from ``out`` to ``data``."""
    stride, dilate, pad = spacing(p)
    if target_of(p) is not None:
        pad = tuple((w - o + 1) // 2 for w, o in zip(whole_sizes(p, data[2:]), out[2:], strict=True))
    return geometry_of(out, data, p.kernel, stride, pad, dilate, p.num_group)


def forward(p, data, weight, bias, out):
    SEND_BACK(volume(data), volume(weight), volume(out), turned(p, data.shape, out.shape))
    if bias is not None:
        ADD_BIAS(bias, planes(out))


def backward(p, head, data, weight, d_data, d_weight, d_bias):
    g = turned(p, data.shape, head.shape)
    if d_data is not None:
        CONVOLVE(volume(head), volume(weight), volume(d_data), g)
    if d_weight is not None:
        GATHER_WEIGHT(volume(data), volume(head), volume(d_weight), g)
    if d_bias is not None:
        GATHER_BIAS(planes(head), d_bias)


def cases(draw):
    rank = draw.integer(1, 3)
    groups = draw.integer(1, 2)
    kernel = tuple(draw.integer(1, 3) for _ in range(rank))
    stride = tuple(draw.integer(1, 2) for _ in range(rank))
    dilate = tuple(1 if rank == 3 else draw.integer(1, 2) for _ in range(rank))
    adj = tuple(draw.integer(0, s - 1) for s in stride)
    sizes = tuple(draw.integer(1, 3) for _ in range(rank))
    params = {
        "kernel": kernel, "stride": stride, "dilate": dilate, "num_group": groups,
        "num_filter": groups * draw.integer(1, 3), "no_bias": draw.boolean(),
    }
    whole = whole_sizes(Params(**params), sizes)
    pad = tuple(draw.integer(0, min((w + a - 1) // 2, k - 1)) for w, a, k in zip(whole, adj, kernel, strict=True))
    if draw.boolean():
        params["target_shape"] = tuple(max(w - draw.integer(0, 2), 1) for w in whole)
    else:
        params.update(pad=pad, adj=adj)
    return Case(params, {"data": (draw.integer(1, 2), groups * draw.integer(1, 2), *sizes)})


def refuses(data=(2, 4, 5, 5), kernel=(3, 3), num_filter=4, dtype="float32", **given):
    shapes = {"data": data, **{k: given.pop(k) for k in ("weight", "bias", "output") if k in given}}
    return {
        "params": {"kernel": kernel, "num_filter": num_filter, **given}, "shapes": shapes,
        "dtypes": dict.fromkeys(shapes, dtype),
    }


register_multilinear(Op(
    name="Deconvolution", doc=__doc__, params=Params,
    inputs=inputs, all_inputs=("data", "weight", "bias"),
    infer=infer, infer_type=infer_type,
    forward=forward, backward=backward, needs=("data", "weight"), cases=cases,
    refusals={
        "Deconvolution/groups": refuses(num_group=3, num_filter=3),
        "Deconvolution/weight-shape": refuses(weight=(4, 4, 3, 2)),
        "Deconvolution/bias-shape": refuses(bias=(5,), no_bias=False),
        "Deconvolution/rank": refuses(data=(2, 4, 5)),
        "Deconvolution/lengths": refuses(stride=(2,)),
        "Deconvolution/output-size": refuses(adj=(1, 1)),
        "Deconvolution/target-shape": refuses(target_shape=(8, 7)),
        "Deconvolution/output-shape": refuses(output=(2, 4, 5, 5)),
        "Deconvolution/layout": refuses(layout="NHWC"),
        "Deconvolution/floating-point": refuses(dtype="int32"),
    },
    tier=1, reports=Sources(1), type_of_data=True, color="#fb8072",
    difference_clauses={
        "": "Deconvolution/formula",
        "bias-missing": "Deconvolution/bias-shape",
        "transposed": "Deconvolution/weight-shape",
        "channels-swapped": "Deconvolution/weight-shape",
        "pad-or-stride": "Deconvolution/output-size",
    },
), ("data",), ("weight",), bias_axis=1)
