"""Every engine of ONNX models as a backend of level 1: a program becomes a model, which the engine compiles and runs.

    backend = on("onnxruntime", optimize="none")
    backend = on("mine:Engine")  # see ``engines`` for what an engine is

The rules are those by which ``refimpl export`` writes files (``refimpl.onnx.rule_table``). Every model has passed
ONNX's own checker, so that an engine that refuses it refuses a valid model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import helper
from onnx.shape_inference import InferenceError

from ...base import MXNetError, decides
from ...kernels.foundation import get
from ...onnx.building import OPSET, Builder, Made, NoForm
from ...onnx.converting import NEWEST
from ...onnx.rule_table import RULES
from ...onnx.writing import nodes_of
from ..drawing.choices import Capabilities
from ..drawing.drawn_graphs import SOMETIMES_RANDOM
from ..engines import Engine, engine_of
from ..judging.reference import Program, Trace
from ..programs.values import DTYPES
from .decorators import Arrays, Node, Symbol, forward_backend
from .describing import described
from .onnx_differences import DIFFERENCES
from .packs import run_in_packs
from .protocol import Refused, Unsupported

STYLES = ("dyadic", "smooth", "normal", "tied", "wide", "onehot")
"""Not "special": MXNet's results at NaN and infinities are its own (Activation/relu-nan, reduce/nan)."""
OPERATORS = frozenset(name for name in RULES if name in SOMETIMES_RANDOM or not get(name).random)
DOUBLE = np.dtype(np.float64)
UNIFORM = "has unsupported type"
"""How ONNX's checker says that an operator does not take a type."""

Answer = Trace | Exception


class Part(NamedTuple):
    """A forward pass as a part of a model."""

    builder: Builder
    inputs: Arrays
    """The inputs of the model, by their names."""
    outputs: list[tuple[str, tuple[int, ...], np.dtype]]


