"""What operators are asked again and again, remembered: how they read parameters, and their inputs and outputs."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..kernels.foundation import REGISTRY, Op

HEAD = "head"
"""How pages name a head gradient where they name what backward reads."""


_PARSED: dict[Any, Any] = {}
LIMIT = 4096
"""A memory that holds as many answers is emptied."""


def parsed(op: Op, attrs: dict[str, Any]) -> Any:
    """``op.parse(attrs)``, remembered: optimizers call with the same attributes on every step, networks repeat layers.

    Parameters that are no NamedTuple may change while they are used, and are read anew.
    """
    try:
        # 0.0 and -0.0 are one key of a dict, yet two numbers
        key = (op.name, *[(name, value or repr(value)) for name, value in attrs.items()])
        found = _PARSED.get(key)
    except (TypeError, ValueError):  # a list or an array among the values
        return op.parse(attrs)
    if found is None:
        found = op.parse(attrs)
        if isinstance(found, tuple):
            if len(_PARSED) >= LIMIT:
                _PARSED.clear()
            _PARSED[key] = found
    return found


class Signature(NamedTuple):
    """Names and counts of an operator's inputs and outputs."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    visible: int
    """Number of outputs a user sees; the hidden ones are last."""
    is_loss: bool
    heads: int
    """How many head gradients backward takes."""
    needs: tuple[str, ...]
    """What backward takes besides head gradients."""
    reads: tuple[str, ...]
    """What each input of a gradient node is: HEAD, or the name of an input or output of its primal."""
    places: tuple[int, ...]
    """Where those that are no heads stand among inputs and outputs."""
    inplace: tuple[tuple[int, int], ...]
    """(position of an input, index of an output) that may share memory."""
    inplace_backward: tuple[tuple[int, int], ...]
    """The same of a gradient node."""
    is_fixed: bool
    """Whether another call, with other parameters, has the same signature."""

    @staticmethod
    def of(op: Op, p: Any) -> Signature:
        """Ask the operator."""
        inputs, outputs, needs = op.input_names(p), op.output_names(p), op.need_names(p)
        visible, is_loss = op.visible_count(p), op.is_loss(p)
        heads = 0 if is_loss else visible
        place = {name: position for position, name in enumerate((*inputs, *outputs))}
        there = [name for name in needs if name in place]
        reads = (*[HEAD] * heads, *there)
        inplace = tuple((i, o) for i, o in op.inplace if i < len(inputs) and o < len(outputs))
        inplace_backward = tuple(
            (reads.index(read), inputs.index(name))
            for read, name in op.inplace_backward if read in reads and name in inputs
        )
        varying = (op.inputs, op.outputs, op.needs, op.visible, op.loss)
        is_fixed = type(op) is Op and not op.variadic and not any(map(callable, varying))
        return Signature(
            inputs, outputs, visible, is_loss, heads, needs, reads, tuple(place[name] for name in there), inplace,
            inplace_backward, is_fixed,
        )


_SIGNATURES: dict[Any, Signature] = {}
"""Of registered operators: by the operator where they depend on no parameter, else by (operator, parameters)."""


def signature(op: Op, p: Any) -> Signature:
    """The signature of an operator with parameters ``p``."""
    found = _SIGNATURES.get(op)
    if found is None and isinstance(p, tuple):
        found = _SIGNATURES.get((op, p))
    if found is None:
        found = Signature.of(op, p)
        if isinstance(p, tuple) and REGISTRY.get(op.name) is op:
            if len(_SIGNATURES) >= LIMIT:
                _SIGNATURES.clear()
            _SIGNATURES[op if found.is_fixed else (op, p)] = found
    return found
