"""Programs of level 5: an optimizer, the weights it is given, and a life with multipliers, schedules and files."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..programs.program import VERSION
from .choices import NOTHING, Capabilities, Exclusions, Program
from .draws import Draw
from .random_numbers import langevin_program

Step = dict[str, Any]
Numbers = tuple[float, ...]

RULES: dict[str, dict[str, Numbers]] = {
    "sgd": {"momentum": (0.5, 0.75)}, "ccsgd": {"momentum": (0.5,)}, "nag": {"momentum": (0.5, 0.75)},
    "signum": {"momentum": (0.5, 0.0), "wd_lh": (0.125,)}, "dcasgd": {"lamda": (0.5,)},
    "lars": {"momentum": (0.5,), "eta": (0.5,)},
    "lbsgd": {"momentum": (0.5,), "batch_scale": (1, 2)}, "adagrad": {"eps": (0.125,)},
    "groupadagrad": {"eps": (0.125,)}, "adadelta": {"rho": (0.75,), "epsilon": (0.125,)},
    "rmsprop": {"gamma1": (0.5,), "clip_weights": (0.75,)}, "adam": {"beta1": (0.5,), "epsilon": (0.125,)},
    "adamax": {"beta1": (0.5,), "beta2": (0.5,)}, "nadam": {"beta1": (0.5,), "schedule_decay": (0.25,)},
    "lamb": {"lower_bound": (0.5,), "upper_bound": (2.0,), "beta1": (0.5,)},
    "ftrl": {"lamda1": (0.125,), "beta": (0.5,)},
    "ftml": {"beta1": (0.5,), "epsilon": (0.125,)}, "test": {},
}
"""Every deterministic rule, and arguments of its own that may be drawn."""
WHOLE = frozenset({"batch_scale"})
HALVES = frozenset({"sgd", "ccsgd", "nag", "lars", "lbsgd", "lamb", "adam", "rmsprop", "signum", "test"})
"""Rules that step float16 weights through a float32 copy."""
ROWS = frozenset({"sgd", "adam", "ftrl", "adagrad", "groupadagrad"})
"""Rules that take row_sparse gradients for dense weights."""
FEATURES = frozenset({
    "optimizer/rows", "optimizer/half", "optimizer/together", "optimizer/resume", "optimizer/names",
    "optimizer/schedule", "optimizer/set rate", "optimizer/decay of plain signum", "optimizer/other device",
    "optimizer/rates in any order", "optimizer/types together", "optimizer/variables", "optimizer/index and name",
})
"""What ``exclude.operators`` may name beside rules, as ``rule NAME``: programs are then drawn without it."""
CAREFUL = frozenset({"rule adamax", "optimizer/decay of plain signum", "optimizer/rates in any order"})
"""What MXNet 1.9.1 refuses or gets wrong: a weight without gradients becomes NaN, an argument is unknown, a curve that
is over gives the last rate it was asked for."""
ODD = (
    ("clip_gradient", -1.0), ("clip_gradient", 0.0), ("rescale_grad", -1.0), ("begin_num_update", 2),
    ("begin_num_update", 5),
)
"""Arguments that hardly anybody gives."""
NAMES = ("fc_weight", "fc_bias", "bn_gamma", "bn_beta", "embed")


def schedule(draw: Draw, base: float) -> Step:
    """A learning rate that changes within a few updates."""
    warm: Step = {"warmup_steps": 2, "warmup_begin_lr": base / 4} if draw.one_in(3) else {}
    kind = draw.choice(("factor", "multifactor", "poly", "cosine"))
    of_kind: dict[str, Step] = {
        "factor": {"step": draw.integer(1, 3), "factor": 0.5}, "multifactor": {"step": [3, 5], "factor": 0.5},
        "poly": {"max_update": draw.integer(4, 8), "pwr": 2}, "cosine": {"max_update": draw.integer(4, 8)},
    }
    return {"kind": kind, "base_lr": base, **of_kind[kind], **warm}


def optimizer_program(draw: Draw, capabilities: Capabilities, exclude: Exclusions = NOTHING) -> Program:
    """Level 5: updates of one to four weights in any order, some less often, with states saved and read in between."""
    written = {name for name in capabilities.operators or () if name.startswith("rule ")}

    def may(rule: str) -> bool:
        return f"rule {rule}" not in exclude.operators and (not written or f"rule {rule}" in written)

    if may("sgld") and draw.one_in(400):  # whose many numbers take seconds in loops that run as Python
        return langevin_program(draw)
    rule = draw.choice([name for name in RULES if may(name)])
    weights = _weights(draw, rule, capabilities, exclude)
    arrays = {str(index): weights.values(draw, place) for place, index in enumerate(weights.indices)}
    create = _create(draw, rule, weights, capabilities, exclude)
    steps = [create]
    if draw.boolean():
        steps.append(_multiply(draw, _known(draw, create, weights, capabilities, exclude)))
    sparse = rule in ROWS and not weights.half and "optimizer/rows" not in exclude.operators and draw.one_in(4)
    if sparse and rule == "adagrad":
        create["parameters"].pop("wd", None)  # which it refuses beside row_sparse gradients
    for _ in range(draw.integer(2, 8)):
        steps.append(_step(draw, rule, create, exclude))
        if steps[-1]["do"] == "update":
            chosen = _updated(draw, len(weights.indices), capabilities, exclude)
            steps[-1] |= _gradients(draw, weights, chosen, sparse=sparse)
    steps.append({"do": "read"})
    return {"version": VERSION, "level": 5, "arrays": arrays, "steps": steps}


class _Weights(NamedTuple):
    """The weights that are updated: their indices and shapes, and how their numbers are drawn."""

    indices: list[Any]
    shapes: list[tuple[int, ...]]
    style: str
    halves: tuple[bool, ...]
    """Which of them are in half precision."""

    @property
    def half(self) -> bool:
        """Whether some are in half precision."""
        return any(self.halves)

    def values(self, draw: Draw, place: int) -> Step:
        """Numbers for a weight, or for its gradient."""
        dtype = "float16" if self.halves[place] else "float32"
        return {"shape": list(self.shapes[place]), "dtype": dtype, "style": self.style, "seed": draw.integer(0, 9999)}


def _weights(draw: Draw, rule: str, capabilities: Capabilities, exclude: Exclusions) -> _Weights:
    styles = [style for style in ("dyadic", "dyadic", "normal", "smooth", "onehot") if style in capabilities.styles]
    style = draw.choice(styles or capabilities.styles)
    half = rule in HALVES and "optimizer/half" not in exclude.operators and draw.one_in(5)
    mixed = half and capabilities.corners and draw.boolean() and "optimizer/types together" not in exclude.operators
    shapes: list[tuple[int, ...]] = [
        (draw.integer(1, 4), draw.integer(1, 3)) if rule == "groupadagrad" or draw.boolean() else (draw.integer(1, 6),)
        for _ in range(draw.integer(1, len(NAMES) if capabilities.corners else 4))
    ]
    indices = NAMES if draw.one_in(4) else range(len(NAMES))
    halves = tuple(half and not (mixed and draw.boolean()) for _ in shapes)
    return _Weights(list(indices[: len(shapes)]), shapes, style, halves)


def _create(
    draw: Draw, rule: str, weights: _Weights, capabilities: Capabilities, exclude: Exclusions
) -> Step:
    """The step that makes the optimizer."""
    parameters = _parameters(draw, rule, exclude, half=weights.half)
    create: Step = {"do": "create", "optimizer": rule, "parameters": parameters}
    if capabilities.corners and draw.one_in(8):
        parameters.update((draw.choice(ODD),))
    if capabilities.corners and parameters.get("momentum") and draw.one_in(6):
        parameters["momentum"] = -0.5
    by_number = weights.indices[0] == 0
    if by_number and draw.boolean() and "optimizer/names" not in exclude.operators:
        create["names"] = [[index, NAMES[index]] for index in weights.indices]
    attributes = capabilities.corners and "optimizer/variables" not in exclude.operators
    if create.get("names") and attributes and draw.one_in(3):
        create["variables"] = [[name, draw.choice((0.5, 2.0))] for _, name in create["names"]]
    if draw.one_in(3) and "optimizer/schedule" not in exclude.operators:
        create["schedule"] = schedule(draw, parameters.pop("learning_rate", 0.5))
    return create


def _known(
    draw: Draw, create: Step, weights: _Weights, capabilities: Capabilities, exclude: Exclusions
) -> list[Any]:
    """What factors may be given for: the weights' names, or indices, or both."""
    known = [name for _, name in create.get("names", ())]
    if known and capabilities.corners and draw.boolean() and "optimizer/index and name" not in exclude.operators:
        known += weights.indices
    return known or weights.indices


