"""Arguments of the optimizers of modules."""

from __future__ import annotations

from typing import Any

from .draws import Draw


def add_options(draw: Draw, name: str, parameters: dict[str, Any], *, corners: bool, half: bool) -> None:
    """Arguments of a rule that a script may leave out."""
    if name in ("sgd", "nag", "signum") and draw.boolean():
        parameters["momentum"] = draw.choice((0.5, 0.75, -0.5) if corners else (0.5, 0.75))
    if corners and draw.one_in(6):
        parameters["begin_num_update"] = draw.integer(1, 4)
    if half and not draw.one_in(4):
        parameters["multi_precision"] = True
    if draw.one_in(3):
        parameters["wd"] = draw.choice((0.125, 0.25))
    if draw.boolean():
        parameters["rescale_grad"] = draw.choice((0.125, 0.0625, 1.0))
    if draw.one_in(5):
        parameters["clip_gradient"] = draw.choice((0.5, 2.0))
