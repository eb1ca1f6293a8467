"""Makes (key, array) pairs from the arguments of a store's calls, in every accepted form."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from ..base import decides, refusal, require
from ..ndarray import NDArray
from .messages import Key

Groups = Sequence[tuple[Key, list[NDArray]]]
"""The arrays of one call by key."""


def require_shape(key: Key, held: tuple[int, ...], target: NDArray) -> None:
    """Refuse to pull an array of shape ``held`` into one of another shape (MXNetError)."""
    if target.shape != held:
        raise refusal(
            "KVStore/pull-shape",
            f"key {key!r} holds an array of shape {held}, it cannot be pulled into shape {target.shape}",
        )


def require_alike(key: Any, arrays: Sequence[NDArray], stored: NDArray) -> None:
    """Refuse several arrays that cannot be added up in the place of ``stored`` (MXNetError)."""
    shape = stored.shape
    for array in arrays:
        if array.shape != shape:
            raise refusal(
                "KVStore/push-alike",
                f"the arrays pushed to key {key!r} must have the stored shape {shape}; got {array.shape}",
            )


@decides("KVStore/pairing")
def paired(
    keys: Any, values: Any, kind: type | None, priority: Any = 0
) -> tuple[list[tuple[Key, NDArray]], type | None]:
    """Pair keys and arrays of any of the accepted forms; return the pairs and the type of their keys.

    ``kind`` is the type of the store's keys, None before the first.

    Raises:
        AssertionError: lists are not equally long, a key is neither int nor str, there are keys of both types, or a
            value is no NDArray.
        MXNetError: the keys have another type than the store's keys.
        OverflowError: a key does not fit into 32 bits.
        TypeError: a value is None, or ``priority`` is not a whole number.
    """
    try:
        index(priority)
    except TypeError:
        raise refusal("KVStore/priority", f"priority must be an int, got {priority!r}", TypeError) from None
    pairs = _flat(keys, values)
    kinds = set()
    for key, _ in pairs:
        kinds.add(str if isinstance(key, str) else int)
    if len(kinds) > 1:
        raise refusal("KVStore/one-kind-in-list", "keys are all int or all str", AssertionError)
    for one in kinds:
        kind = kind or one
        if one is not kind:
            raise refusal("KVStore/one-kind", f"this store has {kind.__name__} keys, not {one.__name__} ones")
    return pairs, kind


def _flat(keys: Any, values: Any) -> list[tuple[Key, NDArray]]:
    pairs: list[tuple[Key, NDArray]] = []
    if isinstance(keys, (list, tuple)):
        require(
            "KVStore/lengths", isinstance(values, (list, tuple)) and len(keys) == len(values),
            f"{len(keys)} keys need a list of {len(keys)} values", AssertionError,
        )
        for key, value in zip(keys, values, strict=True):
            pairs += _flat(key, value)
        return pairs
    if not isinstance(keys, (int, str)):
        raise refusal("KVStore/key-type", f"a key is an int or a str, not {type(keys).__name__}", AssertionError)
    if isinstance(keys, int) and not -(2**31) <= keys < 2**31:
        raise refusal("KVStore/key-range", f"key {keys} does not fit into 32 bits", OverflowError)
    if values is None:
        raise refusal("KVStore/values", f"key {keys!r}: expected an NDArray, got None", TypeError)
    for value in values if isinstance(values, (list, tuple)) else [values]:
        if not isinstance(value, NDArray):
            raise refusal(
                "KVStore/values",
                f"key {keys!r}: expected an NDArray or a list of them, got {type(value).__name__}",
                AssertionError,
            )
        pairs.append((keys, value))
    return pairs


__all__ = ["Groups", "Key", "paired", "require_alike", "require_shape"]
