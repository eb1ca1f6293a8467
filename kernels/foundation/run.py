"""Run one operator's forward or backward over buffers, after checking their shapes.

This file also fills in optional inputs, passes modes, and computes float16 in float32. Every operator on arrays runs
through it, except in whole graphs, where inference refuses the same shapes. Loops index by the inferred shapes, so
buffers of other shapes must never reach a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .buffer import Buffer, allocate
from .contract import Op
from .refusal import decides, refusal
from .shapes import MaybeShape, Shape, known

_HALF = np.dtype(np.float16)
_SINGLE = np.dtype(np.float32)
_PLANS: dict[Any, Plan] = {}
_CHECKED: set[Any] = set()  # keys of backward calls whose shapes fit
_LIMIT = 4096  # a cache with that many entries is emptied


class Plan(NamedTuple):
    """The facts about a call that depend only on its parameters and on shapes and types of inputs; computed once."""

    results: list[tuple[Shape, np.dtype]]
    """Shape and type of every output."""
    plain: bool
    """See :func:`is_plain`."""


def plan(op: Op, p: Any, ins: Sequence[Buffer], wanted: Sequence[MaybeShape] = ()) -> Plan:
    """Return the plan of a call on ``ins``; ``wanted`` gives the shapes of outputs where there are no inputs.

    Raises:
        MXNetError: [operator/input-shape] an input has another shape than the operator infers for it, or the page
            refuses the shapes or types, or a shape of an output stays unknown.
    """
    parts = [op, p]
    for buffer in ins:
        parts.append(buffer.shape)
        parts.append(buffer.flat.dtype)
    key = tuple(parts)
    found = _PLANS.get(key) if ins else None
    if found is None:
        found = _worked_out(op, p, ins, wanted)
        if len(_PLANS) >= _LIMIT:
            _PLANS.clear()
        _PLANS[key] = found
    return found


def _worked_out(op: Op, p: Any, ins: Sequence[Buffer], wanted: Sequence[MaybeShape]) -> Plan:
    names = op.output_names(p)
    unknown = [None] * len(names)
    outs = unknown if ins else [*wanted, *unknown[len(wanted) :]]
    shapes = inferred(op, p, [b.shape for b in ins], outs)[1]
    given = [b.flat.dtype for b in ins]
    _, types = op.infer_type(p, list(given), list(unknown))
    if not known(*shapes):
        raise refusal("nd/known-shape", f"{op.name}: the output shape is not known, give shape=")
    results = [
        (shape, np.dtype(kind) if kind is not None else _SINGLE) for shape, kind in zip(shapes, types, strict=True)
    ]
    return Plan(results, is_plain(op, [*given, *[kind for _, kind in results]], shapes))


def inferred(op: Op, p: Any, ins: Sequence[MaybeShape], outs: Sequence[MaybeShape]) -> tuple[list, list]:
    """Return shapes of inputs and outputs by the page's ``infer``; refuse a given shape that would change."""
    found = op.infer(p, list(ins), list(outs))
    for names, given, made in ((op.input_names, ins, found[0]), (op.output_names, outs, found[1])):
        for position, (shape, wanted) in enumerate(zip(given, made, strict=True)):
            if shape is not None and shape != wanted:
                raise refusal(
                    "operator/input-shape",
                    f"{op.name}: {names(p)[position]} has shape {list(shape)}, expected {wanted and list(wanted)}",
                )
    return found


def is_plain(op: Op, types: Sequence[np.dtype], written: Sequence[Shape]) -> bool:
    """Whether a page's function can be called as it is: no half precision, mode, random streams or empty results."""
    return not op.mode and is_direct(op, types, written)


def is_direct(op: Op, types: Sequence[np.dtype], written: Sequence[Shape]) -> bool:
    """Whether a page's function runs on the arrays themselves and draws no random numbers; it may read the mode."""
    return not (_HALF in types or op.random or _is_empty(op, written))


@decides("operator/empty")
def _is_empty(op: Op, shapes: Sequence[Shape]) -> bool:
    """Whether there is nothing to compute: no output has an element, and no input is updated in place."""
    return bool(shapes) and all(0 in shape for shape in shapes) and not op.mutates


def _widened(buffer: Buffer | None) -> Buffer | None:
    """A float32 copy of a float16 buffer; anything else as it is."""
    if buffer is None or buffer.flat.dtype != _HALF:
        return buffer
    wide = allocate(buffer.shape, _SINGLE, buffer.device)
    wide.fill_from(buffer.to_numpy())
    return wide


