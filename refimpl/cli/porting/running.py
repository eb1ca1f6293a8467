"""Runs a script written for MXNet as ``python`` would, with refimpl in MXNet's place."""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import CodeType, ModuleType, TracebackType

import numpy as np

from ...base import decides
from ...kvstore import simulate
from ..errors import say
from . import python_2
from .gpus import on_the_processor
from .imports import OWN, Finder, answering
from .numpy_names import given_back

INTERRUPTED = 130
PYTHON_2 = 2
_SAID = "refimpl run:"


def _fresh_main(file: str) -> ModuleType:
    """A new module ``__main__`` for a script."""
    main = ModuleType("__main__")
    vars(main).update(__file__=file, __builtins__=builtins, __cached__=None)
    sys.modules["__main__"] = main
    return main


@contextmanager
def _as_main(path: Path, arguments: Sequence[str]) -> Iterator[ModuleType]:
    """The module ``__main__`` of a script, with its arguments, and its folder first on ``sys.path``."""
    kept_main, kept_arguments, kept_path = sys.modules["__main__"], sys.argv, list(sys.path)
    main = _fresh_main(os.path.abspath(path))  # noqa: PTH100  # no link is followed
    sys.argv, sys.path[0:0] = [str(path), *arguments], [str(path.resolve().parent)]
    try:
        yield main
    finally:
        sys.modules["__main__"], sys.argv, sys.path[:] = kept_main, kept_arguments, kept_path


@decides("run/as-python")
def _exit_code(left: SystemExit) -> int:
    """The exit code that Python gives a process for a SystemExit; other values are printed."""
    if left.code is None:
        return 0
    if isinstance(left.code, int):
        return left.code
    print(left.code, file=sys.stderr)
    return 1


def _from_script(traceback: TracebackType | None, file: str) -> TracebackType | None:
    """A traceback without the frames above the script."""
    here = traceback
    while here is not None and here.tb_frame.f_code.co_filename != file:
        here = here.tb_next
    return here


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@decides("run/gpu-hint", "run/workers-hint")
def _hint(error: BaseException) -> str | None:
    """Advice after an error; None where there is none."""
    if any(getattr(one, "clause", None) == "Context/gpu-present" for one in _chain(error)):
        return f"{_SAID} the script names GPUs that are not here; `refimpl run --cpu` takes cpu(i) for each gpu(i)"
    if any(getattr(one, "clause", None) == "Cluster/needed" for one in _chain(error)):
        return f"{_SAID} the script is one of several workers; `refimpl run -n 2` runs two of them"
    name = python_2.missing(error)
    if name is not None:
        return f"{_SAID} {name} is of Python 2; 2to3 (in Python up to 3.12) replaces it"
    return None


@decides("run/python-2")
def _python_2(error: SyntaxError) -> int:
    say(f"refimpl: {python_2.explanation(error)}", file=sys.stderr)
    return PYTHON_2


@decides("run/workers")
def _of_workers(code: CodeType, workers: int, servers: int) -> Callable[[], object]:
    """A function that runs a script as a worker of a simulated cluster, each with its own module ``__main__``."""

    def work() -> None:
        try:
            exec(code, vars(_fresh_main(code.co_filename)))  # noqa: S102  # that is what running a script is
        except SystemExit as left:
            if left.code not in (None, 0):  # otherwise this worker is done, and the others go on
                raise

    return lambda: simulate(workers, servers, faults=False).run(work, kind=None)


def _run(program: Callable[[], object], file: str) -> int:
    try:
        program()
    except SystemExit as left:
        return _exit_code(left)
    except BaseException as error:  # noqa: BLE001  # whatever ends a script ends it as Python would
        if isinstance(error, SyntaxError) and python_2.is_syntax(error):
            return _python_2(error)
        sys.excepthook(type(error), error.with_traceback(_from_script(error.__traceback__, file)), error.__traceback__)
        hint = _hint(error)
        if hint:
            say(hint, file=sys.stderr)
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
    return 0


@decides("run/report")
def _report(finder: Finder, gpus: set[int], names: set[str]) -> list[str]:
    """One line for each kind of thing that was replaced."""
    own = sys.modules[OWN]
    lines = []
    if finder.answered:
        lines.append(f"{_SAID} import mxnet was answered with {OWN} {own.__version__}")
    if gpus:
        lines.append(f"{_SAID} {', '.join(f'gpu({i})' for i in sorted(gpus))} ran as cpu of the same number")
    if names:
        given = ", ".join(f"np.{name}" for name in sorted(names))
        lines.append(f"{_SAID} {given} as before NumPy 2 (here is {np.__version__})")
    return lines


@decides("run/import-mxnet")
def run(
    path: str | os.PathLike[str], arguments: Sequence[str] = (), *, cpu: bool = False, workers: int | None = None,
    servers: int | None = None,
) -> int:
    """Run a script as the main program, with refimpl for ``mxnet``, and return its exit code.

    Replaced names are listed on standard error at the end. All replacements are undone afterwards.

    Args:
        path: the script.
        arguments: the script's ``sys.argv[1:]``.
        cpu: whether ``gpu(i)`` is ``cpu(i)``.
        workers: the number of workers of a simulated cluster that run the script; None for one program.
        servers: the number of its servers; None for as many as workers.

    Raises:
        OSError: the script cannot be read.
    """
    file = Path(path)
    text = file.read_bytes()
    with ExitStack() as stack:
        main = stack.enter_context(_as_main(file, arguments))
        finder = stack.enter_context(answering())
        gpus = stack.enter_context(on_the_processor()) if cpu else set()
        names = stack.enter_context(given_back())
        try:
            code = compile(text, main.__file__ or "", "exec", dont_inherit=True)
        except SyntaxError as error:
            if python_2.is_syntax(error):
                return _python_2(error)
            sys.excepthook(type(error), error.with_traceback(None), None)
            return 1
        program = _of_workers(code, workers, servers or workers) if workers else lambda: exec(code, vars(main))  # noqa: S102  # that is what running a script is
        left = _run(program, code.co_filename)
        sys.stdout.flush()
        for line in _report(finder, gpus, names):
            say(line, file=sys.stderr)
    return left
