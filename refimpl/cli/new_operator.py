"""``refimpl new-operator``: a page of an operator with blanks to fill in."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from .. import kernels
from ..base import decides
from ..files.atomic import write_atomically
from ..kernels.foundation import REGISTRY
from .errors import refuse

BLANK = "BLANK"
"""Marks a line of a page that is not filled in."""

_HEAD = '''"""{name}: out = BLANK: the formula in words.

[{name}/value] BLANK: the rule as a sentence; numbers of the example come from MXNet 1.9.1 or a calculation by hand.
    >>> run("{name}", {example}), grad("{name}", {example})
    BLANK

[{name}/shape] the output has the {shape} type.
"""

import math

from .foundation import Case, Loop, Op, items, register, same_shape

'''

_UNARY = """
def apply(data, out, n):
    for i in items(n):
        x = data[i]
        out[i] = x  # BLANK: the value at x, such as math.exp(x)


def chain(head, data, d_data, n):
    for i in items(n):
        x = data[i]
        d_data[i] = head[i] * 0 * x  # BLANK: head[i] times the slope at x


APPLY, CHAIN = Loop(apply), Loop(chain)


def forward(p, data, out):
    APPLY(data, out, data.size)


def backward(p, head, data, d_data):
    if d_data is not None:
        CHAIN(head, data, d_data, data.size)


register(Op(
    name="{name}", doc=__doc__, infer=same_shape("{name}/shape"), forward=forward, backward=backward, needs=("data",),
    inplace=((0, 0),), inplace_backward=(("head", "data"), ("data", "data")),
    cases=lambda draw: Case({{}}, {{"data": draw.shape(1, 4)}}, {{"data": "any"}}),  # BLANK: any, positive or apart?
    refusals={{"{name}/shape": {{"shapes": {{"data": (2, 3), "output": (2, 4)}}}}}},
))
"""

_BINARY = """
def apply(lhs, rhs, out, n):
    for i in items(n):
        x, y = lhs[i], rhs[i]
        out[i] = x + 0 * y  # BLANK: the value at x and y


def chain_left(head, lhs, rhs, d_lhs, n):
    for i in items(n):
        x, y = lhs[i], rhs[i]
        d_lhs[i] = head[i] * 0 * x * y  # BLANK: head[i] times the slope along x


def chain_right(head, lhs, rhs, d_rhs, n):
    for i in items(n):
        x, y = lhs[i], rhs[i]
        d_rhs[i] = head[i] * 0 * x * y  # BLANK: head[i] times the slope along y


APPLY, CHAIN_LEFT, CHAIN_RIGHT = Loop(apply), Loop(chain_left), Loop(chain_right)


def forward(p, lhs, rhs, out):
    APPLY(lhs, rhs, out, out.size)


def backward(p, head, lhs, rhs, d_lhs, d_rhs):
    if d_lhs is not None:
        CHAIN_LEFT(head, lhs, rhs, d_lhs, head.size)
    if d_rhs is not None:
        CHAIN_RIGHT(head, lhs, rhs, d_rhs, head.size)


def cases(draw):
    shape = draw.shape(1, 4)
    return Case({{}}, {{"lhs": shape, "rhs": shape}}, {{"lhs": "any", "rhs": "any"}})  # BLANK: any, positive or apart?


register(Op(
    name="{name}", doc=__doc__, inputs=("lhs", "rhs"), infer=same_shape("{name}/shape"), forward=forward,
    backward=backward, needs=("lhs", "rhs"), inplace=((0, 0), (1, 0)), cases=cases,
    refusals={{"{name}/shape": {{"shapes": {{"lhs": (2, 3), "rhs": (2, 4)}}}}}},
))
"""


class Like(str, Enum):
    """Kinds of pages that there are blanks for."""

    unary = "unary"
    binary = "binary"


_TEXTS = {
    Like.unary: (_HEAD + _UNARY, "[1, 2]", "input's shape and"),
    Like.binary: (_HEAD + _BINARY, "[1, 2], [3, 4]", "one shape and type of the inputs:"),
}


def page_text(name: str, like: Like) -> str:
    """The page of an operator with blanks."""
    text, example, shape = _TEXTS[like]
    return text.format(name=name, example=example, shape=shape)


def page_file(name: str) -> str:
    """The file name of an operator's page: ``ScaledSum`` is in ``scaled_sum.py``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip("_")).lower() + ".py"


@decides("Cli/checkout")
def checkout() -> Path:
    """The root of the checkout that this package runs from; refused where it is installed."""
    root = Path(kernels.__path__[0]).resolve().parent
    if not (root / "spec" / "stubs.py").is_file():
        raise refuse(
            "Cli/checkout", f"{root} is no checkout of refimpl; clone it and install it with pip install -e"
        )
    return root


def new_operator(
    name: Annotated[str, typer.Argument(help="The operator's name, as in mx.nd.NAME.")],
    like: Annotated[Like, typer.Option(help="Of one array, or of two of one shape; element by element.")] = Like.unary,
) -> None:
    """Write an operator's page with blanks, in a checkout."""
    folder = checkout() / "kernels"
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or not name.strip("_"):
        raise refuse("Cli/new-operator", f"{name!r} cannot be a name in Python; use letters, digits and _")
    file = folder / page_file(name)
    if name in REGISTRY:
        raise refuse("Cli/new-operator", f"there is an operator {name}; `refimpl ops {name}` prints its page")
    if file.exists() or (folder / file.stem).exists():
        raise refuse("Cli/new-operator", f"{file} is there already; choose another name")
    write_atomically(str(file), page_text(name, like).encode())
    print(f"wrote {file}: fill in the lines that say {BLANK}, then: refimpl check-operator {name}")
