"""Valid calls of an operator, drawn by Hypothesis or from a seed, and the arrays that they work on.

A page's ``cases(draw)`` asks a *draw* for whole numbers, truth values, choices and shapes. Two draws exist:
:class:`HypothesisDraw` shrinks a failing call to a small one, :class:`SeededDraw` is quick and needs nothing.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from hypothesis import strategies as st

from refimpl.kernels.foundation import Case, MXNetError, Op, known

Shape = tuple[int, ...]
LARGE = 2.0**25


class Draw(Protocol):
    """What ``cases`` may ask for; bounds are inclusive."""

    def integer(self, low: int, high: int) -> int: ...
    def boolean(self) -> bool: ...
    def choice(self, options: Sequence[Any]) -> Any: ...
    def shape(self, min_rank: int, max_rank: int, max_side: int = 4) -> Shape: ...


class HypothesisDraw:
    """Draws through ``data.draw``, so that failures shrink."""

    def __init__(self, data: Any) -> None:
        self._draw = data.draw

    def integer(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def boolean(self) -> bool:
        return self._draw(st.booleans())

    def choice(self, options: Sequence[Any]) -> Any:
        return self._draw(st.sampled_from(list(options)))

    def shape(self, min_rank: int, max_rank: int, max_side: int = 4) -> Shape:
        sides = st.lists(st.integers(1, max_side), min_size=min_rank, max_size=max_rank)
        return tuple(self._draw(sides))


class SeededDraw:
    """Draws from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def boolean(self) -> bool:
        return self._random.random() < 0.5

    def choice(self, options: Sequence[Any]) -> Any:
        return self._random.choice(list(options))

    def shape(self, min_rank: int, max_rank: int, max_side: int = 4) -> Shape:
        rank = self._random.randint(min_rank, max_rank)
        return tuple(self._random.randint(1, max_side) for _ in range(rank))


