"""Run an operator on nested lists, as the worked examples on pages, interactive readers and the laws do.

    >>> from refimpl.kernels import run, grad
    >>> run("broadcast_add", [[1, 2]], [[10], [20]])
    [[11.0, 12.0], [21.0, 22.0]]
    >>> grad("broadcast_mul", [3.0], [5.0])
    ([5.0], [3.0])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import run as runner
from .buffer import Buffer, allocate, as_buffer
from .contract import Op, get
from .refusal import refusal
from .shapes import known


class Call:
    """One operator with parsed parameters and concrete arrays, ready to run on a device."""

    def __init__(
        self, name: str, arrays: Sequence[np.ndarray], params: dict[str, Any], device: str = "cpu"
    ) -> None:
        self.op: Op = get(name)
        self.device = device
        if self.op.variadic and self.op.variadic not in params:
            params = {**params, self.op.variadic: len(arrays)}
        self.p = self.op.parse(params)
        self.ins = [as_buffer(a, device) for a in arrays]
        self.out_names = self.op.output_names(self.p)
        unknown = [None] * len(self.out_names)
        _, shapes = self.op.infer(self.p, [a.shape for a in arrays], unknown)
        _, types = self.op.infer_type(self.p, [a.dtype for a in arrays], unknown)
        if not known(*shapes):
            raise refusal("harness/known-shapes", f"{name}: output shapes {shapes} are not known")
        self.shapes, self.types = shapes, types

    def forward(self, *, is_train: bool = False, rng: Any = None) -> list[np.ndarray]:
        """Run and return all outputs, hidden ones too."""
        self.outs = [
            allocate(s, np.dtype(t), self.device)
            for s, t in zip(self.shapes, self.types, strict=True)
        ]
        runner.forward(self.op, self.p, self.ins, self.outs, is_train=is_train, rng=rng)
        return [out.to_numpy() for out in self.outs]

    def backward(
        self, heads: Sequence[np.ndarray | None] | None = None, *, is_train: bool = True
    ) -> list[np.ndarray | None]:
        """Gradients per active input after :meth:`forward`; heads default to ones."""
        op, p = self.op, self.p
        visible = op.visible_count(p)
        given = list(heads) if heads is not None else [None] * visible
        head_buffers = []
        for out, head in zip(self.outs[:visible], given, strict=True):
            values = np.ones(out.shape) if head is None else head
            buffer = allocate(out.shape, out.dtype, self.device)
            buffer.fill_from(np.asarray(values))
            head_buffers.append(buffer)
        if not op.has_gradient:
            raise refusal("harness/gradient", f"{op.name} has no gradient")
        if op.backward is None:
            assert op.gradient is not None
            entries = op.gradient(self._make, p, head_buffers, self.ins, self.outs)
            return [None if e is None else e.to_numpy() for e in entries]
        names = [*op.input_names(p), *self.out_names]
        by_name = dict(zip(names, [*self.ins, *self.outs], strict=True))
        needs = [by_name.get(name) for name in op.need_names(p)]
        wanted: list[Buffer | None] = [
            None if n in op.refuses_gradient or n in op.aux or b.dtype.kind != "f"
            else allocate(b.shape, b.dtype, self.device)
            for n, b in zip(op.input_names(p), self.ins, strict=True)
        ]
        runner.backward(
            op, p, [] if op.is_loss(p) else head_buffers, needs, wanted, is_train=is_train
        )
        return [None if g is None else g.to_numpy() for g in wanted]

    def _make(self, name: str, inputs: Sequence[Buffer], **attrs: Any) -> list[Buffer]:
        """Run another operator eagerly, for gradients that are composed."""
        inner = Call(name, [b.to_numpy() for b in inputs], attrs, self.device)
        inner.forward()
        return inner.outs


def _arrays(values: Sequence[Any], dtype: Any) -> list[np.ndarray]:
    return [v if isinstance(v, np.ndarray) else np.array(v, dtype) for v in values]


def _lists(results: list[np.ndarray | None]) -> Any:
    lists = [None if r is None else np.round(r.astype(np.float64), 6).tolist() for r in results]
    return lists[0] if len(lists) == 1 else tuple(lists)


def _typed(name: str, dtype: Any, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The type of the inputs; an operator with a parameter ``dtype`` gets the given type there instead."""
    if dtype is not None and "dtype" in get(name).params._fields:
        return np.float32, {**params, "dtype": dtype}
    return np.float32 if dtype is None else dtype, params


def run(name: str, *inputs: Any, dtype: Any = None, is_train: bool = False, **params: Any) -> Any:
    """Run an operator on nested lists; one visible output as lists, several as a tuple of them."""
    dtype, params = _typed(name, dtype, params)
    call = Call(name, _arrays(inputs, dtype), params)
    return _lists(call.forward(is_train=is_train)[: call.op.visible_count(call.p)])  # type: ignore[arg-type]  # arrays only


def grad(
    name: str, *inputs: Any, head: Any = None, dtype: Any = None, is_train: bool = True,
    **params: Any,
) -> Any:
    """Gradients of an operator by input, for head gradient ``head`` (ones by default)."""
    dtype, params = _typed(name, dtype, params)
    call = Call(name, _arrays(inputs, dtype), params)
    call.forward(is_train=is_train)
    heads = None if head is None else _arrays([head], dtype)
    return _lists(call.backward(heads, is_train=is_train))
