"""The slice rule of data-parallel training, and the helpers that copy a batch along it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import decides, refusal, require
from ..ndarray import NDArray


@decides("split/partition", "split/half-to-even", "split/shortfall", "split/excess")
def _split_input_slice(batch_size: float, work_load_list: Sequence[float]) -> list[slice]:
    """Cut ``batch_size`` rows into one slice per device, in proportion to ``work_load_list``.

    Device i is owed ``round(weight_i * batch_size / sum(weights))`` rows, halves rounded to even. Too few
    rows in total: the last device takes the rest. Too many: slices are laid from the left and
    clamped to the batch. See spec/reference/running/slicing.md.

    Raises:
        ValueError: a device would get no row.
        ZeroDivisionError: the weights add up to zero.
        IndexError: there is no device.
    """
    if not len(work_load_list):
        raise refusal(
            "split/no-device", "work_load_list is empty; give one weight per device", IndexError
        )
    total = sum(work_load_list)
    if total == 0:
        raise refusal(
            "split/zero-weights",
            f"the weights {list(work_load_list)} add up to 0; give each device a positive weight",
            ZeroDivisionError,
        )
    counts: list[float] = [round(weight * batch_size / total) for weight in work_load_list]
    missing = batch_size - sum(counts)
    if missing > 0:
        counts[-1] += missing

    slices = []
    end = 0
    for count in counts:
        begin = int(min(end, batch_size))
        end = int(min(begin + count, batch_size))
        if begin >= end:
            raise refusal(
                "split/empty",
                f"a device gets none of {batch_size} rows with the weights {list(work_load_list)}; use a larger batch"
                " or fewer devices",
                ValueError,
            )
        slices.append(slice(begin, end))
    return slices


def _check_arguments(symbol: Any) -> None:
    """Refuse a symbol in which two arguments, or two auxiliary states, have one name.

    Raises:
        ValueError: names the duplicate and every name there is.
    """
    arguments = symbol.list_arguments()
    states = symbol.list_auxiliary_states()
    for clause, what, names in (
        ("ExecutorGroup/unique-arguments", "argument", arguments),
        ("ExecutorGroup/unique-states", "auxiliary state", states),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            known = f"arguments are {arguments}"
            if names is states:
                known += f" and auxiliary states are {states}"
            raise refusal(
                clause,
                f'two {what}s have the name "{twice[0]}"; {known}. '
                "Give each variable a name of its own, or use one variable twice",
                ValueError,
            )


@decides("split/load")
def _load_general(data: Sequence[NDArray], targets: Sequence[Any]) -> None:
    """Copy each source to its target: an array (whole) or a list of (slice, array) pairs.

    Sources beyond the last target are ignored.

    Raises:
        AssertionError: the slices of a target do not cover the rows of its source.
        TypeError: ``data`` is no list; a batch without labels has None.
    """
    require(
        "split/load-list", isinstance(data, (list, tuple)),
        f"a list of arrays is wanted, not {type(data).__name__}; give the batch its data and labels as lists",
        TypeError,
    )
    for source, target in zip(data, targets, strict=False):
        if isinstance(target, NDArray):
            source.copyto(target)
            continue
        rows = target[-1][0].stop
        if rows != source.shape[0]:
            raise refusal(
                "split/batch-size",
                f"the batch has {source.shape[0]} rows, the devices take {rows}",
                AssertionError,
            )
        for part, array in target:
            source[part].copyto(array)


def _load_data(batch: Any, targets: Sequence[Any]) -> None:
    """Copy ``batch.data`` to its targets."""
    _load_general(batch.data, targets)


def _load_label(batch: Any, targets: Sequence[Any]) -> None:
    """Copy ``batch.label`` to its targets."""
    _load_general(batch.label, targets)
