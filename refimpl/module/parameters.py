"""Checks and conversions of parameter values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import ndarray as nd
from ..base import decides, refusal
from ..context import cpu
from ..ndarray import NDArray


def host_zeros(names: Sequence[str], arrays: Sequence[Sequence[NDArray]]) -> dict[str, NDArray]:
    """A zero array on the host for each name, like the first of its copies."""
    return {
        name: nd.zeros(copies[0].shape, cpu(), copies[0].dtype)
        for name, copies in zip(names, arrays, strict=True)
    }


def as_array(value: Any) -> NDArray:
    """``value`` itself, or a NumPy array as an NDArray of the same dtype."""
    return value if isinstance(value, NDArray) else nd.array(value, dtype=getattr(value, "dtype", None))


def as_arrays(values: Mapping[str, Any] | None) -> dict[str, NDArray]:
    """The same for a dict of values."""
    return {name: as_array(value) for name, value in (values or {}).items()}


@decides("Module/given-parameters")
def fitting(name: str, value: Any, host: NDArray) -> NDArray:
    """``value`` as an array of the host's shape."""
    array = as_array(value)
    if array.shape != host.shape:
        raise refusal(
            "Module/parameter-shape",
            f"{name} has shape {host.shape}, the value given has {array.shape}",
        )
    return array


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
    """Refuse values for states that are not one array per state and context, each of its shape."""
    wanted = [[array.shape for array in copies] for copies in targets]
    found = [[array.shape for array in copies] for copies in given]
    if wanted != found:
        raise refusal(
            "Module/state-shapes",
            f"states {list(names)} have shapes {wanted}, one per context each; the values given have {found}",
        )


@decides("Module/allow-missing")
def require_initializer(name: str, initializer: Any, given: Any, allow_missing: bool) -> None:
    """Refuse a parameter that nobody sets."""
    if given is not None and not allow_missing:
        raise refusal(
            "Module/missing-parameter",
            f"{name} is not presented; add it, or pass allow_missing=True", RuntimeError,
        )
    if given is None and initializer is None:
        raise refusal(
            "Module/no-initializer",
            f"nothing sets {name}: give arg_params and aux_params, or an initializer", TypeError,
        )
