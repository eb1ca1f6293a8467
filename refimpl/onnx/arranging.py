"""Shapes, parts and arrays made from nothing, as nodes of ONNX graphs."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from .building import Builder, ElementType, Free, NoForm, Rule, require_fixed
from .computing import computed

FAR = np.iinfo(np.int64).max


def _same_elements(b: Builder, p: Any, s: Any, x: str, *like: str) -> str:
    return b.shaped(x, b.outs[0])


def _stretched(b: Builder, p: Any, s: Any, x: str, *like: str) -> str:
    return b.add("Expand", x, b.sizes(b.outs[0]))


def _transposed(b: Builder, p: Any, s: Any, x: str) -> str:
    rank = len(s[0])
    return b.add("Transpose", x, perm=[a % rank for a in p.axes] or list(range(rank))[::-1])


def _swapped(b: Builder, p: Any, s: Any, x: str) -> str:
    order = list(range(len(s[0])))
    order[p.dim1], order[p.dim2] = order[p.dim2], order[p.dim1]
    return b.add("Transpose", x, perm=order)


def _numbers(text: Any) -> tuple[Any, ...]:
    found = ast.literal_eval(text) if isinstance(text, str) else text
    return tuple(found) if isinstance(found, (tuple, list)) else (found,)


def _slice(b: Builder, p: Any, s: Any, x: str) -> str:
    begin, end, step = _numbers(p.begin), _numbers(p.end), _numbers(p.step)
    rows = []
    for axis, (first, last) in enumerate(zip(begin, end, strict=True)):
        by = (step[axis] if axis < len(step) else None) or 1
        if (first, last, by) == (None, None, 1):
            continue
        if isinstance(s[0][axis], Free):
            raise NoForm("slice along the batch, which is free,")
        low = first if first is not None else (0 if by > 0 else FAR)
        high = last if last is not None else (FAR if by > 0 else -FAR)
        rows.append((low, high, axis, by))
    if not rows:
        return b.add("Identity", x)
    return b.add("Slice", x, *(b.whole(*column) for column in zip(*rows, strict=True)))


def _axis_slice(b: Builder, p: Any, s: Any, x: str) -> str:
    if isinstance(s[0][p.axis], Free) and (p.begin or p.end is not None):
        raise NoForm("slice_axis along the batch, which is free,")
    return b.cut(x, p.axis, p.begin, FAR if p.end is None else p.end)


def _slice_like(b: Builder, p: Any, s: Any, x: str, like: str) -> str:
    rank = len(s[0])
    for axis in [a % rank for a in p.axes] or range(rank):
        side, wanted = s[0][axis], s[1][axis]
        if isinstance(side, Free) or isinstance(wanted, Free):
            if getattr(side, "factor", 0) != getattr(wanted, "factor", 0):
                raise NoForm("slice_like along the batch, which is free,")
        elif side != wanted:
            x = b.cut(x, axis, 0, wanted)
    return b.add("Identity", x)


def _split(b: Builder, p: Any, s: Any, x: str) -> list[str]:
    axis = p.axis % len(s[0])
    require_fixed((s[0][axis],), "a split")
    side, count = s[0][axis], p.num_outputs
    parts = b.several("Split", count, x, b.whole(*(side // count,) * count), axis=axis) if count > 1 else [x]
    return [b.shaped(part, shape) for part, shape in zip(parts, b.outs, strict=True)] if p.squeeze_axis else parts


def _split_at(b: Builder, p: Any, s: Any, x: str) -> list[str]:
    axis = p.axis % len(s[0])
    require_fixed((s[0][axis],), "a split")
    ends = list(accumulate(1 if p.squeeze_axis else shape[axis] for shape in b.outs))
    parts = [b.cut(x, axis, begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
    return [b.shaped(part, shape) for part, shape in zip(parts, b.outs, strict=True)] if p.squeeze_axis else parts


def _join(b: Builder, p: Any, s: Any, *xs: str) -> str:
    return b.add("Concat", *xs, axis=p.dim)


def _stack(b: Builder, p: Any, s: Any, *xs: str) -> str:
    return b.add("Concat", *[b.add("Unsqueeze", x, b.whole(p.axis)) for x in xs], axis=p.axis)


def _tile(b: Builder, p: Any, s: Any, x: str) -> str:
    rank = max(len(p.reps), len(s[0]))
    if rank > len(s[0]):
        x = b.shaped(x, (1,) * (rank - len(s[0])) + tuple(s[0]))
    return b.add("Tile", x, b.whole(*((1,) * (rank - len(p.reps)) + tuple(p.reps))))


def _repeat(b: Builder, p: Any, s: Any, x: str) -> str:
    if p.repeats == 0:
        raise NoForm("repeat without a copy")
    shape = tuple(s[0])
    axis = len(shape) - 1 if p.axis is None else p.axis % len(shape)  # of a flat array, its last axis is repeated
    apart = b.add("Unsqueeze", x, b.whole(axis + 1))
    copies = b.add("Tile", apart, b.whole(*(p.repeats if a == axis + 1 else 1 for a in range(len(shape) + 1))))
    return b.shaped(copies, b.outs[0])


def _turned(b: Builder, p: Any, s: Any, x: str) -> str:
    for axis in p.axis:
        x = b.add("Slice", x, b.whole(-1), b.whole(-FAR), b.whole(axis), b.whole(-1))
    return x


def _pad(b: Builder, p: Any, s: Any, x: str) -> str:
    widths = b.whole(*p.pad_width[0::2], *p.pad_width[1::2])
    if p.mode != "constant" and min(p.pad_width) < 0:
        raise NoForm(f"Pad {p.mode} that takes elements away")
    return b.add("Pad", x, widths, *([b.constant(p.constant_value)] if p.mode == "constant" else []), mode=p.mode)


def padded(b: Builder, x: str, before: Sequence[int], after: Sequence[int], value: float) -> str:
    """An image with pixels of a value around it, so many before and behind along each axis; fewer than 0 take away."""
    if not any((*before, *after)):
        return x
    return b.add("Pad", x, b.whole(0, 0, *before, 0, 0, *after), b.constant(value))


def _crop(b: Builder, p: Any, s: Any, x: str, *like: str) -> str:
    sides = b.outs[0][2:]
    require_fixed((*sides, *s[0][2:]), "Crop")
    offset = [(whole - part) // 2 for whole, part in zip(s[0][2:], sides, strict=True)] if p.center_crop else p.offset
    ends = [begin + side for begin, side in zip(offset, sides, strict=True)]
    return b.add("Slice", x, b.whole(*offset), b.whole(*ends), b.whole(2, 3))


def _blocks(op: str, **attributes: Any) -> Rule:
    return lambda b, p, s, x: b.add(op, x, blocksize=p.block_size, **attributes)


# --- arrays made from nothing -------------------------------------------------------------------------


def _filled(value: Any) -> Rule:
    def rule(b: Builder, p: Any, s: Any, *like: str) -> str:
        number = b.constant(value(p))
        if not b.outs[0]:
            return b.add("Identity", number)
        return b.add("Expand", number, b.sizes(b.outs[0]))

    return rule


def _made(name: str) -> Rule:
    """An array that depends on shapes and parameters only."""
    def rule(b: Builder, p: Any, s: Any, *like: str) -> list[str]:
        require_fixed([side for shape in b.outs for side in shape], f"{name}, which counts")
        return [b.add("Identity", b.constant(v, v.dtype)) for v in computed(name, p, s, b.sources)]

    return rule


def _multibox_prior(b: Builder, p: Any, s: Any, data: str) -> str:
    require_fixed(s[0][2:], "_contrib_MultiBoxPrior")
    image = (1, 1, *(int(side) for side in s[0][2:]))
    (boxes,) = computed("_contrib_MultiBoxPrior", p, [image], b.sources)
    return b.add("Identity", b.constant(boxes, boxes.dtype))


def _range_like(b: Builder, p: Any, s: Any, data: str) -> str:
    if p.axis is None:
        return _made("_contrib_arange_like")(b, p, s, data)[0]
    require_fixed((s[0][p.axis],), "_contrib_arange_like")
    shape = [1] * len(s[0])
    shape[p.axis] = int(s[0][p.axis])
    (values,) = computed("_contrib_arange_like", p, [tuple(shape)], b.sources)
    return b.add("Identity", b.constant(values, values.dtype))


def _shape(b: Builder, p: Any, s: Any, x: str) -> str:
    return b.add("Identity", b.sizes(s[0])) if s[0] else b.add("Shape", x)


def _size(b: Builder, p: Any, s: Any, x: str) -> str:
    return b.shaped(b.add("Size", x), (1,))


def _drawn(op: str, low: str, high: str, names: tuple[str, str]) -> Rule:
    """Random numbers: another stream, the same distribution."""
    def rule(b: Builder, p: Any, s: Any, *like: str) -> str:
        numbers = {low: float(getattr(p, names[0])), high: float(getattr(p, names[1]))}
        if like:
            return b.add(f"{op}Like", like[0], **numbers)
        require_fixed(b.outs[0], op)
        return b.add(op, shape=[int(side) for side in b.outs[0]], dtype=ElementType(b.dtype), **numbers)

    return rule


_NORMAL = _drawn("RandomNormal", "mean", "scale", ("loc", "scale"))
_UNIFORM = _drawn("RandomUniform", "low", "high", ("low", "high"))


RULES: dict[str, Rule] = {
    **dict.fromkeys(("Flatten", "Reshape", "expand_dims", "squeeze", "reshape_like"), _same_elements),
    **dict.fromkeys(("broadcast_to", "broadcast_axis", "broadcast_like", "_stretch_like"), _stretched),
    "transpose": _transposed, "SwapAxis": _swapped, "slice": _slice, "slice_axis": _axis_slice,
    "slice_like": _slice_like, "SliceChannel": _split, "_split_v2": _split_at, "Concat": _join,
    "_rnn_param_concat": _join, "stack": _stack, "tile": _tile, "repeat": _repeat, "reverse": _turned, "Pad": _pad,
    "Crop": _crop, "depth_to_space": _blocks("DepthToSpace"), "space_to_depth": _blocks("SpaceToDepth"),
    "_zeros": _filled(lambda p: 0), "_ones": _filled(lambda p: 1), "zeros_like": _filled(lambda p: 0),
    "ones_like": _filled(lambda p: 1), "_full": _filled(lambda p: p.value),
    "_zeros_without_dtype": _filled(lambda p: 0),
    "_arange": _made("_arange"), "_linspace": _made("_linspace"), "_eye": _made("_eye"),
    "_contrib_index_array": _made("_contrib_index_array"), "_contrib_arange_like": _range_like,
    "_contrib_MultiBoxPrior": _multibox_prior, "shape_array": _shape, "size_array": _size, "_random_normal": _NORMAL,
    "_random_normal_like": _NORMAL, "_random_uniform": _UNIFORM, "_random_uniform_like": _UNIFORM,
}
