"""``refimpl oracle export``, ``answer`` and ``judge``: the suite as files."""

from __future__ import annotations

import contextlib
import logging
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from .errors import refuse, say
from .oracle_parts import BackendName, part_of

Suite = Annotated[Path, typer.Argument(help="The folder of the suite.")]


def _note(name: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{name}\033[K", end="\r", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _muted() -> Iterator[None]:
    """No warnings of this library, which drawn programs provoke on purpose."""
    before = logging.root.manager.disable
    logging.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _levels(text: str) -> tuple[int, ...]:
    if text == "all":
        return tuple(range(1, 7))
    if text.isdecimal() and 1 <= int(text) <= 6:
        return (int(text),)
    raise ValueError(f"{text!r} is no level: write 1 to 6, or all")


def export(
    folder: Annotated[Path, typer.Argument(help="A new folder for the suite.")],
    level: Annotated[str, typer.Option(help="Level of the cases, 1 to 6, or all.")] = "all",
    programs: Annotated[int, typer.Option(min=1, help="Cases of level 2 that each operator has.")] = 8,
    operators: Annotated[str, typer.Option(help="Only cases of these operators, as relu,dot.")] = "",
    seed: Annotated[int, typer.Option(help="Which cases.")] = 0,
    onnx: Annotated[bool, typer.Option("--onnx", help="Also as folders of tests that ONNX's runner reads.")] = False,
) -> None:
    """Write a suite of cases as files, which answers of any language are judged by."""
    exporting, offered = part_of("suite.exporting"), part_of("suite.choosing").offered()
    folders = part_of("suite.onnx_folders", "onnx").Folders(folder) if onnx else None
    only = operators.split(",") if operators else None
    try:
        unknown = [name for name in only or () if name not in offered]
        if unknown:
            raise ValueError(f"there are no cases of operator {unknown[0]}")
        with _muted():
            manifest = exporting.export(folder, seed, _levels(level), programs, only, _note, folders)
    except (OSError, ValueError) as error:
        raise refuse("Cli/oracle-input", str(error)) from error
    counts = ", ".join(f"{count} {tier}" for tier, count in manifest["elements"].items())
    say(f"{folder}: {manifest['cases']} cases of {len(manifest['operators'])} operators; elements: {counts}")
    if folders is not None:
        say(f"{folder / 'onnx'}: {folders.count} tests")


def answer(
    folder: Suite,
    backend: BackendName,
    answers: Annotated[Path, typer.Argument(help="The file to write, JSON lines.")],
    isolate: Annotated[bool, typer.Option(help="Run the implementation in a process of its own.")] = False,
) -> None:
    """Write the answers of an implementation in Python to the cases of a suite."""
    try:
        under_test: Any = part_of("pytest_items").load(backend, isolate=isolate)
        count = part_of("suite.answering").write(under_test, folder, answers, _note)
    except (OSError, ValueError) as error:
        raise refuse("Cli/oracle-input", str(error)) from error
    say(f"{answers}: {count} answers")


def judge(
    folder: Suite,
    answers: Annotated[Path, typer.Argument(help="Answers: a file of JSON lines, or a folder.")],
) -> None:
    """Judge answers to a suite. The exit code is 1 where a case fails."""
    verdicts = part_of("suite.verdicts")
    try:
        report = verdicts.judge(folder, answers)
    except (OSError, ValueError) as error:
        raise refuse("Cli/oracle-input", str(error)) from error
    say(verdicts.text_of(report))
    raise typer.Exit(1 if report.failed else 0)
