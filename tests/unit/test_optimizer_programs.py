"""Laws of optimizers over random programs: schedules in any order, counts by device, float32 copies, rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import refimpl as mx
from refimpl import ndarray as nd
from refimpl import optimizer as opt
from refimpl.ndarray import sparse
from refimpl.optimizer import states

from .recorded_optimizers import VARIANTS

pytestmark = pytest.mark.filterwarnings("ignore:learning rate .* overwritten")

# --- schedules ------------------------------------------------------------------------------------

warm_ups = st.fixed_dictionaries({
    "warmup_steps": st.integers(0, 6), "warmup_begin_lr": st.sampled_from([0.0, 0.125]),
    "warmup_mode": st.sampled_from(["linear", "constant"]), "base_lr": st.sampled_from([0.5, 1.0]),
})
steps = st.lists(st.integers(1, 30), min_size=1, max_size=4, unique=True).map(sorted)
stepwise = st.one_of(
    st.tuples(st.just(mx.lr_scheduler.FactorScheduler), st.integers(1, 7), st.sampled_from([0.5, 0.75, 1.0])),
    st.tuples(st.just(mx.lr_scheduler.MultiFactorScheduler), steps, st.sampled_from([0.5, 0.75, 1.0])),
)
curves = st.tuples(
    st.sampled_from([mx.lr_scheduler.PolyScheduler, mx.lr_scheduler.CosineScheduler]), st.integers(1, 30)
)
queries = st.lists(st.integers(0, 40), min_size=1, max_size=12)


@pytest.mark.clause("LRScheduler/no-way-back")
@given(stepwise, warm_ups, queries)
def test_steps_go_by_the_largest_number_asked(schedule, warm_up, numbers) -> None:
    """In any order, and any number of times; the warm-up goes by the number itself."""
    kind, *arguments = schedule
    asked, largest = kind(*arguments, **warm_up), 0
    for number in numbers:
        warm = number < warm_up["warmup_steps"]
        largest = largest if warm else max(largest, number)
        assert asked(number) == kind(*arguments, **warm_up)(number if warm else largest)


@pytest.mark.clause("LRScheduler/curves-look-at-the-number")
@given(curves, warm_ups, queries)
def test_curves_go_by_the_number_asked(schedule, warm_up, numbers) -> None:
    kind, *arguments = schedule
    asked = kind(*arguments, **warm_up)
    assert [asked(number) for number in numbers] == [kind(*arguments, **warm_up)(number) for number in numbers]


@pytest.mark.clause("LRScheduler/no-way-back", "Command/optimizer")
@given(stepwise, warm_ups, queries, st.data())
def test_a_schedule_goes_on_from_a_file(schedule, warm_up, numbers, data) -> None:
    kind, *arguments = schedule
    straight = opt.SGD(lr_scheduler=kind(*arguments, **warm_up))
    stopped = opt.SGD(lr_scheduler=kind(*arguments, **warm_up))
    at = data.draw(st.integers(0, len(numbers)))
    rates = [straight.lr_scheduler(number) for number in numbers]
    found = [stopped.lr_scheduler(number) for number in numbers[:at]]
    again = states.loads_optimizer(states.dumps_optimizer(stopped))
    assert found + [again.lr_scheduler(number) for number in numbers[at:]] == rates


# --- counts -----------------------------------------------------------------------------------------

work = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["a", "b", 7])), max_size=14)


@pytest.mark.clause("Optimizer/counts", "Optimizer/learning-rate")
@given(work, st.integers(0, 3), st.integers(1, 4), st.sampled_from(["sgd", "lbsgd", "nag", "ccsgd"]))
def test_every_device_counts_for_itself(program, begin, step, name) -> None:
    """Rates of 2^-k and gradients of 1, so that float32 is exact."""
    schedule = mx.lr_scheduler.FactorScheduler(step, 0.5, base_lr=1.0)
    optimizer = opt.create(name, lr_scheduler=schedule, begin_num_update=begin)
    updater = opt.get_updater(optimizer)
    weights, places, counts, largest = {}, {}, {}, begin
    for device, key in program:
        weight = weights.setdefault((device, key), nd.zeros(1, ctx=mx.cpu(device)))
        updater(key, nd.ones(1, ctx=mx.cpu(device)), weight)
        count = counts.setdefault(device, {})
        count[key] = count.get(key, begin) + 1
        largest = max(largest, count[key])
        rate = 0.5 ** max(0, (largest - 1) // step)
        places[device, key] = places.get((device, key), 0.0) - rate
    assert {spot: weight.asscalar() for spot, weight in weights.items()} == places
    assert optimizer.num_update == largest
    assert {d: c for d, c in optimizer._all_index_update_counts.items() if c} == counts


# --- float32 copies ---------------------------------------------------------------------------------

halves = st.integers(-16, 16).map(lambda n: n / 8)
gradients = st.lists(st.tuples(halves, halves, halves), min_size=1, max_size=5)
# lamb and lars measure the float16 weight, as in MXNet
PRECISE = [case for case, (name, _) in VARIANTS.items() if name not in ("lamb", "lars")]


@pytest.mark.clause("Optimizer/multi-precision", "SGD/multi-precision")
@pytest.mark.parametrize("case", PRECISE)
def test_a_float16_weight_with_a_copy_goes_as_a_float32_weight(case: str) -> None:
    name, own = VARIANTS[case]

    @given(gradients)
    def examine(program) -> None:
        half = opt.get_updater(opt.create(name, learning_rate=0.125, multi_precision=True, **own))
        single = opt.get_updater(opt.create(name, learning_rate=0.125, **own))
        start = [[1.0, -2.0, 0.5]]
        narrow, wide = nd.array(start, dtype="float16"), nd.array(start)
        for gradient in program:
            mx.random.seed(1)
            half(0, nd.array([gradient], dtype="float16"), narrow)
            mx.random.seed(1)
            single(0, nd.array([gradient]), wide)
        np.testing.assert_array_equal(narrow.asnumpy(), wide.asnumpy().astype(np.float16))

    examine()


# --- rows -------------------------------------------------------------------------------------------

HEIGHT = 5
touches = st.lists(
    st.tuples(st.sets(st.integers(0, HEIGHT - 1)).map(sorted), st.integers(-8, 8).map(lambda n: n / 8)), max_size=5
)
LAZY = {
    "sgd": {}, "sgd, momentum": {"momentum": 0.5}, "ccsgd": {"momentum": 0.5}, "lbsgd": {"momentum": 0.5}, "adam": {},
    "adagrad": {}, "groupadagrad": {}, "ftrl": {},
}


def arrays(weight, updater):
    """A weight and its states."""
    state = updater.states.get(0)
    return [weight, *(state if isinstance(state, tuple) else [] if state is None else [state])]


@pytest.mark.clause("Optimizer/lazy")
@pytest.mark.parametrize("case", LAZY)
def test_a_lazy_step_is_a_dense_step_with_the_other_rows_put_back(case: str) -> None:
    """Weight and states alike, whichever rows come and go, and where none do."""
    name = case.partition(",")[0]
    table = (np.arange(HEIGHT * 2).reshape(HEIGHT, 2) / 4 - 1).astype(np.float32)
    decay = {} if "adagrad" in name else {"wd": 0.125}
    settings = {"learning_rate": 0.25, "clip_gradient": 0.75, **decay, **LAZY[case]}

    @given(touches)
    def examine(program) -> None:
        lazy, dense = (opt.get_updater(opt.create(name, **settings)) for _ in range(2))
        weight, whole = nd.array(table).tostype("row_sparse" if name == "ftrl" else "default"), nd.array(table)
        dense._state(0, whole)
        for rows, value in program:
            values = np.float32([[value, -2 * value]] * len(rows)).reshape(-1, 2)
            lazy(0, sparse.row_sparse_array((values, rows), shape=table.shape), weight)
            full = np.zeros_like(table)
            full[rows] = values
            before = [each.asnumpy() for each in arrays(whole, dense)]
            dense(0, nd.array(full), whole)
            for each, old in zip(arrays(whole, dense), before, strict=True):
                new = old.copy()
                new[rows] = each.asnumpy()[rows]
                each[:] = new
        for one, other in zip(arrays(weight, lazy), arrays(whole, dense), strict=bool(program)):
            np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=3e-7, atol=1e-9)

    examine()
