"""``refimpl oracle``: test another implementation against this one."""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..kvstore import histories
from .errors import refuse, say
from .oracle_environment import environment
from .oracle_file import file
from .oracle_matrix import matrix
from .oracle_parts import BackendName, part_of
from .oracle_suite import answer, export, judge

oracle = typer.Typer(help="Property-based testing of other implementations.", rich_markup_mode=None)
for command in (file, environment, matrix, export, answer, judge):
    oracle.command()(command)
PythonName = Annotated[str | None, typer.Option(help="Run it in processes of this Python, see `environment`.")]


def _require_one_process(relations: bool, workers: int, address: str | None) -> None:
    if relations and (workers > 1 or address is not None):
        raise ValueError("relations are asked of one process: leave out --workers and --address, or --relations")


@oracle.command()
def check(
    backend: BackendName,
    level: Annotated[int | None, typer.Option(help="Level of the programs, 1 to 7; all of them without.")] = None,
    budget: Annotated[str, typer.Option(help="For how long: 60s, 5m.")] = "60s",
    programs: Annotated[int | None, typer.Option(help="How many programs, instead of a time.")] = None,
    seed: Annotated[int, typer.Option(help="Which programs.")] = 0,
    start: Annotated[int, typer.Option(help="The number of the first program.")] = 0,
    isolate: Annotated[bool, typer.Option(help="Run the implementation in a process of its own.")] = False,
    python: PythonName = None,
    corpus: Annotated[bool, typer.Option(help="Run the stored programs first.")] = False,
    relations: Annotated[bool, typer.Option(help="Compare two runs of the implementation, not one with ours.")] = False,
    probe: Annotated[bool, typer.Option(help="Ask for every operator first, and leave out what is refused.")] = False,
    config: Annotated[Path, typer.Option(help="Differences that are expected.")] = Path("oracle.toml"),
    report: Annotated[Path | None, typer.Option(help="Folder for scripts, results.json and report.html.")] = None,
    shard: Annotated[str, typer.Option(help="Which part of the programs: 1/4 to 4/4.")] = "1/1",
    repeats: Annotated[int, typer.Option(help="How many more programs may show a cause before it is left out.")] = 3,
    workers: Annotated[int, typer.Option(help="Processes that judge programs; they change only the time.")] = 1,
    address: Annotated[str | None, typer.Option(help="A Ray cluster that runs these processes.")] = None,
) -> None:
    """Search for programs that an implementation gets wrong. The exit code is 1 where there are any."""
    began = time.monotonic()
    items, searching, reporting = part_of("pytest_items"), part_of("searching"), part_of("reporting")
    reaching, files = part_of("reaching"), part_of("report_files")
    expectations = part_of("expectations").Expectations
    load = partial(items.load, backend, isolate=isolate, python=python)
    try:
        under_test = load()
        known = expectations.read(config) if config.exists() else expectations()
        end = None if programs else began + items.seconds_of(budget)
        part, parts = items.shard_of(shard)
        _require_one_process(relations, workers, address)
    except ValueError as error:
        raise refuse("Cli/oracle-input", str(error)) from error

    warned = 0

    def note(result: Any, found: Any) -> None:
        nonlocal warned
        for text in result.warnings[warned:]:
            say(f"warning: {text}", file=sys.stderr, flush=True)
        warned = len(result.warnings)
        if found is not None:
            say(reporting.text_of_found(found), end="\n\n", flush=True)
        elif result.programs % 100 == 0:
            told = reporting.progress(result, under_test.capabilities)
            print(f"\r{told}\033[K", end="\r", file=sys.stderr, flush=True)

    exclude = known.exclusions
    if probe:
        probed = part_of("probing").probe(under_test)
        say(probed)
        exclude = probed.exclusions(exclude)
    try:
        numbering = part_of("numbering")
        levels = numbering.levels_of(under_test.capabilities, level, exclude)
        count = None if programs is None else numbering.share_of(programs, part, parts, len(levels))
        seconds = None if end is None else items.left_for_searching(began, end, report=report is not None)
        options: dict[str, Any] = {
            "seed": seed, "programs": count, "seconds": seconds, "start": start + part, "step": parts, "level": level,
            "exclude": exclude, "expected": known.covers, "note": note, "repeats": repeats,
        }
        if relations:
            result = part_of("relations").search(under_test, **options)
        else:
            with part_of("workers").several(load, workers, address) as processes:
                result = searching.search(under_test, corpus=corpus and part == 0, workers=processes, **options)
    except part_of("drawing.choices").NothingToDraw as error:
        raise refuse("Cli/oracle-input", f"{backend}: {error}") from error
    except part_of("workers").WorkersEnded as error:
        raise refuse("Cli/oracle-input", str(error)) from error
    say(reporting.summary(result))
    for line in reaching.reached(result):
        say(line)
    getattr(under_test, "close", lambda: None)()  # a process that has ended has its time counted
    result.processor, result.known = sum(os.times()[:4]), tuple(sorted(known.used))
    if report is not None:
        folder = f"{part + 1}-of-{parts}" if parts > 1 else ""
        for path in files.write(result, report, backend, part=folder, until=end):
            say(path)
    if late := files.unverified(result):
        say(late)
    raise typer.Exit(1 if result.found else 0)


