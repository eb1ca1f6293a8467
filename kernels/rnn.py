"""RNN: layers of recurrent cells over a sequence (times, batch, inputs); _rnn_param_concat makes its parameters.

[RNN/simple] rnn_tanh and rnn_relu: h = act((W x + b) + (R h' + c)), where x is the input of this time, h' the
    state before and h both the state and the output after it.
    >>> run("RNN", [[[1]], [[2]]], [2, 3, 0.5, -1], [[[0]]], mode="rnn_relu", state_size=1, num_layers=1)
    [[[1.5]], [[8.0]]]

[RNN/lstm] gates i, f, g, o, in this order in every matrix: i, f, o are sigmoids, g is tanh of such sums;
    cell = f cell' + i g, h = o tanh(cell). state_cell holds the cells before the first time.
    >>> options = {"mode": "lstm", "state_size": 1, "num_layers": 1, "state_outputs": True}
    >>> weights = [1, 2, 3, 4, -1, -2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0.5]
    >>> run("RNN", [[[0.5]], [[1.5]]], weights, [[[0.25]]], [[[1]]], **options)
    ([[[0.7795]], [[0.921968]]], [[[0.921968]]], [[[1.60394]]])

[RNN/gru] gates r, z, n: r and z are sigmoids, n = tanh((W x + b) + r (R h' + c)), h = (1 - z) n + z h'.
    >>> weights = [1, 2, 3, -1, -2, 1, 0, 0, 0, 0, 0, 0.5]
    >>> run("RNN", [[[0.5]], [[1]]], weights, [[[0.25]]], mode="gru", state_size=1, num_layers=1)
    [[[0.517318]], [[0.650056]]]

[RNN/parameters] one vector: for each layer and, within it, each direction, first W (gates * state_size, inputs),
    then R (gates * state_size, state_size), row by row; behind all matrices, in the same order, b and c. With
    projection_size R has projection_size columns, and P, as RNN/projection says, stands behind it.

[RNN/layers] the output of a layer is the input of the next; state has one row per layer and direction.

[RNN/bidirectional] each layer runs over the sequence a second time, from its end, with parameters of its own; the
    second output lies behind the first along the last axis.
    >>> weights = [1, 1, 10, 1, 0, 0, 0, 0]
    >>> options = {"mode": "rnn_relu", "state_size": 1, "num_layers": 1, "bidirectional": True}
    >>> run("RNN", [[[1]], [[2]]], weights, [[[0]], [[0]]], **options)
    [[[1.0, 30.0]], [[3.0, 20.0]]]

[RNN/state-outputs] with state_outputs the states after the last time are a second output, and the LSTM's cells a third.

[RNN/dropout] in training with p > 0, what one layer hands to the next goes through Dropout: kept with probability
    1 - p, then divided by it. The draws are those of Dropout, layer by layer.

[RNN/sequence-length] with use_sequence_length a row ends after its length: later outputs are zero, the states
    are those at its end, and the second direction begins there. sequence_length has gradient zero.
    >>> options = {"mode": "rnn_relu", "state_size": 1, "num_layers": 1, "use_sequence_length": True}
    >>> run("RNN", [[[1], [1]], [[2], [2]]], [1, 1, 0, 0], [[[0], [0]]], [1, 2], **options)
    [[[1.0], [1.0]], [[0.0], [3.0]]]

[RNN/clip] lstm_state_clip_min and lstm_state_clip_max bound the cells at every time, and stop the gradient of those
    outside; with lstm_state_clip_nan a cell that is NaN becomes the maximum.
    >>> options = {"mode": "lstm", "state_size": 1, "num_layers": 1, "lstm_state_clip_max": 0.0}
    >>> run("RNN", [[[1]]], [0, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9, 0, 0, 0, 0], [[[0]]], [[[1]]], **options)
    [[[0.0]]]

[RNN/projection] with projection_size the LSTM's output and state are P h, where the matrix P
    (projection_size, state_size) stands behind R. Output, state and the columns of R then have projection_size in
    place of state_size; state_cell keeps state_size. Only the LSTM has it.
    >>> options = {"mode": "lstm", "state_size": 1, "num_layers": 1, "projection_size": 1}
    >>> weights = [0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0]
    >>> run("RNN", [[[1]]], weights, [[[0]]], [[[2]]], **options), run("tanh", [1])
    ([[[1.523188]]], [0.761594])
    >>> options = {**options, "state_size": 2, "state_outputs": True}
    >>> run("RNN", [[[1]]], [0] * 16 + [4, 6] + [0] * 16, [[[0]]], [[[2, 4]]], **options)
    ([[[4.415271]]], [[[4.415271]]], [[[1.0, 2.0]]])

[RNN/gradient] towards data, parameters and states, through all times and outputs.
    >>> options = {"mode": "rnn_relu", "state_size": 1, "num_layers": 1, "head": [[[1]], [[10]]]}
    >>> grad("RNN", [[[1]], [[2]]], [2, 3, 0.5, -1], [[[0]]], **options)
    ([[[62.0]], [[20.0]]], [51.0, 15.0, 41.0, 41.0], [[[93.0]]])

[RNN/shape] data is (times, batch, inputs), the output (times, batch, directions * state_size), a state (layers *
    directions, batch, state_size), sequence_length (batch,). With projection_size, output and state have it in place of
    state_size; state_cell keeps state_size.

[RNN/parameter-count] parameters is one vector of the length that the sizes ask for.

[RNN/sum-order] products are added in increasing index (a tuned twin fuses product and sum), then
    both biased sums are added.

[rnn_param_concat/join] the inputs one after another along axis dim, as Concat lays them.
    >>> run("_rnn_param_concat", [1, 2], [3], dim=0)
    [1.0, 2.0, 3.0]

[rnn_param_concat/two-unknown] two inputs whose side along dim is unknown share evenly what the output leaves for them:
    the weights of both directions towards data of unknown width. What is odd is refused.
"""

