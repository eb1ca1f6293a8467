"""The command ``refimpl``; each of its commands is in the file of its name."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from ..base import decides
from ..libinfo import __version__
from .bench import bench
from .check import check
from .check_operator import check_operator
from .errors import CommandError, one_line
from .examples import examples
from .explain import explain
from .export import export
from .inspect import inspect
from .lab import lab
from .launch import launch
from .new_operator import new_operator
from .ops import ops
from .oracle import oracle
from .plot import plot
from .predict import predict
from .rule import rule
from .run import run_script
from .score import score
from .train import train
from .verify import verify
from .warm import warm

app = typer.Typer(
    name="refimpl",
    help="MXNet's training stack as an executable specification.",
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"refimpl {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and end.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """MXNet's training stack as an executable specification."""


for command in (
    train, score, inspect, predict, verify, export, warm, ops, rule, plot, explain, check, bench, new_operator,
    check_operator,
):
    app.command()(command)
# flags behind the script's name are the script's
app.add_typer(oracle, name="oracle")
app.add_typer(lab, name="lab")
app.add_typer(examples, name="examples")
app.command("launch", context_settings={"allow_interspersed_args": False})(launch)
app.command("run", context_settings={"allow_interspersed_args": False})(run_script)

INTERRUPTED = 130  # what Typer makes of a KeyboardInterrupt
UNHEARD = 1  # what Typer makes of a BrokenPipeError

# Typer's own refusals (a wrong flag, a missing argument), whichever library it builds on.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


def _refused(error: BaseException) -> int:
    print(f"refimpl: {one_line(error)}", file=sys.stderr)
    return 2


@decides("Cli/interrupted", "Cli/pipe")
def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line (default: that of the process) and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app(args=words or ["--help"], prog_name="refimpl", standalone_mode=False) or 0
        sys.stdout.flush()
    except _UsageError as error:
        return _refused(Exception(f"{error.format_message()} (see refimpl --help)"))  # type: ignore[attr-defined]  # every usage error has it
    except BrokenPipeError:
        return _unheard()
    except (CommandError, OSError) as error:
        return _refused(error)
    except (RuntimeError, ValueError, AssertionError, TypeError, ImportError) as error:
        if getattr(error, "clause", None) is None:  # not a refusal: a bug of ours, shown whole
            raise
        return _refused(error)
    if code == INTERRUPTED:
        print("refimpl: interrupted", file=sys.stderr)
    return code


def _unheard() -> int:
    """Discard buffered output: nobody reads it."""
    with contextlib.suppress(OSError, ValueError):  # a stream without a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return UNHEARD


def main() -> None:
    """Entry point of the ``refimpl`` script."""
    sys.exit(run())
