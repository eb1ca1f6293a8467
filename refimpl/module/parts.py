"""The parts of a module: blocks that undo failed changes of them, and the executors among them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from ..base import decides
from ..kvstore import KVStore
from ..ndarray.undo import attributes_of, undo
from .base_module import BaseModule


@decides("Module/failed-bind", "Module/failed-reshape", "Sequential/failures")
def undo_shapes(*modules: Any) -> AbstractContextManager[None]:
    """A block that binds or reshapes. If it fails, every module and all its parts have their attributes back.

    Binding and reshaping only assign new objects to attributes.
    """
    return undo(dicts=[vars(part) for module in modules for part in parts_of(module)])


@decides("Module/params-atomic", "Sequential/failures")
def undo_params(module: Any) -> AbstractContextManager[None]:
    """A block that sets or updates parameters. If it fails, these, optimizer states and stores are as before."""
    changed: list[Any] = []
    for part in parts_of(module):
        if isinstance(part, BaseModule):
            changed.append(part)
        group = getattr(part, "_exec_group", None)
        if group is not None:
            changed += [group.param_arrays, group.aux_arrays, part._host_copy, *part._updates.changed_by_steps()]
    return undo(*changed)


@decides("Module/failed-optimizer")
def undo_optimizer(module: Any, kvstore: Any, optimizer: Any) -> AbstractContextManager[None]:
    """A block that installs an optimizer. If it fails, module, parameters, store and optimizer are as before."""
    stored = [kvstore._stored] if type(kvstore) is KVStore else []
    attributes = [vars(module), vars(module._host_copy), *attributes_of(kvstore, optimizer)]
    return undo(module._exec_group.param_arrays, dicts=[*attributes, *stored])


def executors_of(module: Any) -> list[Any]:
    """The executors of a module and of all modules inside it."""
    return [executor for part in parts_of(module) for executor in getattr(part, "execs", ())]


def parts_of(module: Any) -> Iterator[Any]:
    """A module, the modules inside it, their executor groups and the monitors of the groups."""
    yield module
    buckets = getattr(module, "_bucket_modules", None)
    if buckets is not None:
        yield buckets
    for name in ("_modules", "_buckets", "_mod_aux"):
        inside = getattr(module, name, None) or ()
        inside = [inside] if name == "_mod_aux" and inside else inside
        for one in inside.values() if isinstance(inside, dict) else inside:
            yield from parts_of(one)
    group = getattr(module, "_exec_group", None)
    if group is not None:
        yield group
        yield from group.monitors