from dataclasses import replace
from typing import Annotated, Literal, NamedTuple

import numpy as np

from .activation import MAP
from .concat import Params as ConcatParams
from .concat import infer as infer_concat
from .dropout import CHOOSE
from .foundation import (
    REQUIRED,
    UNKNOWN,
    AtLeast,
    AtMost,
    Case,
    Op,
    Sources,
    get,
    merge,
    register,
    require,
    same_type,
    scratch,
    told,
)
from .foundation.loops import COPY, FILL, MULTIPLY
from .foundation.quirk import declare
from .shared.products import PRODUCT, TURN, kept_of, kept_size, multiply_by_kept, product_of
from .shared.random_streams import draws
from .shared.rnn_cells import (
    ADD_PARTS,
    LSTM_STEP,
    MOVE_GRU,
    NEW_GATE,
    SETTLE,
    cells_of,
    directions,
    drops,
    inputs,
    limits_of,
    needs,
    outputs,
    part,
    row,
    sizes_of,
    visible,
    weights_of,
)
from .shared.rnn_gradient import Backward

_WHY = "done as documented"
_DROPOUT = declare("rnn-no-dropout", "RNN/dropout", "float32 RNN drops nothing, even in training", _WHY)
_LENGTHS = declare("rnn-no-lengths", "RNN/sequence-length", "float32 RNN ignores sequence_length", _WHY)
_CLIP = declare("rnn-no-clip", "RNN/clip", "float32 RNN ignores lstm_state_clip_min and lstm_state_clip_max", _WHY)


class Params(NamedTuple):
    state_size: Annotated[int, AtLeast(1)]
    num_layers: Annotated[int, AtLeast(1)]
    bidirectional: bool = False
    mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"] = REQUIRED
    p: Annotated[float, AtLeast(0), AtMost(1)] = 0.0
    state_outputs: bool = False
    projection_size: Annotated[int, AtLeast(1)] | None = None
    lstm_state_clip_min: float | None = None
    lstm_state_clip_max: float | None = None
    lstm_state_clip_nan: bool = False
    use_sequence_length: bool = False


def infer(p, ins, outs):
    require(
        "RNN/projection", p.projection_size is None or p.mode == "lstm",
        f"projection_size={p.projection_size} needs mode='lstm', not {p.mode!r}; leave it out",
    )
    s = sizes_of(p)
    names, made = inputs(p), outputs(p)
    given = dict(zip((*names, *made), (*ins, *outs), strict=True))
    data = merge("RNN/shape", "data", given["data"], (UNKNOWN,) * 3)
    output = merge("RNN/shape", "output", given["output"], (*data[:2], s.wide))
    state = merge("RNN/shape", "state", given["state"], (p.num_layers * s.ways, output[1], s.out))
    times, batch = output[0], state[1]
    rows = p.num_layers * s.ways
    shapes = {
        "data": (times, batch, data[2]), "output": (times, batch, s.wide), "sequence_length": (batch,),
        "parameters": (directions(p, data[2])[1] if told(data[2]) else UNKNOWN,),
        "gates": (rows, times, s.gates, batch, s.size), "memory": (rows, times, batch, s.size),
        "layers": (p.num_layers - 1, times, batch, s.wide), "mask": (p.num_layers - 1, times, batch, s.wide),
        **dict.fromkeys(("state", "state_output"), (rows, batch, s.out)),
        **dict.fromkeys(("state_cell", "statecell_output"), (rows, batch, s.size)),
    }
    for name, shape in given.items():
        clause = "RNN/parameter-count" if name == "parameters" else "RNN/shape"
        shapes[name] = merge(clause, name, shape, shapes[name])
    if given["data"] is None and not given["output"] and not given["state"]:
        return ins, outs
    return [shapes[name] for name in names], [shapes[name] for name in made]


