"""Operators on sparse arrays: by a rule of the table of storages, or on dense copies, which is logged once.

The table is ``refimpl/op_registry/storage_rules.py``; ``sparse/rules_*.py`` fill it, and :func:`invoke` reads it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import decides, refusal
from ..kernels.foundation import Op
from ..log import LOG
from ..op_registry.signatures import parsed
from ..op_registry.signatures import signature as signature_of
from ..op_registry.storage_rules import FALLBACK_STORAGE, RULES, Rule, Storages
from . import dense, sparse_tape
from .convert import copy_into, ordered, tostype

if TYPE_CHECKING:
    from .ndarray import NDArray


def find(op: Op, p: Any, arrays: Sequence[NDArray]) -> Rule | None:
    """The rule for an operator on arrays of these storages; None when there is none."""
    storages: Storages = tuple(array.stype for array in arrays)
    lines = RULES.get((op.name, storages), [])
    if len(set(storages)) == 1:
        lines = lines + RULES.get((op.name, (storages[0], ...)), [])
    for rule in lines:
        if rule.when(p, arrays):
            return rule
    return None


def output_storage(op: Op, p: Any, arrays: Sequence[NDArray], rule: Rule | None) -> str:
    """The storage of the result of ``op`` on ``arrays``; ``rule`` is the result of :func:`find`."""
    if rule is not None:
        return p.stype if rule.output == "stype" else rule.output
    storage = FALLBACK_STORAGE.get(op.name)
    return "default" if storage is None else storage(p, tuple(array.stype for array in arrays))


def invoke(op: Op, inputs: Sequence[NDArray], attrs: dict[str, Any], out: Any = None) -> Any:
    """Run ``op`` where an input or an output is sparse; see ``operators.invoke``.

    Raises:
        MXNetError: a parameter, shape, type or format is refused.
    """
    arrays = [ordered(array) for array in inputs]
    targets = [] if out is None else list(out) if isinstance(out, (list, tuple)) else [out]
    attrs.pop("ctx", None)
    if op.variadic:
        attrs.setdefault(op.variadic, len(inputs))
    p = parsed(op, attrs)
    rule = find(op, p, arrays)
    if rule is None and any(array.is_sparse for array in (*inputs, *targets)):
        _report(op, inputs, targets)
    if sparse_tape.recording(*inputs):
        return _recorded(op, p, attrs, inputs, arrays, targets, out, rule)
    if rule is None:
        storage = FALLBACK_STORAGE.get(op.name)
        if storage is not None:  # the storage is chosen here, not by the dense operator
            attrs = {name: value for name, value in attrs.items() if name != "forward_stype"}
        return _on_dense_copies(op, inputs, arrays, attrs, targets, out, storage, p)
    _check(op, p, arrays, targets)
    if rule.updates:
        return _updated(rule, p, inputs, arrays, targets, out)
    result = rule.run(p, arrays)
    if not targets:
        return result
    copy_into(result, targets[0])
    return out


def _recorded(
    op: Op, p: Any, attrs: dict[str, Any], inputs: Sequence[NDArray], arrays: list[NDArray], targets: list[NDArray],
    out: Any, rule: Rule | None,
) -> Any:
    """Record the dense operator; its result gets the values and the storage that it has without recording."""
    result = sparse_tape.execute(op, p, attrs, inputs, targets, out)
    if rule is None or rule.updates:
        storage = output_storage(op, p, arrays, rule)
        if storage == "default" or targets or rule is not None:
            return result
        return sparse_tape.with_storage(result, tostype(result, storage))
    if rule.dense:
        return result
    made = rule.run(p, arrays)
    memory = (targets[0] if targets else result)._data
    memory.copy_from((tostype(made, "default") if made.is_sparse else made)._data)
    return result if targets or not made.is_sparse else sparse_tape.with_storage(result, made)


def _check(op: Op, p: Any, arrays: Sequence[NDArray], targets: Sequence[NDArray]) -> None:
    """Check the number, shapes and dtypes of the inputs by the page's inference, and the shape of the target."""
    signature = signature_of(op, p)
    names = signature.inputs
    if len(names) != len(arrays):
        raise refusal(
            "nd/input-count", f"{op.name} takes {len(names)} inputs ({', '.join(names)}), got {len(arrays)}"
        )
    unknown = [None] * len(signature.outputs)
    _, shapes = op.infer(p, [array.shape for array in arrays], list(unknown))
    op.infer_type(p, [np.dtype(array.dtype) for array in arrays], list(unknown))
    for target, shape in zip(targets, shapes, strict=False):
        if target.shape != shape:
            raise refusal("nd/out-shape", f"{op.name}: out has shape {target.shape}, expected {shape}")


