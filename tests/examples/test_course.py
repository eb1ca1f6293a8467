"""The course: ten chapters of a bounded length, each with a picture, three exercises that name a paragraph, answers.

The blocks of the chapters and of the answers are run by ``test_chapters.py``.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spec import course_pictures, generated, trace

COURSE = trace.ROOT / "spec/course"
CHAPTERS = sorted(COURSE.glob("[0-9]*.md"))
SUBJECTS = ["array", "symbol", "bind", "gradient", "memory", "slicing", "store", "module", "cluster", "svrg"]
WORDS_IN_ALL, WORDS_BEFORE_SLICING = 15_000, 6_000
EXERCISE = re.compile(r"^[123]\. (.*?)(?=^[123]\. |\Z)", re.MULTILINE | re.DOTALL)
ANSWERS = (COURSE / "answers.md").read_text(encoding="utf-8")


def text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def anchors(text: str) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def test_ten_chapters_of_a_bounded_length() -> None:
    assert [file.stem[3:] for file in CHAPTERS] == SUBJECTS
    words = [len(text_of(file).split()) for file in CHAPTERS]
    assert sum(words) <= WORDS_IN_ALL
    assert sum(words[: SUBJECTS.index("slicing")]) < WORDS_BEFORE_SLICING


@pytest.mark.parametrize("file", CHAPTERS, ids=lambda file: file.stem)
def test_a_chapter_has_a_picture_exercises_and_what_comes_next(file: Path) -> None:
    text, subject = text_of(file), file.stem[3:]
    assert f"(pictures/{subject}.svg)" in text
    _, _, rest = text.partition("## Exercises\n")
    exercises, _, after = rest.partition("The [answers]")
    assert after.startswith(f"(answers.md#{subject})")
    assert "\n## Next\n" in after
    assert re.search(r"\]\(\.\./reference/[\w/-]+\.md\)", after), "names its reference chapter"
    found = EXERCISE.findall(exercises)
    assert len(found) == 3
    for exercise in found:
        enough = re.findall(r"\]\(#([\w-]+)\)", exercise.partition("Enough:")[2])
        assert enough, exercise
        assert set(enough) <= anchors(text), exercise


@pytest.mark.parametrize("subject", SUBJECTS)
def test_each_exercise_has_an_answer_that_asserts(subject: str) -> None:
    title = {"svrg": "SVRG"}.get(subject, subject.capitalize())
    section = re.split(r"^## ", ANSWERS, flags=re.MULTILINE)[1 + SUBJECTS.index(subject)]
    assert section.startswith(f"{title}\n")
    answers = re.split(r"^### ", section, flags=re.MULTILINE)[1:]
    assert [answer.splitlines()[0] for answer in answers] == [f"{title} {number}" for number in (1, 2, 3)]
    for answer in answers:
        assert any("assert " in code for code in trace.BLOCK.findall(answer)), answer[:60]


def test_every_chapter_has_a_picture_and_every_picture_a_chapter() -> None:
    assert set(course_pictures.PICTURES) == set(SUBJECTS)
    assert {file.stem for file in (COURSE / "pictures").glob("*.svg")} == set(SUBJECTS)


@pytest.mark.heavy
@pytest.mark.parametrize("name", course_pictures.PICTURES)
def test_a_picture_is_what_the_package_does(name: str) -> None:
    assert not generated.outdated({course_pictures.FOLDER / f"{name}.svg": course_pictures.PICTURES[name]()})


@pytest.mark.heavy
def test_a_picture_follows_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cut that rounded halves up would be drawn, and so would be seen."""
    monkeypatch.setattr(
        course_pictures, "_split_input_slice",
        lambda size, weights: [slice(0, size // 2 + 1), slice(size // 2 + 1, size)],
    )
    assert generated.outdated({course_pictures.FOLDER / "slicing.svg": course_pictures.slicing()})
