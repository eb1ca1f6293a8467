"""Updater: an optimizer together with the state of each parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any

from ..base import decides
from ..context import Context
from ..ndarray import NDArray
from ..ndarray.undo import VALUES, undo
from . import soundness
from . import states as states_file
from .rule import Index, Optimizer


class Updater:
    """``updater(index, grad, weight)`` updates ``weight`` in place; three lists of equal length update many weights.

    The state of an index is made at its first update. An index of type bytes is decoded to a string, because a
    store hands string keys over as bytes. A rule with ``aggregate_num`` gets up to that many parameters of one dtype
    in a call.
    """

    _undo_follows = True

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: dict[Any, Any] = {}
        self.states_synced: dict[Any, bool] = {}
        self.loaded: set[Any] = set()
        """The indices whose states come from a file and have not been compared with the weights yet."""
        self.aggregate_updates = optimizer.aggregate_num > 0

    @decides("Updater/states", "Updater/lists", "Updater/together", "Updater/bytes", "Updater/failed")
    def __call__(
        self, index: Index | Sequence[Index], grad: NDArray | Sequence[NDArray],
        weight: NDArray | Sequence[NDArray],
    ) -> None:
        """Update one weight, or several weights given as lists; a step that fails is not counted."""
        optimizer, together = self.optimizer, self.aggregate_updates
        work: Any = ((index, grad, weight),)
        if isinstance(index, (list, tuple)):
            work = zip(index, grad, weight, strict=False)
        groups: dict[Any, list[tuple[Any, NDArray, NDArray, Any]]] = {}
        for key, gradient, each in work:
            name = key.decode() if isinstance(key, bytes) else key
            if name in self.loaded:
                self.require_fitting({name: each})
            synced = name in self.states and self.states_synced[name]
            state = self.states[name] if synced else self._state(name, each)
            place = each.context
            group: Any = (each.dtype, place.device_typeid, place.device_id) if together else len(groups)
            groups.setdefault(group, []).append((name, each, gradient, state))
        size = max(optimizer.aggregate_num, 1)
        for steps in groups.values():
            optimizer._set_current_context(steps[0][1].context.device_id)
            for start in range(0, len(steps), size):
                step = [*map(list, zip(*steps[start : start + size], strict=True))] if together else steps[start]
                with undo(dicts=[optimizer._index_update_count, vars(optimizer)]):
                    optimizer.update_multi_precision(*step)

    @decides("Updater/states")
    def _state(self, index: Any, weight: NDArray) -> Any:
        """The state of a parameter, which is made, or moved to the context of the weight."""
        if index not in self.states:
            self.optimizer._set_current_context(weight.context.device_id)
            self.states[index] = self.optimizer.create_state_multi_precision(index, weight)
        else:
            self.states[index] = self.sync_state_context(self.states[index], weight.context)
        self.states_synced[index] = True
        return self.states[index]

    def changed_by(self, names: Iterable[Any]) -> tuple[list[Any], list[dict]] | None:
        """The states and the dicts that an update of these parameters changes, beside their weights.

        None: nobody knows them all, because a class, a function or another object of a user's is at work.
        """
        optimizer = self.optimizer
        for thing in (self, optimizer, getattr(optimizer, "lr_scheduler", None)):
            attributes = getattr(thing, "__dict__", {})
            kinds = set(map(type, map(attributes.get, attributes.keys() - _LOOKED_UP)))
            is_own = type(thing).__module__.partition(".")[0] == __name__.partition(".")[0]
            if thing is not None and not (is_own and kinds <= VALUES):
                return None
        counts = optimizer._all_index_update_counts
        changed: list[Any] = [self.states, self.states_synced, vars(optimizer), counts, *counts.values()]
        changed += map(vars(optimizer).get, optimizer._changing)
        if optimizer.lr_scheduler is not None:
            changed.append(vars(optimizer.lr_scheduler))
        return [*map(self.states.get, names)], changed

    def adopt(self, index: Any, weight: NDArray) -> None:
        """Take a weight that was set from outside; see :meth:`Optimizer.adopt`."""
        if index in self.states:
            self.optimizer.adopt(weight, self.states[index])

    def sync_state_context(self, state: Any, context: Context) -> Any:
        """Return ``state`` with its arrays on ``context``."""
        if isinstance(state, NDArray):
            return state.as_in_context(context)
        if isinstance(state, (tuple, list)):
            return type(state)(self.sync_state_context(part, context) for part in state)
        return state

    @decides("Updater/resume")
    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """The bytes of a ``.states`` file with the states, and with the optimizer if ``dump_optimizer``."""
        return states_file.dumps((self.states, self.optimizer) if dump_optimizer else self.states)

    @decides("Updater/resume")
    def set_states(
        self, states: bytes, name: str = "the content", weights: Mapping[Any, NDArray] = MappingProxyType({})
    ) -> None:
        """Set the states from bytes of :meth:`get_states`, here or in MXNet 1.x; ``name`` is for error messages.

        ``weights`` are the known weights, by index. The state of any other weight is compared with its weight before
        the first update of that weight.

        Raises:
            MXNetError: the bytes are damaged or hold an object that is no state, or a state does not fit its weight.
        """
        found, optimizer = states_file.loads(states, name)
        made = Updater(self.optimizer if optimizer is None else optimizer)
        made.states, made.loaded = found, set(found)
        made.states_synced = dict.fromkeys(found, False)
        made.require_fitting(weights)
        vars(self).update(vars(made))  # in one step, which nothing interrupts

    def require_fitting(self, weights: Mapping[Any, NDArray]) -> None:
        """Require that states from a file fit the weights of the same index; each state is compared once.

        Raises:
            MXNetError: a state does not fit; the message names its index.
        """
        for index, weight in weights.items():
            if index in self.loaded:
                soundness.require_fitting(self.optimizer, index, weight, self.states[index])
        self.loaded -= weights.keys()


def undo_updates(
    updater: Any, names: Iterable[Any], written: list[Any], containers: Sequence[dict] = ()
) -> AbstractContextManager[None]:
    """A block that updates the parameters ``names``. If it fails, everything is as before.

    What an optimizer of this package changes is known. Of any other one all arrays, dicts and lists that it holds are
    copied, for it may write any of them.

    Args:
        updater: what updates; None where nothing does.
        names: what ``updater`` knows the parameters by.
        written: the arrays that the block writes, or lists of them: weights, and others that it fills.
        containers: dicts in which the block may replace values.
    """
    changed = updater.changed_by(names) if type(updater) is Updater else None
    if changed is None:
        return undo(written, updater, dicts=containers)
    return undo(written, changed[0], dicts=[*containers, *changed[1]])


def get_updater(optimizer: Optimizer) -> Updater:
    """Return an :class:`Updater` for ``optimizer``."""
    return Updater(optimizer)


_LOOKED_UP = {*"optimizer states states_synced loaded lr_scheduler lr_mult wd_mult idx2name param_dict step".split(),
              *"sym_info _index_update_count _all_index_update_counts cumgrads weight_previous".split()}
"""Attributes of this package's updaters, optimizers and schedulers that are no numbers or texts."""

__all__ = ["Updater", "get_updater", "undo_updates"]
