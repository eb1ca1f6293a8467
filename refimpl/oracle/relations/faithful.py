"""Where a relation does not hold on purpose: MXNet's own number breaks it, and the reference keeps that number.

A row is data: which relation, in which programs, and the clause that says so. A relation is not asked of a program that
a row fits; a search counts these and names their clauses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...base import decides
from ...kernels.foundation import get
from ..judging.reference import Program


class Faithful(NamedTuple):
    """One reason for which a relation does not hold."""

    relation: str
    clause: str
    reason: str
    operator: str = ""
    """Programs with this operator,"""
    attrs: Mapping[str, tuple[str, ...]] = {}
    """with one of these values for each of these parameters;"""
    step: str = ""
    """or with this step,"""
    field: str = ""
    """that has this field,"""
    values: tuple[Any, ...] = ()
    """with one of these values (any but null by default);"""
    several: bool = False
    """and only those with several contexts."""

    def fits(self, program: Program) -> bool:
        """Whether this row is about a program."""
        if self.several and program["steps"][0].get("contexts", 1) < 2:
            return False
        if self.operator:
            return any(
                node["op"] == self.operator
                and all(node.get("attrs", {}).get(key) in values for key, values in self.attrs.items())
                for node in program.get("nodes", [])
            )
        return any(step["do"] == self.step and self._holds(step) for step in program["steps"])

    def _holds(self, step: Mapping[str, Any]) -> bool:
        if not self.field:
            return True
        value = step.get(self.field)
        return value in self.values if self.values else value is not None


DEVICES, RESUME, ALONE = "number of devices", "save and load", "others' updates"
_SLICES = "each context has a slice of the batch"
FAITHFUL = (
    Faithful(DEVICES, "ExecutorGroup/close-result", f"{_SLICES}, and normalises by it", operator="BatchNorm"),
    Faithful(
        DEVICES, "ExecutorGroup/close-result", f"{_SLICES}, and counts its labels", operator="SoftmaxOutput",
        attrs={"normalization": ("valid", "batch")},
    ),
    Faithful(
        DEVICES, "RegressionOutput/gradient", "divided by all sides but the first, which is not the batch",
        operator="LinearRegressionOutput", attrs={"__layout__": ("TNC",)},
    ),
    Faithful(
        DEVICES, "Module/no-store", "without a store each context trains on its slice alone",
        step="init_optimizer", field="store", values=(None,), several=True,
    ),
    Faithful(
        RESUME, "Module/no-store", "without a store each context has weights of its own, and files hold their mean",
        step="init_optimizer", field="store", values=(None,), several=True,
    ),
    Faithful(
        RESUME, "Module/params-mean", "each context has the moving statistics of its slices, and files hold their mean",
        operator="BatchNorm", several=True,
    ),
    Faithful(
        ALONE, "Optimizer/counts", "the schedule follows the weight that was updated most often", step="create",
        field="schedule",
    ),
    Faithful(
        ALONE, "LARS/momentum-correction", "the momentum follows the rate of the update before, of any weight",
        step="create", field="optimizer", values=("lars",),
    ),
)


@decides("oracle/faithful")
def kept_on_purpose(relation: str, program: Program) -> list[Faithful]:
    """The rows for which a relation is not asked of a program."""
    found = [row for row in FAITHFUL if row.relation == relation and row.fits(program)]
    if relation == "heads":
        found += [
            Faithful(relation, "oracle/faithful", "its gradient is no derivative", operator=name)
            for name in sorted({node["op"] for node in program.get("nodes", [])} - {"null"})
            if not get(name).differentiable
        ]
    return found
