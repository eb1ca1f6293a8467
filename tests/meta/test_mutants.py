"""The laws can see: a page broken on purpose is noticed by at least one of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from refimpl.kernels import get, reduce
from refimpl.kernels.foundation import Buffer, Op, items, plain_kernels
from refimpl.kernels.foundation.walks import RowSizes
from refimpl.oracle.pages import laws
from refimpl.oracle.pages.draws import SeededDraw

from . import mutations

DRAWS = 25
VICTIMS = ("FullyConnected", "sqrt", "_hypot", "broadcast_mul", "sum")
# what cannot show: one input has no other gradient to depend on, and no side that could be guessed
BLIND = {
    ("gradient_depends_on_what_is_wanted", "sqrt"), ("gradient_depends_on_what_is_wanted", "sum"),
    ("inference_guesses", "sqrt"),
}


def noticed(op: Op) -> str:
    """Name of the first law that ``op`` breaks in some draws, or ""."""
    for law in laws.LAWS:
        for seed in range(DRAWS):
            try:
                law(op, SeededDraw(seed))
            except (AssertionError, IndexError):  # as Python, a wrong index raises
                return law.__name__
    return ""


@pytest.mark.parametrize("name", VICTIMS)
def test_an_unbroken_page_passes(name: str) -> None:
    assert noticed(get(name)) == ""


@pytest.mark.parametrize("name", VICTIMS)
@pytest.mark.parametrize("mutate", [*mutations.FORWARD, *mutations.BACKWARD], ids=lambda m: m.__name__)
def test_a_broken_page_is_noticed(mutate: mutations.Mutation, name: str) -> None:
    if (mutate.__name__, name) in BLIND:
        pytest.skip("cannot show in this operator")
    assert noticed(mutate(get(name)))


def test_the_law_says_how_a_gradient_that_is_no_slope_is_declared() -> None:
    scaled = mutations.gradient_scaled(get("sqrt"))
    with pytest.raises(AssertionError, match=r"differentiable=False"):
        laws.gradient_is_slope(scaled, SeededDraw(0))
    laws.gradient_is_slope(replace(scaled, differentiable=False), SeededDraw(0))


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_a_page_without_cases_keeps_no_law(law: laws.Law) -> None:
    with pytest.raises(AssertionError, match="draws no valid call"):
        law(replace(get("sqrt"), cases=None), SeededDraw(0))


def test_a_refusal_that_is_gone_is_noticed() -> None:
    op = get("FullyConnected")
    lenient = replace(op, infer=lambda p, ins, outs: (ins, [(1, p.num_hidden)]))
    for clause in op.refusals:
        with pytest.raises(AssertionError):
            laws.refuses(lenient, clause)


def test_a_refusal_for_another_reason_is_noticed() -> None:
    op = get("FullyConnected")
    call = op.refusals["FullyConnected/bias-shape"]
    with pytest.raises(AssertionError):
        laws.refuses(
            replace(op, refusals={"FullyConnected/weight-shape": call}), "FullyConnected/weight-shape"
        )


def _forgets_the_last_item(head, d_data, count, sides, steps, g: RowSizes):  # type: ignore[no-untyped-def]  # a loop
    for r in items(g.rows - 1):
        for c in range(g.length):
            d_data[r * g.length + c] = head[0] / count


def _off_by_a_little(head: Buffer, d_data: Buffer, *rest: object) -> None:
    with plain_kernels():
        reduce.SPREAD_SHARE(head, d_data, *rest)
    d_data.flat[0] += 1e-3


def test_a_wrong_loop_for_cuda_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduce.SPREAD_SHARE, "_cuda_source", _forgets_the_last_item)
    assert noticed(get("mean")) == "python_agrees"


def test_a_wrong_tuned_twin_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduce.SPREAD_SHARE, "_tuned", _off_by_a_little)
    monkeypatch.setattr(reduce.SPREAD_SHARE, "_tuned_for", (np.float32,))
    assert noticed(get("mean"))


def test_an_unsafe_permission_to_overwrite_is_noticed() -> None:
    assert noticed(replace(get("transpose"), inplace=((0, 0),))) == "works_in_place"
