"""The update of many parameters as one call of a kernel, in place of one operator for each of them.

Updating a small parameter alone takes twelve microseconds, of which its loop needs less than one. The others find the
loop and the hyperparameters, which are the same in every step. So a *plan* of an update holds a table with the
addresses of weights, gradients and states, and ``update_kernels.py`` goes through the table. A plan gets the loop and
its hyperparameters from the optimizer itself, which takes a step on arrays without elements (``rule_call.py``): one
step for all parameters with equal multipliers.

:func:`is_updated_on_devices` and :func:`is_updated_on_store` return False, before anything has changed, where the
usual path has to be taken: at the first update, which makes the states, and whenever one of these conditions does not
hold. The Updater has one of ``RULES`` (no subclass, no replaced method) and a scheduler of ``mx.lr_scheduler`` or none;
arrays are dense, float32, of equal shape, on the CPU and do not overlap; the states were not just loaded; no quirk is
active; autograd does not record.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import attrgetter, is_
from typing import Any

import numpy as np

from .. import lr_scheduler
from ..base import decides
from ..kernels.foundation import quirk
from ..ndarray import NDArray, tape
from ..optimizer import adadelta, adagrad, adam, adamax, ftml, ftrl, rmsprop, sgd, signum
from ..optimizer.rule import Index
from ..optimizer.updater import Updater
from .native.update_kernels import Walk, address_of, empty
from .recorder import Recorder
from .rule_call import SINGLE, RuleCall, StandIn, Unfit, arrays_of
from .update_rows import Row, order_of_addition, require_alike, require_apart

LIMIT = 64
"""The most plans of one updater: a bucketing module needs one for each bucket."""

RULES = frozenset({
    adadelta.AdaDelta, adagrad.AdaGrad, adam.Adam, adamax.Adamax, ftml.FTML, ftrl.Ftrl, rmsprop.RMSProp, sgd.SGD,
    sgd.ccSGD, signum.Signum,
})
_COUNTING = frozenset({adam.Adam, adamax.Adamax, ftml.FTML})
"""The rules whose hyperparameters depend on the update count of the parameter."""

_RATELESS = frozenset({adadelta.AdaDelta})
"""The rules that never ask the scheduler."""

_SCHEDULERS = frozenset({
    type(None), lr_scheduler.CosineScheduler, lr_scheduler.FactorScheduler, lr_scheduler.MultiFactorScheduler,
    lr_scheduler.PolyScheduler,
})
_MULTIPLIERS = ("lr_mult", "wd_mult", "idx2name")
_UNSEEN = frozenset({
    *_MULTIPLIERS, "num_update", "_index_update_count", "_all_index_update_counts", "lr_scheduler", "sym_info",
})
"""Attributes of an optimizer that are checked elsewhere, or that no step depends on."""

_MEMORY = attrgetter("_buffer.flat")


# --- conditions of every step --------------------------------------------------------------------------


def _is_possible(updater: Any) -> bool:
    """Whether this updater may use a plan now."""
    if type(updater) is not Updater or tape.STATE.recording or quirk.current():
        return False
    optimizer = updater.optimizer
    rule, scheduler = type(optimizer), optimizer.lr_scheduler
    if rule not in RULES or type(scheduler) not in _SCHEDULERS or optimizer.param_dict:
        return False
    if scheduler is not None and rule in _RATELESS:
        return False
    return not updater.loaded and False not in updater.states_synced.values()


# --- plans -----------------------------------------------------------------------------------------


class _Plan:
    """The table of an update of some parameters, valid as long as their arrays and states stay the same.

    The plan keeps the states alive, but neither weights nor gradients.
    """

    def __init__(self, updater: Updater, rows: Sequence[Row], together: int) -> None:
        """Make the plan for ``rows``, each of which has a state in ``updater``.

        ``together`` is the argument of :func:`order_of_addition`.

        Raises:
            Unfit: the usual path has to be taken.
        """
        self._optimizer = optimizer = updater.optimizer
        self._indices = [row.key for row in rows]
        self._states = [updater.states[key] for key in self._indices]
        parts = [arrays_of(state) for state in self._states]
        self._arrays = [array for part in parts for array in part]
        self._memory = [*map(_MEMORY, self._arrays)]
        for row, part in zip(rows, parts, strict=True):
            require_alike([row.weight, *row.grads, *part, *row.copies])
        require_apart(rows, self._arrays)
        self._by_device: dict[int, list[Index]] = {}
        for row in rows:
            self._by_device.setdefault(row.weight.context.device_id, []).append(row.key)
        self._last_device = rows[-1].weight.context.device_id
        self._stand_in = StandIn(self._states[0], rows[0].weight.context)
        self._seen: list[Any] = []
        self._told: tuple[float, int] = (0.0, 0)
        groups = self._grouped()
        calls = self._calls(0.0 if optimizer.lr is None else optimizer.lr, 1)
        self._call = calls[0]
        self._numbers = _flat(calls)
        self._walk = self._table(rows, parts, groups, together)
        self._gone: list[Any] = []  # a callback that refers to the plan would keep it alive
        arrays = [array for row in rows for array in (row.weight, *row.grads, *row.copies)]
        self._watched = [weakref.ref(array._buffer.flat, self._gone.append) for array in arrays]

    def _grouped(self) -> list[int]:
        """The number of each parameter's group; parameters with equal lr and wd multipliers form a group."""
        optimizer = self._optimizer
        self._multipliers = [dict(getattr(optimizer, name)) for name in _MULTIPLIERS]
        known: dict[str, int] = {}
        self._first_of_group: list[Index] = []
        groups = []
        for index in self._indices:
            factors = [optimizer._multiplier(index, getattr(optimizer, kind), kind) for kind in ("lr_mult", "wd_mult")]
            key = repr(factors)
            if key not in known:
                known[key] = len(known)
                self._first_of_group.append(index)
            groups.append(known[key])
        return groups

    def _calls(self, rate: float, count: int) -> list[RuleCall]:
        """The loop call for each group; the calls differ only in their hyperparameters.

        Raises:
            Unfit: they differ otherwise, or a method of the optimizer was replaced.
        """
        if any(callable(value) for name, value in vars(self._optimizer).items() if name not in _UNSEEN):
            raise Unfit  # a method was replaced
        calls = [self._stand_in.step(self._optimizer, index, rate, count) for index in self._first_of_group]
        if any(call[:3] != calls[0][:3] or len(call.numbers) != len(calls[0].numbers) for call in calls):
            raise Unfit
        return calls

    def _table(
        self, rows: Sequence[Row], parts: Sequence[list[NDArray]], groups: Sequence[int], together: int
    ) -> Walk:
        call, first = self._call, rows[0]
        added = order_of_addition(len(first.grads), together)
        longest = max(row.weight.size for row in rows)
        totals = {total for *_, total in added}
        self._sums, self._others = ([empty(longest) for _ in totals] for _ in range(2))
        table = []
        for row, part, group in zip(rows, parts, groups, strict=True):
            like_first = len(part) == len(parts[0]) and len(row.grads) == len(first.grads)
            if not like_first or len(row.copies) != len(first.copies):
                raise Unfit
            memory = [*map(_MEMORY, row.grads), *self._sums]
            given = [row.weight._buffer.flat, memory[added[-1][2] if added else 0], *map(_MEMORY, part)]
            flats = [given[number] for number in call.order]
            flats += [memory[number] for addition in added for number in addition]
            addresses = map(address_of, [*flats, *map(_MEMORY, row.copies)])
            table.append([row.weight.size, group * len(call.numbers), *addresses])
        return Walk(
            call.loop, table, len(call.order), len(call.numbers), named=call.named, sums=len(added),
            copies=len(first.copies),
            apart=dict(zip(*(map(address_of, sums) for sums in (self._sums, self._others)), strict=True)),
        )

    def fits(self, updater: Updater) -> bool:
        """Whether the optimizer, its multipliers, all arrays and all states are still those of the plan."""
        optimizer = updater.optimizer
        if optimizer is not self._optimizer or self._gone:
            return False
        if not all(map(is_, map(updater.states.get, self._indices), self._states)):
            return False
        if not all(map(is_, map(_MEMORY, self._arrays), self._memory)):
            return False
        return all(map(_is_same, (getattr(optimizer, name) for name in _MULTIPLIERS), self._multipliers))

    def step(self) -> None:
        """Count and update all parameters, or leave everything as it is.

        Raises:
            Unfit: the usual path has to be taken.
        """
        optimizer = self._optimizer
        scheduler, counters = optimizer.lr_scheduler, optimizer._all_index_update_counts
        changed: list[dict] = [vars(optimizer), counters, *counters.values()]
        if scheduler is not None:
            changed.append(vars(scheduler))
        before, done = [dict(each) for each in changed], self._walk.done
        try:
            counted = self._count()
            rate: Any = optimizer.lr if scheduler is None else scheduler(optimizer.num_update)
            self._learn(rate, counted)
            self._walk(self._numbers)
        except BaseException:
            if self._walk.done == done:  # a Ctrl-C may come just after the walk
                for each, held in zip(changed, before, strict=True):
                    each.clear()
                    each.update(held)
            raise

    def _count(self) -> int:
        """Count one more update of every parameter; returns the smallest new count.

        Raises:
            Unfit: counts differ, and the learning rate or the hyperparameters depend on them.
        """
        optimizer = self._optimizer
        found: set[Any] = set()
        for device, indices in self._by_device.items():
            optimizer._set_current_context(device)
            counts = optimizer._index_update_count
            known = [*map(counts.get, indices)]
            found.update(known)
            if len(found) == 1 and known[0] is not None:
                counts.update(dict.fromkeys(indices, known[0] + 1))
                continue
            made = [optimizer.begin_num_update if n is None else n for n in known]
            found = {n for n in found if n is not None}.union(made)
            if len(found) > 1 and (optimizer.lr_scheduler is not None or type(optimizer) in _COUNTING):
                raise Unfit  # each parameter has a rate or hyperparameters of its own
            counts.update(zip(indices, [n + 1 for n in made], strict=True))
        optimizer._set_current_context(self._last_device)
        optimizer.num_update = max(optimizer.num_update, max(found) + 1)
        return min(found) + 1

    def _learn(self, rate: float, count: int) -> None:
        """Find the hyperparameters of this step, unless rate, count and optimizer are those of the last step.

        Raises:
            Unfit: the rule now calls another loop.
        """
        optimizer = self._optimizer
        attributes = [value for name, value in vars(optimizer).items() if name not in _UNSEEN]
        told = rate or 0.0, count if type(optimizer) in _COUNTING else 0
        known = len(attributes) == len(self._seen) and all(map(is_, attributes, self._seen))
        if known and told == self._told and rate:  # 0.0 and -0.0 are equal
            return
        calls = self._calls(rate, count)
        if calls[0][:3] != self._call[:3]:
            self._gone.append(None)  # from the next step on there is a plan for the other loop
            raise Unfit
        self._seen, self._told, self._numbers = attributes, told, _flat(calls)


