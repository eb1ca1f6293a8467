"""Ten lines make a function a backend: the program's graph and arrays come as arguments, its steps become calls.

    @forward_backend(operators=["relu", "elemwise_add"])
    def mine(symbol, args, aux, is_train):
        rules = {"relu": lambda p, x: np.maximum(x, 0), "elemwise_add": lambda p, a, b: a + b}
        return symbol.evaluate({**args, **aux}, lambda node, inputs: rules[node.op](node.p, *inputs))

    mine.run(program)  # a Backend
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...kernels.foundation import get
from ...op_registry.signatures import parsed
from ..drawing.choices import Capabilities
from ..judging.reference import Program, Trace
from ..programs.values import array_of
from .protocol import Refused, Unsupported

Arrays = dict[str, np.ndarray]


class Node(NamedTuple):
    """A variable or an operator in a graph."""

    op: str
    """The operator's name; "null" for a variable."""
    name: str
    inputs: tuple[tuple[int, int], ...]
    """Earlier nodes by their number, and which of their outputs."""
    attrs: dict[str, str]
    """Parameters as a symbol file writes them."""
    p: Any
    """Parameters with their defaults, a NamedTuple: ``p.num_hidden``. None for a variable."""


class Symbol(NamedTuple):
    """A graph: nodes in an order in which they can run."""

    nodes: tuple[Node, ...]
    heads: tuple[tuple[int, int], ...]
    arguments: tuple[str, ...]
    """Names of the variables that are no auxiliary states."""
    states: tuple[str, ...]

    def evaluate(self, values: dict[str, Any], rule: Callable[[Node, list[Any]], Any]) -> list[Any]:
        """Run the nodes in order.

        Args:
            values: the value of every variable, by name.
            rule: ``rule(node, inputs)``: the output of an operator, or a list or tuple of its visible outputs.

        Returns:
            the values of the heads.
        """
        made: list[Sequence[Any]] = []
        for node in self.nodes:
            if node.op == "null":
                made.append((values[node.name],))
                continue
            outputs = rule(node, [made[number][output] for number, output in node.inputs])
            made.append(outputs if isinstance(outputs, (list, tuple)) else (outputs,))
        return [made[number][output] for number, output in self.heads]


def symbol_of(program: Program) -> Symbol:
    """The graph of a program."""
    nodes: list[Node] = []
    states: set[str] = set()
    for node in program["nodes"]:
        inputs = tuple((number, output) for number, output in node.get("inputs", ()))
        attrs = node.get("attrs", {})
        p = None
        if node["op"] != "null":
            op = get(node["op"])
            p = parsed(op, attrs)
            if op.aux:
                named = zip(op.input_names(p), inputs, strict=True)
                states |= {nodes[entry[0]].name for name, entry in named if name in op.aux}
        nodes.append(Node(node["op"], node["name"], inputs, attrs, p))
    names = [node.name for node in nodes if node.op == "null"]
    return Symbol(
        tuple(nodes), tuple((number, output) for number, output in program["heads"]),
        tuple(n for n in names if n not in states), tuple(n for n in names if n in states),
    )


