"""mx.nd.linalg: the operators ``_linalg_...`` as functions on arrays."""

from ..op_registry import namespaces
from .operators import make_function

__all__ = namespaces.fill(globals(), make_function, "_linalg_")  # noqa: PLE0605  # the operators' names
