"""One recurrent network, computed in every way: fused, unfused, step by step, by NumPy; and its gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl import rnn
from refimpl.initializer.fused import GATES, PackedWeights

MODES = tuple(GATES)
SMALL = st.integers(1, 3)


class Net(NamedTuple):
    """Sizes of a network; ``seed`` draws its numbers."""

    mode: str
    layers: int
    ways: bool
    hidden: int
    inputs: int
    times: int
    batch: int
    layout: str
    seed: int

    @property
    def packed(self) -> PackedWeights:
        return PackedWeights(self.hidden, self.layers, self.mode, self.ways, "net_")

    def cell(self, **options: Any) -> rnn.FusedRNNCell:
        return rnn.FusedRNNCell(self.hidden, self.layers, self.mode, self.ways, prefix="net_", **options)


NETS = st.builds(
    Net, st.sampled_from(MODES), st.integers(1, 2), st.booleans(), SMALL, SMALL, SMALL, SMALL,
    st.sampled_from(("NTC", "TNC")), st.integers(0, 99),
)


def drawn(net: Net, *shape: int, which: int = 0) -> np.ndarray:
    return np.random.default_rng([net.seed, which]).uniform(-1, 1, shape)


def arrays_of(net: Net) -> dict[str, np.ndarray]:
    """Data, parameters and states before the first time, all in float64."""
    sides = {"N": net.batch, "T": net.times, "C": net.inputs}
    found = {
        "data": drawn(net, *(sides[axis] for axis in net.layout)),
        "net_parameters": drawn(net, net.packed.size(net.inputs), which=1),
    }
    for index, (rows, _, hidden) in enumerate(net.cell().state_shape):
        found[f"state{index}"] = drawn(net, rows, net.batch, hidden, which=2 + index)
    return found


def run(symbol: mx.sym.Symbol, arrays: dict[str, np.ndarray]) -> tuple[list, dict]:
    """Outputs, and gradients for head gradients of 1, 2, 3 ... divided by their number."""
    args = {name: mx.nd.array(arrays[name], dtype="float64") for name in symbol.list_arguments()}
    grads = {name: mx.nd.zeros(value.shape, dtype="float64") for name, value in args.items()}
    executor = symbol.bind(mx.cpu(), args, args_grad=grads)
    outputs = executor.forward(is_train=True)
    heads = [mx.nd.arange(1, out.size + 1, dtype="float64").reshape(out.shape) / out.size for out in outputs]
    executor.backward(heads)
    return [out.asnumpy() for out in outputs], {name: value.asnumpy() for name, value in grads.items()}


def fused(net: Net, arrays: dict[str, np.ndarray]) -> tuple[list, dict]:
    """Merged outputs, then the states after the last time, by the operator RNN."""
    cell = net.cell(get_next_state=True)
    begin = [mx.sym.Variable(f"state{index}") for index in range(len(cell.state_info))]
    with pytest.warns(UserWarning, match="TNC") if net.layout == "NTC" else np.errstate():
        outputs, states = cell.unroll(net.times, mx.sym.Variable("data"), begin, net.layout, merge_outputs=True)
    found, grads = run(mx.sym.Group([outputs, *states]), arrays)
    grads |= unpacked(cell, {"net_parameters": grads.pop("net_parameters")})
    return found, grads


def unpacked(cell: rnn.BaseRNNCell, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    found = cell.unpack_weights({name: mx.nd.array(value, dtype="float64") for name, value in arrays.items()})
    return {name: value.asnumpy() for name, value in found.items()}


def unfused_arrays(net: Net, arrays: dict[str, np.ndarray], cell: rnn.BaseRNNCell) -> dict[str, np.ndarray]:
    """The same numbers, with a weight for each cell and a state for each of its rows."""
    weights = {
        name: mx.nd.array(value, dtype="float64") for name, value in unpacked(net.cell(), arrays).items()
        if name.startswith("net_")
    }
    given = {name: value.asnumpy() for name, value in cell.pack_weights(weights).items()}
    given["data"] = arrays["data"]
    for row in range(net.layers * (1 + net.ways)):
        for index in range(len(net.cell().state_info)):
            given[f"state{index}_{row}"] = arrays[f"state{index}"][row]
    return given


def states_by_row(net: Net) -> list[mx.sym.Symbol]:
    """Variables in the order in which unfused cells want their states."""
    kinds = len(net.cell().state_info)
    rows = net.layers * (1 + net.ways)
    return [mx.sym.Variable(f"state{index}_{row}") for row in range(rows) for index in range(kinds)]


def flat(symbols: Any) -> list[mx.sym.Symbol]:
    if isinstance(symbols, (list, tuple)):
        return [symbol for inner in symbols for symbol in flat(inner)]
    return [symbols]


def unfused(net: Net, arrays: dict[str, np.ndarray]) -> tuple[list, dict]:
    """The same as :func:`fused`, by plain cells."""
    cell = net.cell().unfuse()
    outputs, after = cell.unroll(
        net.times, mx.sym.Variable("data"), states_by_row(net), net.layout, merge_outputs=True
    )
    kinds = len(net.cell().state_info)
    states = flat(after)
    stacked = [mx.sym.stack(*states[index::kinds], axis=0) for index in range(kinds)]
    found, grads = run(mx.sym.Group([outputs, *stacked]), unfused_arrays(net, arrays, cell))
    together = unpacked(cell, {name: value for name, value in grads.items() if name.startswith("net_")})
    together["data"] = grads["data"]
    for index in range(kinds):
        together[f"state{index}"] = np.stack(
            [grads[f"state{index}_{row}"] for row in range(len(states) // kinds)]
        )
    return found, together


def close(one: list | dict, other: list | dict) -> None:
    """Equal but for the order of sums in float64."""
    names = range(len(one)) if isinstance(one, list) else one
    assert len(one) == len(other)
    for name in names:
        np.testing.assert_allclose(one[name], other[name], rtol=1e-11, atol=1e-12, err_msg=str(name))


@pytest.mark.clause("rnn/fused")
@pytest.mark.clause("rnn/unfuse")
@pytest.mark.clause("rnn/packed-order")
@given(net=NETS)
def test_fused_is_unfused_in_numbers_and_gradients(net: Net) -> None:
    arrays = arrays_of(net)
    outputs, grads = fused(net, arrays)
    others, other_grads = unfused(net, arrays)
    close(outputs, others)
    close(grads, other_grads)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def by_hand(mode: str, x: np.ndarray, states: list, weights: dict[str, np.ndarray]) -> tuple[np.ndarray, list]:
    """One time of one cell, gate by gate, from the formulas of the chapter."""
    i2h, h2h = (
        [source @ weights[f"{group}{gate}_weight"].T + weights[f"{group}{gate}_bias"] for gate in GATES[mode]]
        for group, source in (("i2h", x), ("h2h", states[0]))
    )
    if mode == "gru":
        reset, keep = (sigmoid(i2h[gate] + h2h[gate]) for gate in (0, 1))
        hidden = (1 - keep) * np.tanh(i2h[2] + reset * h2h[2]) + keep * states[0]
        return hidden, [hidden]
    sums = [one + other for one, other in zip(i2h, h2h, strict=True)]
    if mode == "lstm":
        write, forget, show = (sigmoid(sums[gate]) for gate in (0, 1, 3))
        cell = forget * states[1] + write * np.tanh(sums[2])
        hidden = show * np.tanh(cell)
        return hidden, [hidden, cell]
    hidden = np.maximum(sums[0], 0) if mode == "rnn_relu" else np.tanh(sums[0])
    return hidden, [hidden]


@pytest.mark.clause("rnn/simple-cell")
@pytest.mark.clause("rnn/lstm-cell")
@pytest.mark.clause("rnn/gru-cell")
@pytest.mark.clause("rnn/unroll")
@given(net=NETS.filter(lambda net: net.layers == 1 and not net.ways))
def test_a_cell_computes_its_formula(net: Net) -> None:
    arrays = arrays_of(net)
    weights = unpacked(net.cell(), {"net_parameters": arrays["net_parameters"]})
    named = {name.removeprefix("net_l0_"): value for name, value in weights.items()}
    steps = arrays["data"].swapaxes(0, 1) if net.layout == "NTC" else arrays["data"]
    states = [arrays[f"state{index}"][0] for index in range(len(net.cell().state_info))]
    expected = []
    for step in steps:
        output, states = by_hand(net.mode, step, states, named)
        expected.append(output)
    merged = np.stack(expected, axis=net.layout.index("T"))
    close(unfused(net, arrays)[0], [merged, *(state[None] for state in states)])


@pytest.mark.clause("rnn/step")
@given(net=NETS.filter(lambda net: not net.ways))
def test_unrolled_is_stepped(net: Net) -> None:
    arrays = arrays_of(net)
    cell = net.cell().unfuse()
    given_arrays = unfused_arrays(net, arrays, cell)
    steps = given_arrays.pop("data")
    steps = steps.swapaxes(0, 1) if net.layout == "NTC" else steps
    given_arrays |= {f"x{time}": step for time, step in enumerate(steps)}
    states, outputs = states_by_row(net), []
    for time in range(net.times):
        output, states = cell(mx.sym.Variable(f"x{time}"), states)
        outputs.append(output)
    stepped, _ = run(mx.sym.Group([*outputs, *states]), given_arrays)
    cell.reset()
    rolled, after = cell.unroll(
        net.times, [mx.sym.Variable(f"x{time}") for time in range(net.times)], states_by_row(net), "NTC",
        merge_outputs=False,
    )
    unrolled, _ = run(mx.sym.Group([*rolled, *after]), given_arrays)
    for one, other in zip(stepped, unrolled, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.clause("rnn/bidirectional-cell")
@given(net=NETS.filter(lambda net: net.ways and net.layers == 1))
def test_both_ways_are_two_ways(net: Net) -> None:
    arrays = arrays_of(net)
    weights = unpacked(net.cell(), {"net_parameters": arrays["net_parameters"]})
    axis = net.layout.index("T")
    parts, ends = [], []
    for row, way in enumerate("lr"):
        one = net._replace(ways=False)
        renamed = {
            name.replace(f"_{way}0_", "_l0_"): mx.nd.array(value, dtype="float64")
            for name, value in weights.items() if f"_{way}0_" in name
        }
        alone = {name: value[row : row + 1] for name, value in arrays.items() if name.startswith("state")}
        alone["net_parameters"] = one.cell().pack_weights(renamed)["net_parameters"].asnumpy()
        alone["data"] = np.flip(arrays["data"], axis) if way == "r" else arrays["data"]
        output, *states = unfused(one, alone)[0]
        parts.append(np.flip(output, axis) if way == "r" else output)
        ends.append(states)
    expected = [np.concatenate(parts, axis=2), *(np.concatenate(pair) for pair in zip(*ends, strict=True))]
    close(fused(net, arrays)[0], expected)


@pytest.mark.clause("rnn/merge")
@given(net=NETS)
def test_merged_outputs_are_the_listed_ones(net: Net) -> None:
    arrays = arrays_of(net)
    cell = net.cell().unfuse()
    given_arrays = unfused_arrays(net, arrays, cell)
    listed, _ = cell.unroll(
        net.times, mx.sym.Variable("data"), states_by_row(net), net.layout, merge_outputs=False
    )
    assert len(listed) == net.times
    found, _ = run(mx.sym.Group(listed), given_arrays)
    merged = unfused(net, arrays)[0][0]
    assert np.stack(found, axis=net.layout.index("T")).tobytes() == merged.tobytes()


@pytest.mark.clause("rnn/pack")
@pytest.mark.clause("rnn/packed-order")
@given(net=NETS)
def test_packing_undoes_unpacking(net: Net) -> None:
    vector = mx.nd.array(drawn(net, net.packed.size(net.inputs)), dtype="float64")
    cell = net.cell()
    pieces = cell.unpack_weights({"net_parameters": vector, "other": vector})
    again = cell.pack_weights(pieces)
    assert set(again) == {"net_parameters", "other"}
    assert again["net_parameters"].asnumpy().tobytes() == vector.asnumpy().tobytes()
    plain = net.cell().unfuse()
    packed = plain.pack_weights(pieces)
    back = plain.unpack_weights(packed)
    assert set(back) == set(pieces)
    assert all(back[name].asnumpy().tobytes() == pieces[name].asnumpy().tobytes() for name in pieces)
    joined = np.concatenate([pieces[name].asnumpy().ravel() for name in net.packed.shapes(net.inputs)])
    assert joined.tobytes() == vector.asnumpy().tobytes()


@pytest.mark.clause("rnn/dropout-cell")
@pytest.mark.clause("rnn/residual")
@given(net=NETS.filter(lambda net: not net.ways and net.layers == 1))
def test_modifiers_outside_training(net: Net) -> None:
    net = net._replace(inputs=net.hidden)
    arrays = arrays_of(net)
    plain = net.cell().unfuse()._cells[0]
    given_arrays = unfused_arrays(net, arrays, plain)

    def outputs(cell: rnn.BaseRNNCell) -> np.ndarray:
        symbol, _ = cell.unroll(
            net.times, mx.sym.Variable("data"), states_by_row(net), net.layout, merge_outputs=True
        )
        args = {
            name: mx.nd.array(given_arrays[name], dtype="float64") for name in symbol.list_arguments()
        }
        (result,) = symbol.bind(mx.cpu(), args).forward(is_train=False)
        return result.asnumpy()

    expected = outputs(plain)
    sequence = rnn.SequentialRNNCell()
    sequence.add(net.cell().unfuse()._cells[0])
    sequence.add(rnn.DropoutCell(0.5))
    assert outputs(sequence).tobytes() == expected.tobytes()
    assert outputs(rnn.ResidualCell(plain)).tobytes() == (expected + given_arrays["data"]).tobytes()
