"""SVRGModule against rational arithmetic: every bit, on one to four contexts, with padding and without."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import refimpl as mx
from refimpl.cli.labs.svrg_lab import slope, svrg

from .svrg_nets import ROWS, TARGETS, in_batches, iterator, means, rational, ready, run, steps

EXACT = rational(ROWS, TARGETS)
# Three of each, so that a mean over twelve or six rows is a sum of powers of two.
TWELVE = [0, 0, 1, 2, 0, 3, 1, 1, 3, 2, 3, 2]
SIX = [0, 0, 1, 1, 0, 1]


def exactly(found: list[list[float]]) -> list[list[Fraction]]:
    return [[Fraction(value) for value in values] for values in found]


def problem(chosen: list[int], size: int, dtype: str = "float32") -> tuple:
    rows, targets = [ROWS[i] for i in chosen], [TARGETS[i] for i in chosen]
    exact = rational(rows, targets)
    return iterator(rows, targets, size, dtype), exact, in_batches(exact, size)


@pytest.mark.clause("SVRG/step", "SVRG/full-gradient", "SVRG/mean-once")
@pytest.mark.parametrize("kvstore", ["local", "device"])
@pytest.mark.parametrize("contexts", [1, 2, 3, 4])
def test_three_epochs(contexts: int, kvstore: str) -> None:
    data, rows, batches = problem([0, 1, 2, 3, 4, 5, 6, 7], 4, "float64")
    found = run(ready(data, contexts, kvstore=kvstore), data, 3)
    assert exactly(found) == svrg(rows, batches, [1, 1, 0], Fraction(1, 16), 3)


@pytest.mark.clause("SVRG/full-gradient", "SVRG/few-rows")
@pytest.mark.parametrize("contexts", [1, 2, 3, 4])
@pytest.mark.parametrize(("chosen", "size"), [(TWELVE, 8), (SIX, 4), ([0, 1, 2, 3], 8), ([2], 4)])
def test_three_epochs_with_padding(contexts: int, chosen: list[int], size: int) -> None:
    # The last batches have 4 rows of 8, 2 of 4, 4 of 8 and 1 of 4: also fewer than there are contexts.
    data, rows, batches = problem(chosen, size, "float64")
    found = run(ready(data, contexts, rate=1 / 8), data, 3)
    assert exactly(found) == svrg(rows, batches, [1, 1, 0], Fraction(1, 8), 3)


@pytest.mark.clause("SVRG/step")
@pytest.mark.parametrize("contexts", [1, 2, 3, 4])
def test_three_epochs_of_float32(contexts: int) -> None:
    data, rows, batches = problem(SIX, 4)
    found = run(ready(data, contexts, rate=0.5), data, 3)
    assert exactly(found) == svrg(rows, batches, [1, 1, 0], Fraction(1, 2), 3)


@pytest.mark.clause("SVRG/step", "SVRG/full-gradient", "SVRG/mean-once", "SVRG/few-rows")
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_problem(data) -> None:
    values, copies = st.integers(-2, 2), data.draw(st.sampled_from([1, 3, 5]))
    size, distinct = data.draw(st.sampled_from([2, 4, 8])), data.draw(st.sampled_from([1, 2, 4]))
    some = [([data.draw(values), data.draw(values)], data.draw(values)) for _ in range(distinct)]
    chosen = data.draw(st.permutations(some * copies))
    rows, targets = [row for row, _ in chosen], [target for _, target in chosen]
    contexts = data.draw(st.integers(1, min(size, 4)))
    kvstore = data.draw(st.sampled_from(["local", "device"] if contexts > 1 else ["local", None]))
    frequency, exact = data.draw(st.integers(1, 3)), rational(rows, targets)
    expected = svrg(exact, in_batches(exact, size), [1, 1, 0], Fraction(1, 16), 3, frequency)
    assume(max(value.numerator.bit_length() for values in expected for value in values) < 40)
    batches = iterator(rows, targets, size, "float64")
    module = ready(batches, contexts, kvstore=kvstore, frequency=frequency)
    assert exactly(run(module, batches, 3)) == expected


@pytest.mark.clause("SVRG/no-store")
@pytest.mark.parametrize("fitted", [False, True])
def test_contexts_without_a_store_go_apart(fitted: bool) -> None:
    data = iterator(dtype="float64")
    module = ready(data, 2, kvstore=None)
    # the slices of both batches that each context gets; its steps divide by the whole batch
    apart = [[0, 1, 4, 5], [2, 3, 6, 7]]
    expected = []
    for mine in apart:
        rows = [EXACT[i] for i in mine]
        expected.append(svrg(rows, [rows[:2], rows[2:]], [1, 1, 0], Fraction(1, 32), 3)[-1])
    if fitted:
        module.fit(data, num_epoch=1, kvstore=None)
        first = [svrg([EXACT[i] for i in mine], [[EXACT[i] for i in mine[:2]], [EXACT[i] for i in mine[2:]]],
                      [1, 1, 0], Fraction(1, 32), 1)[-1] for mine in apart]
        together = [(a + b) / 2 for a, b in zip(*first, strict=True)]
        assert weights_on(module, 0) == weights_on(module, 1) == together
        return
    for _ in range(3):
        module.update_full_grads(data)
        data.reset()
        for batch in data:
            module.forward_backward(batch)
            module.update()
    assert [weights_on(module, 0), weights_on(module, 1)] == expected


def weights_on(module: mx.mod.Module, context: int) -> list[Fraction]:
    arrays = module._exec_group.execs[context].arg_dict
    return [Fraction(value) for name in ("fc_weight", "fc_bias") for value in arrays[name].asnumpy().ravel().tolist()]


@pytest.mark.clause("SVRG/mean-once")
@pytest.mark.parametrize("contexts", [1, 2, 3, 4])
def test_the_first_context_adds_the_mean(contexts: int) -> None:
    data = iterator()
    module = ready(data, contexts)
    module.update_full_grads(data)
    total = slope([Fraction(1), Fraction(1), Fraction(0)], EXACT)
    mean = [float(each) * 4 / 8 for each in total]
    assert mean == [10, 11.5, 0.5]
    assert means(module) == [{"fc_weight": mean[:2], "fc_bias": mean[2:]}, *[{}] * (contexts - 1)]


@pytest.mark.clause("SVRG/full-gradient")
def test_a_pass_starts_from_zero() -> None:
    data = iterator()
    module = ready(data)
    for _ in range(3):
        module.update_full_grads(data)
        assert means(module) == [{"fc_weight": [10, 11.5], "fc_bias": [0.5]}]


@pytest.mark.clause("SVRG/batch-size")
def test_a_smaller_batch_takes_its_part_of_the_mean() -> None:
    data = iterator(dtype="float64")
    module = ready(data)
    module.update_full_grads(data)
    start, mean = [Fraction(1), Fraction(1), Fraction(0)], slope([Fraction(1), Fraction(1), Fraction(0)], EXACT)
    now = start
    for rows in ([0, 1, 2, 3], [4, 5], [6]):
        chosen = [EXACT[i] for i in rows]
        new, old = slope(now, chosen), slope(start, chosen)
        step = [a - b + each * len(rows) / 8 for a, b, each in zip(new, old, mean, strict=True)]
        now = [weight - each / 16 / 4 for weight, each in zip(now, step, strict=True)]
        batch = mx.io.DataBatch(
            [mx.nd.array(np.array(ROWS, float)[rows], dtype="float64")],
            [mx.nd.array(np.array(TARGETS, float)[rows], dtype="float64")],
        )
        module.forward_backward(batch)
        module.update()
        assert weights_on(module, 0) == now


@pytest.mark.clause("SVRG/fit")
@pytest.mark.parametrize(("contexts", "frequency"), [(1, 1), (2, 2), (3, 3), (4, 2)])
def test_fit_is_the_algorithm(contexts: int, frequency: int) -> None:
    data, rows, batches = problem([0, 1, 2, 3, 4, 5, 6, 7], 4, "float64")
    module = ready(data, contexts, frequency=frequency)
    list(data)  # an iterator that is exhausted will do
    module.fit(data, num_epoch=3, eval_metric="mse")
    assert weights_on(module, 0) == svrg(rows, batches, [1, 1, 0], Fraction(1, 16), 3, frequency)[-1]


@pytest.mark.clause("SVRG/no-store")
def test_each_context_keeps_its_own_running_means() -> None:
    """Without a store the contexts see other rows, and the snapshot of each has what its own context saw."""
    net = mx.sym.BatchNorm(mx.sym.Variable("data"), momentum=0.5, name="norm")
    net = mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(net, num_hidden=1), mx.sym.Variable("target"))
    data = iterator()
    module = ready(data, 2, symbol=net, kvstore=None)
    module.update_full_grads(data)
    steps(module, data)
    module._take_snapshot()
    ours, theirs = module._exec_group.aux_arrays, module._mod_aux._exec_group.aux_arrays
    assert [[copy.asnumpy().tolist() for copy in copies] for copies in theirs] == [
        [copy.asnumpy().tolist() for copy in copies] for copies in ours
    ]
    assert ours[0][0].asnumpy().tolist() != ours[0][1].asnumpy().tolist()
