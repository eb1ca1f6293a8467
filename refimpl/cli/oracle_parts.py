"""What the commands of ``refimpl oracle`` share: the oracle's modules, and how an implementation is named."""

from __future__ import annotations

import importlib
from typing import Annotated, Any

import typer

from .errors import refuse

BackendName = Annotated[
    str, typer.Argument(help="The implementation, as package.module:Name, or as 'command:node backend.js'.")
]


def part_of(name: str, extra: str = "oracle") -> Any:
    """A module of the oracle, which needs the packages of `pip install "refimpl[oracle]"`, or of another extra."""
    try:
        return importlib.import_module(f"refimpl.oracle.{name}")
    except ModuleNotFoundError as error:
        raise refuse("Cli/oracle-extra", f'{error}; install it with: pip install "refimpl[{extra}]"') from None
