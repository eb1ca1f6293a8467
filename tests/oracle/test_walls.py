"""What a search says of what it cannot reach: large exclusions, levels, budgets; and reports of several searches."""

from __future__ import annotations

import html.parser
import json
import time

import numpy as np
import pytest

from refimpl.oracle import Capabilities, Exclusions, Unsupported, judge, name_of, program_of, search
from refimpl.oracle.backends import Reference, forward_backend
from refimpl.oracle.excluding import FINE, narrowed, set_aside
from refimpl.oracle.explaining.causes import Cause
from refimpl.oracle.explaining.shared_functions import functions_of
from refimpl.oracle.judging.comparing import Mismatch, Verdict
from refimpl.oracle.measuring import LARGE, Sample, rows_of, told
from refimpl.oracle.numbering import in_rounds, levels_of, share_of
from refimpl.oracle.pytest_items import left_for_searching
from refimpl.oracle.reaching import reached, unreached
from refimpl.oracle.report_files import PASSES, UNVERIFIED, VERIFIED, index, unverified, verify, write
from refimpl.oracle.reporting import as_data, summary
from refimpl.oracle.triage import report

from .planted_bugs import planted

# --- a coarse exclusion ---------------------------------------------------------------------------


class WideTypes(Reference):
    """Optimizers whose float32 arrays come as float64, and whose momentum is wrong behind that."""

    capabilities = Capabilities(level=5)

    def run(self, program):
        rules = {step["optimizer"] for step in program["steps"] if "optimizer" in step}
        if not rules <= {"sgd", "nag"}:
            raise Unsupported(f"optimizer {rules}, 1 of {len(rules)}")
        given = [step.get("parameters") or {} for step in program["steps"]]
        by = 1.5 if any(each.get("momentum") for each in given) else 1.0
        trace = super().run(program)
        return {
            name: (value * by).astype(np.float64 if value.dtype == np.float32 else value.dtype)
            if value.dtype.kind == "f" else value for name, value in trace.items()
        }


@pytest.mark.clause("oracle/large-exclusions")
def test_a_cause_that_is_everywhere_hides_no_other() -> None:
    result = search(WideTypes(), level=5, programs=200, explain=False)
    causes = {(found.cause.place, found.cause.look) for found in result.found}
    assert ("dtype", "") in causes
    assert ("weight", "other numbers") in causes  # the momentum, in programs whose types are wrong as well
    aside = [each for each in result.excluded if each.row.get("aside") == "dtype"]
    assert aside
    assert all(each.share > LARGE for each in aside)
    assert result.statuses["known"] > 0
    assert any("is judged without its dtype" in text for text in result.warnings)
    assert "exclusions take more than 10% of the drawing" in summary(result)
    data = json.loads(json.dumps(as_data(result)))
    assert data["warnings"] == result.warnings
    assert [row[2] for row in data["excluded"]] == [each.share for each in result.excluded]
    assert any(line == f"warning: {result.warnings[0]}" for line in reached(result))


@pytest.mark.clause("oracle/large-exclusions")
@pytest.mark.parametrize(("by", "kinds"), [(1, ["dtype"]), (1.5, ["dtype", "value"])])
def test_numbers_of_a_wider_type_are_judged_too(by, kinds) -> None:
    class Scaled(Reference):
        def run(self, program):
            return {name: value.astype(np.float64) * by for name, value in super().run(program).items()}

    verdict = judge(Scaled(), program_of(0, 0, Capabilities(level=1, operators=frozenset({"exp"}))))
    assert sorted({mismatch.kind for mismatch in verdict.mismatches}) == kinds


class Fixed:
    """Measures every exclusion by its number of traits."""

    def __init__(self, shares):
        self.shares = shares

    def share(self, row):
        return self.shares[len(row["pattern"])]

    def share_of_all(self, row):
        return 1.0


SGD = {"version": 1, "level": 5, "arrays": {}, "steps": [
    {"do": "create", "optimizer": "sgd", "parameters": {}}, {"do": "update", "indices": [0], "gradients": []},
]}


@pytest.mark.clause("oracle/large-exclusions")
def test_a_large_exclusion_gets_more_traits_first() -> None:
    cause, row = Cause("", "weight", "", "", "zero", "", "", "optimizer=sgd"), {"pattern": ["create", "update"]}
    fine = ["create", "create optimizer=sgd", "level 5", "update"]
    assert narrowed(row, cause, SGD, Fixed({2: 0.1, 4: 0})) == (row, 0.1)
    assert narrowed(row, cause, SGD, Fixed({2: 0.5, 4: 0.05})) == ({"pattern": fine}, 0.05)
    aside = ({**row, "aside": "weight"}, 0.5)
    assert narrowed(row, cause, SGD, Fixed({2: 0.5, 4: 0.2})) == aside
    assert narrowed(row, cause, SGD, Fixed({2: 0.5, 4: 0.05}), times=FINE) == aside  # the fine one did not suffice
    crash = cause._replace(place="crashed")
    assert narrowed(row, crash, SGD, Fixed({})) == (row, 1.0)


