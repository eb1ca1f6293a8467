"""Level 5 for array libraries: optimizers written in a library's own operations, with the bookkeeping around them.

Multipliers, schedules, counts and saved states are plain Python here, after the chapters on optimizers and schedules;
a rule is its formula in the library's functions. Where the library has an optimizer that computes the same,
``Library.own`` gives it. Nothing is taken from ``refimpl.optimizer``, which the programs test.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ..drawing.choices import Capabilities
from ..judging.reference import Program, Trace
from ..programs.values import array_of
from .optimizer_rules import BASE_RATES, RULES, Step
from .protocol import Unsupported

MISSING = {
    "lars": "lengths of weights scale its rates by rules of MXNet's own",
    "lbsgd": "it keeps sums of gradients and has a warm-up of MXNet's own",
}
"""Rules that no array library's text is written for here, and why."""


LAZY = frozenset({"sgd", "adam", "adagrad", "groupadagrad"})
"""Rules that leave rows alone which a row_sparse gradient does not store; others take them for zeros."""
TOGETHER = {"sgd": 4, "ccsgd": 4}
"""Rules that count so many weights of one call before they ask for their rates."""


class Library(Protocol):
    """A library as rules need it: its functions under NumPy's names, conversions, and its own optimizers."""

    xp: Any

    def array(self, value: np.ndarray) -> Any:
        """An array of the library."""
        ...

    def numpy(self, value: Any) -> np.ndarray:
        """An array of NumPy."""
        ...

    def own(self, rule: str, given: dict[str, Any], life: Life) -> Callable[[Any, Any, float, float], Any] | None:
        """The library's optimizer for one weight, if it computes the same: ``step(weight, gradient, lr, wd)``.

        Args:
            rule: the name.
            given: parameters, with defaults.
            life: the program's use of it.
        """
        ...


class Life:
    """A program's use of its optimizer, which a library's own optimizer may not support."""

    def __init__(self, program: Program) -> None:
        steps = program["steps"]
        kinds = {step["do"] for step in steps}
        self.constant = "set_rate" not in kinds and not any(step.get("schedule") for step in steps)
        """Whether the learning rate stays as it is."""
        resumes = [step for step in steps if step["do"] == "resume"]
        self.resumed = any(not step.get("whole") or "device" in step for step in resumes)
        """Whether counts are lost on the way: they belong to a device."""
        self.sparse = any(step.get("rows") for step in steps)


