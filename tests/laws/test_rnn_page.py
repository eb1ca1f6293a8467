"""RNN against the same computed step by step from small operators, and against numbers that MXNet 1.9.1 gave."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels.foundation import plain_kernels
from refimpl.kernels.foundation.harness import Call

TIMES, BATCH, INPUTS, SIZE = 3, 2, 2, 3
GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}
MODES = list(GATES)


def step(mode: str, x: Any, h: Any, c: Any, weights: list[Any]) -> tuple[Any, Any]:
    """One time of one layer, made of FullyConnected and Activation."""
    nd, wide = mx.nd, GATES[mode] * SIZE
    left = nd.FullyConnected(x, weights[0], weights[2], num_hidden=wide)
    right = nd.FullyConnected(h, weights[1], weights[3], num_hidden=wide)

    def act(value: Any, kind: str) -> Any:
        return nd.Activation(value, act_type=kind)

    if mode in ("rnn_relu", "rnn_tanh"):
        return act(left + right, mode[4:]), None
    if mode == "lstm":
        i, f, g, o = nd.SliceChannel(left + right, num_outputs=4)
        c = act(f, "sigmoid") * c + act(i, "sigmoid") * act(g, "tanh")
        return act(o, "sigmoid") * act(c, "tanh"), c
    (xr, xz, xn), (hr, hz, hn) = (nd.SliceChannel(part, num_outputs=3) for part in (left, right))
    reset, keep = act(xr + hr, "sigmoid"), act(xz + hz, "sigmoid")
    new = act(xn + reset * hn, "tanh")
    return (1 - keep) * new + keep * h, None


def unrolled(mode: str, layers: int, ways: int, data: Any, parameters: Any, *states: Any) -> list[Any]:
    """Output and states, from slices of the parameter vector."""
    nd, wide, at = mx.nd, GATES[mode] * SIZE, 0
    matrices: list[list[Any]] = []
    for row in range(layers * ways):
        for columns in (SIZE * ways if row >= ways else INPUTS, SIZE):
            part = nd.slice_axis(parameters, axis=0, begin=at, end=at + wide * columns)
            matrices.append([nd.reshape(part, shape=(wide, columns))])
            at += wide * columns
    weights = [[matrices[2 * row][0], matrices[2 * row + 1][0]] for row in range(layers * ways)]
    for row in weights:
        for _ in range(2):
            row.append(nd.slice_axis(parameters, axis=0, begin=at, end=at + wide))
            at += wide
    below = [data[t] for t in range(TIMES)]
    ends: list[list[Any]] = [[], []]
    for layer in range(layers):
        found = []
        for way in range(ways):
            row = layer * ways + way
            h, c, outputs = states[0][row], states[1][row] if mode == "lstm" else None, []
            for x in below[:: -1 if way else 1]:
                h, c = step(mode, x, h, c, weights[row])
                outputs.append(h)
            found.append(outputs[:: -1 if way else 1])
            ends[0].append(h)
            ends[1].append(c)
        below = [nd.concat(*pieces, dim=1) if ways > 1 else pieces[0] for pieces in zip(*found, strict=True)]
    results = [nd.stack(*below, axis=0), nd.stack(*ends[0], axis=0)]
    return [*results, nd.stack(*ends[1], axis=0)] if mode == "lstm" else results


def inputs_of(mode: str, layers: int, ways: int, seed: int = 0) -> list[np.ndarray]:
    values, side = np.random.default_rng(seed), GATES[mode] * SIZE
    count = sum(
        ways * side * ((SIZE * ways if layer else INPUTS) + SIZE + 2) for layer in range(layers)
    )
    shapes = [(TIMES, BATCH, INPUTS), (count,)] + [(layers * ways, BATCH, SIZE)] * (1 + (mode == "lstm"))
    return [values.uniform(-1, 1, shape) for shape in shapes]


@pytest.mark.clause("RNN/parameters", "RNN/layers", "RNN/state-outputs")
@pytest.mark.parametrize("ways", [1, 2])
@pytest.mark.parametrize("mode", MODES)
def test_fused_is_step_by_step(mode: str, ways: int) -> None:
    """Outputs, states and all gradients, in double precision to 1e-12."""
    given = inputs_of(mode, 2, ways)
    options = {"mode": mode, "state_size": SIZE, "num_layers": 2, "bidirectional": ways == 2, "state_outputs": True}
    results = []
    for fused in (True, False):
        arrays = [mx.nd.array(a, dtype="float64") for a in given]
        for array in arrays:
            array.attach_grad()
        with mx.autograd.record():
            made = mx.nd.RNN(*arrays, **options) if fused else unrolled(mode, 2, ways, *arrays)
        values = np.random.default_rng(1)
        heads = [mx.nd.array(values.uniform(-1, 1, each.shape), dtype="float64") for each in made]
        mx.autograd.backward(made, heads)
        results.append([each.asnumpy() for each in (*made, *(a.grad for a in arrays))])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)


@pytest.mark.clause("RNN/lstm", "RNN/sum-order")
@pytest.mark.parametrize("ways", [1, 2])
@pytest.mark.parametrize("form", [nullcontext, plain_kernels])
def test_a_fused_lstm_has_the_bits_of_its_steps(
    ways: int, form: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, side in (("BATCH", 9), ("INPUTS", 21), ("SIZE", 43)):  # more than a tile, and no multiple of one
        monkeypatch.setattr(sys.modules[__name__], name, side)
    arrays = [mx.nd.array(3 * a) for a in inputs_of("lstm", 2, ways)]
    options = {"mode": "lstm", "state_size": SIZE, "num_layers": 2, "bidirectional": ways == 2, "state_outputs": True}
    with form():
        fused, apart = mx.nd.RNN(*arrays, **options), unrolled("lstm", 2, ways, *arrays)
        for ours, theirs in zip(fused, apart, strict=True):
            np.testing.assert_array_equal(ours.asnumpy(), theirs.asnumpy())


@pytest.mark.clause("RNN/sequence-length")
@pytest.mark.parametrize("mode", MODES)
def test_a_row_with_a_length_is_a_shorter_run(mode: str) -> None:
    given = inputs_of(mode, 2, 2)
    options = {"mode": mode, "state_size": SIZE, "num_layers": 2, "bidirectional": True, "state_outputs": True}
    cut = Call("RNN", [*given, np.array([2.0, 0.0])], {**options, "use_sequence_length": True}).forward()
    short = Call("RNN", [given[0][:2], *given[1:]], options).forward()
    np.testing.assert_array_equal(cut[0][:2, 0], short[0][:, 0])
    assert not cut[0][2:, 0].any()
    assert not cut[0][:, 1].any()
    states = 3 if mode == "lstm" else 2
    for ours, theirs, start in zip(cut[1:states], short[1:states], given[2:], strict=True):
        np.testing.assert_array_equal(ours[:, 0], theirs[:, 0])
        np.testing.assert_array_equal(ours[:, 1], start[:, 1])


@pytest.mark.clause("RNN/dropout")
def test_dropout_between_layers() -> None:
    """Both layers hand their input on, so that what is dropped in between shows."""
    data = np.arange(1, 41, dtype=np.float32).reshape(40, 1, 1)
    arrays = [data, np.array([1, 0, 1, 0, 0, 0, 0, 0], np.float32), np.zeros((2, 1, 1), np.float32)]
    options = {"mode": "rnn_relu", "state_size": 1, "num_layers": 2, "p": 0.25}
    kept = Call("RNN", arrays, options).forward(is_train=True)[0] / data
    assert set(np.round(kept.ravel(), 4)) == {np.float32(0), np.float32(1.3333)}
    assert (kept > 0).sum() > 20
    np.testing.assert_array_equal(Call("RNN", arrays, options).forward()[0], data)
    alone = {**options, "num_layers": 1}
    arrays = [data, np.array([1, 0, 0, 0], np.float32), arrays[2][:1]]
    np.testing.assert_array_equal(Call("RNN", arrays, alone).forward(is_train=True)[0], data)


# The numbers below are MXNet's: each input k is filled with sin(k + 0, 1, 2, ...), heads are ones.
#   s = mx.sym.RNN(data=mx.sym.Variable("data"), mode=..., state_size=2, state_outputs=True, ...)
#   args = [mx.nd.array(np.sin(np.arange(np.prod(sh)) + k).reshape(sh), dtype="float64")
#           for k, sh in enumerate(s.infer_shape(data=(3, 2, 2))[0])]
RECORDED = {
    "lstm": (
        {"num_layers": 2, "bidirectional": True},
        [
            -0.034277, -0.588478, 0.385302, 0.184506, 0.043627, 0.191827, 0.321644, 0.229922, -0.003045, -0.604443,
            0.368689, 0.092822, 0.051269, 0.022358, 0.142899, 0.174267, 0.018657, -0.492627, 0.513141, -0.223487,
            0.051132, -0.227747, -0.162436, 0.084689,
        ],
        [
            -0.681217, -0.947406, -0.254193, -0.619743, -0.445624, -0.633543, 0.063671, -0.02648, 0.160468, 0.294442,
            -0.430426, -0.412991,
        ],
        [0.243459, 0.091721, -0.484615, -0.43295, -0.050026, 0.005244, 0.189128, 0.188949],
    ),
    "gru": (
        {"num_layers": 1, "bidirectional": True},
        [
            0.635555, 0.096235, 0.837666, 0.384168, -0.536688, -0.940698, 0.924897, 0.109115, 0.623878, 0.128344,
            0.467364, 0.570531, -0.497908, -0.844115, 0.797856, 0.388632, 0.729301, 0.087228, 0.763707, 0.451205,
            -0.446079, 0.02444, 0.653684, 0.568027,
        ],
        [
            0.507377, 0.149967, 0.48452, -0.250901, -0.873192, -1.011819, 0.004722, -0.115988, 0.460958, 0.439607,
            -0.779838, -1.670953,
        ],
        [0.130592, 0.280074, 0.122847, 0.120512, -0.611158, 0.107039, 0.549946, 0.913977],
    ),
}


def sines(op_params: dict[str, Any]) -> list[np.ndarray]:
    op = mx.sym.RNN(data=mx.sym.Variable("data"), **op_params)
    shapes, _, _ = op.infer_shape(data=(3, 2, 2))
    return [np.sin(np.arange(np.prod(shape)) + k).reshape(shape) for k, shape in enumerate(shapes)]


@pytest.mark.parametrize("mode", RECORDED)
def test_recorded_numbers(mode: str) -> None:
    options, output, d_data, d_parameters = RECORDED[mode]
    params = {"mode": mode, "state_size": 2, "state_outputs": True, **options}
    call = Call("RNN", sines(params), params)
    np.testing.assert_allclose(call.forward(is_train=True)[0].ravel(), output, atol=1e-6)
    gradients = call.backward()
    np.testing.assert_allclose(gradients[0].ravel(), d_data, atol=1e-6)
    np.testing.assert_allclose(gradients[1].ravel()[:8], d_parameters, atol=1e-6)


@pytest.mark.clause("RNN/projection")
def test_recorded_projection() -> None:
    """The same with state_size 2, projection_size 1, one layer, float32, in evaluation (MXNet has no more)."""
    params = {
        "mode": "lstm", "state_size": 2, "num_layers": 1, "projection_size": 1, "state_outputs": True,
    }
    output, state, cell = Call("RNN", sines(params), params).forward()[:3]
    expected = [-0.103013, -0.069736, 0.099839, 0.028376, 0.052727, 0.120274]
    np.testing.assert_allclose(output.ravel(), expected, atol=1e-6)
    np.testing.assert_allclose(state.ravel(), expected[4:], atol=1e-6)
    np.testing.assert_allclose(cell.ravel(), [0.599751, 0.294354, 0.262317, 0.496063], atol=1e-6)


@pytest.mark.clause("RNN/clip")
def test_clip_stops_the_gradient() -> None:
    """Bounds on both sides; outside them the cell is constant."""
    params = {
        "mode": "lstm", "state_size": 1, "num_layers": 1, "lstm_state_clip_min": -0.25, "lstm_state_clip_max": 0.25,
        "state_outputs": True,
    }
    weights = np.zeros(16)
    weights[8:12] = [9, 9, 0, 0]  # gates i and f are open: the cell is kept, or clipped
    arrays = [np.zeros((1, 3, 1)), weights, np.zeros((1, 3, 1)), np.array([[[-1.0], [0.125], [1.0]]])]
    call = Call("RNN", arrays, params)
    cells = call.forward(is_train=True)[2].ravel()
    np.testing.assert_allclose(cells, [-0.25, 0.125, 0.25], atol=1e-4)
    slopes = call.backward()[3].ravel()
    assert slopes[0] == slopes[2] == 0
    assert slopes[1] > 1
    arrays[3][0, 0, 0] = np.nan
    assert np.isnan(Call("RNN", arrays, params).forward()[2].ravel()[0])
    assert Call("RNN", arrays, {**params, "lstm_state_clip_nan": True}).forward()[2].ravel()[0] == 0.25
