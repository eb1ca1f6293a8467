"""The suite as files: bounds that are folded, verdicts in three languages, faults that fail, hostile files."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from refimpl.oracle import trace_of
from refimpl.oracle.backends.ours import Ours
from refimpl.oracle.backends.variants import variant
from refimpl.oracle.drawing.draws import SeededDraw
from refimpl.oracle.judging.reference import Expected
from refimpl.oracle.suite import answering, verdicts
from refimpl.oracle.suite.elements import number, rounded, with_elements
from refimpl.oracle.suite.expecting import above, expected_arrays, folded
from refimpl.oracle.suite.exporting import export
from refimpl.oracle.suite.random_cases import shares

from .json_schemas import allows
from .test_cli_oracle import refimpl  # noqa: F401  # a fixture

OPERATORS = ["exp", "relu", "softmax", "sum"]


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite") / "suite"
    export(folder, seed=3, levels=[1, 2], programs=4, only=OPERATORS)
    return folder


@pytest.fixture(scope="module")
def right(suite, tmp_path_factory):
    file = tmp_path_factory.mktemp("answers") / "right.jsonl"
    answering.write(Ours("tuned", ("float16", "float32", "float64")), suite, file)
    return file


def rows(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def written(folder, answers):
    file = folder / "answers.jsonl"
    file.write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    return file


# --- numbers --------------------------------------------------------------------------------------


def test_elements_are_the_shortest_decimals() -> None:
    values = [np.float32(0.1), np.float16(0.1), np.float64(0.1), np.float32(2), np.float32(np.inf), np.int64(7)]
    assert [number(value) for value in values] == [0.1, 0.1, 0.1, 2, "inf", 7]
    assert json.dumps(number(np.float32(-0.0))) == "-0.0"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_elements_come_back(dtype) -> None:
    bits = np.random.RandomState(1).randint(0, 256, 800 * np.dtype(dtype).itemsize).astype(np.uint8)
    values = bits.view(dtype)
    back = rounded([number(value) for value in values], dtype)
    assert np.array_equal(back, values.astype(np.float64), equal_nan=True)


def test_every_array_of_a_program_has_elements() -> None:
    spec = {"shape": [2], "dtype": "float32", "style": "dyadic", "seed": 1}
    step = {"do": "push", "values": [[spec]], "data": [{"name": "d", "shape": [2], "dtype": "float32"}]}
    made = with_elements({"steps": [step]})["steps"][0]
    assert len(made["values"][0][0]["elements"]) == 2
    assert made["data"] == step["data"]  # a description of an array is none


# --- bounds ---------------------------------------------------------------------------------------


@pytest.mark.clause("oracle/suite-bounds")
def test_the_larger_bound_counts() -> None:
    reference = np.array([1, 1, 1, np.nan], np.float32)
    first = Expected(np.array([1, 1, 1, np.nan]), np.array([1e-7, 0, 5.0, 0]))
    proved = Expected(np.array([1 + 1e-7, 1, 1, np.nan]), np.array([2e-7, 0, 1e-7, 0]))
    values, bounds = folded(reference, first, proved)
    assert bounds[0] == pytest.approx(3e-7)  # reaches the end of the second interval
    assert bounds[1:].tolist() == [0, np.inf, 0]  # a bound of more than a tenth says nothing
    assert values[:3].tolist() == [1, 1, 1]


@pytest.mark.clause("oracle/suite-bounds")
def test_written_bounds_are_not_smaller() -> None:
    draw = np.random.RandomState(2)
    for bound in 10.0 ** draw.uniform(-40, 3, 500):
        assert bound <= above(bound) <= bound * 1.02


def test_same_seed_same_bytes(suite, tmp_path) -> None:
    export(tmp_path / "again", seed=3, levels=[1, 2], programs=4, only=OPERATORS)
    for path in sorted(suite.rglob("*")):
        assert path.is_dir() or path.read_bytes() == (tmp_path / "again" / path.relative_to(suite)).read_bytes()


# --- random numbers -----------------------------------------------------------------------------------


def expected(program):
    return expected_arrays(with_elements(program))


@pytest.mark.clause("oracle/suite-random")
@pytest.mark.parametrize("name", ["_random_normal", "_random_randint", "_sample_poisson", "_sample_multinomial",
                                  "_shuffle", "Dropout"])
def test_shares_are_probabilities(name) -> None:
    program = shares(SeededDraw(f"shares {name}"), name, double=False)
    arrays = list(expected(program).values())
    assert len(arrays) >= 6
    trace = list(trace_of(program).values())
    for array, got in zip(arrays, trace, strict=True):
        assert got.size == len(array["elements"]) <= 3
        for value, bound, own in zip(array["elements"], array["bound"], got, strict=True):
            assert 0 <= value <= 1
            assert abs(own - value) <= bound <= 0.041


@pytest.mark.clause("oracle/suite-random")
def test_a_share_of_a_uniform_number_by_hand() -> None:
    nodes = [
        {"op": "_random_uniform", "name": "u", "attrs": {"low": "-1", "high": "3", "shape": "(20000,)"}},
        {"op": "_lesser_equal_scalar", "name": "c", "inputs": [[0, 0]], "attrs": {"scalar": "0"}},
        {"op": "mean", "name": "m", "inputs": [[1, 0]], "attrs": {}},
    ]
    steps = [{"do": "bind"}, {"do": "seed", "value": 1}, {"do": "forward", "train": True}]
    program = {"version": 1, "level": 1, "nodes": nodes, "heads": [[2, 0]], "arrays": {}, "steps": steps}
    array = expected(program)["2/output0"]
    assert array["elements"] == [0.25]
    assert array["bound"] == [pytest.approx((21.416 / 40000) ** 0.5, rel=0.02)]  # Hoeffding, 2 exp(-21.416) = 1e-9


@pytest.mark.clause("oracle/suite-random")
def test_ranges_hold_the_numbers_and_nothing_far_away() -> None:
    nodes = [{"op": "_random_uniform", "name": "u", "attrs": {"low": "-1", "high": "3", "shape": "(4,)"}}]
    steps = [{"do": "bind"}, {"do": "seed", "value": 1}, {"do": "forward", "train": True}]
    program = {"version": 1, "level": 1, "nodes": nodes, "heads": [[0, 0]], "arrays": {}, "steps": steps}
    array = expected(program)["2/output0"]
    assert array["elements"] == [1] * 4
    assert array["bound"] == [pytest.approx(2, rel=0.01)] * 4


@pytest.mark.clause("oracle/suite-random")
def test_dropout_keeps_between_nothing_and_all() -> None:
    data = {"shape": [2], "dtype": "float32", "elements": [3, -6]}
    nodes = [{"op": "null", "name": "data"},
             {"op": "Dropout", "name": "d", "inputs": [[0, 0]], "attrs": {"p": "0.25"}}]
    head = {"shape": [2], "dtype": "float32", "elements": [1, 1]}
    steps = [{"do": "bind", "requirements": {"data": "write"}}, {"do": "seed", "value": 1},
             {"do": "forward", "train": True}, {"do": "backward", "heads": [head]}, {"do": "forward", "train": False}]
    program = {"version": 1, "level": 2, "nodes": nodes, "heads": [[1, 0]], "arrays": {"data": data}, "steps": steps}
    arrays = expected(program)
    assert arrays["2/output0"]["elements"] == pytest.approx([2, -4], rel=1e-3)  # between 0 and 4, and 0 and -8
    assert arrays["2/output0"]["bound"] == pytest.approx([2, 4], rel=0.02)
    assert arrays["3/gradient:data"]["elements"] == pytest.approx([2 / 3] * 2, rel=1e-3)
    assert arrays["4/output0"] == {"shape": [2], "dtype": "float32", "elements": [3, -6], "bound": 0}
    nodes[1]["attrs"]["p"] = "0"
    assert expected(program)["3/gradient:data"]["elements"] == [1, 1]
    assert expected(program)["3/gradient:data"]["bound"] == 0


# --- schemas ------------------------------------------------------------------------------------------


def test_cases_are_allowed_by_their_schema_and_other_programs_are_not(suite) -> None:
    schema = json.loads((suite / "schema" / "case.schema.json").read_text())
    for case in verdicts.programs(suite):
        assert allows(schema, case)
    program = case["program"]
    for other in ({**program, "speed": 1}, {**program, "steps": [{"do": "fly"}]}, {**program, "level": 9},
                  {**program, "arrays": {"x": {"shape": [1], "dtype": "float32", "style": "dyadic", "seed": 1}}}):
        assert not allows(schema, {**case, "program": other})


# --- verdicts -------------------------------------------------------------------------------------


def test_right_implementations_pass(suite, right, tmp_path) -> None:
    report = verdicts.judge(suite, right)
    assert set(report.statuses.values()) == {"passed"}
    for name in ("backwards", "blocked", "double"):
        answering.write(variant(name), suite, tmp_path / "a.jsonl")
        counts = verdicts.judge(suite, tmp_path / "a.jsonl").counts()
        assert counts["failed"] == 0
        assert counts["passed"] > 8


def changed(array, at, value):
    return {**array, "elements": [value if i == at else each for i, each in enumerate(array["elements"])]}


@pytest.mark.clause("oracle/suite-rule")
def test_the_rule() -> None:
    wanted = verdicts.wanted_of(
        {"shape": [5], "dtype": "float32", "elements": [0.1, 1, "nan", 0, "inf"], "bound": [0, 1e-3, 0, "free", 0]}
    )
    got = {"shape": [5], "dtype": "float32", "elements": [0.10000000149011612, 1.0009, "nan", 77, "inf"]}
    assert verdicts.difference(wanted, got) == ""
    for at, value in [(0, 0.10000001), (1, 1.0011), (2, 0), (4, 3e38)]:
        assert f"[{at}] is" in verdicts.difference(wanted, changed(got, at, value))
    assert "shape" in verdicts.difference(wanted, {**got, "shape": [1, 5]})
    assert "type" in verdicts.difference(wanted, {**got, "dtype": "float64"})
    assert "elements" in verdicts.difference(wanted, {**got, "elements": [0.1]})
    assert "not in the trace" in verdicts.difference(wanted, None)


def faults(right, cases):
    """Answers of which some are wrong, in every way that the rule knows."""
    made = []
    for place, answer in enumerate(rows(right)):
        trace = answer["trace"]
        wanted = cases[answer["case"]].trace
        name = next((n for n, a in trace.items() if wanted[n].values is not None and a["elements"]), None)
        if name is not None and place % 8 < 6:
            array = trace[name]
            first = np.nan_to_num(rounded(array["elements"][:1], "float64")[0])
            trace[name] = [
                changed(array, 0, 1e30), changed(array, 0, "nan"), {**array, "dtype": "int32"},
                {**array, "shape": [*array["shape"], 1]}, {**array, "elements": [*array["elements"], 0]},
                changed(array, 0, first * 1.001 + 1e-3),
            ][place % 8]
        made.append({"case": answer["case"], "refused": "é\n"} if place % 8 == 6 else answer)
    return [*made[:-3], {"case": made[-3]["case"], "unsupported": ""}]


def said(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    failed = set(re.findall(r"^failed ([^:]+):", done.stdout, re.MULTILINE))
    return done.returncode, failed, done.stdout.splitlines()[-1:]


@pytest.fixture(scope="module")
def judges(suite, tmp_path_factory):
    found = []
    if shutil.which("node"):
        found.append(["node", str(suite / "judge.js")])
    if shutil.which("cc"):
        program, source = str(tmp_path_factory.mktemp("judge") / "judge"), str(suite / "judge.c")
        subprocess.run(["cc", "-std=c99", "-O1", "-Wall", "-Werror", source, "-o", program, "-lm"], check=True)
        found.append([program])
    if not found:
        pytest.skip("needs node or a C compiler")
    return found


@pytest.mark.clause("oracle/suite-rule")
def test_other_languages_agree(suite, right, judges, tmp_path) -> None:
    answers = written(tmp_path, faults(right, verdicts.read_cases(suite)))
    ours = verdicts.judge(suite, answers)
    failed = {name for name, status in ours.statuses.items() if status == "failed"}
    assert len(failed) > 10
    assert {"passed", "unsupported", "missing"} <= set(ours.statuses.values())
    for command in judges:
        assert said([*command, str(suite), str(answers)]) == (1, failed, [verdicts.text_of(ours).splitlines()[-1]])
        assert said([*command, str(suite), str(right)])[0] == 0


HOSTILE = {
    "no JSON": "{",
    "no JSON: NaN": '{"case": "1-relu-00", "trace": NaN}',
    "nested": "[" * 200_000,
    "not an object": "[1]",
    "no case": '{"case": "9-none-00", "refused": ""}',
    "no case list": '{"case": [], "refused": ""}',
    "one of trace": '{"case": "1-relu-00"}',
    "one of trace, refused": '{"case": "1-relu-00", "refused": "", "unsupported": ""}',
    "twice": '{"case": "1-relu-00", "refused": ""}\n{"case": "1-relu-00", "refused": ""}',
    "no case is answered": "\n\n",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_other_answers_are_refused_everywhere(suite, judges, tmp_path, text) -> None:
    (tmp_path / "answers.jsonl").write_text(text)
    with pytest.raises(ValueError, match=r"answers\.jsonl"):
        verdicts.judge(suite, tmp_path / "answers.jsonl")
    for command in judges:
        assert said([*command, str(suite), str(tmp_path / "answers.jsonl")])[0] == 2


@pytest.mark.parametrize("trace", [
    7, {"1/output0": 7}, {"1/output0": {"shape": [10**12], "dtype": "float32", "elements": []}},
    {"1/output0": {"shape": [-1], "dtype": "object", "elements": {}}},
])
def test_hostile_traces_fail(suite, trace) -> None:
    cases = verdicts.read_cases(suite)
    report = verdicts.judged(cases, [{"case": "1-relu-00", "trace": trace}], "here")
    assert report.statuses["1-relu-00"] == "failed"


def test_elements_that_are_no_numbers() -> None:
    for elements in ([True], ["1"], [None], [[1]], [10**400], "12"):
        with pytest.raises(ValueError, match="element"):
            rounded(elements, "float32")


# --- the command line -----------------------------------------------------------------------------


@pytest.mark.clause("Cli/oracle-input")
def test_commands(refimpl, suite, tmp_path) -> None:  # noqa: F811
    assert refimpl("export", tmp_path / "s", "--level", 1, "--operators", "relu", "--programs", 2)[0] == 0
    code, found = refimpl("answer", tmp_path / "s", "refimpl.oracle.backends.ours:plain", tmp_path / "a.jsonl")
    assert code == 0
    code, found = refimpl("judge", tmp_path / "s", tmp_path / "a.jsonl")
    assert code == 0
    assert "0 failed" in found.out
    first = rows(tmp_path / "a.jsonl")[0]["case"]
    code, found = refimpl("judge", tmp_path / "s", written(tmp_path, [{"case": first, "refused": "no"}]))
    assert code == 1
    assert f"failed {first}: refused: no" in found.out
    with (tmp_path / "s" / "cases" / "level1.jsonl").open("a") as file:
        file.write("\n")
    for words in (
        ["export", tmp_path / "s"], ["export", tmp_path / "t", "--level", "9"],
        ["judge", tmp_path / "s", tmp_path / "a.jsonl"],
        ["export", tmp_path / "t", "--operators", "none"], ["judge", tmp_path, tmp_path / "a.jsonl"],
    ):
        code, found = refimpl(*words)
        assert code == 2
        assert "\n" not in found.err.strip()
