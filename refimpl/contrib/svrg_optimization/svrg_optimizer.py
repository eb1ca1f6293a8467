"""The optimizers of SVRG: one assigns what is pushed, the other does so for some keys and trains the rest.

A store that several workers share has one optimizer for all of its keys. Most keys are parameters, which are trained.
The others are accumulators, in which the workers' full gradients are added up: a push to one is assigned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...base import decides, refusal
from ...ndarray import NDArray
from ...optimizer import Optimizer, create, register
from ...optimizer.rule import Index
from . import svrg_quirks

ENDING = "_full"
"""What the name of an accumulator ends in: that of a parameter stands before it."""

_OWN = ("default_opt", "aux_opt", "accumulators")


@register
@decides("SVRG/assignment")
class _AssignmentOptimizer(Optimizer):
    """w <- g. It has no state; learning rate, decay and rescale_grad mean nothing to it."""

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Write ``grad`` into ``weight``."""
        weight[:] = grad


@register
class _SVRGOptimizer(Optimizer):
    """Trains with another optimizer, and assigns accumulators. It has no settings and counts of its own.

    Every attribute of an optimizer (``lr``, ``rescale_grad``, ``num_update``, ``idx2name``, ...) is that of
    ``default_opt``, for reading and for writing.

    Args:
        default_optimizer: what trains the parameters: a name, or an Optimizer, which stays as it is.
        accumulators: names of the keys that are assigned. None: every name in ``param_idx2name`` that is another
            name of it with "_full" behind.
        kwargs: arguments of the optimizer that is made by its name.

    Raises:
        AssertionError: ``default_optimizer`` is neither a name nor an Optimizer to be wrapped.
    """

    aggregate_num = 0

    def __init__(
        self, default_optimizer: str | Optimizer, accumulators: Sequence[str] | None = None, **kwargs: Any
    ) -> None:
        if isinstance(default_optimizer, str):
            default_optimizer = create(default_optimizer, **kwargs)
        elif not isinstance(default_optimizer, Optimizer) or isinstance(default_optimizer, _SVRGOptimizer):
            raise refusal(
                "SVRG/optimizer", "default_optimizer must be the name of an optimizer or an Optimizer such as"
                f" mx.optimizer.SGD(), not {default_optimizer!r}", AssertionError,
            )
        names: dict[Any, str] = default_optimizer.idx2name or kwargs.get("param_idx2name") or {}
        default_optimizer.idx2name = names
        self.default_opt = default_optimizer
        self.aux_opt = _AssignmentOptimizer()
        self.accumulators = _accumulators(names) if accumulators is None else list(accumulators)

    def __getattr__(self, name: str) -> Any:
        if name in _OWN or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.default_opt, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OWN:
            object.__setattr__(self, name, value)
        else:
            setattr(self.default_opt, name, value)

    # --- who does what ---------------------------------------------------------------------------

    def _check_index(self, index: Index) -> Index:
        """The name behind an index; an index without one is its own name."""
        return self.idx2name.get(index, index)

    def _rule(self, index: Index) -> Optimizer:
        """The optimizer of one key."""
        name = self._check_index(index)
        assigned = "full" in str(name) if svrg_quirks.FULL_NAMES.active else name in self.accumulators
        return self.aux_opt if assigned else self.default_opt

    def create_state(self, index: Index, weight: NDArray) -> Any:
        """Return a new state of the optimizer of this key; None for an accumulator."""
        return self._rule(index).create_state(index, weight)

    def create_state_multi_precision(self, index: Index, weight: NDArray) -> Any:
        """The same, beside a float32 copy where the optimizer of this key keeps one."""
        rule = self._rule(index)
        return None if rule is self.aux_opt else rule.create_state_multi_precision(index, weight)

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Train a parameter, or assign an accumulator."""
        self._rule(index).update(index, weight, grad, state)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """The same, in float32 where the optimizer of this key does so."""
        if isinstance(index, (list, tuple)):
            for each in zip(index, weight, grad, state, strict=True):
                self.update_multi_precision(*each)
        else:
            self._rule(index).update_multi_precision(index, weight, grad, state)

    # --- pickling --------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        # MXNet's class has these attributes itself: those of the optimizer that trains, but one parameter at a time
        own = {name: getattr(self, name) for name in _OWN}
        return {**self.default_opt.__getstate__(), "aggregate_num": 0, **own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        default_opt = state.get("default_opt")
        if not isinstance(default_opt, Optimizer) or isinstance(default_opt, _SVRGOptimizer):
            raise refusal("States/valid", f"a _SVRGOptimizer around {type(default_opt).__name__}, not an optimizer")
        self.default_opt, self.aux_opt = default_opt, _AssignmentOptimizer()
        accumulators = state.get("accumulators")
        if accumulators is None:
            accumulators = _accumulators(self.idx2name)
        if not isinstance(accumulators, list):
            raise refusal("States/valid", f"accumulators that are {type(accumulators).__name__}, not a list")
        self.accumulators = accumulators


def _accumulators(names: dict[Any, str]) -> list[str]:
    """The names that are another known name followed by the ending of accumulators."""
    known = {name for name in names.values() if isinstance(name, str)}
    return sorted(name for name in known if name.endswith(ENDING) and name[: -len(ENDING)] in known)


__all__ = ["ENDING"]
