"""``refimpl check-operator``: every law, the worked examples, the simulator of CUDA and the stubs, for one operator."""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import os
import runpy
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from ..base import decides
from ..kernels import grad, run
from ..kernels.foundation import REGISTRY, Op
from ..kernels.foundation.loop import SIMULATED, python_loops
from ..op_registry import facts
from ..op_registry import known as known_operators
from ..oracle.pages import laws
from ..oracle.pages.draws import SeededDraw
from .errors import refuse
from .new_operator import BLANK, checkout

DRAWS = 4
"""Calls that each law is tried on."""

_HINTS = {
    "fills_outputs": "forward leaves an element of an output unwritten, or adds to what was there before",
    "fills_gradients": "backward leaves an element of a gradient unwritten, or adds to what was there before",
    "keeps_inputs": "forward or backward writes to an input that mutates= does not name",
    "gradient_is_slope": "the gradient of backward is not the slope of forward",
    "infers_from_parts": "infer refuses or contradicts a call of which it knows less: None is a shape, -1 a side",
}


class Verdict(NamedTuple):
    """The result of one check."""

    check: str
    problem: str
    """Where and what, in sentences; empty where the check passed."""


def verdicts(op: Op, page: Path) -> Iterator[Verdict]:
    """Check an operator in this process; ends at an error that is no broken law, which would come again."""
    blanks = [number for number, line in enumerate(_lines(page), 1) if BLANK in line]
    if blanks:
        yield Verdict("page", "\n".join(f"{page}:{number}: a blank is not filled in" for number in blanks))
        return
    if op.cases is None:
        line = op.forward.__code__.co_firstlineno
        yield Verdict("page", f"{page}:{line}: its page draws no valid call; give cases=lambda draw: Case(...)")
        return
    yield Verdict("examples", _examples(op))
    for check, call in _checks(op):
        try:
            call()
        except AssertionError as error:
            yield Verdict(check, _explained(op, check, page, error))
        except Exception as error:  # noqa: BLE001  # whatever a page does wrong is told
            yield Verdict(check, f"{_line_of(error, page)}{type(error).__name__}: {error}")
            return
        else:
            yield Verdict(check, "")


def _lines(page: Path) -> list[str]:
    return page.read_text(encoding="utf-8").splitlines()


class _Examples(doctest.DocTestRunner):
    """Worked examples; of an error in one its words, without the lines of this package."""

    def report_unexpected_exception(
        self, out: Callable[[str], object], test: doctest.DocTest, example: doctest.Example, exc_info: Any
    ) -> None:
        """Tell the example and the error."""
        out(f"{example.source}{exc_info[0].__name__}: {exc_info[1]}\n")


def _examples(op: Op) -> str:
    test = doctest.DocTestParser().get_doctest(op.doc, {"run": run, "grad": grad, "np": np}, op.name, None, 0)
    said: list[str] = []
    result = _Examples(verbose=False).run(test, out=said.append)
    if not result.attempted:
        return "the page has no worked example"
    return "".join(said).strip() if result.failed else ""


def _each(law: laws.Law, op: Op) -> None:
    for seed in range(DRAWS):
        law(op, SeededDraw(seed))


def _checks(op: Op) -> Iterator[tuple[str, Callable[[], None]]]:
    for law in laws.LAWS:
        yield law.__name__, partial(_each, law, op)
    if op.mutates:
        yield "changes_states", partial(laws.changes_states, op, [SeededDraw(seed) for seed in range(2 * DRAWS)])
    for clause in op.refusals:
        yield f"refuses {clause}", partial(laws.refuses, op, clause)
    yield "accepts", partial(_each, laws.accepts, op)
    if SIMULATED:
        yield "CUDA simulator", partial(_simulated, op)


def _explained(op: Op, check: str, page: Path, error: AssertionError) -> str:
    function = op.backward if "gradient" in check and op.backward is not None else op.forward
    place = f"{page}:{function.__code__.co_firstlineno}"
    hint = _HINTS.get(check, "")
    if check.startswith("fills"):
        for line, text in _added_to(page):
            place, hint = f"{page}:{line}", f"`{text}` adds to what was there before: assign a first value with ="
    said = " ".join(str(error).split())
    return f"{place}: {hint}\n{said}" if hint else f"{place}: {said}"


def _added_to(page: Path) -> Iterator[tuple[int, str]]:
    """Lines such as ``out[i] += x`` of functions that assign no element of that array before."""
    for function in ast.walk(ast.parse(page.read_text(encoding="utf-8"))):
        if not isinstance(function, ast.FunctionDef):
            continue
        nodes = list(ast.walk(function))
        written = {
            (target.value.id, target.lineno) for node in nodes if isinstance(node, ast.Assign)
            for target in node.targets if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name)
        }
        for node in nodes:
            target = getattr(node, "target", None)
            if (
                isinstance(node, ast.AugAssign) and isinstance(target, ast.Subscript)
                and isinstance(target.value, ast.Name)
                and not any(name == target.value.id and line < node.lineno for name, line in written)
            ):
                yield node.lineno, ast.unparse(node)


def _line_of(error: BaseException, page: Path) -> str:
    """``PAGE:LINE: `` of the innermost line of the page; empty where the error says it itself."""
    if f"{page.name}:" in str(error):
        return ""
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).resolve() == page
    ]
    return f"{page}:{lines[-1]}: " if lines else f"{page}: "


def _simulated(op: Op) -> None:
    """Run the operator in Numba's simulator of CUDA; nothing is compiled for the other side."""
    with python_loops():
        for seed in range(3):
            laws.device_agrees(op, SeededDraw(seed))


def _stubs(root: Path) -> str:
    """The output of ``spec/stubs.py --check`` about stubs that are out of date."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = runpy.run_path(str(root / "spec" / "stubs.py"))["main"](["--check"])
    return said.getvalue() if code else ""


@decides("Cli/check-operator")
def check_operator(
    name: Annotated[str, typer.Argument(help="An operator, by its name or an alias.")],
) -> None:
    """Judge an operator of a checkout by every law, its examples, the simulator of CUDA and the stubs.

    The exit code is 1 where something is wrong.
    """
    root = checkout()
    if name not in REGISTRY:
        raise refuse("Cli/known-operator", known_operators.explanation(name))
    if not SIMULATED:  # the script `refimpl` asks for the simulator before Numba is imported
        command = [sys.executable, "-m", "refimpl.cli", "check-operator", name]
        raise typer.Exit(subprocess.call(command, env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}))  # noqa: S603
    op = REGISTRY[name]
    page = (root / facts.file_of(op)).resolve()
    failed = sum(_told(verdict) for verdict in verdicts(op, page))
    if BLANK not in page.read_text(encoding="utf-8"):
        failed += _told(Verdict("stubs", _stubs(root)))
    print(f"{op.name}: {failed} broken" if failed else f"{op.name}: all checks passed")
    raise typer.Exit(1 if failed else 0)


def _told(verdict: Verdict) -> bool:
    print(f"{'broken' if verdict.problem else 'kept  '}  {verdict.check}")
    for line in verdict.problem.splitlines():
        print(f"        {line[:600]}")
    return bool(verdict.problem)