def infer_type(p, ins, outs):
    count = visible(p)
    ins, shown = same_type(p, ins, outs[:count])
    inner = np.dtype(np.float32) if ins[0] == np.float16 else ins[0]
    return ins, shown + [inner] * (len(outs) - count)


def by_weights(source, weights, memory, out, rows):
    """out = source . weights^T, which is copied into ``memory`` first where no twin computes the product."""
    side, inner = weights.shape
    if out.dtype != np.float64:
        PRODUCT(source, weights, out, product_of(rows, inner, side, transpose_b=True))
        return
    TURN(weights, part(memory, 0, inner, side))
    PRODUCT(source, memory, out, product_of(rows, inner, side))


# --- the operator -------------------------------------------------------------------------------


def without_ignored(p, data):
    """The parameters less those that MXNet ignores on the CPU, where that is asked for."""
    if data.dtype != np.float32:
        return p
    ignored = {}
    if _DROPOUT.active:
        ignored["p"] = 0.0
    if _LENGTHS.active:
        ignored["use_sequence_length"] = False
    if _CLIP.active:
        ignored.update(lstm_state_clip_min=None, lstm_state_clip_max=None, lstm_state_clip_nan=False)
    return p._replace(**ignored)


def forward(p, data, parameters, state, state_cell, lengths, *made, is_train, rng):
    made, p = dict(zip(outputs(p), made, strict=True)), without_ignored(p, data)
    (times, batch, columns), s = data.shape, sizes_of(p)
    rows, side, area = times * batch, s.gates * s.size, batch * s.size
    wide = max(columns, s.wide)
    x, h, copied_w, memory_r, memory_p, now, cell, hidden, projected, source = scratch(
        data, rows * side, batch * side, side * wide, kept_size(s.out, side), kept_size(s.size, s.out), batch * s.out,
        area, area, batch * s.out, rows * s.wide,
    )
    x, h = x.reshape((times, batch, s.gates, s.size)), h.reshape((batch, s.gates, s.size))
    now, projected = now.reshape((batch, s.out)), projected.reshape((batch, s.out))
    cell, hidden = cell.reshape((batch, s.size)), hidden.reshape((batch, s.size))
    ends = lengths if lengths is not None else state  # state stands for lengths that are not there; never used then
    keep = np.float32(1) - np.float32(p.p)
    if drops(p) and is_train:
        words = draws(made["mask"], rng)
        growth = float(np.float32(1) / keep) if keep else float("inf")
        CHOOSE[data.dtype == np.float64](made["mask"], words, made["mask"].size, float(keep), growth)
    elif "mask" in made:
        FILL(made["mask"], 1.0, made["mask"].size)
    layer_input = data
    for index, at in enumerate(directions(p, columns)[0]):
        cells, weights = cells_of(p, at.way), weights_of(p, parameters, at)
        if at.layer and not at.way:
            layer_input = row(made["layers"], at.layer - 1)
            if drops(p) and is_train:
                MULTIPLY(layer_input, row(made["mask"], at.layer - 1), source, rows * s.wide)
                layer_input = source
        out = made["output"] if at.layer == p.num_layers - 1 else row(made["layers"], at.layer)
        by_weights(layer_input, weights.w, copied_w, x, rows)
        kept_r = kept_of(weights.r, memory_r, transpose=True)
        kept_p = kept_of(weights.p, memory_p, transpose=True) if p.projection_size else None
        COPY(row(state, index), now, batch * s.out)
        if p.mode == "lstm":
            COPY(row(state_cell, index), cell, area)
        gates, memory = (row(made[name], index) if name in made else None for name in ("gates", "memory"))
        biases = part(parameters, at.b, 2, s.gates, s.size)
        for t in range(times)[:: cells.onward]:
            multiply_by_kept(now, kept_r, h)
            if p.mode == "lstm":
                limits = limits_of(p, gates.dtype.type)
                LSTM_STEP(x, h, biases, gates, cell, memory, hidden, ends, t, cells, limits)
            else:
                parts = row(x, t), h, weights.b, weights.c, row(gates, t)
                step(p, parts, None if memory is None else row(memory, t), now, hidden)
            if kept_p:
                multiply_by_kept(hidden, kept_p, projected)
            SETTLE(projected if kept_p else hidden, ends, now, out, t, cells)
        if p.state_outputs:
            COPY(now, row(made["state_output"], index), batch * s.out)
            if p.mode == "lstm":
                COPY(cell, row(made["statecell_output"], index), area)


