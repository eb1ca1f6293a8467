"""MXNet's weaker inference of partly known shapes and dtypes, which users of partial inference get.

A page's ``infer`` derives inputs from outputs and from each other. MXNet's rules often read only the data, or wait
until all of its shape is known. ``infer_shape_partial`` reports MXNet's result: for an operator with ``Op.reports``,
by that rule.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..base import decides
from ..kernels.foundation import Op, agree, either
from ..kernels.foundation.facts import Infer, read_first


def _joined(given: Any, found: Any) -> Any:
    """The shape or dtype of one array: ``given``, with unknown dimensions filled in from ``found``."""
    if given is None or found is None:
        return found if given is None else given
    if not isinstance(given, tuple) or len(given) != len(found) or not all(map(agree, given, found)):
        return given
    return tuple(map(either, given, found))


@decides("infer/sources")
def reported_rule(op: Op, rule_name: str) -> Infer:
    """MXNet's rule in the place of ``infer`` or ``infer_type`` of a page."""
    rule: Infer = getattr(op, rule_name)
    weaker: Callable | None = None
    if rule_name == "infer_type":
        weaker = partial(read_first, rule, 1) if op.type_of_data else None
    elif op.reports is not None:
        weaker = partial(op.reports, rule)
    if weaker is None:
        return rule

    def reported(p: Any, ins: list, outs: list) -> tuple[list, list]:
        new_ins, new_outs = weaker(p, ins, outs)
        return [*map(_joined, ins, new_ins)], [*map(_joined, outs, new_outs)]

    return reported


__all__ = ["reported_rule"]
