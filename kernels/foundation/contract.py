"""The contract of an operator page: the record :class:`Op`, which all other parts of the project read.

A page registers an :class:`Op`. The imperative and symbolic functions, shape and type inference, the gradient pass,
documentation, the clause table, and the tests' valid calls are made from this record.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from .facts import ZeroWhen
from .facts import check as check_facts
from .params import NoParams, parse
from .refusal import MXNetError, refusal, require
from .shapes import same_type

Names = Sequence[str] | Callable[[Any], Sequence[str]]


class Case(NamedTuple):
    """A valid call, as a page's ``cases`` draws it.

    ``shapes`` gives the shapes of inputs by name (for variadic operators, a list under "args"); inputs
    left out are inferred. ``values`` restricts what an input may hold: "any" (default), "positive",
    "unit" (inside -1..1), "above_one", "apart" (no two elements equal or near a kink),
    ("labels", k) (whole numbers below k), ("ints", low, high), "ones_and_zeros". ``types`` names the element types
    of inputs that cannot have just any: without it the first input has the type that a law asks for.
    """

    params: dict[str, Any]
    shapes: dict[str, Any]
    values: dict[str, Any] = {}
    types: dict[str, str] = {}


@dataclass(frozen=True, kw_only=True, eq=False)
class Op:
    """Everything that a part of the project may ask about one operator."""

    name: str
    """Listed in ``mx.nd`` and ``mx.sym``, under ``_internal`` when it begins with an underscore."""
    doc: str
    forward: Callable
    """``forward(p, *inputs, *outputs)``: fills every output. An inactive optional input is None; a variadic
    operator gets one list of inputs. With ``mode`` it also gets ``is_train=``, with ``random`` ``rng=``."""
    infer: Callable
    """``infer(p, ins, outs) -> (ins, outs)`` over partial shapes of active inputs and all outputs."""
    params: Any = NoParams
    ignores_unknown: bool = False
    """Whether parameters of other names are kept by the graph and ignored, instead of refused."""
    inputs: Names = ("data",)
    """Names of active inputs: a tuple, or a function of the parameters."""
    all_inputs: tuple[str, ...] = ()
    """Every input the operator may have, in order; filled from ``inputs`` when that is a tuple."""
    variadic: str = ""
    """Name of the parameter that counts the inputs of an operator with any number of them (``num_args``)."""
    outputs: Names = ("output",)
    hidden: int = 0
    """How many of the last outputs are only for the gradient (masks, batch statistics)."""
    visible: Callable | None = None
    """``visible(p)``: number of outputs a user sees, where it depends on parameters."""
    aux: tuple[str, ...] = ()
    """Which inputs are auxiliary states."""
    infer_type: Callable = same_type
    """``infer_type(p, ins, outs) -> (ins, outs)`` over dtypes or None."""
    backward: Callable | None = None
    """``backward(p, *heads, *needs, *gradients)``: a gradient nobody wants is None. One head per visible
    output, none at all when ``loss``; ``needs`` in the order declared. Writes each wanted gradient whole."""
    needs: Names = ()
    """What ``backward`` reads: names of inputs and outputs."""
    gradient: Callable | None = None
    """``gradient(make, p, heads, inputs, outputs) -> entries`` composes the gradient from other operators;
    ``make(op_name, inputs, **attrs)`` returns a node's outputs. One entry (or None for zero) per active
    input. It stands instead of ``backward``, or beside it: then it is taken where the gradient is to be
    differentiated again."""
    no_gradient: tuple[str, ...] = ()
    """Inputs whose gradient is zero by definition (labels, indices)."""
    no_gradient_clause: str = "gradient/differentiable"
    """The clause that says why there is no gradient, where there is neither ``backward`` nor ``gradient``."""
    refuses_gradient: dict[str, str] = field(default_factory=dict)
    """Inputs whose gradient may not be asked for: name -> clause."""
    loss: bool | Callable[[Any], bool] = False
    """The gradient ignores head gradients; backward may start here without any. A function of the parameters
    where it depends on them."""
    partial: Callable | None = None
    """``partial(p)``: whether ``forward`` leaves in its outputs what it does not change. New ones begin as zeros."""
    mode: bool = False
    random: bool = False
    mutates: tuple[str, ...] = ()
    """Inputs that forward or backward updates in place."""
    inplace: tuple[tuple[int, int], ...] = ()
    """(input, output) pairs that may share memory in forward."""
    inplace_backward: tuple[tuple[str, str], ...] = ()
    """(read name, input name) pairs: the gradient of the input may overwrite that read ("head" is the
    first head gradient)."""
    view: bool = False
    """The output has the elements of the first input, in their order: it may be the same memory."""
    states: str = ""
    """Name of the parameter that states the output's shape: a symbol may leave sides of it unknown."""
    shape_only: tuple[str, ...] = ()
    """Inputs of which forward reads the shape, never the values."""
    shape_needs: Names = ()
    """Those of ``needs`` of which backward reads the shape, never the values: no memory is kept for them."""
    aliases: tuple[str, ...] = ()
    cases: Callable | None = None
    """``cases(draw) -> Case``; ``draw`` has integer(low, high), boolean(), choice(sequence),
    shape(min_rank, max_rank, max_side=4)."""
    refusals: dict[str, dict[str, Any]] = field(default_factory=dict)
    """clause -> a call that breaks it: {"params": {...}, "shapes": {...}, "dtypes": {...}}."""
    differentiable: bool = True
    """Whether numeric differentiation of forward must agree with the gradient (losses say no)."""
    initial_attrs: dict[str, str] = field(default_factory=dict)
    """input name -> ``__init__`` attribute given to a variable that is created for it."""

    tier: int = 0
    """1 for what networks, losses and optimizers of MXNet's 1.x stack are made of, 2 for what its special networks
    need, 3 for other parts of MXNet; 0 for what is no forward operator of MXNet's."""
    alias_tiers: dict[str, int] = field(default_factory=dict)
    """Aliases that are operators of their own in MXNet -> their tiers."""
    method: str = ""
    """The name, or alias, by which arrays and symbols have the operator as a method."""
    numbered_input: bool = False
    """Whether a monitor knows the only input by number: ``act_input0``, not ``act_data``."""
    reports: Callable | None = None
    """``reports(infer, p, ins, outs) -> (ins, outs)``: what MXNet infers of shapes that are known in part, where
    that is less than ``infer`` does."""
    type_of_data: bool = False
    """Whether MXNet's types follow from the first input and the outputs, without those of weights and labels."""
    keeps_zero: ZeroWhen | None = None
    """When zeros give zeros, so that the sparse form computes stored values only."""
    gradient_rows: str = ""
    """Where the gradient of a sparse input is zero: "head" in the rows where the head gradient is, "input" in those
    that the input does not store either, "none" everywhere. Empty where it may be anything."""
    row_updates: tuple[str, ...] = ()
    """Storages of weight and states of which an update changes the rows of a row_sparse gradient only."""
    keeps_rank: bool = False
    """Whether the first output has as many axes as the first input, so that one follows from the other."""
    elementwise: bool = False
    """Whether an element of the output is computed from one element of each input, which stands at its place when all
    inputs are stretched to the output's shape, as NumPy broadcasts."""
    color: str = ""
    """The colour of a layer in pictures of networks."""
    label: str = ""
    """What a picture writes into a layer, with parameters in braces; the node's name where it is empty."""
    runs_alone: dict[str, str] = field(default_factory=dict)
    """Loops that one CUDA thread runs alone -> why."""
    without_loops: str = ""
    """Why the operator has no loops of its own."""
    difference_clauses: dict[str, str] = field(default_factory=dict)
    """The kind of a difference between a layer here and elsewhere (`refimpl verify`) -> the clause of this page that
    decides it; "" for all other kinds. Without it that is the first clause about the operator."""

    takes_half: ClassVar[bool] = False
    """Whether forward and backward get float16 buffers as they are, not as float32 copies."""

    def own(self, p: Any, context: Any, inputs: Sequence[Any]) -> Any:
        """Parameters for one use: a node of one executor, or one call.

        Operators that keep values from forward for backward store them in this object.
        """
        del context, inputs
        return p

    def parse(self, attrs: dict[str, Any]) -> Any:
        """Parameters from Python values or strings; raises MXNetError."""
        return parse(self.name, self.params, attrs, self.ignores_unknown)

    def input_names(self, p: Any) -> tuple[str, ...]:
        """Names of the active inputs."""
        if self.variadic:
            count = getattr(p, self.variadic)
            stem = self.all_inputs[0] if self.all_inputs else "arg"
            return tuple(f"{stem}{i}" for i in range(count))
        return tuple(self.inputs(p) if callable(self.inputs) else self.inputs)

    def output_names(self, p: Any) -> tuple[str, ...]:
        """Names of all outputs, hidden ones last."""
        return tuple(self.outputs(p) if callable(self.outputs) else self.outputs)

    def visible_count(self, p: Any) -> int:
        """How many outputs a user sees."""
        if self.visible is not None:
            return self.visible(p)
        return len(self.output_names(p)) - self.hidden

    def need_names(self, p: Any) -> tuple[str, ...]:
        """What backward reads besides head gradients."""
        return tuple(self.needs(p) if callable(self.needs) else self.needs)

    def is_loss(self, p: Any) -> bool:
        """Whether the gradient ignores head gradients."""
        return self.loss(p) if callable(self.loss) else self.loss

    @property
    def has_gradient(self) -> bool:
        """Whether a gradient can be asked for at all."""
        return self.backward is not None or self.gradient is not None

    def full_inputs(self, p: Any, given: Sequence[Any]) -> list[Any]:
        """Arguments for ``forward``: declared inputs in order, None where inactive; a list if variadic."""
        if self.variadic:
            return [list(given)]
        if not callable(self.inputs):
            return list(given)
        by_name = dict(zip(self.input_names(p), given, strict=True))
        return [by_name.get(name) for name in self.all_inputs]


