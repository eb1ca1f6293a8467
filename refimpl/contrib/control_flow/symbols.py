"""mx.sym.contrib.foreach, while_loop and cond: the user's functions are called once, and what they make is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...base import decides, refusal
from ...ndarray.nesting import nest, to_scalar
from ...symbol import contrib
from ...symbol.inference import key_of
from ...symbol.ir import Entry
from ...symbol.symbol import Symbol
from .capture import Captured, attach, capture, flat_symbols
from .cond import COND
from .foreach import FOREACH
from .while_loop import WHILE_LOOP


@decides("control-flow/foreach")
def foreach(body: Callable, data: Any, init_states: Any, name: str = "foreach") -> tuple[Any, Any]:
    """A node that runs ``outputs, states = body(row, states)`` for each row along the first axis of ``data``.

    The outputs are symbols or nested lists of symbols. Returns the stacked outputs and the last states.

    Args:
        body: called once, with variables: ``(row, states) -> (outputs, states)``.
        data: a symbol or nested lists of symbols, of one number of rows.
        init_states: the states of the first step, likewise.
        name: what the names of the body's graph begin with.

    Raises:
        AssertionError: something else than symbols is given or returned, the states come back in another nesting,
            the body does not use its data or a state, or two of its inputs have one name.
        TypeError: the body returns nothing at all.
    """
    rows, row_form = flat_symbols(data, "foreach input")
    states, state_form = flat_symbols(init_states, "foreach states")
    forms: list[Any] = []

    def run(formal: list[Symbol]) -> tuple[list[Symbol], list[Symbol]]:
        outputs, after = body(nest(formal[: len(rows)], row_form), nest(formal[len(rows) :], state_form))
        flat, form = flat_symbols(outputs, "foreach output")
        flat_after, after_form = flat_symbols(after, "foreach loop_vars")
        if after_form != state_form:
            raise refusal(
                "control-flow/state-form", "The input and output loop_vars have different format:"
                f" {state_form} and {after_form}", AssertionError,
            )
        forms.append(form)
        return flat, flat_after

    given = [*rows, *states]
    made = capture(name, given, run)
    locations = {source: i for i, source in enumerate(made.sources) if isinstance(source, int)}
    for number, symbol in enumerate(given):
        if number not in locations:
            what = "data" if number < len(rows) else "state"
            raise refusal(
                "control-flow/used", f"the {what} arrays have to be used in the loop body: {symbol.name} is not",
                AssertionError,
            )
    outer = {i: source for i, source in enumerate(made.sources) if not isinstance(source, int)}
    outputs = len(made.heads) - len(states)
    results = attach(FOREACH, [made], [*(symbol.entries[0] for symbol in given), *outer.values()], {
        "num_outputs": len(made.heads), "num_out_data": outputs,
        "in_state_locs": [locations[len(rows) + j] for j in range(len(states))],
        "in_data_locs": [locations[j] for j in range(len(rows))],
        "remain_locs": list(outer),
    })
    return nest(results[:outputs], forms[0]), nest(results[outputs:], state_form)


def _union(bodies: Sequence[Captured], formal: Sequence[Symbol]) -> tuple[list[Entry], list[list[int]]]:
    """The inputs that several bodies need, each once, and per body where its variables are among them."""
    inputs: list[Entry] = []
    places: dict[Any, int] = {}
    locations = []
    for body in bodies:
        found = []
        for source in body.sources:
            key = source if isinstance(source, int) else key_of(source)
            if key not in places:
                places[key] = len(inputs)
                inputs.append(formal[source].entries[0] if isinstance(source, int) else source)
            found.append(places[key])
        locations.append(found)
    return inputs, locations


def while_loop(
    cond: Callable, func: Callable, loop_vars: Any, max_iterations: int | None = None, name: str = "while_loop"
) -> tuple[Any, Any]:
    """A node that runs ``outputs, loop_vars = func(*loop_vars)`` while ``cond(*loop_vars)`` holds.

    Returns the outputs of all steps, stacked in ``max_iterations`` rows of which those that did not run are zero, and
    the last variables.

    Args:
        cond: called once, with variables: whether another step runs.
        func: called once, with variables: ``(*loop_vars) -> (outputs, loop_vars)``.
        loop_vars: a symbol or nested lists of symbols, the variables of the first step.
        max_iterations: the greatest number of steps.
        name: what the names of the body's graphs begin with.

    Raises:
        ValueError: ``max_iterations`` is missing or no number, there are no variables, ``cond`` returns no symbol,
            or ``func`` returns another number of variables or does not use one.
        AssertionError: something else than symbols is given or returned, or two inputs of a body have one name.
        MXNetError: ``max_iterations`` is below 1.
    """
    variables, form = flat_symbols(loop_vars, "while loop_vars")
    if max_iterations is None:
        raise refusal("control-flow/max-iterations", "max_iterations should be specified", ValueError)
    most = to_scalar(max_iterations, int, "max_iteration")
    if not variables:
        raise refusal("control-flow/loop-vars", "loop_vars should contain at least one element", ValueError)
    forms: list[Any] = []

    def arguments(formal: list[Symbol]) -> Any:
        nested = nest(formal, form)
        return [nested] if isinstance(nested, Symbol) else nested

    def ask(formal: list[Symbol]) -> tuple[list[Symbol], list[Symbol]]:
        answer = cond(*arguments(formal))
        if not isinstance(answer, Symbol) or len(answer) != 1:
            raise refusal(
                "control-flow/condition-symbol", f"Return of cond must be a Symbol with one output, it is {answer!r}",
                ValueError,
            )
        return [answer], []

    def run(formal: list[Symbol]) -> tuple[list[Symbol], list[Symbol]]:
        outputs, after = func(*arguments(formal))
        flat, output_form = flat_symbols([] if outputs is None else outputs, "while output")
        flat_after, _ = flat_symbols([] if after is None else after, "while loop_vars")
        if len(flat_after) != len(variables):
            raise refusal(
                "control-flow/loop-vars", "The number of loop_vars should be consistent during the loop: func got"
                f" {len(variables)} and returned {len(flat_after)}", ValueError,
            )
        forms.append(output_form)
        return [*flat, *flat_after], []

    asking = capture(f"{name}_cond", variables, ask)
    body = capture(f"{name}_func", variables, run)
    for number in range(len(variables)):
        if number not in body.sources:
            raise refusal(
                "control-flow/used", f"The {number + 1}-th loop_var doesn't involve into the computation: func has to"
                " use it", ValueError,
            )
    inputs, (cond_locations, func_locations) = _union([asking, body], variables)
    outputs = len(body.heads) - len(variables)
    results = attach(WHILE_LOOP, [asking, body], inputs, {
        "num_outputs": len(body.heads), "num_out_data": outputs, "max_iterations": most,
        "cond_input_locs": cond_locations, "func_input_locs": func_locations,
        "func_var_locs": [body.sources.index(number) for number in range(len(variables))],
    })
    return nest(results[:outputs], forms[0]), nest(results[outputs:], form)


def cond(pred: Symbol, then_func: Callable, else_func: Callable, name: str = "cond") -> Any:
    """A node that computes what ``then_func()`` made if ``pred`` is true when it runs, else what ``else_func()`` made.

    Returns the outputs, nested as those of ``then_func``.

    Args:
        pred: a symbol of one number, true unless it is 0.
        then_func: called once, without arguments.
        else_func: likewise; its outputs have the shapes and types of those of ``then_func``.
        name: what the names of the branches' graphs begin with.

    Raises:
        ValueError: ``pred`` has several outputs, or the branches have different numbers of outputs.
        AssertionError: something else than symbols is given or returned.
    """
    forms: list[Any] = []

    def branch(function: Callable[[], Any]) -> Callable[[list[Symbol]], tuple[list[Symbol], list[Symbol]]]:
        def run(formal: list[Symbol]) -> tuple[list[Symbol], list[Symbol]]:
            del formal
            flat, form = flat_symbols(function(), "cond outputs")
            forms.append(form)
            return flat, []

        return run

    asking = capture(f"{name}_pred", [], branch(lambda: pred))
    if len(asking.heads) != 1:
        raise refusal(
            "control-flow/condition-symbol", f"pred should always be a single output, it has {len(asking.heads)}",
            ValueError,
        )
    first, second = capture(f"{name}_then", [], branch(then_func)), capture(f"{name}_else", [], branch(else_func))
    if len(first.heads) != len(second.heads):
        raise refusal(
            "control-flow/branch-outputs", "Number of outputs differs between then-branch and else-branch:"
            f" {len(first.heads)} and {len(second.heads)}", ValueError,
        )
    inputs, (cond_locations, then_locations, else_locations) = _union([asking, first, second], [])
    results = attach(COND, [asking, first, second], inputs, {
        "num_outputs": len(first.heads), "cond_input_locs": cond_locations, "then_input_locs": then_locations,
        "else_input_locs": else_locations,
    })
    return nest(results, forms[1])


def publish() -> None:
    """Put the three functions into ``mx.sym.contrib``."""
    for function in (foreach, while_loop, cond):
        setattr(contrib, function.__name__, function)
        contrib.__all__.append(function.__name__)


__all__ = ["cond", "foreach", "while_loop"]
