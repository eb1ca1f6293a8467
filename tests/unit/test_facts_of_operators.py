"""What pages say of their operators for other parts of the project: refused where it cannot be true, and true."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import refimpl as mx
from refimpl.kernels import distinct, get
from refimpl.kernels.foundation import ALWAYS, REGISTRY, Sources, register
from refimpl.op_registry import known
from refimpl.oracle.pages.draws import SeededDraw


@pytest.mark.clause("contract/facts")
@pytest.mark.parametrize(("name", "facts", "words"), [
    ("exp", {"tier": 4}, "a tier is one of"),
    ("exp", {"alias_tiers": {"expo": 1}}, "alias_tiers names aliases"),
    ("exp", {"aliases": ("expo",), "alias_tiers": {"expo": 4}}, "a tier is one of"),
    ("exp", {"method": "expm1"}, "method is the name or an alias"),
    ("dot", {"method": "", "numbered_input": True}, "for operators of one input"),
    ("add_n", {"method": "", "numbered_input": True}, "for operators of one input"),
    ("exp", {"reports": "data"}, "reports is Sources"),
    ("exp", {"keeps_zero": True}, "keeps_zero is ALWAYS or ZeroWhen"),
    ("exp", {"gradient_rows": "all"}, "gradient_rows is one of"),
    ("sgd_update", {"row_updates": ("csr",)}, "row_updates names"),
    ("exp", {"difference_clauses": {"": "dot/value"}}, "names clauses of the page, got dot/value"),
])
def test_what_cannot_be_is_refused(name: str, facts: dict[str, Any], words: str) -> None:
    odd = replace(get(name), **{"name": "odd_one", "aliases": (), "method": "", **facts})
    with pytest.raises(mx.MXNetError, match=words) as caught:
        register(odd)
    assert caught.value.clause == "contract/facts"
    assert "odd_one" not in REGISTRY


@pytest.mark.clause("contract/facts")
def test_what_can_be_is_taken() -> None:
    facts = {
        "tier": 3, "method": "odd_one", "reports": Sources(1), "keeps_zero": ALWAYS, "gradient_rows": "head",
        "row_updates": ("default",), "alias_tiers": {"odd_other": 2},
    }
    try:
        register(replace(get("exp"), name="odd_one", aliases=("odd_other",), **facts))
        assert known.names()["odd_one"] == "odd_one"
        assert known.names()["odd_other"] == "odd_other"
        assert (known.tiers()["odd_one"], known.tiers()["odd_other"]) == (3, 2)
    finally:
        for name in ("odd_one", "odd_other"):
            REGISTRY.pop(name, None)
    assert "odd_one" not in known.names()


def test_a_line_of_the_file_counts_until_there_is_a_page() -> None:
    assert known.absent()["_sparse__contrib_round_ste"] == "_contrib_round_ste"
    assert known.tiers()["_contrib_round_ste"] == 3
    try:
        names = {"name": "_contrib_round_ste", "aliases": ("_sparse__contrib_round_ste",)}
        register(replace(get("round"), **names, method="", tier=2))
        assert not {"_contrib_round_ste", "_sparse__contrib_round_ste"} & known.absent().keys()
        assert known.tiers()["_contrib_round_ste"] == 2
        assert (len(known.tiers()), len(known.names())) == (426, 615)
    finally:
        for name in ("_contrib_round_ste", "_sparse__contrib_round_ste"):
            REGISTRY.pop(name, None)


@pytest.mark.parametrize("name", [op.name for op in distinct() if op.keeps_rank])
def test_ranks_stay(name: str) -> None:
    op = get(name)
    for seed in range(20):
        case = op.cases(SeededDraw(seed))
        p = op.parse(case.params)
        inputs = [case.shapes.get(each) for each in op.input_names(p)]
        _, outputs = op.infer(p, inputs, [None] * len(op.output_names(p)))
        assert len(outputs[0]) == len(inputs[0])
