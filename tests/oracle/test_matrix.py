"""Operators by runtimes: states of operators, lines of the file, and the page."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser

import pytest

from refimpl.cli import main
from refimpl.oracle import matrix, matrix_page, report_files
from refimpl.oracle.drawing.drawn_graphs import drawable
from refimpl.oracle.expectations import Expectations

PROGRAM = {
    "version": 1, "level": 1, "heads": [[1, 0]], "steps": [{"do": "bind"}, {"do": "forward", "train": False}],
    "arrays": {"v0": {"shape": [2], "dtype": "float32", "seed": 0, "style": "dyadic"}},
}


def _found(operator: str, place: str = "output", look: str = "zero", again: int = 0) -> dict:
    nodes = [{"op": "null", "name": "v0"}, {"op": operator, "name": "n1", "inputs": [[0, 0]]}]
    return {
        "cause": {"operator": operator, "place": place, "input": "", "requirement": "", "look": look, "consumers": ""},
        "program": {**PROGRAM, "nodes": nodes}, "clause": "unary/elementwise", "reason": "is 0, expected 1",
        "again": again, "seconds": 1.0, "number": 3, "name": f"{operator}1",
    }


def _results(**more) -> dict:
    return {
        "version": 3, "runtime": "Mine 1.2", "backend": "mine:backend", "date": "2026-01-02", "programs": 40,
        "seconds": 9.6, "processor": 4.2, "drawn": {"seed": 7, "levels": [1]}, "given": [],
        "elements": {"exact": 5, "bounded": 3, "statistical": 0, "free": 9}, "unsupported": {}, "unreached": {},
        "known": [], "found": [],
        "covered": [["relu", "none", "1", "float32", "predict", 3], ["relu", "none", "2", "float32", "train", 4]],
        **more,
    }


@pytest.mark.clause("oracle/matrix")
def test_an_operator_is_what_its_worst_cause_says():
    line = matrix.condensed([_results(
        covered=[[name, "none", "1", "float32", "predict", 2] for name in ("relu", "tanh", "abs", "sign", "exp")],
        found=[
            _found("tanh", look="nearly right"), _found("exp", look="nearly right"), _found("exp", again=2),
            _found("sign", place="refused", look="no"), _found("abs", place="crashed", look="no"),
            _found("abs", place="shape", look=""),
        ],
    )])
    states = {name: matrix.state(line, name)[0] for name in ("relu", "tanh", "exp", "sign", "abs")}
    assert states == {"relu": "right", "tanh": "digits", "exp": "differs", "sign": "fails", "abs": "differs"}
    assert matrix.state(line, "exp")[1].count("is 0, expected 1") == 2
    assert [cause["programs"] for cause in line["causes"]] == [1, 1, 3, 1, 1, 1]


@pytest.mark.clause("oracle/matrix")
def test_an_operator_that_was_not_judged_was_not_reached_or_is_not_offered():
    line = matrix.condensed([_results(
        given=[[{"operator": "exp"}, 0.1]], unsupported={"_linalg_det has no form": 3, "tan# has no form": 2},
        unreached={"operators": ["_linalg_det", "tan", "exp"]},
    )])
    assert matrix.state(line, "relu") == ("right", "judged 7 times")
    assert matrix.state(line, "_linalg_det") == ("not offered", "_linalg_det has no form")
    assert matrix.state(line, "tan")[0] == "not reached"  # the reason names another operator
    assert matrix.state(line, "exp") == ("not offered", "left out")
    assert matrix.state(line, "sinh")[0] == "not offered"


@pytest.mark.clause("oracle/matrix")
def test_searches_of_one_implementation_come_together_and_others_do_not():
    second = _results(
        drawn={"seed": 8, "levels": [1, 2]}, unreached={"operators": ["tan"]}, found=[_found("relu", again=1)],
        covered=[["tan", "none", "1", "float32", "predict", 1]],
    )
    first = _results(unreached={"operators": ["tan", "sinh"]}, found=[_found("relu")])
    line = matrix.condensed([first, second])
    assert (line["levels"], line["judged"]) == ([1, 2], 16)
    assert line["searches"] == [[7, 40, 10, 4], [8, 40, 10, 4]]
    assert line["unreached"] == {}  # the second search reached the one, and could not draw the other
    assert [cause["programs"] for cause in line["causes"]] == [3]
    with pytest.raises(ValueError, match="one implementation"):
        matrix.condensed([first, {**second, "runtime": "Mine 1.3"}])
    with pytest.raises(ValueError, match="one implementation"):
        matrix.condensed([])
    with pytest.raises(ValueError, match="no search judged a graph"):
        matrix.condensed([_results(covered=[], elements={})])
    assert matrix.condensed([first, _results(covered=[], elements={})])["judged"] == 8


@pytest.mark.clause("oracle/matrix")
def test_rows_explain_causes_and_are_needed_where_failures_were_expected():
    rows = [
        {"id": "a", "operator": "relu", "trace": "output", "reason": "its own zero", "clause": "unary/at-zero"},
        {"id": "b", "operator": "tan", "trace": "refused", "reason": "no tangent"},
    ]
    results = [_results(found=[_found("relu"), _found("relu", place="refused")], known=["b"])]
    line = matrix.condensed(results, Expectations(rows))
    assert matrix.state(line, "tan") == ("fails", "row b (no tangent)")
    assert [cause["reason"] for cause in line["causes"]] == ["no tangent", "its own zero", "is 0, expected 1"]
    with pytest.raises(ValueError, match="that are not there: b"):
        matrix.condensed(results)


def test_a_line_takes_the_place_of_the_same_implementations():
    old = [matrix.condensed([_results()]), matrix.condensed([_results(backend="other:backend", runtime="A 1")])]
    new = matrix.condensed([_results(runtime="Mine 2.0")])
    assert [line["runtime"] for line in matrix.merged(old, new)] == ["A 1", "Mine 2.0"]


class Cells(HTMLParser):
    """The cells of the first table, and addresses and links of the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids |= {found["id"]} if "id" in found else set()
        self.links |= {found["href"].removeprefix("#")} if "href" in found else set()


