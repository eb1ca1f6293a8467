"""Levels 1 and 2 for a library that differentiates: its adapter gives rules, and one function that runs a pass.

``runner(evaluate)`` returns ``run(wanted, fixed, heads) -> (outputs, slopes)``. ``evaluate`` computes the outputs of a
graph in the library's arrays, by the names of its variables. ``wanted`` are the variables whose gradients are asked
for, ``fixed`` the others. ``heads`` is None for a forward pass; else there is one head gradient for each output, of
which None stands for ones. ``slopes`` lacks the variables that no output depends on. All arrays are NumPy's.

Where a library compiles, :class:`Packed` gives it the graphs of many programs as one function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...base import decides
from ..drawing.choices import Capabilities
from ..judging.reference import Program, Trace
from .common import Rule
from .decorators import Arrays, Symbol, executor_backend
from .packs import run_in_packs
from .protocol import Unsupported

Heads = Sequence[np.ndarray | None]
Evaluate = Callable[[Mapping[str, Any]], list[Any]]
Answer = tuple[list[np.ndarray], Mapping[str, np.ndarray]]
Run = Callable[[Arrays, Arrays, Heads | None], Answer]
STYLES = ("dyadic", "smooth", "normal", "tied", "wide", "onehot")
"""Not "special": gradients at NaN are MXNet's own (unary/nan, Activation/relu-nan, clip/gradient)."""


class Pass(NamedTuple):
    """One pass of a program; see the module's text."""

    evaluate: Evaluate
    outputs: int
    """How many there are."""
    wanted: Arrays
    fixed: Arrays
    heads: Heads | None

    def form(self) -> Any:
        """What a compiled function depends on: passes of the same form are calls of one function."""
        parts = (self.wanted, self.fixed)
        sides = [(name, value.shape, value.dtype.str) for part in parts for name, value in part.items()]
        heads = None if self.heads is None else tuple(head is None for head in self.heads)
        return id(self.evaluate), tuple(sides), heads


def pass_backend(rules: Mapping[str, Rule], run_pass: Callable[[Pass], Answer], **capabilities: Any) -> Any:
    """A backend of level 2 of a function that runs passes.

    Args:
        rules: the operators: ``rule(p, *inputs)`` in the library's arrays; BatchNorm's takes ``train`` too.
        run_pass: the function.
        capabilities: other fields of :class:`Capabilities`.
    """
    last: list[Any] = [None, {}]  # a program's symbol and how to evaluate it: compiled functions are kept by these

    def evaluated(symbol: Symbol, train: bool | None, values: Mapping[str, Any]) -> list[Any]:
        def rule(node: Any, inputs: list[Any]) -> Any:
            return rules[node.op](node.p, *inputs, **({"train": train} if node.op == "BatchNorm" else {}))

        return symbol.evaluate(dict(values), rule)

    def run(
        symbol: Symbol, args: Arrays, aux: Arrays, grads_in: Arrays, grad_req: dict[str, str], head_grads: Any,
        is_train: bool,
    ) -> tuple[list[np.ndarray], Arrays, Arrays]:
        if last[0] is not symbol:
            last[:] = symbol, {}
        train = is_train if any(node.op == "BatchNorm" for node in symbol.nodes) else None
        evaluate = last[1].setdefault(train, partial(evaluated, symbol, train))
        values = {**args, **aux}
        wanted = {name: values.pop(name) for name in grads_in if values[name].dtype.kind == "f"}
        outputs, slopes = run_pass(Pass(evaluate, len(symbol.heads), wanted, values, head_grads))
        gradients = {}
        for name, old in grads_in.items():
            new = slopes.get(name)
            new = np.zeros_like(old) if new is None else new
            gradients[name] = old + new if grad_req[name] == "add" else new
        return outputs, gradients, aux

    return executor_backend(operators=rules, **capabilities)(run)


def alone(rules: Mapping[str, Rule], runner: Callable[[Evaluate], Run], **capabilities: Any) -> Any:
    """A backend that runs programs one by one; passes of one program share what ``runner`` returns."""
    last: list[Any] = [None, None]

    def run_pass(one: Pass) -> Answer:
        if last[0] is not one.evaluate:
            last[:] = one.evaluate, runner(one.evaluate)
        return last[1](one.wanted, one.fixed, one.heads)

    return pass_backend(rules, run_pass, **{"styles": STYLES, **capabilities})


