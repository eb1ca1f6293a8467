"""The record of the one operator ``Custom``: everything it answers comes from the user's property class."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..base import DTYPE_FLAGS, decides, dtype_of, refusal, require
from ..context import Context, context_of, current_context
from ..kernels.foundation import Buffer, Op, allocate, merge, register
from ..kernels.foundation.params import is_hidden_key
from ..ndarray import NDArray, tape
from ..symbol.inference import read_shape
from .custom import CustomOp, find


@contextmanager
def users_code(where: str) -> Iterator[None]:
    """Run code of the user; whatever it raises becomes the cause of a refusal.

    Raises:
        MXNetError: the code raised something.
    """
    try:
        yield
    except Exception as error:  # any code may stand there, and raise anything
        raise refusal("Custom/user-error", f"Error in {where}: {type(error).__name__}: {error}") from error


class StateName(str):
    """Name of an auxiliary state."""

    __slots__ = ()


@decides("Custom/states")
class _States(tuple):
    """The auxiliary states of ``Custom``: which inputs they are differs from one property class to the next."""

    __slots__ = ()

    def __contains__(self, name: object) -> bool:
        return isinstance(name, StateName)


STATES = _States(("list_auxiliary_states",))


class CustomParams(NamedTuple):
    """``op_type`` names the registered property class, which gets all further parameters as strings."""

    op_type: str


class CustomUse:
    """One use of a custom operator: a property object and, once arrays are known, the object that computes.

    Like the parameters of any operator, it can be read as the values of ``_fields``.
    """

    _fields = CustomParams._fields
    runs_user_code = True

    def __init__(self, attrs: dict[str, Any]) -> None:
        given = {key: str(value) for key, value in attrs.items() if not is_hidden_key(key)}
        self.op_type = given.pop("op_type", "")
        require("Custom/op-type", self.op_type, "Required argument `op_type` is missing: Custom(..., op_type='name')")
        registered = find(self.op_type)
        with users_code(f"{self.op_type}.__init__"):
            self.prop = registered.prop(**given)
        self.arguments = self._names("list_arguments")
        self.outputs = self._names("list_outputs")
        self.states = tuple(StateName(name) for name in self._names("list_auxiliary_states"))
        self.inputs = (*self.arguments, *self.states)
        every = [*self.inputs, *self.outputs]
        require("Custom/names", len(set(every)) == len(every), f"{self.op_type}: two of the names {every} are equal")
        require("Custom/names", self.outputs, f"{self.op_type}: list_outputs names no output")
        self.reads = self._declared()
        self.context: Context | None = None
        self._made: CustomOp | None = None
        self._made_for: Any = None

    def __iter__(self) -> Iterator[str]:
        yield self.op_type

    def _names(self, method: str) -> tuple[str, ...]:
        with users_code(f"{self.op_type}.{method}"):
            return tuple(str(name) for name in getattr(self.prop, method)())

    def _declared(self) -> tuple[bool, tuple[str, ...]]:
        """Whether backward reads head gradients, and which inputs and outputs it reads."""
        heads = list(range(len(self.outputs)))
        arguments = list(range(len(heads), len(heads) + len(self.arguments)))
        outputs = list(range(arguments[-1] + 1 if arguments else len(heads), 2 * len(heads) + len(arguments)))
        named = dict(zip([*arguments, *outputs], [*self.arguments, *self.outputs], strict=True))
        with users_code(f"{self.op_type}.declare_backward_dependency"):
            wanted = {operator.index(n) for n in self.prop.declare_backward_dependency(heads, arguments, outputs)}
        unknown = sorted(wanted - set(heads) - set(named))
        require(
            "Custom/dependency", not unknown,
            f"{self.op_type}.declare_backward_dependency returned {unknown}, which it was not given",
        )
        return bool(wanted & set(heads)), (*[name for n, name in named.items() if n in wanted], *self.states)

    @decides("Custom/own-object")
    def own(self, context: Context, inputs: Sequence[Buffer]) -> CustomUse:
        """A copy for one node of one executor, or one call, with an object of its own that computes."""
        made = CustomUse.__new__(CustomUse)
        made.__dict__.update(self.__dict__)
        made.context, made._made, made._made_for = context, None, None
        made.computing([buffer.shape for buffer in inputs], [buffer.dtype for buffer in inputs], inputs[0:1])
        return made

    def place(self, buffers: Sequence[Buffer]) -> Context:
        """The context that the arrays are on."""
        if self.context is not None:
            return self.context
        here = current_context()
        device = buffers[0].device if buffers else here.memory
        return here if here.memory == device else context_of(device)

    @decides("Custom/created")
    def computing(self, shapes: list, types: list, buffers: Sequence[Buffer]) -> CustomOp:
        """The object that computes for inputs of these shapes and types; made anew when they change."""
        place = self.place(buffers)
        key = (place, tuple(shapes), tuple(types))
        if self._made is None or self._made_for != key:
            flags = [DTYPE_FLAGS[np.dtype(kind).name] for kind in types]
            with place, users_code(f"{self.op_type}.create_operator"):
                made = self.prop.create_operator(place, [list(shape) for shape in shapes], flags)
            require(
                "Custom/create", callable(getattr(made, "forward", None)) and callable(getattr(made, "backward", None)),
                f"{self.op_type}.create_operator returned {made!r}, expected a CustomOp",
            )
            self._made, self._made_for = made, key
        return self._made

    def lists(self, method: str, given: list) -> list:
        """What ``infer_shape`` or ``infer_type`` of the user answers, as one list over inputs and outputs."""
        where = f"{self.op_type}.{method}"
        with users_code(where):
            answer = [list(part) for part in getattr(self.prop, method)(given)]
        require("Custom/infer-lists", len(answer) in (2, 3), f"{where} must return 2 or 3 lists, got {len(answer)}")
        arguments, outputs, states = [*answer, []][:3]
        for found, names, what in (
            (arguments, self.arguments, "input"), (outputs, self.outputs, "output"), (states, self.states, "aux state"),
        ):
            require(
                "Custom/infer-lists", len(found) == len(names),
                f"{where}: expecting {len(names)} entries for {what}s {list(names)}, got {len(found)}",
            )
        return [*arguments, *states, *outputs]


def _shape(p: CustomUse, name: str, found: Any) -> tuple[int, ...] | None:
    with users_code(f"{p.op_type}.infer_shape, shape {found!r} of {name}"):
        sides = read_shape([operator.index(side) for side in found])
    return sides


def infer(p: CustomUse, ins: list, outs: list) -> tuple[list, list]:
    """Shapes by the user's ``infer_shape``: unknown ones are [] there, unknown sides -1."""
    given = [[int(side) for side in shape or ()] for shape in ins[: len(p.arguments)]]
    found = p.lists("infer_shape", given)
    names = [*p.inputs, *p.outputs]
    merged = [
        merge("Custom/shape", f"{p.op_type} {name}", known, _shape(p, name, shape))
        for name, known, shape in zip(names, [*ins, *outs], found, strict=True)
    ]
    return merged[: len(ins)], merged[len(ins) :]


