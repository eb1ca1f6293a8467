"""Checks that an optimizer, scheduler or state from a file has valid values of all attributes that updates read."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from ..base import decides, refusal
from ..lr_scheduler import CosineScheduler, FactorScheduler, LRScheduler, PolyScheduler
from ..ndarray import NDArray

MOST_UPDATES = 2**53
"""The largest count of updates: float64 represents all whole numbers up to it."""
MOST_STEPS = 10**6
"""The most steps that a schedule may be behind the count of updates: it goes through them one by one."""

_OURS = __name__.partition(".")[0]
_REQUIRED = object()


def is_number(value: Any) -> bool:
    """Whether a value is a float, or a whole number below 2**64 in size."""
    return isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**64)


def is_count(value: Any) -> bool:
    """Whether a value counts updates."""
    return type(value) is int and 0 <= value <= MOST_UPDATES


def _is_rate(value: Any) -> bool:
    return value is None or is_number(value)


def _are_numbers(values: Any) -> bool:
    return type(values) is dict and all(map(is_number, values.values()))


def _are_counts(values: Any) -> bool:
    return type(values) is dict and all(map(is_count, values.values()))


def _are_steps(steps: Any) -> bool:
    return type(steps) is list and all(is_number(step) and step >= 1 for step in steps)


def _are_sums(values: Any) -> bool:
    """Whether ``values`` are LBSGD's: by index, a sum of gradients (an array, or 0 after a step) and a call count."""
    if type(values) is not dict or not all(type(held) is dict for held in values.values()):
        return False
    sums = [held.get("cum_grad") for held in values.values()]
    return all(isinstance(each, NDArray) or is_number(each) for each in sums) and all(
        is_count(held.get("num_cums")) for held in values.values()
    )


def _is_description(given: Any) -> bool:
    """Whether ``given`` is an optimizer's ``sym_info``: empty, or (attributes of variables, names of arguments)."""
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        return given is None or (isinstance(given, (tuple, list)) and not given)
    attributes, names = given
    return (
        isinstance(attributes, dict) and all(isinstance(held, dict) for held in attributes.values())
        and isinstance(names, (tuple, list)) and all(isinstance(name, str) for name in names)
    )


def _are_names(values: Any) -> bool:
    """Whether ``values`` are names by index; MXNet also accepts numbers and None as names."""
    return type(values) is dict and all(isinstance(name, (str, int, float, type(None))) for name in values.values())


