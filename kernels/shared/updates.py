"""Numbers, types, and operators on many weights at once, for the pages of optimizer updates.

An update reads a weight, its gradient and states; its output is the new weight. States change in place and are
auxiliary states of a graph. With a master copy the update changes the float32 ``weight32``, and the output is
``weight32`` rounded.

[updates/floating] all arrays of an update hold floating-point numbers; whole numbers are refused.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..foundation import Op, Sources, merge, merge_all, register, require, same_shape, same_type, scalar

SINGLE = np.dtype(np.float32)
IN_PLACE = 64  # so many weights of one call may be its outputs too without a copy
MEMORY = 4096  # so many sets of hyperparameters a page remembers in the type of its loop


# --- numbers ------------------------------------------------------------------------------------


@scalar
def limited(g, clip):
    """Return g inside -clip .. clip; NaN stays NaN."""
    return clip if g > clip else -clip if g < -clip else g


@lru_cache(maxsize=MEMORY)
def numbers(kind, *values):
    """Parameters as MXNet keeps them, in single precision, in the type of the loop."""
    return tuple(kind(np.float32(value)) for value in values)


def bound(kind, limit):
    """The limit as a number of type ``kind``; infinity where it is negative, which means no limit."""
    return kind("inf") if limit < 0 else kind(np.float32(limit))


def averaging(kind, beta):
    """(beta, 1 - beta): the weights of a moving average."""
    (kept,) = numbers(kind, beta)
    return kept, kind(1) - kept


def correction(kind, beta, step):
    """1 - beta ** step: the divisor that corrects a moving average which began with zero."""
    return kind(1 - power(float(np.float32(beta)), step))


def power(base, step):
    """base ** step in double precision, infinity where Python refuses."""
    try:
        return base**step
    except (OverflowError, ZeroDivisionError):
        return float("inf")


# --- types --------------------------------------------------------------------------------------


def floating(infer_type):
    """The same ``infer_type``, which also refuses types that are not floating-point."""

    def checked(p, ins, outs):
        ins, outs = infer_type(p, ins, outs)
        for kind in [*ins, *outs]:
            what = f"only floating point types are supported, not {kind}; use Cast"
            require("updates/floating", kind is None or kind.kind == "f", what)
        return ins, outs

    return checked


def all_single(clause, given):
    """Types of states, which are float32 beside a master copy."""
    for kind in given:
        require(clause, kind is None or kind == SINGLE, f"states must be float32, got {kind}")
    return [SINGLE] * len(given)


def master_types(clause):
    """An ``infer_type``: weight, grad and output have one type, all else is float32."""

    def infer_type(p, ins, outs):
        first, outs = same_type(p, ins[:2], outs)
        return [*first, *all_single(clause, ins[2:])], outs

    return infer_type


# --- one weight ---------------------------------------------------------------------------------


def register_update(page, *, name, inputs, example, master=False, refusals=None, **fields):
    """Register an update of one weight, whose inputs all have one shape; ``example`` holds required parameters."""
    shape, types = f"{page}/shape", f"{page}/types"
    broken = {"params": example, "shapes": {"weight": (2,), "grad": (3,)}}
    whole = {"params": example, "shapes": {"weight": (2, 3)}, "dtypes": {"weight": "int32"}}
    refused = {shape: broken, "updates/floating": whole, **(refusals or {})}
    if master:
        last = {inputs[-1]: "float64"}
        refused[types] = {"params": example, "shapes": {"weight": (2,)}, "dtypes": last}
        fields.setdefault("infer_type", master_types(types))
    fields["infer_type"] = floating(fields.get("infer_type", same_type))
    fields.setdefault("infer", same_shape(shape))
    fields.setdefault("mutates", inputs[2:])
    register(Op(
        name=name, inputs=inputs, aux=fields["mutates"], inplace=((0, 0),), refusals=refused,
        no_gradient_clause=f"{page}/gradient", **fields,
    ))


# --- many weights -------------------------------------------------------------------------------


class Numbered(tuple):
    """Names that stand for numbered names: "mom" for mom_0, mom_1 and so on."""

    __slots__ = ()

    def __contains__(self, name):
        """Whether ``name`` is one of these and a number."""
        return super().__contains__(name.rpartition("_")[0])


@dataclass(frozen=True, kw_only=True, eq=False)
class Many(Op):
    """An operator on any number of weights: ``group`` names the inputs of each, ``tail`` the inputs after them."""

    group: tuple[str, ...]
    tail: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    """Parameters that hold one number for each weight."""
    page: str

    def parse(self, attrs):
        """Parameters from Python values or strings; raises MXNetError."""
        p = super().parse(attrs)
        count = getattr(p, self.variadic)
        require(f"{self.page}/count", count > 0, f"{self.name}: {self.variadic} is {count}, expected 1 or more")
        for name in self.counts:
            given = len(getattr(p, name))
            what = f"{self.name}: {name} holds {given} numbers, {self.variadic} says {count}; give one for each weight"
            require(f"{self.page}/count", given == count, what)
        return p

    def input_names(self, p):
        """Names of the inputs: those of weight 0, of weight 1 and so on, and the tail."""
        count = getattr(p, self.variadic)
        return (*[f"{name}_{k}" for k in range(count) for name in self.group], *self.tail)


def parts(arrays, size, count):
    """The inputs of each weight, and the tail."""
    return [arrays[k * size : (k + 1) * size] for k in range(count)], arrays[size * count :]


def register_many(page, *, group, step, tail_shape=None, master=False, tail=(), **fields):
    """Register an update of many weights.

    ``step(p, k, *group, *tail, out)`` updates weight k. ``tail_shape(p)`` is the shape of the inputs in the tail,
    which are float32. Weights may differ in shape, not in type.
    """
    size, counter = len(group), fields["variadic"]

    def infer(p, ins, outs):
        count = getattr(p, counter)
        groups, last = parts(ins, size, count)
        what = "weight, gradient and states"
        shapes = [merge_all(f"{page}/shape", what, [*g, out]) for g, out in zip(groups, outs, strict=True)]
        rest = [merge(f"{page}/tail", name, given, tail_shape(p)) for name, given in zip(tail, last, strict=True)]
        return [shape for shape in shapes for _ in group] + rest, shapes

    def infer_type(p, ins, outs):
        groups, last = parts(ins, size, getattr(p, counter))
        plain = 2 if master else size
        common = [kind for g in groups for kind in g[:plain]]
        (kind, *_), outs = same_type(p, common, outs)
        states = all_single(f"{page}/types", [given for g in groups for given in g[plain:]])
        rest = all_single(f"{page}/types", last)
        return [*([kind] * plain + states[: size - plain]) * len(groups), *rest], outs

    def forward(p, arrays, *outs):
        groups, last = parts(arrays, size, len(outs))
        for k, (given, out) in enumerate(zip(groups, outs, strict=True)):
            step(p, k, *given, *last, out)

    def outputs(p):
        count = getattr(p, counter)
        return tuple(f"output{k}" for k in range(count)) if count > 1 else ("output",)

    states = Numbered(group[2:])
    places = () if tail else tuple((k * size, k) for k in range(IN_PLACE))
    register(Many(
        page=page, group=group, tail=tail, infer=infer, infer_type=floating(infer_type), forward=forward,
        outputs=outputs, mutates=states, aux=states, inplace=places, no_gradient_clause=f"{page}/gradient",
        reports=Sources(whole=True), **fields,
    ))
