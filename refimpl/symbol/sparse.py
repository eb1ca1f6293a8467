"""mx.sym.sparse: the operators of mx.nd.sparse as functions on symbols.

A graph holds dense arrays only, so that these are the dense operators under the names of this namespace.
"""

from ..op_registry import namespaces
from .operators import make_function

__all__ = namespaces.fill_sparse(globals(), make_function)  # noqa: PLE0605  # the operators' names
