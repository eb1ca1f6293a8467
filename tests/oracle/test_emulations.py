"""Emulated hardware: what does as it declares raises no alarm, and what does worse is found."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refimpl.oracle import Declared, judge, program_of, relations, search
from refimpl.oracle.backends import declaring, emulations, forward_backend, variants
from refimpl.oracle.judging.reference import Truth

from . import counting_declared
from .counting_declared import MULTIPLYING, NAMES, SEED, capabilities_of, judged, with_small_numbers
from .test_declared import program

QUICK = ("tf32", "float16_sums", "separate")
"""Emulations that are tried each time; the others take longer, or much the same path."""
RESULTS = Path(__file__).with_name("alarms_declared.jsonl")


def _heavy(names: Iterable[str], quick: tuple[str, ...]) -> list[Any]:
    """Parameters of the heavy lane: the names that are not quick."""
    return [pytest.param(name, marks=pytest.mark.heavy) for name in names if name not in quick]


# --- the emulations -------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "cut", "right"), [
    ("bfloat16", False, [1.0, 1 + 2.0**-6, 1 + 2.0**-7, np.inf, np.nan, -(2.0**128 - 2.0**120)]),
    ("bfloat16", True, [1.0, 1 + 2.0**-7, 1.0, np.inf, np.nan, -(2.0**128 - 2.0**120)]),
    ("tf32", False, [1 + 2.0**-8, 1 + 2.0**-7 + 2.0**-8, 1 + 2.0**-8 + 2.0**-10, np.inf, np.nan, None]),
    ("float16", False, [1 + 2.0**-8, 1 + 2.0**-7 + 2.0**-8, 1 + 2.0**-8 + 2.0**-10, np.inf, np.nan, -np.inf]),
])
def test_numbers_are_rounded_to_few_bits(kind: str, cut: bool, right: list[float | None]) -> None:
    halfway, above = 1 + 2.0**-8, 1 + 2.0**-7 + 2.0**-8  # between two numbers of bfloat16: to the even one
    given = np.array([halfway, above, halfway + 2.0**-10, np.inf, np.nan, -(2.0**128 - 2.0**120)], np.float32)
    with np.errstate(over="ignore"):
        found = emulations.converted(given, kind, cut=cut).tolist()
    assert all(r is None or r == f or np.isnan([r, f]).all() for r, f in zip(right, found, strict=True))


def test_subnormal_numbers_are_flushed_and_others_are_not() -> None:
    tiny = 2.0**-126
    found = emulations.flushed(np.array([tiny, tiny / 2, -tiny / 2, np.nan, 0.5], np.float32))
    assert found[0] == tiny
    assert (found[1], found[2], found[4]) == (0, 0, 0.5)
    assert np.signbit(found[2])


# --- laws -----------------------------------------------------------------------------------------


@pytest.mark.clause(
    "oracle/declared-products", "oracle/declared-sums", "oracle/declared-subnormal", "oracle/declared-functions",
    "oracle/declared-fused",
)
@pytest.mark.parametrize("name", [*QUICK, *_heavy(NAMES, QUICK)])
def test_what_does_as_it_declares_raises_no_alarm(name: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(counting_declared, "SIZE", 12)
    rows = [counting_declared.Block(name, 1 + turn % 2, 120 + 12 * turn).run() for turn in range(4)]
    assert [row["alarms"] for row in rows] == [[]] * 4
    assert judged(rows, name) > 36


@pytest.mark.heavy
@pytest.mark.clause("oracle/declared-bits")
def test_the_reference_has_its_own_bits() -> None:
    found = search(emulations.ordered, seed=3, programs=25, level=2)
    assert found.found == []
    assert found.elements["bounded"] == 0 < found.elements["exact"]


WORSE = {
    "bfloat16 instead of TF32": ("bfloat16", {"products": "tf32"}),
    "TF32 instead of single precision": ("tf32", {}),
    "bits dropped instead of rounded": ("tf32_cut", {"products": "tf32"}),
    "sums in half precision": ("float16_sums", {"products": "float16"}),
    "sums in bfloat16": ("bfloat16_sums", {"products": "bfloat16"}),
    "sums in single instead of double precision": ("separate", {"sums": "float64"}),
    "subnormal operands flushed": ("daz", {}), "subnormal results flushed": ("daz", {"flushed": "never"}),
    "division": ("webgpu", {"flushed": "operands", "ulps": {"div": 1, "exp": "3+2|x|"}}),
    "exp": ("webgpu", {"flushed": "operands", "ulps": {"div": 2.5, "exp": 3}}),
    "another order of sums": ("separate", {"bits": True}),
}
"""What is worse than declared: the emulation, and what it claims."""
AT_ONCE = (
    "bfloat16 instead of TF32", "bits dropped instead of rounded", "sums in half precision", "another order of sums",
)
"""What is found within few programs."""


@pytest.mark.clause(
    "oracle/declared", "oracle/declared-products", "oracle/declared-sums", "oracle/declared-subnormal",
    "oracle/declared-functions", "oracle/declared-bits",
)
@pytest.mark.parametrize("worse", [*AT_ONCE, *_heavy(WORSE, AT_ONCE)])
def test_what_does_worse_than_it_declares_is_found(worse: str) -> None:
    name, claims = WORSE[worse]
    own = getattr(emulations, name)
    backend = declaring(getattr(own, "backend", own), **claims)
    wanted = capabilities_of(name)
    if name == "daz":
        wanted = wanted._replace(operators=MULTIPLYING)
    verdicts = []
    for number in range(150):
        made = program_of(SEED, number, wanted, level=2)
        made = with_small_numbers(made) if name == "daz" else made
        assert judge(own, made).status != "failed"
        verdicts.append(judge(backend, made))
        if verdicts[-1].status == "failed":
            break
    assert verdicts[-1].status == "failed"
    assert verdicts[-1].confirmed


@forward_backend(operators=["elemwise_mul", "elemwise_add"], styles=("dyadic", "smooth"))
def fusing(symbol: Any, args: Any, aux: Any, is_train: bool) -> Any:
    """A compiler that keeps what it does not return in double precision, where a product is exact."""
    del is_train
    rules = {"elemwise_mul": lambda a, b: a * b, "elemwise_add": lambda a, b: a + b}
    wide = {name: value.astype(np.float64) for name, value in (args | aux).items()}
    return [x.astype(np.float32) for x in symbol.evaluate(wide, lambda node, inputs: rules[node.op](*inputs))]


@pytest.mark.clause("oracle/declared-fused")
def test_a_compiler_that_fuses_is_found_if_it_claims_that_it_does_not() -> None:
    statuses: dict[str, set[str]] = {"either": set(), "always": set(), "never": set()}
    for seed in range(10):
        spec = {"shape": [4], "dtype": "float32", "style": "normal"}
        arrays = {f"v{i}": {**spec, "seed": 3 * seed + i} for i in range(3)}
        made = {**program("elemwise_mul", [0.0], [0.0], [0.0], then="elemwise_add"), "arrays": arrays}
        for fused, found in statuses.items():
            found.add(judge(declaring(fusing, fused=fused), made).status)
    assert statuses == {"either": {"passed"}, "always": {"passed"}, "never": {"passed", "failed"}}


@pytest.mark.clause("oracle/declared-subnormal", "oracle/branch")
def test_where_a_gradient_goes_is_open_if_flushing_decides_the_order() -> None:
    tiny = 2.0**-128
    made = program("topk", [[-tiny, 0.0, tiny, 0.5]], axis=1, k=2, ret_typ="value", is_ascend=True)
    head = {"shape": [1, 2], "dtype": "float32", "elements": [0.25, -1.75]}
    made |= {"level": 2, "steps": [
        {"do": "bind", "requirements": {"v0": "write"}}, {"do": "forward", "train": True},
        {"do": "backward", "heads": [head]},
    ]}
    assert Truth(made).expected["2/gradient:v0"].bounds.tolist() == [[0] * 4]
    flushing = Truth(made, Declared(flushed="operands")).expected["2/gradient:v0"].bounds
    assert flushing.tolist() == [[np.inf] * 4]  # also where this order leaves 0


@pytest.mark.clause("oracle/relations-bounds")
def test_relations_follow_a_declaration() -> None:
    specs = {"x": [3, 4], "w": [5, 4]}
    made = {
        "version": 1, "level": 2, "heads": [[2, 0], [3, 0]],
        "nodes": [
            {"op": "null", "name": "x"}, {"op": "null", "name": "w"},
            {"op": "FullyConnected", "name": "y", "inputs": [[0, 0], [1, 0]],
             "attrs": {"num_hidden": "5", "no_bias": "True"}},
            {"op": "negative", "name": "z", "inputs": [[2, 0]], "attrs": {}},
        ],
        "arrays": {n: {"shape": s, "dtype": "float32", "style": "normal", "seed": 1} for n, s in specs.items()},
        "steps": [{"do": "bind", "requirements": {"x": "write"}}, {"do": "forward", "train": True}, {
            "do": "backward",
            "heads": [{"shape": [3, 5], "dtype": "float32", "style": "normal", "seed": seed} for seed in (5, 6)],
        }],
    }
    silent = variants.backend_of(emulations.Emulated("bfloat16", "bfloat16"), "")
    assert relations.broken(emulations.bfloat16_sums, made, ["heads"]) == []
    assert relations.broken(silent, made, ["heads"])


@pytest.mark.heavy
def test_a_search_shrinks_and_explains_by_the_declaration() -> None:
    found = search(declaring(emulations.bfloat16_sums, products="bfloat16"), seed=0, programs=60, level=2, most=1)
    (cause,) = found.found
    assert cause.cause.operator in ("FullyConnected", "batch_dot")
    assert cause.verdict.confirmed
    assert any(each.passes for each in cause.neighbours)
    assert len(cause.program["nodes"]) <= 5


def test_the_chapter_has_the_count_of_the_committed_results() -> None:
    rows = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    assert not any(row["alarms"] for row in rows)
    assert len({(row["name"], row["level"], row["start"]) for row in rows}) == len(rows)
    assert all(judged(rows, name) >= 2_500 for name in NAMES)
    assert sum(judged(rows, name) for name in NAMES) >= 10_000
    chapter = (RESULTS.parents[2] / "spec/reference/tools/oracle-arithmetic.md").read_text(encoding="utf-8")
    assert f"{sum(judged(rows, name) for name in NAMES):,} programs" in chapter
    assert f"{sum(row['seconds'] for row in rows):,.0f} seconds" in chapter
