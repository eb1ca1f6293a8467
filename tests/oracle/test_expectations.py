"""oracle.toml: what a row fits, and one test for each refusal."""

from __future__ import annotations

import pytest

from refimpl.oracle import judge
from refimpl.oracle.expectations import Expectations, most_readers
from refimpl.oracle.judging.comparing import Mismatch, Verdict

from .planted_bugs import planted


def read(tmp_path, text):
    path = tmp_path / "oracle.toml"
    path.write_text(text, encoding="utf-8")
    return Expectations.read(path)


PROGRAM = {
    "version": 1, "level": 2, "heads": [[1, 0], [2, 0]],
    "nodes": [
        {"op": "null", "name": "a"}, {"op": "relu", "name": "n", "inputs": [[0, 0]], "attrs": {}},
        {"op": "_mul_scalar", "name": "m", "inputs": [[0, 0]], "attrs": {"scalar": "2.0"}},
    ],
    "arrays": {"a": {"shape": [2], "dtype": "float32", "elements": [0, 1]}},
    "steps": [{"do": "bind", "requirements": {"a": "add"}}],
}


def fails(name, kind="value"):
    return Verdict("failed", [Mismatch(name, kind, "")])


@pytest.mark.parametrize(("row", "name", "kind", "fits"), [
    ('operator = "relu"', "1/output0", "value", True),
    ('operator = "tanh"', "1/output0", "value", False),
    ('operator = "relu"\ntrace = "output"', "1/output3", "value", True),
    ('trace = "gradient"', "2/gradient:a", "value", True),
    ('trace = "gradient"', "2/output0", "value", False),
    ('trace = "crashed"', "", "crashed", True),
    ('requirement = "add"', "2/gradient:a", "value", True),
    ('requirement = "write"', "2/gradient:a", "value", False),
    ("level = 2", "1/output0", "value", True),
    ("level = 3", "1/output0", "value", False),
    ("consumers = 2", "1/output0", "value", True),
    ("consumers = 3", "1/output0", "value", False),
    ('operator = "_mul_scalar"\nattrs = {scalar = "2.0"}', "1/output0", "value", True),
    ('operator = "_mul_scalar"\nattrs = {scalar = "3.0"}', "1/output0", "value", False),
])
def test_what_a_row_fits(tmp_path, row, name, kind, fits) -> None:
    known = read(tmp_path, f'[[expected]]\nid = "x"\nreason = "known"\n{row}\n')
    assert known.covers(PROGRAM, fails(name, kind)) is fits
    assert known.used == ({"x"} if fits else set())


def test_every_mismatch_needs_a_row(tmp_path) -> None:
    known = read(tmp_path, '[[expected]]\nreason = "known"\ntrace = "output"\n')
    both = Verdict("failed", [*fails("1/output0").mismatches, *fails("2/gradient:a").mismatches])
    assert not known.covers(PROGRAM, both)
    assert not known.covers(PROGRAM, Verdict("failed"))


def test_excluded_rows_are_not_drawn(tmp_path) -> None:
    known = read(tmp_path, (
        '[[excluded]]\noperator = "exp"\nreason = "ends the process"\n'
        '[[excluded]]\noperator = "clip"\nrequirement = "add"\nreason = "overwrites"\n'
        '[[excluded]]\nmany_readers = true\nreason = "loses some"\n'
    ))
    assert known.exclusions.operators == {"exp"}
    assert known.exclusions.requirements == {("clip", "add")}
    assert known.exclusions.many_readers
    assert known.rows == []


def test_a_planted_bug_is_expected_where_a_row_says_so(tmp_path) -> None:
    backend = planted("tie")
    steps = [{"do": "bind", "requirements": {"a": "write"}}, {"do": "forward", "train": True},
             {"do": "backward", "heads": [{"shape": [2], "dtype": "float32", "elements": [1, 1]}]}]
    program = {**PROGRAM, "nodes": PROGRAM["nodes"][:2], "heads": [[1, 0]], "steps": steps}
    verdict = judge(backend, program)
    assert verdict.status == "failed"
    assert read(tmp_path, '[[expected]]\noperator = "relu"\nreason = "ties"\n').covers(program, verdict)


def test_readers_are_operators_and_heads() -> None:
    assert most_readers(PROGRAM) == 2
    assert most_readers({**PROGRAM, "heads": [[0, 0], [0, 0]]}) == 4
    assert most_readers({"level": 6}) == 0


@pytest.mark.clause("Cli/oracle-input")
@pytest.mark.parametrize(("text", "message"), [
    ("[[expected]\n", "oracle.toml: "),
    ("[[wrong]]\nreason = 'x'\n", r"there is no table wrong; write \[\[expected\]\] or \[\[excluded\]\]"),
    ("expected = 3\n", "there is no table expected"),
    ("expected = [3]\n", "there is no table expected"),
    ("[[expected]]\nreason = 'x'\nwhen = 'y'\n", r"\[\[expected\]\] has no field when"),
    ("[[expected]]\noperator = 'exp'\n", r"\[\[expected\]\] exp gives no reason"),
    ("[[excluded]]\nreason = 'x'\n", "leaves nothing out"),
])
def test_a_file_that_says_something_else_is_refused(tmp_path, text, message) -> None:
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text)


def test_a_file_that_is_no_text_is_refused(tmp_path) -> None:
    (tmp_path / "oracle.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"oracle\.toml"):
        Expectations.read(tmp_path / "oracle.toml")
