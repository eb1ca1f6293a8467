"""Rules of quantized networks, whose values are triples: whole numbers, and the two ends of their range."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...kernels.foundation import get
from ...symbol.ir import Node
from .layers import Rule
from .parts import Input, Parts, parts, short
from .site import Answer, Site, Unsupported, plain, tidy
from .window_rules import WINDOWS

_THREE = ("[0]", "[1]", "[2]")
_STEPS = {"int8": "127.5", "uint8": "255.5"}
_WHOLE_STEPS = {"int8": "127.0", "uint8": "255.0"}


def _kind(site: Site) -> str:
    return np.dtype(site.output_types[0]).name


def _ends(p: Any) -> str:
    """The calibrated range, as arguments."""
    if p.min_calib_range is None or p.max_calib_range is None:
        return ""
    return f", {tidy(p.min_calib_range)!r}, {tidy(p.max_calib_range)!r}"


def _quantize(site: Site) -> Answer:
    kind = _kind(site)
    return plain(site, f"quantized({{0}}, torch.{kind}, {_WHOLE_STEPS[kind]}, {{1}}, {{2}})", suffixes=_THREE)


def _quantize_v2(site: Site) -> Answer:
    kind = _kind(site)
    if np.dtype(site.types[0]).kind != "f":
        raise Unsupported("its input is quantized already")
    return plain(site, f"quantized({{0}}, torch.{kind}, {_STEPS[kind]}{_ends(site.p)})", suffixes=_THREE)


def _requantize(site: Site) -> Answer:
    kind = _kind(site)
    return plain(
        site, f"requantized(({{0}}, {{1}}, {{2}}), torch.{kind}, {_WHOLE_STEPS[kind]}{_ends(site.p)})", suffixes=_THREE
    )


def _named(site: Site) -> dict[str, str]:
    """The place of each input of a layer by the operator's name for it."""
    op = get(site.node.kind)
    return {name: f"{{{index}}}" for index, name in enumerate(op.input_names(site.p))}


def _linear(site: Site) -> Answer:
    at = _named(site)
    if site.rank < 2 or (site.rank > 2 and not site.p.flatten):
        raise Unsupported("its input has no two axes and is not flattened")
    bias, ends = at.get("bias", "None"), f"({at.get('min_bias', '')}, {at.get('max_bias', '')})"
    return plain(
        site, f"quantized_linear(({{0}}, {at['min_data']}, {at['max_data']}), {at['weight']}, {bias},"
        f" ({at['min_weight']}, {at['max_weight']}), {ends if 'bias' in at else 'None'}, {bool(site.p.flatten)})",
        suffixes=_THREE,
    )


def _convolution(site: Site) -> Answer:
    p, at = site.p, _named(site)
    if p.num_group != 1:
        raise Unsupported(f"it has {p.num_group} groups")
    rank = len(p.kernel)
    numbers = [short(p.stride or (1,) * rank), short(p.pad or (0,) * rank), short(p.dilate or (1,) * rank)]
    found = plain(
        site, f"quantized_convolution(({{0}}, {at['min_data']}, {at['max_data']}), {at['weight']},"
        f" {at.get('bias', 'None')}, ({at['min_weight']}, {at['max_weight']}), {', '.join(map(str, numbers))})",
        suffixes=_THREE,
    )
    return _compact(found)


def _compact(found: Answer) -> Answer:
    """The same without the inputs that the text does not read."""
    read = sorted({part.number for part in found.forward if isinstance(part, Input)})
    forward: Parts = [Input(read.index(part.number)) if isinstance(part, Input) else part for part in found.forward]
    return replace(found, forward=forward, inputs=[found.inputs[number] for number in read])


def _norm(site: Site) -> Answer:
    p = site.p
    return plain(
        site, f"quantized_norm(({{0}}, {{5}}, {{6}}), {{1}}, {{2}}, {{3}}, {{4}}, {tidy(p.eps)!r}{_ends(p)})",
        suffixes=_THREE,
    )


def _pooling(site: Site) -> Answer:
    p = site.p
    full = not p.global_pool and p.pooling_convention == "full" and p.count_include_pad is not False
    if p.pool_type == "avg" and full:
        raise Unsupported("it takes means with convention full")
    node = Node(get("Pooling"), site.node.name, params=get("Pooling").params(**{
        name: getattr(p, name) for name in get("Pooling").params._fields
    }))
    real = WINDOWS["Pooling"](replace(site, node=node, shapes=site.shapes[:1]))
    inner: Parts = ["x" if isinstance(part, Input) else part for part in real.forward]
    call = parts("quantized_pooling(({0}, {1}, {2}), lambda x: ")
    return Answer([*call, *inner, ")"], [0, 1, 2], suffixes=list(_THREE))


def _concat(site: Site) -> Answer:
    count = len(site.shapes) // 3
    values = ", ".join(f"({{{i}}}, {{{count + 2 * i}}}, {{{count + 2 * i + 1}}})" for i in range(count))
    return plain(site, f"quantized_cat([{values}], {site.p.dim})", suffixes=_THREE)


def _added(site: Site) -> Answer:
    return plain(site, f"quantized_sum(({{0}}, {{2}}, {{3}}), ({{1}}, {{4}}, {{5}}){_ends(site.p)})", suffixes=_THREE)


QUANTIZED: dict[str, Rule] = {
    "_contrib_quantize": _quantize, "_contrib_quantize_v2": _quantize_v2, "_contrib_requantize": _requantize,
    "_contrib_dequantize": lambda site: plain(site, "dequantized(({0}, {1}, {2}))"),
    "_contrib_quantized_fully_connected": _linear, "_contrib_quantized_conv": _convolution,
    "_contrib_quantized_batch_norm": _norm, "_contrib_quantized_pooling": _pooling,
    "_contrib_quantized_concat": _concat,
    "_contrib_quantized_elemwise_add": _added,
    "_contrib_quantized_act": lambda site: plain(site, "quantized_relu(({0}, {1}, {2}))", suffixes=_THREE),
    "_contrib_quantized_flatten": lambda site: plain(
        site, "({0}.flatten(1), {1}, {2})" if site.rank > 1 else "({0}.unsqueeze(1), {1}, {2})", suffixes=_THREE
    ),
}

__all__ = ["QUANTIZED"]