_TAKES_ANY = 0x04  # of a function's code: it has *args
REGISTRY: dict[str, Op] = {}
"""Every name and alias -> operator."""


def register(op: Op) -> Op:
    """Add an operator under its name and aliases; returns it, with ``all_inputs`` filled in."""
    if not op.all_inputs and not op.variadic:
        require("contract/all-inputs", not callable(op.inputs), f"{op.name}: give all_inputs")
        object.__setattr__(op, "all_inputs", tuple(op.inputs))  # type: ignore[arg-type]  # a tuple here
    for function, wanted, told in _expected_arguments(op):
        _check_arguments(op, function, wanted, told)
    check_facts(op)
    for name in (op.name, *op.aliases):
        if name in REGISTRY:
            other = REGISTRY[name]
            raise refusal(
                "contract/unique-name",
                f"operator {name} is registered twice: by {_page(other)} as {other.name}, and by {_page(op)}",
            )
        REGISTRY[name] = op
    return op


def _page(op: Op) -> str:
    """The file with an operator's text, or else the file of its forward."""
    pages = __package__.rpartition(".")[0]
    for name, module in list(sys.modules.items()):
        if op.doc and name.startswith(pages) and module.__doc__ == op.doc:
            return str(module.__file__)
    return str(op.forward.__code__.co_filename)


