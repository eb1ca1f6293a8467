"""Update operators where pages cannot show it: what changes in place, what stays, and what is refused.

Numbers were observed in MXNet 1.9.1 by the call in the comment, unless it says otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import refimpl as mx
from refimpl.kernels import distinct

nd = mx.nd
UPDATES = sorted(op.name for op in distinct() if op.aux and "update" in op.name)
DIRECTIONS = ["signsgd_update", "sgd_update", "lamb_update_phase2", "multi_lars", "multi_sum_sq"]


def array(*values: float, dtype: str = "float32") -> Any:
    return nd.array(values, dtype=dtype)


def near(found: Any, *expected: float, rtol: float = 2e-6) -> None:
    np.testing.assert_allclose(found.asnumpy().astype("float64"), expected, rtol=rtol)


# --- in place -------------------------------------------------------------------------------------


@pytest.mark.clause("nag/in-place", "nag/momentum")
def test_momentum_of_nag_sees_the_new_weight_when_that_overwrites_the_old() -> None:
    # nd.nag_mom_update(w, g, m, lr=.1, momentum=.5, wd=.5, out=w), and without out
    for in_place, expected in ((True, (0.395, 0.4875)), (False, (0.4, 0.5))):
        weight, mom = array(1, 2), array(1, 1)
        out = {"out": weight} if in_place else {}
        made = nd.nag_mom_update(weight, array(0.5, -1), mom, lr=0.1, momentum=0.5, wd=0.5, **out)
        near(made, 1.1, 2.25)
        near(mom, *expected)


@pytest.mark.clause("nag/master")
def test_nag_steps_the_master_copy() -> None:
    # nd.mp_nag_mom_update(w, g, m, w32, lr=.1, momentum=.5, wd=.5) with float16 w and g
    weight, mom, master = array(1, 2, dtype="float16"), array(1, 1), array(1, 2)
    made = nd.mp_nag_mom_update(weight, array(0.5, -1, dtype="float16"), mom, master, lr=0.1, momentum=0.5, wd=0.5)
    assert made.dtype == np.float16
    near(made, 1.1, 2.25, rtol=1e-3)
    near(mom, 0.395, 0.4875)
    near(master, 1.1, 2.25)
    near(weight, 1, 2)


@pytest.mark.clause("ftml/states")
def test_states_of_ftml_change() -> None:
    # nd.ftml_update(w, g, d, v, z, lr=.1, t=1)
    states = [array(0, 0) for _ in range(3)]
    nd.ftml_update(array(1, 2), array(0.5, -1), *states, lr=0.1, t=1)
    for state, expected in zip(states, ((2, 4), (0.00025, 0.001), (-1.8, -8.4)), strict=True):
        near(state, *expected, rtol=2e-5)


@pytest.mark.clause("adam/bias")
def test_averages_of_adam_are_not_corrected() -> None:
    # nd.adam_update(w, g, m, v, lr=.1)
    mean, var = array(0, 0), array(0, 0)
    nd.adam_update(array(1, 2), array(0.5, -1), mean, var, lr=0.1)
    near(mean, 0.05, -0.1, rtol=1e-6)
    near(var, 0.00025, 0.001, rtol=2e-5)


@pytest.mark.clause("adam/lazy", "adagrad/lazy")
@pytest.mark.parametrize("operator", ["adam_update", "adagrad_update"])
def test_rows_that_a_sparse_gradient_lacks_stay(operator: str) -> None:
    # nd.sparse.adam_update(w, g.tostype("row_sparse"), ...): the first row is as if there were no second
    weight = nd.array([[1, 2], [3, 4]])
    states = [nd.ones((2, 2)) for _ in range(2 if operator == "adam_update" else 1)]
    gradient = nd.array([[0.5, -1], [0, 0]]).tostype("row_sparse")
    getattr(nd.sparse, operator)(weight, gradient, *states, lr=0.1, out=weight)
    first = (0.904964, 1.92) if operator == "adam_update" else (0.955279, 2.070711)
    np.testing.assert_allclose(weight.asnumpy(), [first, (3, 4)], rtol=1e-5)
    for state in states:
        assert state.asnumpy()[1].tolist() == [1, 1]
        assert state.asnumpy()[0].tolist() != [1, 1]


@pytest.mark.clause("adamw/scale")
@pytest.mark.parametrize("scale", [0.0, float("nan"), float("inf")])
def test_nothing_moves_without_a_finite_scale(scale: float) -> None:
    # nd.contrib.adamw_update(w, g, m, v, nd.array([scale]), lr=.1, eta=1, out=w)
    weight, mean, var = array(1, 2), array(1, 1), array(1, 1)
    nd.contrib.adamw_update(weight, array(0.5, -1), mean, var, array(scale), lr=0.1, eta=1, wd=0.5, out=weight)
    assert [a.asnumpy().tolist() for a in (weight, mean, var)] == [[1, 2], [1, 1], [1, 1]]


@pytest.mark.clause("adamw/clip")
def test_the_gradient_stays() -> None:
    # by hand: MXNet leaves [0.3, -0.3] in it
    gradient = array(0.5, -1)
    nd.contrib.adamw_update(array(1, 2), gradient, array(1, 1), array(1, 1), 2, lr=0.1, eta=1, clip_gradient=0.3)
    assert gradient.asnumpy().tolist() == [0.5, -1]


@pytest.mark.clause("lamb/master")
def test_both_phases_of_lamb_on_a_master_copy() -> None:
    # nd.mp_lamb_update_phase1(w, g, m, v, w32, t=1, wd=.1); the second phase by hand: MXNet leaves w32 as it is
    weight, master = array(1, 2, dtype="float16"), array(1, 2)
    gradient = array(0.5, -1, dtype="float16")
    direction = nd.mp_lamb_update_phase1(weight, gradient, array(1, 1), array(1, 1), master, t=1, wd=0.1)
    assert direction.dtype == np.float32
    near(direction, 0.40052706, 0.45298052)
    nd.mp_lamb_update_phase2(weight, array(0.5, -1), array(2), array(4), master, lr=0.1, out=weight)
    near(master, 0.975, 2.05)
    near(weight, 0.975, 2.05, rtol=1e-3)


@pytest.mark.clause("multi_sgd/master")
def test_many_weights_with_master_copies() -> None:
    # nd.multi_mp_sgd_mom_update(*arrays, out=weights, lrs=(.1, .2), wds=(.1, 0), momentum=.5, num_weights=2)
    arrays = [
        array(1, 2, dtype="float16"), array(0.5, -1, dtype="float16"), array(1, 1), array(1, 2),
        array(3, dtype="float16"), array(1, dtype="float16"), array(1), array(3),
    ]
    weights = [arrays[0], arrays[4]]
    rates = {"lrs": (0.1, 0.2), "wds": (0.1, 0)}
    assert nd.multi_mp_sgd_mom_update(*arrays, out=weights, **rates, momentum=0.5, num_weights=2) is weights
    near(arrays[3], 1.44, 2.58)
    near(arrays[7], 3.3)
    near(arrays[2], 0.44, 0.58)
    near(weights[0], 1.44, 2.58, rtol=1e-3)
    near(weights[1], 3.3, rtol=1e-3)


@pytest.mark.clause("multi_sgd/order")
def test_many_weights_are_updated_as_one_at_a_time() -> None:
    # by hand: a law
    draw = np.random.default_rng(3)
    shapes = ((3,), (2, 2), (4, 1))
    ours, alone = ([nd.array(draw.normal(size=s)) for s in shapes] for _ in range(2))
    gradients = [nd.array(draw.normal(size=s)) for s in shapes]
    for mine, other in zip(ours, alone, strict=True):
        mine[:] = other
    rates = {"lrs": (0.1, 0.2, 0.3), "wds": (0.1, 0, 0.2)}
    pairs = [a for pair in zip(ours, gradients, strict=True) for a in pair]
    nd.multi_sgd_update(*pairs, out=ours, **rates, num_weights=3, clip_gradient=0.5)
    for k, weight in enumerate(alone):
        nd.sgd_update(weight, gradients[k], out=weight, lr=rates["lrs"][k], wd=rates["wds"][k], clip_gradient=0.5)
        assert ours[k].asnumpy().tolist() == weight.asnumpy().tolist()


@pytest.mark.clause("ftml/time")
def test_time_begins_with_one() -> None:
    # nd.ftml_update(w, g, z, z, z, lr=.1, t=t): at t = 1 the first step is lr; at t = 0 nothing divides 0
    def step(t: int) -> Any:
        return nd.ftml_update(array(1, 2), array(0.5, -1), *[array(0, 0) for _ in range(3)], lr=0.1, t=t)

    near(step(1), 0.9, 2.1, rtol=1e-6)
    assert np.isnan(step(0).asnumpy()).all()


@pytest.mark.clause("adam/types", "ftml/types", "ftrl/types", "rmsprop/types", "signum/types", "adagrad/types")
@pytest.mark.parametrize(("operator", "states", "attrs"), [
    ("adam_update", 2, {}), ("ftml_update", 3, {"t": 1}), ("ftrl_update", 2, {}), ("rmsprop_update", 1, {}),
    ("rmspropalex_update", 3, {}), ("signum_update", 1, {}), ("_sparse_adagrad_update", 1, {}),
])
def test_one_type(operator: str, states: int, attrs: dict[str, Any]) -> None:
    # by hand: MXNet rounds float16 after each operation
    function = getattr(nd, operator, None) or getattr(nd._internal, operator)
    results = []
    for dtype in ("float16", "float32"):
        first = array(1, 2, dtype=dtype), array(0.5, -1, dtype=dtype)
        arrays = [*first, *[nd.ones(2, dtype=dtype) for _ in range(states)]]
        made = function(*arrays, lr=0.1, **attrs)
        assert np.dtype(made.dtype).name == dtype
        results.append([a.asnumpy().astype("float16").tolist() for a in (made, *arrays)])
    assert results[0] == results[1]
    with pytest.raises(mx.MXNetError, match="float64"):
        function(arrays[0], array(0.5, -1, dtype="float64"), *arrays[2:], lr=0.1, **attrs)


@pytest.mark.clause("lars/types", "lars/sum-order", "multi_lamb/sum-order")
def test_lengths() -> None:
    # nd.multi_sum_sq(nd.array([1, 2], dtype=...), nd.array([3, 4, 5], dtype=...), num_arrays=2); the others by hand
    for dtype in ("float16", "float32", "float64"):
        made = nd.multi_sum_sq(array(1, 2, dtype=dtype), array(3, 4, 5, dtype=dtype), num_arrays=2)
        assert made.dtype == np.float32
        near(made, 5, 50)
    near(nd.multi_sum_sq(nd.full((100_000,), 0.1), num_arrays=1), np.float32(0.1).astype("float64") ** 2 * 100_000)
    near(nd.multi_lars(*[array(4, dtype="float64")] * 4, eta=0.5, eps=0.25), 4 * 0.5 * 2 / (2 + 4 * 2 + 0.25))
    with pytest.raises(mx.MXNetError, match="float64"):
        nd.multi_sum_sq(array(1, 2), array(1, dtype="float64"), num_arrays=2)
    # a weight longer than the number of runs: w - lr * |w| / |d| * d, where d is the sign of the gradient
    weight = nd.ones(5000)
    states = nd.zeros(5000), nd.zeros(5000)
    rates = {"learning_rates": (0.1,), "wds": (0,), "step_count": (1,), "epsilon": 0}
    near(nd._internal._multi_lamb_update(weight, weight, *states, **rates, num_tensors=1), *[0.9] * 5000)


# --- mx.nd.contrib --------------------------------------------------------------------------------


@pytest.mark.clause("adamw/master", "multi_lamb/master")
def test_lists_of_weights() -> None:
    # nd.contrib.multi_lamb_update(w, g, m, v, [1, 2], [.1, .2], [0, .1], out=w) and the three others
    def lists() -> tuple[list, list, list, list]:
        return [array(1, 2), array(3)], [array(1, 2), array(3)], [nd.zeros(2), nd.zeros(1)], [nd.zeros(2), nd.zeros(1)]

    def halves(arrays: list) -> list:
        return [a.astype("float16") for a in arrays]

    w, g, m, v = lists()
    nd.contrib.multi_lamb_update(w, g, m, v, [1, 2], [0.1, 0.2], [0.0, 0.1], out=w)
    near(w[0], 0.84188616, 1.841886)
    near(w[1], 2.4)
    w, g, m, v = lists()
    made = nd.contrib.multi_adamw_update(w, g, m, v, array(1), [0.1, 0.2], [0.0, 0.5], [1, 1], clip_gradient=0.5)
    near(made[0], 0.68377024, 1.6837702, rtol=1e-5)
    near(made[1], 0.867544, rtol=1e-5)
    w, g, m, v = lists()
    h = halves(w)
    nd.contrib.multi_mp_adamw_update(h, halves(g), m, v, w, 1.0, [0.1, 0.2], [0.0, 0.5], [1, 1], out=h)
    near(w[0], 0.68377024, 1.6837702, rtol=1e-5)
    near(w[1], 0.867538, rtol=1e-5)
    near(h[1], 0.8677, rtol=1e-3)
    w, g, m, v = lists()
    h = halves(w)
    nd.contrib.multi_mp_lamb_update(h, halves(g), m, v, w, [1, 2], [0.1, 0.2], [0.0, 0.5], out=h)
    near(h[0], *w[0].asnumpy(), rtol=1e-3)
    assert nd.contrib.mp_adamw_update(
        h[0], halves(g)[0], m[0], v[0], w[0], 1, lr=0.1, eta=1
    ).dtype == np.float16


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.clause("nag/gradient", "adam/gradient", "ftml/gradient", "ftrl/gradient", "rmsprop/gradient")
@pytest.mark.clause("signum/gradient", "adamw/gradient", "lamb/gradient", "multi_lamb/gradient", "lars/gradient")
@pytest.mark.clause("adagrad/gradient", "multi_sgd/gradient")
def test_no_update_has_a_gradient() -> None:
    # MXNetError: Operator adam_update is non-differentiable because it didn't register FGradient attribute.
    names = {*UPDATES, *DIRECTIONS}
    pages = {op.doc.partition("\n[")[2].partition("/")[0] for op in distinct() if op.name in names}
    assert pages >= {"nag", "adam", "ftml", "ftrl", "rmsprop", "signum", "adamw", "lamb", "multi_lamb", "lars"}
    for op in distinct():
        if op.name in names:
            assert not op.has_gradient, op.name
    weight = array(1, 2)
    weight.attach_grad()
    with mx.autograd.record():
        made = nd.signsgd_update(weight, array(0.5, -1), lr=0.1)
    with pytest.raises(mx.MXNetError):
        made.backward()
        weight.grad.wait_to_read()


@pytest.mark.clause("multi_sgd/count")
def test_rates_for_every_weight() -> None:
    # MXNetError: Number of learning rates is inconsistent with num_weights parameter passed.
    with pytest.raises(mx.MXNetError, match="lrs holds 1 numbers, num_weights says 2"):
        nd.multi_sgd_update(*[array(1)] * 4, lrs=(0.1,), wds=(0, 0), num_weights=2)
    with pytest.raises(mx.MXNetError, match="takes 4 inputs"):
        nd.multi_sgd_update(array(1), array(1), lrs=(0.1, 0.1), wds=(0, 0), num_weights=2)


@pytest.mark.parametrize("operator", UPDATES)
def test_states_are_auxiliary(operator: str) -> None:
    # mx.sym.adam_update(*variables, lr=.1).list_auxiliary_states(): whatever changes in place
    op = next(op for op in distinct() if op.name == operator)
    assert "weight" not in op.aux and "grad" not in op.aux
    assert list(op.aux) == list(op.mutates)


def test_a_graph_of_many_weights_is_written_and_read() -> None:
    # by hand
    variables = [mx.sym.Variable(name) for name in ("a", "ga", "ma", "b", "gb", "mb")]
    net = mx.sym.multi_sgd_mom_update(*variables, lrs=(0.1, 0.2), wds=(0.1, 0), momentum=0.5, num_weights=2)
    again = mx.sym.load_json(net.tojson())
    assert again.list_arguments() == ["a", "ga", "b", "gb"]
    assert again.list_auxiliary_states() == ["ma", "mb"]
    assert len(again.list_outputs()) == 2
    with pytest.raises(mx.MXNetError, match="lrs holds 2 numbers, num_weights says 3"):
        mx.sym.load_json(net.tojson().replace('"num_weights": "2"', '"num_weights": "3"'))