class Value(NamedTuple):
    """A tensor of a graph that grows."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype


class Call(NamedTuple):
    """A forward pass that a program asks for."""

    symbol: Symbol
    values: Arrays
    train: bool


# --- a forward pass as nodes of ONNX -------------------------------------------------------------------------


@decides("oracle/onnx-opset")
def part_of(call: Call, opset: int, *, weights: str = "constant") -> Part:
    """The nodes of a forward pass.

    Args:
        call: the forward pass.
        opset: the version of ONNX's operators.
        weights: whether variables that no operator reads as its first input are constants of the model ("constant"),
            as weights are, or inputs as the others are ("input").

    Raises:
        Unsupported: ONNX has no form for it.
    """
    builder, symbol = Builder(opset), call.symbol
    values = {n: Value(builder.named(f"v_{n}"), array.shape, array.dtype) for n, array in call.values.items()}
    heads = symbol.evaluate(values, lambda node, inputs: _ruled(builder, node, inputs, train=call.train))
    held = _weights(symbol) if weights == "constant" else set()
    builder.constants |= {values[name].name: call.values[name] for name in held}
    given = {values[name].name: array for name, array in call.values.items() if name not in held}
    made = {name for node in builder.nodes for name in node.outputs}
    outputs: list[tuple[str, tuple[int, ...], np.dtype]] = []
    for head in heads:  # a head may be a variable, or asked for twice
        name = head.name if head.name in made else builder.add("Identity", head.name)
        made.discard(name)
        outputs.append((name, head.shape, head.dtype))
    return Part(builder, given, outputs)


@decides("oracle/onnx-weights")
def _weights(symbol: Symbol) -> set[str]:
    """Variables that some operators read, and none as its first input."""
    first = {node.inputs[0][0] for node in symbol.nodes if node.inputs}
    later = {number for node in symbol.nodes for number, _ in node.inputs[1:]}
    return {symbol.nodes[number].name for number in later - first if symbol.nodes[number].op == "null"}


@decides("oracle/onnx-types")
def _ruled(builder: Builder, node: Node, inputs: Sequence[Value], *, train: bool) -> list[Value]:
    """The visible outputs of an operator."""
    op = get(node.op)
    types, shapes = [value.dtype for value in inputs], [value.shape for value in inputs]
    for row in DIFFERENCES:
        if row.covers(node.op, node.p, types):
            raise Unsupported(f"{node.op}: {row.reason}")
    if train and _trains(node) and not getattr(node.p, "use_global_stats", False):
        raise Unsupported(f"{node.op} in training: an ONNX model predicts")
    unknown, count = [None] * len(op.output_names(node.p)), op.visible_count(node.p)
    outs = op.infer(node.p, list(shapes), list(unknown))[1][:count]
    if None in outs:
        raise Unsupported(f"{node.op}: nothing tells its shape")
    builder.outs = [tuple(shape) for shape in outs]
    kinds = op.infer_type(node.p, list(types), list(unknown))[1][:count]
    kinds = [np.dtype(kind or np.float32) for kind in kinds]
    builder.sources, builder.types, first = types, kinds, len(builder.nodes)
    try:
        made = RULES[node.op](builder, node.p, shapes, *[value.name for value in inputs])
    except NoForm as error:
        raise Unsupported(f"{error} has no form in ONNX {builder.opset}") from error
    if DOUBLE in types:
        _require_single(builder.nodes[first:])
    names = [made] if isinstance(made, str) else made[:count]
    return [Value(*each) for each in zip(names, builder.outs, kinds, strict=True)]


def _require_single(nodes: Sequence[Made]) -> None:
    """Require that single precision holds all attributes: ONNX's have no more, MXNet's parameters have double."""
    for node in nodes:
        for key, value in node.attributes.items():
            if isinstance(value, float) and float(np.float32(value)) != value:
                raise Unsupported(f"float64 with an attribute of {node.op}, which single precision rounds: {key}")


def _trains(node: Node) -> bool:
    """Whether an operator computes something else in training than in a prediction."""
    return bool(get(node.op).aux) or (node.op in SOMETIMES_RANDOM and SOMETIMES_RANDOM[node.op](node.p))


# --- parts as a model ------------------------------------------------------------------------------------------


@decides("oracle/onnx-rules")
def model_of(parts: Sequence[Part]) -> bytes:
    """A model with the inputs and the outputs of all parts, side by side; their names begin with the part's number.

    Raises:
        Unsupported: ONNX's operators do not take the types.
        onnx.checker.ValidationError: a rule of this package made what is no valid model.
    """
    nodes: list[Any] = []
    constants: list[Any] = []
    ins, outs = [], []
    for number, part in enumerate(parts):
        head = f"p{number}_"
        made, held = nodes_of(part.builder)
        for node in made:
            node.input[:] = [name and head + name for name in node.input]
            node.output[:] = [head + name for name in node.output]
            node.name = head + node.name
        for each in held:
            each.name = head + each.name
        nodes, constants = nodes + made, constants + held
        ins += [_described(head + name, array.shape, array.dtype) for name, array in part.inputs.items()]
        outs += [_described(head + name, shape, dtype) for name, shape, dtype in part.outputs]
    opset = helper.make_opsetid("", parts[0].builder.opset)
    version = helper.find_min_ir_version_for([opset])
    graph = helper.make_graph(nodes, "program", ins, outs, constants)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=version).SerializeToString()
    try:
        onnx.checker.check_model(model, full_check=True)
    except InferenceError as error:
        if UNIFORM in str(error):
            raise Unsupported(f"ONNX: {error}") from error
        raise
    return model  # type: ignore[no-any-return]  # bytes


def _described(name: str, shape: Sequence[int], dtype: np.dtype) -> Any:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), list(shape))


def given_to(parts: Sequence[Part]) -> Arrays:
    """The inputs of the model that :func:`model_of` makes of some parts."""
    return {f"p{number}_{name}": array for number, part in enumerate(parts) for name, array in part.inputs.items()}


# --- the backend -------------------------------------------------------------------------------------------------


class OnnxBackend:
    """A backend that hands programs to an engine as ONNX models; :func:`on` makes it."""

    def __init__(
        self, engine: Engine, capabilities: Capabilities, *, opset: int, weights: str = "constant", pack: int = 1
    ) -> None:
        self.engine, self.capabilities, self.pack = engine, capabilities, pack
        left_out = [name for row in DIFFERENCES for name in row.names()]
        self.leaves_out = (*left_out, *getattr(engine, "leaves_out", ()))
        if hasattr(engine, "declares"):  # its arithmetic
            self.declares = engine.declares
        self.part_of = partial(part_of, opset=opset, weights=weights)

    def run(self, program: Program) -> Trace:
        """See ``protocol.Backend.run``."""
        answer = self._alone(program)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def model(self, program: Program) -> bytes:
        """The ONNX model of a program with one forward pass, for a report to the engine's authors."""
        return model_of([self.part_of(call) for call in _calls(self.capabilities, program)])

    def _alone(self, program: Program) -> Answer:
        outcomes: list[Any] = []
        try:
            for call in _calls(self.capabilities, program):
                part = self.part_of(call)
                outcomes.append(self._outcome([part], model_of([part])))
        except (Unsupported, Refused) as error:
            return error
        except MXNetError as error:  # the operator's own page refuses it, too
            return Refused(str(error))
        return _traced(self.capabilities, program, iter(outcomes))

    def _outcome(self, parts: Sequence[Part], model: bytes) -> list[np.ndarray] | Exception:
        """The outputs of all parts; or what the engine raised."""
        try:
            found = [np.asarray(value) for value in self.engine.load(model)(given_to(parts))]
        except Exception as error:  # noqa: BLE001  # an engine may raise anything
            return error
        wanted = sum(len(part.outputs) for part in parts)
        return found if len(found) == wanted else RuntimeError(f"the engine gave {len(found)} of {wanted} outputs")


