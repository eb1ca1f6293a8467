"""Where weights are updated: on a store, or by an updater on each device."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from .. import kvstore as kvs
from ..base import decides, refusal, require
from ..engine import fast_road
from ..kvstore.local import GROUP
from ..ndarray import NDArray
from ..optimizer.updater import undo_updates
from ..quirks import declare

_UNSUMMED = declare(
    "kvstore-rows-unsummed", "KVStore/sums-stay",
    "with MXNET_UPDATE_ON_KVSTORE=0 row_sparse gradients of several devices are pushed, and their sum is not pulled",
    "every device would learn from its own rows only, and the copies of a weight drift apart",
)

# With the plain "local" store, larger parameters than this are updated on the devices.
LARGEST_ON_LOCAL_STORE = 16 * 2**20


@decides("KVStore/decision")
def _create_kvstore(
    kvstore: Any, num_device: int, arg_params: Mapping[str, NDArray]
) -> tuple[Any, bool]:
    """Decide (store or None, whether the store updates the weights).

    ``kvstore`` is a store, the name of one, or None. One device needs no store, unless the name has
    ``dist`` in it.

    Raises:
        TypeError: it is none of these.
        ValueError: the environment variable MXNET_UPDATE_ON_KVSTORE is not a number.
    """
    on_store = _update_on_kvstore_wanted()
    if kvstore is None:
        return None, False
    if isinstance(kvstore, str):
        if num_device == 1 and "dist" not in kvstore:
            return None, False
        store = kvs.create(kvstore)
        largest = max((prod(array.shape) for array in arg_params.values()), default=0)
        if kvstore == "local" and largest > LARGEST_ON_LOCAL_STORE:
            on_store = False
    elif isinstance(kvstore, kvs.KVStoreBase):
        store = kvstore
    else:
        raise refusal(
            "KVStore/argument-type", f"kvstore is a store, the name of one or None, not {kvstore!r}", TypeError
        )
    return store, on_store and store.is_capable(kvs.KVStoreBase.OPTIMIZER)


def _update_on_kvstore_wanted() -> bool:
    text = os.environ.get("MXNET_UPDATE_ON_KVSTORE", "1")
    try:
        return bool(int(text))
    except ValueError:
        raise refusal(
            "KVStore/environment", f"MXNET_UPDATE_ON_KVSTORE must be 0 or 1, it is {text!r}", ValueError
        ) from None


def _initialize_kvstore(
    kvstore: Any, param_arrays: Sequence[Sequence[NDArray]], arg_params: Mapping[str, NDArray],
    param_names: Sequence[str], update_on_kvstore: bool,
) -> None:
    """Put every parameter into the store, and onto the devices if the store is to update it.

    Args:
        kvstore: the store.
        param_arrays: for each parameter, its array on each device.
        arg_params: first values by name.
        param_names: names of the parameters, in the order of ``param_arrays``.
        update_on_kvstore: whether the store updates them.

    Raises:
        AttributeError: the store has no ``init``, which one that does not update needs.
    """
    for name, on_devices in zip(param_names, param_arrays, strict=False):
        if update_on_kvstore:
            kvstore.broadcast(name, arg_params[name], out=on_devices)
        else:
            if not hasattr(kvstore, "init"):
                raise refusal(
                    "KVStore/store-init",
                    f"{type(kvstore).__name__!r} object has no attribute 'init': a store that runs no optimizer needs"
                    " one to sum gradients; use 'local' or 'device'", AttributeError,
                )
            kvstore.init(name, arg_params[name])


@decides("KVStore/update-on-store")
def _update_params_on_kvstore(
    param_arrays: Sequence[Sequence[NDArray]], grad_arrays: Sequence[Sequence[NDArray | None]],
    kvstore: Any, param_names: Sequence[str],
) -> None:
    """Push each parameter's gradients and pull the weight that the store made of them.

    Parameters without gradients (fixed ones) are left alone. A built-in store gets one call for all parameters: when
    that of one process fails, nothing has changed. Of a row_sparse weight each device gets the rows that it holds. Any
    other store gets a call for each parameter; earlier layers have higher priority.

    Args:
        param_arrays, grad_arrays: for each parameter, its arrays on each device.
        kvstore: a store that updates.
        param_names: names of the parameters, in the same order.
    """
    if type(kvstore) is kvs.KVStore and _is_replayed_on_store(kvstore, param_names, param_arrays, grad_arrays):
        return
    work = [
        (index, weights, grads)
        for index, (weights, grads) in enumerate(zip(param_arrays, grad_arrays, strict=False)) if grads[0] is not None
    ]
    if isinstance(kvstore, kvs.KVStore) and type(kvstore).pushpull is kvs.KVStore.pushpull:
        kvstore._pushpull_all([param_names[i] for i, *_ in work], [g for *_, g in work], [w for _, w, _ in work])
        return
    for index, weights, grads in work:  # a user's own store is called as MXNet calls it
        kvstore.pushpull(param_names[index], grads, out=weights, priority=-index)


def _is_replayed_on_store(store: kvs.KVStore, names: Sequence[str], param_arrays: Any, grad_arrays: Any) -> bool:
    """Whether one call of a kernel has added up all gradients and updated all parameters."""
    usual = store._compression is None and store._key_kind is str and param_arrays and grad_arrays
    return bool(usual) and fast_road.is_open() and fast_road.road.is_updated_on_store(
        store._updater, store._stored, names, param_arrays, grad_arrays, GROUP[store._mode]
    )


@decides("KVStore/update-on-devices")
def _update_params(
    param_arrays: Sequence[Sequence[NDArray]], grad_arrays: Sequence[Sequence[NDArray | None]],
    updater: Callable, num_device: int, kvstore: Any = None, param_names: Sequence[str] | None = None,
) -> None:
    """Update the weights on each device; with a store, each gradient array first becomes the sum over devices.

    When anything fails, weights, gradients and what an Updater remembers are as before.

    Args:
        param_arrays, grad_arrays: for each parameter, its arrays on each device.
        updater: called once per device with tuples of indices, gradients and weights.
        num_device: the number of devices; device k's copy of parameter i has the index ``i * num_device + k``.
        kvstore: the store that sums gradients, or None.
        param_names: names of the parameters, which a store needs.

    Raises:
        TypeError: there is a store, and no ``param_names``.
    """
    if kvstore is None and _is_replayed(updater, param_arrays, grad_arrays, num_device):
        return
    written: list[Any] = [*map(list, param_arrays)]
    if kvstore is not None:
        written += [*map(list, grad_arrays)]
    stored = (kvstore._stored, kvstore._unsent) if type(kvstore) is kvs.KVStore else ()
    with undo_updates(updater, range(len(param_arrays) * num_device), written, stored):
        _update_each(param_arrays, grad_arrays, updater, num_device, kvstore, param_names)


def _is_replayed(updater: Any, param_arrays: Any, grad_arrays: Any, num_device: int) -> bool:
    """Whether a replay has updated all parameters."""
    return fast_road.is_open() and fast_road.road.is_updated_on_devices(updater, param_arrays, grad_arrays, num_device)


def _update_each(
    param_arrays: Sequence[Sequence[NDArray]], grad_arrays: Sequence[Sequence[NDArray | None]],
    updater: Callable, num_device: int, kvstore: Any, param_names: Sequence[str] | None,
) -> None:
    work: list[list[tuple[int, Any, NDArray]]] = [[] for _ in range(num_device)]
    for index, (weights, grads) in enumerate(zip(param_arrays, grad_arrays, strict=False)):
        if grads[0] is None:
            continue
        if kvstore is not None:
            require(
                "KVStore/update-names", param_names is not None,
                "updating through a store needs param_names", TypeError,
            )
            _sum_through(kvstore, param_names[index], grads, -index)  # type: ignore[index]  # not None, as required
        for device, (grad, weight) in enumerate(zip(grads, weights, strict=False)):
            work[device].append((index * num_device + device, grad, weight))
    if kvstore is not None and _is_replayed(updater, param_arrays, grad_arrays, num_device):
        return
    for of_device in work:
        if of_device:
            updater(*zip(*of_device, strict=True))


def _sum_through(kvstore: Any, name: str, grads: Sequence[Any], priority: int) -> None:
    """Make every gradient array of one parameter the sum of all."""
    built_in = isinstance(kvstore, kvs.KVStore) and not _UNSUMMED.active
    if built_in and any(grad.is_sparse for grad in grads):
        kvstore.push(name, grads, priority)
        kvstore.pull(name, grads, priority, ignore_sparse=False)
    else:
        kvstore.pushpull(name, grads, priority=priority)
