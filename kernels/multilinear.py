"""Operators that are linear in their inputs bring their second derivatives with them.

An operator f may be linear in each of several groups of inputs, such as dot in lhs and in rhs. Its gradient
towards group A for a head h is then linear in h and in the other groups B, and defined by
``<A', grad_A(h, B)> = <f(A', B), h>`` for every A'. So the gradient of that gradient needs no new code: for a
head A' it is ``f(A', B)`` towards h and ``grad_B(h, A')`` towards B. ``register_multilinear`` makes operators
with this rule out of a page's own ``backward``.

[multilinear/operators] _backward_NAME takes the head and all inputs of NAME, and gives the gradients of the
    inputs that NAME is linear in; an operator that is linear in several gets one each, _backward_NAME_INPUT.
    >>> run("_backward_sum", [10, 20], [[0, 0], [0, 0]], axis=0)
    [[10.0, 20.0], [10.0, 20.0]]
    >>> run("_backward_dot_lhs", [[1]], [[0, 0]], [[3], [4]]), run("_backward_dot_rhs", [[1]], [[1, 2]], [[0], [0]])
    ([[3.0, 4.0]], [[1.0], [2.0]])

[multilinear/gradient] towards the head it is NAME itself, towards any other input the gradient of NAME there.
    The input whose gradient is computed only lends its shape and gets none.
    >>> grad("_backward_sum", [10, 20], [[0, 0], [0, 0]], axis=0, head=[[1, 2], [3, 4]])
    ([4.0, 6.0], None)
    >>> grad("_backward_dot_lhs", [[2]], [[0, 0]], [[3], [4]], head=[[5, 6]])
    ([[39.0]], None, [[10.0], [12.0]])

[multilinear/shape] a gradient has the shape of its input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from .foundation import Case, Op, merge, register, run


def register_multilinear(op: Op, *groups: Sequence[str], bias_axis: int | None = None) -> Op:
    """Register ``op`` and its gradients as operators; ``groups`` name the inputs it is linear in.

    The inputs of one group enter as a sum. ``bias_axis`` is the axis along which an optional input ``bias`` is
    added.
    """
    names = [f"_backward_{op.name}" + (f"_{group[0]}" if len(groups) > 1 else "") for group in groups]

    def gradient(make: Callable, p: Any, heads: Any, inputs: Any, outputs: Any) -> list:
        active = dict(zip(op.input_names(p), inputs, strict=True))
        found = {}
        if "bias" in active:
            total = make("sum", heads, axis=bias_axis, exclude=True)
            (found["bias"],) = make("reshape_like", [*total, active.pop("bias")])  # a bias may have a side of 1
        for name, group in zip(names, groups, strict=True):
            parts = make(name, [heads[0], *active.values()], **_plain(p)._asdict())
            found.update(zip(group, parts, strict=True))
        return [found.get(name) for name in op.input_names(p)]

    made = register(replace(op, gradient=gradient))
    for name, group in zip(names, groups, strict=True):
        others = {n: g for n, g in zip(names, groups, strict=True) if n != name}
        _register_backward(made, name, group, others)
    return made


def register_once(op: Op, cases: Callable) -> Op:
    """Register ``_backward_NAME``: the gradient of ``op`` towards all inputs, which has no gradient itself."""
    return register(replace(_backward_operator(op, f"_backward_{op.name}", op.all_inputs), cases=cases))


def _plain(p: Any) -> Any:
    """The parameters without a bias, which is not multiplied with anything."""
    return p._replace(no_bias=True) if hasattr(p, "no_bias") else p


def _register_backward(op: Op, name: str, group: Sequence[str], others: dict[str, Sequence[str]]) -> None:
    def gradient(make: Callable, p: Any, heads: Any, inputs: Any, outputs: Any) -> list:
        attrs = _plain(p)._asdict()
        active = dict(zip(op.input_names(_plain(p)), inputs[1:], strict=True))
        active.update(zip(group, heads, strict=True))  # A' in the place of A
        found = {"head": make(op.name, list(active.values()), **attrs)[0]}
        for other, members in others.items():
            found.update(zip(members, make(other, [inputs[0], *active.values()], **attrs), strict=True))
        return [found.get(each) for each in ("head", *active)]

    made = _backward_operator(op, name, group)
    register(replace(made, gradient=gradient, differentiable=op.differentiable))


def _backward_operator(op: Op, name: str, group: Sequence[str]) -> Op:
    """An operator whose inputs are the head and all inputs of ``op``, whose outputs are gradients of ``group``."""

    def input_names(p: Any) -> tuple[str, ...]:
        return ("head", *op.input_names(_plain(p)))

    def infer(p: Any, ins: list, outs: list) -> tuple[list, list]:
        p = _plain(p)
        shapes = dict(zip(op.input_names(p), ins[1:], strict=True))
        for member, out in zip(group, outs, strict=True):
            shapes[member] = merge("multilinear/shape", f"gradient of {member}", out, shapes[member])
        found, (head,) = op.infer(p, list(shapes.values()), [ins[0]])
        shapes.update(zip(shapes, found, strict=True))
        return [head, *found], [shapes[member] for member in group]

    def infer_type(p: Any, ins: list, outs: list) -> tuple[list, list]:
        p = _plain(p)
        types = dict(zip(op.input_names(p), ins[1:], strict=True))
        for member, out in zip(group, outs, strict=True):
            types[member] = types[member] if types[member] is not None else out
        found, (head,) = op.infer_type(p, list(types.values()), [ins[0]])
        types.update(zip(types, found, strict=True))
        return [head, *found], [types[member] for member in group]

    def forward(p: Any, head: Any, *rest: Any) -> None:
        count = len(rest) - len(group)
        by_name = {n: b for n, b in zip(kept, rest[:count], strict=True) if b is not None}
        targets = dict(zip(group, rest[count:], strict=True))
        p = _plain(p)
        needs = [by_name.get(need) for need in op.need_names(p)]
        gradients = [targets.get(each) for each in op.input_names(p)]
        run.backward(op, p, [head], needs, gradients)

    def cases(draw: Any) -> Case:
        case = op.cases(draw)  # type: ignore[misc]  # every page has cases
        p = _plain(op.parse(case.params))
        names = op.input_names(p)
        shapes, (head,) = op.infer(p, [case.shapes.get(each) for each in names], [None])
        return case._replace(
            params=p._asdict(), shapes={"head": head, **dict(zip(names, shapes, strict=True))}
        )

    kept = [each for each in op.all_inputs if each != "bias"]
    return Op(
        name=name, doc=__doc__ or "", params=op.params, inputs=input_names, all_inputs=("head", *kept),
        outputs=tuple(f"d_{member}" for member in group), infer=infer, infer_type=infer_type, forward=forward,
        cases=cases, no_gradient=(*op.no_gradient, *op.refuses_gradient), differentiable=False,
    )