class Packed:
    """A backend that compiles the passes of up to ``size`` programs as one function.

    Inputs of passes do not depend on results of earlier passes, so that all passes are known before the first runs.
    An error inside a pack is that of one program: halves of the pack run again, down to that program.

    Args:
        rules: see :func:`pass_backend`.
        runner: see the module's text.
        size: the number of programs in a pack.
        check: called with each pass alone; it raises where the library refuses without compiling.
        capabilities: other fields of :class:`Capabilities`.
    """

    def __init__(
        self, rules: Mapping[str, Rule], runner: Callable[[Evaluate], Run], size: int,
        check: Callable[[Pass], Any] = lambda one: None, **capabilities: Any,
    ) -> None:
        self.rules, self.runner, self.pack, self.check = rules, runner, size, check
        self.options = {"styles": STYLES, **capabilities}
        self.capabilities: Capabilities = pass_backend(rules, lambda one: ([], {}), **self.options).capabilities

    def run(self, program: Program) -> Trace:
        """See ``protocol.Backend.run``."""
        answer = self.run_many([program])[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    @decides("oracle/packs")
    def run_many(self, programs: Sequence[Program]) -> list[Trace | Exception]:
        """Run programs.

        Returns:
            for every program, in their order, its trace, or an exception that ``run`` would raise.
        """
        asked = [self._passes(program) for program in programs]
        passes = [one for each in asked for one in each if isinstance(one, Pass)]
        answers = iter(self._answers(passes))
        return [
            self._trace(program, iter([next(answers) if isinstance(one, Pass) else one for one in each]))
            for program, each in zip(programs, asked, strict=True)
        ]

    def _passes(self, program: Program) -> list[Pass | Exception]:
        """The passes of a program, and errors in the place of those that the library refuses."""
        passes: list[Pass | Exception] = []

        def note(one: Pass) -> Answer:
            try:
                self.check(one)
            except Exception as error:  # noqa: BLE001  # a refusal, raised again where the pass is answered
                passes.append(error)
            else:
                passes.append(one)
            return [], {}

        try:
            pass_backend(self.rules, note, **self.options).run(program)
        except Unsupported as error:
            return [error]
        return passes

    def _trace(self, program: Program, answers: Iterator[Answer | Exception]) -> Trace | Exception:
        def handed(_: Pass) -> Answer:
            answer = next(answers)
            if isinstance(answer, Exception):
                raise answer
            return answer

        try:
            return pass_backend(self.rules, handed, **self.options).run(program)
        except Exception as error:  # noqa: BLE001  # as ``run`` would raise it
            return error

    def _answers(self, passes: list[Pass]) -> list[Answer | Exception]:
        forms: dict[Any, list[int]] = {}
        for number, one in enumerate(passes):
            forms.setdefault(one.form(), []).append(number)
        found: dict[int, Answer | Exception] = {}
        for forward in (True, False):
            calls = [numbers for numbers in forms.values() if (passes[numbers[0]].heads is None) == forward]
            run_in_packs(
                calls, self.pack, lambda some: found.update(self._run(passes, some)),
                lambda numbers, error: found.update(dict.fromkeys(numbers, error)),
            )
        return [found[number] for number in range(len(passes))]

    def _run(self, passes: list[Pass], calls: Sequence[list[int]]) -> dict[int, Answer | Exception]:
        """Run some functions as one, each as often as it has passes."""
        found: dict[int, Answer | Exception] = {}
        run = self.runner(_merged([passes[numbers[0]].evaluate for numbers in calls]))
        for turn in range(max(map(len, calls))):
            chosen = [numbers[min(turn, len(numbers) - 1)] for numbers in calls]
            found.update(zip(chosen, _run_merged(run, [passes[number] for number in chosen]), strict=True))
        return found


def _merged(parts: list[Evaluate]) -> Evaluate:
    """The outputs of several graphs, one after the other; names of variables begin with the number of their graph."""
    def evaluate(values: Mapping[str, Any]) -> list[Any]:
        own: list[dict[str, Any]] = [{} for _ in parts]
        for name, value in values.items():
            number, _, rest = name.partition("/")
            own[int(number)][rest] = value
        return [out for part, mine in zip(parts, own, strict=True) for out in part(mine)]

    return evaluate


def _run_merged(run: Run, passes: list[Pass]) -> list[Answer]:
    """Run passes at once; returns the answer of each."""
    wanted, fixed = (
        {f"{number}/{name}": value for number, part in enumerate(parts) for name, value in part.items()}
        for parts in ([one.wanted for one in passes], [one.fixed for one in passes])
    )
    heads = None if passes[0].heads is None else [head for one in passes for head in one.heads or ()]
    outputs, slopes = run(wanted, fixed, heads)
    left = iter(outputs)
    answers: list[Answer] = []
    for number, one in enumerate(passes):
        own = {name: slopes[f"{number}/{name}"] for name in one.wanted if f"{number}/{name}" in slopes}
        answers.append(([next(left) for _ in range(one.outputs)], own))
    return answers
