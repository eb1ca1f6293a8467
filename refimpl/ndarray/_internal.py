"""mx.nd._internal: operators whose names begin with an underscore, as functions on arrays."""

from ..op_registry import namespaces
from .creation import set_value as _set_value  # no operator, because its shape comes from ``out`` alone
from .operators import make_function
from .pictures import _cvimdecode, _cvimread

__all__ = ["_cvimdecode", "_cvimread", "_set_value", *namespaces.fill(globals(), make_function, internal=True)]  # noqa: PLE0604  # their names
