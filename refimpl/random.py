"""mx.random: seeding, and random arrays from MXNet's streams.

``mx.random.seed(s)`` restarts the streams of every context, with ``ctx=`` those of one; the rules are in
spec/reference/arrays/random.md. The functions that draw are those of ``mx.nd.random``.
"""

from __future__ import annotations

from .base import integer_types, refusal
from .context import Context
from .ndarray.random import (
    exponential,
    gamma,
    generalized_negative_binomial,
    multinomial,
    negative_binomial,
    normal,
    poisson,
    randint,
    randn,
    shuffle,
    uniform,
)
from .resource import seed_all, seed_one


def seed(seed_state: int, ctx: str | Context = "all") -> None:
    """Restart the random streams from ``seed_state``.

    Raises:
        ValueError: ``seed_state`` is not an integer, or ``ctx`` is neither "all" nor a context.
    """
    if not isinstance(seed_state, integer_types):
        raise refusal("random/seed-integer", f"seed_state must be int, got {seed_state!r}", ValueError)
    if isinstance(ctx, str) and ctx == "all":
        seed_all(int(seed_state))
    elif isinstance(ctx, Context):
        seed_one(int(seed_state), ctx)
    elif isinstance(ctx, str) and ctx in Context.devstr2type:
        seed_one(int(seed_state), Context(ctx))
    else:
        raise refusal("random/seed-context", f"ctx must be 'all' or a Context, got {ctx!r}", ValueError)


__all__ = [
    "exponential", "gamma", "generalized_negative_binomial", "multinomial", "negative_binomial", "normal", "poisson",
    "randint", "randn", "seed", "shuffle", "uniform",
]
