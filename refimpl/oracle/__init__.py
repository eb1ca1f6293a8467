"""Property-based testing of other implementations against this one.

    from refimpl import oracle

    class Mine:                                   # or a function under oracle.executor_backend
        capabilities = oracle.Capabilities(level=2, operators=frozenset({"relu", "dot"}))
        def run(self, program): ...               # a program as data -> its trace

    result = oracle.search(Mine(), seconds=60)
    for found in result.found:
        print(oracle.text_of_found(found))

A program is a small JSON value: a graph, arrays, and steps (``programs``). It is drawn from whole numbers (``drawing``,
``strategies``), run by the backend and by the reference (``backends``), and compared element by element (``judging``)
with bounds that the operators' own pages give (``bounds``). A failing program is shrunk, located and named
(``explaining``), its cause is excluded from further drawing (``searching``), and reported. ``relations`` need no
reference.
"""

from .backends import Backend, Capabilities, Crashed, Refused, Unsupported
from .bounds import Declared
from .drawing.choices import Exclusions
from .explaining.causes import Cause, cause_of
from .explaining.shrinking import shrink
from .judging.comparing import Mismatch, Verdict, compare, judge
from .judging.reference import expected_of, trace_of
from .numbering import program_of
from .programs.program import check_program, name_of, text_of
from .reporting import text_of_found
from .results import Found, Result
from .searching import search

__all__ = [
    "Backend", "Capabilities", "Cause", "Crashed", "Declared", "Exclusions", "Found", "Mismatch", "Refused", "Result",
    "Unsupported", "Verdict", "cause_of", "check_program", "compare", "expected_of", "judge", "name_of", "program_of",
    "search", "shrink", "text_of", "text_of_found", "trace_of",
]
