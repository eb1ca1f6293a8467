"""The files of a BucketingModule: a symbol per bucket, the list of keys, and one set of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .. import ndarray as nd
from .. import symbol as sym
from ..base import refusal
from ..ndarray import NDArray
from .state_files import ParamsFile, read_params

_LIMITS = np.iinfo(np.int32)


def require_whole_numbers(keys: Iterable[Any]) -> None:
    """Refuse bucket keys that an array of int32 cannot hold.

    Raises:
        TypeError: a key is no whole number of 32 bits; the message names it.
    """
    for key in keys:
        if not isinstance(key, (int, np.integer)) or not _LIMITS.min <= key <= _LIMITS.max:
            raise refusal(
                "Bucketing/saved-keys",
                f"bucket key {key!r} cannot be saved: PREFIX.buckets holds int32 numbers; number the buckets, "
                "or save the parameters alone with save_params",
                TypeError,
            )


def write_buckets(prefix: str, symbols: Mapping[int, Any], remove_amp_cast: bool) -> None:
    """Write each symbol, then the list of their keys, so that the list never names a missing file."""
    for key, symbol in symbols.items():
        symbol.save(f"{prefix}-{int(key)}-symbol.json", remove_amp_cast=remove_amp_cast)
    nd.save(f"{prefix}.buckets", [nd.array([int(key) for key in symbols], dtype="int32")])


def read_keys(prefix: str) -> list[int]:
    """The keys that ``PREFIX.buckets`` lists; the default bucket's key is the first.

    Raises:
        MXNetError: the file is missing or damaged, or is no list of keys.
    """
    file = f"{prefix}.buckets"
    found = nd.load(file)
    keys = found[0] if isinstance(found, list) and len(found) == 1 else None
    if keys is None or keys.ndim != 1 or keys.dtype != np.int32:
        raise refusal(
            "Bucketing/key-file", f"{file} must hold one unnamed int32 array of bucket keys, it holds {found!r}"
        )
    return list(keys.asnumpy().tolist())


def read_buckets(
    prefix: str, epoch: int, compared: bool
) -> tuple[dict[int, Any], dict[str, NDArray], dict[str, NDArray], ParamsFile]:
    """Read (symbols by key, arguments, auxiliary states, params file); see :func:`read_params` for the last three.

    Raises:
        MXNetError: a file is missing or damaged, or ``PREFIX.buckets`` is no list of keys.
    """
    symbols = {key: sym.load(f"{prefix}-{key}-symbol.json") for key in read_keys(prefix)}
    return symbols, *read_params(prefix, epoch, compared)
