"""Prose and identifiers use the field's words: those that spec/glossary.md replaces are not used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("refimpl", "kernels", "tests", "spec", ".ci", ".github")
SUFFIXES = (".py", ".pyi", ".md", ".toml", ".yml", ".yaml", "")
GLOSSARY = (ROOT / "spec/glossary.md").read_text(encoding="utf-8")
NOT_USED = GLOSSARY.partition("## Words that are not used")[2]
INSTEAD = {
    word: row[2]
    for row in re.finditer(r"^\| ([a-z, ]+) \| (.+) \|$", NOT_USED, re.MULTILINE) for word in row[1].split(", ")
    if row[2] != "but"
}
ALLOWED: dict[str, tuple[str, ...]] = {
    "spec/glossary.md": tuple(INSTEAD),  # lists them
    "tests/meta/test_words.py": ("room", "rooms", "doors", "furnish", "crew"),  # examples below
}
"""File -> words that it may use all the same, with the reason."""


def words_of(text: str) -> Iterator[tuple[int, str]]:
    """(line, word in small letters) for each word, where ``snake_case`` and ``CamelCase`` are several."""
    for number, line in enumerate(text.splitlines(), 1):
        for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", line):
            yield number, part.lower()


def found_in(name: str, text: str) -> list[str]:
    """What a file says that it should not."""
    allowed = ALLOWED.get(name, ())
    return [
        f"{name}:{line}: {word!r}; say {INSTEAD[word]}"
        for line, word in words_of(text) if word in INSTEAD and word not in allowed
    ]


def _files() -> Iterator[Path]:
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            inside = file.relative_to(ROOT)
            linked = inside.parts[:2] == ("refimpl", "kernels")  # the same files as kernels/
            if file.is_file() and file.suffix in SUFFIXES and not linked and "__pycache__" not in inside.parts:
                yield file
    yield from (file for file in sorted(ROOT.iterdir()) if file.suffix in (".md", ".toml"))


def test_a_banned_word_is_found_in_prose_and_identifiers() -> None:
    text = "a quiet ROOM\nclass InnerDoors:\n    def furnish_all(self): ...\nrooming = indoors = 1\n"
    assert [line.partition("; ")[0] for line in found_in("x.py", text)] == [
        "x.py:1: 'room'", "x.py:2: 'doors'", "x.py:3: 'furnish'",
    ]


def test_the_tree_uses_the_words_of_the_field() -> None:
    wrong = []
    for file in _files():
        name = file.relative_to(ROOT).as_posix()
        wrong += found_in(name, file.read_text(encoding="utf-8"))
    assert not wrong, "\n".join(wrong)


def test_every_exception_is_needed() -> None:
    for name, words in ALLOWED.items():
        present = {word for _, word in words_of((ROOT / name).read_text(encoding="utf-8"))}
        assert set(words) <= present, (name, set(words) - present)


def test_the_glossary_defines_the_words_of_this_project_once() -> None:
    defined = re.findall(r"^\| \*\*([a-z -]+)\*\* \|", GLOSSARY, re.MULTILINE)
    assert len(defined) == len(set(defined))
    assert {"page", "clause", "quirk", "twin", "tape"} <= set(defined)
