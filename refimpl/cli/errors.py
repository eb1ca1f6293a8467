"""Refusals of the command line: one line on standard error, exit code 2, no file half-written."""

from __future__ import annotations

from typing import Any

from ..base import decides, printable, refusal


class CommandError(Exception):
    """A command was asked for something that it cannot do."""


def refuse(clause: str, message: str) -> Exception:
    """Build (not raise) the error that ends a command with exit code 2."""
    return refusal(clause, message, CommandError)


def one_line(error: BaseException) -> str:
    """The text of an error with its line breaks folded."""
    return printable(" ".join(str(error).split()))


@decides("Cli/plain-text")
def say(text: object, **more: Any) -> None:
    """Print text that may hold names of a file."""
    print(printable(str(text)), **more)