@decides("types/half")
def _through_single(call: Any, lists: Sequence[Sequence[Buffer | None]], written: Sequence[int]) -> None:
    """Run ``call`` on float32 copies of float16 buffers, then copy back the lists that it writes."""
    wide = [[_widened(buffer) for buffer in group] for group in lists]
    call(*wide)
    for index in written:
        for narrow, result in zip(lists[index], wide[index], strict=True):
            if narrow is not result and narrow is not None and result is not None:
                narrow.fill_from(result.to_numpy())


def _is_half(buffers: Sequence[Buffer | None]) -> bool:
    return _HALF in [buffer.flat.dtype for buffer in buffers if buffer is not None]


def forward(
    op: Op, p: Any, ins: Sequence[Buffer], outs: Sequence[Buffer], *, is_train: bool = False, rng: Any = None
) -> None:
    """Fill ``outs`` (all outputs, hidden ones too) from active inputs ``ins``.

    Raises:
        MXNetError: as :func:`plan`; or an output does not have the inferred shape.
    """
    results, plain = plan(op, p, ins, () if ins else [out.shape for out in outs])
    for position, (out, (shape, kind)) in enumerate(zip(outs, results, strict=True)):
        if out.shape != shape:
            name = op.output_names(p)[position]
            raise refusal(
                "operator/output-shape", f"{op.name}: {name} has shape {list(out.shape)}, expected {list(shape)}"
            )
        plain = plain and out.flat.dtype == kind
    if plain:
        op.forward(p, *op.full_inputs(p, ins), *outs)
    else:
        fill(op, p, ins, outs, is_train=is_train, rng=rng)


def fill(
    op: Op, p: Any, ins: Sequence[Buffer], outs: Sequence[Buffer], *, is_train: bool = False, rng: Any = None
) -> None:
    """:func:`forward` over buffers whose shapes have been checked before."""
    if _is_empty(op, [out.shape for out in outs]):
        return
    extra: dict[str, Any] = {"is_train": is_train} if op.mode else {}
    if op.random:
        extra["rng"] = rng
    if not op.takes_half and (_is_half(ins) or _is_half(outs)):
        _through_single(
            lambda a, b: op.forward(p, *op.full_inputs(p, a), *b, **extra), [ins, outs], (0, 1)
            if op.mutates else (1,),
        )
    else:
        op.forward(p, *op.full_inputs(p, ins), *outs, **extra)


def check_backward(
    op: Op, p: Any, heads: Sequence[Buffer], needs: Sequence[Buffer | None], grads: Sequence[Buffer | None]
) -> None:
    """Refuse a backward call whose arrays cannot come from one forward call.

    Raises:
        MXNetError: the shapes of two arrays, or a shape and inference, contradict each other.
    """
    key = (op, p, *[b and b.shape for b in (*heads, *needs, *grads)], len(heads))
    if key in _CHECKED:
        return
    names = (*op.input_names(p), *op.output_names(p))
    inputs = len(grads)
    told: dict[str, Shape] = {}
    found = [*zip(names, grads, strict=False), *zip(op.need_names(p), needs, strict=True)]
    found += zip(names[inputs:], heads, strict=False)
    for name, buffer in found:
        if buffer is not None and told.setdefault(name, buffer.shape) != buffer.shape:
            raise refusal(
                "operator/gradient-shape",
                f"{op.name}: {name} has shape {list(told[name])}, its gradient or kept value {list(buffer.shape)}",
            )
    given = [told.get(name) for name in names]
    inferred(op, p, given[:inputs], given[inputs:])
    if len(_CHECKED) >= _LIMIT:
        _CHECKED.clear()
    _CHECKED.add(key)


def backward(
    op: Op,
    p: Any,
    heads: Sequence[Buffer],
    needs: Sequence[Buffer | None],
    grads: Sequence[Buffer | None],
    *,
    is_train: bool = True,
) -> None:
    """Fill the wanted ``grads`` (one per active input, None where nobody asked), once :func:`check_backward` passed."""
    if _is_empty(op, [grad.shape for grad in grads if grad is not None]):
        return
    extra: dict[str, Any] = {"is_train": is_train} if op.mode else {}

    def call(h: list, n: list, g: list) -> None:
        assert op.backward is not None
        op.backward(p, *h, *n, *op.full_inputs(p, g), **extra)

    if not op.takes_half and (_is_half(heads) or _is_half(needs) or _is_half(grads)):
        _through_single(call, [heads, needs, grads], (1, 2) if op.mutates else (2,))
    else:
        call(list(heads), list(needs), list(grads))
