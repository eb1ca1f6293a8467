"""The life cycle of a module as one table: the flags that each operation needs, and the flags that it makes True.

``print(table())`` shows the table. :func:`demand` refuses an operation when a flag that it needs is False; the same
table drives tests/stateful/test_module_life_cycle.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..base import decides, refusal, shapes_in_words


class Step(NamedTuple):
    """A flag of a module: the clause of the error while the flag is False, and how to make it True."""

    clause: str
    remedy: str


class Operation(NamedTuple):
    """The flags that an operation needs, the flags that it makes True, and the flags that its arguments set."""

    needs: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    settles: tuple[str, ...] = ()


STEPS: dict[str, Step] = {
    "binded": Step("Module/needs-bind", "call bind() first"),
    "params_initialized": Step(
        "Module/needs-params", "call init_params() or set_params() first"
    ),
    "optimizer_initialized": Step("Module/needs-optimizer", "call init_optimizer() first"),
    "for_training": Step("Module/needs-training", "re-bind with for_training=True"),
    "inputs_need_grad": Step(
        "Module/needs-input-gradients", "re-bind with inputs_need_grad=True"
    ),
}
"""The flags in the order in which they are checked."""

ALREADY_BOUND = "the module is bound: bind changes nothing without force_rebind=True"
ALREADY_OPTIMIZED = "the module has an optimizer: init_optimizer changes nothing without force_init=True"
"""The log lines of second calls of ``bind`` and ``init_optimizer``, which have no effect."""

_BOUND = ("binded",)
_READY = ("binded", "params_initialized")
_PURPOSE = ("for_training", "inputs_need_grad")

LIFE_CYCLE: dict[str, Operation] = {
    "bind": Operation((), ("binded",), _PURPOSE),
    "bind to a shared module": Operation(_READY, ("binded", "params_initialized"), _PURPOSE),
    "reshape": Operation(_BOUND),
    "switch_bucket": Operation(_BOUND),
    "data_shapes": Operation(_BOUND),
    "label_shapes": Operation(_BOUND),
    "output_shapes": Operation(_BOUND),
    "install_monitor": Operation(_BOUND),
    "prepare": Operation(_BOUND),
    "init_params": Operation(_BOUND, ("params_initialized",)),
    "set_params": Operation(_BOUND, ("params_initialized",)),
    "load_params": Operation(_BOUND, ("params_initialized",)),
    "get_params": Operation(("params_initialized",)),
    "save_params": Operation(("params_initialized",)),
    "save_checkpoint": Operation(("params_initialized",)),
    "init_optimizer": Operation(_READY, ("optimizer_initialized",)),
    "borrow_optimizer": Operation(("optimizer_initialized",), ("optimizer_initialized",)),
    "save_optimizer_states": Operation(("optimizer_initialized",)),
    "load_optimizer_states": Operation(("optimizer_initialized",)),
    "forward": Operation(_READY),
    "backward": Operation((*_READY, "for_training")),
    "forward_backward": Operation((*_READY, "for_training")),
    "update": Operation((*_READY, "optimizer_initialized", "for_training")),
    "get_outputs": Operation(_READY),
    "get_input_grads": Operation((*_READY, "inputs_need_grad")),
    "get_states": Operation(_READY),
    "set_states": Operation(_READY),
    "update_metric": Operation(_BOUND),
    "score": Operation(_READY),
    "predict": Operation(_READY),
    "iter_predict": Operation(_READY),
}


@decides("Module/life-cycle")
def demand(module: Any, operation: str, asked: str = "") -> None:
    """Refuse ``operation`` unless every flag it needs is True; ``asked`` is the name of the user's call, if another.

    Raises:
        AssertionError: a flag is False; the message names the missing call.
    """
    for flag in LIFE_CYCLE[operation].needs:
        if not getattr(module, flag):
            step = STEPS[flag]
            raise refusal(
                step.clause, f"{asked or operation} needs a module with {flag}=True: {step.remedy}", AssertionError
            )


def in_words(module: Any) -> str:
    """The progress of a module in words: its purpose and shapes, and whether it has parameters and an optimizer."""
    if not module.binded:
        return "not bound"
    shapes = shapes_in_words(desc[:2] for desc in (*module.data_shapes, *(module.label_shapes or ())))
    purpose = "training" if module.for_training else "inference"
    done = [("parameters", module.params_initialized), ("optimizer", module.optimizer_initialized)]
    held = [what for what, is_there in done if is_there]
    return f"bound for {purpose} with {shapes}; {' and '.join(held) or 'no parameters yet'}"


def table() -> str:
    """Return the life cycle as text: an operation needs the flags marked x, makes flags marked + True, and sets flags
    marked ? to the values of its arguments of these names.
    """
    width = max(map(len, LIFE_CYCLE))
    lines = [" " * width + "  " + "  ".join(STEPS)]
    for name, operation in LIFE_CYCLE.items():
        columns = []
        for flag in STEPS:
            marks = (mark for mark, flags in zip("x+?", operation, strict=True) if flag in flags)
            columns.append(next(marks, ".").center(len(flag)))
        lines.append(f"{name:{width}}  {'  '.join(columns)}".rstrip())
    return "\n".join(lines)
