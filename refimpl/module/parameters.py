"""Values of parameters: initial values, checks and conversions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from .. import ndarray as nd
from ..base import decides, printable, refusal
from ..context import cpu
from ..initializer import InitDesc
from ..ndarray import NDArray
from ..ndarray.sparse import stored_as


def host_zeros(names: Sequence[str], arrays: Sequence[Sequence[NDArray]]) -> dict[str, NDArray]:
    """A zero array on the host for each name, with the shape, dtype and storage of the first of its copies."""
    return {
        name: nd.zeros(copies[0].shape, cpu(), copies[0].dtype, stype=copies[0].stype)
        for name, copies in zip(names, arrays, strict=True)
    }


def as_array(value: Any) -> NDArray:
    """An NDArray itself; a NumPy array as an NDArray of the same dtype."""
    return value if isinstance(value, NDArray) else nd.array(value, dtype=getattr(value, "dtype", None))


def as_arrays(values: Mapping[str, Any] | None) -> dict[str, NDArray]:
    """:func:`as_array` of each value of a dict."""
    return {name: as_array(value) for name, value in (values or {}).items()}


@decides("Module/given-parameters")
def fitting(name: str, value: Any, host: NDArray) -> NDArray:
    """``value`` as an array of the shape of ``host``; row_sparse like ``host``, a dense value then with all rows."""
    array = as_array(value)
    if array.shape != host.shape:
        raise refusal(
            "Module/parameter-shape",
            f"{name} has shape {host.shape}, the value given has {array.shape}",
        )
    return stored_as(array, host.stype) if host.is_sparse and not array.is_sparse else array


def check_values(
    known: Mapping[str, NDArray], given: Mapping[str, NDArray], where: str, allow_extra: bool
) -> None:
    """Refuse unknown names and other shapes before anything is copied."""
    for name, value in given.items():
        target = known.get(name)
        if target is not None and target.shape != value.shape:
            raise refusal(
                "Module/parameter-shape",
                f"{name} has shape {target.shape}, the value given has {value.shape}",
            )
        if target is None and not allow_extra:
            raise refusal(
                "Module/extra-name",
                f'Find name "{name}" that is not in the {where}; drop it or pass allow_extra=True',
                ValueError,
            )


def check_states(
    names: Sequence[str], targets: Sequence[Sequence[NDArray]], given: Sequence[Sequence[NDArray]]
) -> None:
    """Refuse values for states unless there is one array of the right shape per state and context."""
    wanted = [[array.shape for array in copies] for copies in targets]
    found = [[array.shape for array in copies] for copies in given]
    if wanted != found:
        raise refusal(
            "Module/state-shapes",
            f"states {list(names)} have shapes {wanted}, one per context each; the values given have {found}",
        )


@decides("Module/allow-missing")
def require_initializer(name: str, initializer: Any, given: Any, allow_missing: bool) -> None:
    """Refuse a parameter that has neither a given value nor an initializer."""
    if given is not None and not allow_missing:
        raise refusal(
            "Module/missing-parameter",
            f"{name} is missing; add it, or pass allow_missing=True", RuntimeError,
        )
    if given is None and initializer is None:
        raise refusal(
            "Module/no-initializer",
            f"nothing sets {name}: give arg_params and aux_params, or an initializer", TypeError,
        )


class HostCopy:
    """Whether the parameters on the host are older than those on the contexts; modules that share them share this."""

    def __init__(self) -> None:
        self.stale = False


def stays_initialized(module: Any, force_init: bool, call: str) -> bool:
    """Whether ``call`` must leave the parameters unchanged, because they have values; if so, warn."""
    stays: bool = module.params_initialized and not force_init
    if stays:  # scripts silence MXNet's warning by its first words, which are the same here
        warnings.warn(f"Parameters already initialized: {call} changes nothing without force_init=True", stacklevel=3)
    return stays


def initial_values(
    hosts: Mapping[str, NDArray], given: Mapping[str, Any] | None, initializer: Any,
    attributes: Mapping[str, Any], allow_missing: bool,
) -> list[tuple[NDArray, NDArray]]:
    """Return pairs (initial value, array on the host) of parameters in the order of their names.

    Args:
        hosts: the array on the host of each parameter.
        given: values by name; ``initializer`` makes the others.
        initializer: called with (name and attributes, array); None keeps the values on the host.
        attributes: attributes of the symbol's variables by name.
        allow_missing: whether ``initializer`` may set parameters that ``given`` lacks.
    """
    values = []
    for name, host in sorted(hosts.items()):
        if given is not None and name in given:
            value = fitting(name, given[name], host)
        else:
            require_initializer(name, initializer, given, allow_missing)
            value = host.copy()
            if initializer is not None:
                initializer(InitDesc(name, attributes.get(name)), value)
            if value.stype == "row_sparse":
                value = stored_as(value.tostype("default"), value.stype)
        values.append((value, host))
    return values


def sparse_rows(rows: Any, names: Sequence[str], arrays: Sequence[Sequence[NDArray]]) -> dict[str, Any]:
    """Check the result of ``sparse_row_id_fn``; returns the row ids of row_sparse parameters by name.

    Args:
        rows: a dict of row ids by parameter name. A parameter that is not row_sparse only warns.
        names, arrays: the names of the parameters, and the arrays of each parameter, one per context.

    Raises:
        AssertionError: ``rows`` is no dict.
        ValueError: a name in ``rows`` is not the name of a parameter.
    """
    if not isinstance(rows, dict):
        raise refusal(
            "Module/sparse-rows",
            "sparse_row_id_fn returns a dict {parameter name: row ids}, not "
            f"{type(rows).__name__}",
            AssertionError,
        )
    found = {}
    for name, ids in rows.items():
        if name not in names:
            raise refusal(
                "Module/sparse-rows", f"sparse_row_id_fn names {name!r}, the parameters are {names}",
                ValueError,
            )
        if arrays[names.index(name)][0].stype == "row_sparse":
            found[name] = ids
        else:
            warnings.warn(f"{printable(name)} is not row_sparse: all of its rows are there", stacklevel=4)
    return found