@pytest.mark.clause("oracle/matrix")
def test_the_page_tells_states_by_signs_and_leads_to_causes():
    hostile = _results(backend="b:<i>", runtime="<b>Other</b>", found=[_found("tanh") | {"reason": "<script>"}])
    lines = [matrix.condensed([_results(found=[_found("relu", look="nearly right")])]), matrix.condensed([hostile])]
    page = matrix_page.page(lines)
    seen = Cells(page)
    assert seen.links == {"0-relu", "1-tanh"} <= seen.ids
    row = re.search(r"<th scope=row>relu(.*?)<tr>", page, re.DOTALL)[1]
    assert re.sub("<[^>]*>", "", row) == "\N{ALMOST EQUAL TO}\N{CHECK MARK}"
    assert "No runtime was offered" in page
    assert page.count("<th scope=row>tanh<") == 1
    assert "<script>" not in page
    assert "<b>Other" not in page
    assert "refimpl oracle check &quot;mine:backend&quot; --level 1 --seed 7 --programs 40" in page


def test_the_heads_of_columns_differ():
    modes = ("mode='a'", "mode='b'")
    named = [matrix.condensed([_results(backend=f"b:on({mode})", runtime="X 1, opset 2")]) for mode in modes]
    assert matrix_page.short_names(named) == ["X 1 mode=a", "X 1 mode=b"]


@pytest.mark.clause("oracle/matrix")
def test_the_command_writes_a_line_and_a_page(tmp_path, monkeypatch, capsys):
    def ran(*arguments):
        monkeypatch.setattr(sys, "argv", ["refimpl", "oracle", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr().out

    monkeypatch.setattr(report_files, "verify", lambda *_, **__: report_files.PASSES)  # scripts are not what is tested
    rounded = "tests.oracle.planted_bugs:rounded"
    assert ran("check", rounded, "--programs", 2, "--level", 1, "--seed", 1, "--report", tmp_path / "out")[0] == 1
    results = tmp_path / "out/results.json"
    data = json.loads(results.read_text())
    assert (data["runtime"], data["known"]) == ("", [])
    assert data["processor"] > 0
    out, page = tmp_path / "matrix.jsonl", tmp_path / "matrix.html"
    code, said = ran("matrix", results, "--out", out, "--page", page)
    assert not code
    counts = matrix.counts(matrix.read(out)[0])
    assert sum(counts.values()) == len(drawable())
    assert said.startswith(f"{rounded}: ")
    assert f"{counts['not reached']} not reached" in said
    assert "</table>" in page.read_text(encoding="utf-8")
    out.write_text("[]\n")
    assert ran("matrix", results, "--out", out)[0] == 2
