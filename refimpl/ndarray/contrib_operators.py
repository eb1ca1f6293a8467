"""The operators ``_contrib_...`` as functions on arrays, for ``mx.nd.contrib``."""

from ..op_registry import namespaces
from .operators import make_function

__all__ = namespaces.fill(globals(), make_function, "_contrib_")  # noqa: PLE0605  # the operators' names