class Schedule:
    """A learning rate by the number of updates. Rates that fall in steps do not rise again."""

    def __init__(self, kind: str, base_lr: float, own_rate: float | None, **options: Any) -> None:
        self.kind, self.options = kind, options
        self.warm, self.target, self.curve = options.get("warmup_steps", 0), base_lr, base_lr
        self.base = base_lr if own_rate is None else own_rate  # a rule's rate counts where a schedule looks at it later
        self.highest = 0

    def __call__(self, number: int) -> float:
        """The rate after so many updates."""
        options = self.options
        if number < self.warm:
            begin = options.get("warmup_begin_lr", 0.0)
            linear = options.get("warmup_mode", "linear") == "linear"
            return begin + (self.target - begin) * number / self.warm if linear else begin
        if self.kind in ("factor", "multifactor"):
            self.highest = max(self.highest, number)
            step = options["step"]
            if self.kind == "multifactor":
                return self.base * options["factor"] ** sum(self.highest > each for each in step)
            rate = self.base * options["factor"] ** (max(0, self.highest - 1) // step)
            return max(rate, options.get("stop_factor_lr", 1e-8))
        most, final = options["max_update"], options.get("final_lr", 0.0)
        if most < self.warm:
            return self.base
        done = (min(number, most) - self.warm) / (most - self.warm) if most > self.warm else 1.0
        share = (1 - done) ** options.get("pwr", 2) if self.kind == "poly" else (1 + math.cos(math.pi * done)) / 2
        return final + (self.curve - final) * share


class _Optimizing:
    """A program while its steps run; methods have the names of steps and return the arrays of the trace."""

    def __init__(self, program: Program, library: Library) -> None:
        self.library, self.life = library, Life(program)
        self.weights = {name: array_of(spec) for name, spec in program["arrays"].items()}
        self.factors: tuple[dict[Any, float], dict[Any, float]] = ({}, {})

    def create(
        self, optimizer: str, parameters: dict[str, Any] | None = None, schedule: dict[str, Any] | None = None,
        names: Any = (),
    ) -> Trace:
        if optimizer not in RULES:
            raise Unsupported(f"rule {optimizer}: {MISSING.get(optimizer, 'it is not written for this library')}")
        self.rule, (self.step, defaults) = optimizer, RULES[optimizer]
        self.given = {"rescale_grad": 1.0, "wd": 0.0, "clip_gradient": None, **defaults, **(parameters or {})}
        if self.given["clip_gradient"] is not None and self.given["clip_gradient"] <= 0:
            raise Unsupported("a clip_gradient that is not positive, which means something else to MXNet")
        self.names = dict(map(tuple, names))
        own_rate = (parameters or {}).get("learning_rate", BASE_RATES.get(optimizer))
        self.described = None if schedule is None else {
            "base_lr": 0.01, **schedule, "own_rate": None if optimizer == "ftrl" else own_rate,
        }
        self.device = 0
        self._start()
        return {}

    def _start(self) -> None:
        self.rate = self.given.get("learning_rate", BASE_RATES.get(self.rule, 0.01))
        if self.rule == "ftrl" and "learning_rate" not in self.given:
            self.rate = 0.1
        self.schedule = None if self.described is None else Schedule(**self.described)
        self.counts_on: dict[int, dict[Any, int]] = {}
        self.updates = 0
        self.states: dict[Any, Any] = {}
        self.masters: dict[Any, np.ndarray] = {}
        self.own: dict[Any, Any] = {}
        self._multiply()

    def multiply(self, rates: Any = (), decays: Any = ()) -> Trace:
        self.factors = (dict(map(tuple, rates)), dict(map(tuple, decays)))
        self._multiply()
        return {}

    def _multiply(self) -> None:
        still = {name: 0.0 for name in self.names.values() if not name.endswith(("_weight", "_gamma"))}
        self.rates, self.decays = self.factors[0], {**still, **self.factors[1]}

    def _factor(self, factors: dict[Any, float], index: Any) -> float:
        return factors.get(index, factors.get(self.names.get(index), 1.0))

    def learning_rate(self) -> float:
        """The rate before multipliers."""
        return self.rate if self.schedule is None else self.schedule(self.updates)

    def update(self, indices: list[Any], gradients: list[Any], rows: Any = None) -> Trace:
        if len({self.weights[str(index)].dtype for index in indices}) > 1:
            raise Unsupported("weights of several types in one call")
        size = TOGETHER.get(self.rule, 1)
        counts = self.counts_on.setdefault(self.device, {})
        work = list(zip(indices, gradients, rows or [None] * len(indices), strict=True))
        for start in range(0, len(work), size):
            for index, _, _ in work[start : start + size] if self.rule != "test" else ():
                counts[index] = counts.get(index, 0) + 1
                self.updates = max(self.updates, counts[index])
            rate = self.learning_rate()
            for index, spec, kept in work[start : start + size]:
                self._update(rate, counts.get(index, 0), index, array_of(spec), kept)
        return {f"weight:{index}": self.weights[str(index)].copy() for index in indices}

    def _update(self, rate: float, t: int, index: Any, gradient: np.ndarray, rows: list[int] | None) -> None:
        weight = self.weights[str(index)]
        if weight.dtype == np.float16 and not self.given.get("multi_precision"):
            raise Unsupported("states in float16")
        wide = self.masters.setdefault(index, weight.astype(np.float32)) if weight.dtype == np.float16 else weight
        gradient = gradient.astype(wide.dtype)
        if rows is not None and self.rule not in LAZY:
            gradient, rows = np.where(np.isin(np.arange(len(gradient)), rows)[:, None], gradient, 0), None
        lr = rate * self._factor(self.rates, index)
        wd = self.given["wd"] * self._factor(self.decays, index)
        make = self.library.array
        if index not in self.own:
            self.own[index] = self.library.own(self.rule, self.given, self.life)
        own = self.own[index]
        if own is not None:
            clipped = _prepared(self.library.xp, make(gradient), self.given)
            wide[...] = self.library.numpy(own(make(wide.copy()), clipped, lr, wd))
        else:
            state = self.states.setdefault(index, {})
            part: Any = ... if rows is None else rows
            inside = {name: make(np.array(value[part])) for name, value in state.items()}
            step = Step(self.library.xp, self.given, lr, wd, t, inside)
            new = self.step(step, make(np.array(wide[part])), make(np.array(gradient[part])))
            for name, value in step.state.items():
                if name not in state:
                    state[name] = step.before(name, np.array(wide), wide.shape)
                state[name][part] = self.library.numpy(value)
            wide[part] = self.library.numpy(new)
        weight[...] = wide

    def resume(self, whole: bool = False, device: int | None = None) -> Trace:
        self.device = self.device if device is None else device
        kept = pickle.dumps((self.states, self.masters, {key: own and own.kept() for key, own in self.own.items()}))
        if not whole:
            self._start()
        self.states, self.masters, owns = pickle.loads(kept)  # noqa: S301  # written above
        for key, state in owns.items():
            self.own[key] = self.library.own(self.rule, self.given, self.life)
            if self.own[key] is not None:
                self.own[key].restore(state)
        return {}

    def set_rate(self, value: float) -> Trace:
        self.rate = value
        return {}

    def read(self) -> Trace:
        return {"rate": np.array([self.learning_rate()]), "updates": np.array([float(self.updates)])}

    def ask(self, numbers: list[int]) -> Trace:
        if self.schedule is None:
            raise Unsupported("a question to a schedule that is not there")
        return {"rates": np.array([self.schedule(number) for number in numbers])}


def _prepared(xp: Any, gradient: Any, given: dict[str, Any]) -> Any:
    bound = given["clip_gradient"]
    scaled = gradient * given["rescale_grad"]
    return scaled if bound is None else xp.clip(scaled, -bound, bound)


class WithOptimizers:
    """A backend that runs programs of level 5 too.

    Args:
        graphs: the backend of the other levels.
        library: the library for level 5.
    """

    def __init__(self, graphs: Any, library: Library) -> None:
        self.graphs, self.library = graphs, library
        graphs_can: Capabilities = graphs.capabilities
        rules = frozenset(f"rule {name}" for name in RULES)
        self.capabilities = graphs_can._replace(others=(5,), operators=(graphs_can.operators or frozenset()) | rules)
        if hasattr(graphs, "run_many"):
            self.run_many, self.pack = self._run_many, graphs.pack

    def _run_many(self, programs: Sequence[Program]) -> list[Trace | Exception]:
        """The answers to some programs; those of level 5 one by one."""
        answers = iter(self.graphs.run_many([program for program in programs if program["level"] != 5]))
        return [self._answer(program) if program["level"] == 5 else next(answers) for program in programs]

    def _answer(self, program: Program) -> Trace | Exception:
        try:
            return self.run(program)
        except Unsupported as error:
            return error

    def run(self, program: Program) -> Trace:
        """See ``protocol.Backend.run``."""
        if program["level"] != 5:
            return self.graphs.run(program)
        session = _Optimizing(program, self.library)
        trace: Trace = {}
        for number, step in enumerate(program["steps"]):
            options = {key: value for key, value in step.items() if key not in ("do", "attempt")}
            found = getattr(session, step["do"])(**options)
            trace.update((f"{number}/{name}", value) for name, value in found.items())
        return trace