@dataclass(frozen=True)
class Example:
    """One valid call: an operator, its parsed parameters, its input arrays."""

    op: Op
    p: Any
    params: dict[str, Any]
    arrays: list[np.ndarray]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the active inputs."""
        return self.op.input_names(self.p)

    def __str__(self) -> str:
        shapes = ", ".join(
            f"{n} {a.dtype}{list(a.shape)}" for n, a in zip(self.names, self.arrays, strict=True)
        )
        return f"{self.op.name}({shapes}; {self.params})"


def example(
    op: Op, draw: Draw, dtype: str = "float32", *, smooth: bool = False, cancelling: bool = False, untied: bool = False
) -> Example:
    """Draw a valid call; ``smooth`` keeps values off kinks and ties, for numeric differentiation.

    Otherwise values are dyadic (whole numbers / 4, within -2..2), so that sums are exact in any order.
    ``untied`` draws neither ties nor NaN where a page asks for values apart: MXNet's order of those is undefined.
    ``cancelling`` adds ``LARGE`` to some and subtracts it from others: sums in single precision lose the rest.
    """
    assert op.cases is not None, f"{op.name} says of no call that it is valid: give cases"
    case: Case = op.cases(draw)
    params = dict(case.params)
    listed = case.shapes.get("args") if op.variadic else None
    if listed is not None:
        params.setdefault(op.variadic, len(listed))
    p = op.parse(params)
    names = op.input_names(p)
    given = list(listed) if listed is not None else [case.shapes.get(n) for n in names]
    try:
        shapes, outs = op.infer(p, given, [None] * len(op.output_names(p)))
    except MXNetError as error:
        raise AssertionError(f"{op.name} refuses its own case {params} {given}: {error}") from error
    assert known(*shapes, *outs), f"{op.name}: {params} {given} leaves shapes unknown: {shapes} {outs}"
    types, _ = types_of(op, p, np.dtype(dtype), [case.types.get(name) for name in names])
    random_values = np.random.default_rng(draw.integer(0, 9999))
    kinds = [case.values.get(n, case.values.get("args", "any")) for n in names]
    arrays = [
        _apart(random_values, shape) if untied and kind == "apart"
        else _values(random_values, kind, shape, smooth=smooth)
        for kind, shape in zip(kinds, shapes, strict=True)
    ]
    if cancelling:
        arrays = [
            array + (random_values.choice((-LARGE, 0, LARGE), array.shape) if kind in ("any", "apart") else 0)
            for array, kind in zip(arrays, kinds, strict=True)
        ]
    arrays = [array if kind.kind == "f" else np.nan_to_num(array, posinf=3, neginf=-3)
              for array, kind in zip(arrays, types, strict=True)]
    return Example(op, p, params, [array.astype(kind) for array, kind in zip(arrays, types, strict=True)])


def types_of(
    op: Op, p: Any, dtype: np.dtype, named: Sequence[str | None] = ()
) -> tuple[list[np.dtype], list[np.dtype]]:
    """Types of inputs and outputs: those that a case has ``named``, else of the first input ``dtype``, and of others
    too where free.
    """
    ins: list[Any] = [None if name is None else np.dtype(name) for name in named] or [None] * len(op.input_names(p))
    outs: list[Any] = [None] * len(op.output_names(p))
    if ins and not any(named):
        ins[0] = dtype
    ins, _ = op.infer_type(p, ins, outs)
    ins, outs = op.infer_type(p, [dtype if t is None else t for t in ins], outs)
    return [np.dtype(t) for t in ins], [np.dtype(t) for t in outs]


def _values(rng: np.random.Generator, kind: Any, shape: Shape, *, smooth: bool) -> np.ndarray:
    """Values of one documented kind (see ``Case``); a pair or triple is drawn inclusively."""
    match kind:
        case ("labels", below):
            return rng.integers(0, below, shape)
        case ("ints", low, high):
            return rng.integers(low, high, shape, endpoint=True)
        case "ones_and_zeros":
            return rng.integers(0, 2, shape)
        case "apart":
            return _apart(rng, shape) if smooth else _apart_or_tied(rng, shape)
        case "regular" | "definite":
            return _matrices(rng, shape, definite=kind == "definite", smooth=smooth)
        case "any":
            quarters = rng.integers(-8, 8, shape, endpoint=True)
        case "positive":
            quarters = rng.integers(1, 12, shape, endpoint=True)
        case "unit":
            quarters = rng.integers(-3, 3 - smooth, shape, endpoint=True)
        case "above_one":
            quarters = rng.integers(5, 12, shape, endpoint=True)
        case _:
            raise AssertionError(f"no such kind of values: {kind!r}")
    # kinks lie at whole quarters, if anywhere: stay between them
    return quarters / 4 + (rng.uniform(0.06, 0.19, shape) if smooth else 0.0)


def _apart(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """No two equal, none at a whole quarter."""
    size = int(np.prod(shape))
    return ((rng.permutation(size) - size // 2) / 4 + 3 / 32).reshape(shape)


def _apart_or_tied(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """For laws that need no slope: often many equal values and zeros of either sign, some with NaN and infinities."""
    what = rng.integers(3)
    if what == 0:
        return _apart(rng, shape)
    tied = rng.choice((-0.25, -0.0, 0.0, 0.25, 0.5), shape)
    special = rng.choice((np.nan, np.inf, -np.inf), shape)
    return np.where(rng.random(shape) < 0.3, special, tied) if what == 1 else tied


def _matrices(rng: np.random.Generator, shape: Shape, *, definite: bool, smooth: bool) -> np.ndarray:
    """Matrices that can be inverted, also when one triangle is taken for zeros; or symmetric and positive definite ones
    whose eigenvalues lie apart.
    """
    values = rng.integers(-4, 4, shape, endpoint=True) / 4 + (rng.uniform(0.06, 0.19, shape) if smooth else 0.0)
    if not definite:
        return values + 4 * np.eye(*shape[-2:]) * rng.choice((-1, 1), shape)
    lower = np.tril(values, -1)
    return lower + np.swapaxes(lower, -1, -2) + np.diag(4 + 8.0 * np.arange(shape[-1]))
