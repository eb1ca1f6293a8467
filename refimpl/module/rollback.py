"""Restores modules when a call that changes several of them fails in one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from ..base import decides
from ..ndarray.restoring import unchanged_on_failure


@decides("Module/failed-bind", "Module/failed-reshape", "Sequential/failures")
def shapes_kept_on_failure(modules: Iterable[Any]) -> AbstractContextManager[None]:
    """Restore the attributes of every module and of all its parts when the block fails.

    This undoes binding and reshaping, which only assign new objects to attributes.
    """
    return unchanged_on_failure(shallow=[vars(part) for module in modules for part in _parts(module)])


@contextmanager
def values_kept_on_failure(modules: Iterable[Any]) -> Iterator[None]:
    """Restore the parameters of every module when the block fails; a module without parameters is so again."""
    held = [(module, _values(module)) for module in modules]
    try:
        yield
    except BaseException:
        for module, values in held:
            if values is None:
                module.params_initialized = False
            else:
                module.set_params(*values)
        raise


def _values(module: Any) -> tuple[dict, dict] | None:
    """Copies of the parameters and auxiliary states; None before they have values."""
    if not module.params_initialized:
        return None
    arg_params, aux_params = module.get_params()
    return (
        {name: value.copy() for name, value in arg_params.items()},
        {name: value.copy() for name, value in aux_params.items()},
    )


def executors_of(module: Any) -> list[Any]:
    """The executors of a module and of all modules inside it."""
    return [executor for part in _parts(module) for executor in getattr(part, "execs", ())]


@contextmanager
def updates_undone_on_failure(module: Any) -> Iterator[None]:
    """Restore parameters, optimizer states and store of a module, and of modules inside it, when the block fails."""
    with ExitStack() as kept:
        for part in _parts(module):
            if getattr(part, "binded", False) and hasattr(part, "_values_kept_on_failure"):
                kept.enter_context(part._values_kept_on_failure())
        yield


def _parts(module: Any) -> Iterator[Any]:
    """A module, the modules inside it, their executor groups and the monitors of the groups."""
    yield module
    buckets = getattr(module, "_bucket_modules", None)
    if buckets is not None:
        yield buckets
    for name in ("_modules", "_buckets", "_mod_aux"):
        inside = getattr(module, name, None) or ()
        inside = [inside] if name == "_mod_aux" and inside else inside
        for one in inside.values() if isinstance(inside, dict) else inside:
            yield from _parts(one)
    group = getattr(module, "_exec_group", None)
    if group is not None:
        yield group
        yield from group.monitors
