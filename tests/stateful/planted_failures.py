"""Failures planted at a chosen moment of a call, the same on every run, and what objects hold before and after."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import refimpl as mx
from refimpl import kernels

FOLDERS = tuple(str(Path(one).parent) for one in (mx.__file__, kernels.__file__))
UNFINISHED = ("engine/unfinished", "Executor/unfinished")


@cache
def _is_with(file: str, number: int) -> bool:
    """Whether a line is a ``with``. It comes again at the end of its block, where Python handles no Ctrl-C."""
    return linecache.getline(file, number).lstrip().startswith("with ")


class _Moments:
    """Counts the lines of the package that run in this thread, and raises KeyboardInterrupt before one of them."""

    def __init__(self, chosen: int | None) -> None:
        self.count, self.chosen = 0, chosen

    def line(self, frame: Any, event: str, _: Any) -> Any:
        if event == "line" and not _is_with(frame.f_code.co_filename, frame.f_lineno):
            self.count += 1
            if self.count == self.chosen:
                raise KeyboardInterrupt
        return self.line

    def call(self, frame: Any, _event: str, _: Any) -> Any:
        code = frame.f_code
        # an import is made once in a process, and what runs when memory is freed cannot raise
        if code.co_name in ("<module>", "_ended", "_send_home", "__del__") or not code.co_filename.startswith(FOLDERS):
            return None
        return self.line

    def run(self, call: Callable[[], object]) -> None:
        before = sys.gettrace()
        sys.settrace(self.call)
        try:
            call()
        finally:
            sys.settrace(before)


def moments(call: Callable[[], object]) -> int:
    """How many moments a call has at which :func:`interrupted` can interrupt it."""
    counted = _Moments(None)
    counted.run(call)
    return counted.count


def interrupted(call: Callable[[], object], moment: int) -> bool:
    """Raise KeyboardInterrupt before line ``moment`` of the package that ``call`` runs here; whether it came so far.

    Moments are counted from 1, in the thread of the caller: where Python handles Ctrl-C.
    """
    try:
        _Moments(moment).run(call)
    except KeyboardInterrupt:
        return True
    return False


# --- what there is to see -------------------------------------------------------------------------


def read(array: Any) -> Any:
    """The values of an array, or the clause by which reading is refused."""
    try:
        return array.asnumpy().tolist()
    except mx.MXNetError as error:
        return ("refused", error.clause)


def remembered(thing: Any) -> Any:
    """What an optimizer, a scheduler, an updater, or anything inside them holds, as plain values."""
    if isinstance(thing, mx.nd.NDArray):
        return read(thing)
    if isinstance(thing, dict):
        return {key: remembered(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [remembered(value) for value in thing]
    if isinstance(thing, (mx.optimizer.Optimizer, mx.optimizer.Updater, mx.lr_scheduler.LRScheduler)):
        return {name: remembered(value) for name, value in vars(thing).items() if name != "sym_info"}
    return thing if isinstance(thing, (int, float, str, bool, type(None), np.generic)) else repr(type(thing))


def stored(store: Any) -> Any:
    """What a store of one process holds."""
    if store is None:
        return None
    return {
        "arrays": {key: (str(array.dtype), array.stype, read(array)) for key, array in store._stored.items()},
        "residuals": remembered({str(key): value for key, value in store._unsent.items()}),
        "updater": remembered(store._updater),
    }


def module(one: Any) -> dict[str, Any]:
    """Everything of a Module that somebody can see, by name."""
    flags = ("binded", "for_training", "inputs_need_grad", "params_initialized", "optimizer_initialized")
    seen: dict[str, Any] = {flag: getattr(one, flag) for flag in flags}
    if one.params_initialized:
        seen["params"] = [{name: read(array) for name, array in part.items()} for part in one.get_params()]
    if not one.binded:
        return seen
    seen["shapes"] = [[tuple(shape) for _, shape in one.data_shapes], [tuple(d.shape) for d in one.label_shapes or []]]
    group = one._exec_group
    for number, executor in enumerate(group.execs):
        names = [*group.param_names, *group.label_names, *group.state_names]
        seen[f"arguments {number}"] = {n: read(executor.arg_dict[n]) for n in names if n in executor.arg_dict}
        seen[f"states {number}"] = {name: read(array) for name, array in executor.aux_dict.items()}
        seen[f"outputs {number}"] = [read(array) for array in executor.outputs]
        seen[f"gradients {number}"] = [read(array) for array in executor.grad_arrays if array is not None]
        seen[f"watched {number}"] = executor._monitor is not None
    seen["monitors"] = [len(monitor.exes) for monitor in group.monitors]
    seen["optimizer"] = remembered([one._optimizer, one._updater, one._update_on_kvstore])
    seen["store"] = stored(one._kvstore)
    return seen


def differences(
    seen: Any, wanted: Any, path: str = "", may: bool = False, clauses: tuple[str, ...] = UNFINISHED
) -> list[str]:
    """Where ``seen`` is not ``wanted``; outputs and gradients may refuse to be read, by one of ``clauses``."""
    may = may or path.lstrip("/").startswith(("outputs", "gradients"))
    if may and isinstance(seen, tuple) and seen[:1] == ("refused",) and seen[1] in clauses:
        return []
    pairs: Any = None
    if isinstance(seen, dict) and isinstance(wanted, dict) and seen.keys() == wanted.keys():
        pairs = [(key, seen[key], wanted[key]) for key in seen]
    elif isinstance(seen, list) and isinstance(wanted, list) and len(seen) == len(wanted):
        pairs = [(at, one, other) for at, (one, other) in enumerate(zip(seen, wanted, strict=True))]
    if pairs is not None:
        return [line for key, *two in pairs for line in differences(*two, f"{path}/{key}", may, clauses)]
    same = seen == wanted or (seen != seen and wanted != wanted)  # NaN
    return [] if same else [f"{path}: {seen!r} is not {wanted!r}"]