def _is_scheduler(value: Any) -> bool:
    return value is None or isinstance(value, LRScheduler)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_ATTRIBUTES: dict[str, dict[str, tuple[Any, Callable[[Any], bool]]]] = {
    "Optimizer": {
        "rescale_grad": (1.0, is_number), "wd": (0.0, is_number), "clip_gradient": (None, _is_rate),
        "lr": (0.01, _is_rate), "lr_scheduler": (None, _is_scheduler), "multi_precision": (False, is_number),
        "begin_num_update": (0, is_count), "num_update": (0, is_count), "aggregate_num": (0, is_count),
        "lr_mult": ({}, _are_numbers), "wd_mult": ({}, _are_numbers), "idx2name": ({}, _are_names),
        "_index_update_count": ({}, _are_counts), "_all_index_update_counts": (
            {}, lambda found: type(found) is dict and all(map(_are_counts, found.values()))
        ), "sym_info": ((), _is_description),
    },
    "GroupAdaGrad": {"float_stable_eps": (1e-5, is_number)},
    "AdaDelta": {"rho": (0.9, is_number), "epsilon": (1e-5, is_number)},
    "AdaGrad": {"float_stable_eps": (1e-7, is_number)},
    "Adam": {
        "beta1": (0.9, lambda beta: is_number(beta) and 0 <= beta < 1),
        "beta2": (0.999, lambda beta: is_number(beta) and 0 <= beta <= 1), "epsilon": (1e-8, is_number),
        "lazy_update": (True, is_number),
    },
    "Adamax": {
        "beta1": (0.9, lambda beta: is_number(beta) and 0 <= beta < 1), "beta2": (0.999, is_number),
    },
    "DCASGD": {"momentum": (0.0, is_number), "lamda": (0.04, is_number)},
    "FTML": {"beta1": (0.6, is_number), "beta2": (0.999, is_number), "epsilon": (1e-8, is_number)},
    "Ftrl": {"lamda1": (0.01, is_number), "beta": (1, is_number)},
    "LAMB": {
        "beta1": (0.9, is_number), "beta2": (0.999, is_number), "epsilon": (1e-6, is_number),
        "lower_bound": (None, _is_rate), "upper_bound": (None, _is_rate), "bias_correction": (True, is_number),
    },
    "SGD": {"momentum": (0.0, is_number), "lazy_update": (True, is_number)},
    "LARS": {
        "momentum": (0.0, is_number), "lazy_update": (True, is_number), "eta": (0.001, is_number),
        "eps": (0, is_number), "momentum_correction": (True, is_number), "last_lr": (None, _is_rate),
        "cur_lr": (None, _is_rate),
    },
    "NAG": {"momentum": (0.0, is_number)},
    "LBSGD": {
        "momentum": (0.0, is_number), "warmup_strategy": ("linear", _is_text), "warmup_epochs": (5, is_number),
        "batch_scale": (1, lambda found: is_number(found) and found > 0), "updates_per_epoch": (32, is_number),
        "init_updates": (0, is_count), "cumgrads": ({}, _are_sums),
    },
    "Nadam": {
        "beta1": (0.9, lambda beta: is_number(beta) and 0 <= beta < 1), "beta2": (0.999, is_number),
        "epsilon": (1e-8, is_number), "schedule_decay": (0.004, lambda decay: is_number(decay) and decay >= 0),
        "m_schedule": (1.0, is_number),
    },
    "RMSProp": {
        "gamma1": (0.9, is_number), "gamma2": (0.9, is_number), "epsilon": (1e-8, is_number),
        "centered": (False, is_number), "clip_weights": (None, _is_rate),
    },
    "Signum": {"momentum": (0.9, is_number), "wd_lh": (0.0, is_number)},
    "LRScheduler": {
        "base_lr": (0.01, is_number), "warmup_steps": (0, is_count), "warmup_begin_lr": (0, is_number),
        "warmup_final_lr": (lambda made: made.base_lr, is_number), "warmup_mode": ("linear", _is_text),
    },
    "FactorScheduler": {
        "step": (_REQUIRED, lambda found: is_number(found) and found >= 1), "factor": (1, is_number),
        "stop_factor_lr": (1e-8, is_number), "count": (0, is_count),
    },
    "MultiFactorScheduler": {
        "step": (_REQUIRED, _are_steps), "factor": (1, is_number), "cur_step_ind": (0, is_count),
        "count": (0, is_count),
    },
    "_FallingScheduler": {
        "max_update": (_REQUIRED, lambda found: is_count(found) and found > 0), "final_lr": (0, is_number),
        "base_lr_orig": (lambda made: made.base_lr, is_number),
        "max_steps": (lambda made: getattr(made, "max_update", 0) - made.warmup_steps, is_number),
    },
    "PolyScheduler": {"power": (2, lambda power: is_number(power) and power >= 0)},
}
"""Class name -> attribute -> (value for an older file that lacks the attribute, check of its value).

The checks exclude values for which the powers, roots and quotients of the rule would fail.
"""


def _own_classes(kind: type) -> Iterator[Any]:
    """The classes of this package among a class and its bases."""
    return (each for each in kind.__mro__ if each.__module__.partition(".")[0] == _OURS)


def _attributes_of(kind: type) -> dict[str, tuple[Any, Callable[[Any], bool]]]:
    """The entries of ``_ATTRIBUTES`` for a class and its bases."""
    classes = [*_own_classes(kind)][::-1]
    return {name: said for each in classes for name, said in _ATTRIBUTES.get(each.__name__, {}).items()}


def completed(made: Any) -> str | None:
    """Add missing attributes to an optimizer or scheduler of an older file; return what is wrong with it, or None.

    A scheduler without an optimizer may lack required attributes, such as its steps: it is not called.
    """
    what = "a scheduler" if isinstance(made, LRScheduler) else "an optimizer"
    for name, (default, holds) in _attributes_of(type(made)).items():
        if not hasattr(made, name):
            if default is _REQUIRED:
                continue
            setattr(made, name, default(made) if callable(default) else copy.copy(default))
        found = getattr(made, name)
        if not holds(found):
            return f"{what} whose {name} is {_shown(found)}"
    return _schedule_objection(made) if isinstance(made, LRScheduler) else _optimizer_objection(made)


def _schedule_objection(made: Any) -> str | None:
    curved = isinstance(made, (CosineScheduler, PolyScheduler)) and hasattr(made, "max_update")
    if curved and made.max_steps != made.max_update - made.warmup_steps:
        return f"a scheduler whose max_steps is {made.max_steps}, not what lies between the warm-up and max_update"
    return None


