"""mx.sym._internal: operators whose names begin with an underscore, as functions on symbols."""

from ..op_registry import namespaces
from .operators import make_function

__all__ = namespaces.fill(globals(), make_function, internal=True)  # noqa: PLE0605  # the operators' names
