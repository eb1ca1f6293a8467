"""Rules of pooling, resizing and sampling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...symbol.ir import Node
from .layers import Rule
from .parts import Input, Parts, short
from .site import Answer, Shape, Site, Unsupported, plain


def _ceil_sides(site: Site, kernel: Any, stride: Any, pad: Any) -> list[int]:
    """The sides that PyTorch gives with ceil_mode."""
    found = []
    for side, k, s, q in zip(site.shapes[0][2:], kernel, stride, pad, strict=True):
        out = -((side + 2 * q - k) // -s) + 1
        found.append(out - 1 if (out - 1) * s >= side + q else out)
    return found


def _pooling(site: Site) -> Answer:
    p, rank = site.p, site.rank - 2
    kind = p.pool_type
    if getattr(p, "layout", None) in ("NWC", "NHWC", "NDHWC"):
        return _channels_last(site)
    if p.global_pool:
        return _global(site, kind)
    kernel, stride = tuple(map(int, p.kernel)), tuple(map(int, p.stride)) or (1,) * rank
    pad = tuple(map(int, p.pad)) or (0,) * rank
    end = _end(site, kernel, stride, pad)
    if end is None:
        return _windows(site, kernel, stride, pad)
    options: dict[str, Any] = {
        "kernel": short(kernel), "stride": [short(stride), short(kernel)], "padding": [short(pad), 0],
    }
    text = "{0}, {kernel}{stride}{padding}" + end
    if kind == "max":
        return plain(site, f"F.max_pool{rank}d({text})", **options)
    if kind == "sum":
        return plain(site, f"F.avg_pool{rank}d({text}, divisor_override=1)", **options)
    count = ", count_include_pad=False" if getattr(p, "count_include_pad", None) is False and any(pad) else ""
    return plain(site, f"F.avg_pool{rank}d({text}{count})", **options)


def _end(site: Site, kernel: Any, stride: Any, pad: Any) -> str | None:
    """What the call of PyTorch's pooling ends with; None where its windows are others."""
    p, rank = site.p, site.rank - 2
    outputs, sides = list(site.outputs[0][2:]), site.shapes[0][2:]
    full, old = p.pooling_convention != "valid", site.node.kind == "Pooling_v1"
    if any(2 * q > k or k > side for q, k, side in zip(pad, kernel, sides, strict=True)):
        return None
    if p.pool_type == "lp" or (p.pool_type == "sum" and rank == 1):
        return None
    if old and (any(pad) or (full and p.pool_type != "max")):
        return None
    floors = [(side + 2 * q - k) // s + 1 for side, k, s, q in zip(sides, kernel, stride, pad, strict=True)]
    if not full or outputs == floors:
        return ""
    return ", ceil_mode=True" if _ceil_sides(site, kernel, stride, pad) == outputs else None


def _channels_last(site: Site) -> Answer:
    """The pooling of the array with channels first, and its channels moved back."""
    def moved(shape: Shape) -> Shape:
        return (shape[0], shape[-1], *shape[1:-1])

    found = _pooling(replace(
        site, node=Node(
            site.node.op, site.node.name, site.node.attrs, site.node.inputs, params=site.p._replace(layout=None)
        ), shapes=[moved(site.shapes[0])], outputs=[moved(site.outputs[0])],
    ))
    forward: Parts = []
    for part in found.forward:
        forward += [part, ".movedim(-1, 1)"] if isinstance(part, Input) else [part]
    return Answer(["(", *forward, ").movedim(1, -1)"], found.inputs)


def _global(site: Site, kind: str) -> Answer:
    axes = tuple(range(2, site.rank))
    texts = {
        "avg": f"F.adaptive_avg_pool{len(axes)}d({{0}}, 1)", "max": f"F.adaptive_max_pool{len(axes)}d({{0}}, 1)",
        "sum": f"{{0}}.sum({axes}, keepdim=True)",
    }
    if kind == "lp":
        value = int(site.p.p_value)
        return plain(site, f"({{0}} ** {value}).sum({axes}, keepdim=True) ** (1 / {value})")
    return plain(site, texts[kind])


def _windows(site: Site, kernel: Any, stride: Any, pad: Any) -> Answer:
    """Pooling whose windows PyTorch does not have."""
    p, outputs = site.p, tuple(site.outputs[0][2:])
    old = site.node.kind == "Pooling_v1"
    kind = p.pool_type
    places = f"{kernel}, {stride}, {pad}, {outputs}"
    if kind == "max":
        return plain(site, f"max_of_windows({{0}}, {places}{', padding=0.0' if old else ''})")
    if kind == "avg":
        count = "kernel" if old else "data" if p.count_include_pad is False else "padded"
        return plain(site, f'mean_of_windows({{0}}, {places}, "{count}")')
    if kind == "lp":
        value = int(p.p_value)
        return plain(site, f"sum_of_windows({{0}} ** {value}, {places}) ** (1 / {value})")
    return plain(site, f"sum_of_windows({{0}}, {places})")


def _resize(site: Site) -> Answer:
    if site.used and max(site.used) > 0:
        raise Unsupported("its further outputs are read")
    corners = bool(getattr(site.p, "align_corners", True))
    height, width = site.outputs[0][2:]
    if len(site.shapes) > 1 and site.shapes[1][2:] == (height, width):
        size = "{1}.shape[2:]"
    else:
        size = "({height}, {width})"
    if 1 in (height, width) and not corners:
        raise Unsupported("one side of its output is 1, for which PyTorch takes the middle")
    found = plain(
        site, f'F.interpolate({{0}}, {size}, mode="bilinear", align_corners={corners})', height=height, width=width
    )
    return found if size.startswith("{1}") else Answer(found.forward, [0])


def _grid(site: Site) -> Answer:
    p = site.p
    if p.transform_type == "affine":
        height, width = (int(side) for side in p.target_shape)
        if 1 in (height, width):
            return plain(site, "affine_places({0}, {height}, {width})", height=height, width=width)
        return plain(
            site, "F.affine_grid({0}.reshape(-1, 2, 3), ({0}.shape[0], 1, {height}, {width}), align_corners=True)"
            ".permute(0, 3, 1, 2)", height=height, width=width,
        )
    return plain(site, "warped_grid({0})")


def _transformer(site: Site) -> Answer:
    height, width = (int(side) for side in site.outputs[0][2:])
    size = "({0}.shape[0], {0}.shape[1], {height}, {width})"
    if 1 in (height, width):
        return plain(
            site, "F.grid_sample({0}, affine_places({1}, {height}, {width}).permute(0, 2, 3, 1), align_corners=True)",
            height=height, width=width,
        )
    return plain(
        site, f"F.grid_sample({{0}}, F.affine_grid({{1}}.reshape(-1, 2, 3), {size}, align_corners=True),"
        " align_corners=True)", height=height, width=width,
    )


def _deformable(site: Site) -> Answer:
    p = site.p
    modulated = site.node.kind == "_contrib_ModulatedDeformableConvolution"
    stride, dilate, pad = tuple(p.stride) or (1, 1), tuple(p.dilate) or (1, 1), tuple(p.pad) or (0, 0)
    inputs = list(range(len(site.shapes)))
    mask = "{2}" if modulated else "None"
    weight = 3 if modulated else 2
    bias = f"{{{weight + 1}}}" if len(inputs) > weight + 1 else "None"
    return Answer(
        plain(
            site, f"deformable_convolution({{0}}, {{1}}, {mask}, {{{weight}}}, {bias}, {stride}, {dilate}, {pad},"
            f" {p.num_group}, {p.num_deformable_group})",
        ).forward, inputs,
    )


def _correlation(site: Site) -> Answer:
    p = site.p
    return plain(
        site, f"correlation({{0}}, {{1}}, {p.kernel_size}, {p.max_displacement}, {p.stride1}, {p.stride2},"
        f" {p.pad_size}, {bool(p.is_multiply)})",
    )


def _unfold(site: Site, name: str) -> Answer:
    p = site.p
    if len(p.kernel) != 2:
        raise Unsupported(f"its kernel has {len(p.kernel)} axes")
    size = f"{tuple(p.output_size)}, " if name == "fold" else ""
    options: dict[str, Any] = {
        "dilation": [short(p.dilate or (1,)), 1], "padding": [short(p.pad or (0,)), 0],
        "stride": [short(p.stride or (1,)), 1],
    }
    return plain(site, f"F.{name}({{0}}, {size}{tuple(p.kernel)}{{dilation}}{{padding}}{{stride}})", **options)


WINDOWS: dict[str, Rule] = {
    "Pooling": _pooling, "Pooling_v1": _pooling, "_contrib_BilinearResize2D": _resize, "GridGenerator": _grid,
    "BilinearSampler": lambda site: plain(
        site, "F.grid_sample({0}, {1}.permute(0, 2, 3, 1), align_corners=True)"
    ),
    "SpatialTransformer": _transformer, "_contrib_DeformableConvolution": _deformable,
    "_contrib_ModulatedDeformableConvolution": _deformable, "Correlation": _correlation,
    "_contrib_AdaptiveAvgPooling2D": lambda site: plain(
        site, "F.adaptive_avg_pool2d({0}, {size})", size=short(site.outputs[0][2:])
    ),
    "im2col": lambda site: _unfold(site, "unfold"), "col2im": lambda site: _unfold(site, "fold"),
}

__all__ = ["WINDOWS"]
