"""The laws can see: a page broken on purpose is noticed by at least one of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from refimpl.kernels import fully_connected, get
from refimpl.kernels.foundation import Op, items
from tests.laws import laws
from tests.laws.draws import SeededDraw

from . import mutations

DRAWS = 25
VICTIMS = ("FullyConnected", "sqrt")
# what cannot show: a sum along all axes is the same backwards, one input has nothing to depend on
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
        laws.refuses(replace(op, refusals={"FullyConnected/weight-shape": call}), "FullyConnected/weight-shape")


def _forgets_the_last_item(a, b, out, n, m, k):  # type: ignore[no-untyped-def]  # a loop, as on pages
    for t in items(n * m):
        out[t] = 0
        for c in range(k - 1):
            out[t] += a[(t // m) * k + c] * b[c * m + t % m]


def _broken_twin(*args: object) -> None:
    fully_connected.MULTIPLY.cpu(*[getattr(a, "flat", a) for a in args])
    args[2].flat[0] += 1e-3  # type: ignore[attr-defined]  # a buffer


def test_a_wrong_loop_for_cuda_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fully_connected.MULTIPLY, "_cuda_source", _forgets_the_last_item)
    assert noticed(get("FullyConnected")) == "python_agrees"


def test_a_wrong_tuned_twin_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fully_connected.MULTIPLY, "_tuned", _broken_twin)
    assert noticed(get("FullyConnected"))


