"""mx.nd.image: the operators ``_image_...`` as functions on arrays."""

from ..op_registry import namespaces
from .operators import make_function

__all__ = namespaces.fill(globals(), make_function, "_image_")  # noqa: PLE0605  # the operators' names