def _multiply(draw: Draw, known: list[Any]) -> Step:
    """Multipliers of the rates and decays of some weights."""
    return {"do": "multiply", **{
        field: [[key, draw.choice((0.5, 2.0, 0.0))] for key in known if draw.boolean()]
        for field in ("rates", "decays")
    }}


def _gradients(draw: Draw, weights: _Weights, chosen: list[int], *, sparse: bool) -> Step:
    """The arguments of an update of some weights."""
    found: Step = {
        "indices": [weights.indices[place] for place in chosen],
        "gradients": [weights.values(draw, place) for place in chosen],
    }
    if sparse:
        found["rows"] = [_rows(draw, weights.shapes[place]) for place in chosen]
    return found


def _updated(draw: Draw, count: int, capabilities: Capabilities, exclude: Exclusions) -> list[int]:
    """Which of the weights one call updates: seldom several together."""
    several = count > 1 and draw.one_in(4) and "optimizer/together" not in exclude.operators
    every = several and capabilities.corners and draw.boolean()
    chosen = [place for place in range(count) if every or draw.boolean()] if several else []
    return chosen or [draw.integer(0, count - 1)]


def _parameters(draw: Draw, rule: str, exclude: Exclusions, *, half: bool) -> Step:
    found: Step = {} if rule == "adadelta" else {"learning_rate": draw.choice((0.5, 0.25, 0.125))}
    for name, options in RULES[rule].items():
        if draw.boolean():
            value = draw.choice(options)
            found[name] = int(value) if name in WHOLE else value
    if not found.get("momentum") and "optimizer/decay of plain signum" in exclude.operators:
        found.pop("wd_lh", None)
    if rule == "rmsprop" and draw.boolean():
        found["centered"] = True
    if rule == "lamb" and draw.boolean():
        found["bias_correction"] = False
    if rule != "groupadagrad" and draw.one_in(3):
        found["wd"] = draw.choice((0.125, 0.0625))  # 1 - lr * wd stays above 0: else rules cancel in their own ways
    if draw.one_in(3):
        found["clip_gradient"] = draw.choice((0.5, 1.0))
    if draw.one_in(3):
        found["rescale_grad"] = draw.choice((0.5, 0.25))
    if half:
        found["multi_precision"] = True
    return found


def _step(draw: Draw, rule: str, create: Step, exclude: Exclusions) -> Step:
    kind = draw.choice(("update", "update", "update", "update", "update", "resume", "rate", "ask"))
    if kind == "resume" and "optimizer/resume" not in exclude.operators:
        elsewhere = draw.one_in(3) and "optimizer/other device" not in exclude.operators
        return {"do": "resume", "whole": draw.boolean(), **({"device": draw.integer(0, 2)} if elsewhere else {})}
    if kind == "ask" and "schedule" in create and "optimizer/rates in any order" not in exclude.operators:
        return {"do": "ask", "numbers": [draw.integer(0, 9) for _ in range(draw.integer(1, 3))]}
    fixed = rule != "adadelta" and "schedule" not in create
    if kind == "rate" and fixed and "optimizer/set rate" not in exclude.operators:
        return {"do": "set_rate", "value": draw.choice((0.25, 0.5, 1.0))}
    return {"do": "update"}


def _rows(draw: Draw, shape: tuple[int, ...]) -> list[int] | None:
    if len(shape) != 2:
        return None
    return [row for row in range(shape[0]) if draw.boolean()] or [0]
