"""Valid calls of one operator, as its page's ``cases`` draw them, with everything about their inputs known."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...kernels.foundation import Case, Op
from ...kernels.foundation.params import defaults
from ...op_registry.signatures import parsed
from .draws import Draw, Shape


class DrawnCall(NamedTuple):
    """An operator, its parameters, and descriptions of its inputs. Values are not drawn yet."""

    op: Op
    p: Any
    """The parsed parameters."""
    params: dict[str, Any]
    """The parameters as a caller gives them."""
    shapes: tuple[Shape, ...]
    """Of the inputs; sides may be 0."""
    out_shapes: tuple[Shape, ...]
    types: tuple[np.dtype, ...]
    """Of the inputs."""
    kinds: tuple[Any, ...]
    """Which values each input may have, see ``Case``."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the active inputs."""
        return self.op.input_names(self.p)


def drawn_call(op: Op, draw: Draw, dtype: Any = "float32", *, corners: bool = False) -> DrawnCall:
    """Draw a valid call.

    Args:
        op: the operator; its page gives ``cases``.
        draw: the source of choices.
        dtype: of the first input, and of others where it is free, unless the case names types.
        corners: whether one flag that the case leaves at its default may be set.

    Raises:
        MXNetError: the operator does not take ``dtype``, or refuses its own case.
    """
    assert op.cases is not None, f"{op.name}: its page draws no valid call; give cases=lambda draw: Case(...)"
    case: Case = op.cases(draw)
    params = dict(case.params)
    flags = [name for name in flags_of(op) if name not in params] if corners else []
    if flags and draw.one_in(5):
        flag = draw.choice(flags)
        params[flag] = not defaults(op.params)[flag]
    listed = case.shapes.get("args") if op.variadic else None
    if listed is not None:
        params.setdefault(op.variadic, len(listed))
    p = parsed(op, params)
    names = op.input_names(p)
    given = list(listed) if listed is not None else [case.shapes.get(n) for n in names]
    shapes, outs = op.infer(p, given, [None] * len(op.output_names(p)))
    types, _ = types_of(op, p, np.dtype(dtype), tuple(case.types.get(n) for n in names))
    kinds = tuple(case.values.get(n, case.values.get("args", "any")) for n in names)
    return DrawnCall(op, p, params, tuple(shapes), tuple(outs), types, kinds)


@cache
def flags_of(op: Op) -> tuple[str, ...]:
    """Names of the parameters that are true or false by default."""
    return tuple(name for name, default in defaults(op.params).items() if type(default) is bool)


@cache
def types_of(
    op: Op, p: Any, dtype: np.dtype, named: tuple[str | None, ...] = ()
) -> tuple[tuple[np.dtype, ...], tuple[np.dtype, ...]]:
    """Types of inputs and outputs of a call.

    Args:
        op: the operator.
        p: its parsed parameters.
        dtype: of the first input unless a type is named, and of others where it is free.
        named: the type of each input that must have one, or None; nothing is named by default.

    Raises:
        MXNetError: the operator does not take these.
    """
    ins: list[Any] = [None if n is None else np.dtype(n) for n in named] or [None] * len(op.input_names(p))
    outs: list[Any] = [None] * len(op.output_names(p))
    if ins and not any(named):
        ins[0] = dtype
    ins, _ = op.infer_type(p, ins, outs)
    ins, outs = op.infer_type(p, [dtype if t is None else t for t in ins], outs)
    return tuple(np.dtype(t) for t in ins), tuple(np.dtype(np.float32 if t is None else t) for t in outs)
