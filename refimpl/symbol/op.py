"""mx.sym.op: every operator whose name does not begin with an underscore, as a function on symbols."""

from ..op_registry import namespaces
from .operators import make_function

__all__ = namespaces.fill(globals(), make_function)  # noqa: PLE0605  # the operators' names