def test_what_is_set_aside_is_one_place_of_programs_with_the_traits() -> None:
    left = Exclusions().also(pattern=["update"], aside="weight")
    both = Verdict("failed", [Mismatch("1/weight:0", "value", "w"), Mismatch("1/state:0", "value", "s")], reason="w")
    assert set_aside(left, SGD, both).reason == "s"
    assert set_aside(left, SGD, Verdict("failed", both.mismatches[:1])).status == "known"
    other = {**SGD, "steps": SGD["steps"][:1]}
    assert set_aside(left, other, both) is both


@pytest.mark.clause("oracle/large-exclusions")
def test_exclusions_from_the_beginning_are_measured() -> None:
    class Leaving:
        capabilities, leaves_out = planted().capabilities._replace(corners=True), ("relu", "executor/monitor")

        def run(self, program):
            return planted().run(program)

    rare = Exclusions().also(operator="square", requirement="repeated")
    result = search(Leaving(), level=2, programs=4, exclude=rare)
    shares = {str(row): share for row, share in result.given}
    drawn = [program_of(0, -1 - i, Leaving.capabilities, level=2) for i in range(200)]
    part = sum(any(node["op"] == "relu" for node in program["nodes"]) for program in drawn) / 200
    assert shares["{'operator': 'relu'}"] == part > LARGE
    assert shares["{'operator': 'square', 'requirement': 'repeated'}"] > 0
    assert 0 < shares["{'operator': 'executor/monitor'}"] < 1
    given = rare.also(operator="relu").also(operator="executor/monitor")
    assert [row for row, _ in result.given] == list(rows_of(given))
    large = sorted(((share, told(row)) for row, share in result.given if share > LARGE), reverse=True)
    assert [name for _, name in large if "square" not in name] == ["relu", "executor/monitor"]
    others = "".join(f"; {share:.0%}: {name}" for share, name in large[1:])
    assert result.warnings == [f"{part:.0%} of what can be drawn is left out, from the beginning: relu{others}"]


def test_a_sample_has_supported_programs_alone() -> None:
    sample = Sample(WideTypes(), 0, [5], Exclusions())
    rules = {step["optimizer"] for program in sample.supported(5) for step in program["steps"] if "optimizer" in step}
    assert rules == {"sgd", "nag"}
    assert sample.share({"pattern": ["create", "update"]}) == 1.0
    assert sample.share({"pattern": ["create optimizer=adam"]}) == 0.0


# --- levels ---------------------------------------------------------------------------------------


@pytest.mark.clause("oracle/levels")
def test_a_search_without_a_level_draws_all_that_are_offered() -> None:
    class Some(Reference):
        capabilities = Capabilities(level=3, others=(6,), operators=frozenset({"relu", "FullyConnected"}))

    result = search(Some(), programs=10)
    assert {level: sum(counts.values()) for level, counts in result.levels.items()} == {1: 3, 2: 3, 3: 2, 6: 2}
    assert result.drawn["levels"] == [1, 2, 3, 6] == levels_of(Some.capabilities)
    assert levels_of(Some.capabilities, 2) == [2]


@pytest.mark.clause("oracle/levels")
def test_a_level_without_anything_to_draw_is_left_out_and_said() -> None:
    class Optimizing(Reference):
        capabilities = Capabilities(level=2, others=(5,), operators=frozenset({"no_such"}))

    result = search(Optimizing(), programs=4)
    assert list(result.levels) == [5]
    assert unreached(result)["levels"] == ["1", "2"]


