"""Relations that must hold between two runs of one implementation, whatever the right numbers are.

A relation changes a program in a way whose effect is known, runs both programs and compares. No number of the reference
is used, so relations also test the reference itself.

    from refimpl.oracle import relations
    relations.broken(backend, program)      # the relations that fail on one program of level 2 to 5
    relations.search(backend, seconds=60)   # the same over drawn programs

``executors``, ``modules`` and ``optimizers`` hold the relations of each level; the clause oracle/relations of
``spec/reference/tools/oracle.md`` says how far two results may differ. ``faithful`` lists relations that fail on
purpose, because they fail in MXNet too.
"""

from . import executors, modules, optimizers  # noqa: F401  # each registers its relations
from .faithful import FAITHFUL, Faithful, kept_on_purpose
from .registry import RELATIONS, Applied, Relation, broken
from .searching import search

__all__ = ["FAITHFUL", "RELATIONS", "Applied", "Faithful", "Relation", "broken", "kept_on_purpose", "search"]