class PackedOnnxBackend(OnnxBackend):
    """An ONNX backend that hands over several programs as one model, because compiling a model takes long."""

    @decides("oracle/onnx-packed")
    def run_many(self, programs: Sequence[Program]) -> list[Answer]:
        """The answer to each program: its trace, or the exception that ``run`` would raise.

        A model that the engine refuses is halved until each refusal belongs to one program.
        """
        answers: dict[int, Answer] = {}
        ready: list[tuple[int, Program, list[Part]]] = []
        for number, program in enumerate(programs):
            try:
                parts = [self.part_of(call) for call in _calls(self.capabilities, program)]
                for part in parts:
                    model_of([part])
            except (Unsupported, Refused, MXNetError):
                answers[number] = self._alone(program)
            else:
                ready.append((number, program, parts))
        def failed(_: Any, error: Exception) -> None:
            raise error  # a fault of this backend: alone, a program has an answer

        run_in_packs(ready, self.pack, lambda some: answers.update(self._answers(some)), failed)
        return [answers[number] for number in range(len(programs))]

    def _answers(self, ready: Sequence[tuple[int, Program, list[Part]]]) -> dict[int, Answer]:
        if len(ready) == 1:
            return {ready[0][0]: self._alone(ready[0][1])}
        every = [part for _, _, parts in ready for part in parts]
        found = self._outcome(every, model_of(every))
        if isinstance(found, Exception):
            raise found
        outputs = iter(found)
        answers = {}
        for number, program, parts in ready:
            outcomes = [[next(outputs) for _ in part.outputs] for part in parts]
            answers[number] = _traced(self.capabilities, program, iter(outcomes))
        return answers


def _calls(capabilities: Capabilities, program: Program) -> list[Call]:
    """The forward passes that the steps of a program ask for."""
    calls = []

    def noted(symbol: Symbol, args: Arrays, aux: Arrays, is_train: bool) -> list[np.ndarray]:
        calls.append(Call(symbol, {**args, **aux}, is_train))
        return [np.zeros(())] * len(symbol.heads)

    _steps(noted, capabilities).run(program)
    return calls


def _traced(capabilities: Capabilities, program: Program, outcomes: Iterator[Any]) -> Answer:
    """The trace of a program whose forward passes have known outcomes, outputs or exceptions."""
    def looked_up(symbol: Symbol, args: Arrays, aux: Arrays, is_train: bool) -> list[np.ndarray]:
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome  # type: ignore[no-any-return]  # arrays

    try:
        return _steps(looked_up, capabilities).run(program)
    except (Unsupported, Refused) as error:
        return error


def _steps(function: Callable[..., list[np.ndarray]], capabilities: Capabilities) -> Any:
    options = capabilities._asdict()
    del options["level"]
    return forward_backend(**options)(function)


def on(
    engine: Any = "onnxruntime", *, opset: int | None = None, dtypes: Sequence[str] | None = None,
    weights: str = "constant", pack: int | None = None, **options: Any,
) -> OnnxBackend:
    """A backend of level 1 that hands ONNX models to an engine.

    Args:
        engine: the name of an engine, such as "onnxruntime" or "reference", see ``engines.names()``; or
            ``package.module:Name`` of another one; or an engine itself.
        opset: the version of ONNX's operators, 17 or later; the newest one that the engine reads by default.
        dtypes: element types of programs; by default those that the engine names, else all.
        weights: "constant" to make variables that no operator reads as its first input constants of the model, as
            weights are; "input" to make them inputs.
        pack: how many programs are one model; the engine's own number by default.
        options: arguments of the engine's class: ``optimize="none"``.

    Raises:
        ValueError: there is no such engine, or an argument is out of range.
    """
    found = engine_of(engine, **options)
    chosen = min(found.opset, NEWEST) if opset is None else opset
    if not OPSET <= chosen <= NEWEST:
        raise ValueError(f"ONNX's operators are written in versions {OPSET} to {NEWEST}, not {chosen}")
    if weights not in ("constant", "input"):
        raise ValueError(f"weights are constant or input, not {weights!r}")
    known = getattr(found, "dtypes", DTYPES) if dtypes is None else dtypes
    capabilities = Capabilities(
        level=1, operators=OPERATORS, styles=STYLES, dtypes=tuple(each for each in DTYPES if each in known)
    )
    count = getattr(found, "pack", 1) if pack is None else pack
    kind = PackedOnnxBackend if count > 1 else OnnxBackend
    made = kind(found, capabilities, opset=chosen, weights=weights, pack=count)
    told = "".join(f", {key} {value}" for key, value in {"opset": chosen, "weights": weights, **options}.items())
    return described(made, f"{found.name} {found.version}{told}")


__all__ = ["OPERATORS", "OnnxBackend", "PackedOnnxBackend", "on"]