def test_levels_share_a_budget_by_time(monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    capabilities = Capabilities(level=2, operators=frozenset({"relu"}))
    drawn = {1: 0, 2: 0}
    for programs in in_rounds(0, capabilities, [1, 2], lambda _: Exclusions()):
        for number, program in programs:
            assert number == drawn[program["level"]]
            drawn[program["level"]] += 1
            now[0] += 10.0 if program["level"] == 2 else 1.0  # level 2 takes ten times as long
        if now[0] > 2000:
            break
    assert 8 * drawn[2] <= drawn[1] <= 12 * drawn[2]


@pytest.mark.parametrize(("programs", "parts", "levels"), [(61, 2, 2), (10, 3, 6), (7, 4, 1), (100, 7, 3)])
def test_shards_have_all_programs_of_all_levels(programs, parts, levels) -> None:
    assert sum(share_of(programs, part, parts, levels) for part in range(parts)) == programs


@pytest.mark.clause("oracle/unreached")
def test_what_was_not_reached_is_said() -> None:
    class Partly(Reference):
        capabilities = Capabilities(level=2, operators=frozenset({"relu", "exp", "tanh"}))

        def run(self, program):
            for node in program["nodes"]:
                if node["op"] in ("exp", "tanh"):
                    raise Unsupported(f"no {node['op']} of {len(program['nodes'])} nodes")
            return super().run(program)

    result = search(Partly(), programs=30)
    assert unreached(result)["operators"] == ["exp", "tanh"]
    lines = reached(result)
    count = result.statuses["unsupported"]
    assert sum(result.unsupported.values()) == count > 10
    assert set(result.unsupported) == {"no exp of # nodes", "no tanh of # nodes"}
    assert f"unsupported, {result.unsupported['no exp of # nodes']} programs: no exp of # nodes" in lines
    assert any(line.startswith("not reached, 2 operators: exp, tanh") for line in lines)
    data = json.loads(json.dumps(as_data(result)))
    assert data["unreached"] == unreached(result)
    assert data["unsupported"] == dict(result.unsupported)
    assert {int(level): counts for level, counts in data["levels"].items()} == result.levels


# --- one mechanism --------------------------------------------------------------------------------


def inexact(x):
    """1 / x with 12 bits."""
    found = np.float32(1) / np.asarray(x, np.float32)
    return (found.view(np.int32) & ~0x7FF).view(np.float32)


RULES = {
    "reciprocal": lambda p, x: inexact(x), "elemwise_div": lambda p, a, b: a * inexact(b),
    "broadcast_div": lambda p, a, b: a * inexact(b), "_rdiv_scalar": lambda p, x: np.float32(p.scalar) * inexact(x),
    "softsign": lambda p, x: x * inexact(1 + abs(x)), "sigmoid": lambda p, x: inexact(1 + np.exp(-x)),
    "rsqrt": lambda p, x: inexact(np.sqrt(x)), "rcbrt": lambda p, x: inexact(np.cbrt(x)),
    "exp": lambda p, x: np.exp(x), "sqrt": lambda p, x: np.sqrt(x), "cbrt": lambda p, x: np.cbrt(x),
    "square": lambda p, x: x * x + 1, "negative": lambda p, x: -x,
}


@forward_backend(operators=RULES, styles=("dyadic", "smooth", "normal"))
def reciprocals(symbol, args, aux, is_train):
    """Right but for a reciprocal that eight operators share, and for ``square``, which adds 1."""
    with np.errstate(all="ignore"):
        return symbol.evaluate({**args, **aux}, lambda node, inputs: RULES[node.op](node.p, *inputs))


@pytest.mark.clause("oracle/mechanisms")
def test_one_inexact_function_is_one_mechanism_whichever_operators_have_it() -> None:
    data = json.loads(json.dumps(as_data(search(reciprocals, programs=250, repeats=1, explain=False))))
    lines = [line for line in report([data]).splitlines() if line.startswith("# root cause: ")]
    [division] = [line for line in lines if "division" in line]
    assert "of its result" in division
    names = division.partition("causes in ")[2].partition(";")[0].split(", ")
    assert set(names) >= {"reciprocal", "elemwise_div", "broadcast_div", "softsign", "sigmoid", "rsqrt"}
    assert "square" not in names
    assert sum("square" in line for line in lines) == 1
    assert f"{len(lines)} root causes" in report([data])


class Wide(Reference):
    """Every output comes as float64."""

    capabilities = planted().capabilities

    def run(self, program):
        return {name: value.astype(np.float64) for name, value in super().run(program).items()}


@pytest.mark.clause("oracle/mechanisms")
def test_one_factor_and_one_wrong_type_are_one_mechanism_each() -> None:
    rounded = json.loads(json.dumps(as_data(search(planted("rounded"), level=1, programs=20, explain=False))))
    assert len({entry["cause"]["operator"] for entry in rounded["found"]}) > 1
    lines = [line for line in report([rounded]).splitlines() if line.startswith("# root cause: ")]
    assert any("every number is 1.0001 times the right one" in line for line in lines)
    types = json.loads(json.dumps(as_data(search(Wide(), level=1, programs=20, explain=False))))
    assert len({entry["cause"]["operator"] for entry in types["found"]}) > 1
    [line] = [line for line in report([types]).splitlines() if line.startswith("# root cause: ")]
    assert line.startswith("# root cause: type float64 instead of float32; ")


@pytest.mark.parametrize(("operator", "functions"), [
    ("softsign", {"division"}), ("sigmoid", {"division", "exp"}), ("elemwise_div", {"division"}), ("relu", set()),
    ("rsqrt", {"division", "sqrt"}),
])
def test_the_functions_of_a_program_are_those_of_its_pages(operator, functions) -> None:
    inputs = 2 if operator == "elemwise_div" else 1
    spec = {"shape": [2], "dtype": "float32", "elements": [1.0, 2.0]}
    program = {
        "version": 1, "level": 1, "heads": [[inputs, 0]], "arrays": {f"v{i}": spec for i in range(inputs)},
        "nodes": [
            *({"op": "null", "name": f"v{i}"} for i in range(inputs)),
            {"op": operator, "name": "n", "inputs": [[i, 0] for i in range(inputs)], "attrs": {}},
        ],
        "steps": [{"do": "bind"}, {"do": "forward", "train": False}],
    }
    assert functions_of(program) == functions
    assert functions_of({**program, "level": 3}) == set()


# --- budgets and reports --------------------------------------------------------------------------


@pytest.mark.clause("oracle/budget")
def test_after_the_time_nothing_is_explained_or_verified_and_that_is_said(tmp_path, monkeypatch) -> None:
    now = [0.0]

    backend, plain = planted("rounded"), planted("rounded").run

    def run(program):
        now[0] += 1.0
        return plain(program)

    monkeypatch.setattr(backend, "run", run)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    result = search(backend, level=1, seconds=3)
    assert result.found
    assert all(found.late and found.where is None and not found.neighbours for found in result.found)
    assert result.seconds <= 3 + 2 + 3  # what is running, and LAST_SECONDS to shrink
    write(result, tmp_path, "tests.oracle.planted_bugs:rounded", until=now[0])
    count = len(result.found)
    assert unverified(result) == (
        f"the time was over: {count} causes are not explained and {count} scripts are not verified"
    )
    data = json.loads((tmp_path / "results.json").read_text())
    assert {(each["late"], each["script"]) for each in data["found"]} == {(True, "unverified")}
    script = (tmp_path / f"{name_of(result.found[0].program)}.py").read_text()
    assert script.startswith("# not verified: the time was over")


@pytest.mark.clause("oracle/budget")
def test_a_quarter_of_a_budget_is_kept_for_scripts() -> None:
    began = time.monotonic()
    assert 44 < left_for_searching(began, began + 60, report=True) <= 45
    assert 59 < left_for_searching(began, began + 60, report=False) <= 60
    assert left_for_searching(began - 100, began - 40, report=True) == 0


def test_a_script_that_the_time_cuts_off_is_not_verified(monkeypatch) -> None:
    endless = "print('running', flush=True)\nwhile True: pass\n"
    with monkeypatch.context() as patch:
        patch.setattr("subprocess.run", None)  # no process is started
        assert verify(endless, seconds=0) == UNVERIFIED
    assert verify(endless, seconds=0.2) == UNVERIFIED
    assert verify("print('running', flush=True)\nraise SystemExit(1)\n") == VERIFIED
    assert verify("print('running', flush=True)\n") == PASSES


class Links(html.parser.HTMLParser):
    """The links, anchors, headings and scopes of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.tags, self.scopes = [], set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self.tags.append(tag)
        self.links += [told["href"]] if tag == "a" else []
        self.ids |= {told["id"]} if "id" in told else set()
        self.scopes += [told.get("scope")] if tag == "th" else []


@pytest.mark.clause("oracle/index")
def test_one_index_links_every_report_and_every_cause(tmp_path) -> None:
    for part in ("1-of-2", "2-of-2"):
        result = search(planted("tie"), start=int(part[0]) - 1, step=2, programs=30, explain=False)
        write(result, tmp_path, "tests.oracle.planted_bugs:tie", part=part, until=0)
    text = index(tmp_path).read_text()
    page = Links(text)
    assert {"1-of-2/report.html", "2-of-2/report.html"} <= set(page.links)
    for link in page.links:
        file, _, anchor = link.partition("#")
        assert not anchor or anchor in Links((tmp_path / file).read_text()).ids
    assert sum("#" in link for link in page.links) > 0
    assert set(page.scopes) == {"col", "row"}
    assert {"title", "main", "h1", "h2", "caption"} <= set(page.tags)
    assert "<html lang=en>" in text
    assert "script" not in page.tags
