"""Rules of operators that move elements, make arrays, or look rows up."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from .layers import Rule
from .site import Answer, Site, Unsupported, plain, tidy, type_name


def _listed(numbers: Sequence[Any]) -> str:
    return ", ".join(map(str, numbers))


def _flatten(site: Site) -> Answer:
    text = "{0}.flatten(1)" if site.rank > 2 else "{0}.reshape(-1, 1)" if site.rank == 1 else "{0}"
    return plain(site, text, light=True)


def _reshape(site: Site) -> Answer:
    """The shape as the network states it; sizes that it copies stay open."""
    spec = _codes(site.p)
    if not spec or site.p.reverse:
        return plain(site, f"{{0}}.reshape({_sizes(site)})", light=True)
    sides, numbers = _sides(site, spec)
    if sides == ["{0}.shape[0]", "-1"]:
        return plain(site, "{0}.flatten(1)" if site.rank > 2 else "{0}", light=True)
    if "-1" not in sides and [side.startswith("{0}") for side in sides] == [True, *[False] * (len(sides) - 1)]:
        sides[0] = "-1" if sides[0] == "{0}.shape[0]" else sides[0]
    return plain(site, f"{{0}}.reshape({', '.join(sides)})", light=True, **numbers)


def _codes(p: Any) -> list[int]:
    """The shape of a Reshape, also in its older form."""
    spec = [int(side) for side in (p.shape or ())]
    if not spec and any(p.target_shape):
        spec = [int(side) or -1 for side in p.target_shape]
        if p.keep_highest:
            spec[0] = 0
    return spec


def _sides(site: Site, spec: list[int]) -> tuple[list[str], dict[str, Any]]:
    """The text of each side, and the numbers in them."""
    sides: list[str] = []
    numbers: dict[str, Any] = {}
    place = position = 0
    shape = site.shapes[0]
    free = -1 not in spec
    while position < len(spec):
        code = spec[position]
        if code == 0:
            sides.append(f"{{0}}.shape[{place}]")
            place += 1
        elif code == -2:
            sides += [f"{{0}}.shape[{axis}]" for axis in range(place, len(shape))]
            place = len(shape)
        elif code == -3:
            sides.append("-1" if free else f"{{0}}.shape[{place}] * {{0}}.shape[{place + 1}]")
            free = False
            place += 2
        elif code == -4:
            first, second = spec[position + 1:position + 3]
            whole = shape[place]
            sides += [str(whole // second if first == -1 else first), str(whole // first if second == -1 else second)]
            place, position = place + 1, position + 2
        elif code > 1:
            numbers[f"size{len(sides)}"] = code
            sides.append(f"{{size{len(sides)}}}")
            place += 1
        else:
            sides.append(str(code))
            place += 1
        position += 1
    return sides, numbers


def _sizes(site: Site) -> str:
    """The sides of the output, where the first is that of the input as long as both agree."""
    out = list(map(str, site.outputs[0]))
    if out and site.shapes[0] and site.outputs[0][0] == site.shapes[0][0]:
        out[0] = "-1"
    return ", ".join(out)


def _reshape_like(site: Site) -> Answer:
    p = site.p
    if (p.lhs_begin, p.lhs_end, p.rhs_begin, p.rhs_end) == (None, None, None, None):
        return plain(site, "{0}.reshape({1}.shape)", light=True)

    def ends(begin: Any, end: Any, rank: int) -> tuple[int, int]:
        first, last = int(begin or 0), rank if end is None else int(end)
        return first + rank * (first < 0), last + rank * (last < 0)

    begin, end = ends(p.lhs_begin, p.lhs_end, len(site.shapes[0]))
    first, last = ends(p.rhs_begin, p.rhs_end, len(site.shapes[1]))
    before = f"*{{0}}.shape[:{begin}], " if begin else ""
    after = f", *{{0}}.shape[{end}:]" if end < len(site.shapes[0]) else ""
    return plain(site, f"{{0}}.reshape({before}*{{1}}.shape[{first}:{last}]{after})", light=True)


def _transpose(site: Site) -> Answer:
    axes = [site.axis(axis) for axis in site.p.axes] or list(range(site.rank))[::-1]
    changed = [axis for axis, source in enumerate(axes) if axis != source]
    if len(changed) == 2:
        return plain(site, f"{{0}}.transpose({_listed(changed)})", light=True)
    return plain(site, f"{{0}}.permute({_listed(axes)})", light=True)


def _index(site: Site, ranges: dict[int, tuple[Any, Any, Any]]) -> str:
    last = max(ranges, default=0)
    texts = []
    for axis in range(last + 1):
        begin, end, step = ranges.get(axis, (None, None, None))
        side = site.shapes[0][axis]
        begin = None if begin in (None, 0) else begin
        end = None if end is None or (isinstance(end, int) and end >= side) else end
        ending = "" if step in (None, 1) else f":{step}"
        texts.append(f"{'' if begin is None else begin}:{'' if end is None else end}{ending}")
    return f"[{', '.join(texts)}]"


def _numbers(text: Any) -> tuple[Any, ...]:
    found = ast.literal_eval(text) if isinstance(text, str) else text
    return found if isinstance(found, tuple) else (found,)


def _slice(site: Site) -> Answer:
    begin, end, step = map(_numbers, (site.p.begin, site.p.end, site.p.step))
    steps = [*step, *[None] * (len(begin) - len(step))]
    ranges, turned = {}, []
    for axis, (first, last, each) in enumerate(zip(begin, end, steps, strict=True)):
        if each is not None and each < 0:
            side = site.shapes[0][axis]
            start, stop, _ = slice(first, last, each).indices(side)
            turned.append(axis)
            ranges[axis] = (side - 1 - start, side - 1 - stop, -each)
        else:
            ranges[axis] = (first, last, each)
    data = f"{{0}}.flip({_listed(turned)})" if turned else "{0}"
    index = _index(site, ranges)
    return plain(site, data if set(index) <= set("[:, ]") else f"{data}{index}", light=True)


def _slice_axis(site: Site) -> Answer:
    index = _index(site, {site.axis(site.p.axis): (site.p.begin, site.p.end, None)})
    return plain(site, "{0}" if set(index) <= set("[:, ]") else f"{{0}}{index}", light=True)


def _slice_like(site: Site) -> Answer:
    axes = {site.axis(axis) for axis in site.p.axes} or set(range(site.rank))
    index = ", ".join(f":{{1}}.shape[{axis}]" if axis in axes else ":" for axis in range(max(axes) + 1))
    return plain(site, f"{{0}}[{index}]")


def _crop(site: Site) -> Answer:
    p = site.p
    like = len(site.shapes) > 1
    sides = ["{1}.shape[2]", "{1}.shape[3]"] if like else [str(int(side)) for side in p.h_w]
    if p.center_crop:
        offsets = [
            str((whole - part) // 2) for whole, part in zip(site.shapes[0][2:], site.outputs[0][2:], strict=True)
        ]
    else:
        offsets = [str(int(offset)) for offset in p.offset]
    ends = []
    for offset, side in zip(offsets, sides, strict=True):
        end = f"{offset} + {side}" if like else str(int(offset) + int(side))
        ends.append(f":{side}" if offset == "0" else f"{offset}:{end}")
    return plain(site, f"{{0}}[:, :, {', '.join(ends)}]")


def _split(site: Site) -> Answer:
    p, axis = site.p, site.axis(site.p.axis)
    count = int(p.num_outputs)
    suffixes = [f"[{index}]" for index in range(count)]
    if count == 1:
        return plain(site, f"{{0}}.squeeze({axis})" if p.squeeze_axis else "{0}")
    if p.squeeze_axis:
        return plain(site, f"{{0}}.unbind({axis})", suffixes=suffixes)
    return plain(site, "{0}.chunk({count}, {axis})", suffixes=suffixes, count=count, axis=axis)


def _split_v2(site: Site) -> Answer:
    p, axis = site.p, site.axis(site.p.axis)
    suffixes = [f"[{index}]" for index in range(len(site.outputs))]
    sides = [shape[axis] if not p.squeeze_axis else 1 for shape in site.outputs]
    if p.squeeze_axis:
        return plain(site, f"{{0}}.unbind({axis})", suffixes=suffixes)
    return plain(site, f"{{0}}.split({sides}, {axis})", suffixes=suffixes)


def _pad(site: Site) -> Answer:
    p = site.p
    pairs = [(int(a), int(b)) for a, b in zip(p.pad_width[0::2], p.pad_width[1::2], strict=True)]
    if p.mode != "constant":
        if pairs[:2] != [(0, 0), (0, 0)]:
            raise Unsupported(f"it pads the batch or the channels in mode {p.mode}")
        pairs = pairs[2:]
    while p.mode == "constant" and len(pairs) > 1 and pairs[0] == (0, 0):
        pairs = pairs[1:]
    ends = _listed([side for pair in pairs[::-1] for side in pair])
    mode = {"constant": "", "edge": ', mode="replicate"', "reflect": ', mode="reflect"'}[p.mode]
    value = f", value={tidy(p.constant_value)!r}" if p.mode == "constant" and p.constant_value else ""
    return plain(site, f"F.pad({{0}}, ({ends}){mode}{value})")


def _broadcast(site: Site) -> Answer:
    shape, out = site.shapes[0], site.outputs[0]
    sides = [-1 if side == old else side for side, old in zip(out, shape, strict=True)]
    return plain(site, f"{{0}}.expand({_listed(sides)})")


def _broadcast_like(site: Site) -> Answer:
    p = site.p
    if p.lhs_axes is None:
        return plain(site, "{0}.expand_as({1})")
    pairs = {site.axis(a): b % len(site.shapes[1]) for a, b in zip(p.lhs_axes, p.rhs_axes, strict=True)}
    sides = [f"{{1}}.shape[{pairs[axis]}]" if axis in pairs else "-1" for axis in range(site.rank)]
    return plain(site, f"{{0}}.expand({', '.join(sides)})")


def _whole(site: Site, index: int) -> str:
    return f"{{{index}}}" if site.types[index] == np.int64 else f"{{{index}}}.long()"


def _rows(site: Site, index: int, side: int, mode: str) -> str:
    """Indices inside an axis."""
    rows = _whole(site, index)
    return f"{rows} % {side}" if mode == "wrap" else f"{rows}.clamp(0, {side - 1})"


def _take(site: Site) -> Answer:
    axis, mode = site.axis(site.p.axis), site.p.mode
    rows = _whole(site, 1) if mode == "raise" else _rows(site, 1, site.shapes[0][axis], mode)
    return plain(site, f"{{0}}[{':, ' * axis}{rows}]")


def _pick(site: Site) -> Answer:
    p = site.p
    axis = site.rank - 1 if p.axis is None else site.axis(p.axis)
    rows = _rows(site, 1, site.shapes[0][axis], p.mode)
    rows = rows if len(site.shapes[1]) == site.rank else f"({rows}).unsqueeze({axis})"
    squeezed = "" if p.keepdims else f".squeeze({axis})"
    squeezed = ".reshape(1)" if squeezed and site.rank == 1 else squeezed
    return plain(site, f"{{0}}.gather({axis}, {rows}){squeezed}")


def _one_hot(site: Site) -> Answer:
    p = site.p
    kind = type_name(site.output_types[0])
    text = f"({_whole(site, 0)}.unsqueeze(-1) == torch.arange({{depth}}, device={{0}}.device)).to({kind})"
    if (p.on_value, p.off_value) != (1.0, 0.0):
        text += f" * {tidy(p.on_value - p.off_value)!r} + {tidy(p.off_value)!r}"
    return plain(site, text, depth=int(p.depth))


def _sorted(site: Site) -> Answer:
    axis = 0 if site.p.axis is None else site.p.axis
    data = "{0}.flatten()" if site.p.axis is None else "{0}"
    site.only_first()
    return plain(site, f"torch.sort({data}, dim={axis}, descending={not site.p.is_ascend}, stable=True).values")


def _argsort(site: Site) -> Answer:
    axis = 0 if site.p.axis is None else site.p.axis
    data = "{0}.flatten()" if site.p.axis is None else "{0}"
    return plain(
        site, f"torch.sort({data}, dim={axis}, descending={not site.p.is_ascend}, stable=True).indices"
        f".to({type_name(site.output_types[0])})",
    )


def _topk(site: Site) -> Answer:
    p = site.p
    data, axis = ("{0}.flatten()", 0) if p.axis is None else ("{0}", site.axis(p.axis))
    side = int(np.prod(site.shapes[0])) if p.axis is None else site.shapes[0][axis]
    k = int(p.k) if p.k >= 1 else side
    first = f"{':, ' * axis}:{k}"
    ordered = f"torch.sort({data}, dim={axis}, descending={not p.is_ascend}, stable=True)"
    if p.ret_typ == "value":
        return plain(site, f"{ordered}.values[{first}]")
    if p.ret_typ == "indices":
        return plain(site, f"{ordered}.indices[{first}].to({type_name(site.output_types[0])})")
    if p.ret_typ == "both":
        return plain(
            site, ordered, suffixes=[f".values[{first}]", f".indices[{first}].to({type_name(site.output_types[1])})"]
        )
    shape = "" if p.axis is not None else ".reshape({0}.shape)"
    return plain(
        site, f"torch.zeros_like({data}).scatter({axis}, {ordered}.indices[{first}], 1){shape}"
    )


def _dot(site: Site) -> Answer:
    p, (a, b) = site.p, site.shapes
    if len(a) == len(b) == 2:
        return plain(site, f"{'{0}.T' if p.transpose_a else '{0}'} @ {'{1}.T' if p.transpose_b else '{1}'}")
    if len(a) == len(b) == 1:
        return plain(site, "({0} @ {1}).reshape(1)")
    return plain(
        site, f"torch.tensordot({{0}}, {{1}}, dims=([{0 if p.transpose_a else len(a) - 1}],"
        f" [{len(b) - 1 if p.transpose_b else 0}]))",
    )


def _batch_dot(site: Site) -> Answer:
    p = site.p
    return plain(site, f"{'{0}.mT' if p.transpose_a else '{0}'} @ {'{1}.mT' if p.transpose_b else '{1}'}")


def _gemm2(site: Site) -> Answer:
    if site.p.axis != -2:
        raise Unsupported(f"its axis is {site.p.axis}")
    found = _batch_dot(site)
    if site.p.alpha != 1.0:
        return Answer([f"{tidy(site.p.alpha)!r} * (", *found.forward, ")"], found.inputs)
    return found


def _constant(function: str) -> Rule:
    def rule(site: Site) -> Answer:
        kind = type_name(site.output_types[0])
        kind = "" if kind == "torch.float32" else f", dtype={kind}"
        value = f", {tidy(site.p.value)!r}" if function == "full" else ""
        return plain(site, f"torch.{function}({site.outputs[0]}{value}{kind})")

    return rule


def _arange(site: Site) -> Answer:
    p, count = site.p, int(np.prod(site.outputs[0])) // int(site.p.repeat)
    kind = type_name(site.output_types[0])
    repeat = f".repeat_interleave({p.repeat})" if p.repeat > 1 else ""
    plain_range = (p.start, p.step) == (0, 1)
    text = f"torch.arange({count}, dtype={kind})" if plain_range else (
        f"torch.arange({count}, dtype={kind}) * {tidy(p.step)!r} + {tidy(p.start)!r}"
    )
    return plain(site, f"({text}){repeat}" if repeat and not plain_range else text + repeat)


def _arange_like(site: Site) -> Answer:
    p = site.p
    side = "{0}.numel()" if p.axis is None else f"{{0}}.shape[{p.axis}]"
    text = f"torch.arange({side}, dtype={{0}}.dtype, device={{0}}.device)"
    text += f'.div({p.repeat}, rounding_mode="floor")' if p.repeat > 1 else ""
    text += "" if p.step == 1 else f" * {tidy(p.step)!r}"
    text += "" if p.start == 0 else f" + {tidy(p.start)!r}"
    return plain(site, f"({text}).reshape({{0}}.shape)" if p.axis is None else text)


def _squeeze(site: Site) -> Answer:
    axis = site.p.axis
    if axis is None:
        return plain(site, f"{{0}}.reshape({_sizes(site)})", light=True)
    axes = [site.axis(each) for each in (axis if isinstance(axis, tuple) else (axis,))]
    return plain(site, f"{{0}}.squeeze({axes[0] if len(axes) == 1 else tuple(axes)})", light=True)


def _flip(site: Site) -> Answer:
    return plain(site, f"{{0}}.flip({_listed([site.axis(axis) for axis in site.p.axis])})")


MOVING: dict[str, Rule] = {
    "Flatten": _flatten, "Reshape": _reshape, "reshape_like": _reshape_like, "transpose": _transpose, "slice": _slice,
    "slice_axis": _slice_axis, "slice_like": _slice_like, "Crop": _crop, "SliceChannel": _split, "_split_v2": _split_v2,
    "Pad": _pad, "broadcast_to": _broadcast, "broadcast_axis": _broadcast, "broadcast_like": _broadcast_like,
    "take": _take, "pick": _pick, "one_hot": _one_hot, "sort": _sorted, "argsort": _argsort, "topk": _topk, "dot": _dot,
    "batch_dot": _batch_dot, "_linalg_gemm2": _gemm2, "_zeros": _constant("zeros"), "_ones": _constant("ones"),
    "_full": _constant("full"), "_zeros_without_dtype": _constant("zeros"), "_arange": _arange,
    "_contrib_arange_like": _arange_like, "squeeze": _squeeze, "reverse": _flip,
    "Concat": lambda site: plain(site, "torch.cat([{all}], {dim})", dim=int(site.p.dim)),
    "stack": lambda site: plain(site, "torch.stack([{all}], {axis})", axis=int(site.p.axis)),
    "expand_dims": lambda site: plain(site, f"{{0}}.unsqueeze({site.p.axis})", light=True),
    "SwapAxis": lambda site: plain(site, f"{{0}}.transpose({site.p.dim1}, {site.p.dim2})", light=True),
    "tile": lambda site: plain(site, f"{{0}}.tile({tuple(site.p.reps)})"),
    "repeat": lambda site: plain(
        site, "{0}.repeat_interleave({repeats})" if site.p.axis is None
        else f"{{0}}.repeat_interleave({{repeats}}, {site.axis(site.p.axis)})", repeats=int(site.p.repeats),
    ),
    "gather_nd": lambda site: plain(site, f"{{0}}[tuple({_whole(site, 1)})]"),
    "batch_take": lambda site: plain(
        site, f"{{0}}.flatten(0, -2).gather(1, {_rows(site, 1, site.shapes[0][-1], 'clip')}.reshape(-1, 1))"
        ".reshape({1}.shape)"
    ),
    "depth_to_space": lambda site: plain(site, "depth_to_space({0}, {block})", block=int(site.p.block_size)),
    "space_to_depth": lambda site: plain(site, "F.pixel_unshuffle({0}, {block})" if site.shapes[0][1] == 1 else
                                         "space_to_depth({0}, {block})", block=int(site.p.block_size)),
    "shape_array": lambda site: plain(site, "torch.tensor({0}.shape)"),
    "size_array": lambda site: plain(site, "torch.tensor([{0}.numel()])"),
}

__all__ = ["MOVING"]