def _most_updates(made: Any) -> int:
    """The highest of an optimizer's counts of updates."""
    return max([made.num_update, *(n for each in made._all_index_update_counts.values() for n in each.values())])


@decides("Command/attributes")
def _optimizer_objection(made: Any) -> str | None:
    schedule = made.lr_scheduler
    lacking = [name for name in _attributes_of(type(schedule)) if not hasattr(schedule, name)] if schedule else []
    if lacking:
        return f"an optimizer with a scheduler without {lacking[0]}"
    if made.lr is None and schedule is None:
        return "an optimizer with neither a learning rate nor a scheduler"
    updates = _most_updates(made)
    if isinstance(schedule, FactorScheduler) and (updates - schedule.count) / schedule.step > MOST_STEPS:
        return f"a scheduler that is more than {MOST_STEPS} steps behind its optimizer"
    if hasattr(made, "schedule_decay") and updates > MOST_STEPS and made.beta1 > 0.9999:
        return f"Nadam whose product of {updates} momenta near {made.beta1} would have to be multiplied out"
    alone = any(each.__name__ in ("NAG", "_SVRGOptimizer") for each in _own_classes(type(made)))
    if alone and made.aggregate_num:
        return f"an optimizer that takes one parameter at a time, and whose aggregate_num is {made.aggregate_num}"
    return None


def _shown(value: Any) -> str:
    """A number as text; for another value the name of its type."""
    return f"{value}" if is_number(value) and not isinstance(value, bool) else type(value).__name__


# --- states ---------------------------------------------------------------------------------------


def require_fitting(optimizer: Any, index: Any, weight: NDArray, state: Any) -> None:
    """Require that a state from a file is like a state that the rule makes for the weight, with or without momentum.

    States of a user's own rules are not checked.

    Raises:
        MXNetError: a part is missing, or has another shape, dtype or storage.
    """
    rule = optimizer._rule(index) if hasattr(optimizer, "_rule") else optimizer
    makers = (type(rule).create_state, type(rule).create_state_multi_precision)
    if any(maker.__module__.partition(".")[0] != _OURS for maker in makers):
        return
    kinds = [rule]
    if hasattr(rule, "momentum"):
        kinds = [copy.copy(rule), copy.copy(rule)]
        kinds[0].momentum, kinds[1].momentum = 0.0, 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the warning about float16 is for states in use, not for these
        wanted = [kind.create_state_multi_precision(index, weight) for kind in kinds]
    if not _fits(wanted, state, weight):
        raise refusal(
            "States/fits",
            f"the state of {index!r} is {_described(state)}; for a weight of shape {weight.shape} and type"
            f" {weight.dtype.__name__} {type(rule).__name__} needs {' or '.join(map(_described, wanted))}:"
            " load states that were saved with this network and this optimizer",
        )
    held = getattr(rule, "cumgrads", {}).get(index, {}).get("cum_grad")
    if isinstance(held, NDArray) and held.shape != weight.shape:
        raise refusal(
            "States/fits", f"the sum of gradients of {index!r} has shape {held.shape}, the weight {weight.shape}"
        )


def _fits(wanted: list[Any], state: Any, weight: NDArray) -> bool:
    """Whether each part of ``state`` is like the same part of one of the states ``wanted``."""
    if isinstance(wanted[0], tuple):
        if not isinstance(state, (tuple, list)) or len(state) != len(wanted[0]):
            return False
        return all(_fits(list(parts), part, weight) for *parts, part in zip(*wanted, state, strict=True))
    if all(each is None for each in wanted):
        return True  # the rule has no state here
    if state is None:
        return any(each is None for each in wanted)
    return isinstance(state, NDArray) and state.stype in ("default", weight.stype) and any(
        each is not None and state.shape == each.shape and state.dtype == each.dtype for each in wanted
    )


def _described(state: Any) -> str:
    """The shapes and dtypes of a state as text."""
    if isinstance(state, NDArray):
        kind = "" if state.stype == "default" else f", {state.stype}"
        return f"{state.dtype.__name__} {state.shape}{kind}"
    if isinstance(state, (tuple, list)):
        return f"({', '.join(map(_described, state[:9]))}{', ...' if len(state) > 9 else ''})"
    return "None" if state is None else type(state).__name__


__all__ = ["completed", "is_count", "require_fitting"]