def infer_type(p: CustomUse, ins: list, outs: list) -> tuple[list, list]:
    """Types by the user's ``infer_type``: scalar classes such as ``np.float32``, None where unknown."""
    given = [None if kind is None else np.dtype(kind).type for kind in ins[: len(p.arguments)]]
    merged = []
    for name, known, kind in zip([*p.inputs, *p.outputs], [*ins, *outs], p.lists("infer_type", given), strict=True):
        with users_code(f"{p.op_type}.infer_type, type {kind!r} of {name}"):
            found = None if kind is None else dtype_of(kind)
        require(
            "Custom/type", found is None or known is None or np.dtype(known) == found,
            f"{p.op_type}: the type of {name} is {known}, inferred {found}",
        )
        merged.append(known if found is None else found)
    return merged[: len(ins)], merged[len(ins) :]


@contextmanager
def _apart(context: Context, is_train: bool) -> Iterator[None]:
    """Arrays of the user's code go to ``context``, and what it computes stays off the tape."""
    state = tape.STATE
    before = state.recording, state.training
    state.recording, state.training = False, is_train
    try:
        with context:
            yield
    finally:
        state.recording, state.training = before


def _wrapped(buffers: Sequence[Buffer], context: Context, writable: bool) -> list[NDArray]:
    return [NDArray(buffer, context, writable) for buffer in buffers]


