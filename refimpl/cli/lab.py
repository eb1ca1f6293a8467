"""``refimpl lab``: tasks on the specification, and a grader that names the broken rule."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ..base import did_you_mean
from ..files.atomic import write_atomically
from .errors import refuse
from .labs import LABS, Lab
from .labs.isolated import check, require_hypothesis
from .labs.notebook import notebook as notebook_of
from .labs.notebook import report
from .options import require_folder

lab = typer.Typer(help="Tasks on the specification, and a grader that names the broken rule.", rich_markup_mode=None)


def _completions(incomplete: str) -> list[str]:
    return [name for name in LABS if name.startswith(incomplete)]


NameArgument = Annotated[str, typer.Argument(help="A lab; `refimpl lab list` names them.", autocompletion=_completions)]
DirOption = Annotated[Path, typer.Option("--dir", help="The folder of your files.")]


def _known(name: str) -> Lab:
    if name not in LABS:
        hint = did_you_mean(name, LABS) or f"there are {', '.join(LABS)}"
        raise refuse("Labs/known", f"no lab is called {name!r}; {hint.strip()}")
    return LABS[name]


@lab.command("list")
def list_labs() -> None:
    """List the labs, each with its title and the chapter that it belongs to."""
    wide = max(map(len, LABS))
    for one in LABS.values():
        print(f"{one.name:<{wide}}  {one.title} ({one.chapter})")
    print("`refimpl lab start NAME` writes the task and a file to fill in")


@lab.command()
def start(
    name: NameArgument, folder: DirOption = Path(),
    notebook: Annotated[bool, typer.Option("--notebook", help="Write one notebook instead.")] = False,
) -> None:
    """Write the task of a lab, and the file to fill in; or both as a notebook that judges itself."""
    chosen = _known(name)
    made = {".ipynb": notebook_of(chosen)} if notebook else {".md": chosen.text(), ".py": chosen.code()}
    files = {folder / f"{chosen.module}{suffix}": text for suffix, text in made.items()}
    require_folder(folder)
    for file in files:
        if file.exists():
            raise refuse("Labs/keeps-work", f"{file} is there already; name another folder with --dir, or remove it")
    for file, text in files.items():
        write_atomically(str(file), text.encode())
    if notebook:
        print(f"wrote {next(iter(files))}")
        return
    print(f"wrote {' and '.join(map(str, files))}: read the first, fill in the second")
    print(f"then: refimpl lab check {name}" + (f" --dir {folder}" if folder != Path() else ""))


@lab.command("check")
def check_labs(
    name: Annotated[
        str | None, typer.Argument(help="A lab; without it, all that were started.", autocompletion=_completions)
    ] = None,
    folder: DirOption = Path(),
) -> None:
    """Judge your code by the project's own laws. The exit code is 1 where a rule is broken."""
    chosen = [_known(name)] if name else [one for one in LABS.values() if (folder / f"{one.module}.py").is_file()]
    for one in chosen:
        if not (folder / f"{one.module}.py").is_file():
            raise refuse(
                "Labs/started", f"{folder / one.module}.py does not exist; `refimpl lab start {one.name}` writes it"
            )
    if not chosen:
        raise refuse("Labs/started", f"no lab was started in {folder.resolve()}; `refimpl lab start NAME` starts one")
    require_hypothesis()
    console = Console(highlight=False, markup=False, emoji=False)
    failed = 0
    for one in chosen:
        result = check(one, folder / f"{one.module}.py")
        failed += not result.passed
        for line in report(one, result, min(console.width, 100)):
            console.print(line, soft_wrap=True)
    raise typer.Exit(1 if failed else 0)
