"""Valid calls of an operator with the arrays that they work on, as the oracle draws them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernels.foundation import MXNetError, Op, known
from ..drawing.drawn_calls import drawn_call
from ..drawing.draws import Draw, SeededDraw
from ..programs.values import array_of

LARGE = 2.0**25
TIED = ("dyadic", "tied", "special")


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

    Otherwise values are dyadic (whole numbers / 4, within -2..2), so that sums are exact in any order; where a page
    asks for values apart there are often ties and zeros of either sign, and some NaN and infinities.
    ``untied`` draws neither ties nor NaN there: MXNet's order of those is undefined.
    ``cancelling`` adds ``LARGE`` to some and subtracts it from others: sums in single precision lose the rest.
    """
    try:
        call = drawn_call(op, draw, dtype)
    except MXNetError as error:
        if dtype == "float16":  # not every operator takes it
            raise
        raise AssertionError(f"{op.name} refuses its own case: {error}") from error
    assert known(*call.shapes, *call.out_shapes), f"{op.name}: {call.params} leaves shapes unknown: {call}"
    seed = draw.integer(0, 9999)
    arrays: list[np.ndarray] = []
    for shape, kind, wanted in zip(call.shapes, call.kinds, call.types, strict=True):
        style = "smooth" if smooth else "dyadic" if untied or kind != "apart" else draw.choice(TIED)
        spec = {
            "shape": list(shape), "dtype": wanted.name, "style": style, "seed": seed + len(arrays),
            "kind": list(kind) if isinstance(kind, tuple) else kind,
        }
        array = array_of(spec)
        if cancelling and kind in ("any", "apart") and wanted.kind == "f":
            large = np.random.default_rng(spec["seed"]).choice((-LARGE, 0, LARGE), shape)
            array = (array + large).astype(wanted)
        arrays.append(array)
    return Example(op, call.p, call.params, arrays)


__all__ = ["Draw", "Example", "SeededDraw", "example"]