class _NoPlan:
    """Parameters that take the usual path as long as optimizer and states are the same objects."""

    def __init__(self, updater: Updater) -> None:
        self._optimizer, self._states = updater.optimizer, updater.states

    def fits(self, updater: Updater) -> bool:
        return updater.optimizer is self._optimizer and updater.states is self._states

    def step(self) -> None:
        raise Unfit


_PLANS: weakref.WeakKeyDictionary[Updater, Recorder[_Plan | _NoPlan]] = weakref.WeakKeyDictionary()


def _flat(calls: Sequence[RuleCall]) -> np.ndarray:
    return np.array([call.numbers for call in calls], SINGLE).reshape(-1)


def _is_same(one: dict, other: dict) -> bool:
    """Whether two dicts hold the same objects in the same order; ``==`` would take 0.0 for -0.0."""
    return len(one) == len(other) and all(map(is_, one, other)) and all(map(is_, one.values(), other.values()))


# --- the two ways ----------------------------------------------------------------------------------


@decides("Updater/at-once")
def is_updated_on_devices(
    updater: Any, param_arrays: Sequence[Sequence[NDArray]], grad_arrays: Sequence[Sequence[NDArray | None]],
    num_device: int,
) -> bool:
    """Update the weights on each device by its gradients; False, and nothing has changed, where there is no plan.

    Args:
        updater: the updater of all devices.
        param_arrays, grad_arrays: for each parameter, its arrays on each device.
        num_device: the number of devices; device k's copy of parameter i has the index ``i * num_device + k``.
    """
    def rows() -> list[Row]:
        return [
            Row(index * num_device + device, weight, (grad,))  # type: ignore[arg-type]  # not None, as asked
            for device in range(num_device)
            for index, (weights, grads) in enumerate(zip(param_arrays, grad_arrays, strict=True))
            if grads[0] is not None
            for weight, grad in [*zip(weights, grads, strict=True)][device : device + 1]
        ]

    return _is_possible(updater) and _done(updater, rows, 1, num_device, param_arrays, grad_arrays)