class _FromFunction:
    """A backend made of a function: runs the steps, and calls the function for each pass.

    ``capabilities`` limits the programs, ``function`` is the decorated function.
    """

    def __init__(self, function: Callable[..., Any], capabilities: Capabilities) -> None:
        self.function, self.capabilities = function, capabilities
        self.knows_mode = "is_train" in inspect.signature(function).parameters
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function that was decorated."""
        return self.function(*args, **kwargs)

    def run(self, program: Program) -> Trace:
        """See ``protocol.Backend.run``."""
        if not self.capabilities.offers(program["level"]):
            raise Unsupported(f"level {program['level']}; {self.__name__} does level {self.capabilities.level}")
        for node in program["nodes"]:
            if node["op"] != "null" and not self.capabilities.has(node["op"]):
                raise Unsupported(f"operator {node['op']}")
        session = _Session(self, program)
        trace: Trace = {}
        for number, step in enumerate(program["steps"]):
            options = {key: value for key, value in step.items() if key not in ("do", "attempt")}
            do = getattr(session, step["do"], None)
            if do is None:
                raise Unsupported(f"step {step['do']}")
            try:
                trace.update((f"{number}/{name}", np.asarray(value)) for name, value in do(**options))
            except (Unsupported, Refused):
                raise
            except Exception as error:
                told = (f"step {number} ({step['do']})", type(error).__name__, str(error))
                if step.get("attempt"):
                    trace[f"{number}/refused"] = np.array([1.0])
                    continue
                raise Refused(": ".join(told)) from error
        return trace


class _Session:
    """The arrays of a program while its steps run; methods have names of steps and yield arrays of the trace."""

    def __init__(self, backend: _FromFunction, program: Program) -> None:
        self.backend, self.program = backend, program
        self.symbol = symbol_of(program)
        self.arguments: Arrays = {}
        self.states: Arrays = {}
        self.gradients: Arrays = {}
        self.requirements: dict[str, str] = {}
        self.shown: list[Any] = []  # outputs of the last forward pass
        self.passed: tuple[Arrays, Arrays] | None = None  # arguments and states that the last forward pass read

    def bind(self, requirements: dict[str, str] | None = None, gradients: Arrays | None = None) -> Iterator[Any]:
        arrays = self.program["arrays"]
        self.arguments = {name: array_of(arrays[name]) for name in self.symbol.arguments}
        self.states = {name: array_of(arrays[name]) for name in self.symbol.states}
        self.requirements = {name: (requirements or {}).get(name, "null") for name in self.symbol.arguments}
        for name, requirement in self.requirements.items():
            if requirement != "null":
                like = self.arguments[name]
                given = (gradients or {}).get(name)
                self.gradients[name] = np.full_like(like, np.nan) if given is None else array_of(given)
        return iter(())

    def share(self) -> Iterator[Any]:
        self.passed = None
        return iter(())

    def reshape(self, arrays: dict[str, Any]) -> Iterator[Any]:
        for name, spec in arrays.items():
            self.arguments[name] = array_of(spec)
            if name in self.gradients:
                self.gradients[name] = np.zeros_like(self.arguments[name])
        self.passed = None
        return iter(())

    def forward(
        self, train: bool = False, arrays: dict[str, Any] | None = None, keywords: bool = False
    ) -> Iterator[tuple[str, Any]]:
        del keywords  # a function is given all arrays anyhow
        for name, spec in (arrays or {}).items():
            self.arguments[name] = array_of(spec)
        self.passed = (dict(self.arguments), dict(self.states))
        if self.backend.capabilities.level == 1:
            states = {name: state.copy() for name, state in self.states.items()}
            outputs = self.backend.function(self.symbol, _copied(self.arguments), states, train)
        else:
            null = dict.fromkeys(self.symbol.arguments, "null")
            outputs, _, states = self._pass({}, null, None, train)
        self.states = {name: np.asarray(states.get(name, self.states[name])) for name in self.states}
        self.shown = list(outputs)
        yield from self.outputs()
        yield from [(f"state:{name}", state) for name, state in self.states.items()]

    def seed(self, value: int) -> Iterator[Any]:
        np.random.seed(value)  # noqa: NPY002  # for functions that draw with NumPy's own stream
        return iter(())

    def outputs(self) -> Iterator[tuple[str, Any]]:
        yield from [(f"output{i}", output) for i, output in enumerate(self.shown)]

    def backward(self, heads: list[Any] | None = None, train: bool = True) -> Iterator[tuple[str, Any]]:
        if self.backend.capabilities.level == 1:
            raise Unsupported("a backward pass")
        if self.passed is None:
            raise Unsupported("a backward pass without a forward pass before")
        given = [None if heads is None or h is None else array_of(h) for h in heads or self.symbol.heads]
        _, gradients, states = self._pass(_copied(self.gradients), self.requirements, given, train)
        self.gradients = {name: np.asarray(gradients.get(name, old)) for name, old in self.gradients.items()}
        self.states = {name: np.asarray(states.get(name, self.states[name])) for name in self.states}
        yield from [(f"gradient:{name}", gradient) for name, gradient in self.gradients.items()]
        yield from [(f"state:{name}", state) for name, state in self.states.items()]

    def _pass(self, gradients: Arrays, requirements: dict[str, str], heads: Any, train: bool) -> tuple[Any, Any, Any]:
        assert self.passed is not None
        extra = {"is_train": train} if self.backend.knows_mode else {}
        if not extra and not train and any(n.p is not None and get(n.op).mode for n in self.symbol.nodes):
            raise Unsupported("prediction; let the function take is_train")
        arguments, states = (_copied(part) for part in self.passed)
        return self.backend.function(self.symbol, arguments, states, gradients, requirements, heads, **extra)


def _copied(arrays: Arrays) -> Arrays:
    return {name: array.copy() for name, array in arrays.items()}


def forward_backend(operators: Iterable[str], **capabilities: Any) -> Callable[[Callable[..., Any]], _FromFunction]:
    """Make a backend of level 1 of ``f(symbol, args, aux, is_train) -> list of outputs``.

    Args:
        operators: names of the supported operators.
        capabilities: other fields of :class:`Capabilities`.

    Returns:
        a decorator. ``symbol`` is a :class:`Symbol`; ``args`` and ``aux`` are dicts of NumPy arrays that ``f`` may
        change: those in ``aux`` are the auxiliary states afterwards. ``f`` raises Unsupported for operators that it
        lacks; any other exception is a refusal.
    """
    made = Capabilities(level=1, operators=frozenset(operators), **capabilities)
    return lambda function: _FromFunction(function, made)


def executor_backend(operators: Iterable[str], **capabilities: Any) -> Callable[[Callable[..., Any]], _FromFunction]:
    """Make a backend of level 2 of ``f(symbol, args, aux, grads_in, grad_req, head_grads) -> (outputs, grads, aux)``.

    Args:
        operators: names of the supported operators.
        capabilities: other fields of :class:`Capabilities`.

    Returns:
        a decorator. ``head_grads`` is None for a forward pass alone; otherwise a forward and a backward pass are
        requested, and it has an array for every head (None: a loss, or 1). ``grads_in`` holds the old content of the
        gradients whose ``grad_req`` is not "null"; the returned ``grads`` replaces it: with "add", the sum of
        both. A pass is in training mode unless ``f`` takes ``is_train`` too.
    """
    made = Capabilities(level=2, operators=frozenset(operators), **capabilities)
    return lambda function: _FromFunction(function, made)
