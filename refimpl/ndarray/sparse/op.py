"""The operators of mx.nd.sparse, as functions on arrays of any storage."""

from ...op_registry import namespaces
from ..operators import make_function

__all__ = namespaces.fill_sparse(globals(), make_function)  # noqa: PLE0605  # the operators' names