def _updated(
    rule: Rule, p: Any, inputs: Sequence[NDArray], arrays: list[NDArray], targets: list[NDArray], out: Any
) -> NDArray:
    """Run an update rule: in place when the target is the first input, otherwise on a copy of the first input."""
    for given, used in zip(inputs, arrays, strict=True):
        if given is not used:  # its indices were sorted in a copy: updates write into the caller's arrays
            given._become(used)  # type: ignore[attr-defined]  # sparse, since only those are sorted
    arrays = list(inputs)
    if targets and targets[0] is inputs[0]:
        rule.run(p, arrays, inputs[0])
        return out
    made = arrays[0].copy()
    rule.run(p, [made, *arrays[1:]], made)
    if not targets:
        return made
    copy_into(made, targets[0])
    return out


# --- falling back -------------------------------------------------------------------------------


_REPORTED: set[Any] = set()


def report(key: Any, what: str) -> None:
    """Log a fallback to dense memory, once for each key, unless MXNET_STORAGE_FALLBACK_LOG_VERBOSE is 0."""
    if key in _REPORTED or os.environ.get("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "1") == "0":
        return
    _REPORTED.add(key)
    LOG.warning(
        "Storage type fallback detected: %s; set MXNET_STORAGE_FALLBACK_LOG_VERBOSE=0 to silence this", what
    )


def _report(op: Op, inputs: Sequence[NDArray], targets: Sequence[NDArray]) -> None:
    """Log the fallback of an operator, once for each combination of storages."""
    read, written = (tuple(array.stype for array in arrays) for arrays in (inputs, targets))
    out = f" and out ({', '.join(written)})" if written else ""
    report(
        (op.name, read, written),
        f"operator {op.name} has no form for inputs ({', '.join(read)}){out} and runs on dense copies",
    )


@decides("Sparse/fallback")
def _on_dense_copies(
    op: Op, inputs: Sequence[NDArray], arrays: Sequence[NDArray], attrs: dict[str, Any], targets: Sequence[NDArray],
    out: Any, storage: Callable[[Any, Storages], str] | None = None, p: Any = None,
) -> Any:
    copies = [array.tostype("default") if array.is_sparse else array for array in arrays]
    made: Any = None
    if targets and not any(target.is_sparse for target in targets):
        dense.invoke(op, copies, attrs, list(targets))
    else:
        made = dense.invoke(op, copies, attrs, [])
        results = made if isinstance(made, list) else [made]
        if len(targets) not in (0, len(results)):
            raise refusal("nd/out-count", f"{op.name} has {len(results)} outputs, out holds {len(targets)}")
        for target, result in zip(targets, results, strict=False):
            copy_into(result, target)
        if not targets and storage is not None:
            wanted = storage(p, tuple(array.stype for array in arrays))
            made = made if wanted == "default" else tostype(made, wanted)
    _give_back(op, inputs, copies)
    return made if not targets else out


@decides("Sparse/out")
def _give_back(op: Op, inputs: Sequence[NDArray], copies: Sequence[NDArray]) -> None:
    """Copy states that the operator changed from their dense copies back into the sparse arrays."""
    for name, given, used in zip(op.all_inputs, inputs, copies, strict=False):
        if name in op.mutates and given.is_sparse:
            copy_into(used, given)