@decides("Custom/unwritten")
def forward(p: CustomUse, *buffers: Buffer, is_train: bool) -> None:
    """Run the user's ``forward`` on arrays over the same memory; what it leaves unwritten is zero."""
    count = len(p.inputs)
    ins, outs = buffers[:count], buffers[count:]
    computing = p.computing([b.shape for b in ins], [b.dtype for b in ins], buffers)
    context = p.place(buffers)
    for buffer in outs:
        buffer.fill(0)
    arguments = len(p.arguments)
    with _apart(context, is_train), users_code("CustomOp.forward"):
        computing.forward(
            is_train=is_train, req=["write"] * len(outs), in_data=_wrapped(ins[:arguments], context, False),
            out_data=_wrapped(outs, context, True), aux=_wrapped(ins[arguments:], context, True),
        )


@decides("Custom/null", "Custom/unwritten")
def backward(p: CustomUse, *buffers: Any, is_train: bool) -> None:
    """Run the user's ``backward``; a gradient that nobody wants gets memory of its own, and "null"."""
    reads_heads, names = p.reads
    head_count = len(p.outputs) if reads_heads else 0
    heads, rest = buffers[:head_count], buffers[head_count:]
    reads = dict(zip(names, rest, strict=False))
    wanted = rest[len(names) :][: len(p.arguments)]
    context = p.place([b for b in buffers if b is not None])
    require("Custom/forward-first", p._made_for is not None, f"{p.op_type}: backward comes after forward")
    _, shapes, types = p._made_for
    empty = allocate((0,), np.dtype(np.float32), context.memory)
    gradients = []
    for shape, kind, buffer in zip(shapes, types, wanted, strict=False):
        gradients.append(allocate(shape, kind, context.memory) if buffer is None else buffer)
        gradients[-1].fill(0)
    assert p._made is not None
    with _apart(context, is_train), users_code("CustomOp.backward"):
        p._made.backward(
            req=["null" if buffer is None else "write" for buffer in wanted],
            out_grad=_wrapped(heads or [empty] * len(p.outputs), context, False),
            in_data=_wrapped([reads.get(name, empty) for name in p.arguments], context, False),
            out_data=_wrapped([reads.get(name, empty) for name in p.outputs], context, False),
            in_grad=_wrapped(gradients, context, True),
            aux=_wrapped([reads[name] for name in p.states], context, True),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class CustomOperator(Op):
    """The record of ``Custom``: its parameters are free, and every use has parameters of its own."""

    takes_half: ClassVar[bool] = True
    """float16 arrays come to the user's code as they are."""

    def parse(self, attrs: dict[str, Any]) -> CustomUse:
        """The property object for these parameters.

        Raises:
            MXNetError: ``op_type`` is missing or not registered, or the user's class refuses.
        """
        return CustomUse(attrs)

    def own(self, p: CustomUse, context: Context, inputs: Sequence[Buffer]) -> CustomUse:
        """Parameters for one node of one executor, or one call."""
        return p.own(context, inputs)

    def full_inputs(self, p: CustomUse, given: Sequence[Any]) -> list[Any]:
        """All inputs are always there."""
        del p
        return list(given)


CUSTOM = register(CustomOperator(
    name="Custom",
    tier=1,
    label="{op_type}",
    without_loops="runs the user's Python",
    doc="An operator written in Python: ``op_type`` names a class registered with ``mx.operator.register``,"
    " which gets all further parameters as strings.",
    params=CustomParams,
    inputs=lambda p: p.inputs,
    all_inputs=("data",),
    outputs=lambda p: p.outputs,
    aux=STATES,
    mutates=STATES,
    infer=infer,
    infer_type=infer_type,
    forward=forward,
    backward=backward,
    needs=lambda p: p.reads[1],
    loss=lambda p: not p.reads[0],
    mode=True,
))
"""What ``mx.nd.Custom``, ``mx.sym.Custom``, executors and autograd run."""
