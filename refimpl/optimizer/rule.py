"""The base classes of update rules: learning rates, weight decay, multipliers, update counts and schedulers."""

from __future__ import annotations

import os
import reprlib
import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from ..base import decides, described, did_you_mean, refusal, require
from ..ndarray import NDArray
from .apply import master_copy, zeros_like

if TYPE_CHECKING:
    from ..lr_scheduler import LRScheduler

Index = Hashable
"""The key of a parameter: a number or a name."""

AnyOptimizer = TypeVar("AnyOptimizer", bound=type)


class Optimizer:
    """Base of all update rules; a subclass gives ``create_state`` and ``update``.

    Args:
        rescale_grad: factor of every gradient; Module sets 1 / batch size.
        param_idx2name: parameter index -> name, for multipliers.
        wd: weight decay, the coefficient of weight**2 / 2.
        clip_gradient: bound of each element of a gradient after rescaling; None for no bound.
        learning_rate: step size; without ``learning_rate`` and ``lr_scheduler`` it is 0.01.
        lr_scheduler: callable from the number of updates to the learning rate.
        sym: network whose variables may have the attributes ``__lr_mult__`` and ``__wd_mult__``.
        begin_num_update: number of updates that count as done.
        multi_precision: whether to keep a float32 copy of float16 weights.
        param_dict: index -> object with ``lr_mult`` and ``wd_mult``, which override all other multipliers.

    Raises:
        AssertionError: ``param_idx2name`` is not a dict.
        TypeError: an argument is unknown.
    """

    _undo_follows = True
    opt_registry: ClassVar[dict[str, type[Optimizer]]] = {}
    decaying_suffixes: ClassVar[tuple[str, ...]] = ("_weight", "_gamma")
    """Suffixes of the names of parameters that decay; a parameter with another name does not decay."""
    _changing: ClassVar[tuple[str, ...]] = ()
    """The attributes that hold dicts in which updates put other values, beside the counts."""

    def __init__(
        self,
        rescale_grad: float = 1.0,
        param_idx2name: dict[Any, str] | None = None,
        wd: float = 0.0,
        clip_gradient: float | None = None,
        learning_rate: float | None = None,
        lr_scheduler: LRScheduler | None = None,
        sym: Any = None,
        begin_num_update: int = 0,
        multi_precision: bool = False,
        param_dict: dict[Any, Any] | None = None,
    ) -> None:
        require(
            "Optimizer/index-names", param_idx2name is None or isinstance(param_idx2name, dict),
            f"param_idx2name should be a dict of param indexes to names, got {param_idx2name!r}",
            AssertionError,
        )
        self.rescale_grad = rescale_grad
        self.lr_scheduler = lr_scheduler
        self.lr = learning_rate if learning_rate is not None or lr_scheduler is not None else 0.01
        if lr_scheduler is not None and learning_rate is not None:
            _tell_overwritten(lr_scheduler.base_lr, learning_rate)
            lr_scheduler.base_lr = learning_rate
        self.wd = wd
        self.lr_mult: dict[Any, float] = {}
        self.wd_mult: dict[Any, float] = {}
        self.begin_num_update = begin_num_update
        self.num_update = begin_num_update
        self._all_index_update_counts: dict[int, dict[Any, int]] = {0: {}}
        self._index_update_count = self._all_index_update_counts[0]
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        self.aggregate_num = 0
        self.idx2name = dict(param_idx2name) if param_idx2name else {}
        self.sym_info = (sym.attr_dict(), sym.list_arguments()) if sym is not None else ()
        self.param_dict = param_dict or {}
        self.allow_np_array = False
        self.set_lr_mult({})
        self.set_wd_mult({})

    def __repr__(self) -> str:
        return described(self, self._words)

    def _words(self) -> str:
        named = {"learning_rate": self.learning_rate, "wd": self.wd, "rescale_grad": self.rescale_grad}
        if (momentum := getattr(self, "momentum", None)) is not None:
            named["momentum"] = momentum
        return f"{', '.join(f'{name} {value:g}' for name, value in named.items())}; {self.num_update} updates"

    # --- making one ------------------------------------------------------------------------------

    @staticmethod
    @decides("Optimizer/create")
    def register(klass: AnyOptimizer) -> AnyOptimizer:
        """Make a class known to :meth:`create_optimizer` by its lower-case name."""
        name = klass.__name__.lower()
        known = Optimizer.opt_registry.get(name)
        if known is not None and known is not klass:
            warnings.warn(
                f"optimizer {name!r} is {klass.__module__}.{klass.__name__} now, no longer"
                f" {known.__module__}.{known.__name__}", UserWarning, stacklevel=2,
            )
        Optimizer.opt_registry[name] = klass
        return klass

    @staticmethod
    @decides("Optimizer/create", "Optimizer/unknown-argument")
    def create_optimizer(name: str, **kwargs: Any) -> Optimizer:
        """Make the optimizer registered as ``name`` (in any case) with these arguments.

        Raises:
            ValueError: no optimizer is registered as ``name``, or ``name`` is no string.
            TypeError: the optimizer does not take one of the arguments.
        """
        if not isinstance(name, str):
            raise refusal(
                "Optimizer/known-name", f"an optimizer is made by its name, not of {name!r}; there are"
                f" {', '.join(sorted(Optimizer.opt_registry))}", ValueError,
            )
        found = Optimizer.opt_registry.get(name.lower())
        if found is None:
            raise refusal(
                "Optimizer/known-name",
                f"no optimizer has the name {name}; {did_you_mean(name, Optimizer.opt_registry)}there are"
                f" {', '.join(sorted(Optimizer.opt_registry))}",
                ValueError,
            )
        return found(**kwargs)

    # --- the rule, by subclasses -----------------------------------------------------------------

    def create_state(self, index: Index, weight: NDArray) -> Any:  # for subclasses
        """Return the state of a parameter: None, an array, or a tuple of these."""
        return None

    def update(self, index: Index, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Change ``weight`` (and ``state``) in place by one step along ``grad``.

        Args:
            index: the parameter's index, the key of its update count and of its multipliers.
            weight: the parameter.
            grad: its gradient, before ``rescale_grad`` and clipping.
            state: its state, made by ``create_state``.
        """
        raise NotImplementedError(f"{type(self).__name__} must override update")

    @decides("Optimizer/multi-precision")
    def create_state_multi_precision(self, index: Index, weight: NDArray) -> Any:
        """The result of :meth:`create_state`; for a float16 weight with multi_precision: (float32 copy, its state)."""
        if weight.dtype == np.float16:
            if self.multi_precision:
                master = weight.astype(np.float32)
                return master, self.create_state(index, master)
            warn_half_precision(self)
        return self.create_state(index, weight)

    @decides("Optimizer/multi-precision")
    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """Update the float32 copy of the weight if there is one, and cast it; else as :meth:`update`.

        ``index``, ``weight`` and ``grad`` are the arguments of :meth:`update`; ``state`` is the result of
        :meth:`create_state_multi_precision`.

        A rule with ``aggregate_num`` gets lists of up to that many parameters, of one dtype.
        """
        if isinstance(index, (list, tuple)):
            for each in zip(index, weight, grad, state, strict=True):
                self.update_multi_precision(*each)
        elif self.multi_precision and weight.dtype == np.float16:
            master, own_state = state
            self.update(index, master, grad.astype(np.float32), own_state)
            weight[:] = master
        else:
            self.update(index, weight, grad, state)

    def adopt(self, weight: NDArray, state: Any) -> None:
        """Copy a weight that was set from outside into its float32 copy in ``state``, if there is one."""
        if self.multi_precision and weight.dtype == np.float16 and isinstance(state, (list, tuple)):
            master = self._master(state)
            if isinstance(master, NDArray) and master.shape == weight.shape:  # a user's rule may have no copy
                master[:] = weight

    def _master(self, state: Any) -> NDArray | None:
        """The float32 weight in a state of :meth:`create_state_multi_precision`."""
        return state[0]

    # --- learning rate ---------------------------------------------------------------------------

    @property
    def learning_rate(self) -> float:
        """The learning rate before multipliers, from the scheduler if there is one."""
        if self.lr_scheduler is not None:
            return self.lr_scheduler(self.num_update)
        return self.lr  # type: ignore[return-value]  # None only with a scheduler

    def set_learning_rate(self, lr: float) -> None:
        """Set the learning rate.

        Raises:
            UserWarning: a scheduler decides the learning rate.
        """
        if self.lr_scheduler is not None:
            raise refusal(
                "Optimizer/scheduler-decides",
                "the LRScheduler of the optimizer decides the learning rate; set its base_lr instead",
                UserWarning,
            )
        self.lr = lr

    @decides("Optimizer/multiplier-sources")
    def set_lr_mult(self, args_lr_mult: dict[Any, float]) -> None:
        """Set factors of the learning rate by parameter name or index; they override the variables' attributes."""
        self.lr_mult = {**dict(self._from_variables("__lr_mult__")), **args_lr_mult}

    @decides("Optimizer/multiplier-sources", "Optimizer/no-decay")
    def set_wd_mult(self, args_wd_mult: dict[Any, float]) -> None:
        """Set factors of the weight decay by parameter name or index; they override the variables' attributes.

        A parameter whose name ends in neither ``_weight`` nor ``_gamma`` has factor 0 by default.
        """
        still = {n: 0.0 for n in self.idx2name.values() if not str(n).endswith(self.decaying_suffixes)}
        self.wd_mult = {**still, **dict(self._from_variables("__wd_mult__")), **args_wd_mult}

    def set_lr_scale(self, args_lrscale: Any) -> None:
        """Raise DeprecationWarning: :meth:`set_lr_mult` replaced this long ago."""
        raise refusal(
            "Optimizer/lr-scale", f"use set_lr_mult instead of set_lr_scale({args_lrscale!r})",
            DeprecationWarning,
        )

    @decides("Optimizer/multiplier-sources")
    def _from_variables(self, attribute: str) -> Iterable[tuple[str, float]]:
        if self.sym_info:
            attributes, names = self.sym_info
            for name in names:
                if attribute in attributes.get(name, {}):
                    yield name, _as_factor(name, attribute, attributes[name][attribute])

    def _multiplier(self, index: Index, given: dict[Any, float], kind: str) -> float:
        """The factor of a parameter: from its object in ``param_dict``, else by its index, else by its name, else 1."""
        if index in self.param_dict:
            return getattr(self.param_dict[index], kind)
        if index in given:
            return given[index]
        if index in self.idx2name:
            return given.get(self.idx2name[index], 1.0)
        return 1.0

    @decides("Optimizer/learning-rate")
    def _get_lrs(self, indices: Sequence[Index]) -> list[float]:
        """The learning rates of some parameters."""
        rates = [self.learning_rate] * len(indices)
        for place, index in enumerate(indices):
            rates[place] *= self._multiplier(index, self.lr_mult, "lr_mult")
        return rates

    def _get_wds(self, indices: Sequence[Index]) -> list[float]:
        """The weight decays of some parameters."""
        decays = [self.wd] * len(indices)
        for place, index in enumerate(indices):
            decays[place] *= self._multiplier(index, self.wd_mult, "wd_mult")
        return decays

    def _get_lr(self, index: Index) -> float:
        """The learning rate of one parameter."""
        return self._get_lrs([index])[0]

    def _get_wd(self, index: Index) -> float:
        """The weight decay of one parameter."""
        return self._get_wds([index])[0]

    # --- counting --------------------------------------------------------------------------------

    def _set_current_context(self, device_id: int) -> None:
        """Count later updates for the device ``device_id``."""
        self._index_update_count = self._all_index_update_counts.setdefault(device_id, {})

    @decides("Optimizer/counts")
    def _update_count(self, index: Index | Sequence[Index]) -> None:
        """Count one update of a parameter (or of each of several)."""
        for each in index if isinstance(index, (list, tuple)) else (index,):
            count = self._index_update_count.get(each, self.begin_num_update) + 1
            self._index_update_count[each] = count
            self.num_update = max(count, self.num_update)

    def _counted_rates(self, index: Index) -> tuple[float, float]:
        """Count one update of a parameter; return its learning rate and weight decay for this update."""
        self._update_count(index)
        return self._get_lr(index), self._get_wd(index)

    # --- pickling --------------------------------------------------------------------------------

    @decides("Optimizer/pickle")
    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        del state["param_dict"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        # files of older versions lack newer attributes
        self.__dict__.update(vars(Optimizer()), **state)
        if "_all_index_update_counts" not in state:
            self._all_index_update_counts = {0: self._index_update_count}
        self.param_dict = {}


class GroupedOptimizer(Optimizer):
    """Base of rules that take up to ``aggregate_num`` parameters in one call.

    A subclass gives ``_step(indices, weights, grads, states, mixed)``; ``mixed`` says that the states hold float32
    copies of the weights.
    """

    def _step(
        self, indices: list[Index], weights: list[NDArray], grads: list[NDArray], states: list[Any], *, mixed: bool
    ) -> None:
        raise NotImplementedError(f"{type(self).__name__} must override _step")

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """One step of one parameter, or of several parameters given as lists."""
        if not isinstance(index, (list, tuple)):
            index, weight, grad, state = [index], [weight], [grad], [state]
        self._step(index, weight, grad, state, mixed=False)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        """As :meth:`update`; where the state has a float32 weight, the step is computed on it."""
        if not isinstance(index, (list, tuple)):
            index, weight, grad, state = [index], [weight], [grad], [state]
        mixed = self.multi_precision and len(weight) > 0 and weight[0].dtype == np.float16
        self._step(index, weight, grad, state, mixed=mixed)


class MomentumOptimizer(Optimizer):
    """Base of rules whose state is a momentum or None; with a float32 copy ``(momentum or None, float32 weight)``."""

    momentum: float
    lazy_update: bool = False

    def create_state(self, index: Index, weight: NDArray) -> NDArray | None:
        """The momentum, zeros like the weight (in its storage with lazy_update); None without momentum."""
        if self.momentum == 0.0:
            return None
        return zeros_like(weight, weight.stype if self.lazy_update else "default")

    @decides("SGD/multi-precision")
    def create_state_multi_precision(self, index: Index, weight: NDArray) -> Any:
        """(momentum, float32 weight) for a float16 weight with multi_precision, else the momentum."""
        if weight.dtype == np.float16:
            if self.multi_precision:
                master = master_copy(weight)
                return self.create_state(index, master), master
            warn_half_precision(self)
        return self.create_state(index, weight)

    def _master(self, state: Any) -> NDArray:
        return state[1]


@decides("Updater/together")
def aggregation_size(default: int) -> int:
    """The most parameters that one operator call updates: MXNET_OPTIMIZER_AGGREGATION_SIZE, or ``default``."""
    return int(os.environ.get("MXNET_OPTIMIZER_AGGREGATION_SIZE", str(default)))


def _as_factor(name: str, attribute: str, given: Any) -> float:
    """The value of a variable's attribute as a number; refuse text that is none."""
    try:
        return float(given)
    except (TypeError, ValueError, OverflowError):
        raise refusal(
            "Optimizer/multipliers", f"{attribute} of variable {name} is {reprlib.repr(given)}, not a number"
        ) from None


@decides("Optimizer/own-rate")
def _tell_overwritten(old: float, new: float) -> None:
    if old != new:
        warnings.warn(
            f"lr_scheduler has the rate {old}, which learning_rate={new} replaces",
            UserWarning, stacklevel=4,
        )


def warn_half_precision(optimizer: Optimizer) -> None:
    """Warn that states in float16 lose precision."""
    warnings.warn(
        # scripts silence MXNet's warning by its first words
        f"Accumulating with float16: {type(optimizer).__name__} loses small steps; give multi_precision=True",
        UserWarning, stacklevel=3,
    )


register = Optimizer.register
create = Optimizer.create_optimizer

__all__ = [
    "GroupedOptimizer", "Index", "MomentumOptimizer", "Optimizer", "aggregation_size", "create", "register",
    "warn_half_precision",
]
