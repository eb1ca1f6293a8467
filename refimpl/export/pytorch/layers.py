"""Rules of layers with parameters: each is a module of ``torch.nn``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .parts import State, parts, short
from .site import Answer, Site, Unsupported, plain, tidy
from .weights import rnn_places

Rule = Callable[[Site], Answer]
_CHANNELS_FIRST = (None, "None", "NCW", "NCHW", "NCDHW")


def _states(site: Site, *slots: tuple[str, int]) -> dict[str, State] | None:
    """The state dict of a module; None where one of its arrays is computed instead of held."""
    found = {}
    for name, index in slots:
        if index < len(site.held):
            held = site.held[index]
            if held is None:
                return None
            found[name] = State(held)
    return found


def _sides(p: Any) -> tuple[Any, Any, Any]:
    """Stride, dilation and padding, each short."""
    rank = len(p.kernel)
    if p.layout not in _CHANNELS_FIRST:
        raise Unsupported(f"its layout is {p.layout}")
    return short(p.stride or (1,) * rank), short(p.dilate or (1,) * rank), short(p.pad or (0,) * rank)


def _convolution(site: Site) -> Answer:
    p, rank = site.p, len(site.p.kernel)
    stride, dilation, padding = _sides(p)
    state = _states(site, ("weight", 1), ("bias", 2))
    options: dict[str, Any] = {
        "stride": [stride, 1], "padding": [padding, 0], "dilation": [dilation, 1], "groups": [int(p.num_group), 1],
    }
    keywords = "{stride}{padding}{dilation}{groups}"
    if state is None:
        return plain(site, f"F.conv{rank}d({{all}}{keywords})", **options)
    init = parts(
        f"nn.Conv{rank}d({{channels}}, {{filters}}, {{kernel}}{keywords}{{bias}})", **options,
        channels=site.shapes[0][1], filters=int(p.num_filter), kernel=short(p.kernel), bias=[not p.no_bias, True],
    )
    return Answer(parts("{self}({0})"), [0], init, state, heavy=True)


def _deconvolution(site: Site) -> Answer:
    p, rank = site.p, len(site.p.kernel)
    stride, dilation, padding = _sides(p)
    adj: tuple[int, ...] = tuple(int(a) for a in p.adj) or (0,) * rank
    cut = ""
    if any(p.target_shape):
        strides, dilations = tuple(p.stride) or (1,) * rank, tuple(p.dilate) or (1,) * rank
        over = [
            s * (side - 1) + d * (k - 1) + 1 - target
            for s, side, d, k, target in zip(
                strides, site.shapes[0][2:], dilations, p.kernel, p.target_shape, strict=True
            )
        ]
        pads = [-(-each // 2) for each in over]
        padding, adj = short(pads), tuple(2 * pad - each for pad, each in zip(pads, over, strict=True))
        if any(a >= max(s, d) for a, s, d in zip(adj, strides, dilations, strict=True)):
            ends = ", ".join(f"{pad}:{pad + side}" for pad, side in zip(pads, p.target_shape, strict=True))
            padding, adj, cut = 0, (0,) * rank, f"[:, :, {ends}]"
    state = _states(site, ("weight", 1), ("bias", 2))
    options: dict[str, Any] = {
        "stride": [stride, 1], "padding": [padding, 0], "output_padding": [short(adj), 0],
        "groups": [int(p.num_group), 1],
    }
    keywords = "{stride}{padding}{output_padding}{groups}"
    if state is None:
        text = f"F.conv_transpose{rank}d({{all}}{keywords}{{dilation}}){cut}"
        return plain(site, text, **options, dilation=[dilation, 1])
    init = parts(
        f"nn.ConvTranspose{rank}d({{channels}}, {{filters}}, {{kernel}}{keywords}{{bias}}{{dilation}})", **options,
        channels=site.shapes[0][1], filters=int(p.num_filter), kernel=short(p.kernel), bias=[not p.no_bias, True],
        dilation=[dilation, 1],
    )
    return Answer(parts("{self}({0})" + cut), [0], init, state, heavy=True)


def _fully_connected(site: Site) -> Answer:
    p = site.p
    flat = "{0}.flatten(1)" if p.flatten and site.rank != 2 else "{0}"
    state = _states(site, ("weight", 1), ("bias", 2))
    if state and len(site.shapes[-1]) > 1 and "bias" in state:
        state["bias"] = State(state["bias"].parameter, "each 1")
    if state is None:
        return plain(site, f"F.linear({flat}, {{1}})" if p.no_bias else f"F.linear({flat}, {{1}}, {{2}})")
    init = parts(
        "nn.Linear({features}, {hidden}{bias})", features=site.shapes[1][1], hidden=int(p.num_hidden),
        bias=[not p.no_bias, True],
    )
    return Answer(parts(f"{{self}}({flat})"), [0], init, state, heavy=True)


def _batch_norm(site: Site) -> Answer:
    p = site.p
    site.only_first()
    state = _states(site, ("weight", 1), ("bias", 2), ("running_mean", 3), ("running_var", 4))
    axis = site.axis(getattr(p, "axis", 1))
    if state is None:
        raise Unsupported("its parameters are computed")
    if p.fix_gamma:
        state["weight"] = State(state["weight"].parameter, "ones")
    rank = 3 if site.rank == 5 else 2 if site.rank == 4 else 1
    if site.rank > 5 or site.rank < 2:
        raise Unsupported(f"its input has {site.rank} axes")
    kind = f"FrozenBatchNorm{rank}d" if p.use_global_stats else f"nn.BatchNorm{rank}d"
    new = f"{kind}({{features}}{{eps}}{{momentum}})"
    init = parts(
        f"fixed_scale({new})" if p.fix_gamma else new, features=site.shapes[1][0], eps=[tidy(p.eps), 1e-5],
        momentum=[float(f"{1 - tidy(p.momentum):.7g}"), 0.1],
    )
    forward = "{self}({0})" if axis == 1 else f"{{self}}({{0}}.movedim({axis}, 1)).movedim(1, {axis})"
    return Answer(parts(forward), [0], init, state)


def _layer_norm(site: Site) -> Answer:
    p, axis = site.p, site.axis(site.p.axis)
    site.only_first()
    last = axis == site.rank - 1
    state = _states(site, ("weight", 1), ("bias", 2))
    options: dict[str, Any] = {"features": site.shapes[0][axis], "eps": [tidy(p.eps), 1e-5]}
    data = "{0}" if last else f"{{0}}.movedim({axis}, -1)"
    back = "" if last else f".movedim(-1, {axis})"
    if state is None:
        return plain(site, f"F.layer_norm({data}, ({{features}},), {{1}}, {{2}}{{eps}}){back}", **options)
    return Answer(parts(f"{{self}}({data}){back}"), [0], parts("nn.LayerNorm({features}{eps})", **options), state)


def _instance_norm(site: Site) -> Answer:
    state = _states(site, ("weight", 1), ("bias", 2))
    site.only_first()
    if state is None or not 3 <= site.rank <= 5 or all(side == 1 for side in site.shapes[0][2:]):
        raise Unsupported("its parameters are computed, or its input has no 2 to 4 axes of several places")
    init = parts(
        f"nn.InstanceNorm{site.rank - 2}d({{features}}{{eps}}, affine=True)", features=site.shapes[0][1],
        eps=[tidy(site.p.eps), 1e-5],
    )
    return Answer(parts("{self}({0})"), [0], init, state)


def _group_norm(site: Site) -> Answer:
    state = _states(site, ("weight", 1), ("bias", 2))
    site.only_first()
    if state is None:
        raise Unsupported("its parameters are computed")
    channels, groups = site.shapes[0][1], int(site.p.num_groups)
    each = channels // groups if site.shapes[1][0] == groups else 1
    state = {name: State(held.parameter, f"each {each}" if each > 1 else "") for name, held in state.items()}
    options = {"groups": groups, "channels": channels, "eps": [tidy(site.p.eps), 1e-5]}
    init = parts("nn.GroupNorm({groups}, {channels}{eps})", **options)
    return Answer(parts("{self}({0})"), [0], init, state)


def _leaky(site: Site) -> Answer:
    p = site.p
    if p.act_type == "prelu":
        state = _states(site, ("weight", 1))
        if state is None or len(site.shapes[1]) != 1:
            raise Unsupported("the slopes of its PReLU are computed, or have several axes")
        init = parts("nn.PReLU({features})", features=site.shapes[1][0])
        return Answer(parts("{self}({0})"), [0], init, state)
    site.only_first()
    slope = tidy(p.slope)
    texts = {
        "leaky": "F.leaky_relu({0}, {slope})", "elu": "F.elu({0}{alpha})", "selu": "F.selu({0})",
        "gelu": "F.gelu({0})", "rrelu": "F.rrelu({0}, {lower}, {upper}, self.training)",
    }
    return plain(
        site, texts[p.act_type], slope=slope, alpha=[slope, 1.0], lower=tidy(p.lower_bound), upper=tidy(p.upper_bound)
    )


def _embedding(site: Site) -> Answer:
    p, state = site.p, _states(site, ("weight", 1))
    rows = int(p.input_dim)
    whole = "{0}" if site.types[0] == np.int64 else "{0}.long()"
    index = f"{whole}.clamp(0, {{last}})"
    if state is None:
        return plain(site, f"F.embedding({index}, {{1}})", last=rows - 1)
    init = parts("nn.Embedding({rows}, {features})", rows=rows, features=int(p.output_dim))
    return Answer(parts(f"{{self}}({index})", last=rows - 1), [0], init, state, heavy=True)


def _upsampling(site: Site) -> Answer:
    p = site.p
    if p.sample_type == "nearest":
        side = site.outputs[0][2]
        larger = [
            f"F.interpolate({{{i}}}, scale_factor={side // shape[2]})" if side != shape[2] else f"{{{i}}}"
            for i, shape in enumerate(site.shapes)
        ]
        if len(larger) == 1:
            return plain(site, "F.interpolate({0}, scale_factor={scale})", scale=int(p.scale))
        if p.multi_input_mode == "sum":
            return plain(site, " + ".join(larger))
        return plain(site, f"torch.cat([{', '.join(larger)}], 1)")
    state = _states(site, ("weight", 1))
    scale, channels = int(p.scale), site.shapes[0][1]
    options = {
        "kernel": 2 * scale - scale % 2, "stride": [scale, 1], "padding": [-(-(scale - 1) // 2), 0],
        "groups": [channels, 1],
    }
    if state is None:
        raise Unsupported("its bilinear weights are computed")
    init = parts(
        "nn.ConvTranspose2d({channels}, {channels}, {kernel}{stride}{padding}{groups}, bias=False)", channels=channels,
        **options,
    )
    return Answer(parts("{self}({0})"), [0], init, state, heavy=True)


def _dropout(site: Site) -> Answer:
    p = site.p
    site.only_first()
    if p.mode == "always":
        raise Unsupported("it draws in a prediction too")
    if tuple(p.axes):
        return plain(site, f"dropout_along({{0}}, {{p}}, {tuple(p.axes)}, self.training)", p=tidy(p.p))
    return plain(site, "F.dropout({0}, {p}, self.training)", p=tidy(p.p))


def _matrices(site: Site, parameter: str) -> dict[str, State]:
    """Where the vector of a recurrent layer has PyTorch's matrices."""
    p, inputs = site.p, site.shapes[0][2]
    projection, both = int(p.projection_size or 0), bool(p.bidirectional)
    size = f"{inputs} {p.state_size} {p.num_layers} {projection} {p.mode} {int(both)}"
    places = rnn_places(inputs, int(p.state_size), int(p.num_layers), projection, p.mode, both)
    return {place: State(parameter, f"rnn {place} {size}") for place in places}


