"""Run an operator the hard way: fresh copies, poisoned outputs, guarded memory."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...kernels.foundation import SLACK, Buffer, allocate, as_buffer, buffer
from ...kernels.foundation import run as runner
from ...kernels.foundation.harness import Call
from .draws import Example

NAN, OTHER = float("nan"), 77.0  # two poisons: what depends on neither was written
Arrays = list[np.ndarray]


class Guarded:
    """A buffer with ``SLACK`` poisoned elements on either side that nobody may write."""

    def __init__(self, shape: tuple[int, ...], dtype: Any, poison: float, device: str = "cpu") -> None:
        dtype = np.dtype(dtype)
        self._poison = dtype.type(poison if dtype.kind == "f" or not np.isnan(poison) else 99)
        size = int(np.prod(shape, dtype=int))
        self._memory = np.full(size + 2 * SLACK, self._poison, dtype)
        if device == "cpu":
            self.buffer = Buffer(self._memory[SLACK : SLACK + size], tuple(shape), device)
        else:
            self.buffer = as_buffer(self._memory[SLACK : SLACK + size].reshape(shape), device)

    def overrun(self) -> bool:
        """Whether something wrote outside the buffer."""
        clean = np.full(SLACK, self._poison).tobytes()
        return self._memory[:SLACK].tobytes() != clean or self._memory[-SLACK:].tobytes() != clean


class Trial:
    """One run of an example on a device: inputs copied in, outputs and gradients poisoned."""

    def __init__(
        self, of: Example, *, device: str = "cpu", is_train: bool = False, poison: float = NAN,
        out_types: Sequence[Any] | None = None,
    ) -> None:
        self.of, self.device, self.is_train, self.poison = of, device, is_train, poison
        op, p = of.op, of.p
        _, self.out_shapes = op.infer(
            p, [a.shape for a in of.arrays], [None] * len(op.output_names(p))
        )
        if out_types is None:
            _, out_types = op.infer_type(
                p, [a.dtype for a in of.arrays], [None] * len(self.out_shapes)
            )
        self.out_types = [np.dtype("float32" if t is None else t) for t in out_types]
        self.ins = [Guarded(a.shape, a.dtype, NAN, device) for a in of.arrays]
        for guarded, array in zip(self.ins, of.arrays, strict=True):
            guarded.buffer.fill_from(array)
        self.outs = [
            Guarded(s, t, poison, device)
            for s, t in zip(self.out_shapes, self.out_types, strict=True)
        ]
        self.grads: list[Guarded | None] = []
        self._random = random_stream(device) if op.random else None

    def forward(self) -> Arrays:
        """All outputs, hidden ones too."""
        _poison_scratch(self.poison)
        runner.forward(
            self.of.op, self.of.p, [g.buffer for g in self.ins], [g.buffer for g in self.outs],
            is_train=self.is_train, rng=self._random,
        )
        return [g.buffer.to_numpy() for g in self.outs]

    def may_overwrite(self, read: str, name: str) -> bool:
        """Whether the array that backward reads as ``read`` has the shape and type of input ``name``."""
        target = self.ins[self.of.names.index(name)].buffer
        arrays = dict(zip(self.of.op.output_names(self.of.p), self.outs, strict=True))
        arrays.update(zip(self.of.names, self.ins, strict=True))
        source = arrays.get(read, self.outs[0]).buffer  # a head is like the first output
        return source.shape == target.shape and source.dtype == target.dtype

    def backward(
        self, wanted: Sequence[bool] | None = None, overwriting: tuple[str, str] | None = None
    ) -> list[np.ndarray | None]:
        """Gradients of the wanted inputs (all by default) after :meth:`forward`; see ``heads``.

        With ``overwriting`` (read, input) the gradient of that input is written over that read.
        """
        op, p, device = self.of.op, self.of.p, self.device
        heads = self._head_buffers()
        ins = [g.buffer for g in self.ins]
        outs = [g.buffer for g in self.outs]
        _poison_scratch(self.poison)
        if op.backward is None:
            return self._by_gradient(heads, ins, outs)
        by_name = dict(zip([*self.of.names, *op.output_names(p)], [*ins, *outs], strict=True))
        needs = [by_name.get(name) for name in op.need_names(p)]
        can = gradient_inputs(self.of)
        self.grads = [
            Guarded(b.shape, b.dtype, self.poison, device)
            if c and (wanted is None or w) else None
            for b, c, w in zip(ins, can, wanted or can, strict=True)
        ]
        given = [None if g is None else g.buffer for g in self.grads]
        if overwriting is not None:
            read, name = overwriting
            given[self.of.names.index(name)] = heads[0] if read == "head" else by_name[read]
        runner.backward(op, p, [] if op.is_loss(p) else heads, needs, given, is_train=self.is_train)
        return [None if g is None else g.to_numpy() for g in given]

    def _head_buffers(self) -> list[Buffer]:
        heads = []
        for out, array in zip(self.outs[: self.of.op.visible_count(self.of.p)], self.heads(), strict=True):
            head = Guarded(out.buffer.shape, out.buffer.dtype, NAN, self.device)
            head.buffer.fill_from(array)
            heads.append(head.buffer)
        return heads

    def _by_gradient(
        self, heads: list[Buffer], ins: list[Buffer], outs: list[Buffer]
    ) -> list[np.ndarray | None]:
        """Gradients of an operator whose page writes them as calls of operators."""
        assert self.of.op.gradient is not None
        entries = self.of.op.gradient(self._make, self.of.p, heads, ins, outs)
        return [
            np.zeros(b.shape, b.dtype) if e is None else e.to_numpy() for b, e in zip(ins, entries, strict=True)
        ]

    def heads(self) -> Arrays:
        """The same dyadic head gradients in every trial of an example, one per visible output."""
        values = np.random.default_rng(7)
        count = self.of.op.visible_count(self.of.p)
        return [
            (values.integers(-8, 8, s, endpoint=True) / 4).astype(t)
            for s, t in zip(self.out_shapes[:count], self.out_types[:count], strict=True)
        ]

    def changed(self) -> list[str]:
        """Names of inputs whose values have changed."""
        return [
            name
            for name, guarded, array in zip(self.of.names, self.ins, self.of.arrays, strict=True)
            if guarded.buffer.to_numpy().tobytes() != array.tobytes()
        ]

    def overrun(self) -> bool:
        """Whether anything was written outside inputs, outputs or gradients."""
        return any(g is not None and g.overrun() for g in [*self.ins, *self.outs, *self.grads])

    def _make(self, name: str, inputs: Sequence[Buffer], **attrs: Any) -> list[Buffer]:
        """Run another operator, for gradients that are composed."""
        inner = Call(name, [b.to_numpy() for b in inputs], attrs, self.device)
        inner.forward(is_train=self.is_train)
        return inner.outs


def gradient_inputs(of: Example) -> list[bool]:
    """Which inputs may be asked for a gradient: floats that are no auxiliary states and not refused."""
    op = of.op
    return [
        name not in op.refuses_gradient and name not in op.aux and array.dtype.kind == "f"
        for name, array in zip(of.names, of.arrays, strict=True)
    ]


def has_gradient(of: Example) -> bool:
    """Whether backward can run at all."""
    return of.op.has_gradient and any(gradient_inputs(of))


def random_stream(device: str) -> Buffer:
    """Fresh generator states, as operators with ``random`` get them, always from the same seed."""
    streams = importlib.import_module("refimpl.kernels.shared.random_streams")
    state = allocate((streams.STATE_SIZE,), np.dtype(np.uint32), device)
    streams.seed_streams(state, 7)
    return state


def _poison_scratch(poison: float) -> None:
    """Fill this thread's working memory, so that reading it before writing shows."""
    for block in buffer._ARENA.blocks.values():  # no page may reach it
        if block.device == "cpu" and block.dtype.kind == "f":
            block.flat[:] = poison


def widened(of: Example) -> Example:
    """The same values with float16 inputs as float32."""
    arrays = [a.astype(np.float32) if a.dtype == np.float16 else a for a in of.arrays]
    return Example(of.op, of.p, of.params, arrays)


def out_types(of: Example) -> list[np.dtype]:
    """Types of all outputs of an example."""
    _, types = of.op.infer_type(
        of.p, [a.dtype for a in of.arrays], [None] * len(of.op.output_names(of.p))
    )
    return [np.dtype(t) for t in types]


__all__ = [
    "NAN", "OTHER", "Guarded", "Trial", "gradient_inputs", "has_gradient", "out_types",
    "widened",
]
