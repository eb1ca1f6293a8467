"""SGD's update of one number, written out line by line.

Other optimizers are shown by their formula alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..base import decides


class Formula(NamedTuple):
    """``name = formula = value``."""

    what: str
    formula: str
    value: float


def number(value: float) -> str:
    """A number for people, with six digits."""
    return f"{value:.6g}".replace("-", "\N{MINUS SIGN}").replace("e+", "e")


def _signed(value: float) -> str:
    return f"({number(value)})" if value < 0 else number(value)


@decides("Explain/weights")
def sgd(
    gradient: float, weight: float, momentum: float | None, lr: float, wd: float, settings: dict[str, Any]
) -> list[Formula]:
    """SGD's update of one weight; ``momentum`` is its state, None without momentum.

    Every product and sum is made in double precision, so that the last digits may differ from a float32 weight.
    """
    scale, bound = settings["rescale_grad"], settings.get("clip_gradient")
    rescaled = scale * gradient
    lines = [Formula("g", f"rescale_grad \N{MULTIPLICATION SIGN} gradient = {number(scale)}"
                  f" \N{MULTIPLICATION SIGN} {_signed(gradient)}", rescaled)]
    if bound is not None and bound > 0:
        rescaled = min(max(rescaled, -bound), bound)
        lines.append(Formula("g", f"g, no further from 0 than {number(bound)}", rescaled))
    step = lr * (rescaled + wd * weight)
    text = (
        f"{number(lr)} \N{MULTIPLICATION SIGN} ({number(rescaled)} + {number(wd)}"
        f" \N{MULTIPLICATION SIGN} {_signed(weight)})"
    )
    lines.append(Formula("step", f"lr \N{MULTIPLICATION SIGN} (g + wd \N{MULTIPLICATION SIGN} w) = {text}", step))
    if momentum is None:
        text = f"w \N{MINUS SIGN} step = {number(weight)} \N{MINUS SIGN} {_signed(step)}"
        return [*lines, Formula("w", text, weight - step)]
    factor = settings["momentum"]
    moved = factor * momentum - step
    lines.append(Formula(
        "m", f"momentum \N{MULTIPLICATION SIGN} m \N{MINUS SIGN} step = {number(factor)} \N{MULTIPLICATION SIGN}"
        f" {_signed(momentum)} \N{MINUS SIGN} {_signed(step)}", moved,
    ))
    lines.append(Formula("w", f"w + m = {number(weight)} + {_signed(moved)}", weight + moved))
    return lines
