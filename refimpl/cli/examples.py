"""``refimpl examples``: scripts to read, to run and to change."""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..base import decides, did_you_mean
from .errors import refuse
from .options import require_folder

INSTALLED = Path(__file__).with_name("scripts")
"""Where the wheel's build puts them (``spec/wheel.py``)."""

CHECKOUT = Path(__file__).resolve().parents[2] / "tests" / "examples" / "scripts"
FIRST = ("svrg_digits", "cluster_digits", "lenet_digits", "mlp_digits")
"""Those that are listed first."""

examples = typer.Typer(help="Scripts to read, to run and to change.", rich_markup_mode=None)


def _folder() -> Path:
    return INSTALLED if INSTALLED.is_dir() else CHECKOUT


@decides("Cli/examples")
def names() -> list[str]:
    """The scripts, the most instructive first, without the modules that they share."""
    found = [file.stem for file in sorted(_folder().glob("*.py")) if "__main__" in file.read_text(encoding="utf-8")]
    return sorted(found, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))


def _completions(incomplete: str) -> list[str]:
    return [name for name in names() if name.startswith(incomplete)]


NameArgument = Annotated[
    str, typer.Argument(help="An example; `refimpl examples` names them.", autocompletion=_completions)
]


def _file(name: str) -> Path:
    name = name.removesuffix(".py").replace("-", "_")
    if name not in names():
        likely = did_you_mean(name, names())
        raise refuse("Cli/example-known", f"no example is called {name!r}; {likely}`refimpl examples` lists them")
    return _folder() / f"{name}.py"


def _first_line(file: Path) -> str:
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


@examples.callback(invoke_without_command=True)
def default(context: typer.Context) -> None:
    """Scripts to read, to run and to change."""
    if context.invoked_subcommand is None:
        list_examples()


@examples.command("list")
def list_examples() -> None:
    """List the examples, each with a line of description."""
    for name in names():
        print(f"{name}: {_first_line(_folder() / f'{name}.py')}")
    print("`refimpl examples run NAME` runs one, `show NAME` prints it, `copy NAME FOLDER` gives you a copy to change")


@examples.command()
def show(name: NameArgument) -> None:
    """Print an example."""
    print(_file(name).read_text(encoding="utf-8"), end="")


@examples.command("run", context_settings={"allow_interspersed_args": False})
def run_example(
    name: NameArgument,
    arguments: Annotated[list[str] | None, typer.Argument(help="Arguments of the script, flags too.")] = None,
) -> None:
    """Run an example. Everything after its name goes to the script; --help is one such flag."""
    file = _file(name)
    before = sys.argv, list(sys.path)
    sys.argv, sys.path[:0] = [str(file), *(arguments or [])], [str(file.parent)]
    try:
        runpy.run_path(str(file), run_name="__main__")
    except SystemExit as error:  # argparse has said what is wrong
        raise typer.Exit(error.code if isinstance(error.code, int) else 1 if error.code else 0) from None
    finally:
        sys.argv, sys.path[:] = before


@examples.command()
def copy(name: NameArgument, folder: Annotated[Path, typer.Argument(help="The folder that gets the copy.")]) -> None:
    """Copy an example into a folder, with the files that it imports."""
    require_folder(folder)
    files = _with_imports(_file(name))
    for file in files:
        if (folder / file.name).exists():
            raise refuse("Cli/example-keeps", f"{folder / file.name} is there already; name another folder")
    for file in files:
        (folder / file.name).write_bytes(file.read_bytes())
        print(f"wrote {folder / file.name}")


def _with_imports(file: Path) -> list[Path]:
    """A script, and those beside it that it imports."""
    found, pending = list[Path](), [file]
    while pending:
        one = pending.pop()
        if one in found:
            continue
        found.append(one)
        for node in ast.walk(ast.parse(one.read_text(encoding="utf-8"))):
            named = [node.module] if isinstance(node, ast.ImportFrom) else [
                alias.name for alias in node.names
            ] if isinstance(node, ast.Import) else []
            pending += [file.with_name(f"{each}.py") for each in named if (file.parent / f"{each}.py").is_file()]
    return found


__all__ = ["copy", "examples", "list_examples", "names", "run_example", "show"]