def step(p, parts, memory, now, hidden):
    """One time of one direction of a layer that is no LSTM: its gates, and its new state in ``hidden``."""
    gates, area = parts[-1], hidden.size
    if p.mode != "gru":
        ADD_PARTS(*parts, 1)
        MAP[p.mode[4:]](gates, gates, area)
        COPY(gates, hidden, area)
        return
    ADD_PARTS(*parts, 2)
    first, third = part(gates, 0, 2 * area), part(gates, 2 * area, area)
    MAP["sigmoid"](first, first, 2 * area)
    NEW_GATE(*parts, memory)
    MAP["tanh"](third, third, area)
    MOVE_GRU(gates, now, hidden)


def backward(p, *given, is_train):
    count = visible(p)
    heads = dict(zip(("output", "state", "cell"), given[:count], strict=False))
    has = dict(zip(needs(p), given[count:-5], strict=True))
    Backward(without_ignored(p, has["data"]), heads, has, given[-5:], is_train=is_train).run()


def cases(draw):
    mode = draw.choice(("rnn_relu", "rnn_tanh", "lstm", "gru"))
    params = {
        "mode": mode, "state_size": draw.integer(1, 3), "num_layers": draw.integer(1, 2),
        "bidirectional": draw.boolean(), "state_outputs": draw.boolean(), "p": draw.choice((0.0, 0.0, 0.5)),
        "use_sequence_length": draw.integer(0, 3) == 0,
    }
    if mode == "lstm" and draw.integer(0, 3) == 0:
        params["projection_size"] = draw.integer(1, 3)
    if mode == "lstm" and draw.integer(0, 3) == 0:
        params.update(lstm_state_clip_min=-0.25, lstm_state_clip_max=0.125)
    data = draw.shape(3, 3)
    return Case(params, {"data": data}, {
        "data": "unit", "parameters": "unit", "state": "unit", "sequence_length": ("ints", 0, data[0]),
    })


register(Op(
    name="RNN", doc=__doc__, params=Params, inputs=inputs, outputs=outputs, visible=visible,
    all_inputs=("data", "parameters", "state", "state_cell", "sequence_length"), infer=infer,
    infer_type=infer_type, forward=forward, backward=backward, needs=needs, mode=True, random=True,
    no_gradient=("sequence_length",), cases=cases,
    refusals={
        "RNN/shape": {
            "params": {"mode": "gru", "state_size": 2, "num_layers": 1},
            "shapes": {"data": (3, 2, 2), "state": (1, 3, 2)},
        },
        "RNN/parameter-count": {
            "params": {"mode": "gru", "state_size": 2, "num_layers": 1},
            "shapes": {"data": (3, 2, 2), "parameters": (7,)},
        },
        "RNN/projection": {
            "params": {"mode": "gru", "state_size": 2, "num_layers": 1, "projection_size": 1},
            "shapes": {"data": (3, 2, 2)},
        },
    },
    tier=1, reports=Sources(1),
    difference_clauses={"bias-missing": "RNN/parameters", "transposed": "RNN/parameters"},
))


def infer_joined(p, ins, outs):
    shapes, (out,) = infer_concat(p, ins, outs)
    if out is None or out[p.dim] == UNKNOWN:
        return shapes, [out]
    sides = [shape[p.dim] for shape in shapes]
    if sides.count(UNKNOWN) == 2:
        left = out[p.dim] - sum(side for side in sides if told(side))
        require(
            "rnn_param_concat/two-unknown", left >= 0 and left % 2 == 0,
            f"sides {sides} along axis {p.dim} leave {left} of {out[p.dim]} for two inputs of equal size",
        )
        axis = p.dim % len(out)
        shapes = [(*s[:axis], left // 2 if s[axis] == UNKNOWN else s[axis], *s[axis + 1 :]) for s in shapes]
    return shapes, [out]


def cases_joined(draw):
    side, dim = draw.integer(1, 3), draw.choice((0, 1))
    shapes = [(draw.integer(1, 4),) if dim == 0 else (side, draw.integer(1, 4)) for _ in range(draw.integer(1, 3))]
    return Case({"num_args": len(shapes), "dim": dim}, {"args": shapes})


register(replace(
    get("Concat"), name="_rnn_param_concat", doc=__doc__, params=ConcatParams, aliases=(), infer=infer_joined,
    cases=cases_joined, tier=3, color="", difference_clauses={},
))
