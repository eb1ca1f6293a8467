"""mx.random: seeding, and random arrays from MXNet's streams.

``mx.random.seed(s)`` restarts the streams of every context, with ``ctx=`` those of one; the rules are in
spec/ndarray.md.
"""

from __future__ import annotations

from typing import Any

from .base import refusal
from .context import Context
from .ndarray import operators
from .ndarray.ndarray import NDArray
from .resource import seed_all, seed_one


def seed(seed_state: int, ctx: str | Context = "all") -> None:
    """Restart the random streams from ``seed_state``.

    Raises:
        ValueError: ``seed_state`` is not an integer, or ``ctx`` is neither "all" nor a Context.
    """
    try:
        number = int(seed_state)
        if number != seed_state:
            raise ValueError
    except (TypeError, ValueError):
        raise refusal("random/seed-integer", "seed_state must be int", ValueError) from None
    if ctx == "all":
        seed_all(number)
    elif isinstance(ctx, Context):
        seed_one(number, ctx)
    else:
        raise refusal("random/seed-context", f"ctx must be 'all' or a Context, got {ctx!r}", ValueError)


def _draw(name: str, shape: Any, dtype: Any, ctx: Any, out: NDArray | None, **attrs: Any) -> NDArray:
    if shape is not None:
        attrs["shape"] = (shape,) if isinstance(shape, int) else tuple(shape)
    elif out is None:
        attrs["shape"] = (1,)
    else:
        attrs["shape"] = out.shape
    if dtype is not None and dtype != "None":
        attrs["dtype"] = operators.dtype_of(dtype).name
    return operators.call(name, out=out, ctx=ctx, **attrs)


def uniform(
    low: float = 0, high: float = 1, shape: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None
) -> NDArray:
    """Draw from [low, high); shape (1,) by default, dtype float32 or that of ``out``."""
    return _draw("_random_uniform", shape, dtype, ctx, out, low=low, high=high)


def normal(
    loc: float = 0, scale: float = 1, shape: Any = None, dtype: Any = None, ctx: Any = None, out: Any = None
) -> NDArray:
    """Draw from the normal distribution with mean ``loc`` and standard deviation ``scale``."""
    return _draw("_random_normal", shape, dtype, ctx, out, loc=loc, scale=scale)


def randn(*shape: int, **kwargs: Any) -> NDArray:
    """Draw standard normal numbers of the given sides."""
    loc, scale = kwargs.pop("loc", 0), kwargs.pop("scale", 1)
    return normal(loc, scale, shape or None, **kwargs)
