"""The clause table: this tree has nothing wrong, and a tree with something wrong is found out."""

from __future__ import annotations

from pathlib import Path

import pytest

from refimpl.kernels import distinct
from spec import trace

PAGE = '''"""A page.

[Double/shape] the output has the input's shape.

[Double/value] out = 2 data.
    >>> 2 * 1
    2
"""

require("Double/shape", True, "never")


@decides("Double/value")
def double(data):
    return 2 * data
'''

CHAPTER = """# Modules

**[Subject/entry]** A subject has a entry.

```python
assert entry == 1
```
"""


ENTRY = """@decides("Subject/entry")
def entry(): ...
"""


def tree(root: Path, files: dict[str, str]) -> Path:
    whole = {"kernels/double.py": PAGE, "spec/modules.md": CHAPTER, "refimpl/modules.py": ENTRY, **files}
    whole.setdefault(
        "tests/test_double.py", 'import pytest\n\n@pytest.mark.clause("Double/shape")\ndef test(): ...\n'
    )
    for name, text in whole.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def problems(root: Path) -> list[str]:
    return trace.collect(root, ()).problems


@pytest.mark.heavy
def test_this_tree_is_whole() -> None:
    assert trace.collect(trace.ROOT, distinct()).problems == []


def test_whole_tree(tmp_path: Path) -> None:
    table = trace.collect(tree(tmp_path, {}), ())
    assert table.problems == []
    assert set(table.clauses) == {"Double/shape", "Double/value", "Subject/entry"}
    assert table.clauses["Double/value"].place == "kernels/double.py:5"
    assert table.code["Double/shape"] == ["kernels/double.py:10 raises MXNetError"]
    assert table.code["Double/value"] == ["kernels/double.py:14 double"]
    assert table.code["Subject/entry"] == ["refimpl/modules.py:2 entry"]
    assert table.proofs["Double/shape"] == ["tests/test_double.py:3"]
    assert table.proofs["Double/value"] == ["example"]


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"tests/test_double.py": ""}, "kernels/double.py:3: nothing proves Double/shape"),
        ({"refimpl/modules.py": ""}, "spec/modules.md:3: no code decides Subject/entry"),
        (
            {"refimpl/modules.py": 'LIST = ["Subject/entry"]\n'},
            "spec/modules.md:3: no code decides Subject/entry",
        ),
        (
            {"spec/second.md": "**[Double/Shape]** again\n"},
            "spec/second.md:1: Double/Shape differs from Double/shape only in case",
        ),
        (
            {"spec/modules.md": CHAPTER.replace("assert ", "entry = ")},
            "spec/modules.md:3: nothing proves Subject/entry",
        ),
        (
            {"refimpl/project.py": 'raise refusal("Project/roof", "no roof")\n'},
            "refimpl/project.py:1: names Project/roof, which is written nowhere",
        ),
        (
            {"refimpl/project.py": 'table = {"lock": "Subject/lock"}\n'},
            "refimpl/project.py:1: names Subject/lock, which is written nowhere",
        ),
        (
            {"refimpl/project.py": 'raise refusal(f"Project/{part}", "none")\n'},
            "refimpl/project.py:1: names Project/*, which is written nowhere",
        ),
        (
            {"tests/test_subject.py": 'pytest.mark.clause("Subject/wall")\n'},
            "tests/test_subject.py:1: names Subject/wall, which is written nowhere",
        ),
        (
            {"spec/deviations.md": "| clause | them | us |\n|---|---|---|\n| Subject/lock | a | b |\n"},
            "spec/deviations.md:3: names Subject/lock, which is written nowhere",
        ),
        (
            {"spec/second.md": "**[Double/shape]** again\n"},
            "spec/second.md:1: Double/shape also stands at kernels/double.py:3",
        ),
        (
            {"refimpl/project.py": "pass\n" * 401},
            "refimpl/project.py: 401 lines, more than 400",
        ),
        (
            {"refimpl/project.py": "class Project:\n" + "    a = 1\n" * 500},
            "refimpl/project.py: 501 lines, more than 500",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_finds(tmp_path: Path, files: dict[str, str], problem: str) -> None:
    assert problem in problems(tree(tmp_path, files))


def test_a_long_class_may_make_a_file_longer(tmp_path: Path) -> None:
    assert problems(tree(tmp_path, {"refimpl/project.py": "class Project:\n" + "    a = 1\n" * 450})) == []


def test_a_clause_built_from_parts_may_name_several(tmp_path: Path) -> None:
    root = tree(tmp_path, {"refimpl/project.py": 'raise refusal(f"Double/{part}", "none")\n'})
    table = trace.collect(root, ())
    assert table.problems == []
    assert "refimpl/project.py:1 raises MXNetError" in table.code["Double/value"]


def test_a_definition_needs_no_code(tmp_path: Path) -> None:
    chapter = CHAPTER.replace("**[Subject/entry]**", "**[Subject/entry]** (definition)")
    table = trace.collect(tree(tmp_path, {"spec/modules.md": chapter, "refimpl/modules.py": ""}), ())
    assert table.problems == []
    assert table.clauses["Subject/entry"].definition
    assert not table.clauses["Double/value"].definition


def test_a_mark_built_from_a_table_counts_its_rows(tmp_path: Path) -> None:
    test = """
import pytest

ROWS = [("Double/shape", 1), ("not/aclause", 2)]

@pytest.mark.parametrize("row", [pytest.param(r, marks=pytest.mark.clause(r[0])) for r in ROWS])
def test(row): ...
"""
    table = trace.collect(tree(tmp_path, {"tests/test_double.py": test}), ())
    assert table.problems == []
    assert table.proofs["Double/shape"] == ["tests/test_double.py:4"]


def test_a_chapter_runs_in_order_with_the_line_of_its_failure(tmp_path: Path) -> None:
    file = tmp_path / "story.md"
    file.write_text("```python\na = 2\n```\n\ntext\n\n```python\n>>> a + 1\n3\n```\n")
    assert trace.run_chapter(file) == 2
    file.write_text("one\n\n```python\nb = 1\nassert b == 2\n```\n")
    with pytest.raises(AssertionError) as caught:
        trace.run_chapter(file)
    assert caught.traceback[-1].lineno == 4  # counted from 0


def test_text_after_python_is_what_it_prints(tmp_path: Path) -> None:
    file = tmp_path / "story.md"
    story = "```python\nprint(0)\n```\n\n```python\nprint(1)\nprint(2)\n```\n\n```text\n1\n{}\n```\n"
    file.write_text(story.format(2))
    assert trace.run_chapter(file) == 2
    file.write_text(story.format(3))
    with pytest.raises(AssertionError, match=r"story.md:6 prints:\n1\n2\n"):
        trace.run_chapter(file)