@decides("Updater/at-once")
def is_updated_on_store(
    updater: Any, stored: Mapping[Any, NDArray], names: Sequence[str], param_arrays: Sequence[Sequence[NDArray]],
    grad_arrays: Sequence[Sequence[NDArray | None]], together: int,
) -> bool:
    """Add up gradients, update stored weights and copy them to the devices; False as for :func:`is_updated_on_devices`.

    Args:
        updater: the updater of the store.
        stored: the weights by name, in the order of their ``init``.
        names, param_arrays, grad_arrays: the arguments of ``model._update_params_on_kvstore``.
        together: how many gradients after the first are added up among themselves before they join the total.
    """
    def rows() -> list[Row]:
        given = {
            name: Row(name, stored[name], grads, weights)  # type: ignore[arg-type]  # none is None, as asked
            for name, weights, grads in zip(names, param_arrays, grad_arrays, strict=True) if grads[0] is not None
        }
        return [given[name] for name in stored if name in given]

    if not _is_possible(updater) or len({*names}) != len(names) or not all(map(stored.__contains__, names)):
        return False
    held = [[stored[name]] for name in names]
    return _done(updater, rows, together, together, held, param_arrays, grad_arrays)


def _done(
    updater: Updater, rows: Callable[[], list[Row]], together: int, kind: int,
    *lists: Sequence[Sequence[NDArray | None]],
) -> bool:
    """Update by the plan for these arrays, made where it is missing; False where the usual path has to be taken."""
    arrays = [*chain.from_iterable(chain.from_iterable(lists))]
    try:
        key: tuple = (kind, *map(id, map(_MEMORY, arrays)))
    except (AttributeError, TypeError):  # there is no gradient, or no dense array
        if any(type(array) is not NDArray for array in arrays if array is not None):
            return False
        key = (kind, *[0 if array is None else id(_MEMORY(array)) for array in arrays])
    recorder = _PLANS.setdefault(updater, Recorder(LIMIT, 8 * LIMIT))
    plan = recorder.made.get(key)
    try:
        if plan is None or not plan.fits(updater):
            if plan is None and not recorder.is_due(key):
                return False
            given = rows()
            if not all(row.key in updater.states for row in given):  # the usual path makes the states
                return False
            plan = recorder.keep(key, _made(updater, given, together))
            assert plan is not None
        plan.step()
    except Unfit:
        return False
    return True


def _made(updater: Updater, rows: Sequence[Row], together: int) -> _Plan | _NoPlan:
    try:
        return _Plan(updater, rows, together) if rows else _NoPlan(updater)
    except Unfit:
        return _NoPlan(updater)


__all__ = ["RULES", "is_updated_on_devices", "is_updated_on_store"]
