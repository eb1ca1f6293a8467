"""Comparing arrays and symbols, with a report that shows where they differ most."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import refusal
from ..ndarray import NDArray
from ..symbol import Symbol
from .tolerance import Tolerance, get_atol, get_etol, get_rtol, get_tols

Names = Sequence[str]


def as_numpy(value: Any) -> Any:
    """The values of an NDArray; NumPy arrays, lists and numbers as they are."""
    return value.asnumpy() if hasattr(value, "asnumpy") else value


def same(a: Any, b: Any) -> bool:
    """Whether two arrays have the same shape and equal elements; NaN equals nothing."""
    return np.array_equal(as_numpy(a), as_numpy(b))


def same_array(array1: NDArray, array2: NDArray) -> bool:
    """Whether two NDArrays are the same memory: what is written to one appears in the other."""
    before = array1.asnumpy()
    if not np.array_equal(before, array2.asnumpy(), equal_nan=True):
        return False
    array1[:] = before == 0  # differs from what was there, whatever it was
    shared = same(array1, array2)
    array1[:] = before
    return shared


def _pictures(a: Any, b: Any, names: Names = ("a", "b")) -> str:
    with np.printoptions(threshold=4, suppress=True):
        return f"{names[0]} = {a!r}\n{names[1]} = {b!r}"


def checkShapes(a: Any, b: Any) -> None:  # noqa: N802  # MXNet's name
    """Demand equal shapes.

    Raises:
        AssertionError: they differ.
    """
    one, other = as_numpy(a), as_numpy(b)
    if np.shape(one) != np.shape(other):
        raise refusal(
            "test_utils/almost-equal",
            f"the shapes differ: {np.shape(one)} and {np.shape(other)}\n{_pictures(one, other)}", AssertionError,
        )


def locationError(  # noqa: N802  # MXNet's name
    a: Any, b: Any, index: tuple[int, ...], names: Names, maxError: bool = False,  # noqa: N803  # MXNet's name
) -> str:
    """A line that shows both values at ``index``.

    Args:
        a, b: the two arrays.
        index: a place in both.
        names: what the line calls the two.
        maxError: whether the line says that the error is the largest.
    """
    shown = (f"{name}={as_numpy(array)[index]:.8f}" for name, array in zip(names, (a, b), strict=False))
    return f"{'the largest error' if maxError else 'error'} at {index}: {', '.join(shown)}"


def almost_equal(
    a: Any, b: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = False,
    use_broadcast: bool = True,
) -> bool:
    """Whether |a - b| <= atol + rtol |b| everywhere; by default 1e-20 and 1e-5, whatever the types.

    Args:
        a, b: arrays of MXNet or NumPy.
        rtol, atol: relative and absolute tolerance; None for the defaults.
        equal_nan: whether two NaN are equal.
        use_broadcast: whether shapes may differ as far as NumPy broadcasts them.

    Raises:
        AssertionError: the shapes differ, without ``use_broadcast``.
    """
    one, other = np.asarray(as_numpy(a)), np.asarray(as_numpy(b))
    if not use_broadcast:
        checkShapes(one, other)
    return bool(np.allclose(one, other, rtol=get_rtol(rtol), atol=get_atol(atol), equal_nan=equal_nan))


class _Mismatch:
    """The elements that lie too far apart, the worst first; NaN beside a number is the worst of all."""

    def __init__(self, a: np.ndarray, b: np.ndarray, rtol: float, atol: float, equal_nan: bool) -> None:
        self.a, self.b = np.broadcast_arrays(a, b)
        apart = ~np.isclose(self.a, self.b, rtol=rtol, atol=atol, equal_nan=equal_nan)
        self.places = np.flatnonzero(apart)
        with np.errstate(all="ignore"):
            distance = np.abs(self.a.astype(np.float64) - self.b.astype(np.float64))
            self.errors = distance / (atol + rtol * np.abs(self.b.astype(np.float64)) + 1e-20)
        worst = np.nan_to_num(self.errors.ravel()[self.places], nan=np.inf)
        self.places = self.places[np.argsort(-worst, kind="stable")]

    def __len__(self) -> int:
        return len(self.places)

    def error(self, rank: int) -> float:
        """How many times the tolerance the element of this rank is off."""
        return float(self.errors.ravel()[self.places[rank]])

    def index(self, rank: int) -> tuple[int, ...]:
        """Where the element of this rank is."""
        return tuple(int(i) for i in np.unravel_index(self.places[rank], self.a.shape))


def assert_almost_equal(
    a: Any, b: Any, rtol: Tolerance | None = None, atol: Tolerance | None = None,
    names: Names = ("a", "b"), equal_nan: bool = False, use_broadcast: bool = True,
    mismatches: tuple[int, int] = (10, 10),
) -> None:
    """Demand |a - b| <= atol + rtol |b| everywhere.

    Args:
        a, b: NDArrays, NumPy arrays, lists or numbers; booleans must be equal.
        rtol, atol: numbers, or dicts by dtype; by default those of the less precise type.
        names: how the two are called in the report.
        equal_nan: whether NaN equals NaN.
        use_broadcast: whether shapes may differ and be broadcast.
        mismatches: how many differences are printed, and after how many counting stops (0: never).

    Raises:
        AssertionError: they differ; the report shows where most.
        ValueError: the shapes cannot be broadcast.
    """
    mismatch = _compared(a, b, rtol, atol, names, equal_nan, use_broadcast, mismatches, share=0)
    if mismatch is not None:
        raise mismatch


def _compared(
    a: Any, b: Any, rtol: Any, atol: Any, names: Names, equal_nan: bool, use_broadcast: bool,
    mismatches: tuple[int, int], share: float,
) -> Exception | None:
    """The error to raise when more than a ``share`` of the elements differ."""
    if not use_broadcast:
        checkShapes(a, b)
    rtol, atol = get_tols(a, b, rtol, atol)
    plain = np.ndim(as_numpy(a)) == 0 and not hasattr(a, "dtype")
    one, other = np.asarray(as_numpy(a)), np.asarray(as_numpy(b))
    if one.dtype == bool and other.dtype == bool:
        rtol = atol = 0.0
    try:
        found = _Mismatch(one, other, rtol, atol, equal_nan)
    except ValueError as error:
        raise refusal(
            "test_utils/comparable",
            f"{names[0]} of shape {one.shape} and {names[1]} of shape {other.shape} cannot be compared: {error}",
            ValueError,
        ) from None
    total = found.a.size
    if len(found) <= share * total:
        return None
    tolerance = f"the tolerance (rtol={rtol:g}, atol={atol:g})"
    text = f"{names[0]} and {names[1]} differ by {found.error(0):f} times {tolerance}"
    if plain:
        return refusal("test_utils/almost-equal", f"{text}\n{_pictures(a, b, names)}", AssertionError)
    printed, counted = mismatches
    print(f"\nthe largest errors of {total} elements, in tolerances (rtol={rtol}, atol={atol}):")
    for rank in range(min(printed, len(found))):
        print(f"{found.error(rank):14f}  {locationError(found.a, found.b, found.index(rank), names)}")
    stopped = 0 < counted < len(found)
    percent = 100 * (counted + 1 if stopped else len(found)) / total
    text += f", in {'at least ' if stopped else ''}{percent:f}% of the elements"
    worst = locationError(found.a, found.b, found.index(0), names, maxError=True)
    return refusal("test_utils/almost-equal", f"{text}\n{worst}\n{_pictures(one, other, names)}", AssertionError)


def assert_allclose(a: Any, b: Any, rtol: float = 1e-07, atol: float = 0, equal_nan: bool = True) -> None:
    """:func:`assert_almost_equal` with the tolerances of NumPy's function of this name.

    Args:
        a, b: arrays of MXNet or NumPy.
        rtol, atol: relative and absolute tolerance.
        equal_nan: whether two NaN are equal.
    """
    assert_almost_equal(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def assert_almost_equal_with_err(
    a: Any, b: Any, rtol: Tolerance | None = None, atol: Tolerance | None = None,
    etol: float | None = None, names: Names = ("a", "b"), equal_nan: bool = False,
    mismatches: tuple[int, int] = (10, 10),
) -> None:
    """:func:`assert_almost_equal`, but a share ``etol`` of the elements (0 to 1) may differ.

    Args:
        a, b: arrays of MXNet or NumPy.
        rtol, atol: relative and absolute tolerance; None for those of the types.
        etol: the share of elements that may differ; None for none.
        names: what the message calls the two.
        equal_nan: whether two NaN are equal.
        mismatches: how many differences are printed, and after how many counting stops (0: never).
    """
    share = get_etol(etol)
    mismatch = _compared(a, b, rtol, atol, names, equal_nan, True, mismatches, share)
    if mismatch is not None:
        raise mismatch


def assert_almost_equal_ignore_nan(
    a: Any, b: Any, rtol: Tolerance | None = None, atol: Tolerance | None = None, names: Names = ("a", "b"),
) -> None:
    """:func:`assert_almost_equal` where neither is NaN.

    Args:
        a, b: arrays of MXNet or NumPy.
        rtol, atol: relative and absolute tolerance; None for those of the types.
        names: what the message calls the two.
    """
    one, other = np.array(as_numpy(a)), np.array(as_numpy(b))
    hidden = np.isnan(one) | np.isnan(other)
    one[hidden] = 0
    other[hidden] = 0
    assert_almost_equal(one, other, rtol, atol, names)


def compare_ndarray_tuple(t1: Any, t2: Any, rtol: Tolerance | None = None, atol: Tolerance | None = None) -> None:
    """Compare arrays, or tuples of them in each other; where one is None nothing is compared.

    Args:
        t1, t2: arrays, or tuples of arrays or tuples.
        rtol, atol: relative and absolute tolerance; None for those of the types.
    """
    if t1 is None or t2 is None:
        return
    if isinstance(t1, tuple):
        for one, other in zip(t1, t2, strict=False):
            compare_ndarray_tuple(one, other, rtol, atol)
    else:
        assert_almost_equal(t1, t2, rtol=rtol, atol=atol)


def same_symbol_structure(sym1: Symbol, sym2: Symbol) -> bool:
    """Whether two symbols have the same operators connected in the same way; names and parameters are free."""

    def structure(symbol: Symbol) -> tuple[list, list]:
        graph = json.loads(symbol.tojson())
        return [(node["op"], node["inputs"]) for node in graph["nodes"]], graph["heads"]

    return structure(sym1) == structure(sym2)
