"""What must hold between two runs of one implementation, whatever the right numbers are.

A relation takes a program, changes it so that the answer to the change is known, runs both and compares. No number of
the reference is used, so these also check the reference itself.

    from refimpl.oracle import relations
    relations.broken(backend, program)      # what an implementation breaks on one program of level 2 to 5
    relations.search(backend, seconds=60)   # the same over drawn programs

``executors``, ``modules`` and ``optimizers`` hold those of each level; how far two results may differ is the clause
oracle/relations of ``spec/reference/tools/oracle.md``. ``faithful`` lists what is broken on purpose, because
MXNet does so too.
"""

from . import executors, modules, optimizers  # noqa: F401  # each registers its relations
from .faithful import FAITHFUL, Faithful, kept_on_purpose
from .registry import RELATIONS, Applied, Relation, broken
from .searching import search

__all__ = ["FAITHFUL", "RELATIONS", "Applied", "Faithful", "Relation", "broken", "kept_on_purpose", "search"]
