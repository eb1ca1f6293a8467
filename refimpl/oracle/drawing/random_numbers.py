"""Programs that draw random numbers: one operator with many elements, in several passes, or steps of SGLD.

Their numbers are judged by their distribution (``statistical``), which takes many of them and an operator alone.
"""

from __future__ import annotations

from typing import Any

from ...symbol.calls import attribute_text
from ..programs.program import VERSION
from .choices import NOTHING, Capabilities, Exclusions, Program
from .draws import Draw

SIZE = 40_000
"""Numbers of an array, about."""
PARAMETERS: dict[str, tuple[dict[str, float], ...]] = {
    "uniform": ({"low": -1.0, "high": 3.0}, {"low": 0.0, "high": 1.0}),
    "normal": ({"loc": 1.0, "scale": 2.0}, {"loc": 0.0, "scale": 0.25}),
    "exponential": ({"lam": 0.5}, {"lam": 4.0}),
    "gamma": ({"alpha": 2.5, "beta": 0.5}, {"alpha": 0.5, "beta": 2.0}, {"alpha": 9.0, "beta": 1.0}),
    "poisson": ({"lam": 0.75}, {"lam": 4.0}, {"lam": 30.0}),
    "negative_binomial": ({"k": 3, "p": 0.5}, {"k": 1, "p": 0.25}, {"k": 8, "p": 0.75}),
    "generalized_negative_binomial": ({"mu": 2.0, "alpha": 0.5}, {"mu": 5.0, "alpha": 0.25}),
    "randint": ({"low": -3, "high": 4}, {"low": 0, "high": 1000}),
}
"""What distributions are asked for; the names are those of ``_random_NAME``."""
SAMPLED = ("uniform", "normal", "exponential", "gamma", "poisson", "negative_binomial", "generalized_negative_binomial")
CHANCES = (0.25, 0.75, 0.125, 0.875)
Step = dict[str, Any]


def random_operators() -> tuple[str, ...]:
    """Names of the operators whose numbers are judged."""
    return (
        *(f"_random_{name}" for name in PARAMETERS), *(f"_random_{name}_like" for name in SAMPLED),
        *(f"_sample_{name}" for name in SAMPLED), "_sample_multinomial", "_shuffle", "Dropout", "LeakyReLU",
    )


def possible(capabilities: Capabilities, exclude: Exclusions, level: int) -> list[str]:
    """The operators that a program of a level may draw with. LeakyReLU draws only where Dropout does."""
    masks = ("Dropout", "LeakyReLU") if capabilities.has("Dropout") else ()
    own = [n for n in random_operators() if n not in ("Dropout", "LeakyReLU")] if level == 1 else []
    return [
        name for name in (*own, *masks)
        if capabilities.has(name) and name not in exclude.operators and exclude.allowed("write", [name])
    ]


def random_program(draw: Draw, names: list[str], level: int, size: int = SIZE) -> Program:
    """Level 1 or 2: one operator that draws numbers, in two forward passes, or with a backward pass after each.

    Args:
        draw: the source of choices.
        names: the operators, not empty.
        level: 1 or 2.
        size: how many numbers an array has, about; 200 at least.
    """
    name = draw.choice(names)
    arrays: dict[str, Step] = {}
    attrs: Step = {}
    kind = name.removeprefix("_random_").removeprefix("_sample_").removesuffix("_like")
    if name in ("Dropout", "LeakyReLU"):
        shape = [size // 200, 200]
        arrays["data"] = {"shape": shape, "style": "smooth"}
        if name == "Dropout":
            attrs = {"p": draw.choice(CHANCES)}
            if draw.one_in(4):
                shape[:] = [size, 2]
                attrs["axes"] = (1,)
            if draw.one_in(4):
                attrs["mode"] = "always"
        else:
            attrs = {"act_type": "rrelu", "lower_bound": 0.125, "upper_bound": draw.choice((0.25, 0.875))}
    elif name == "_shuffle":
        arrays["data"] = {"shape": [size], "kind": "apart", "style": "dyadic"}
    elif name == "_sample_multinomial":
        rows = draw.choice(([0.25, 0.5, 0.25], [0.125, 0.0, 0.375, 0.5]))
        arrays["data"] = {"shape": [2, len(rows)], "elements": [*rows, *rows[::-1]]}
        attrs = {"shape": (size // 2,)}
    elif name.startswith("_sample_"):
        options = PARAMETERS[kind]
        for parameter in options[0]:
            elements = [float(each[parameter]) for each in options]
            arrays[parameter] = {"shape": [len(options)], "elements": elements}
        attrs = {"shape": (size // len(options),)}
    else:
        attrs = dict(draw.choice(PARAMETERS[kind]))
        if name.endswith("_like"):
            arrays["data"] = {"shape": [size], "style": "dyadic"}
        else:
            attrs["shape"] = draw.choice(((size,), (size // 40, 40)))
    for spec in arrays.values():
        spec["dtype"] = "float32"
        if "elements" not in spec:
            spec["seed"] = draw.integer(0, 9999)
    nodes: list[Step] = [{"op": "null", "name": each} for each in arrays]
    nodes.append({
        "op": name, "name": "drawn", "inputs": [[i, 0] for i in range(len(arrays))],
        "attrs": {key: attribute_text(value) for key, value in attrs.items()},
    })
    bind: Step = {"do": "bind"} if level == 1 else {"do": "bind", "requirements": {"data": "write"}}
    steps: list[Step] = [bind, {"do": "seed", "value": draw.integer(0, 9999)}]
    for _ in range(2):
        steps.append({"do": "forward", "train": True})
        if level == 2:
            head = {"shape": arrays["data"]["shape"], "dtype": "float32", "style": "smooth", "seed": 5}
            steps.append({"do": "backward", "heads": [head]})
    if name in ("Dropout", "LeakyReLU"):
        steps.append({"do": "forward", "train": False})
    return {
        "version": VERSION, "level": level, "nodes": nodes, "heads": [[len(arrays), 0]], "arrays": arrays,
        "steps": steps,
    }


def drawn_at_random(
    draw: Draw, capabilities: Capabilities, exclude: Exclusions = NOTHING, level: int = 1
) -> Program | None:
    """Once in a while a program of :func:`random_program`; no choice is made where the implementation has none."""
    names = possible(capabilities, exclude, level)
    return random_program(draw, names, level) if names and draw.one_in(32) else None


def langevin_program(draw: Draw) -> Program:
    """Level 5: steps of SGLD."""
    parameters: Step = {"learning_rate": draw.choice((0.25, 0.0625))}
    if draw.boolean():
        parameters["wd"] = 0.125
    if draw.boolean():
        parameters["rescale_grad"] = 0.5
    if draw.one_in(3):
        parameters["clip_gradient"] = 0.5
    shape = [SIZE // 100, 100]

    def values() -> Step:
        return {"shape": shape, "dtype": "float32", "style": "dyadic", "seed": draw.integer(0, 9999)}

    steps: list[Step] = [
        {"do": "create", "optimizer": "sgld", "parameters": parameters}, {"do": "seed", "value": draw.integer(0, 9999)}
    ]
    arrays = {"0": values()}
    steps += [{"do": "update", "indices": [0], "gradients": [values()]} for _ in range(2)]
    return {"version": VERSION, "level": 5, "arrays": arrays, "steps": steps}