def _rnn(site: Site) -> Answer:
    p = site.p
    if site.held[1] is None:
        raise Unsupported("its parameters are computed from several arrays")
    if p.lstm_state_clip_min is not None or p.lstm_state_clip_max is not None:
        raise Unsupported("its cells are clipped")
    if (p.projection_size or 0) >= p.state_size:
        raise Unsupported("its projection is not smaller than its state")
    options = {
        "inputs": site.shapes[0][2], "hidden": int(p.state_size), "num_layers": [int(p.num_layers), 1],
        "dropout": [tidy(p.p) if p.num_layers > 1 else 0.0, 0.0], "bidirectional": [bool(p.bidirectional), False],
        "proj_size": [int(p.projection_size or 0), 0],
    }
    kind, more = {
        "lstm": ("nn.LSTM", "{proj_size}"), "gru": ("nn.GRU", ""), "rnn_tanh": ("nn.RNN", ""),
        "rnn_relu": ("nn.RNN", ', nonlinearity="relu"'),
    }[p.mode]
    init = parts(f"{kind}({{inputs}}, {{hidden}}{{num_layers}}{{dropout}}{{bidirectional}}{more})", **options)
    state = _matrices(site, site.held[1])
    lstm = p.mode == "lstm"
    inputs = [0, 2, *([3] if lstm else [])]
    states = "({1}, {2})" if lstm else "{1}"
    if p.use_sequence_length:
        inputs.append(len(site.shapes) - 1)
        forward = f"padded_rnn({{self}}, {{0}}, {states}, {{{len(inputs) - 1}}})"
    else:
        forward = f"{{self}}({{0}}, {states})"
    if not p.state_outputs:
        return Answer(parts(f"{forward}[0]"), inputs, init, state, heavy=True)
    suffixes = ["[0]", "[1][0]", "[1][1]"] if lstm else ["[0]", "[1]"]
    return Answer(parts(forward), inputs, init, state, suffixes, heavy=True)


LAYERS: dict[str, Rule] = {
    "Convolution": _convolution, "Deconvolution": _deconvolution, "FullyConnected": _fully_connected,
    "BatchNorm": _batch_norm, "BatchNorm_v1": _batch_norm, "_contrib_SyncBatchNorm": _batch_norm,
    "LayerNorm": _layer_norm, "InstanceNorm": _instance_norm, "GroupNorm": _group_norm, "LeakyReLU": _leaky,
    "Embedding": _embedding, "_contrib_SparseEmbedding": _embedding, "UpSampling": _upsampling, "Dropout": _dropout,
    "RNN": _rnn,
}

__all__ = ["LAYERS", "Rule"]
