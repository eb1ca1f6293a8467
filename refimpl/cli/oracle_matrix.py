"""``refimpl oracle matrix``: operators by runtimes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..files.atomic import write_atomically
from .errors import refuse, say
from .oracle_parts import part_of


def matrix(
    results: Annotated[list[Path], typer.Argument(help="Files results.json of searches of one implementation.")],
    out: Annotated[Path, typer.Option(help="The matrix, JSON lines; other implementations in it stay.")],
    config: Annotated[Path | None, typer.Option(help="The oracle.toml whose rows explain causes.")] = None,
    page: Annotated[Path | None, typer.Option(help="The matrix as a page of HTML.")] = None,
) -> None:
    """Write what searches say of an implementation into a matrix of operators by runtimes."""
    condensing, pages, gathering = part_of("matrix"), part_of("matrix_page"), part_of("triage")
    expectations = part_of("expectations").Expectations
    try:
        known = expectations.read(config) if config is not None else None
        line = condensing.condensed([gathering.read(path) for path in results], known)
        lines = condensing.merged(condensing.read(out), line)
        write_atomically(out, condensing.text_of(lines).encode())
        if page is not None:
            whole = part_of("report_files").whole_page("Operators by runtimes", pages.page(lines))
            write_atomically(page, whole.encode())
    except (OSError, ValueError) as error:
        raise refuse("Cli/oracle-input", str(error)) from error
    counts = condensing.counts(line)
    say(f"{line['runtime'] or line['backend']}: {', '.join(f'{count} {name}' for name, count in counts.items())}")
