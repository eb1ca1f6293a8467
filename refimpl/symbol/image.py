"""mx.sym.image: the operators ``_image_...`` as functions on symbols."""

from ..op_registry import namespaces
from .operators import make_function

__all__ = namespaces.fill(globals(), make_function, "_image_")  # noqa: PLE0605  # the operators' names