@oracle.command()
def replay(
    backend: BackendName,
    files: Annotated[list[Path] | None, typer.Argument(help="Stored programs; those of --config by default.")] = None,
    isolate: Annotated[bool, typer.Option(help="Run the implementation in a process of its own.")] = False,
    python: PythonName = None,
    config: Annotated[Path, typer.Option(help="Differences that are expected, with examples.")] = Path("oracle.toml"),
    crashing: Annotated[bool, typer.Option(help="Also examples that end the process.")] = True,
) -> None:
    """Run stored programs. The exit code is 1 where one fails.

    Without files: run the examples of oracle.toml. The exit code is 1 where one fails in another way than its row
    says, or passes although its row is strict.
    """
    items = part_of("pytest_items")
    failed = 0
    try:
        under_test = items.load(backend, isolate=isolate, python=python)
        for file in files or ():
            report = items.replay(under_test, file)
            say(report or f"{file.stem}: passed")
            failed += bool(report)
        if not files:
            known = part_of("expectations").Expectations.read(config)
            strict = {row.get("id") or row.get("example") for row in known.rows if row.get("strict")}
            for name, status in items.replay_expected(under_test, known, crashing=crashing):
                say(f"{name}: {REPLAYED[status]}")
                failed += status == "different" or (status == "stale" and name in strict)
    except (OSError, ValueError) as error:
        raise refuse("Cli/oracle-input", str(error)) from error
    raise typer.Exit(1 if failed else 0)


REPLAYED = {
    "expected": "fails as expected", "different": "fails in another way than its row says",
    "stale": "warning: does not fail any more; remove its row",
}
"""What is printed for the example of a row."""


@oracle.command()
def triage(
    results: Annotated[list[Path], typer.Argument(help="Files results.json of `oracle check --report`.")],
    store: Annotated[Path | None, typer.Option(help="Folder for the smallest programs, which rows then name.")] = None,
) -> None:
    """Gather the causes of several searches: rows for oracle.toml, root causes, saturation and coverage."""
    gathering = part_of("triage")
    try:
        data = [gathering.read(path) for path in results]
    except (OSError, ValueError) as error:
        raise refuse("Cli/oracle-input", str(error)) from error
    say(gathering.report(data, store))


@oracle.command()
def history(
    file: Annotated[Path, typer.Argument(help="A history of a cluster, JSON lines.")],
    kind: Annotated[str, typer.Option(help="What the store promises: dist_sync or dist_async.")] = "dist_sync",
) -> None:
    """Judge what the workers of a parameter server saw. The exit code is 1 where the store broke a promise."""
    try:
        found = histories.check(histories.History.load(file), kind)
    except ValueError as error:
        raise refuse("Cli/oracle-input", f"{file}: {error}") from error
    for violation in found:
        say(violation)
    say(f"{len(found)} violations")
    raise typer.Exit(1 if found else 0)


@oracle.command()
def score(
    results: Annotated[Path, typer.Argument(help="File of JSON lines; what it has is not run again.")],
    shard: Annotated[str, typer.Option(help="Which part of the faults: 1/4 to 4/4.")] = "1/1",
    seconds: Annotated[float, typer.Option(help="How long to search for each fault.")] = 60.0,
    seed: Annotated[int, typer.Option(help="Which programs.")] = 0,
    only: Annotated[str, typer.Option(help="Faults whose names begin so.")] = "",
    held: Annotated[bool, typer.Option(help="Also those that are not for tuning.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the faults and run none.")] = False,
) -> None:
    """Search copies of this library that have a seeded fault, and say how many the oracle finds."""
    faults, fault_search = part_of("scoring.faults"), part_of("scoring.fault_search")
    try:
        chosen = [f for f in faults.faults() if f.id.startswith(only) and (held or not f.held)]
        chosen = faults.shard(chosen, shard)
        if listed:
            for fault in chosen:
                say(f"{fault.id}: {faults.CLASSES[fault.kind]}; {fault.file}")
            return
        say(fault_search.summary(fault_search.score(
            chosen, results, seconds, seed, lambda row: say(fault_search.text_of(row), file=sys.stderr, flush=True)
        )))
    except ValueError as error:
        raise refuse("Cli/oracle-input", str(error)) from error
