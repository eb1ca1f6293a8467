"""The options of bind, resolved: the gradient requirement and the context of each argument."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ..base import decides, refusal, require
from ..context import Context
from ..executor.binding import REQUIREMENTS
from .life_cycle import demand


def context_list(context: Any) -> list[Context]:
    """Return a Context or a list of Contexts as a list.

    Raises:
        TypeError: ``context`` is neither, or the list is empty.
    """
    contexts = [context] if isinstance(context, Context) else list(context)
    if not contexts or not all(isinstance(one, Context) for one in contexts):
        raise refusal(
            "Module/contexts",
            f"context must be a Context or a list such as [mx.cpu(0), mx.cpu(1)], not {context!r}",
            TypeError,
        )
    return contexts


def work_loads(weights: Sequence[float] | None, contexts: Sequence[Context]) -> list[float]:
    """Return the weight of each context; without ``weights`` all are 1.

    Raises:
        AssertionError: the number of weights is not the number of contexts.
    """
    loads = list(weights or [1] * len(contexts))
    if len(loads) != len(contexts):
        raise refusal(
            "Module/work-load", f"work_load_list has {len(loads)} weights for {len(contexts)} contexts",
            AssertionError,
        )
    return loads


def require_training(inputs_need_grad: bool, for_training: bool) -> None:
    """Refuse input gradients without training (AssertionError)."""
    require(
        "Module/input-gradients-train", for_training or not inputs_need_grad,
        "inputs_need_grad=True needs for_training=True: gradients come from backward", AssertionError,
    )


@decides("Module/shared-module")
def group_to_share(shared_module: Any, kind: type, contexts: int) -> Any:
    """Return the executor group of ``shared_module``, for a module on ``contexts`` contexts to share with.

    Raises:
        AssertionError: ``shared_module`` is not of class ``kind``, not bound and initialised, or on fewer contexts.
    """
    require(
        "Module/shared-kind", isinstance(shared_module, kind),
        f"shared_module must be a {kind.__name__}, not {type(shared_module).__name__}", AssertionError,
    )
    demand(shared_module, "bind to a shared module")
    group = shared_module._exec_group
    require(
        "Module/shared-contexts", len(group.execs) >= contexts,
        f"shared_module runs on {len(group.execs)} contexts, fewer than the {contexts} here", AssertionError,
    )
    return group


@decides("ExecutorGroup/grad-req", "Module/fixed-parameters")
def gradient_requirements(
    arguments: Sequence[str], grad_req: Any, differentiable: Collection[str], for_training: bool
) -> dict[str, str]:
    """Resolve ``grad_req`` to one of write, add and null per argument.

    Args:
        arguments: names of all arguments of the symbol.
        grad_req: a string is for the ``differentiable`` arguments; a list or tuple has one requirement per argument;
            a dict has requirements by name, and arguments not in the dict are treated as by "write".
        differentiable: parameters that are not fixed, and data when input gradients are wanted.
        for_training: False gives every argument "null".

    Raises:
        AssertionError: a list has the wrong length.
        ValueError: ``grad_req`` is not a str, list, tuple or dict.
        MXNetError: a requirement is none of write, add and null.
    """
    if isinstance(grad_req, (list, tuple)):
        if len(grad_req) != len(arguments):
            raise refusal(
                "ExecutorGroup/grad-req-length",
                f"grad_req has {len(grad_req)} entries for {len(arguments)} arguments {list(arguments)}; "
                "give one each, or a dict",
                AssertionError,
            )
        requirements = dict(zip(arguments, grad_req, strict=True))
    elif isinstance(grad_req, (str, dict)):
        usual = grad_req if isinstance(grad_req, str) else "write"
        asked = grad_req if isinstance(grad_req, dict) else {}
        requirements = {
            name: asked.get(name, usual if name in differentiable else "null") for name in arguments
        }
    else:
        raise refusal(
            "ExecutorGroup/grad-req-kind",
            f"grad_req must be one of str, list, tuple, or dict, not {type(grad_req).__name__}",
            ValueError,
        )
    for name, requirement in requirements.items():
        if requirement not in REQUIREMENTS:
            raise refusal(
                "ExecutorGroup/grad-req-value",
                f"grad_req of {name} is {requirement!r}; it must be one of {', '.join(REQUIREMENTS)}",
            )
    return requirements if for_training else dict.fromkeys(arguments, "null")


def group_contexts(group2ctxs: Any, count: int) -> list[dict[str, Context] | None]:
    """Resolve ``group2ctxs`` to one map from ``ctx_group`` to Context per device.

    ``group2ctxs`` is None, a list with a dict per device, or a dict whose values are a Context (for every device), a
    list of one Context (for every device) or a list with a Context per device.

    Raises:
        AssertionError: ``group2ctxs`` has another type, or a list has the wrong length.
    """
    if group2ctxs is None:
        return [None] * count
    if isinstance(group2ctxs, list):
        if len(group2ctxs) != count:
            raise _wrong_groups(f"a list of {len(group2ctxs)} dicts for {count} contexts")
        return group2ctxs
    if not isinstance(group2ctxs, dict):
        raise _wrong_groups(f"a {type(group2ctxs).__name__}")
    maps: list[dict[str, Context] | None] = [{} for _ in range(count)]
    for group, given in group2ctxs.items():
        each = [given] if isinstance(given, Context) else given
        if not isinstance(each, list) or len(each) not in {1, count}:
            raise _wrong_groups(f"{given!r} for group {group!r} and {count} contexts")
        for index, device_map in enumerate(maps):
            device_map[group] = each[index % len(each)]  # type: ignore[index]  # every map is a dict here
    return maps


def argument_contexts(
    symbol: Any, names: Sequence[str], device: Context, groups: dict[str, Context] | None
) -> list[Context]:
    """The context of each named argument or state: its ``ctx_group``'s context, or ``device`` without a group."""
    if not groups:
        return [device] * len(names)
    attributes = symbol.attr_dict()
    return [groups.get(attributes.get(name, {}).get("__ctx_group__"), device) for name in names]


def _wrong_groups(given: str) -> Exception:
    error: Exception = refusal(
        "ExecutorGroup/group-contexts",
        f"group2ctxs is {given}; give a list with a dict per context, or a dict from group name to "
        "a Context, a list of one or a list with one per context",
        AssertionError,
    )
    return error
