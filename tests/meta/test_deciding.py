"""How code names the clauses that it decides: what counts, where it is, and with which error."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from refimpl.kernels import get
from refimpl.kernels.foundation import decides
from spec import deciding, deciding_pages

REFUSING = """
def helper(clause, message, kind=ValueError):
    if message:
        raise refusal(clause, message, kind)

def outer(what):
    helper("Shape/one", what)
    helper("Shape/two", what, kind=KeyError)
    require("Shape/three", what, "no")

class Reader:
    def fail(self, reason, slug="valid"):
        return refusal(f"File/{slug}", reason, OSError)

    def read(self):
        raise self.fail("damaged")

    def open(self):
        raise self.fail("absent", "readable")

def closure(clause):
    def check(given):
        require(clause, given, "no", TypeError)
    return check

CHECK = closure("Shape/four")
NAME = "Shape/five"

def constant(x):
    require(NAME, x, "no")

def rows(x):
    for clause, wanted in (("Shape/six", 1), ("Shape/seven", 2)):
        require(clause, x == wanted, "no")
"""


def places(text: str) -> dict[str, list[str]]:
    """Clause -> where it is decided, of one file ``code.py``."""
    found: dict[str, list[str]] = {}
    for decision in deciding.decisions([(Path("code.py"), text)]):
        if decision.decides:
            found.setdefault(decision.pattern.replace("\\", ""), []).append(decision.place.removeprefix("code.py:"))
    return found


def test_a_refusal_is_found_through_the_functions_that_hand_its_clause_on() -> None:
    assert places(REFUSING) == {
        "Shape/one": ["7 outer raises ValueError"],
        "Shape/two": ["8 outer raises KeyError"],
        "Shape/three": ["9 outer raises MXNetError"],
        "File/valid": ["16 Reader.read raises OSError"],
        "File/readable": ["19 Reader.open raises OSError"],
        "Shape/four": ["26 CHECK raises TypeError"],
        "Shape/five": ["30 constant raises MXNetError"],
        "Shape/six": ["34 rows raises MXNetError"],
        "Shape/seven": ["34 rows raises MXNetError"],
    }


def test_a_name_that_may_stay_what_it_is_is_read_once() -> None:
    text = 'def f(x, y):\n    name = "A/one"\n    name = name if y else "A/two"\n    require(name, x, "no")\n'
    assert places(text) == {"A/one": ["4 f raises MXNetError"], "A/two": ["4 f raises MXNetError"]}


def test_a_mark_names_the_function_class_or_method_beneath() -> None:
    text = """@decides("A/one", "A/two")
def f(): ...

class C:
    @property
    @decides("A/three")
    def g(self): ...
"""
    assert places(text) == {"A/one": ["2 f"], "A/two": ["2 f"], "A/three": ["7 C.g"]}
    spans = {(d.first, d.last) for d in deciding.decisions([(Path("code.py"), text)])}
    assert spans == {(1, 2), (5, 7)}


def test_a_table_is_named_by_a_comment_above_it() -> None:
    assert places("# decides: A/one, A/two\nTABLE = {\n    1: 2,\n}\n") == {"A/one": ["2 TABLE"], "A/two": ["2 TABLE"]}
    with pytest.raises(SyntaxError, match="no table follows"):
        places("# decides: A/one\nprint(1)\n")


def test_a_function_that_asks_for_a_quirk_decides_its_clause() -> None:
    text = '_OLD = declare("old", "A/one", "this", "that")\n\ndef f():\n    return 1 if _OLD.active else 2\n'
    assert places(text) == {"A/one": ["4 f"]}


@pytest.mark.parametrize(
    "text",
    [
        'LIST = ("A/one", "A/two")\n',  # a list for readers
        'declare("old", "A/one", "this", "that")\n',  # nobody asks for it
        'def f(error):\n    return error.clause == "A/one"\n',
        'def f():\n    return {"A/one": 1}\n',
        'def f(a, b):\n    return f"{a}/{b}", f"<p>{a}</p>", f"{a} of 3/{b}"\n',  # no refusal
        'def f(subject):\n    raise refusal(f"{subject}/open", "no")\n',  # any subject at all
    ],
)
def test_what_only_mentions_a_clause_decides_nothing(text: str) -> None:
    assert places(text) == {}


def test_a_subject_that_callers_give_counts_for_the_clauses_named_above() -> None:
    text = '@decides("A/open", "B/open")\ndef f(subject):\n    raise refusal(f"{subject}/open", "no", OSError)\n'
    assert places(text) == {
        "A/open": ["3 f raises OSError", "2 f"], "B/open": ["3 f raises OSError", "2 f"],
    }


def test_a_mark_leaves_a_function_as_it_is() -> None:
    def function() -> None: ...

    assert decides("A/one")(function) is function
    assert not vars(function)


@pytest.mark.parametrize(
    ("slug", "roles"),
    [
        ("gradient", ("backward", "gradient")), ("data-gradient", ("backward", "gradient")),
        ("shape", ("infer",)), ("weight-shape", ("infer",)), ("types", ("infer_type",)), ("count", ("parse", "infer")),
        ("reshaped", ("forward",)), ("sum-order", ("forward",)),
    ],
)
def test_the_slug_of_a_page_says_which_function_decides(slug: str, roles: tuple[str, ...]) -> None:
    assert deciding_pages.roles(slug) == roles


def test_an_installed_package_leads_to_the_checkout(tmp_path: Path) -> None:
    installed = Path("/usr/lib/python3/site-packages/refimpl")
    assert deciding_pages._in_checkout(installed / "kernels/dot.py", tmp_path) == Path("kernels/dot.py")
    assert deciding_pages._in_checkout(installed / "base.py", tmp_path) == Path("refimpl/base.py")
    assert deciding_pages._in_checkout(tmp_path / "kernels/dot.py", tmp_path) == Path("kernels/dot.py")


def test_a_page_without_a_gradient_decides_so_by_what_it_registers(tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text("def forward(p): ...\n\n\nregister(Op(forward))\n")
    clause = SimpleNamespace(name="A/gradient", file=Path("page.py"))
    op = SimpleNamespace(backward=None, gradient=None)
    [found] = deciding_pages.of_page(clause, [op], tmp_path)
    assert found.place == "page.py:4 register"
    assert found.table


def test_an_operator_whose_text_is_no_page_is_named() -> None:
    with pytest.raises(ValueError, match=r"dot: \[dot/.*\] of its doc stands in no page's docstring; .* doc=__doc__"):
        deciding_pages.concerned([], [get("dot")])
