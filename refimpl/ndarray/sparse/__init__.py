"""mx.nd.sparse: row_sparse and csr arrays, and the operators that know them."""

from __future__ import annotations

from ...op_registry.namespaces import SPARSE as _SPARSE
from ...op_registry.storage_rules import Rule, rules
from .. import dispatch
from ..convert import copy_into
from ..dispatch import invoke
from ..recorded import cast as tostype
from ..recorded import stand_in
from . import rules_elementwise, rules_products, rules_rows
from .arithmetic import add, divide, multiply, subtract
from .base import BaseSparseNDArray, NotSupportedForSparseNDArray, from_parts
from .creation import array, csr_matrix, empty, row_sparse_array, zeros
from .csr import CSRNDArray, is_scipy
from .op import *  # noqa: F403  # the operators that sparse arrays have a form of
from .row_sparse import RowSparseNDArray, put

__all__ = [
    "BaseSparseNDArray", "CSRNDArray", "NotSupportedForSparseNDArray", "RowSparseNDArray", "Rule",
    "add", "array", "copy_into", "csr_matrix", "dispatch", "divide", "empty", "from_parts", "invoke", "is_scipy",
    "multiply", "put", "row_sparse_array", "rules", "rules_elementwise", "rules_products", "rules_rows", "stand_in",
    "subtract", "tostype", "zeros",
]
__all__ += _SPARSE  # noqa: PLE0605  # names of operators