def _expected_arguments(op: Op) -> list[tuple[Any, int, str]]:
    """Functions of a page whose number of arguments its declarations fix: function, number, the arguments in words."""
    found = [(op.infer, 3, "p, ins, outs"), (op.infer_type, 3, "p, ins, outs")]
    outputs = None if callable(op.outputs) else len(op.outputs)
    inputs = 1 if op.variadic else len(op.all_inputs)
    if outputs is not None:
        found.append((op.forward, 1 + inputs + outputs, f"p, {inputs} for inputs, {outputs} for outputs"))
    if op.backward is not None and outputs is not None and op.visible is None and not callable(op.needs):
        heads, needs = outputs - op.hidden, len(op.needs)
        if not callable(op.loss) and not op.variadic:
            heads = 0 if op.loss else heads
            told = f"p, {heads} for heads, {needs} for needs={op.needs!r}, {inputs} for gradients"
            found.append((op.backward, 1 + heads + needs + inputs, told))
    return found


def _check_arguments(op: Op, function: Any, wanted: int, told: str) -> None:
    """Refuse a function of a page that cannot be called with ``wanted`` positional arguments."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_flags & _TAKES_ANY:
        return
    bound = 1 if getattr(function, "__self__", None) is not None else 0
    most = code.co_argcount - bound
    least = most - len(getattr(function, "__defaults__", None) or ())
    if not least <= wanted <= most:
        raise refusal(
            "contract/arguments",
            f"{op.name}: {function.__name__} takes {most} arguments, it is called with {wanted} ({told}):"
            f" {code.co_filename}:{code.co_firstlineno}",
        )


def get(name: str) -> Op:
    """Find an operator by name or alias.

    Raises:
        MXNetError: there is no such operator here.
    """
    try:
        return REGISTRY[name]
    except KeyError:
        raise refusal(
            "contract/known-operator",
            f"operator {name} is not implemented; `refimpl ops` lists those that are",
        ) from None


def distinct() -> list[Op]:
    """Every operator once, by name."""
    return [REGISTRY[name] for name in sorted(REGISTRY) if REGISTRY[name].name == name]


__all__ = [
    "REGISTRY", "Case", "MXNetError", "NoParams", "Op", "distinct", "get", "refusal",
    "register", "require",
]
