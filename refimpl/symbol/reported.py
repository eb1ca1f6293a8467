"""What MXNet reports of a call that is only partly known, where that is less than the pages infer.

A page's ``infer`` carries knowledge in every direction. MXNet's rules often read the data only, or wait until all of
it is known. Who asks for partial shapes gets MXNet's answer: an operator with ``Op.reports`` infers by that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..base import decides
from ..kernels.foundation import Op, agree, either
from ..kernels.foundation.facts import Infer, read_first


def _joined(given: Any, found: Any) -> Any:
    """What is known of one array: ``given``, and of ``found`` what completes it."""
    if given is None or found is None:
        return found if given is None else given
    if not isinstance(given, tuple) or len(given) != len(found) or not all(map(agree, given, found)):
        return given
    return tuple(map(either, given, found))


@decides("infer/sources")
def reported_rule(op: Op, rule_name: str) -> Infer:
    """What MXNet infers in place of ``infer`` or ``infer_type`` of a page."""
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
